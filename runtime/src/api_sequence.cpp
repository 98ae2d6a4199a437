// The C API: sequences.
#include "api.hpp"

using namespace kiln::runtime;

namespace {

Error add(Sequence *sequence, const Kernel &kernel, const kiln_ndrange &range) {
  const Loader &made_from = *kernel.program->loader;
  if (sequence->loader->device->id != made_from.device->id) {
    return failure(KILN_ERROR_ARGUMENT, "the kernel and the queue are of other devices");
  }
  Error e = check_context(*sequence->loader, made_from, "the kernel and the queue");
  return e.ok() ? add_step(sequence, kernel, range) : e;
}

}  // namespace

kiln_status kiln_sequence_begin(kiln_queue *queue, kiln_sequence **out, kiln_error *error) {
  KILN_REQUIRE(queue != nullptr && out != nullptr, error);
  Sequence sequence;
  const Error e = begin_sequence(queue->queue, &sequence);
  return hand_out(e, std::move(sequence), out, error);
}

kiln_status kiln_sequence_add(kiln_sequence *sequence, kiln_kernel *kernel,
                              const kiln_ndrange *range, kiln_error *error) {
  KILN_REQUIRE(sequence != nullptr && kernel != nullptr && range != nullptr, error);
  return report_error(add(&sequence->sequence, kernel->kernel, *range), error);
}

kiln_status kiln_sequence_end(kiln_sequence *sequence, kiln_error *error) {
  KILN_REQUIRE(sequence != nullptr, error);
  return report_error(end_sequence(&sequence->sequence), error);
}

kiln_status kiln_sequence_run(kiln_sequence *sequence, const kiln_event *const *wait,
                              size_t wait_count, kiln_event **event, kiln_error *error) {
  KILN_REQUIRE(sequence != nullptr, error);
  const Sequence &recorded = sequence->sequence;
  Waits waits;
  Error e = collect_waits(*recorded.loader, wait, wait_count, &waits);
  if (e.ok()) {
    e = enqueue_into(recorded.loader, event,
                     [&](Handle<cl_event> *made) { return run_sequence(recorded, waits, made); });
  }
  return report_error(e, error);
}

void kiln_sequence_release(kiln_sequence *sequence) { delete sequence; }

kiln_recording kiln_sequence_kind(const kiln_sequence *sequence) {
  return sequence == nullptr ? KILN_RECORDING_NONE : sequence->sequence.recording.kind;
}

const char *kiln_sequence_reason(const kiln_sequence *sequence) {
  return sequence == nullptr ? nullptr : sequence->sequence.reason.c_str();
}
