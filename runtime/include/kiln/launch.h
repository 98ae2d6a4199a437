/* Kernels, queues, events, launches and memory: the second half of kiln.h, which includes it and
 * whose conventions hold here.
 *
 * Nothing here waits, except what says so. A launch, a map or a run of a sequence takes the
 * events that it has to wait for and gives an event of its own:
 *   wait, wait_count  at most KILN_MAX_WAITS events of the same context; NULL and 0 for none.
 *   event             NULL: none is wanted. `*event` NULL: a new one is made, for the caller
 *                     to release. Otherwise `*event` is used again: it lets go of the command
 *                     that it stood for and stands for the new one, so that a program that
 *                     launches for ever allocates nothing. Untouched on failure. An event is
 *                     for one thread at a time while it is being used again.
 * Commands are handed to the device when the driver likes, at kiln_queue_flush, and at the
 * latest when something is waited for on the same queue. Flush before another queue, thread
 * or process waits for an event.
 * Queue, kernel, memory and events of one call must be of one context and, but for events, of
 * one device; else KILN_ERROR_ARGUMENT. */
#ifndef KILN_LAUNCH_H
#define KILN_LAUNCH_H

#include "kiln/kiln.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kiln_sequence kiln_sequence; /* recorded launches */

enum { KILN_MAX_WAITS = 64 };

/* Types of values, as OpenCL C names them. */
typedef enum kiln_type {
  KILN_TYPE_UCHAR = 0,
  KILN_TYPE_USHORT = 1,
  KILN_TYPE_UINT = 2,
  KILN_TYPE_INT = 3,
  KILN_TYPE_FLOAT = 4,
  KILN_TYPE_HALF = 5,
  KILN_TYPE_CHAR = 6,
  KILN_TYPE_SHORT = 7,
  KILN_TYPE_LONG = 8,
  KILN_TYPE_ULONG = 9,
  KILN_TYPE_DOUBLE = 10
} kiln_type;

/* A kernel of the program by entry point name; NULL takes the variant's first. */
KILN_API kiln_status kiln_kernel_create(kiln_program *program, const char *name, kiln_kernel **out,
                                        kiln_error *error);
KILN_API void kiln_kernel_release(kiln_kernel *kernel);
KILN_API cl_kernel kiln_kernel_cl(const kiln_kernel *kernel);
KILN_API kiln_status kiln_kernel_set_value(kiln_kernel *kernel, unsigned index, const void *value,
                                           size_t size, kiln_error *error);
/* A scalar, or a vector of 2, 3, 4, 8 or 16 components, of which `value` holds just as many. Where
 * the pack knows the argument's type, that of a manifest with arguments, any other is
 * KILN_ERROR_ARGUMENT; nothing is converted. */
KILN_API kiln_status kiln_kernel_set_typed(kiln_kernel *kernel, unsigned index, kiln_type type,
                                           unsigned components, const void *value,
                                           kiln_error *error);
KILN_API kiln_status kiln_kernel_set_buffer(kiln_kernel *kernel, unsigned index,
                                            kiln_buffer *buffer, kiln_error *error);
KILN_API kiln_status kiln_kernel_set_image(kiln_kernel *kernel, unsigned index, kiln_image *image,
                                           kiln_error *error);

/* Queues. */

enum {
  KILN_QUEUE_OUT_OF_ORDER = 1,
  KILN_QUEUE_NO_PROFILING = 2 /* events have no time stamps */
};

/* Zero everywhere but in `size` is an in-order queue with profiling, without hints. */
typedef struct kiln_queue_options {
  size_t size;         /* sizeof(kiln_queue_options), so that fields can be appended */
  unsigned flags;      /* KILN_QUEUE_* bits */
  kiln_level priority; /* cl_khr_priority_hints */
  kiln_level throttle; /* cl_khr_throttle_hints: how many resources the queue may hold */
  unsigned reserved;   /* zero */
} kiln_queue_options;

/* `options` NULL is the default. What the device does not support, or the driver refuses, is
 * left out, and kiln_queue_hints tells; it is not an error. */
KILN_API kiln_status kiln_queue_create(kiln_loader *loader, const kiln_queue_options *options,
                                       kiln_queue **out, kiln_error *error);
KILN_API void kiln_queue_release(kiln_queue *queue);
KILN_API cl_command_queue kiln_queue_cl(const kiln_queue *queue);
KILN_API unsigned kiln_queue_hints(const kiln_queue *queue);
KILN_API kiln_status kiln_queue_flush(kiln_queue *queue, kiln_error *error);
/* Waits until everything on the queue is done. */
KILN_API kiln_status kiln_queue_finish(kiln_queue *queue, kiln_error *error);

/* Events. */

/* Stands for an event of the application's, which is retained; `*event` as above. */
KILN_API kiln_status kiln_event_from_cl(kiln_loader *loader, cl_event from, kiln_event **event,
                                        kiln_error *error);
KILN_API void kiln_event_release(kiln_event *event);
KILN_API cl_event kiln_event_cl(const kiln_event *event);
/* Flushes the event's queue and waits. */
KILN_API kiln_status kiln_event_wait(kiln_event *event, kiln_error *error);

/* The four profiling time stamps of a command on the device's clock. */
typedef struct kiln_times {
  uint64_t queued;
  uint64_t submit;
  uint64_t start;
  uint64_t end;
} kiln_times;

/* Waits first. */
KILN_API kiln_status kiln_event_times(kiln_event *event, kiln_times *out, kiln_error *error);

/* Launches. */

/* `global` counts work-items. Where the device takes non-uniform work-groups and the variant's
 * options ask for OpenCL C 2.0 or later without -cl-uniform-work-group-size, just these are
 * launched; else `global` is padded up to a multiple of the work-group size. So a kernel must
 * do nothing outside of its range. `local[0]` 0: the size stored in the pack for ranges of this
 * size, else one made from the kernel's preferred multiple. A size is always clamped to what
 * the built kernel and the device allow. Unused dimensions are 0 or 1. */
typedef struct kiln_ndrange {
  unsigned dimensions; /* 1 to 3 */
  size_t global[3];
  size_t local[3];
} kiln_ndrange;

/* The work-group size that a launch of `range` would use, and the global size. */
KILN_API kiln_status kiln_kernel_plan(const kiln_kernel *kernel, const kiln_ndrange *range,
                                      kiln_ndrange *out, kiln_error *error);

/* Where the work-group size of a launch comes from. Whatever it is, it was clamped. */
typedef enum kiln_local_source {
  KILN_LOCAL_DEVICE = 0,  /* measured on this device with this driver */
  KILN_LOCAL_MODEL = 1,   /* measured on this model with another driver */
  KILN_LOCAL_FAMILY = 2,  /* measured on a device of the same family */
  KILN_LOCAL_VENDOR = 3,  /* measured on a device of the same vendor */
  KILN_LOCAL_DEFAULT = 4, /* the pack's for any device */
  KILN_LOCAL_VARIANT = 5, /* the variant's own, not measured */
  KILN_LOCAL_GUESS = 6,   /* made from the kernel's preferred multiple */
  KILN_LOCAL_RANGE = 7,   /* given with the range */
  KILN_LOCAL_KERNEL = 8   /* the only one that the kernel takes (reqd_work_group_size) */
} kiln_local_source;

KILN_API kiln_status kiln_kernel_local_source(const kiln_kernel *kernel, const kiln_ndrange *range,
                                              kiln_local_source *out, kiln_error *error);
/* Enqueues; neither flushes nor waits. */
KILN_API kiln_status kiln_launch(kiln_queue *queue, kiln_kernel *kernel, const kiln_ndrange *range,
                                 const kiln_event *const *wait, size_t wait_count,
                                 kiln_event **event, kiln_error *error);

/* Sequences: launches that are recorded once and run often. One thread at a time. */

/* How a sequence runs. */
typedef enum kiln_recording {
  KILN_RECORDING_NONE = 0,            /* as so many launches */
  KILN_RECORDING_COMMAND_BUFFER = 1,  /* cl_khr_command_buffer 0.9 */
  KILN_RECORDING_RECORDABLE_QUEUE = 2 /* cl_qcom_recordable_queues */
} kiln_recording;

/* Begins a sequence that will run on `queue`, which must be in order. */
KILN_API kiln_status kiln_sequence_begin(kiln_queue *queue, kiln_sequence **out, kiln_error *error);
/* Adds a launch with the kernel's arguments as they are now; the buffers and images among them
 * are retained. Every argument must have been set through Kiln. The global size is padded. */
KILN_API kiln_status kiln_sequence_add(kiln_sequence *sequence, kiln_kernel *kernel,
                                       const kiln_ndrange *range, kiln_error *error);
/* Ends the recording; a sequence has at least one launch. Whatever the driver cannot record
 * runs as launches, and kiln_sequence_reason says why. */
KILN_API kiln_status kiln_sequence_end(kiln_sequence *sequence, kiln_error *error);
/* Enqueues the launches, each after the one before it. It may be called again at once. The time
 * stamps of the event are those of the last launch with KILN_RECORDING_NONE, else of all. */
KILN_API kiln_status kiln_sequence_run(kiln_sequence *sequence, const kiln_event *const *wait,
                                       size_t wait_count, kiln_event **event, kiln_error *error);
KILN_API void kiln_sequence_release(kiln_sequence *sequence);
KILN_API kiln_recording kiln_sequence_kind(const kiln_sequence *sequence);
/* Why better ways of recording are not used; empty when the best is. */
KILN_API const char *kiln_sequence_reason(const kiln_sequence *sequence);

/* Memory. */

/* How the host uses a buffer or an image after creation; `access` is the kernels' side. */
typedef enum kiln_access {
  KILN_ACCESS_READ = 0,  /* kernels read, the host writes */
  KILN_ACCESS_WRITE = 1, /* kernels write, the host reads */
  KILN_ACCESS_BOTH = 2
} kiln_access;

/* Memory that the host reaches by mapping. Where device and host share memory it is
 * allocated so that mapping copies nothing. */
KILN_API kiln_status kiln_buffer_create(kiln_loader *loader, size_t size, kiln_access access,
                                        kiln_buffer **out, kiln_error *error);
/* A buffer over the application's memory, which stays valid until the buffer is released and
 * is the device's to use except while the buffer is mapped. `memory` is a multiple of 4096 and
 * `size` of 64, else KILN_ERROR_ARGUMENT. Imported with cl_arm_import_memory where the device
 * takes host memory that way, else made with CL_MEM_USE_HOST_PTR. */
KILN_API kiln_status kiln_buffer_from_host(kiln_loader *loader, void *memory, size_t size,
                                           kiln_access access, kiln_buffer **out,
                                           kiln_error *error);
/* Stands for a buffer of the application's, of the loader's context; it is retained. */
KILN_API kiln_status kiln_buffer_from_cl(kiln_loader *loader, cl_mem from, kiln_access access,
                                         kiln_buffer **out, kiln_error *error);
KILN_API void kiln_buffer_release(kiln_buffer *buffer);
KILN_API cl_mem kiln_buffer_cl(const kiln_buffer *buffer);
/* 1 where mapping copies nothing, as far as device and rules of alignment say; 0 where it may,
 * and for a buffer of the application's that Kiln knows nothing of. */
KILN_API int kiln_buffer_zero_copy(const kiln_buffer *buffer);
/* Waits, then hands the whole buffer to the host until unmapped: in order, all that was
 * enqueued before is done. Unmapping does not wait. */
KILN_API kiln_status kiln_buffer_map(kiln_queue *queue, kiln_buffer *buffer, void **out,
                                     kiln_error *error);
KILN_API kiln_status kiln_buffer_unmap(kiln_queue *queue, kiln_buffer *buffer, kiln_error *error);
/* The same without waiting: the host may touch `*out` once the event is complete. */
KILN_API kiln_status kiln_buffer_map_async(kiln_queue *queue, kiln_buffer *buffer,
                                           const kiln_event *const *wait, size_t wait_count,
                                           void **out, kiln_event **event, kiln_error *error);
KILN_API kiln_status kiln_buffer_unmap_async(kiln_queue *queue, kiln_buffer *buffer,
                                             const kiln_event *const *wait, size_t wait_count,
                                             kiln_event **event, kiln_error *error);

/* A 2D image of 8-bit normalised channels (CL_UNORM_INT8): 1 CL_R, 2 CL_RG, 4 CL_RGBA. */
KILN_API kiln_status kiln_image_create(kiln_loader *loader, size_t width, size_t height,
                                       unsigned channels, kiln_access access, kiln_image **out,
                                       kiln_error *error);
/* Stands for a 2D image of the application's of any format; as kiln_buffer_from_cl. */
KILN_API kiln_status kiln_image_from_cl(kiln_loader *loader, cl_mem from, kiln_access access,
                                        kiln_image **out, kiln_error *error);
KILN_API void kiln_image_release(kiln_image *image);
KILN_API cl_mem kiln_image_cl(const kiln_image *image);
/* As for buffers; `row_pitch` is the distance between rows in bytes. */
KILN_API kiln_status kiln_image_map(kiln_queue *queue, kiln_image *image, void **out,
                                    size_t *row_pitch, kiln_error *error);
KILN_API kiln_status kiln_image_unmap(kiln_queue *queue, kiln_image *image, kiln_error *error);
KILN_API kiln_status kiln_image_map_async(kiln_queue *queue, kiln_image *image,
                                          const kiln_event *const *wait, size_t wait_count,
                                          void **out, size_t *row_pitch, kiln_event **event,
                                          kiln_error *error);
KILN_API kiln_status kiln_image_unmap_async(kiln_queue *queue, kiln_image *image,
                                            const kiln_event *const *wait, size_t wait_count,
                                            kiln_event **event, kiln_error *error);

#ifdef __cplusplus
}
#endif

#endif /* KILN_LAUNCH_H */
