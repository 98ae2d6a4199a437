// SPDX-License-Identifier: Apache-2.0
#include "builder/process/run_tool.hpp"

#include <cerrno>
#include <csignal>
#include <filesystem>

#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

using kiln::builder::find_executable;
using kiln::builder::ProcessEnd;
using kiln::builder::ProcessRequest;
using kiln::builder::ProcessResult;
using kiln::builder::run_tool;
using kiln::test::TemporaryFolder;

namespace {

ProcessRequest shell(const std::string &script) {
  ProcessRequest request;
  request.program = "sh";
  request.arguments = {"-c", script};
  return request;
}

}  // namespace

TEST_CASE("A program's output, errors and exit status are kept apart") {
  const ProcessResult result = run_tool(shell("echo out; echo err >&2; exit 3"));
  CHECK(result.end == ProcessEnd::exited);
  CHECK(result.code == 3);
  CHECK_FALSE(result.ok());
  CHECK(result.out == "out\n");
  CHECK(result.err == "err\n");
  CHECK(result.reason == "exit status 3");
}

TEST_CASE("Arguments reach the program as they are, without a shell") {
  ProcessRequest request;
  request.program = "printf";
  request.arguments = {"%s|", "a b", "$HOME", "*", "", "\"'"};
  CHECK(run_tool(request).out == "a b|$HOME|*||\"'|");
}

TEST_CASE("More input and output than a pipe holds goes through, NUL bytes too") {
  std::string input(3'000'000, 'x');
  input[1'000'000] = '\0';
  ProcessRequest request;
  request.program = "cat";
  request.input = input;
  const ProcessResult result = run_tool(request);
  CHECK(result.ok());
  CHECK(result.out == input);
}

TEST_CASE("Both streams may be filled at once") {
  const ProcessResult result =
      run_tool(shell("head -c 1000000 /dev/zero; head -c 1000000 /dev/zero >&2"));
  CHECK(result.ok());
  CHECK(result.out.size() == 1'000'000);
  CHECK(result.err.size() == 1'000'000);
}

TEST_CASE("A program that does not read its input is no error") {
  const std::string input(1'000'000, 'x');
  ProcessRequest request = shell("exec <&-; echo done");
  request.input = input;
  const ProcessResult result = run_tool(request);
  CHECK(result.ok());
  CHECK(result.out == "done\n");
}

TEST_CASE("A program that ends by a signal is told from one that exits") {
  const ProcessResult result = run_tool(shell("kill -ABRT $$"));
  CHECK(result.end == ProcessEnd::signalled);
  CHECK(result.code == SIGABRT);
  CHECK(result.reason == "signal 6 (Aborted)");
}

#ifdef __linux__
TEST_CASE("A program whose children take more memory than it may is killed with them") {
  constexpr std::chrono::milliseconds kLong(20'000);
  ProcessRequest request = shell("head -c 256M /dev/zero | tail -c 256M | sleep 600");
  request.limits = {kLong, std::uint64_t{128} << 20};
  const ProcessResult result = run_tool(request);
  CHECK(result.end == ProcessEnd::over_memory);
  CHECK(result.reason == "more than 134 MB of memory");
  ProcessRequest modest = shell("head -c 32M /dev/zero | tail -c 32M | wc -c");
  modest.limits = request.limits;
  CHECK(run_tool(modest).out == "33554432\n");
}
#endif

TEST_CASE("A program that hangs is killed at its timeout, with its children") {
  ProcessRequest request = shell("echo begun; sleep 600 & sleep 600");
  request.limits = std::chrono::milliseconds(300);
  const auto begin = std::chrono::steady_clock::now();
  const ProcessResult result = run_tool(request);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(60));
  CHECK(result.end == ProcessEnd::timed_out);
  CHECK(result.out == "begun\n");
  CHECK(result.reason == "no end within 300 ms");
}

TEST_CASE("A child that holds the output open does not hold up the caller") {
  ProcessRequest request = shell("sleep 600 & echo done");
  const ProcessResult result = run_tool(request);
  CHECK(result.ok());
  CHECK(result.out == "done\n");
}

TEST_CASE("A program that closes its output and goes on is waited for") {
  const ProcessResult result = run_tool(shell("exec >&- 2>&-; sleep 0.1; exit 4"));
  CHECK(result.end == ProcessEnd::exited);
  CHECK(result.code == 4);
}

TEST_CASE("A program that writes without end is stopped at the limit") {
  ProcessRequest request = shell("cat /dev/zero");
  request.output_limit = 100'000;
  const ProcessResult result = run_tool(request);
  CHECK(result.end == ProcessEnd::output_limit);
  CHECK(result.out.size() == 100'000);
  CHECK(result.reason == "more than 100000 bytes of output");
}

TEST_CASE("A program that is not there is not started") {
  ProcessRequest request;
  request.program = "/nowhere/tool";
  const ProcessResult result = run_tool(request);
  CHECK(result.end == ProcessEnd::not_started);
  CHECK(result.code == ENOENT);
  CHECK(result.reason == "/nowhere/tool: No such file or directory");
}

TEST_CASE("Environment and working directory are the program's alone") {
  TemporaryFolder folder;
  ProcessRequest request = shell("pwd; echo $KILN_A; echo ${HOME-none}");
  request.working_directory = folder.path();
  request.environment = {{"KILN_A", "a=b"}, {"HOME", std::nullopt}};
  CHECK(run_tool(request).out ==
        std::filesystem::canonical(folder.path()).string() + "\na=b\nnone\n");
}

TEST_CASE("The caller's signal mask is as it was, and SIGPIPE is not pending") {
  const std::string input(1'000'000, 'x');
  ProcessRequest request = shell("exit 0");
  request.input = input;
  run_tool(request);
  sigset_t mask, pending;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  sigpending(&pending);
  CHECK(sigismember(&mask, SIGPIPE) == 0);
  CHECK(sigismember(&pending, SIGPIPE) == 0);
}

TEST_CASE("Programs are found by name in the order of the names, then of the folders") {
  TemporaryFolder folder;
  namespace fs = std::filesystem;
  for (const char *name : {"a/tool-2", "b/tool-1", "b/tool-2"}) {
    fs::permissions(folder.write(name, "#!/bin/sh\n"), fs::perms::owner_all);
  }
  folder.write("a/tool-1", "not executable");
  const std::string a = (folder.path() / "a").string(), b = (folder.path() / "b").string();
  const std::string path = "/nowhere::" + a + ":" + b;
  CHECK(find_executable({"tool-1", "tool-2"}, path) == b + "/tool-1");
  CHECK(find_executable({"tool-2"}, path) == a + "/tool-2");
  CHECK(find_executable({"tool-9", "tool-2"}, path) == a + "/tool-2");
  CHECK(find_executable({b + "/tool-2"}, "") == b + "/tool-2");
  CHECK_FALSE(find_executable({"tool-9", "", a + "/tool-1"}, path).has_value());
}
