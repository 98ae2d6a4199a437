// SPDX-License-Identifier: Apache-2.0
#include "builder/compile/check_text.hpp"

#include "builder/compile/same_tokens.hpp"
#include "builder/compile/toolchain.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace kiln::builder;
using kiln::source::IncludedFile;
using kiln::source::WholeProgram;
using kiln::test::TemporaryFolder;

namespace {

std::vector<std::string> tokens_of(std::string_view output) {
  TokenReader reader(output);
  std::vector<std::string> tokens;
  for (PlacedToken token = reader.next(); !token.text.empty(); token = reader.next()) {
    tokens.emplace_back(token.text);
  }
  return tokens;
}

using Tokens = std::vector<std::string>;

const kiln::packs::Result<HostTool> &found_clang() {
  static const auto found = find_clang("");
  return found;
}

#define NEEDS_CLANG()                                                 \
  if (!found_clang().ok()) KILN_SKIP(found_clang().status().message); \
  const std::filesystem::path clang = found_clang()->path

const std::string kKernel = "kernel void k(global int *out) { *out = V; }\n";

// A program as it is recorded, in a folder that is not on this machine.
WholeProgram recorded(const std::string &own, std::vector<IncludedFile> files,
                      const std::string &flattened) {
  WholeProgram program{"cl-1", flattened, "-DX=1"};
  program.own_source = own;
  program.own_options = "-I inc -DX=1";
  program.folder = "/nowhere/app";
  program.files = std::move(files);
  return program;
}

// A file of its own in the folder of includes.
IncludedFile file(const std::string &name, const std::string &text) {
  return {"/nowhere/app/inc/" + name, text, name};
}

// What the proof says behind the program's name.
std::string refusal(const std::filesystem::path &clang, const WholeProgram &program) {
  const std::string start =
      program.name + ": it is not proven to be what the application compiles: ";
  const kiln::packs::Status status = check_recorded_text(clang, program);
  if (status.ok()) return "";
  CHECK(status.code == kiln::packs::Code::failed);
  REQUIRE(status.message.starts_with(start));
  return status.message.substr(start.size());
}

}  // namespace

TEST_CASE("white space, line markers and includes are no tokens, the end of a #pragma is") {
  CHECK(tokens_of("# 1 \"a\" 1\nint  a+++b;\n\n#include \"x.h\" /* clang -E -dI */\n c") ==
        Tokens{"int", "a", "++", "+", "b", ";", "c"});
  CHECK(tokens_of("#pragma unroll\n4") == Tokens{"#", "pragma", "unroll", "\n", "4"});
  CHECK(tokens_of("#pragma unroll 4\n") == Tokens{"#", "pragma", "unroll", "4", "\n"});
  CHECK(tokens_of(" # 1 x") == Tokens{"#", "1", "x"});
  CHECK(tokens_of("a>>=.5e+3f-x\"a \\\" b\"'\"'...") ==
        Tokens{"a", ">>=", ".5e+3f", "-", "x", "\"a \\\" b\"", "'\"'", "..."});
  CHECK(tokens_of("\"open\nx") == Tokens{"\"open\n", "x"});
}

TEST_CASE("a token has the place that the markers give it") {
  TokenReader one("# 7 \"a \\\"b\\\".h\" 2\nx\ny"), other("x z");
  const auto difference = first_difference(&one, &other);
  REQUIRE(difference);
  CHECK(difference->one.text == "y");
  CHECK(difference->one.place() == "a \"b\".h:8");
  CHECK(difference->other.text == "z");
  TokenReader same("x y"), split("x\n\n  y\n");
  CHECK_FALSE(first_difference(&same, &split));
}

TEST_CASE("a text that says what the files say is proven, with files of another machine") {
  NEEDS_CLANG();
  const std::string own = "#include \"one.h\"\n#include <deep/two.h>\n" + kKernel;
  const std::vector<IncludedFile> files = {
      file("one.h", "#pragma once\n#include \"deep/two.h\"\n#define V W // c\n"),
      file("deep/two.h", "#ifndef TWO\n#define TWO\n#define W X + __LINE__\n#endif\n")};
  const std::string text = "#define W X + __LINE__\n#define V W\n#line 3 \"<program>\"\n" + kKernel;
  CHECK(refusal(clang, recorded(own, files, text)).empty());
  CHECK(refusal(clang, recorded(own, files, "#define V X + __LINE__\n" + kKernel)) ==
        "with OpenCL C 1.2 clang reads '3' at /nowhere/app/<program>:3, but '2' at "
        "/nowhere/app/<program>:2 of the flattened text");
}

TEST_CASE("a header of clCompileProgram is found before those of the options") {
  NEEDS_CLANG();
  const std::string own = "#include <v.h>\n" + kKernel;
  const std::vector<IncludedFile> files = {{"<headers>/v.h", "#define V 1\n", "header v.h"},
                                           file("v.h", "#define V 2\n")};
  CHECK(refusal(clang, recorded(own, files, "#define V 1\n" + kKernel)).empty());
  CHECK_FALSE(refusal(clang, recorded(own, files, "#define V 2\n" + kKernel)).empty());
}

TEST_CASE("two headers with one guard are not what a wrong text makes of them") {
  NEEDS_CLANG();
  const std::string rest = "#ifndef V\n#define V 1\n#endif\n" + kKernel;
  const std::string own = "#include \"a.h\"\n#include \"b.h\"\n#include \"v.h\"\n" + rest;
  const std::vector<IncludedFile> files = {
      file("a.h", "#ifndef G\n#define G\n#endif\n"),
      file("b.h", "#ifndef G\n#define G\n#include \"v.h\"\n#endif\n"),
      file("v.h", "#pragma once\n#define V 2\n")};
  // v.h is taken to be in the text already, where it is under a condition that does not hold.
  const std::string wrong =
      "#define G\n#ifndef G\n#define V 2\n#endif\n#line 4 \"<program>\"\n" + rest;
  CHECK(refusal(clang, recorded(own, files, wrong)) ==
        "with OpenCL C 1.2 clang reads '2' at /nowhere/app/<program>:7, but '1' at <program>:7 of "
        "the flattened text");
  CHECK(refusal(clang, recorded(own, files, "#define V 2\n" + kKernel)).empty());
}

TEST_CASE("#pragma once knows one file by two paths, and equal files from one another") {
  NEEDS_CLANG();
  const std::string own = "#include \"a.h\"\n#include \"b.h\"\n";
  const std::string header = "#pragma once\nint x;\n";
  std::vector<IncludedFile> files = {file("a.h", header), file("b.h", header)};
  CHECK(refusal(clang, recorded(own, files, "int x; int x;")).empty());
  files[1].identity = files[0].identity;
  CHECK(refusal(clang, recorded(own, files, "int x;")).empty());
  CHECK_FALSE(refusal(clang, recorded(own, files, "int x; int x;")).empty());
}

TEST_CASE("branches for macros of other drivers are compared, too") {
  NEEDS_CLANG();
  const std::string own = "#include \"a.h\"\n";
  const std::vector<IncludedFile> files = {file("a.h", "#ifdef __VENDOR__\nint x;\n#endif\n")};
  CHECK(refusal(clang, recorded(own, files, "#ifdef __VENDOR__\nint x;\n#endif\n")).empty());
  CHECK(refusal(clang, recorded(own, files, "#ifdef __VENDOR__\nint y;\n#endif\n"))
            .starts_with("with all macros that conditions ask for clang reads 'x'"));
  CHECK(refusal(clang, recorded("#include \"a.h\"\n",
                                {file("a.h", "#if __OPENCL_C_VERSION__ >= 200\n1\n#endif\n")}, ""))
            .starts_with("with OpenCL C 2.0 clang reads '1'"));
}

TEST_CASE("an include that the flattener does not see, or that it left, is refused") {
  NEEDS_CLANG();
  const std::vector<IncludedFile> files = {file("a.h", "\n")};
  CHECK(refusal(clang, recorded("#include \"a.h\"\n?\?=include \"b.h\"\n", files,
                                "\n\n?\?=include \"b.h\"\n"))
            .find("includes \"b.h\" at") != std::string::npos);
  CHECK(refusal(clang, recorded("#include \"a.h\"\n#include <b.h>\n", files, "#include <b.h>\n"))
            .starts_with("it includes <b.h> at"));
  const std::string hidden = "#ifdef __VENDOR__\n#include <vendor.h>\n#endif\n";
  const std::string own = "#include \"a.h\"\n" + hidden;
  CHECK(refusal(clang, recorded(own, files, hidden)).starts_with("it includes <vendor.h> at"));
  const std::string missing = std::string(kiln::source::kMissingFile) + "\n";
  CHECK(refusal(clang, recorded(own, files, "#ifdef __VENDOR__\n" + missing + "#endif\n")).empty());
  CHECK(
      refusal(clang, recorded(own, files, "#ifdef __VENDOR__\n\n#endif\n")).find("errors differ") !=
      std::string::npos);
}

TEST_CASE("a program without files is looked at for includes alone") {
  NEEDS_CLANG();
  WholeProgram program{"cl-1", kKernel, ""};
  CHECK(refusal(clang, program).empty());
  for (const char *text : {"#include \"a.h\"\n", "?\?=include \"a.h\"\n",
                           "int a;\r#include <a.h>\n", "%:include <a.h>\n"}) {
    program.source = text + kKernel;
    CHECK(may_include(program.source));
    CHECK_FALSE(refusal(clang, program).empty());
  }
  CHECK_FALSE(may_include("// what includes what\r\n" + kKernel));
}

TEST_CASE("what #error stops in both is proven, and what clang cannot read is not") {
  NEEDS_CLANG();
  const std::vector<IncludedFile> files = {file("a.h", "int x;\n")};
  const std::string error = "#ifndef __OTHER__\n#error for others\n#endif\n";
  CHECK(refusal(clang, recorded("#include \"a.h\"\n" + error, files, "int x;\n" + error)).empty());
  CHECK(refusal(clang, recorded("#include \"a.h\"\n" + error, files, "int x;\n"))
            .find("errors differ: \"for others\", but none") != std::string::npos);
  CHECK(refusal(clang, recorded("#include \"a.h\"\n#if 1\n", files, "int x;\n#if 1\n"))
            .find("cannot preprocess it") != std::string::npos);
}

TEST_CASE("two files that clang takes for one are refused, and so are those of other options") {
  NEEDS_CLANG();
  const std::string own = "#include \"a.h\"\n";
  std::vector<IncludedFile> files = {{"/nowhere/app/link/../inc/a.h", "int x;\n", "1"},
                                     {"/nowhere/app/inc/a.h", "int y;\n", "2"}};
  CHECK(refusal(clang, recorded(own, files, "int x;\n"))
            .starts_with("it includes two files that clang takes for one, /nowhere/app/inc/a.h:"));
  WholeProgram program = recorded(own, {files[1]}, "int y;\n");
  CHECK(refusal(clang, program).empty());
  program.own_options = "-I inc -DX=2";
  CHECK(refusal(clang, program) == "its recorded files are of other options");
}

TEST_CASE("a manifest's source is held against the disk") {
  NEEDS_CLANG();
  const TemporaryFolder folder;
  folder.write("inc/v.h", "#pragma once\n#define V 1\n");
  SourceToCheck source;
  source.source = folder.write("k.cl", "#include <v.h>\n#include <own.h>\nint x = V; __FILE__\n");
  source.include_dirs = {folder.path() / "inc"};
  source.flattened = "#define V 1\n#include <own.h>\n#line 3 \"k.cl\"\nint x = V; __FILE__\n";
  const auto proven = check_source_text(clang, source);
  CHECK(proven.message == "");
  folder.write("inc/v.h", "#define V 2\n");
  const auto refused = check_source_text(clang, source);
  CHECK(refused.code == kiln::packs::Code::bad_input);
  CHECK(refused.message ==
        source.source.string() +
            ": error: the packed text would not be what the files are: with OpenCL C 1.2 clang "
            "reads '2' at " +
            source.source.string() + ":3, but '1' at k.cl:3 of the flattened text");
}
