/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 * Requests to a driver besides loading and launching: unload its compiler, run faster or slower,
 * read its clock. The conventions of kiln.h hold here. */
#ifndef KILN_DRIVER_H
#define KILN_DRIVER_H

#include "kiln/kiln.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Result of kiln_loader_unload_compiler(). */
typedef enum kiln_unload {
  KILN_UNLOAD_CALLED = 0, /**< The driver was asked, and reported success. */
  KILN_UNLOAD_NOT_NEEDED =
      1,                   /**< Not asked: the driver compiled nothing that this loader loaded. */
  KILN_UNLOAD_BUSY = 2,    /**< Not asked: a thread is loading or compiling through Kiln. */
  KILN_UNLOAD_NO_CALL = 3, /**< Not asked: the device or the library is older than OpenCL 1.2. */
  KILN_UNLOAD_QUARANTINED = 4 /**< Not asked: an earlier process died or hung in this call. */
} kiln_unload;

/** Asks the driver to release the memory of its compiler (clUnloadPlatformCompiler), after loads
 * that compiled. This is a hint: a driver may release nothing, and it loads its compiler again at
 * the next compilation. Programs, kernels and queues stay valid.
 *
 * Kiln never does this by itself, since the whole process shares the compiler: a driver may fail if
 * another thread or library is compiling at that time. Kiln's own loads wait during the call. The
 * application must ensure that no other code builds a program and that no kernel is launched for
 * the first time, since some drivers compile then. So call it when the first results are there,
 * after kiln_loader_finish().
 *
 * With an overlay, a marker is on disk during the call until the driver has survived the call once.
 * Each call gives the notice #KILN_NOTICE_UNLOADED, and the reports of later loads have a note.
 * @param loader the loader whose device's platform is asked.
 * @param out the result; written unless an argument was NULL.
 * @param error #KILN_ERROR_OPENCL if the driver refused; then `*out` is #KILN_UNLOAD_CALLED. */
KILN_API kiln_status kiln_loader_unload_compiler(kiln_loader *loader, kiln_unload *out,
                                                 kiln_error *error);

/** Changes the performance level of the loader's context (clSetPerfHintQCOM), at any time, for all
 * its queues: a low level saves power for work that may be slow. kiln_loader_options.performance
 * sets the first level of a context that Kiln makes; without it the first level is the driver's
 * default, high.
 * @param loader the loader whose context is changed, Kiln's or the application's.
 * @param level low, medium or high; any other number is #KILN_ERROR_ARGUMENT.
 * @param error #KILN_ERROR_REQUIREMENT if the device lacks cl_qcom_perf_hint. */
KILN_API kiln_status kiln_loader_set_performance(kiln_loader *loader, kiln_level level,
                                                 kiln_error *error);

/** Two clocks at one time, in nanoseconds. The struct never grows. */
typedef struct kiln_timers {
  uint64_t device; /**< The device's clock, as in kiln_times. */
  uint64_t host;   /**< The host's clock as OpenCL reports it (clGetHostTimer). */
} kiln_timers;

/** Reads both clocks (clGetDeviceAndHostTimer), so that the times of commands can be converted to
 * host time. Fails with #KILN_ERROR_REQUIREMENT if the device is older than OpenCL 2.1 or its
 * platform has no host timer. */
KILN_API kiln_status kiln_device_timers(kiln_device *device, kiln_timers *out, kiln_error *error);

#ifdef __cplusplus
}
#endif

#endif /* KILN_DRIVER_H */
