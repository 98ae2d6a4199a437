// SPDX-License-Identifier: Apache-2.0
// What a recorded program is known by, which files become a part of it, and which texts may depend
// on more.
#include "runtime/source/whole_program.hpp"

#include <filesystem>

#include "kiln/packs/linked_source.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace kiln::source;
using kiln::test::TemporaryFolder;

namespace {

WholeProgram whole(std::string_view source, std::string_view options = "",
                   const Headers &headers = {}) {
  auto made = whole_program(source, options, headers);
  INFO(made.status().message);
  REQUIRE(made.ok());
  return *std::move(made);
}

}  // namespace

TEST_CASE("a program is known by its source and its options", "[source]") {
  const std::string name = program_name("kernel void k() {}", "-DX=1");
  CHECK(name == program_name("kernel void k() {}", "-DX=1"));
  CHECK(name.size() == 3 + 32);
  CHECK(name.substr(0, 3) == "cl-");
  CHECK(name != program_name("kernel void k() {}", "-DX=2"));
  CHECK(name != program_name("kernel void k() {} ", "-DX=1"));
  // What moves from one to the other is another program.
  CHECK(program_name("ab", "c") != program_name("a", "bc"));
}

TEST_CASE("a program without files is what the application gave", "[source]") {
  const WholeProgram made = whole("/* includes \\\n nothing */ kernel void k() {}", " -DX=1 ");
  CHECK(made.source == "/* includes \\\n nothing */ kernel void k() {}");
  CHECK(made.options == " -DX=1 ");
  CHECK(made.name == program_name(made.source, made.options));
}

TEST_CASE("a folder that nothing is included from does not change a program", "[source]") {
  CHECK(whole("kernel void k() {}", "-DX -I /nowhere").name ==
        whole("kernel void k() {}", "-DX ").name);
}

TEST_CASE("included files are a part of the program, wherever they lie", "[source]") {
  const TemporaryFolder folder;
  for (const std::string place : {"a", "b"}) {
    folder.write(place + "/outer.h", "#include \"sub/inner.h\"\n");
    folder.write(place + "/sub/inner.h", "#pragma once\nint inner;\n");
  }
  const std::string source = "#include <outer.h>\nkernel void k() {}\n";
  const WholeProgram first = whole(source, "-I " + (folder.path() / "a").string());
  CHECK(first.source.find("int inner;") != std::string::npos);
  CHECK(first.options.empty());
  const std::string b = "-I " + (folder.path() / "b").string();
  CHECK(whole(source, b).name == first.name);
  folder.write("b/sub/inner.h", "#pragma once\nint other;\n");
  CHECK(whole(source, b).name != first.name);
}

TEST_CASE("a file is named by macros of the options", "[source]") {
  const TemporaryFolder folder;
  folder.write("x.h", "int included;\n");
  const std::string options = "-D S(x)=#x -D M(x)=S(x) -D PLACE=" + folder.path().string();
  const WholeProgram made = whole("#include M(PLACE/x.h)\n", options);
  CHECK(made.source.find("int included;") != std::string::npos);
  CHECK(made.options == options);
}

TEST_CASE("headers of clCompileProgram are taken, unless a file has the name, too", "[source]") {
  const TemporaryFolder folder;
  folder.write("deep/other.h", "int of_disk;\n");
  const Headers headers = {{"deep/h.h", "int of_memory;\n#include \"g.h\"\n"}, {"g.h", "int g;\n"}};
  const WholeProgram made =
      whole("#include \"deep/h.h\"\n", "-I " + folder.path().string(), headers);
  CHECK(made.source.find("int of_memory;") != std::string::npos);
  CHECK(made.source.find("int g;") != std::string::npos);
  folder.write("deep/h.h", "int of_disk;\n");
  CHECK_FALSE(
      whole_program("#include \"deep/h.h\"\n", "-I " + folder.path().string(), headers).ok());
}

TEST_CASE("a file that is not there is an error where a compiler does not skip it", "[source]") {
  const WholeProgram made = whole("#ifdef HOST\n#include \\\n <nowhere.h>\n#endif\nint a;\n");
  CHECK(made.source == "#line 1 \"<program>\"\n#ifdef HOST\n" + std::string(kMissingFile) +
                           "\n\n#endif\nint a;\n");
  CHECK(made.files.empty());
  CHECK(made.own_source.starts_with("#ifdef HOST"));
  CHECK_FALSE(whole_program("#include <nowhere.h>\n", "").ok());
}

TEST_CASE("a text with includes needs options that every driver divides alike", "[source]") {
  const std::string source = "#ifdef HOST\n#include <nowhere.h>\n#endif\n";
  CHECK_FALSE(whole_program(source, "-DA=\"x -y\"").ok());
  CHECK(whole_program(source, "-DA=\"x y\"").ok());
  CHECK(whole_program("kernel void k() {}", "-DA=\"x y\"").ok());
  CHECK(whole_program(source, "-D A=1 -DB -cl-std=CL1.2 -w -Werror -O2 -g").ok());
  CHECK_FALSE(whole_program("#define NAME <nowhere.h>\n#include NAME\n", "").ok());
}

TEST_CASE("a header of clCompileProgram is no file of the current folder", "[source]") {
  const TemporaryFolder folder;
  folder.write("config.h", "int of_folder;\n");
  const auto before = std::filesystem::current_path();
  const TemporaryFolder other;
  std::filesystem::current_path(other.path());
  const WholeProgram made =
      whole("#include <config.h>\n", "-I " + folder.path().string(), {{"other.h", "int other;\n"}});
  std::filesystem::current_path(before);
  CHECK(made.source.find("of_folder") != std::string::npos);
}

TEST_CASE("a program that asks for its place has no name, as drivers put it in places",
          "[source]") {
  const TemporaryFolder folder;
  for (const char *word : {"__FILE__", "__BASE_FILE__", "__FILE_NAME__", "__INCLUDE_LEVEL__",
                           "__builtin_FILE", "__builtin_source_location"}) {
    const std::string text = "constant char name[] = " + std::string(word) + ";\n";
    const std::string reason = "it may depend on more than its text: " + std::string(word);
    folder.write("a.h", text);
    CHECK(whole_program(text, "").status().message == reason);
    CHECK(whole_program("#include \"a.h\"\n", "-I " + folder.path().string()).status().message ==
          reason);
  }
  CHECK_FALSE(whole_program("#define P(a, b) a##b\nconstant char n[] = P(__FI, LE__);\n", "").ok());
  CHECK_FALSE(whole_program("constant char n[] = N;\n", "-DN=__FILE__").ok());
  CHECK(
      whole_program("// __FILE__\nconstant char n[] = \"__FILE__\"; int l = __LINE__;\n", "").ok());
}

TEST_CASE("a text that may depend on more than files is refused", "[source]") {
  for (const char *source :
       {"#include_next <a.h>", "#import \"a.h\"", "#if __has_include(<a.h>)\n#endif",
        "int t = __TIME__;", "#embed \"a.bin\"", "%:include \"a.h\"", "#inc\\\nlude NAME",
        "#include NAME", "__DA\\\nTE__", "# /*\n*/ import \"a.h\"", "# /**/ embed \"a.bin\""}) {
    CHECK_FALSE(whole_program(source, "").ok());
  }
  for (const char *options : {"-include a.h", "-imacros a.h", "-DX=__DATE__", "-I", "-DX=\"a"}) {
    CHECK_FALSE(whole_program("kernel void k() {}", options).ok());
  }
  for (const char *source : {"", "// import __DATE__ #include NAME", "int includes; int import;"}) {
    CHECK(whole(source).source == source);
  }
}

namespace {

// A folder of headers, which -I names.
struct Headed {
  TemporaryFolder folder;
  std::string options = "-I" + folder.path().string();

  std::filesystem::path path(const char *name) const { return folder.path() / name; }
  bool takes(const std::string &source) const { return whole_program(source, options).ok(); }
  std::string name_of(const std::string &source) const { return whole(source, options).name; }
};

}  // namespace

TEST_CASE("a path with .. behind a link is the one that the system opens", "[source]") {
  const TemporaryFolder folder;
  folder.write("releases/include/x.h", "#define VALUE 1\n");
  folder.write("app/include/x.h", "#define VALUE 7\n");
  std::filesystem::create_directories(folder.path() / "releases/5");
  std::filesystem::create_directory_symlink("../releases/5", folder.path() / "app/current");
  const std::string options = "-I" + (folder.path() / "app/current/../include").string();
  const std::string source = "#include \"x.h\"\n";
  const WholeProgram first = whole(source, options);
  CHECK(first.source.find("VALUE 1") != std::string::npos);
  folder.write("releases/include/x.h", "#define VALUE 2\n");
  CHECK(whole(source, options).name != first.name);
  std::filesystem::remove(folder.path() / "releases/include/x.h");
  CHECK_FALSE(whole_program(source, options).ok());
}

TEST_CASE("the host's headers are no part of a program", "[source]") {
  const Headed headed;
  headed.folder.write("x.h", "int x;\n");
  for (const char *name : {"deep/x.h", "stdio.h", "sys/types.h"}) {
    CHECK(
        headed.takes("#ifndef __OPENCL_VERSION__\n#include <" + std::string(name) + ">\n#endif\n"));
  }
}

TEST_CASE("the zero that ends a text may be counted", "[source]") {
  using namespace std::string_literals;
  const Headed headed;
  headed.folder.write("x.h", "int x;\n");
  CHECK(headed.takes("kernel void k() {}\n\0"s));
  CHECK(headed.takes("#include \"x.h\"\n\0"s));
  CHECK_FALSE(headed.takes("kernel void k() {}\0\n"s));
}

TEST_CASE("a file of the current folder that not every driver takes makes a program pass",
          "[source]") {
  const Headed headed;
  const TemporaryFolder current;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(current.path());
  current.write("only.h", "int only;\n");
  current.write("both.h", "int both;\n");
  headed.folder.write("both.h", "int other;\n");
  headed.folder.write("same.h", "int same;\n");
  std::filesystem::create_hard_link(headed.path("same.h"), "same.h");
  CHECK(headed.takes("#include \"only.h\"\n"));
  CHECK_FALSE(headed.takes("#include <only.h>\n"));
  CHECK_FALSE(headed.takes("#include <both.h>\n"));
  CHECK(headed.takes("#include <same.h>\n"));
  headed.folder.write("h.h", "#include \"only.h\"\n");
  CHECK_FALSE(headed.takes("#include <h.h>\n"));
  std::filesystem::current_path(before);
}

TEST_CASE("one file by two names is refused", "[source]") {
  const Headed headed;
  headed.folder.write("a/x.h", "#pragma once\nint x;\n");
  std::filesystem::create_directories(headed.path("b"));
  std::filesystem::create_symlink("../a/x.h", headed.path("b/x.h"));
  CHECK_FALSE(headed.takes("#include \"a/x.h\"\n#include \"b/x.h\"\n"));
  CHECK(headed.takes("#include \"a/x.h\"\n#include \"b/../a/x.h\"\n"));
}

TEST_CASE("texts that compilers divide into lines in different ways are refused", "[source]") {
  const Headed headed;
  headed.folder.write("x.h", "int x;\n");
  using namespace std::string_literals;
  for (const std::string &text : {"int a;\r#include \"x.h\"\r"s,
                                  "#include \"x.h\"\rint a;"s,
                                  "\?\?=include \"x.h\"\n"s,
                                  "%:include \"x.h\"\n"s,
                                  "#inc\\ \nlude \"x.h\"\n"s,
                                  "#\\ \ninclude \"x.h\"\n"s,
                                  "#\0include \"x.h\"\n"s,
                                  "#include \"x.h\"\n\x1a\n"s,
                                  "// art: \\ \n#include \"x.h\"\n"s,
                                  "#inc\?\?/\nlude \"x.h\"\n"s,
                                  "#warning see src/*.cl\n#include \"x.h\"\n// */\n"s,
                                  "#error /* \n#include \"x.h\"\n// */\n"s,
                                  "#include <x/*.h>\n#include \"x.h\"\n// */\n"s,
                                  "/\\\n* \n#include \"x.h\"\n*/\n"s,
                                  "/* *\\\n/\n#include \"x.h\"\n// */\n"s,
                                  "don't /* \n#include \"x.h\"\n// */\n"s,
                                  "int c = 1'0 /* ' */;\n#include \"x.h\"\n"s,
                                  "auto s = R\"(\n#include \"x.h\"\n)\";\n"s,
                                  "\"\\\\\n#include \"x.h\"\n"s,
                                  "\xC2\xA0#include \"x.h\"\n"s,
                                  "# \xE2\x80\x83include \"x.h\"\n"s,
                                  "\xE3\x80\x80\n#include \"x.h\"\n"s,
                                  "#ifndef A$\n#include \"x.h\"\n#endif\n"s,
                                  "#ifndef A\xC3\xA9\n#include \"x.h\"\n#endif\n"s,
                                  "\f#include \"x.h\"\n"s,
                                  "#include \"x.h\"\n\v\n"s,
                                  "#\f\n"s,
                                  "int n = 1'0 + sizeof(\"a'b /*\");\n#include \"x.h\"\n// */\n"s,
                                  "/\\\n\\\r\n\\\n* \n#include \"x.h\"\n*/\n"s,
                                  "#include \"x.h\"\n/* no end\n"s,
                                  "#ifdef\\u0041\n#include \"x.h\"\n#endif\n"s,
                                  "#include \"x.h\"\\\n"s}) {
    INFO(text);
    CHECK_FALSE(headed.takes(text));
    headed.folder.write("h.h", text);
    CHECK_FALSE(headed.takes("#include \"h.h\"\n"));
  }
  // What people write.
  for (const std::string &text :
       {"// don't\n#include \"x.h\"\n"s, "#define A \\\r\n 1\r\n#include \"x.h\"\r\n"s,
        "#include \"x.h\" // why\n"s, "constant char u[] = \"http://x\";\n#include \"x.h\"\n"s,
        "#include \"x.h\" /* why\n*/\n"s, "int a = b ? c : d;\n"s,
        "#error don't\n#include \"x.h\"\n"s, "#if 0\nit's\n#include \"x.h\"\n#endif"s,
        "#error you can't\n#if 0\nisn't\n#endif\n#include \"x.h\""s,
        "\f\n#include \"x.h\"\n\f\r\n\f/* page */\n"s,
        "// \xC2\xA0 \xC3\xA9 $\n#include \"x.h\"\n/* \xE2\x80\x83 */"s,
        "constant char u[] = \"\xC3\xA9 $\";\n#include \"x.h\"\n"s}) {
    INFO(text);
    CHECK(headed.takes(text));
  }
}

TEST_CASE("programs that begin alike and end otherwise have other names", "[source]") {
  const Headed headed;
  headed.folder.write("x.h", "int x;\n");
  const auto name_of = [&](const std::string &text) {
    const auto made = whole_program(text, headed.options);
    return made.ok() ? made->name : text;
  };
  CHECK(name_of("#include \"x.h\"\rkernel void a() {}") !=
        name_of("#include \"x.h\"\rkernel void b() {}"));
}

TEST_CASE("## makes inline assembly only of what it joins", "[source]") {
  const std::string dot = "int a, s, m, as, sm; constant struct { int x; } t = { .x = 1 };\n";
  for (const char *text :
       {"/* ## */\n", "// ## banner ##\n", "constant char c[] = \"##\";\n",
        "#define NAME(x) prefix_##x\n", "#define NAME(x) x##_suffix\n", "#define N(a, b) a##_##b\n",
        "#define N(x) #x \"##\"\n", "#define N a##b\n", "#define N(x) \"a\" \"##\" x\n",
        "#define N(x) x /* ## */ x\n", "#define F(x, ...) f(x, ##__VA_ARGS__)\n"}) {
    INFO(text);
    CHECK(whole_program(text + dot, "").ok());
  }
  for (const char *text :
       {"#define P(a, b) a##b\n", "#define P(a, b) a ## b\n", "#define P(a) a##m\n",
        "#define P a##sm\n", "#define P(x) as##x\n", "#define P(x) a##x##m\n",
        "#define P(a, b) a\\\n##b\n", "#define P(a, b) a#\\\n#b\n",
        "#define P(x, ...) x##__VA_ARGS__\n", "#define A a##s\n#define P(x) x##m\n"}) {
    INFO(text);
    CHECK_FALSE(whole_program(text + dot, "").ok());
  }
  CHECK_FALSE(whole_program(dot, "-DP(a,b)=a##b").ok());
}

TEST_CASE("words that ## makes are found, whoever defines the macro with it", "[source]") {
  for (const char *text : {"#define P(a, b) a##b\nint t = P(__TI, ME__);\n",
                           "int t = P(__TI, ME__);\n", "#define P(a, b) a##b\nP(__has_, include)",
                           "P(_, P(_, P(DATE, P(_, _))))", "P(__T\\\nI, ME__)"}) {
    INFO(text);
    CHECK_FALSE(whole_program(text, "").ok());
  }
  CHECK_FALSE(whole_program("P(__TI)", "-DP(a)=a##ME__").ok());
  for (const char *text : {"#define P(a, b) a##_##b\nint x_y = P(x, y);\n", "P(__T, b)",
                           "// _ __ ___ D A T E\n/* __TI ME__ */"}) {
    INFO(text);
    CHECK(whole_program(text, "").ok());
  }
}

TEST_CASE("files that mean something else in one text are refused", "[source]") {
  const Headed headed;
  headed.folder.write("x.h", "int x;\n");
  const std::string include = "#include \"h.h\"\n";
  for (const char *header : {"#if A\n#pragma once\n#endif\n",
                             "#pragma once x\n",
                             "_Pragma(\"once\")\n",
                             "#endif\n",
                             "#if A\n#else\n#endif\n#else\n",
                             "#if A\n#else\n#else\n#endif\n",
                             "#if A\n",
                             "#if A\n#elifdef B\n#endif\n",
                             "#if A\n#elifndef B\n#endif\n",
                             "int x = __builtin_FILE();\n",
                             "#pragma push_macro(\"A\")\n",
                             "#pragma GCC system_header\n",
                             "#pragma clang module import a\n",
                             "#line 7 \"y.h\"\n",
                             "# 7 \"y.h\"\n",
                             "#include_next <x.h>\n",
                             "#include \"x.h\"A\n",
                             "#include \"x.h\" A\n",
                             "#include \"x.h\";\n",
                             "#ident \"a\"\n",
                             "constant char n[] = __FILE_NAME__;\n",
                             "P(__FI, LE__)\n",
                             "#ifdef KILN_ONCE_2\n#endif\n",
                             "#ifndef G\n#define G\n#undef G\n#include \"h.h\"\n#endif\n"}) {
    INFO(header);
    headed.folder.write("h.h", header);
    CHECK_FALSE(headed.takes(include));
    CHECK_FALSE(headed.takes("#if B\n" + include + "#endif\n"));
  }
  // The guard of a file with #pragma once in it is not undefined elsewhere either.
  headed.folder.write("h.h", "#ifndef G\n#define G\n#pragma once\nint h;\n#endif\n");
  CHECK(headed.takes(include + include));
  CHECK_FALSE(headed.takes(include + "#undef G\n" + include));
  headed.folder.write("h.h", "#pragma once\n#pragma unroll\n#pragma OPENCL FP_CONTRACT ON\nint h;");
  CHECK(headed.takes(include + "#if A\n" + include + "#endif\n"));
}

TEST_CASE("two headers with one guard, the second of which includes a file once", "[source]") {
  // The compiler sees neither the second header nor what it includes, until that is included again.
  for (const bool is_defined : {false, true}) {
    const Headed headed;
    headed.folder.write("a.h", "#ifndef GUARD\n#define GUARD\nint a;\n#endif\n");
    headed.folder.write("b.h", "#ifndef GUARD\n#define GUARD\n#include \"once.h\"\n#endif\n");
    headed.folder.write("once.h", "#pragma once\n#define VALUE 2\n");
    const std::string source = std::string(is_defined ? "" : "#include \"a.h\"\n") +
                               "#include \"b.h\"\n#include \"once.h\"\n";
    const WholeProgram made = whole(source, headed.options + (is_defined ? " -DGUARD" : ""));
    const std::size_t last = made.source.rfind("#define VALUE 2");
    CHECK(made.source.find("#define VALUE 2") < last);  // once under the guard, once behind
  }
}

TEST_CASE("a macro that doubles, and an endless one, have an end", "[source]") {
  const Headed headed;
  headed.folder.write("x.h", "int x;\n");
  std::string text = "#define D0 x\n";
  for (int i = 1; i < 40; ++i) {
    const std::string before = std::to_string(i - 1);
    text += "#define D" + std::to_string(i) + " D" + before + "D" + before + "\n";
    text += "#define E" + std::to_string(i) + "(a) E" + before + "(a/a)\n";
  }
  CHECK_FALSE(headed.takes(text + "#if 0\n#include D39\n#endif\n"));
  CHECK_FALSE(headed.takes(text + "#if 0\n#include E31(x)\n#endif\n"));
}

TEST_CASE("a name of macros that a driver may define otherwise is refused", "[source]") {
  const Headed headed;
  headed.folder.write("x.h", "int x;\n");
  const std::string macros = "#define S(x) #x\n#define M(x) S(x)\n";
  CHECK(headed.takes(macros + "#include M(x.h)\n"));
  for (const char *name : {"M(x __ENDIAN_LITTLE__.h)", "M(linux/x.h)", "M(X.h)", "M(x .h)",
                           "M(x/**/.h)", "M", "M(x.h) M(x.h)", "M(cl_khr_fp64/x.h)"}) {
    INFO(name);
    CHECK_FALSE(headed.takes(macros + "#define N " + name + "\n#include N\n"));
    CHECK_FALSE(headed.takes(macros + "#if 0\n#include " + name + "\n#endif\n"));
  }
}

TEST_CASE("-I that drivers read with and without its quotes", "[source]") {
  const TemporaryFolder folder;
  folder.write("a/x.h", "int a;\n");
  folder.write("b/y.h", "int y;\n");
  const std::string options =
      "-I\"" + (folder.path() / "a").string() + "\" -I" + (folder.path() / "b").string();
  const std::string source = "#include \"x.h\"\n";
  CHECK(whole_program(source, options).ok());
  CHECK(whole_program(source, options + " -I" + (folder.path() / "a").string()).ok());
  CHECK(whole(source, options).include_options == options);
  CHECK(whole(source, options).finding_source == "#if !__has_include(<x.h>)\n#error\n#endif\n");
  CHECK(whole("#include <y.h>\n", options).finding_source.empty());  // in no folder in quotes
  folder.write("b/x.h", "int b;\n");  // the one that a driver finds which keeps the quotes
  CHECK_FALSE(whole_program(source, options).ok());
}

TEST_CASE("-I with a folder whose name has a blank", "[source]") {
  const TemporaryFolder folder;
  folder.write("a b/x.h", "int a;\n");
  const std::string place = folder.path().string();
  const std::string source = "#include <x.h>\n";
  const auto made = whole(source, "-I \"" + place + "/a b\" -DA");
  CHECK(made.may_be_missing);
  CHECK(made.options == "-DA");
  CHECK(made.include_options == "-I \"" + place + "/a b\"");
  CHECK(made.finding_source == "#if !__has_include(<x.h>)\n#error\n#endif\n");
  CHECK(mentions(made.source, "int a;"));
  CHECK(made.name == whole("#include \"" + place + "/a b/x.h\"\n", "-DA").name);
  folder.write("a/x.h", "int b;\n");  // the one that a driver finds which cuts -I at the blank
  CHECK(whole_program(source, "-I\"" + place + "/a b\"").ok());  // there is a quote before it
  CHECK_FALSE(whole_program(source, "\"-I" + place + "/a b\"").ok());
}

TEST_CASE("a folder of -I that compilers take for something else is refused", "[source]") {
  const Headed headed;
  headed.folder.write("x.h", "int x;\n");
  CHECK_FALSE(whole_program("#include <x.h>\n", headed.options + " -I/usr/include").ok());
  CHECK_FALSE(whole_program("#include <x.h>\n", headed.options + "/x.h " + headed.options).ok());
}

TEST_CASE("a variable that adds folders makes a program with includes pass", "[source]") {
  const Headed headed;
  headed.folder.write("x.h", "int x;\n");
  setenv("CPATH", "/x", 1);
  CHECK(headed.takes("kernel void k() {}"));
  CHECK_FALSE(headed.takes("#include <x.h>\n"));
  unsetenv("CPATH");
  CHECK(headed.takes("#include <x.h>\n"));
}

TEST_CASE("a link is known by its parts, in their order, and its options", "[source]") {
  const WholeProgram a = whole("kernel void k() {}", "-DA");
  const WholeProgram b = whole("int f(void);");
  const WholeProgram one = whole_link({a, b}, "");
  std::vector<kiln::packs::LinkedPart> parts;
  REQUIRE(kiln::packs::read_linked_source(one.source, &parts));
  REQUIRE(parts.size() == 2);
  CHECK(parts[0].source == a.source);
  CHECK(parts[0].options == a.options);
  CHECK(parts[1].source == b.source);
  CHECK(one.parts.size() == 2);
  CHECK(one.name == program_name(one.source, ""));
  CHECK(one.name == whole_link({a, b}, "").name);
  CHECK(one.name != whole_link({b, a}, "").name);
  CHECK(one.name != whole_link({whole("kernel void k() {}"), b}, "").name);
  CHECK(one.name != whole_link({a, b}, "-cl-denorms-are-zero").name);

  // One part has both kinds of options; a library is not its part.
  const WholeProgram alone = whole_link({a}, "");
  CHECK(alone.name != a.name);
  CHECK(alone.name != whole_link({whole("kernel void k() {}")}, "-DA").name);
  CHECK(alone.name != whole_link({whole_link({a}, "")}, "").name);
  CHECK(whole_link({a}, "-create-library").name != alone.name);
  CHECK(whole_link({a, a}, "").name != alone.name);
}

TEST_CASE("directives and pragmas that are not listed make a program pass", "[source]") {
  for (const char *text :
       {"#pragma GCC dependency \"x.h\"", "#pragma push_macro(\"A\")", "#pragma message(\"a\")",
        "#pragma clang module import a", "_Pragma(\"GCC dependency \\\"x.h\\\"\")", "#ident \"a\"",
        "# 7 \"y.h\"", "#elifdef A", "#assert a(b)", "#define ONCE once\n#pragma ONCE", "#pragma",
        "#unassert a"}) {
    INFO(text);
    CHECK_FALSE(whole_program(text, "").ok());
  }
  for (const char *text :
       {"#pragma once", "#pragma unroll 4", "#pragma OPENCL EXTENSION cl_khr_fp64 : enable",
        "#pragma OPENCL FP_CONTRACT OFF", "#pragma pack(push,1)", "#pragma GCC unroll 4",
        "#pragma clang loop unroll(full)", "#", "# /* nothing */",
        "#if A\n#elif B\n#else\n#endif\n#undef A\n#error a\n#warning a", "#line 1 \"y.cl\""}) {
    INFO(text);
    CHECK(whole_program(text, "").ok());
  }
}

TEST_CASE("inline assembly that may read a file makes a program pass", "[source]") {
  for (const char *text :
       {"__asm__(\".incbin \\\"x.bin\\\"\");", "asm(\"nop; .include \\\"x\\\"\");",
        "asm volatile(\".inc\" \"bin \\\"x\\\"\");", "__asm(\"nop\\n.incbin\");",
        "asm(\".\" \"incbin\");", "#define S(x) #x\nasm(S(.incbin \"x\"));",
        "#define P(a, b) a##b\nP(as, m)(\".incbin\");", "asm(\"nop\\n\\t.incbin\");",
        "#define D .\n#define S(x) #x\nasm(S(D));", "asm(\"\\x2eincbin \\\"x\\\"\");",
        "asm(\"\\056incbin \\\"x\\\"\");", "asm(\".reg .b32 a;\\n.incbin\");",
        "#define reg incbin \"x\"\n#define S(x) #x\n#define T(x) S(x)\nasm(T(.reg ));",
        "#if 0\n#else\nasm(\".incbin\");\n#endif"}) {
    INFO(text);
    CHECK_FALSE(whole_program(text, "").ok());
  }
  CHECK_FALSE(whole_program("A(\".incbin\");", "-DA=asm").ok());
  CHECK_FALSE(whole_program("#define S(x) #x\nasm(S(A));", "-DA=.incbin").ok());
  for (const char *text :
       {"asm volatile (\"mad.lo.cc.u32 %0, %1;\" : \"=r\"(a) : \"r\"(b));",
        "asm(\"V_ADD3_U32 %0, %1\"); float a = .5f + b.x; int f(const char *p, ...);",
        "asm(\"nop\"); int a = x == '.';", "#line 1 \"./a.cl\"\nasm(\"nop\");",
        "int a, s, m; float b = .x;", "constant char text[] = \".incbin\";",
        "asm(\"{\\n\" \".reg .b16 xh;\\n\" \"mov.f32 x, 0.0;\\n\" \"}\" : \"=r\"(a));",
        "#if 0\nasm(\".incbin\");\n#endif", "#if 1\n#else\nasm(\".incbin\"); a$b\n#endif",
        "\xEF\xBB\xBFkernel void k() {}"}) {
    INFO(text);
    CHECK(whole_program(text, "").ok());
  }
}

TEST_CASE("a text that has no name: the line and a cure are told", "[source]") {
  const std::string begin = "it may depend on more than its text: ";
  const auto reason = [&](const std::string &text, const char *options = "") {
    const auto made = whole_program(text, options);
    REQUIRE_FALSE(made.ok());
    CHECK(made.status().message.starts_with(begin));
    return made.status().message.substr(begin.size());
  };
  CHECK(reason("int a;\nint b$;") ==
        "a character that is not known in code in line 2; "
        "write ASCII without $ outside comments and strings");
  CHECK(reason("\n\n\f#define A") ==
        "a form feed before a directive in line 3; put it into a line of its own");
  CHECK(reason("int c = '\?\?=';\n") == "a trigraph in line 1");
  const std::string assembly = "inline assembly with a dot that may begin .incbin";
  const std::string cure = "; begin no name with a dot there, except those of PTX, such as .reg";
  CHECK(reason("asm(\"nop\");\nasm(\n\".byte\");\n") == assembly + " in line 3" + cure);
  CHECK(reason("asm(\"nop\");", "-DA=.x") == assembly + cure);
}

TEST_CASE("headers that compilers include unasked make a program pass", "[source]") {
  const Headed headed;
  CHECK(headed.takes("kernel void k() {}"));
  headed.folder.write("opencl-c-base.h", "#define VALUE 1\n");
  CHECK_FALSE(headed.takes("kernel void k() {}"));
  CHECK(whole_program("kernel void k() {}", "").ok());
}

TEST_CASE("a header of clCompileProgram has a plain name", "[source]") {
  const std::string source = "#include \"a/x.h\"\n";
  CHECK(whole_program(source, "", {{"a/x.h", "int x;\n"}}).ok());
  for (const char *name : {"/x.h", "../x.h", "a/../../x.h", "./x.h", "a//x.h", "", "a/"}) {
    INFO(name);
    CHECK_FALSE(whole_program(source, "", {{"a/x.h", "int x;\n"}, {name, "int y;\n"}}).ok());
  }
}

TEST_CASE("a name that PoCL's cache folder has makes a program pass", "[source]") {
  const Headed headed;
  headed.folder.write("x.h", "int x;\n");
  const TemporaryFolder cache;
  std::filesystem::create_directories(cache.path() / "cache");
  const char *before = std::getenv("POCL_CACHE_DIR");
  const std::string kept = before == nullptr ? "" : before;
  setenv("POCL_CACHE_DIR", (cache.path() / "cache").c_str(), 1);
  CHECK(headed.takes("#include \"x.h\"\n"));
  cache.write("cache/x.h", "int other;\n");
  CHECK_FALSE(headed.takes("#include \"x.h\"\n"));
  CHECK(headed.takes("#include <x.h>\n"));
  kept.empty() ? unsetenv("POCL_CACHE_DIR") : setenv("POCL_CACHE_DIR", kept.c_str(), 1);
}

TEST_CASE("each of several folders is searched, until one has the file", "[source]") {
  const TemporaryFolder folder;
  folder.write("a/other.h", "int other;\n");
  folder.write("c/x.h", "int x;\n");
  std::string options;
  for (const char *name : {"a", "b", "c"}) options += "-I" + (folder.path() / name).string() + " ";
  CHECK(whole("#include <x.h>\n", options).source.find("int x;") != std::string::npos);
}

TEST_CASE("a file beside a header may not have the name of clCompileProgram's", "[source]") {
  const Headed headed;
  headed.folder.write("outer.h", "#include \"inner.h\"\n");
  headed.folder.write("inner.h", "int of_disk;\n");
  const auto takes = [&](const Headers &headers) {
    return whole_program("#include <outer.h>\n", headed.options, headers).ok();
  };
  CHECK(takes({}));
  CHECK(takes({{"other.h", ""}}));
  CHECK_FALSE(takes({{"inner.h", ""}}));
  // Its own headers include each other.
  CHECK(whole_program("#include \"a.h\"\n", "", {{"a.h", "#include \"b.h\"\n"}, {"b.h", ""}}).ok());
}

TEST_CASE("a program says whether some driver may not build its text", "[source]") {
  const Headed headed;
  headed.folder.write("x.h", "int x;\n");
  const std::string quoted = "-I\"" + headed.folder.path().string() + "\"";
  const std::string source = "#include <x.h>\n";
  CHECK_FALSE(whole(source, headed.options).may_be_missing);
  CHECK(whole(source, quoted).may_be_missing);
  CHECK(whole(source, headed.options, {{"y.h", ""}}).may_be_missing);
  CHECK_FALSE(whole("kernel void k() {}", quoted).may_be_missing);
  CHECK(whole("\xEF\xBB\xBF" + source, headed.options).may_be_missing);
  CHECK(whole("\xEF\xBB\xBF" + source, headed.options).name == whole(source, headed.options).name);
  const std::string marked = "\xEF\xBB\xBFkernel void k() {}";
  CHECK(whole(marked, "").source == marked);
  CHECK_FALSE(whole(marked, "").may_be_missing);
  CHECK_FALSE(whole_program("\n" + marked, "").ok());
  CHECK_FALSE(whole_program("\xEF\xBB\xBF" + marked, "").ok());
}

TEST_CASE("options have printable characters, blanks and line ends", "[source]") {
  const auto takes = [](const std::string &options) {
    return whole_program("kernel void k() {}", options).ok();
  };
  for (const char *options : {"-DA=~", "-DA=!", "-DA -DB", "-DA\t-DB", "-DA\n-DB", "-DA\r\n-DB"}) {
    INFO(options);
    CHECK(takes(options));
  }
  for (const char *options : {"-DA=$", "-DA=\x7f", "-DA=\x01", "-DA=\x1f", "-DA=\x80",
                              "-DA=\xC3\xA9", "-DA\v-DB", "-DA\r-DB", "-DA=\x1a"}) {
    INFO(options);
    CHECK_FALSE(takes(options));
  }
}

TEST_CASE("a dot behind a word in the options begins no assembler's directive", "[source]") {
  CHECK(whole_program("asm(\"nop\");", "-cl-std=CL1.2").ok());
  CHECK(whole_program("asm(\"nop\");", "-DA=1.5f").ok());
  CHECK(whole_program("asm(\"nop\");", "-DA=.5f -DB=-.5f").ok());
  CHECK_FALSE(whole_program("asm(\"nop\");", "-DA=.x").ok());
}

TEST_CASE("a SPIR-V module has at least a header, and its magic number", "[source]") {
  std::string module("\x03\x02\x23\x07", 4);
  module.resize(20);
  const auto made = whole_module(module, "-DX");
  REQUIRE(made.ok());
  CHECK(made->is_il);
  CHECK(made->source == module);
  CHECK(made->options == "-DX");
  CHECK(made->name == program_name(module, "-DX"));
  CHECK_FALSE(whole_module(std::string_view(module).substr(0, 19), "").ok());
  CHECK_FALSE(whole_module("", "").ok());
  module[0] = 4;
  CHECK_FALSE(whole_module(module, "").ok());
}

TEST_CASE("a program's name is cl- and 32 hexadecimal digits", "[source]") {
  const std::string name = program_name("a", "b");
  CHECK(is_program_name(name));
  CHECK(is_program_name("cl-0123456789abcdef0123456789abcdef"));
  for (const std::string &other :
       {name + "0", name.substr(0, 34), "cl_" + name.substr(3), name.substr(0, 34) + "g",
        name.substr(0, 34) + "A", std::string()}) {
    INFO(other);
    CHECK_FALSE(is_program_name(other));
  }
}
