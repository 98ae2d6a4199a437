/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 * Kernels, queues, events, launches and memory: the second half of kiln.h, which includes this
 * header and whose conventions hold here.
 *
 * A function waits only if its comment says so. A launch, a map or a run of a sequence takes the
 * events that it has to wait for and gives an event of its own:
 *  - `wait`, `wait_count`: at most #KILN_MAX_WAITS events of the same context; NULL and 0 for none.
 *  - `event`: NULL if no event is wanted. If `*event` is NULL, a new event is made, for the caller
 *    to release. Otherwise `*event` is reused: it stands for the new command instead of its former
 *    one, so that a program that launches for ever allocates nothing. `*event` is unchanged on
 *    failure. An event is for one thread at a time while it is being reused.
 *
 * The driver may hand a command to the device at any time after it was enqueued. It does so at
 * kiln_queue_flush(), and at the latest when something is waited for on the same queue. Flush
 * before another queue, thread or process waits for an event.
 *
 * The queue, kernel, memory and events of one call must belong to one context and, except for
 * events, to one device; else #KILN_ERROR_ARGUMENT. */
#ifndef KILN_LAUNCH_H
#define KILN_LAUNCH_H

#include "kiln/kiln.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  KILN_MAX_WAITS = 64 /**< Events that one command can wait for; more are #KILN_ERROR_ARGUMENT. */
};

/** @name Kernels
 * A kernel is for one thread at a time.
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

/** Creates a kernel of the program by entry point name; NULL takes the variant's first kernel. Each
 * call makes a separate kernel with no argument set. Fails with #KILN_ERROR_NOT_IN_PACK if the name
 * is unknown. */
KILN_API kiln_status kiln_kernel_create(kiln_program *program, const char *name, kiln_kernel **out,
                                        kiln_error *error);
/** Releases the handle; NULL does nothing. Launches that were enqueued are not affected. */
KILN_API void kiln_kernel_release(kiln_kernel *kernel);
/** Returns the OpenCL kernel; it is not retained for the caller. */
KILN_API cl_kernel kiln_kernel_cl(const kiln_kernel *kernel);
/** Sets an argument to a scalar or a vector. If the pack knows the argument's type, any other type
 * is #KILN_ERROR_ARGUMENT with a message such as "kernel scale: argument 2, int factor, cannot take
 * float"; nothing is converted. A pack knows the parameters of kernels that `kiln compile`
 * compiled, and else the arguments that a manifest lists. (An argument that the manifest lists as
 * the width, height or depth of a problem is int or uint.) If the pack does not know the type, the
 * driver checks only the size.
 * @param kernel the kernel whose argument is set.
 * @param index index of the argument, from 0.
 * @param type type of a component.
 * @param components 1 for a scalar, or 2, 3, 4, 8 or 16.
 * @param value that many components one after the other, 3 for a vector of 3; copied.
 * @param error #KILN_ERROR_ARGUMENT, or #KILN_ERROR_OPENCL if the driver refuses. */
KILN_API kiln_status kiln_kernel_set_typed(kiln_kernel *kernel, unsigned index, kiln_type type,
                                           unsigned components, const void *value,
                                           kiln_error *error);
/** Sets an argument to `size` bytes, which are copied, as clSetKernelArg does: a struct, or an
 * OpenCL object, which must outlive the launches. Nothing checks the type. A pipe and another size
 * than the pack knows are #KILN_ERROR_ARGUMENT: "kernel scale: argument 2, float4 color, cannot
 * take 4 bytes: it has 16". See kiln_kernel_set_typed(). */
KILN_API kiln_status kiln_kernel_set_value(kiln_kernel *kernel, unsigned index, const void *value,
                                           size_t size, kiln_error *error);
/** Sets an argument to a buffer. The buffer must live until the launches that use it are enqueued
 * or added to a sequence; a sequence keeps it alive. Fails with #KILN_ERROR_ARGUMENT if the pack
 * knows that the argument takes something else. */
KILN_API kiln_status kiln_kernel_set_buffer(kiln_kernel *kernel, unsigned index,
                                            kiln_buffer *buffer, kiln_error *error);
/** Sets an argument to an image, which must live as long as kiln_kernel_set_buffer() says. Fails
 * with #KILN_ERROR_ARGUMENT if the pack knows that the argument takes something else, or another
 * kind of image: "kernel blur: argument 0, read_only image3d_t from, cannot take an image2d_t". The
 * driver checks whether the kernel may read or write the image: #KILN_ERROR_OPENCL if it refuses.
 */
KILN_API kiln_status kiln_kernel_set_image(kiln_kernel *kernel, unsigned index, kiln_image *image,
                                           kiln_error *error);
/** Sets a `__local` argument: each work-group of a launch gets `size` bytes of local memory, whose
 * contents are undefined at first. Fails with #KILN_ERROR_ARGUMENT if `size` is 0, if the kernel's
 * local arguments together are larger than the device's local memory (CL_DEVICE_LOCAL_MEM_SIZE), or
 * if the pack knows that the argument takes something else. */
KILN_API kiln_status kiln_kernel_set_local(kiln_kernel *kernel, unsigned index, size_t size,
                                           kiln_error *error);

/** Sets an argument to the application's sampler, which must outlive the launches and the sequences
 * that use it. Fails with #KILN_ERROR_ARGUMENT if the pack knows that the argument takes something
 * else. */
KILN_API kiln_status kiln_kernel_set_sampler(kiln_kernel *kernel, unsigned index,
                                             cl_sampler sampler, kiln_error *error);
/** Sets a global or constant pointer to the application's shared virtual memory: an address that
 * clSVMAlloc returned, or one inside that memory, which must outlive the launches and the sequences
 * that use it. If a kernel reaches other such memory through pointers in this one, tell the driver
 * by clSetKernelExecInfo() on kiln_kernel_cl(); sequences do not keep that. Fails with
 * #KILN_ERROR_ARGUMENT if the pack knows that the argument takes something else, and with
 * #KILN_ERROR_REQUIREMENT if the device has no shared virtual memory, as with OpenCL 1.2. */
KILN_API kiln_status kiln_kernel_set_svm(kiln_kernel *kernel, unsigned index, const void *pointer,
                                         kiln_error *error);

/** @}
 * @name Queues
 * @{ */

/** Properties of a queue, as bits. */
enum {
  KILN_QUEUE_OUT_OF_ORDER = 1, /**< Commands may overtake each other; order them by events. */
  KILN_QUEUE_NO_PROFILING = 2  /**< Events have no time stamps. */
};

/** Options of a queue. Zeros in all members but `size` mean an in-order queue with profiling and
 * without hints. As for kiln_loader_options, shorter structs are accepted, and unknown options that
 * are set are not. */
typedef struct kiln_queue_options {
  size_t size;         /**< sizeof(kiln_queue_options) */
  unsigned flags;      /**< KILN_QUEUE_* bits; an unknown bit is #KILN_ERROR_ARGUMENT. */
  kiln_level priority; /**< cl_khr_priority_hints */
  kiln_level throttle; /**< cl_khr_throttle_hints: how many resources the queue may hold. */
  unsigned reserved;   /**< Zero, else #KILN_ERROR_ARGUMENT. */
} kiln_queue_options;

/** Creates a queue on the loader's device and context. NULL `options` are the defaults. An option
 * that the device does not support, or the driver refuses, is left out, which is not an error;
 * kiln_queue_hints() returns the hints that were applied. */
KILN_API kiln_status kiln_queue_create(kiln_loader *loader, const kiln_queue_options *options,
                                       kiln_queue **out, kiln_error *error);
/** Releases the handle; NULL does nothing. Enqueued commands are still executed. */
KILN_API void kiln_queue_release(kiln_queue *queue);
/** Returns the OpenCL queue; it is not retained for the caller. */
KILN_API cl_command_queue kiln_queue_cl(const kiln_queue *queue);
/** Returns the KILN_HINT_* bits that were asked for and applied. */
KILN_API unsigned kiln_queue_hints(const kiln_queue *queue);
/** Hands the enqueued commands to the device. Does not wait. */
KILN_API kiln_status kiln_queue_flush(kiln_queue *queue, kiln_error *error);
/** Waits until everything on the queue is done. */
KILN_API kiln_status kiln_queue_finish(kiln_queue *queue, kiln_error *error);

/** @}
 * @name Events
 * @{ */

/** Makes a kiln_event of the application's own event, which must belong to the loader's context and
 * is retained; `*event` is handled as for a command. */
KILN_API kiln_status kiln_event_from_cl(kiln_loader *loader, cl_event from, kiln_event **event,
                                        kiln_error *error);
/** Releases the handle; NULL does nothing. The command continues. */
KILN_API void kiln_event_release(kiln_event *event);
/** Returns the OpenCL event; it is not retained for the caller. */
KILN_API cl_event kiln_event_cl(const kiln_event *event);
/** Flushes the event's queue and waits. Fails with #KILN_ERROR_OPENCL if the command failed. */
KILN_API kiln_status kiln_event_wait(kiln_event *event, kiln_error *error);

/** The profiling time stamps of a command, in nanoseconds on the device's clock.
 * kiln_device_timers() of driver.h relates that clock to the host's. */
typedef struct kiln_times {
  uint64_t queued;   /**< Enqueued by the host. */
  uint64_t submit;   /**< Handed to the device. */
  uint64_t start;    /**< Began to execute. */
  uint64_t end;      /**< Done. */
  uint64_t complete; /**< Commands that it enqueued itself are done; `end` if not reported. */
} kiln_times;

/** Waits for the event and reads its time stamps. Fails with #KILN_ERROR_OPENCL if the queue has no
 * profiling. */
KILN_API kiln_status kiln_event_times(kiln_event *event, kiln_times *out, kiln_error *error);

/** Called by the driver, on any thread, possibly before kiln_event_set_callback() returns. `status`
 * is CL_COMPLETE, or negative for a command that failed. The function must not block: it must not
 * make an OpenCL call that waits or builds, nor release the last handle of any object. */
typedef void(CL_CALLBACK *kiln_event_function)(cl_event event, cl_int status, void *user);
/** Registers `function` to be called once when the event's command is done, so that no thread has
 * to wait. Does not flush: see kiln_queue_flush(). The event may be released or reused at once.
 * Fails with #KILN_ERROR_REQUIREMENT if the OpenCL library has no clSetEventCallback. */
KILN_API kiln_status kiln_event_set_callback(kiln_event *event, kiln_event_function function,
                                             void *user, kiln_error *error);

/** @}
 * @name Launches
 * @{ */

/** An NDRange. `global` counts work-items. If the device takes non-uniform work-groups and the
 * variant's options ask for OpenCL C 2.0 or later without -cl-uniform-work-group-size, exactly
 * these work-items are launched. Otherwise `global` is padded up to a multiple of the work-group
 * size, so a kernel must do nothing outside its range. An empty dimension is #KILN_ERROR_ARGUMENT.
 * The struct never grows. */
typedef struct kiln_ndrange {
  unsigned dimensions; /**< 1 to 3. */
  size_t global[3];    /**< Work-items; unused dimensions are 0 or 1. */
  /** Work-group size, always clamped to what the built kernel and the device allow. If `local[0]`
   * is 0, Kiln takes the size stored in the pack for ranges of this size, else the driver's
   * suggestion, else a size made from the vendor's number of adjacent threads or the kernel's
   * preferred multiple. A variant whose requirements name a range_multiple takes only its
   * multiples: another size given here is #KILN_ERROR_ARGUMENT. */
  size_t local[3];
  /** Offset of the global ids; zeros: none. A variant that requires no_global_offset refuses any
   * other offset. */
  size_t offset[3];
} kiln_ndrange;

/** Computes the work-group size that a launch of `range` would use, and the global size, padded if
 * the launch pads it; unused dimensions are 1. Calls no OpenCL: a driver that suggests sizes is
 * asked by the first launch of a class of ranges, and the plan knows its answer from then on. A
 * number of dimensions other than 1 to 3 and an empty dimension are #KILN_ERROR_ARGUMENT. `out` may
 * be `range`. */
KILN_API kiln_status kiln_kernel_plan(const kiln_kernel *kernel, const kiln_ndrange *range,
                                      kiln_ndrange *out, kiln_error *error);

/** Source of the work-group size of a launch. A size from any source is clamped. */
typedef enum kiln_local_source {
  KILN_LOCAL_DEVICE = 0,    /**< Measured on this device with this driver. */
  KILN_LOCAL_MODEL = 1,     /**< Measured on this model with another driver. */
  KILN_LOCAL_FAMILY = 2,    /**< Measured on a device of the same family. */
  KILN_LOCAL_VENDOR = 3,    /**< Measured on a device of the same vendor. */
  KILN_LOCAL_DEFAULT = 4,   /**< The pack's size for any device. */
  KILN_LOCAL_VARIANT = 5,   /**< The variant's own size, not measured. */
  KILN_LOCAL_GUESS = 6,     /**< Made from the kernel's preferred multiple. */
  KILN_LOCAL_RANGE = 7,     /**< Given with the range. */
  KILN_LOCAL_KERNEL = 8,    /**< The only size that the kernel takes (reqd_work_group_size). */
  KILN_LOCAL_SUGGESTED = 9, /**< Suggested by the driver (cl_khr_suggested_local_work_size). */
  KILN_LOCAL_PROFILE = 10 /**< Made from the vendor's number of adjacent threads for this model. */
} kiln_local_source;

/** Finds where the work-group size of a launch of `range` would come from. Fails as
 * kiln_kernel_plan() does. */
KILN_API kiln_status kiln_kernel_local_source(const kiln_kernel *kernel, const kiln_ndrange *range,
                                              kiln_local_source *out, kiln_error *error);
/** Returns why a launch of `range` does not use the size that the driver suggested, such as "the
 * driver suggests 512x4: at most 1024 work-items fit"; "" if there is nothing to say. Valid until
 * the kernel is launched again or released. */
KILN_API const char *kiln_kernel_suggestion_refused(const kiln_kernel *kernel,
                                                    const kiln_ndrange *range);
/** Enqueues the kernel with its current arguments; neither flushes nor waits. The arguments may be
 * changed at once. Fails with #KILN_ERROR_OPENCL if an argument was never set. */
KILN_API kiln_status kiln_launch(kiln_queue *queue, kiln_kernel *kernel, const kiln_ndrange *range,
                                 const kiln_event *const *wait, size_t wait_count,
                                 kiln_event **event, kiln_error *error);

/** @}
 * @name Memory
 * @{ */

/** How kernels and the host use a buffer or an image after creation, named from the kernel's point
 * of view. Any other number is #KILN_ERROR_ARGUMENT. */
typedef enum kiln_access {
  KILN_ACCESS_READ = 0,  /**< Kernels read, the host writes. */
  KILN_ACCESS_WRITE = 1, /**< Kernels write, the host reads. */
  KILN_ACCESS_BOTH = 2   /**< Both read and write. */
} kiln_access;

/** Creates a buffer of `size` bytes, at least 1, that the host reaches by mapping. Its contents are
 * undefined at first. If device and host share memory, the buffer is allocated so that mapping
 * copies nothing. */
KILN_API kiln_status kiln_buffer_create(kiln_loader *loader, size_t size, kiln_access access,
                                        kiln_buffer **out, kiln_error *error);
/** Creates a buffer over the application's memory. The memory must stay valid until the buffer is
 * released and no command uses it; it is for the device to use except while the buffer is mapped.
 * It is imported with cl_arm_import_memory if the device takes host memory that way, else used with
 * CL_MEM_USE_HOST_PTR.
 * @param loader the loader with the context.
 * @param memory its address must be a multiple of 4,096, else #KILN_ERROR_ARGUMENT.
 * @param size a multiple of 64, else #KILN_ERROR_ARGUMENT.
 * @param access access by the kernels.
 * @param out the buffer.
 * @param error why the buffer could not be made. */
KILN_API kiln_status kiln_buffer_from_host(kiln_loader *loader, void *memory, size_t size,
                                           kiln_access access, kiln_buffer **out,
                                           kiln_error *error);
/** Makes a kiln_buffer of the application's own buffer or sub-buffer, which must belong to the
 * loader's context; it is retained. */
KILN_API kiln_status kiln_buffer_from_cl(kiln_loader *loader, cl_mem from, kiln_access access,
                                         kiln_buffer **out, kiln_error *error);
/** Releases the handle; NULL does nothing. Enqueued commands keep the memory alive. */
KILN_API void kiln_buffer_release(kiln_buffer *buffer);
/** Returns the OpenCL buffer; it is not retained for the caller. */
KILN_API cl_mem kiln_buffer_cl(const kiln_buffer *buffer);
/** Returns 1 if mapping copies nothing, by the device and the rules of alignment; 0 if it may copy,
 * and for a buffer that the application made itself. */
KILN_API int kiln_buffer_zero_copy(const kiln_buffer *buffer);
/** Waits, then hands the whole buffer to the host until it is unmapped: on an in-order queue, all
 * earlier commands are done. `*out` gets the address. Fails with #KILN_ERROR_ARGUMENT if the buffer
 * is already mapped. */
KILN_API kiln_status kiln_buffer_map(kiln_queue *queue, kiln_buffer *buffer, void **out,
                                     kiln_error *error);
/** Hands the buffer back to the device, without waiting. Fails with #KILN_ERROR_ARGUMENT if the
 * buffer is not mapped. */
KILN_API kiln_status kiln_buffer_unmap(kiln_queue *queue, kiln_buffer *buffer, kiln_error *error);
/** Maps without waiting: `*out` gets the address at once, and the host may use it when the event is
 * complete. Fails with #KILN_ERROR_ARGUMENT if the buffer is already mapped, or its map is not
 * complete yet. */
KILN_API kiln_status kiln_buffer_map_async(kiln_queue *queue, kiln_buffer *buffer,
                                           const kiln_event *const *wait, size_t wait_count,
                                           void **out, kiln_event **event, kiln_error *error);
/** Unmaps after the events in `wait`, and gives an event. Fails with #KILN_ERROR_ARGUMENT if the
 * buffer is not mapped. */
KILN_API kiln_status kiln_buffer_unmap_async(kiln_queue *queue, kiln_buffer *buffer,
                                             const kiln_event *const *wait, size_t wait_count,
                                             kiln_event **event, kiln_error *error);

/** Creates a 2D image of `width` times `height` pixels with 8-bit normalised channels
 * (CL_UNORM_INT8). `channels` is 1 for CL_R, 2 for CL_RG or 4 for CL_RGBA; other numbers are
 * #KILN_ERROR_ARGUMENT. The driver checks the size: 0, more than CL_DEVICE_IMAGE2D_MAX_WIDTH or
 * CL_DEVICE_IMAGE2D_MAX_HEIGHT, and a device without images or without the format are
 * #KILN_ERROR_OPENCL. */
KILN_API kiln_status kiln_image_create(kiln_loader *loader, size_t width, size_t height,
                                       unsigned channels, kiln_access access, kiln_image **out,
                                       kiln_error *error);
/** Makes a kiln_image of the application's own image of any kind and format, as
 * kiln_buffer_from_cl() does: 1D, 2D and 3D images, arrays, and images of a buffer. */
KILN_API kiln_status kiln_image_from_cl(kiln_loader *loader, cl_mem from, kiln_access access,
                                        kiln_image **out, kiln_error *error);
/** Releases the handle; NULL does nothing. Enqueued commands keep the memory alive. */
KILN_API void kiln_image_release(kiln_image *image);
/** Returns the OpenCL image; it is not retained for the caller. */
KILN_API cl_mem kiln_image_cl(const kiln_image *image);
/** Maps as kiln_buffer_map() does; `*row_pitch` gets the distance between rows in bytes. An image
 * that is not 2D is #KILN_ERROR_ARGUMENT: "Kiln maps no image3d_t". */
KILN_API kiln_status kiln_image_map(kiln_queue *queue, kiln_image *image, void **out,
                                    size_t *row_pitch, kiln_error *error);
/** Unmaps as kiln_buffer_unmap() does. */
KILN_API kiln_status kiln_image_unmap(kiln_queue *queue, kiln_image *image, kiln_error *error);
/** Maps as kiln_buffer_map_async() does; `*row_pitch` is as for kiln_image_map(). */
KILN_API kiln_status kiln_image_map_async(kiln_queue *queue, kiln_image *image,
                                          const kiln_event *const *wait, size_t wait_count,
                                          void **out, size_t *row_pitch, kiln_event **event,
                                          kiln_error *error);
/** Unmaps as kiln_buffer_unmap_async() does. */
KILN_API kiln_status kiln_image_unmap_async(kiln_queue *queue, kiln_image *image,
                                            const kiln_event *const *wait, size_t wait_count,
                                            kiln_event **event, kiln_error *error);

/** @} */

#ifdef __cplusplus
}
#endif

#endif /* KILN_LAUNCH_H */
