// SPDX-License-Identifier: Apache-2.0
#include "runtime/source/build_options.hpp"

#include "tests/support/catch.hpp"

using namespace kiln::source;

namespace {

using Texts = std::vector<std::string>;

Texts texts(std::string_view options) {
  Texts found;
  const auto words = option_words(options);
  for (const OptionWord &word : *words) found.push_back(word.text);
  return found;
}

}  // namespace

TEST_CASE("Options are words between spaces, and double quotes keep spaces together") {
  CHECK(texts("").empty());
  CHECK(texts("  -DA=1\t-cl-mad-enable\n") == Texts{"-DA=1", "-cl-mad-enable"});
  CHECK(texts("-DA=\"x y\" \"-I a b\"") == Texts{"-DA=x y", "-I a b"});
  CHECK_FALSE(option_words("-DA=\"x"));
}

TEST_CASE("Include folders are taken out of options, and nothing else changes") {
  const auto found = include_options("-DA=1  -I /a -D \"B(x)=#x y\" -I\"/b c\" -cl-mad-enable ");
  REQUIRE(found);
  CHECK(found->others == "-DA=1  -D \"B(x)=#x y\" -cl-mad-enable ");
  CHECK(found->folders == std::vector<std::filesystem::path>{"/a", "/b c"});
  CHECK(found->definitions == Texts{"A=1", "B(x)=#x y"});
}

TEST_CASE("Options without include folders are what they were") {
  const std::string options = " -DA  -w\t-D B ";
  CHECK(include_options(options)->others == options);
}

TEST_CASE("Include folders at both ends leave no words") {
  CHECK(include_options("-I/a")->others.empty());
  CHECK(include_options("-I /a -I /b")->others.empty());
}

TEST_CASE("An option that lacks its operand is refused") {
  CHECK_FALSE(include_options("-DA -I"));
  CHECK_FALSE(include_options("-D"));
  CHECK_FALSE(include_options("-DA=\""));
}
