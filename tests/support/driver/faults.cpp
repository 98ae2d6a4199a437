// SPDX-License-Identifier: Apache-2.0
#include "tests/support/driver/faults.hpp"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include <fcntl.h>
#include <unistd.h>

#include "tests/support/nowhere.hpp"

namespace kiln::driver {
namespace {

// How often each fault's conditions held.
unsigned count_match(std::size_t index) {
  static std::mutex mutex;
  static std::vector<unsigned> counts(script().faults.size());
  const std::lock_guard<std::mutex> lock(mutex);
  return ++counts[index];
}

bool program_holds(const Fault &fault, const Call &call) {
  const bool asks_options = !fault.option.empty() || !fault.without_option.empty();
  if (!fault.form && !fault.unbuilt && fault.text.empty() && fault.kernel.empty() &&
      !asks_options) {
    return true;
  }
  const Program *program = call.program;
  if (program == nullptr) return false;
  const bool nvidia = program->form == Form::binary && fault.form == program->given_form;
  if (fault.form && fault.form != program->form && !nvidia) return false;
  if (fault.unbuilt && program->built) return false;
  const std::string &options = program->built ? program->options : call.options;
  if (options.find(fault.option) == std::string::npos) return false;
  if (!fault.without_option.empty() && options.find(fault.without_option) != std::string::npos) {
    return false;
  }
  const auto has = [&](const std::string &text) {
    return text.empty() || program->text().find(text) != std::string::npos;
  };
  return has(fault.text) &&
         (call.kernel.empty() ? has(fault.kernel)
                              : fault.kernel.empty() || fault.kernel == call.kernel);
}

bool holds(const Fault &fault, const Call &call) {
  if (fault.at != call.function) return false;
  if (fault.query && fault.query != call.query) return false;
  if (!fault.device.empty() &&
      (call.device == nullptr || fault.device != call.device->script->name)) {
    return false;
  }
  return program_holds(fault, call);
}

// True for the one caller, of all processes, that makes the marker.
bool first_time(const std::string &marker) {
  const int file = open(marker.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
  if (file < 0) return false;
  close(file);
  return true;
}

void work_for(unsigned milliseconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
  while (std::chrono::steady_clock::now() < end) {
  }
}

}  // namespace

// "PID FUNCTION FORM KERNEL", with "-" for what the call has not.
void log_call(const Call &call) {
  if (script().log.empty()) return;
  static const int file =
      open(script().log.c_str(), O_CREAT | O_APPEND | O_WRONLY | O_CLOEXEC, 0644);
  static const char *const forms[] = {"source", "binary", "il"};
  const std::string line =
      std::to_string(getpid()) + " " + call.function + " " +
      (call.program != nullptr ? forms[static_cast<int>(call.program->form)] : "-") + " " +
      (call.kernel.empty() ? "-" : call.kernel) + "\n";
  if (write(file, line.data(), line.size()) < 0) stop("the log cannot be written");
}

Call call_of(const char *function) {
  Call call;
  call.function = function;
  return call;
}

Call call_of(const char *function, const Program &program) {
  Call call = call_of(function);
  call.program = &program;
  call.device = program.devices.empty() ? nullptr : program.devices.front();
  return call;
}

Call call_of(const char *function, cl_kernel kernel) {
  const KernelState state = state_of(kernel);
  if (state.program == nullptr) return call_of(function);
  Call call = call_of(function, *state.program);
  call.kernel = state.name;
  return call;
}

const Fault *enter(const Call &call) {
  log_call(call);
  const auto &faults = script().faults;
  for (std::size_t i = 0; i < faults.size(); ++i) {
    const Fault &fault = faults[i];
    if (!holds(fault, call)) continue;
    if (count_match(i) != fault.nth && fault.nth != 0) continue;
    if (!fault.once.empty() && !first_time(fault.once)) continue;
    die(fault.action, fault.code);
    if (fault.action != Action::slow) return &fault;
    work_for(fault.milliseconds);
  }
  return nullptr;
}

// Until somebody ends it, or after 8 GiB.
[[noreturn]] void hoard() {
  constexpr std::size_t kPiece = std::size_t{64} << 20;
  for (std::size_t taken = 0; taken < std::size_t{8} << 30; taken += kPiece) {
    void *piece = std::malloc(kPiece);
    if (piece != nullptr) std::memset(piece, 1, kPiece);
    usleep(10'000);
  }
  _exit(1);
}

void die(Action action, int code) {
  switch (action) {
    case Action::segv: kiln::test::write_to_nowhere(); break;
    case Action::abort: std::abort();
    case Action::exit: _exit(code);
    case Action::hang:
      for (;;) pause();
    case Action::hoard: hoard();
    default: break;
  }
}

void die(Response response) {
  switch (response) {
    case Response::segv: return die(Action::segv, 0);
    case Response::abort: return die(Action::abort, 0);
    case Response::exit: return die(Action::exit, 1);
    case Response::hang: return die(Action::hang, 0);
    default: break;
  }
}

}  // namespace kiln::driver
