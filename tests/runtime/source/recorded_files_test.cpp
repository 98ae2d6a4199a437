// SPDX-License-Identifier: Apache-2.0
#include "runtime/source/recorded_files.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace kiln::source;
using kiln::test::TemporaryFolder;

namespace {

WholeProgram sample() {
  WholeProgram program{"cl-1", "", ""};
  program.own_source = "#include <a.h>\n";
  program.own_options = "-I inc";
  program.folder = "/app";
  program.files = {{"/app/inc/a.h", "1\n", "7 1"}, {"/app/b.h", "", "7 2"}};
  return program;
}

}  // namespace

TEST_CASE(
    "A program's files are written byte for byte as docs/use/layer.md has it, and read again") {
  const std::string bytes = recorded_files(sample());
  CHECK(bytes ==
        "kiln files 1\noptions 6\n-I inc\nfolder 4\n/app\nsource 15\n#include <a.h>\n\n"
        "path 12\n/app/inc/a.h\nidentity 3\n7 1\ntext 2\n1\n\n"
        "path 8\n/app/b.h\nidentity 3\n7 2\ntext 0\n\nend 0\n\n");
  WholeProgram read;
  REQUIRE(read_recorded_files(bytes, &read).ok());
  CHECK(recorded_files(read) == bytes);
}

TEST_CASE("Files that are cut, longer or changed in their sizes are refused") {
  const std::string bytes = recorded_files(sample());
  WholeProgram read;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    CHECK_FALSE(read_recorded_files(std::string_view(bytes).substr(0, size), &read).ok());
  }
  CHECK_FALSE(read_recorded_files(bytes + "\n", &read).ok());
  for (const char *size :
       {"7", "5", "-6", "6x", "", "99999999999999999999", "18446744073709551615"}) {
    std::string changed = bytes;
    changed.replace(bytes.find("options 6") + 8, 1, size);
    CHECK_FALSE(read_recorded_files(changed, &read).ok());
  }
}

TEST_CASE("The name of the files depends on their texts and not on their places") {
  WholeProgram other = sample();
  other.folder = "/elsewhere";
  other.own_options = "-I elsewhere";
  for (IncludedFile &file : other.files)
    file = {"/elsewhere" + file.path, file.text, "8" + file.identity};
  CHECK(recorded_files_name(other) == recorded_files_name(sample()));
  CHECK(recorded_files_name(sample()).starts_with("cl-1-"));
  CHECK(recorded_files_name(sample()).size() == std::string("cl-1-0123456789abcdef.files").size());
  other.files[1].text = "2";
  CHECK(recorded_files_name(other) != recorded_files_name(sample()));
  other = sample();
  other.own_source += " ";
  CHECK(recorded_files_name(other) != recorded_files_name(sample()));
  other = sample();
  other.files[1].text = other.files[0].text;
  WholeProgram one = other;
  one.files[1].identity = one.files[0].identity;
  CHECK(recorded_files_name(other) != recorded_files_name(one));
}

TEST_CASE("A program keeps what it was put together of, and one without includes nothing") {
  const TemporaryFolder folder;
  const std::string text = "\xEF\xBB\xBF#define V 1\r\n";
  const std::string header = folder.write("inc/a.h", text).string();
  const std::string source = "#include <a.h>\n#include <../inc/a.h>\n#include <own.h>\n";
  const std::string options = "-DX -I " + (folder.path() / "inc").string();
  const auto whole = whole_program(source, options, {{"own.h", "int own;\n"}});
  REQUIRE(whole.ok());
  CHECK(is_flattened(whole->source));
  CHECK(whole->own_source == source);
  CHECK(whole->own_options == options);
  CHECK(whole->folder == std::filesystem::current_path().string());
  REQUIRE(whole->files.size() == 3);
  CHECK(whole->files[0].path == header);
  CHECK(whole->files[0].text == text);
  CHECK(whole->files[0].identity == whole->files[1].identity);
  CHECK(whole->files[2].path == "<headers>/own.h");
  CHECK(whole->files[2].identity != whole->files[0].identity);
  const auto plain = whole_program("kernel void k() {}", "-DX");
  REQUIRE(plain.ok());
  CHECK_FALSE(is_flattened(plain->source));
  CHECK(plain->files.empty());
  CHECK(plain->own_source.empty());
}

TEST_CASE("The name of the files of a program stays what it was") {
  CHECK(recorded_files_name(sample()) == "cl-1-88037b551fcd983e.files");
}

TEST_CASE("Files with another word, or without one, are refused") {
  const std::string bytes = recorded_files(sample());
  WholeProgram read;
  for (const char *word :
       {"options ", "folder ", "source ", "path ", "identity ", "text ", "end "}) {
    INFO(word);
    const std::size_t at = bytes.find(word);
    REQUIRE(at != std::string::npos);
    for (const std::string other : {"other ", ""}) {
      std::string changed = bytes;
      changed.replace(at, std::string(word).size(), other);
      CHECK_FALSE(read_recorded_files(changed, &read).ok());
    }
    std::string joined = bytes;
    joined.erase(at + std::string(word).size() - 1, 1);
    CHECK_FALSE(read_recorded_files(joined, &read).ok());
  }
  for (const char *empty : {"text 0\n", "end 0\n"}) {  // a block of no bytes has a size, too
    std::string changed = bytes;
    changed.erase(changed.find(empty) + std::string(empty).size() - 2, 1);
    CHECK_FALSE(read_recorded_files(changed, &read).ok());
  }
  CHECK_FALSE(read_recorded_files("", &read).ok());
  CHECK_FALSE(read_recorded_files("kiln files 1\noptions", &read).ok());
}
