// SPDX-License-Identifier: Apache-2.0
#include "runtime/source/flatten.hpp"

#include <map>

#include <sys/stat.h>

#include "runtime/source/logical_lines.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace kiln::source;
using kiln::test::mentions;

namespace {

using Files = std::map<std::string, std::string>;

FlattenRequest request_of(const Files &files, const std::string &source = "k/a.cl") {
  FlattenRequest request;
  request.source = source;
  request.read = [&files](const std::filesystem::path &path) -> OpenedFile {
    const std::string name = path.lexically_normal().generic_string();
    const auto found = files.find(name);
    if (found == files.end()) return {};
    return {OpenedFile::Outcome::read, found->second, name, name};
  };
  request.name = names_as_opened();
  return request;
}

Flattened flattened(const FlattenRequest &request) {
  auto result = flatten(request);
  if (!result.ok()) FAIL(result.status().message);
  return *std::move(result);
}

std::string text_of(const Files &files, std::vector<std::filesystem::path> include_dirs = {}) {
  FlattenRequest request = request_of(files);
  request.include_dirs = std::move(include_dirs);
  return flattened(request).text;
}

std::string error_of(const Files &files) {
  const auto result = flatten(request_of(files));
  REQUIRE(result.status().code == Code::bad_input);
  return result.status().message;
}

}  // namespace

TEST_CASE("A file without includes keeps its text behind its name") {
  CHECK(text_of({{"k/a.cl", "kernel void a() {}\n"}}) ==
        "#line 1 \"k/a.cl\"\nkernel void a() {}\n");
}

TEST_CASE("An include is replaced by the file's text, and the lines go on where they were") {
  const Files files = {{"k/a.cl", "int a;\n  #  include \"b.clh\" // why\nint c;\n"},
                       {"k/b.clh", "int b;\n"}};
  const FlattenRequest request = request_of(files);
  const Flattened result = flattened(request);
  CHECK(result.text ==
        "#line 1 \"k/a.cl\"\nint a;\n"
        "#line 1 \"k/b.clh\"\nint b;\n"
        "#line 3 \"k/a.cl\"\nint c;\n");
  REQUIRE(result.files.size() == 1);
  CHECK(result.files[0].path == "k/b.clh");
  CHECK(result.files[0].text == "int b;\n");
}

TEST_CASE("The including file's folder is searched first, then the include folders in order") {
  const Files files = {{"k/a.cl", "#include \"sub/b.clh\"\n"},
                       {"k/sub/b.clh", "#include \"c.clh\"\n#include \"d.clh\"\n"},
                       {"k/sub/c.clh", "near\n"},
                       {"k/c.clh", "wrong\n"},
                       {"x/c.clh", "wrong\n"},
                       {"x/d.clh", "first\n"},
                       {"y/d.clh", "wrong\n"}};
  FlattenRequest request = request_of(files);
  request.include_dirs = {"none", "x", "y"};
  const Flattened result = flattened(request);
  CHECK(result.text ==
        "#line 1 \"k/a.cl\"\n#line 1 \"k/sub/b.clh\"\n"
        "#line 1 \"k/sub/c.clh\"\nnear\n#line 2 \"k/sub/b.clh\"\n"
        "#line 1 \"x/d.clh\"\nfirst\n#line 3 \"k/sub/b.clh\"\n"
        "#line 2 \"k/a.cl\"\n");
  CHECK(result.files.size() == 3);
}

TEST_CASE("Includes in comments and strings are left alone") {
  const std::string text =
      "// #include \"x\"\n"
      "// carried on \\\n#include \"x\"\n"
      "/* #include \"x\"\n#include \"x\"\n*/\n"
      "constant char b[] = \"\\\"#include \";\n"
      "constant char c = '\"'; // \"\n"
      "int d; # include \"x\"\n"
      "#include <opencl-c.h>\n"
      "#includes \"x\"\n";
  CHECK(text_of({{"k/a.cl", text}}) == "#line 1 \"k/a.cl\"\n" + text);
}

TEST_CASE("Lines behind a group with an include go on where they were, be it skipped or not") {
  CHECK(text_of({{"k/a.cl",
                  "#if A\n#if B\n#include \"b.clh\"\n#endif\n#else\nint c;\n#endif\n__LINE__\n"},
                 {"k/b.clh", "int b;\n\n"}}) ==
        "#line 1 \"k/a.cl\"\n#if A\n#if B\n#line 1 \"k/b.clh\"\nint b;\n\n"
        "#line 4 \"k/a.cl\"\n#endif\n#line 5 \"k/a.cl\"\n#else\n"
        "#line 6 \"k/a.cl\"\nint c;\n#endif\n#line 8 \"k/a.cl\"\n__LINE__\n");
}

TEST_CASE("A name in angle brackets is looked for in the include folders alone") {
  const Files files = {{"k/a.cl", "#include <b.clh>\n#include <c.clh>\n"},
                       {"k/c.clh", "wrong\n"},
                       {"x/b.clh", "int b;\n"}};
  FlattenRequest request = request_of(files);
  request.include_dirs = {"x"};
  CHECK(flattened(request).text ==
        "#line 1 \"k/a.cl\"\n#line 1 \"x/b.clh\"\nint b;\n#line 2 \"k/a.cl\"\n"
        "#include <c.clh>\n");
}

TEST_CASE("In a program that was compiled before, names are absolute or made of macros") {
  const Files files = {{"k/a.cl",
                        "#include \"/h/b.clh\"\n#define QUOTE(x) #x\n#define NAME(x) QUOTE(x)\n"
                        "#include NAME(DIR/c.clh)\n"},
                       {"/h/b.clh", "int b;\n"},
                       {"/i/c.clh", "int c;\n"}};
  FlattenRequest request = request_of(files);
  request.macros.define_option("DIR=/i");
  request.as_compiled.emplace();
  CHECK(flattened(request).text ==
        "#line 1 \"k/a.cl\"\n#line 1 \"/h/b.clh\"\nint b;\n#line 2 \"k/a.cl\"\n"
        "#define QUOTE(x) #x\n#define NAME(x) QUOTE(x)\n"
        "#line 1 \"/i/c.clh\"\nint c;\n#line 5 \"k/a.cl\"\n");
}

TEST_CASE("Macros of options and of the lines above make a name") {
  const Files files = {
      {"k/a.cl", "#ifdef S\n#include M2S(P/b.clh)\n#endif\n#define C <c.clh>\n#include C\n"},
      {"k/i/b.clh", "int b;\n"},
      {"x/c.clh", "int c;\n"}};
  FlattenRequest request = request_of(files);
  request.include_dirs = {"x"};
  for (const char *one : {"P=i", "X(x)=#x", "M2S(x)=X(x)"}) request.macros.define_option(one);
  CHECK(flattened(request).text ==
        "#line 1 \"k/a.cl\"\n#ifdef S\n#line 1 \"k/i/b.clh\"\nint b;\n#line 3 \"k/a.cl\"\n#endif\n"
        "#line 4 \"k/a.cl\"\n#define C <c.clh>\n#line 1 \"x/c.clh\"\nint c;\n#line 6 \"k/a.cl\"\n");
}

TEST_CASE("In a program that was compiled before, a file that is not found is an error line") {
  const Files files = {{"k/a.cl", "#ifdef HOST\n#include \"host.h\"\n#endif\n"}};
  FlattenRequest request = request_of(files);
  request.as_compiled.emplace();
  CHECK(flattened(request).text ==
        "#line 1 \"k/a.cl\"\n#ifdef HOST\n" + std::string(kMissingFile) + "\n#endif\n");
}

TEST_CASE("A name made of macros that are not certain is an error") {
  for (const char *text : {"#include NAME\n",
                           "#if A\n#define NAME \"b\"\n#else\n#define NAME \"c\"\n#endif\n"
                           "#include NAME\n",
                           "#define NAME \"b\"\n#undef NAME\n#include NAME\n"}) {
    const Files files = {{"k/a.cl", text}};
    FlattenRequest request = request_of(files);
    request.as_compiled.emplace();
    CHECK(flatten(request).status().code == Code::bad_input);
  }
}

TEST_CASE("Includes behind comments and over spliced lines are found") {
  CHECK(text_of({{"k/a.cl", "/* a\n */ # /* b */ include \\\n /* c */ \"b.clh\" /* d\n */\nlast\n"},
                 {"k/b.clh", "/* \" */\n"}}) ==
        "#line 1 \"k/a.cl\"\n#line 1 \"k/b.clh\"\n/* \" */\n#line 5 \"k/a.cl\"\nlast\n");
}

TEST_CASE("CRLF becomes LF, a byte-order mark goes, a last line without an end gets one") {
  CHECK(text_of({{"k/a.cl", "\xEF\xBB\xBFint a;\r\n#include \"b.clh\"\r\nint \\\r\nc;"},
                 {"k/b.clh", "int b;"}}) ==
        "#line 1 \"k/a.cl\"\nint a;\n#line 1 \"k/b.clh\"\nint b;\n"
        "#line 3 \"k/a.cl\"\nint \\\nc;\n");
}

TEST_CASE("A text that ends with its include, or is empty, is fine") {
  CHECK(text_of({{"k/a.cl", "#include \"b.clh\""}, {"k/b.clh", ""}}) ==
        "#line 1 \"k/a.cl\"\n#line 1 \"k/b.clh\"\n#line 2 \"k/a.cl\"\n");
}

TEST_CASE("A file with #pragma once is in the text once") {
  CHECK(text_of({{"k/a.cl", "#include \"b.clh\"\n#include \"./b.clh\"\n"},
                 {"k/b.clh", "#pragma once\nint b;\n"}}) ==
        "#line 1 \"k/a.cl\"\n"
        "#ifndef KILN_ONCE_2\n#define KILN_ONCE_2\n#line 1 \"k/b.clh\"\n\nint b;\n#endif\n"
        "#line 2 \"k/a.cl\"\n"
        "#line 3 \"k/a.cl\"\n");
}

TEST_CASE("#pragma once under a condition does not lose the file for later") {
  const std::string once =
      "#ifndef KILN_ONCE_2\n#define KILN_ONCE_2\n#line 1 \"k/b.clh\"\n\nint b;\n#endif\n";
  CHECK(text_of({{"k/a.cl", "#if A\n#include \"b.clh\"\n#endif\n#include \"b.clh\"\n"},
                 {"k/b.clh", "#pragma once\nint b;\n"}}) == "#line 1 \"k/a.cl\"\n#if A\n" + once +
                                                                "#line 3 \"k/a.cl\"\n#endif\n"
                                                                "#line 4 \"k/a.cl\"\n" +
                                                                once + "#line 5 \"k/a.cl\"\n");
}

TEST_CASE("The source's own #pragma once leaves an empty line") {
  CHECK(text_of({{"k/a.cl", "#pragma once // why\nint a;\n"}}) == "#line 1 \"k/a.cl\"\n\nint a;\n");
}

TEST_CASE("A file with an include guard may be met again, also below itself") {
  const std::string text =
      text_of({{"k/a.cl", "#include \"b.clh\"\n#include \"b.clh\"\n"},
               {"k/b.clh", "// guard\n#ifndef B\n#define B\n#include \"c.clh\"\n#endif // B\n"},
               {"k/c.clh", "#include \"b.clh\"\nint c;\n"}});
  const std::string b =
      "#line 1 \"k/b.clh\"\n// guard\n#ifndef B\n#define B\n"
      "#line 1 \"k/c.clh\"\n#line 2 \"k/c.clh\"\nint c;\n#line 5 \"k/b.clh\"\n#endif // B\n"
      "#line 6 \"k/b.clh\"\n";
  CHECK(text == "#line 1 \"k/a.cl\"\n" + b + "#line 2 \"k/a.cl\"\n" + b + "#line 3 \"k/a.cl\"\n");
}

TEST_CASE("A file that includes itself without a guard is an error with the chain") {
  CHECK(error_of({{"k/a.cl", "int a;\n#include \"b.clh\"\n"},
                  {"k/b.clh", "#include \"c/c.clh\"\n"},
                  {"k/c/c.clh", "\n  #include \"../b.clh\"\n"}}) ==
        "k/c/c.clh:2:12: error: \"k/b.clh\" includes itself: k/b.clh -> k/c/c.clh -> k/b.clh\n"
        "  #include \"../b.clh\"\n"
        "           ^\n"
        "expected #pragma once or an include guard\n"
        "included from k/b.clh:1\n"
        "included from k/a.cl:2\n");
}

TEST_CASE("A file that is not there is an error with the places that were searched") {
  const Files files = {{"k/a.cl", "int a;\r\n#include \"c.clh\"\r\n"}};
  FlattenRequest request = request_of(files);
  request.include_dirs = {"inc", "k/../x"};
  const auto result = flatten(request);
  REQUIRE(result.status().code == Code::bad_input);
  CHECK(result.status().message ==
        "k/a.cl:2:10: error: cannot find \"c.clh\"\n"
        "#include \"c.clh\"\n"
        "         ^\n"
        "expected one of: k/c.clh, inc/c.clh, x/c.clh\n");
}

TEST_CASE("An include must name a file by a relative path") {
  CHECK(error_of({{"k/a.cl", "#include CONFIG\n"}}) ==
        "k/a.cl:1:10: error: #include of a file whose name is not certain\n"
        "#include CONFIG\n"
        "         ^\n"
        "expected \"name\", <name>, or macros that the options or the lines above define once, "
        "without ## and blanks\n");
  CHECK(error_of({{"k/a.cl", "#include\n"}}) ==
        "k/a.cl:1:1: error: #include without the name of a file\n"
        "#include\n"
        "^\n"
        "expected \"name\" or <name>\n");
  CHECK(error_of({{"k/a.cl", "#include \"/etc/x\"\n"}}) ==
        "k/a.cl:1:10: error: \"/etc/x\" is an absolute path\n"
        "#include \"/etc/x\"\n"
        "         ^\n"
        "expected a path relative to this file's folder or to an include folder\n");
  CHECK(error_of({}) == "k/a.cl: error: cannot be read\n");
}

TEST_CASE("Depth and size have an end") {
  Files deep;
  for (int i = 0; i < 70; ++i) {
    const std::string name = i == 0 ? "k/a.cl" : "k/" + std::to_string(i);
    deep[name] = "#include \"" + std::to_string(i + 1) + "\"\n";
  }
  CHECK(error_of(deep).starts_with("k/63:1:10: error: includes are nested too deeply\n"));

  Files wide;  // every file includes the next one four times
  for (int i = 0; i < 30; ++i) {
    const std::string next = "#include \"" + std::to_string(i + 1) + "\"\n";
    wide[i == 0 ? "k/a.cl" : "k/" + std::to_string(i)] = next + next + next + next;
  }
  wide["k/30"] = std::string(10'000, ' ');
  CHECK(error_of(wide).find("error: the text with its includes is too large\n") !=
        std::string::npos);
}

TEST_CASE("Names for packs are below the manifest's folder, wherever the tree is") {
  for (const std::string root : {"", "work/", "/home/a b/", "../"}) {
    INFO(root);
    const NameFile name = names_below(root + "manifests");
    CHECK(name(root + "manifests/../kernels/a.cl") == "../kernels/a.cl");
    CHECK(name(root + "manifests/k/./b.clh") == "k/b.clh");
  }
  CHECK(names_below("")("../kernels/a.cl") == "../kernels/a.cl");
  CHECK(names_below("")("k/a.cl") == "k/a.cl");
}

TEST_CASE("Quotes in a file's name are escaped, and a name with backslashes is refused") {
  CHECK(text_of({{"k/a.cl", "#include <b\"c>\n"}, {"x/b\"c", ""}}, {"x"}) ==
        "#line 1 \"k/a.cl\"\n#line 1 \"x/b\\\"c\"\n#line 2 \"k/a.cl\"\n");
  CHECK(error_of({{"k/a.cl", "#include \"b\\c\"\n"}, {"k/b\\c", ""}})
            .starts_with("k/a.cl:1:10: error: the name of a file that compilers may read in "));
}

TEST_CASE("Files are read from the disk, folders are not") {
  const kiln::test::TemporaryFolder folder;
  folder.write("k/a.cl", "#include \"b.clh\"\n");
  folder.write("inc/b.clh", "int b;\n");
  std::filesystem::create_directories(folder.path() / "k/b.clh");
  FlattenRequest request;
  request.source = folder.path() / "k/a.cl";
  request.include_dirs = {folder.path() / "inc"};
  request.read = read_from_disk();
  request.name = names_below(folder.path() / "m");
  CHECK(flattened(request).text ==
        "#line 1 \"../k/a.cl\"\n#line 1 \"../inc/b.clh\"\nint b;\n#line 2 \"../k/a.cl\"\n");
}

TEST_CASE("An include guard spans the whole file or is none") {
  const auto guard = [](std::string_view text) {
    const ScannedText scanned = scan(text);
    return std::string(include_guard(scanned.lines));
  };
  CHECK(guard("#ifndef A\n#define A\n#if B\n#else\n#endif\n#endif\n") == "A");
  CHECK(guard("/* x */\n#ifndef A\n#define A 1\nint a;\n#endif /* A */\n\n") == "A");
  CHECK(guard("#ifndef A\n#define B\n#endif\n").empty());
  CHECK(guard("#ifndef A\n#define A\n#else\nint a;\n#endif\n").empty());
  CHECK(guard("#ifndef A\n#define A\n#endif\nint a;\n").empty());
  CHECK(guard("int a;\n#ifndef A\n#define A\n#endif\n").empty());
  CHECK(guard("#ifndef A\nint a;\n#define A\n#endif\n").empty());
  CHECK(guard("#ifndef A\n#define A\n").empty());
  CHECK(guard("#endif\n").empty());
  CHECK(guard("").empty());
}

TEST_CASE("An #include without a name is an error at its own line") {
  CHECK(error_of({{"k/a.cl", "int a;\n\n#include\n"}}) ==
        "k/a.cl:3:1: error: #include without the name of a file\n"
        "#include\n"
        "^\n"
        "expected \"name\" or <name>\n");
}

TEST_CASE("An include that stays changes no line behind its group") {
  const std::string text = "#if A\n#include <x.h>\n#endif\n__LINE__\n";
  CHECK(text_of({{"k/a.cl", text}}) == "#line 1 \"k/a.cl\"\n" + text);
}

TEST_CASE("A guard that spans a file takes the place of the #pragma once within") {
  const Files files = {{"k/a.cl", "#include \"b.clh\"\n"},
                       {"k/b.clh", "#ifndef B\n#define B\n#pragma once\nint b;\n#endif\n"}};
  CHECK(text_of(files) ==
        "#line 1 \"k/a.cl\"\n#line 1 \"k/b.clh\"\n#ifndef B\n#define B\n\nint b;\n#endif\n"
        "#line 2 \"k/a.cl\"\n");
}

TEST_CASE("A guard that takes the place of #pragma once is undefined nowhere") {
  const auto guarded = [](const std::string &name) {
    return "#ifndef " + name + "\n#define " + name + "\n#pragma once\n#endif\n";
  };
  for (const char *name : {"A", "B", "C"}) {
    INFO(name);
    CHECK(
        error_of({{"k/a.cl", "#include \"a.clh\"\n#include \"b.clh\"\n#include \"c.clh\"\n#undef " +
                                 std::string(name) + "\n"},
                  {"k/a.clh", guarded("A")},
                  {"k/b.clh", guarded("B")},
                  {"k/c.clh", guarded("C")}}) ==
        "the include guard " + std::string(name) + " of a file is undefined later");
  }
  CHECK(
      flatten(request_of({{"k/a.cl", "#include \"a.clh\"\n#undef D\n"}, {"k/a.clh", guarded("A")}}))
          .ok());
}

TEST_CASE("A file that includes itself behind its #pragma once ends there") {
  const std::string once = "#pragma once\n", self = "#include \"b.clh\"\n";
  CHECK(text_of({{"k/a.cl", self}, {"k/b.clh", once + self + "int b;\n"}}) ==
        "#line 1 \"k/a.cl\"\n#ifndef KILN_ONCE_2\n#define KILN_ONCE_2\n#line 1 \"k/b.clh\"\n\n"
        "#line 3 \"k/b.clh\"\nint b;\n#endif\n#line 2 \"k/a.cl\"\n");
  // Before it, a compiler includes the file without an end; the first of two counts.
  CHECK(error_of({{"k/a.cl", self}, {"k/b.clh", self + once}})
            .starts_with("k/b.clh:1:10: error: \"k/b.clh\" includes itself"));
  CHECK(flatten(request_of({{"k/a.cl", self}, {"k/b.clh", once + self + once}})).ok());
}

TEST_CASE("A file's folder may be a file, and then has no files") {
  const kiln::test::TemporaryFolder folder;
  folder.write("x", "");
  folder.write("inc/x/b.clh", "int b;\n");
  folder.write("a.cl", "#include \"x/b.clh\"\n");
  FlattenRequest request;
  request.source = folder.path() / "a.cl";
  request.include_dirs = {folder.path() / "inc"};
  request.read = read_from_disk();
  request.name = names_below(folder.path());
  CHECK(mentions(flattened(request).text, "int b;"));
}

TEST_CASE("A file of the disk is regular, may be read, and has at most 16 MiB") {
  const kiln::test::TemporaryFolder folder;
  const ReadFile read = read_from_disk();
  const auto outcome = [&](const char *name) { return read(folder.path() / name).outcome; };
  folder.write("large", "");
  std::filesystem::resize_file(folder.path() / "large", std::size_t{16} << 20);
  CHECK(outcome("large") == OpenedFile::Outcome::read);
  CHECK(read(folder.path() / "large").text.size() == std::size_t{16} << 20);
  std::filesystem::resize_file(folder.path() / "large", (std::size_t{16} << 20) + 1);
  CHECK(outcome("large") == OpenedFile::Outcome::refused);
  REQUIRE(mkfifo((folder.path() / "pipe").c_str(), 0600) == 0);
  CHECK(outcome("pipe") == OpenedFile::Outcome::refused);
  std::filesystem::create_symlink("loop", folder.path() / "loop");
  CHECK(outcome("loop") == OpenedFile::Outcome::refused);
  CHECK(outcome("absent") == OpenedFile::Outcome::absent);
  CHECK(outcome("large/absent") == OpenedFile::Outcome::absent);
  CHECK(outcome(".") == OpenedFile::Outcome::absent);
}

TEST_CASE("A text with its includes has at most 16 MiB") {
  constexpr std::size_t kMax = std::size_t{16} << 20;
  constexpr std::size_t kCount = 128;
  std::string source;
  for (std::size_t i = 0; i < kCount; ++i) source += "#include \"b\"\n";
  const auto of_size = [&](std::size_t size) {
    return Files{{"a", source + "#include \"c\"\n"},
                 {"b", "//" + std::string(100'000, ' ') + "\n"},
                 {"c", "//" + std::string(size, ' ') + "\n"}};
  };
  // The line directive behind the last file comes after the check.
  const std::string last = "#line " + std::to_string(kCount + 2) + " \"a\"\n";
  Files files = of_size(0);
  const std::size_t others = flattened(request_of(files, "a")).text.size() - last.size();
  REQUIRE(others < kMax);
  files = of_size(kMax - others);
  CHECK(flattened(request_of(files, "a")).text.size() == kMax + last.size());
  files = of_size(kMax - others + 1);
  const auto result = flatten(request_of(files, "a"));
  CHECK(mentions(result.status().message, "the text with its includes is too large"));
}
