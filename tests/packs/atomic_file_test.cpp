// SPDX-License-Identifier: Apache-2.0
// Files that appear whole or not at all, and the descriptors under them.
#include "kiln/packs/atomic_file.hpp"

#include <set>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace kiln::packs;
using kiln::test::TemporaryFolder;

namespace {

View view(const std::string &text) {
  return {reinterpret_cast<const std::uint8_t *>(text.data()), text.size()};
}

std::string read(const std::filesystem::path &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::set<std::string> names_in(const std::filesystem::path &folder) {
  std::set<std::string> names;
  for (const auto &entry : std::filesystem::directory_iterator(folder)) {
    names.insert(entry.path().filename());
  }
  return names;
}

Descriptor open_folder(const std::filesystem::path &path) {
  Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  REQUIRE(folder);
  return folder;
}

bool is_open(int fd) { return fcntl(fd, F_GETFD) >= 0; }

}  // namespace

TEST_CASE("a file has its name when it is committed, and its temporary name until then") {
  const TemporaryFolder folder;
  const Descriptor at = open_folder(folder.path());
  AtomicFile file;
  REQUIRE(file.create(at.get(), "t", 0600) == 0);
  REQUIRE(file.write(view("one two"), 0) == 0);
  REQUIRE(file.write(view("2"), 4) == 0);
  CHECK(names_in(folder.path()) == std::set<std::string>{"t"});
  REQUIRE(file.commit("name", at.get()) == 0);
  CHECK(names_in(folder.path()) == std::set<std::string>{"name"});
  CHECK(read(folder.path() / "name") == "one 2wo");
  struct stat info {};
  REQUIRE(stat((folder.path() / "name").c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
}

TEST_CASE("a file that is not committed is removed, and what stood there stays") {
  const TemporaryFolder folder;
  folder.write("name", "old");
  const Descriptor at = open_folder(folder.path());
  {
    AtomicFile file;
    REQUIRE(file.create(at.get(), "t", 0600) == 0);
    REQUIRE(file.write(view("new"), 0) == 0);
  }
  CHECK(names_in(folder.path()) == std::set<std::string>{"name"});
  CHECK(read(folder.path() / "name") == "old");
}

TEST_CASE("a temporary name that is taken is an error, and its file is left alone") {
  const TemporaryFolder folder;
  folder.write("t", "another's");
  const Descriptor at = open_folder(folder.path());
  {
    AtomicFile file;
    CHECK(file.create(at.get(), "t", 0600) == EEXIST);
  }
  CHECK(read(folder.path() / "t") == "another's");
}

TEST_CASE("a name that cannot be replaced is an error, and nothing is left behind") {
  const TemporaryFolder folder;
  folder.write("name/inside", "");
  const Descriptor at = open_folder(folder.path());
  {
    AtomicFile file;
    REQUIRE(file.create(at.get(), "t", 0600) == 0);
    CHECK(file.commit("name", at.get()) == EISDIR);
  }
  CHECK(names_in(folder.path()) == std::set<std::string>{"name"});
}

TEST_CASE("a descriptor is closed once, by its last owner") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const Descriptor write_end(ends[1]);
  {
    Descriptor first(ends[0]);
    const Descriptor second(std::move(first));
    CHECK_FALSE(first);
    CHECK(second.get() == ends[0]);
    CHECK(first.close() == 0);
    CHECK(is_open(ends[0]));
  }
  CHECK_FALSE(is_open(ends[0]));
}

TEST_CASE("reading stops at the end of the file, and a bad descriptor is an error") {
  const TemporaryFolder folder;
  const Descriptor file(::open(folder.write("f", "abcdef").c_str(), O_RDONLY));
  std::uint8_t bytes[8] = {};
  std::size_t size = sizeof(bytes);
  CHECK(read_all(file.get(), 2, bytes, &size) == 0);
  CHECK(size == 4);
  CHECK(bytes[0] == 'c');
  CHECK(write_all(file.get(), view("x"), 0) == EBADF);
  size = sizeof(bytes);
  CHECK(read_all(-1, 0, bytes, &size) == EBADF);
  CHECK(size == 0);
}

TEST_CASE("no unique number comes twice") {
  std::set<std::uint64_t> numbers;
  for (int i = 0; i < 1000; ++i) numbers.insert(unique_number());
  CHECK(numbers.size() == 1000);
}
