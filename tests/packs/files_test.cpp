// SPDX-License-Identifier: Apache-2.0
// What Kiln asks of the operating system about files, the same on each.
#include "kiln/packs/files.hpp"

#include <algorithm>
#include <cerrno>

#ifdef _WIN32
#include <windows.h>
//
#include <aclapi.h>
#include <sddl.h>
#endif

#include "kiln/packs/atomic_file.hpp"
#include "tests/packs/sample.hpp"

using namespace kiln::packs;
using namespace kiln::test;

namespace {

constexpr char kName[] = "na\xc3\xafve \xe2\x82\xac";  // in UTF-8

void open_to_all(const std::filesystem::path &path) {
#ifdef _WIN32
  PSID all = nullptr;
  REQUIRE(ConvertStringSidToSidW(L"S-1-1-0", &all) != 0);
  EXPLICIT_ACCESSW entry{};
  entry.grfAccessPermissions = GENERIC_ALL;
  entry.grfAccessMode = SET_ACCESS;
  entry.Trustee.TrusteeForm = TRUSTEE_IS_SID;
  entry.Trustee.ptstrName = static_cast<LPWSTR>(all);
  PACL list = nullptr;
  REQUIRE(SetEntriesInAclW(1, &entry, nullptr, &list) == ERROR_SUCCESS);
  std::wstring name = path.wstring();
  REQUIRE(SetNamedSecurityInfoW(name.data(), SE_FILE_OBJECT, DACL_SECURITY_INFORMATION, nullptr,
                                nullptr, list, nullptr) == ERROR_SUCCESS);
  LocalFree(list);
  LocalFree(all);
#else
  std::filesystem::permissions(path, std::filesystem::perms::all);
#endif
}

struct Files {
  TemporaryFolder folder;
  Descriptor at{open_folder(folder.path().string().c_str(), false)};

  Descriptor make(const char *name, std::string_view text) const {
    Descriptor file(open_at_itself(at.get(), name, O_RDWR | O_CREAT, 0600));
    REQUIRE(file);
    REQUIRE(write_all(file.get(), view(text), 0) == 0);
    return file;
  }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    REQUIRE(list_folder(at.get(), &all));
    std::sort(all.begin(), all.end());
    return all;
  }
  // Returns whether a removed file has no name at once; says so if not.
  bool removes_at_once() const {
    const Descriptor file = make("probe", "");
    REQUIRE(remove_at(at.get(), "probe"));
    struct stat info {};
    REQUIRE(status_of(file.get(), &info));
    if (info.st_nlink == 0) return true;
    record_skip("this system keeps the name of a removed file until the file is closed");
    return false;
  }
  static View view(std::string_view text) {
    return {reinterpret_cast<const std::uint8_t *>(text.data()), text.size()};
  }
  static std::string text_of(int fd) {
    Bytes bytes(100);
    std::size_t size = bytes.size();
    REQUIRE(read_all(fd, 0, bytes.data(), &size) == 0);
    return {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)};
  }
};

}  // namespace

TEST_CASE_METHOD(Files, "a file has its name in UTF-8, its size and its time", "[files]") {
  REQUIRE(at);
  const Descriptor file = make(kName, "12345");
  CHECK(names() == std::vector<std::string>{kName});
  struct stat info {};
  REQUIRE(status_at(at.get(), kName, &info));
  CHECK(info.st_size == 5);
  CHECK(S_ISREG(info.st_mode));
  const auto age = time(nullptr) - info.st_mtime;
  CHECK((age > -60 && age < 60));
  REQUIRE(status_of(at.get(), &info));
  CHECK(S_ISDIR(info.st_mode));
  CHECK(open_at(at.get(), "none", O_RDONLY) == -1);
  CHECK(errno == ENOENT);
  CHECK(open_at(at.get(), kName, O_RDWR | O_CREAT | O_EXCL, 0600) == -1);
  CHECK(errno == EEXIST);
}

TEST_CASE_METHOD(Files, "an open file is replaced, and whoever has it open reads the old one",
                 "[files]") {
  const Descriptor old = make("name", "old");
  {
    AtomicFile file;
    REQUIRE(file.create(at.get(), "t", 0600) == 0);
    REQUIRE(file.write(view("new"), 0) == 0);
    REQUIRE(file.commit("name", at.get()) == 0);
  }
  CHECK(text_of(old.get()) == "old");
  const Descriptor now(open_at(at.get(), "name", O_RDONLY));
  CHECK(text_of(now.get()) == "new");
  struct stat info {};
  REQUIRE(status_of(old.get(), &info));
  if (removes_at_once()) CHECK(info.st_nlink == 0);
  REQUIRE(status_of(now.get(), &info));
  CHECK(info.st_nlink == 1);
}

TEST_CASE_METHOD(Files, "a folder is not replaced, and not removed as a file is", "[files]") {
  std::filesystem::create_directory(folder.path() / "folder");
  const Descriptor file = make("file", "1");
  CHECK_FALSE(rename_at(at.get(), "file", "folder"));
  CHECK(errno == EISDIR);
  CHECK_FALSE(remove_at(at.get(), "folder"));
  CHECK(errno == EISDIR);
}

TEST_CASE_METHOD(Files, "an open file is removed", "[files]") {
  Descriptor file = make("name", "text");
  CHECK(remove_at(at.get(), "name"));
  CHECK(text_of(file.get()) == "text");
  if (removes_at_once()) CHECK(names().empty());
  file = Descriptor();
  CHECK(names().empty());
  CHECK_FALSE(remove_at(at.get(), "name"));
  CHECK(errno == ENOENT);
}

TEST_CASE_METHOD(Files, "a lock is held by an open file, whoever opened it", "[files]") {
  const Descriptor first = make("name", "text");
  const auto open_again = [&] { return Descriptor(open_at(at.get(), "name", O_RDONLY)); };
  Descriptor second = open_again();
  const Descriptor third = open_again();
  CHECK(try_lock(first.get(), Lock::alone));
  CHECK_FALSE(try_lock(second.get(), Lock::shared));
  CHECK(errno == EWOULDBLOCK);
  CHECK(text_of(second.get()) == "text");  // a lock keeps nobody from reading
  unlock(first.get());
  CHECK(try_lock(second.get(), Lock::shared));
  CHECK(try_lock(third.get(), Lock::shared));
  CHECK_FALSE(try_lock(first.get(), Lock::alone));
  unlock(third.get());
  second = Descriptor();
  CHECK(lock(first.get(), Lock::alone));
  CHECK_FALSE(lock(-1, Lock::alone));
}

TEST_CASE_METHOD(Files, "writes append, whatever others have written meanwhile", "[files]") {
  make("name", "");
  const auto open_again = [&] {
    return Descriptor(open_at_itself(at.get(), "name", O_RDWR | O_APPEND | O_CREAT, 0600));
  };
  const Descriptor first = open_again();
  const Descriptor second = open_again();
  CHECK(write_line(first.get(), "one\n", 4));
  CHECK(write_line(second.get(), "two\n", 4));
  CHECK(write_line(first.get(), "three\n", 6));
  CHECK(text_of(first.get()) == "one\ntwo\nthree\n");
}

TEST_CASE_METHOD(Files, "a folder that was made is this user's alone, and so are its files",
                 "[files]") {
  const std::string path = (folder.path() / kName).string();
  REQUIRE(make_folder(path.c_str()));
  CHECK_FALSE(make_folder(path.c_str()));
  CHECK(errno == EEXIST);
  const Descriptor made(open_folder(path.c_str(), false));
  struct stat info {};
  REQUIRE(status_of(made.get(), &info));
  CHECK(is_private(made.get(), info));
  const Descriptor file(open_at_itself(made.get(), "file", O_RDWR | O_CREAT, 0600));
  REQUIRE(status_of(file.get(), &info));
  CHECK(is_private(file.get(), info));
}

TEST_CASE_METHOD(Files, "a folder that everybody may write to is not private", "[files]") {
  const std::filesystem::path open = folder.path() / "open";
  std::filesystem::create_directory(open);
  open_to_all(open);
  const Descriptor opened(open_folder(open.string().c_str(), false));
  struct stat info {};
  REQUIRE(status_of(opened.get(), &info));
  CHECK_FALSE(is_private(opened.get(), info));
}

TEST_CASE_METHOD(Files, "a duplicate reads on when the first is closed", "[files]") {
  Descriptor file = make("name", "text");
  const Descriptor other(duplicate(file.get()));
  file = Descriptor();
  CHECK(text_of(other.get()) == "text");
}

TEST_CASE_METHOD(Files, "a touched file was changed now", "[files]") {
  const Descriptor file = make("name", "text");
  std::filesystem::last_write_time(
      folder.path() / "name",
      std::filesystem::file_time_type::clock::now() - std::chrono::hours(48));
  struct stat info {};
  REQUIRE(status_of(file.get(), &info));
  CHECK(time(nullptr) - info.st_mtime > 24 * 3600);
  CHECK(touch(file.get()));
  REQUIRE(status_of(file.get(), &info));
  CHECK(time(nullptr) - info.st_mtime < 60);
}
