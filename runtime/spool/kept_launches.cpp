// SPDX-License-Identifier: Apache-2.0
// Waits for first launches to be over, then builds once more and keeps the larger binary.
#include "runtime/spool/kept_launches.hpp"

#include <algorithm>
#include <map>

#include "runtime/spool/kept.hpp"
#include "runtime/spool/record.hpp"

namespace kiln::layer {
namespace {

using HeldLock = std::lock_guard<std::mutex>;

enum class Progress : std::uint8_t { waiting, done, failed };

Progress progress_of(cl_event event) {
  cl_int status = CL_QUEUED;
  const cl_int code = next.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status),
                                          &status, nullptr);
  if (code != CL_SUCCESS || status < CL_COMPLETE) return Progress::failed;
  return status == CL_COMPLETE ? Progress::done : Progress::waiting;
}

// Lines of launches that are over, of one program.
struct Launched {
  std::string lines;
  GivenPointer given;
};

bool is_unchanged(const Given &given) {
  return source::check_unchanged(given.whole, given.source, given.options).ok();
}

// PoCL's binary of a program is what it was when it was first asked for, and that of a new one
// holds the code of all launches so far: of what the application gave, since its cache knows the
// launches of another text and other options by another name. Null if the driver does not build it.
cl_program build_again(cl_program program, const Given &given) {
  const char *text = given.source.data();
  const std::size_t size = given.source.size();
  const cl_context context = context_of(program);
  cl_int code = CL_SUCCESS;
  const cl_program made = given.whole.is_il
                              ? next.clCreateProgramWithIL(context, text, size, &code)
                              : next.clCreateProgramWithSource(context, 1, &text, &size, &code);
  if (made == nullptr) return made;
  if (next.clBuildProgram(made, 0, nullptr, given.options.c_str(), nullptr, nullptr) ==
      CL_SUCCESS) {
    return made;
  }
  next.clReleaseProgram(made);
  return nullptr;
}

void keep_again(cl_program program, const Launched &launched) {
  const auto lines = launches().unite(program, launched.lines);
  const Given &given = *launched.given;
  const bool builds = lines && is_unchanged(given);
  const cl_program again = builds ? build_again(program, given) : nullptr;
  if (again == nullptr) return;
  // The compiler read the files once more, maybe after somebody changed them.
  const packs::Status s =
      is_unchanged(given) ? keep_launched(again, given.whole.name, *lines) : packs::Status();
  if (!s.ok()) complain_once("not kept: " + s.message);
  next.clReleaseProgram(again);
}

}  // namespace

void KeptLaunches::add(const Launches::Fresh &launch, cl_event event) {
  next.clRetainProgram(launch.program);
  const HeldLock lock(mutex_);
  waiting_.push_back({launch, event});
  is_waiting_ = true;
}

std::vector<KeptLaunches::Waiting> KeptLaunches::take_all() {
  const HeldLock lock(mutex_);
  is_waiting_ = false;
  return std::exchange(waiting_, {});
}

// The driver is asked outside the lock.
void KeptLaunches::settle() {
  if (!is_waiting_ || settling_.test_and_set()) return;
  std::map<cl_program, Launched> over;
  std::vector<Waiting> left;
  std::vector<Waiting> ended;
  for (Waiting &waiting : take_all()) {
    const Progress progress = progress_of(waiting.event);
    if (progress == Progress::done) {
      Launched &launched = over[waiting.launch.program];
      launched.given = waiting.launch.given;
      launched.lines += waiting.launch.text + "\n";
    }
    if (progress == Progress::failed) launches().forget(waiting.launch);
    (progress == Progress::waiting ? left : ended).push_back(std::move(waiting));
  }
  for (const auto &[program, launched] : over) keep_again(program, launched);
  for (const Waiting &waiting : ended) {
    next.clReleaseEvent(waiting.event);
    next.clReleaseProgram(waiting.launch.program);
  }
  if (!left.empty()) {
    const HeldLock lock(mutex_);
    waiting_.insert(waiting_.end(), left.begin(), left.end());
    is_waiting_ = true;
  }
  settling_.clear();
}

cl_uint KeptLaunches::held(cl_program program) const {
  const HeldLock lock(mutex_);
  return static_cast<cl_uint>(
      std::count_if(waiting_.begin(), waiting_.end(),
                    [&](const Waiting &waiting) { return waiting.launch.program == program; }));
}

KeptLaunches &kept_launches() {
  static KeptLaunches &all = *new KeptLaunches;
  return all;
}

}  // namespace kiln::layer
