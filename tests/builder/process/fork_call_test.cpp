// SPDX-License-Identifier: Apache-2.0
#include "builder/process/fork_call.hpp"
#include "builder/process/temporary_folder.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <system_error>

#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace kiln::builder;
using nlohmann::json;
using std::chrono::milliseconds;

namespace {

constexpr milliseconds kLong{20'000};

}  // namespace

TEST_CASE("a child's answer comes back, binary and all") {
  const auto result = fork_call(
      [] {
        return json{{"text", "hello"}, {"bytes", json::binary({0, 255, 10})}};
      },
      kLong);
  REQUIRE(result.ok());
  CHECK(result.answer["text"] == "hello");
  CHECK(result.answer["bytes"].get_binary() == json::binary_t({0, 255, 10}));
  CHECK(result.status().ok());
}

TEST_CASE("a temporary folder that cannot be made is an error, and nothing is used in its place") {
  const char *const before = std::getenv("TMPDIR");
  const std::string saved = before == nullptr ? "" : before;
  setenv("TMPDIR", "/proc", 1);
  const auto folder = TemporaryFolder::make();
  before == nullptr ? unsetenv("TMPDIR") : setenv("TMPDIR", saved.c_str(), 1);
  REQUIRE_FALSE(folder.ok());
  CHECK(folder.status().message ==
        "cannot make the folder /proc/kiln-XXXXXX: No such file or directory");
}

TEST_CASE("a status comes back from a child with its code and its message") {
  const auto result = fork_call([] { return to_json(Status(Code::opencl, "said no")); }, kLong);
  REQUIRE(result.ok());
  CHECK(result.status().code == Code::opencl);
  CHECK(result.status().message == "said no");
  CHECK(fork_call([] { return to_json(Status()); }, kLong).status().ok());
}

TEST_CASE("a child without an answer is a failure of the process") {
  const Status status = fork_call([]() -> json { _exit(1); }, kLong).status();
  CHECK(status.code == Code::process);
  CHECK(status.message == "the driver ended the process with code 1");
}

TEST_CASE("an answer larger than any pipe comes back whole") {
  const auto result = fork_call([] { return json(std::string(8 << 20, 'x')); }, kLong);
  REQUIRE(result.ok());
  CHECK(result.answer.get<std::string>().size() == std::size_t{8} << 20);
}

TEST_CASE("a crash is reported with its signal and the end of the output") {
  const auto result = fork_call(
      []() -> json {
        std::fputs("about to fall\n", stderr);
        std::raise(SIGABRT);
        return {};
      },
      kLong);
  CHECK(result.end == ProcessEnd::signalled);
  CHECK(result.code == SIGABRT);
  CHECK(result.reason() ==
        "crashed with signal 6 (Aborted)\nits output ends with:\nabout to fall\n");
}

TEST_CASE("a driver that ends the process is reported with its exit code") {
  const auto result = fork_call([]() -> json { _exit(1); }, kLong);
  CHECK(result.end == ProcessEnd::exited);
  CHECK(result.reason() == "the driver ended the process with code 1");
}

TEST_CASE("an exit without an answer but with code 0 is no success") {
  const auto result = fork_call([]() -> json { _exit(0); }, kLong);
  CHECK_FALSE(result.ok());
}

TEST_CASE("a hang is ended by the timeout") {
  const auto result = fork_call(
      []() -> json {
        for (;;) pause();
      },
      milliseconds(100));
  CHECK(result.end == ProcessEnd::timed_out);
  CHECK(result.reason() == "gave no answer in time and was killed");
}

TEST_CASE("a driver that closes every file and stays is ended") {
  const auto result = fork_call(
      []() -> json {
        for (int fd = 3; fd < 1024; ++fd) close(fd);
        for (;;) pause();
      },
      kLong);
  CHECK(result.end == ProcessEnd::signalled);
  CHECK(result.code == SIGKILL);
}

TEST_CASE("an exception in a child is its output, not the parent's death") {
  const auto result = fork_call([]() -> json { throw std::runtime_error("broken"); }, kLong);
  CHECK(result.end == ProcessEnd::exited);
  CHECK(result.output == "broken\n");
}

namespace {

// TMPDIR as long as this lives.
class Temporary {
 public:
  explicit Temporary(const std::string &path) {
    if (const char *before = std::getenv("TMPDIR")) before_ = before;
    setenv("TMPDIR", path.c_str(), 1);
  }
  ~Temporary() { before_ ? setenv("TMPDIR", before_->c_str(), 1) : unsetenv("TMPDIR"); }
  Temporary(const Temporary &) = delete;
  Temporary &operator=(const Temporary &) = delete;

 private:
  std::optional<std::string> before_;
};

// A process with a temporary folder that has a file, which tells the folder's path and waits.
struct Holder {
  Holder() {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    process = fork();
    REQUIRE(process >= 0);
    if (process == 0) {
      auto folder = TemporaryFolder::make();
      if (!folder.ok()) _exit(1);
      const std::string made = folder->path();
      std::filesystem::create_directories(made + "/a/b");
      if (write(ends[1], made.data(), made.size()) < 0) _exit(1);
      close(ends[1]);
      for (;;) pause();
    }
    close(ends[1]);
    char bytes[256];
    for (ssize_t got; (got = read(ends[0], bytes, sizeof(bytes))) > 0;) {
      path.append(bytes, static_cast<std::size_t>(got));
    }
    close(ends[0]);
  }
  Holder(const Holder &) = delete;
  Holder &operator=(const Holder &) = delete;
  ~Holder() { end(); }

  void end() {
    if (process <= 0) return;
    kill(process, SIGKILL);
    waitpid(std::exchange(process, 0), nullptr, 0);
  }

  pid_t process = 0;
  std::string path;
};

}  // namespace

TEST_CASE("the temporary folders of processes that were killed are removed, and no others") {
  const kiln::test::TemporaryFolder place;
  const Temporary below(place.path().string());
  Holder killed;
  Holder alive;
  auto own = TemporaryFolder::make();
  REQUIRE(own.ok());
  const auto kept = {alive.path, own->path()};
  // Not Kiln's: no lock, another name, a link to what is.
  const std::string others[] = {place.path() / "kiln-abcdef", place.path() / "kiln-other-abcdef",
                                place.path() / "kiln-linked"};
  std::filesystem::create_directory(others[0]);
  std::filesystem::create_directory(others[1]);
  std::ofstream(others[1] + "/.kiln-lock").flush();
  std::filesystem::create_symlink(others[1], others[2]);
  TemporaryFolder::remove_abandoned();
  REQUIRE(std::filesystem::exists(killed.path + "/a/b"));
  killed.end();
  TemporaryFolder::remove_abandoned();
  CHECK_FALSE(std::filesystem::exists(killed.path));
  for (const std::string &path : kept) CHECK(std::filesystem::exists(path + "/.kiln-lock"));
  CHECK(std::filesystem::exists(alive.path + "/a/b"));
  for (const std::string &path : others) CHECK(std::filesystem::exists(path));
  CHECK(std::filesystem::exists(others[1] + "/.kiln-lock"));
}

TEST_CASE("where others can rename files nothing abandoned is removed") {
  const kiln::test::TemporaryFolder place;
  const Temporary below(place.path().string());
  Holder killed;
  killed.end();
  std::filesystem::permissions(place.path(), std::filesystem::perms::all);
  TemporaryFolder::remove_abandoned();
  CHECK(std::filesystem::exists(killed.path));
  std::filesystem::permissions(place.path(),
                               std::filesystem::perms::all | std::filesystem::perms::sticky_bit);
  TemporaryFolder::remove_abandoned();
  CHECK_FALSE(std::filesystem::exists(killed.path));
}

TEST_CASE("a temporary folder goes with what is in it") {
  std::string path;
  {
    auto made = TemporaryFolder::make();
    REQUIRE(made.ok());
    const TemporaryFolder folder = *std::move(made);
    path = folder.path();
    REQUIRE(std::filesystem::is_directory(path));
    std::filesystem::create_directories(path + "/a/b");
  }
  CHECK_FALSE(std::filesystem::exists(path));
}
