// SPDX-License-Identifier: Apache-2.0
// For Windows: works in a thread, meanwhile sends the output of this process to a file, and ends
// the process where the driver crashes or gives no answer.
#include "builder/process/fork_call.hpp"

#include <cstdio>
#include <exception>
#include <future>
#include <thread>

#include <fcntl.h>
#include <io.h>

#include <fmt/format.h>

#include "packs/base/windows.hpp"

namespace kiln::builder {
namespace {

constexpr std::size_t kOutputKept = 64 << 10;

// Standard output and error go to a file while this lives: drivers print there.
class Captured {
 public:
  Captured() {
    std::fflush(nullptr);
    file_ = std::tmpfile();  // the system removes it
    if (file_ == nullptr) return;
    for (int i = 0; i < 2; ++i) {
      before_[i] = _dup(i + 1);
      _dup2(_fileno(file_), i + 1);
    }
  }
  Captured(const Captured &) = delete;
  Captured &operator=(const Captured &) = delete;
  ~Captured() {
    end();
    if (file_ != nullptr) std::fclose(file_);
  }

  // Returns the end of what was printed. From now on output goes where it went before.
  std::string end() {
    if (file_ == nullptr || before_[0] < 0) return {};
    std::fflush(nullptr);
    for (int i = 0; i < 2; ++i) {
      _dup2(before_[i], i + 1);
      _close(before_[i]);
      before_[i] = -1;
    }
    const long size = std::fseek(file_, 0, SEEK_END) == 0 ? std::ftell(file_) : 0;
    const auto kept = std::min<std::size_t>(static_cast<std::size_t>(size), kOutputKept);
    std::string text(kept, '\0');
    std::fseek(file_, -static_cast<long>(kept), SEEK_END);
    text.resize(std::fread(text.data(), 1, kept, file_));
    return text;
  }

 private:
  std::FILE *file_ = nullptr;
  int before_[2] = {-1, -1};
};

Captured *captured = nullptr;  // while a driver works

[[noreturn]] void end_process(const std::string &reason) {
  const std::string output = captured != nullptr ? captured->end() : "";
  std::fprintf(stderr, "kiln: the driver, or a reference library, %s%s%s\n", reason.c_str(),
               output.empty() ? "" : "\nits output ends with:\n", output.c_str());
  TerminateProcess(GetCurrentProcess(), 1);
  std::abort();  // not reached
}

LONG WINAPI end_after_crash(EXCEPTION_POINTERS *fault) {
  end_process(
      fmt::format("crashed with exception 0x{:08x}", fault->ExceptionRecord->ExceptionCode));
}

}  // namespace

std::string ChildResult::reason() const { return output; }

ChildResult fork_call(const std::function<nlohmann::json()> &work,
                      std::chrono::milliseconds timeout) {
  ChildResult result;
  Captured output;
  captured = &output;
  const auto filter = SetUnhandledExceptionFilter(end_after_crash);
  std::packaged_task<nlohmann::json()> task(work);
  auto answer = task.get_future();
  std::thread thread(std::move(task));
  if (answer.wait_for(timeout) != std::future_status::ready) {
    end_process("gave no answer in time");
  }
  thread.join();
  SetUnhandledExceptionFilter(filter);
  captured = nullptr;
  result.end = ProcessEnd::exited;
  try {
    result.answer = answer.get();
    result.answered = true;
  } catch (const std::exception &error) {
    result.output = error.what();
  }
  result.output = output.end() + result.output;
  return result;
}

}  // namespace kiln::builder
