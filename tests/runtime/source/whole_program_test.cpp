// SPDX-License-Identifier: Apache-2.0
// What a recorded program is known by, which files become a part of it, and which texts may depend
// on more.
#include "runtime/source/whole_program.hpp"

#include <filesystem>

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

TEST_CASE("a file that changes while a driver reads it is seen", "[source]") {
  const TemporaryFolder folder;
  const std::string options = "-I " + folder.path().string();
  const std::string source = "#include <value.h>\nkernel void k() {}\n";
  folder.write("value.h", "int value;\n");
  const WholeProgram made = whole(source, options);
  CHECK(check_unchanged(made, source, options).ok());
  folder.write("value.h", "float value;\n");
  CHECK(check_unchanged(made, source, options).message ==
        "a file that it includes was changed while it was built");
  CHECK(check_unchanged(whole("kernel void k() {}"), "kernel void k() {}", "").ok());
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

TEST_CASE("headers of clCompileProgram come before files", "[source]") {
  const TemporaryFolder folder;
  folder.write("deep/h.h", "int of_disk;\n");
  const Headers headers = {{"deep/h.h", "int of_memory;\n#include \"g.h\"\n"}, {"g.h", "int g;\n"}};
  const WholeProgram made =
      whole("#include \"deep/h.h\"\n", "-I " + folder.path().string(), headers);
  CHECK(made.source.find("int of_memory;") != std::string::npos);
  CHECK(made.source.find("int g;") != std::string::npos);
  CHECK(made.source.find("of_disk") == std::string::npos);
}

TEST_CASE("what is under a condition and is not there stays", "[source]") {
  const std::string source = "#ifdef HOST\n#include <nowhere.h>\n#endif\n";
  CHECK(whole(source).source == source);
}

TEST_CASE("what is not there may be found by options that the layer does not know", "[source]") {
  const std::string source = "#include <nowhere.h>\n";
  for (const char *options :
       {"-isystem /x", "-I '/a b'", "-I/a\\ b", "@file", "-DA -Xclang -I/x"}) {
    CHECK_FALSE(whole_program(source, options).ok());
    CHECK(whole_program("kernel void k() {}", options).ok());
  }
  CHECK(whole_program(source, "-D A=1 -DB -cl-std=CL1.2 -w -Werror -O2 -g").ok());
  CHECK_FALSE(whole_program("#define NAME <nowhere.h>\n#include NAME\n", "").ok());
}

TEST_CASE("a header of clCompileProgram is no file of the current folder", "[source]") {
  const TemporaryFolder folder;
  folder.write("config.h", "int of_folder;\n");
  const auto before = std::filesystem::current_path();
  const TemporaryFolder other;
  other.write("config.h", "int of_current;\n");
  std::filesystem::current_path(other.path());
  const WholeProgram made =
      whole("#include <config.h>\n", "-I " + folder.path().string(), {{"other.h", "int other;\n"}});
  std::filesystem::current_path(before);
  CHECK(made.source.find("of_folder") != std::string::npos);
}

TEST_CASE("a place in a file is not the same once the file is in the program", "[source]") {
  const TemporaryFolder folder;
  folder.write("a.h", "constant char name[] = __FILE__;\n");
  CHECK_FALSE(whole_program("#include \"a.h\"\n", "-I " + folder.path().string()).ok());
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

TEST_CASE("a link is known by its parts, in their order, and its options", "[source]") {
  const WholeProgram one = whole_link({"cl-a", "cl-b"}, "");
  CHECK(one.source == "#error this is linked of several programs: cl-a cl-b\n");
  CHECK(one.name == program_name(one.source, ""));
  CHECK(one.name == whole_link({"cl-a", "cl-b"}, "").name);
  CHECK(one.name != whole_link({"cl-b", "cl-a"}, "").name);
  CHECK(one.name != whole_link({"cl-a", "cl-b"}, "-cl-denorms-are-zero").name);
}
