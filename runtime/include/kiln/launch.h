/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 * Kernels, queues, events, launches and memory: the second half of kiln.h, which includes it and
 * whose conventions hold here.
 *
 * Nothing here waits, except what says so. A launch, a map or a run of a sequence takes the events
 * that it has to wait for and gives an event of its own:
 *  - `wait`, `wait_count`: at most #KILN_MAX_WAITS events of the same context; NULL and 0 for none.
 *  - `event`: NULL if none is wanted. `*event` NULL: a new one is made, for the caller to release.
 *    Otherwise `*event` is used again: it no longer refers to its former command, but to the new
 *    one, so that a program that launches for ever allocates nothing. Untouched on failure. An
 *    event is for one thread at a time while it is being used again.
 *
 * The driver may hand a command to the device at any time after it was enqueued; it does so at
 * kiln_queue_flush(), and at the latest when something is waited for on the same queue. Flush
 * before another queue, thread or process waits for an event.
 *
 * Queue, kernel, memory and events of one call must be of one context and, but for events, of one
 * device; else #KILN_ERROR_ARGUMENT. */
#ifndef KILN_LAUNCH_H
#define KILN_LAUNCH_H

#include "kiln/kiln.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Recorded launches. */
typedef struct kiln_sequence kiln_sequence;

enum {
  KILN_MAX_WAITS = 64 /**< Events that one command can wait for; more are #KILN_ERROR_ARGUMENT. */
};

/** @name Kernels
 * One thread at a time.
 * @{ */

/** Types of values, as OpenCL C names them. */
typedef enum kiln_type {
  KILN_TYPE_UCHAR = 0,  /**< 1 byte, unsigned. */
  KILN_TYPE_USHORT = 1, /**< 2 bytes, unsigned. */
  KILN_TYPE_UINT = 2,   /**< 4 bytes, unsigned. */
  KILN_TYPE_INT = 3,    /**< 4 bytes, signed. */
  KILN_TYPE_FLOAT = 4,  /**< 4 bytes, IEEE 754. */
  KILN_TYPE_HALF = 5,   /**< 2 bytes, IEEE 754. */
  KILN_TYPE_CHAR = 6,   /**< 1 byte, signed. */
  KILN_TYPE_SHORT = 7,  /**< 2 bytes, signed. */
  KILN_TYPE_LONG = 8,   /**< 8 bytes, signed. */
  KILN_TYPE_ULONG = 9,  /**< 8 bytes, unsigned. */
  KILN_TYPE_DOUBLE = 10 /**< 8 bytes, IEEE 754. */
} kiln_type;

/** A kernel of the program by entry point name; NULL takes the variant's first. Each call makes one
 * of its own, with no argument set. #KILN_ERROR_NOT_IN_PACK for an unknown name. */
KILN_API kiln_status kiln_kernel_create(kiln_program *program, const char *name, kiln_kernel **out,
                                        kiln_error *error);
/** Releases the handle; NULL does nothing. Launches that were enqueued are not affected. */
KILN_API void kiln_kernel_release(kiln_kernel *kernel);
/** The OpenCL kernel, which is not retained for the caller. */
KILN_API cl_kernel kiln_kernel_cl(const kiln_kernel *kernel);
/** Sets an argument to a scalar or a vector. Where the pack knows what the argument takes, as it
 * does for a variant whose manifest lists the arguments, anything else is #KILN_ERROR_ARGUMENT with
 * a message such as "argument 2 takes int, not float"; nothing is converted. (Width, height and
 * depth of a problem are int or uint.) Where it does not, the driver checks the size alone.
 * @param kernel whose argument.
 * @param index of the argument, from 0.
 * @param type of a component.
 * @param components 1 for a scalar, or 2, 3, 4, 8 or 16.
 * @param value that many components one after the other, 3 of a vector of 3; copied.
 * @param error #KILN_ERROR_ARGUMENT, or #KILN_ERROR_OPENCL if the driver refuses. */
KILN_API kiln_status kiln_kernel_set_typed(kiln_kernel *kernel, unsigned index, kiln_type type,
                                           unsigned components, const void *value,
                                           kiln_error *error);
/** Sets an argument to `size` bytes, which are copied, as clSetKernelArg does: a struct, or an
 * OpenCL object, which must outlive the launches. The driver alone checks the size, and the type is
 * not checked; see kiln_kernel_set_typed(). */
KILN_API kiln_status kiln_kernel_set_value(kiln_kernel *kernel, unsigned index, const void *value,
                                           size_t size, kiln_error *error);
/** Sets an argument to a buffer, which must live until the launches that use it are enqueued, or
 * added to a sequence, which keeps it alive.
 * #KILN_ERROR_ARGUMENT if the pack knows that the argument takes something else. */
KILN_API kiln_status kiln_kernel_set_buffer(kiln_kernel *kernel, unsigned index,
                                            kiln_buffer *buffer, kiln_error *error);
/** Sets an argument to an image, which must live as long as kiln_kernel_set_buffer() says.
 * #KILN_ERROR_ARGUMENT if the pack knows that the argument takes something else. The driver checks
 * whether the kernel may read or write it: #KILN_ERROR_OPENCL if it refuses. */
KILN_API kiln_status kiln_kernel_set_image(kiln_kernel *kernel, unsigned index, kiln_image *image,
                                           kiln_error *error);

/** @}
 * @name Queues
 * @{ */

/** What a queue may be, as bits. */
enum {
  KILN_QUEUE_OUT_OF_ORDER = 1, /**< Commands may overtake; order them by events. */
  KILN_QUEUE_NO_PROFILING = 2  /**< Events have no time stamps. */
};

/** Zero everywhere but in `size` is an in-order queue with profiling, without hints. What is said
 * of kiln_loader_options holds: shorter ones are accepted, unknown options that are set are not. */
typedef struct kiln_queue_options {
  size_t size;         /**< sizeof(kiln_queue_options) */
  unsigned flags;      /**< KILN_QUEUE_* bits; an unknown one is #KILN_ERROR_ARGUMENT. */
  kiln_level priority; /**< cl_khr_priority_hints */
  kiln_level throttle; /**< cl_khr_throttle_hints: how many resources the queue may hold. */
  unsigned reserved;   /**< Zero, else #KILN_ERROR_ARGUMENT. */
} kiln_queue_options;

/** Makes a queue on the loader's device and context. `options` NULL is the default. What the device
 * does not support, or the driver refuses, is left out, which is not an error; kiln_queue_hints()
 * gives what was taken. */
KILN_API kiln_status kiln_queue_create(kiln_loader *loader, const kiln_queue_options *options,
                                       kiln_queue **out, kiln_error *error);
/** Releases the handle; NULL does nothing. What was enqueued is still executed. */
KILN_API void kiln_queue_release(kiln_queue *queue);
/** The OpenCL queue, which is not retained for the caller. */
KILN_API cl_command_queue kiln_queue_cl(const kiln_queue *queue);
/** The KILN_HINT_* bits that were asked for and taken. */
KILN_API unsigned kiln_queue_hints(const kiln_queue *queue);
/** Hands to the device what was enqueued. Does not wait. */
KILN_API kiln_status kiln_queue_flush(kiln_queue *queue, kiln_error *error);
/** Waits until everything on the queue is done. */
KILN_API kiln_status kiln_queue_finish(kiln_queue *queue, kiln_error *error);

/** @}
 * @name Events
 * @{ */

/** Stands for an event of the application's, of the loader's context, which is retained; `*event`
 * is as for a command. */
KILN_API kiln_status kiln_event_from_cl(kiln_loader *loader, cl_event from, kiln_event **event,
                                        kiln_error *error);
/** Releases the handle; NULL does nothing. The command goes on. */
KILN_API void kiln_event_release(kiln_event *event);
/** The OpenCL event, which is not retained for the caller. */
KILN_API cl_event kiln_event_cl(const kiln_event *event);
/** Flushes the event's queue and waits. A command that failed is #KILN_ERROR_OPENCL. */
KILN_API kiln_status kiln_event_wait(kiln_event *event, kiln_error *error);

/** The profiling time stamps of a command, in nanoseconds on the device's clock, which
 * kiln_device_timers() of driver.h relates to the host's. */
typedef struct kiln_times {
  uint64_t queued;   /**< Enqueued by the host. */
  uint64_t submit;   /**< Handed to the device. */
  uint64_t start;    /**< Began to execute. */
  uint64_t end;      /**< Done. */
  uint64_t complete; /**< Done with what it enqueued itself; `end` where the driver does not say. */
} kiln_times;

/** Waits first. #KILN_ERROR_OPENCL if the queue has no profiling. */
KILN_API kiln_status kiln_event_times(kiln_event *event, kiln_times *out, kiln_error *error);

/** Called by the driver, on any thread, maybe before kiln_event_set_callback() returns. `status` is
 * CL_COMPLETE, or negative for a command that failed. Must not block: no OpenCL call that waits or
 * builds, and no release of the last handle of anything. */
typedef void(CL_CALLBACK *kiln_event_function)(cl_event event, cl_int status, void *user);
/** Has `function` called once when the event's command is done, in the place of a thread that
 * waits. Flushes nothing: see kiln_queue_flush(). The event may be released or used again at once.
 * #KILN_ERROR_REQUIREMENT if the OpenCL library has no clSetEventCallback. */
KILN_API kiln_status kiln_event_set_callback(kiln_event *event, kiln_event_function function,
                                             void *user, kiln_error *error);

/** @}
 * @name Launches
 * @{ */

/** An NDRange. `global` counts work-items. Where the device takes non-uniform work-groups and the
 * variant's options ask for OpenCL C 2.0 or later without -cl-uniform-work-group-size, just these
 * are launched; else `global` is padded up to a multiple of the work-group size. So a kernel must
 * do nothing outside of its range. An empty dimension is #KILN_ERROR_ARGUMENT. The struct never
 * grows. */
typedef struct kiln_ndrange {
  unsigned dimensions; /**< 1 to 3. */
  size_t global[3];    /**< Work-items; unused dimensions are 0 or 1. */
  /** Work-group size, always clamped to what the built kernel and the device allow. `local[0]` 0:
   * the size stored in the pack for ranges of this size, else the driver's suggestion, else one
   * made from the vendor's number of adjacent threads or the kernel's preferred multiple. Variants
   * whose requirements name a range_multiple take multiples of it alone: another size given here is
   * #KILN_ERROR_ARGUMENT. */
  size_t local[3];
  /** Of the global ids; zeros: none. A variant that requires no_global_offset refuses any other. */
  size_t offset[3];
} kiln_ndrange;

/** The work-group size that a launch of `range` would use, and the global size, padded where the
 * launch pads it; unused dimensions are 1. Calls no OpenCL: a driver that
 * suggests sizes is asked by the first launch of a class of ranges, and the plan knows its answer
 * from then on. A number of dimensions other than 1 to
 * 3 and an empty dimension are #KILN_ERROR_ARGUMENT. `out` may be `range`. */
KILN_API kiln_status kiln_kernel_plan(const kiln_kernel *kernel, const kiln_ndrange *range,
                                      kiln_ndrange *out, kiln_error *error);

/** Where the work-group size of a launch comes from. Whatever it is, it was clamped. */
typedef enum kiln_local_source {
  KILN_LOCAL_DEVICE = 0,    /**< Measured on this device with this driver. */
  KILN_LOCAL_MODEL = 1,     /**< Measured on this model with another driver. */
  KILN_LOCAL_FAMILY = 2,    /**< Measured on a device of the same family. */
  KILN_LOCAL_VENDOR = 3,    /**< Measured on a device of the same vendor. */
  KILN_LOCAL_DEFAULT = 4,   /**< The pack's for any device. */
  KILN_LOCAL_VARIANT = 5,   /**< The variant's own, not measured. */
  KILN_LOCAL_GUESS = 6,     /**< Made from the kernel's preferred multiple. */
  KILN_LOCAL_RANGE = 7,     /**< Given with the range. */
  KILN_LOCAL_KERNEL = 8,    /**< The only one that the kernel takes (reqd_work_group_size). */
  KILN_LOCAL_SUGGESTED = 9, /**< Suggested by the driver (cl_khr_suggested_local_work_size). */
  KILN_LOCAL_PROFILE = 10   /**< Made from the vendor's number of adjacent threads of this model. */
} kiln_local_source;

/** Where the work-group size of a launch of `range` would come from. Errors as for
 * kiln_kernel_plan(). */
KILN_API kiln_status kiln_kernel_local_source(const kiln_kernel *kernel, const kiln_ndrange *range,
                                              kiln_local_source *out, kiln_error *error);
/** Why a launch of `range` does without the size that the driver suggested, as "the driver suggests
 * 512x4: at most 1024 work-items fit"; "" if there is nothing to say. Valid until the kernel is
 * launched again or released. */
KILN_API const char *kiln_kernel_suggestion_refused(const kiln_kernel *kernel,
                                                    const kiln_ndrange *range);
/** Enqueues the kernel with its arguments as they are now; neither flushes nor waits. The kernel
 * may be given other arguments at once. An argument that was never set is #KILN_ERROR_OPENCL. */
KILN_API kiln_status kiln_launch(kiln_queue *queue, kiln_kernel *kernel, const kiln_ndrange *range,
                                 const kiln_event *const *wait, size_t wait_count,
                                 kiln_event **event, kiln_error *error);

/** @}
 * @name Sequences
 * Launches that are recorded once and run often: begin, add, add, end, run, run. Calls in another
 * order are #KILN_ERROR_ARGUMENT. One thread at a time.
 * @{ */

/** How a sequence runs. */
typedef enum kiln_recording {
  KILN_RECORDING_NONE = 0,            /**< As so many launches. */
  KILN_RECORDING_COMMAND_BUFFER = 1,  /**< cl_khr_command_buffer 0.9 */
  KILN_RECORDING_RECORDABLE_QUEUE = 2 /**< cl_qcom_recordable_queues */
} kiln_recording;

/** Begins a sequence that will run on `queue`, which must be in order, and which it keeps alive. */
KILN_API kiln_status kiln_sequence_begin(kiln_queue *queue, kiln_sequence **out, kiln_error *error);
/** Adds a launch with the kernel's arguments as they are now; the buffers and images among them are
 * retained. Every argument must have been set through Kiln, else #KILN_ERROR_ARGUMENT. The global
 * size is padded. */
KILN_API kiln_status kiln_sequence_add(kiln_sequence *sequence, kiln_kernel *kernel,
                                       const kiln_ndrange *range, kiln_error *error);
/** Gives a launch that was added the arguments that `kernel` has now, and another range, for all
 * runs from the next one on, also of a sequence that has ended. What was enqueued before stays as
 * it was. Arguments may be changed at every run; a driver that cannot change what it recorded gets
 * plain launches instead, and kiln_sequence_reason() says so.
 * @param sequence whose launch.
 * @param launch its number, from 0 in the order of kiln_sequence_add().
 * @param kernel of the same entry point of the same program; every argument set through Kiln. It is
 * only read: kernel and sequence share nothing afterwards but the memory, which is retained.
 * @param range NULL: as it was; else with as many dimensions as before. The global size is padded.
 * @param error #KILN_ERROR_ARGUMENT; the launch is then as it was. */
KILN_API kiln_status kiln_sequence_change(kiln_sequence *sequence, unsigned launch,
                                          kiln_kernel *kernel, const kiln_ndrange *range,
                                          kiln_error *error);
/** Ends the recording; a sequence has at least one launch. Whatever the driver cannot record runs
 * as launches, and kiln_sequence_reason() says why. */
KILN_API kiln_status kiln_sequence_end(kiln_sequence *sequence, kiln_error *error);
/** Enqueues the launches, each after the one before it. It may be called again at once. The time
 * stamps of the event are those of the last launch with #KILN_RECORDING_NONE, else of all. */
KILN_API kiln_status kiln_sequence_run(kiln_sequence *sequence, const kiln_event *const *wait,
                                       size_t wait_count, kiln_event **event, kiln_error *error);
/** Releases the handle; NULL does nothing. */
KILN_API void kiln_sequence_release(kiln_sequence *sequence);
/** How it runs; known once it has ended. */
KILN_API kiln_recording kiln_sequence_kind(const kiln_sequence *sequence);
/** Why better ways of recording are not used; "" when the best is. Asked after a run, also why
 * launches that were changed ran plainly. */
KILN_API const char *kiln_sequence_reason(const kiln_sequence *sequence);

/** @}
 * @name Memory
 * @{ */

/** How kernels and the host use a buffer or an image after creation, named from the kernel's point
 * of view. Any other number is #KILN_ERROR_ARGUMENT. */
typedef enum kiln_access {
  KILN_ACCESS_READ = 0,  /**< Kernels read, the host writes. */
  KILN_ACCESS_WRITE = 1, /**< Kernels write, the host reads. */
  KILN_ACCESS_BOTH = 2   /**< Both do both. */
} kiln_access;

/** `size` bytes of memory, at least 1, that the host reaches by mapping. What they hold at first is
 * undefined. Where device and host share memory it is allocated so that mapping copies nothing. */
KILN_API kiln_status kiln_buffer_create(kiln_loader *loader, size_t size, kiln_access access,
                                        kiln_buffer **out, kiln_error *error);
/** A buffer over the application's memory, which stays valid until the buffer is released and no
 * command uses it, and which is the device's to use except while the buffer is mapped. Imported
 * with cl_arm_import_memory if the device takes host memory that way, else made with
 * CL_MEM_USE_HOST_PTR.
 * @param loader on whose context.
 * @param memory its address is a multiple of 4,096, else #KILN_ERROR_ARGUMENT.
 * @param size a multiple of 64, else #KILN_ERROR_ARGUMENT.
 * @param access of the kernels.
 * @param out the buffer.
 * @param error why not. */
KILN_API kiln_status kiln_buffer_from_host(kiln_loader *loader, void *memory, size_t size,
                                           kiln_access access, kiln_buffer **out,
                                           kiln_error *error);
/** Stands for a buffer of the application's, of the loader's context; it is retained. */
KILN_API kiln_status kiln_buffer_from_cl(kiln_loader *loader, cl_mem from, kiln_access access,
                                         kiln_buffer **out, kiln_error *error);
/** Releases the handle; NULL does nothing. Commands that were enqueued keep the memory. */
KILN_API void kiln_buffer_release(kiln_buffer *buffer);
/** The OpenCL buffer, which is not retained for the caller. */
KILN_API cl_mem kiln_buffer_cl(const kiln_buffer *buffer);
/** 1 if mapping copies nothing, by the device and the rules of alignment; 0 if it may copy, and for
 * a buffer of the application's that Kiln did not make. */
KILN_API int kiln_buffer_zero_copy(const kiln_buffer *buffer);
/** Waits, then hands the whole buffer to the host until unmapped: in order, all that was enqueued
 * before is done. `*out` gets the address. A buffer that is mapped already is #KILN_ERROR_ARGUMENT.
 */
KILN_API kiln_status kiln_buffer_map(kiln_queue *queue, kiln_buffer *buffer, void **out,
                                     kiln_error *error);
/** Hands the buffer back to the device, without waiting. A buffer that is not mapped is
 * #KILN_ERROR_ARGUMENT. */
KILN_API kiln_status kiln_buffer_unmap(kiln_queue *queue, kiln_buffer *buffer, kiln_error *error);
/** Maps without waiting: `*out` gets the address at once, and the host may use it when the event is
 * complete. A buffer that is mapped already, or whose map is not complete yet, is
 * #KILN_ERROR_ARGUMENT. */
KILN_API kiln_status kiln_buffer_map_async(kiln_queue *queue, kiln_buffer *buffer,
                                           const kiln_event *const *wait, size_t wait_count,
                                           void **out, kiln_event **event, kiln_error *error);
/** Unmaps after events, and gives one. A buffer that is not mapped is #KILN_ERROR_ARGUMENT. */
KILN_API kiln_status kiln_buffer_unmap_async(kiln_queue *queue, kiln_buffer *buffer,
                                             const kiln_event *const *wait, size_t wait_count,
                                             kiln_event **event, kiln_error *error);

/** A 2D image of `width` times `height` pixels of 8-bit normalised channels (CL_UNORM_INT8).
 * `channels`: 1 is CL_R, 2 CL_RG, 4 CL_RGBA; others are #KILN_ERROR_ARGUMENT. The driver checks the
 * size: 0, more than CL_DEVICE_IMAGE2D_MAX_WIDTH or CL_DEVICE_IMAGE2D_MAX_HEIGHT, and a device
 * without images or without the format are #KILN_ERROR_OPENCL. */
KILN_API kiln_status kiln_image_create(kiln_loader *loader, size_t width, size_t height,
                                       unsigned channels, kiln_access access, kiln_image **out,
                                       kiln_error *error);
/** Stands for a 2D image of the application's of any format; as kiln_buffer_from_cl(). */
KILN_API kiln_status kiln_image_from_cl(kiln_loader *loader, cl_mem from, kiln_access access,
                                        kiln_image **out, kiln_error *error);
/** Releases the handle; NULL does nothing. Commands that were enqueued keep the memory. */
KILN_API void kiln_image_release(kiln_image *image);
/** The OpenCL image, which is not retained for the caller. */
KILN_API cl_mem kiln_image_cl(const kiln_image *image);
/** As kiln_buffer_map(); `*row_pitch` gets the distance between rows in bytes. */
KILN_API kiln_status kiln_image_map(kiln_queue *queue, kiln_image *image, void **out,
                                    size_t *row_pitch, kiln_error *error);
/** As kiln_buffer_unmap(). */
KILN_API kiln_status kiln_image_unmap(kiln_queue *queue, kiln_image *image, kiln_error *error);
/** As kiln_buffer_map_async(). */
KILN_API kiln_status kiln_image_map_async(kiln_queue *queue, kiln_image *image,
                                          const kiln_event *const *wait, size_t wait_count,
                                          void **out, size_t *row_pitch, kiln_event **event,
                                          kiln_error *error);
/** As kiln_buffer_unmap_async(). */
KILN_API kiln_status kiln_image_unmap_async(kiln_queue *queue, kiln_image *image,
                                            const kiln_event *const *wait, size_t wait_count,
                                            kiln_event **event, kiln_error *error);

/** @} */

#ifdef __cplusplus
}
#endif

#endif /* KILN_LAUNCH_H */
