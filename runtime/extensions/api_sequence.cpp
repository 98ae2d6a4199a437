// SPDX-License-Identifier: Apache-2.0
// The C API: sequences.
#include "kiln/sequence.h"
#include "runtime/api/api.hpp"
#include "runtime/extensions/recorded_sequence.hpp"

using namespace kiln::runtime;

kiln_status kiln_sequence_begin(kiln_queue *queue, kiln_sequence **out, kiln_error *error) {
  KILN_REQUIRE(queue != nullptr && out != nullptr, error);
  auto *made = new kiln_sequence;
  return hand_out(begin_sequence(queue->queue, &made->sequence), made, out, error);
}

kiln_status kiln_sequence_add(kiln_sequence *sequence, kiln_kernel *kernel,
                              const kiln_ndrange *range, kiln_error *error) {
  KILN_REQUIRE(sequence != nullptr && kernel != nullptr && range != nullptr, error);
  Status e = check_kernel(*sequence->sequence.loader, kernel->kernel);
  if (e.ok()) e = add_step(&sequence->sequence, &kernel->kernel, *range);
  return report_error(e, error);
}

kiln_status kiln_sequence_change(kiln_sequence *sequence, unsigned launch, kiln_kernel *kernel,
                                 const kiln_ndrange *range, kiln_error *error) {
  KILN_REQUIRE(sequence != nullptr && kernel != nullptr, error);
  Status e = check_kernel(*sequence->sequence.loader, kernel->kernel);
  if (e.ok()) e = change_step(&sequence->sequence, launch, kernel->kernel, range);
  return report_error(e, error);
}

kiln_status kiln_sequence_end(kiln_sequence *sequence, kiln_error *error) {
  KILN_REQUIRE(sequence != nullptr, error);
  return report_error(end_sequence(&sequence->sequence), error);
}

kiln_status kiln_sequence_run(kiln_sequence *sequence, const kiln_event *const *wait,
                              size_t wait_count, kiln_event **event, kiln_error *error) {
  KILN_REQUIRE(sequence != nullptr, error);
  Sequence &recorded = sequence->sequence;
  Waits waits;
  Handle<cl_event> made;
  Status e = collect_waits(*recorded.loader, wait, wait_count, &waits);
  if (e.ok()) e = run_sequence(&recorded, waits, event == nullptr ? nullptr : &made);
  return end_command(e, recorded.loader, &made, event, error);
}

void kiln_sequence_release(kiln_sequence *sequence) { delete sequence; }

kiln_recording kiln_sequence_kind(const kiln_sequence *sequence) {
  return sequence == nullptr ? KILN_RECORDING_NONE : sequence->sequence.recording.kind;
}

const char *kiln_sequence_reason(const kiln_sequence *sequence) {
  if (sequence == nullptr) return nullptr;
  const Sequence &recorded = sequence->sequence;
  return (recorded.plain.empty() ? recorded.reason : recorded.plain).c_str();
}
