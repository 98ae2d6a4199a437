// SPDX-License-Identifier: Apache-2.0
// Writes the marker before the launch, and takes it away in the event's callback.
#include "runtime/load/first_launch.hpp"

#include "kiln/packs/hash.hpp"

namespace kiln::runtime {
namespace {

constexpr unsigned kMaxKernels = 64;

// What a completed launch reports to the guard. Holds no OpenCL object: the driver calls back on a
// thread of its own, where releasing one could wait for that very thread.
struct Waiting {
  std::shared_ptr<Overlay> overlay;
  BlobUse subject;
  int slot;
};

void CL_CALLBACK complete(cl_event, cl_int status, void *user) {
  const std::unique_ptr<Waiting> waiting(static_cast<Waiting *>(user));
  const Verdict fate = status < 0 ? Verdict::untried : Verdict::proven;
  waiting->overlay->quarantine().end(waiting->slot, waiting->subject, fate);
}

// A death here does not count against the rung: the application launches a program at any time, and
// its user may end it at any time.
BlobUse launch_of(const BlobUse &subject, unsigned index) {
  return {launch_id(subject, index), kNoLoad};
}

}  // namespace

std::uint64_t launch_id(const BlobUse &subject, unsigned index) {
  const std::uint64_t words[] = {subject.id, index};
  return packs::xxh3(words, sizeof(words));
}

Status check_launches(Quarantine &guard, const BlobUse &subject, std::size_t kernels, bool last,
                      bool foresee) {
  for (unsigned i = 0; i < kernels && i < kMaxKernels; ++i) {
    if (guard.passes_over({launch_id(subject, i), subject.rung}, last, foresee)) {
      return Status::error(Code::failed,
                           "an earlier process ended while it launched this for the first time");
    }
  }
  return {};
}

void expect_first_launches(LoadedProgram *program) {
  const Quarantine &guard = program->loader->overlay->quarantine();
  std::uint64_t bits = 0;
  for (unsigned i = 0; i < program->variant.kernels().size() && i < kMaxKernels; ++i) {
    if (!is_known(guard.fate(launch_id(program->subject, i)))) bits |= std::uint64_t{1} << i;
  }
  program->to_prove = bits;
}

FirstLaunch::FirstLaunch(const LoadedProgram &program, unsigned index) : program_(program) {
  // Written once: this is on the path of every launch.
  if (!program.launched.load(std::memory_order_relaxed)) program.launched = true;
  if (program.to_prove.load(std::memory_order_relaxed) == 0 || index >= kMaxKernels) return;
  const std::uint64_t bit = std::uint64_t{1} << index;
  if (program.loader->device->cl->clSetEventCallback == nullptr) return;
  if ((program.to_prove.fetch_and(~bit) & bit) == 0) return;
  bit_ = bit;
  subject_ = launch_of(program.subject, index);
  int error = 0;  // a death would not be seen; the load has reported that already
  slot_ = program.loader->overlay->quarantine().begin(subject_, 0, &error);
}

FirstLaunch::~FirstLaunch() {
  if (slot_ < 0) return;
  program_.loader->overlay->quarantine().end(slot_, subject_, Verdict::untried);
  program_.to_prove.fetch_or(bit_);  // the next one is the first
}

void FirstLaunch::end_with(cl_event event) {
  if (slot_ < 0 || event == nullptr) return;
  program_.loader->overlay->quarantine().leave(slot_);
  auto waiting = std::make_unique<Waiting>(Waiting{program_.loader->overlay, subject_, slot_});
  const cl_int code =
      program_.loader->device->cl->clSetEventCallback(event, CL_COMPLETE, complete, waiting.get());
  if (code != CL_SUCCESS) return;
  waiting.release();  // NOLINT(bugprone-unused-return-value): the driver has it
  slot_ = -1;
}

}  // namespace kiln::runtime
