/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 * What an application may ask of a driver besides loading and launching: to let go of its compiler,
 * to run faster or slower, to tell its time. The conventions of kiln.h hold here. */
#ifndef KILN_DRIVER_H
#define KILN_DRIVER_H

#include "kiln/kiln.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What kiln_loader_unload_compiler() did. */
typedef enum kiln_unload {
  KILN_UNLOAD_CALLED = 0, /**< The driver was asked, and reported success. */
  KILN_UNLOAD_NOT_NEEDED =
      1,                   /**< Not asked: the driver compiled nothing that this loader loaded. */
  KILN_UNLOAD_BUSY = 2,    /**< Not asked: a thread is loading or compiling through Kiln. */
  KILN_UNLOAD_NO_CALL = 3, /**< Not asked: the device or the library is older than OpenCL 1.2. */
  KILN_UNLOAD_QUARANTINED = 4 /**< Not asked: an earlier process died or hung in this call. */
} kiln_unload;

/** Asks the driver to release the memory of its compiler (clUnloadPlatformCompiler), after loads
 * that compiled. It is a hint: a driver may release nothing, and it loads its compiler again when
 * something is compiled again. Programs, kernels and queues stay valid.
 *
 * Kiln never does this by itself, since the compiler is that of the whole process: a driver may
 * fail if another thread or library is compiling at that time. Loads of Kiln's own are kept out
 * during the call. The application ensures that no other code builds a program, and that no kernel
 * is launched for the first time, which is when some drivers compile. So call it when the first
 * results are there, and after kiln_loader_finish().
 *
 * With an overlay a marker is on disk during the call until the driver has survived it once. The
 * notice #KILN_NOTICE_UNLOADED tells of each call, and the reports of later loads have a note.
 * @param loader whose device's platform is meant.
 * @param out what was done; written unless an argument was NULL.
 * @param error #KILN_ERROR_OPENCL if the driver refused; then `*out` is #KILN_UNLOAD_CALLED. */
KILN_API kiln_status kiln_loader_unload_compiler(kiln_loader *loader, kiln_unload *out,
                                                 kiln_error *error);

/** Changes the performance level of the loader's context (clSetPerfHintQCOM), at any time, for all
 * queues of it: for work that may be slow, low saves power. kiln_loader_options.performance is the
 * level that Kiln's own context begins with; without one it is the driver's default, high.
 * @param loader whose context, be it Kiln's or the application's.
 * @param level low, medium or high; any other number is #KILN_ERROR_ARGUMENT.
 * @param error #KILN_ERROR_REQUIREMENT if the device lacks cl_qcom_perf_hint. */
KILN_API kiln_status kiln_loader_set_performance(kiln_loader *loader, kiln_level level,
                                                 kiln_error *error);

/** Two clocks at one time, in nanoseconds. The struct never grows. */
typedef struct kiln_timers {
  uint64_t device; /**< The clock that kiln_times are of. */
  uint64_t host;   /**< The host's clock as OpenCL tells it (clGetHostTimer). */
} kiln_timers;

/** Reads both clocks (clGetDeviceAndHostTimer), so that the times of commands can be told in the
 * host's. #KILN_ERROR_REQUIREMENT if the device is older than OpenCL 2.1 or its platform has no
 * host timer. */
KILN_API kiln_status kiln_device_timers(kiln_device *device, kiln_timers *out, kiln_error *error);

#ifdef __cplusplus
}
#endif

#endif /* KILN_DRIVER_H */
