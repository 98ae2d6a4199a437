/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting until a driver has released the kernels of commands that are over. */
#pragma once

#include <CL/cl.h>
#include <time.h>

static cl_uint references_of(cl_kernel kernel) {
  cl_uint references = 0;
  clGetKernelInfo(kernel, CL_KERNEL_REFERENCE_COUNT, sizeof(references), &references, NULL);
  return references;
}

/* PoCL ends a command before it releases the command's kernel, and refuses to build the kernel's
 * program until then. Waits at most a second for the count before the command. */
static void wait_for_commands(cl_kernel kernel, cl_uint references) {
  int i;
  for (i = 0; i < 1000 && references_of(kernel) > references; ++i) {
    const struct timespec pause = {0, 1000000};
    nanosleep(&pause, NULL);
  }
}
