/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 * Sequences: launches that are recorded once and run often, by the driver's command buffers where
 * it has them. This is a library of its own (kiln::launch), since few programs record; the
 * conventions of kiln.h and launch.h hold here. Begin a sequence, add launches, end it, then run it
 * as often as wanted; calls in another order are #KILN_ERROR_ARGUMENT.
 *
 * The caller owns the sequence. The sequence keeps its queue, and for each launch a kernel of its
 * own with the arguments' buffers and images; samplers and shared virtual memory stay the caller's
 * and must outlive it. A sequence has no lock: only one thread at a time may use it. Different
 * threads may run different sequences on one queue.
 *
 * The shared libkiln_launch works on the objects of libkiln_runtime, and the dynamic linker refuses
 * the two if they are of different versions. */
#ifndef KILN_SEQUENCE_H
#define KILN_SEQUENCE_H

#include "kiln/launch.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A sequence of recorded launches. */
typedef struct kiln_sequence kiln_sequence;

/** How a sequence runs. */
typedef enum kiln_recording {
  KILN_RECORDING_NONE = 0,            /**< As separate launches. */
  KILN_RECORDING_COMMAND_BUFFER = 1,  /**< cl_khr_command_buffer 0.9 */
  KILN_RECORDING_RECORDABLE_QUEUE = 2 /**< cl_qcom_recordable_queues */
} kiln_recording;

/** Begins a sequence that will run on `queue`, which must be in order; the sequence keeps it
 * alive. */
KILN_API kiln_status kiln_sequence_begin(kiln_queue *queue, kiln_sequence **out, kiln_error *error);
/** Adds a launch with the kernel's current arguments, and retains the buffers and images among
 * them. Every argument must have been set through Kiln, else #KILN_ERROR_ARGUMENT. The global size
 * is padded. */
KILN_API kiln_status kiln_sequence_add(kiln_sequence *sequence, kiln_kernel *kernel,
                                       const kiln_ndrange *range, kiln_error *error);
/** Changes a launch of the sequence: from the next run on it uses the current arguments of
 * `kernel`, and another range. The sequence may have ended. Commands that were enqueued before are
 * unchanged. Arguments may be changed before every run; if a driver cannot change what it recorded,
 * the sequence runs as separate launches, and kiln_sequence_reason() says so.
 * @param sequence the sequence with the launch.
 * @param launch number of the launch, from 0 in the order of kiln_sequence_add().
 * @param kernel a kernel of the same entry point of the same program, with every argument set
 * through Kiln. It is only read: kernel and sequence share nothing afterwards but the memory, which
 * is retained.
 * @param range NULL: unchanged; else with as many dimensions as before. The global size is padded.
 * @param error #KILN_ERROR_ARGUMENT; the launch is then unchanged. */
KILN_API kiln_status kiln_sequence_change(kiln_sequence *sequence, unsigned launch,
                                          kiln_kernel *kernel, const kiln_ndrange *range,
                                          kiln_error *error);
/** Ends the recording; a sequence has at least one launch. If the driver cannot record the
 * sequence, it runs as separate launches, and kiln_sequence_reason() says why. */
KILN_API kiln_status kiln_sequence_end(kiln_sequence *sequence, kiln_error *error);
/** Enqueues the launches, each after the one before it. It may be called again at once. With
 * #KILN_RECORDING_NONE the time stamps of the event cover the last launch, else all launches. */
KILN_API kiln_status kiln_sequence_run(kiln_sequence *sequence, const kiln_event *const *wait,
                                       size_t wait_count, kiln_event **event, kiln_error *error);
/** Releases the handle; NULL does nothing. */
KILN_API void kiln_sequence_release(kiln_sequence *sequence);
/** Returns how the sequence runs; known once it has ended. */
KILN_API kiln_recording kiln_sequence_kind(const kiln_sequence *sequence);
/** Returns why better ways of recording are not used; "" if the best is used. After a run, it also
 * says why changed launches ran separately. */
KILN_API const char *kiln_sequence_reason(const kiln_sequence *sequence);

#ifdef __cplusplus
}
#endif

#endif /* KILN_SEQUENCE_H */
