// SPDX-License-Identifier: Apache-2.0
// What the C interface calls a program is what the layer calls it.
#include "kiln/recorded.hpp"

#include "runtime/source/whole_program.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

using kiln::test::TemporaryFolder;

namespace {

constexpr char kSource[] = "#include <value.h>\nkernel void k() {}\n";

}  // namespace

TEST_CASE("a program has the name under which the layer records it") {
  const TemporaryFolder folder;
  folder.write("value.h", "int value;\n");
  const std::string options = "-DX=1 -I " + folder.path().string();
  const auto name = kiln::recorded_name(kSource, options);
  REQUIRE(name.ok());
  CHECK(*name == kiln::source::whole_program(kSource, options)->name);
  CHECK(name->size() + 1 == KILN_RECORDED_NAME_SIZE);
  folder.write("value.h", "float value;\n");
  CHECK(*name != *kiln::recorded_name(kSource, options));
}

TEST_CASE("a program that is never recorded has no name, and the error says why") {
  const auto name = kiln::recorded_name("int t = __TIME__;", "");
  CHECK(name.error().status == KILN_ERROR_NOT_IN_PACK);
  CHECK(name.error().message == std::string("it may depend on more than its text: __TIME__"));
}

TEST_CASE("a source is as long as it says") {
  const std::string source("kernel\0void", 11);
  CHECK(*kiln::recorded_name(source, "") != *kiln::recorded_name("kernel", ""));
  CHECK(*kiln::recorded_name(source.substr(0, 6), "") == *kiln::recorded_name("kernel", ""));
}

TEST_CASE("arguments that must not be NULL are refused, and a name that does not fit") {
  char name[KILN_RECORDED_NAME_SIZE] = "untouched";
  kiln_error error{};
  CHECK(kiln_recorded_name(nullptr, 0, "", name, sizeof(name), &error) == KILN_ERROR_ARGUMENT);
  CHECK(kiln_recorded_name("", 0, nullptr, name, sizeof(name), &error) == KILN_ERROR_ARGUMENT);
  CHECK(kiln_recorded_name("", 0, "", nullptr, sizeof(name), nullptr) == KILN_ERROR_ARGUMENT);
  CHECK(kiln_recorded_name("", 0, "", name, sizeof(name) - 1, &error) == KILN_ERROR_ARGUMENT);
  CHECK(error.message == std::string("kiln_recorded_name: no room for a name"));
  CHECK(name == std::string("untouched"));
  CHECK(kiln_recorded_name("", 0, "", name, sizeof(name), nullptr) == KILN_OK);
}
