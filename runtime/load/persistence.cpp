// SPDX-License-Identifier: Apache-2.0
// Guards calls of the driver with markers, names their tasks, and decides which tasks are passed
// over.
#include "runtime/load/persistence.hpp"

#include "kiln/packs/bytes.hpp"
#include "runtime/load/build.hpp"

namespace kiln::runtime {

Guarded::Guarded(Guard *guard, const DriverTask &task, std::uint32_t deadline)
    : guard_(guard), task_(task) {
  if (guard == nullptr || is_known(guard->verdict(task.id))) return;
  status_ = guard->begin(task, deadline, &slot_);
}

void Guarded::end(Verdict verdict) {
  if (guard_ != nullptr) guard_->end(slot_, task_, verdict);
  slot_ = -1;
}

std::uint64_t launch_id(const DriverTask &task, unsigned index) {
  const std::uint64_t words[] = {task.id, index};
  return packs::xxh3(words, sizeof(words));
}

packs::Status check_load(Guard *guard, const DriverTask &task, std::size_t kernels, bool last,
                         bool dry_run) {
  if (packs::Status s = guard->check(task, last, dry_run); !s.ok()) return s;
  for (unsigned i = 0; i < kernels && i < kMarkedKernels; ++i) {
    if (guard->passes_over({launch_id(task, i), task.rung}, last, dry_run)) {
      return packs::Status::error(
          packs::Code::failed,
          "an earlier process ended while it launched this for the first time");
    }
  }
  return {};
}

std::uint64_t unproven_launches(const Guard &guard, const DriverTask &task, std::size_t kernels) {
  std::uint64_t bits = 0;
  for (unsigned i = 0; i < kernels && i < kMarkedKernels; ++i) {
    if (!is_known(guard.verdict(launch_id(task, i)))) bits |= std::uint64_t{1} << i;
  }
  return bits;
}

PassedOver passed_over(Persistence &persistence, const DriverTask &task,
                       const packs::Status &quarantine) {
  PassedOver passed{KILN_OUTCOME_QUARANTINED, quarantine.message};
  const History history = persistence.guard().history(task.id);
  if (history.deaths != 0 || history.refusals == 0) return passed;
  passed.outcome = KILN_OUTCOME_FAILED;
  passed.log = persistence.refusal(task.id, &passed.reason);
  passed.reason =
      packs::concat({"the driver refused the program in an earlier run: ", passed.reason});
  return passed;
}

void keep_refusal(Persistence &persistence, const DriverTask &task, const BuildOutcome &outcome,
                  Guarded *guarded) {
  const cl_int code = outcome.error.cl_error;
  if (code != CL_BUILD_PROGRAM_FAILURE && code != CL_COMPILE_PROGRAM_FAILURE &&
      code != CL_LINK_PROGRAM_FAILURE && code != CL_INVALID_BUILD_OPTIONS) {
    return;
  }
  // End the guard first: if the process dies while the refusal is stored, that must not count as a
  // crash of the driver on these bytes.
  guarded->end(Verdict::refused);
  persistence.keep_refusal(task.id, outcome.error.message, outcome.log);
}

std::uint64_t task_id(packs::VariantRef variant, BinaryTask what) {
  return packs::xxh3(variant.hash().data(), packs::kDigestSize) ^ static_cast<unsigned>(what);
}

}  // namespace kiln::runtime
