// SPDX-License-Identifier: Apache-2.0
// The committed header is what flatc makes of pack.fbs.
#include <array>
#include <cstdio>

#include "tests/packs/sample.hpp"

using namespace kiln::test;

namespace {

struct Output {
  int status;
  std::string text;
};

Output run(const std::string &command) {
  FILE *pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string text;
  std::array<char, 256> buffer{};
  while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) text += buffer.data();
  return {pclose(pipe), text};
}

}  // namespace

TEST_CASE("the committed header is what flatc makes of the schema", "[schema]") {
  const Output version = run("flatc --version 2>&1");
  if (version.status != 0 || !mentions(version.text, "version 2.0.8")) {
    KILN_SKIP("no flatc 2.0.8, which made the committed header");
  }
  const std::filesystem::path packs = std::filesystem::path(KILN_SOURCE_DIR) / "packs";
  const TemporaryFolder folder;
  const Output made = run("flatc --cpp --scoped-enums -o '" + folder.path().string() + "' '" +
                          (packs / "pack.fbs").string() + "' 2>&1");
  INFO(made.text);
  REQUIRE(made.status == 0);
  const Bytes expected = read_file(folder.path() / "pack_generated.h");
  REQUIRE_FALSE(expected.empty());
  CHECK((read_file(packs / "generated" / "pack_generated.h") == expected));
}
