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
  const auto found = include_options("-DA=1  -I /a -D B(x)=#x -U C -I\"/b\" -cl-mad-enable ");
  REQUIRE(found.ok());
  CHECK(found->others == "-DA=1  -D B(x)=#x -U C -cl-mad-enable ");
  CHECK(found->folders == std::vector<std::filesystem::path>{"/a", "/b"});
  CHECK(found->quoted_folders == std::vector<std::filesystem::path>{"/a", "\"/b\""});
  CHECK(found->definitions == Texts{"A=1", "B(x)=#x"});
  CHECK(found->uncertain == Texts{"C"});
}

TEST_CASE("Options that drivers divide in different ways have no folders among them") {
  for (const char *options :
       {"-I '/a b'", "-I/a\\ b", "-DA='x -Ifoo y'", "-DA=\"x -I y\"", "-I/a\t-DB",
        "-I \"x -DY=1 z\"", "-I\" /a\"", "\"-I /a b\"", "-I/a\" b\"", "-I\"/a \"b",
        "-I\"/a\"\" b\"", "-DA=\"-Ib\"", "-DA=\"x\"-Ib", "-DA=\"x y\"-Ib", "-I/a -DA=\"x  -y\""}) {
    INFO(options);
    CHECK_FALSE(include_options(options).ok());
  }
  CHECK(include_options("-DA=\"x y\" -D \"B=1 + 2\"")->doubt.ok());
  CHECK_FALSE(include_options("-DA=\"x -y\"")->doubt.ok());
  CHECK_FALSE(include_options("-DA=x\\y")->doubt.ok());
  CHECK(include_options("-DA=\"x\" -DB")->doubt.ok());
  CHECK(include_options("-DA=\"x\"")->uncertain == Texts{"A=x"});
}

TEST_CASE("A folder with a blank is in quotes, and drivers that cut it search elsewhere") {
  using Folders = std::vector<std::filesystem::path>;
  const auto found = include_options("-I \"/a b/c\" -I\"d e\" \"-If g\" -I h -DA=\"x y\" -I\"i\"");
  REQUIRE(found.ok());
  CHECK(found->others == "-DA=\"x y\" ");
  CHECK(found->folders == Folders{"/a b/c", "d e", "f g", "h", "i"});
  CHECK(found->quoted_folders == Folders{"\"/a b/c\"", "\"d e\"", "f g\"", "h", "\"i\""});
  CHECK(found->cut_folders == Folders{"\"/a", "\"d", "f", "h", "\"i\""});
}

TEST_CASE("Options of the preprocessor alone are macros, in whichever way they are split") {
  for (const char *options : {"", " ", "-DA", "-D A=1 -U B", "-DA=\"x\" -UB", "-DA(x)=x+1"}) {
    INFO(options);
    CHECK(are_macros(options));
  }
  for (const char *options :
       {"-cl-denorms-are-zero", "-DA -w", "-w -DA", "-D", "-D -w", "-DA -U", "-DA x", "-I/a",
        "-DA=\"x -w\"", "-DA='x' -UB", "-DA=\\\"", "-DA\t-UB", "-DA=\"x", "-cl-std=CL1.2"}) {
    INFO(options);
    CHECK_FALSE(are_macros(options));
  }
}

TEST_CASE("Options that may name a file other than by -I, or read files otherwise, are refused") {
  for (const char *options : {"-include a.h",
                              "-includea.h",
                              "-imacros a.h",
                              "--include=a.h",
                              "-isystem /x",
                              "-iquote x",
                              "-idirafter x",
                              "-Wp,-include,a.h",
                              "-Xclang -include",
                              "@file",
                              "file",
                              "-fplugin=a.so",
                              "-fmodule-file=a",
                              "-mllvm -x",
                              "-fms-extensions",
                              "-fms-compatibility",
                              "-working-directory W",
                              "-I=a",
                              "-I-",
                              "-I$A",
                              "-L x",
                              "-D -Ix",
                              "-U -Ix",
                              "-I -DX"}) {
    INFO(options);
    CHECK_FALSE(include_options(options).ok());
  }
  const auto plain = include_options(
      "-D A=1 -DB -cl-std=CL1.2 -w -Werror -Wno-unused -O2 -g -ffast-math -U C -x clc++");
  CHECK(plain.ok());
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
  CHECK_FALSE(include_options("-DA -I").ok());
  CHECK_FALSE(include_options("-D").ok());
  CHECK_FALSE(include_options("-DA=\"").ok());
}

TEST_CASE("An option of a vendor's family goes on with letters, digits and a few marks") {
  for (const char *option : {"-cl-nv-az", "-cl-nv-AZ", "-cl-nv-09", "-cl-std=CLC++2021",
                             "-cl-intel-a_b,c.d", "-qcom-a=b"}) {
    INFO(option);
    CHECK(include_options(option).ok());
  }
  for (const char mark : std::string("/:;<>?[]^`{|}~!#%&()*")) {
    INFO(mark);
    CHECK_FALSE(include_options(std::string("-cl-nv-") + mark).ok());
  }
}

TEST_CASE("An option that is not known is refused, whatever stands before it") {
  for (const char *before : {"-w ", "-x cl ", "-DA ", "-U B ", "-I/a "}) {
    INFO(before);
    CHECK(include_options(std::string(before) + "-g").ok());
    CHECK_FALSE(include_options(std::string(before) + "-include a.h").ok());
  }
}

TEST_CASE("-x takes one of the languages that are known") {
  CHECK(include_options("-x spir").ok());
  for (const char *options : {"-x", "-g -x", "-x c++", "-x -g", "-x cl++ -g"}) {
    INFO(options);
    CHECK_FALSE(include_options(options).ok());
  }
}

TEST_CASE("Options end where their text ends, whatever stands behind it") {
  const std::string_view options = "-I/a  -DB  ";
  CHECK(include_options(options.substr(0, 4))->others.empty());
  CHECK(include_options(options.substr(0, 5))->others.empty());
  CHECK(include_options(options.substr(0, 9))->others == "-DB");
}
