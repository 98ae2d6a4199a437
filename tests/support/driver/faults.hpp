// SPDX-License-Identifier: Apache-2.0
// Which fault happens at a call, and the log of calls.
#pragma once

#include <optional>

#include "tests/support/driver/objects.hpp"

namespace kiln::driver {

// What is known of a call; conditions of a fault are compared with it.
struct Call {
  const char *function = "";
  const Program *program = nullptr;
  std::string kernel;  // where the call is about one kernel
  std::optional<cl_uint> query;
  const Device *device = nullptr;
  std::string options{};  // of a program that is to be built
};

Call call_of(const char *function);
Call call_of(const char *function, const Program &program);
Call call_of(const char *function, cl_kernel kernel);

// Only logs it; `function` need not be an entry point.
void log_call(const Call &call);

// Logs the call, then plays what the script has for it: dies, hangs, waits, or returns the
// fault that the caller has to play (never segv, abort, exit, hang or slow). Null: none.
const Fault *enter(const Call &call);

// Does one of the four that do not return; nothing for any other.
void die(Action action, int code);
void die(Response response);

}  // namespace kiln::driver
