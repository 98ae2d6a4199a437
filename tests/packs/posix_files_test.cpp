// SPDX-License-Identifier: Apache-2.0
// Packs and the files of POSIX: links, pipes, permissions, limits and signals.
#include <csignal>
#include <fstream>

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kiln/packs/files.hpp"
#include "kiln/packs/pack_folder.hpp"
#include "tests/packs/forge.hpp"
#include "tests/support/plain_user.hpp"

using namespace kiln::packs;
using namespace kiln::test;

namespace {

// No file of this process may grow beyond `size`. The disk is full for whoever asks.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t size) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{size, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  void (*handler_)(int);
  rlimit before_{};
};

std::size_t count_files(const std::filesystem::path &folder) {
  const std::filesystem::directory_iterator files(folder);
  return static_cast<std::size_t>(std::distance(begin(files), end(files)));
}

Code opening_fault(const std::string &path) {
  PackPointer pack;
  const Status status = Pack::open_file(path.c_str(), &pack);
  CHECK((pack == nullptr) == !status.ok());
  if (!status.ok()) CHECK(mentions(status.message, path));
  return status.code;
}

}  // namespace

TEST_CASE("a private pack is its owner's alone, and replaces a link", "[writer]") {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "out.kiln").string();
  const auto elsewhere = folder.path() / "elsewhere";
  std::ofstream(elsewhere) << "text";
  std::filesystem::create_symlink(elsewhere, path);
  WriteOptions options;
  options.is_private = true;
  REQUIRE(write_pack(sample(), path, options).ok());
  struct stat info {};
  REQUIRE(lstat(path.c_str(), &info) == 0);
  CHECK(info.st_mode == (S_IFREG | 0600));
  CHECK(std::filesystem::file_size(elsewhere) == 4);
}

TEST_CASE("a limit for files is a full disk, and no signal", "[writer]") {
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_DFL);
    const rlimit limit{10, 10};
    setrlimit(RLIMIT_FSIZE, &limit);
    const TemporaryFolder folder;
    const Status status = write_pack(sample(), (folder.path() / "out.kiln").string());
    sigset_t pending;
    sigpending(&pending);
    _exit(status.code == Code::no_space && sigismember(&pending, SIGXFSZ) == 0 ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

TEST_CASE("a signal that waits for the application waits on", "[writer]") {
  sigset_t signal;
  sigset_t before;
  sigset_t pending;
  sigemptyset(&signal);
  sigaddset(&signal, SIGXFSZ);
  REQUIRE(pthread_sigmask(SIG_BLOCK, &signal, &before) == 0);
  raise(SIGXFSZ);
  const TemporaryFolder folder;
  CHECK(write_pack(sample(), (folder.path() / "out.kiln").string()).ok());
  sigpending(&pending);
  CHECK(sigismember(&pending, SIGXFSZ) == 1);
  int got = 0;
  CHECK(sigwait(&signal, &got) == 0);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST_CASE("a device or pipe at the path is not replaced", "[writer]") {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "pipe";
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  CHECK(write_pack(sample(), path.string()).code == Code::io_error);
  CHECK(std::filesystem::is_fifo(path));
  CHECK(count_files(folder.path()) == 1);
}

TEST_CASE("a folder without write permission is left as it is", "[writer]") {
  CHECK(as_plain_user([] {
          const TemporaryFolder folder;
          write_file(folder.path() / "out.kiln", bytes_of("old"));
          chmod(folder.path().c_str(), 0500);
          const Code fault = write_pack(sample(), (folder.path() / "out.kiln").string()).code;
          chmod(folder.path().c_str(), 0700);
          const Bytes kept = read_file(folder.path() / "out.kiln");
          return std::string(code_name(fault)) + ", " + std::string(kept.begin(), kept.end()) +
                 ", files: " + std::to_string(count_files(folder.path()));
        }) == "io_error, old, files: 1");
}

TEST_CASE("a full disk leaves the old file and no temporary one", "[writer]") {
  const std::size_t size = written(sample()).size();
  for (const std::size_t limit : {std::size_t{0}, std::size_t{63}, size / 2, size - 1}) {
    CAPTURE(limit);
    const TemporaryFolder folder;
    const std::string path = (folder.path() / "out.kiln").string();
    write_file(path, bytes_of("old"));
    Status status;
    {
      const FileSizeLimit full(limit);
      status = write_pack(sample(), path);
    }
    CHECK(status.code == Code::no_space);
    CHECK(mentions(status.message, path));
    CHECK(read_file(path) == bytes_of("old"));
    CHECK(count_files(folder.path()) == 1);
  }
}

TEST_CASE("a symbolic link at the path stays, and the file that it names is replaced", "[writer]") {
  const TemporaryFolder folder;
  const auto real = folder.path() / "real" / "a.kiln";
  const auto link = folder.path() / "link.kiln";
  std::filesystem::create_directory(real.parent_path());
  folder.write("real/a.kiln", "old");
  std::filesystem::create_symlink("real/a.kiln", link);
  REQUIRE(write_pack(sample(), link.string()).code == Code::ok);
  CHECK(std::filesystem::is_symlink(link));
  PackPointer pack;
  CHECK(Pack::open_file(real.c_str(), &pack).code == Code::ok);
  std::filesystem::remove(real);
  CHECK(write_pack(sample(), link.string()).code == Code::io_error);
  CHECK(std::filesystem::is_symlink(link));
}

TEST_CASE("a pack has the permissions that the umask leaves", "[writer]") {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "out.kiln").string();
  const mode_t mask = umask(027);
  const Status status = write_pack(sample(), path);
  umask(mask);
  REQUIRE(status.ok());
  struct stat info {};
  REQUIRE(stat(path.c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0640);
}

TEST_CASE("a pipe at the path is refused and not waited for", "[open]") {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "pipe").string();
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  CHECK(opening_fault(path) == Code::io_error);
}

TEST_CASE("a pack of over 4 GiB is read, where addresses have 32 bits, too", "[open]") {
  const std::uint64_t far = std::uint64_t{5} << 30;
  const Bytes raw = noise(kAlignment, 1);
  ForgedRoot forged;
  forged.blobs.emplace_back(hash_of(blake2b({raw.data(), raw.size()})), far, raw.size(), raw.size(),
                            xxh3(raw.data(), raw.size()), 0, 0);
  const Bytes root = forge(forged);
  Superblock superblock;
  superblock.root_offset = far + raw.size();
  superblock.root_size = root.size();
  superblock.root_xxh3 = xxh3(root.data(), root.size());
  superblock.pack_size = superblock.root_offset + root.size();
  Bytes head(kSuperblockSize);
  encode_superblock(superblock, head.data());

  const TemporaryFolder folder;
  const std::string path = (folder.path() / "sparse.kiln").string();
  std::ofstream file(path, std::ios::binary);
  for (const Bytes *part : {&std::as_const(head), &raw, &root}) {
    file.write(reinterpret_cast<const char *>(part->data()),
               static_cast<std::streamsize>(part->size()));
    if (part == &head) file.seekp(static_cast<std::streamoff>(far));
  }
  file.close();
  PackPointer pack;
  const Status status = Pack::open_file(path.c_str(), &pack);
  REQUIRE(status.message == "");
  CHECK(blob_part(*pack, pack->blob(1).schema()).bytes == raw);
}

TEST_CASE("a file without read permission is an I/O error", "[open]") {
  CHECK(as_plain_user([] {
          const TemporaryFolder folder;
          write_file(folder.path() / "secret", written(sample()));
          chmod((folder.path() / "secret").c_str(), 0);
          return std::string(code_name(opening_fault((folder.path() / "secret").string())));
        }) == "io_error");
}

TEST_CASE("a symbolic link is locked where its file is, and a missing folder not at all") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "real");
  folder.write("real/a.kiln", "");
  std::filesystem::create_symlink("real/a.kiln", folder.path() / "link.kiln");
  const FolderLock lock((folder.path() / "link.kiln").string());
  const Descriptor real(open_lock_of((folder.path() / "real").string()));
  CHECK_FALSE(try_lock(real.get(), Lock::alone));
  const FolderLock nothing(folder.path() / "nowhere" / "a.kiln");
}
