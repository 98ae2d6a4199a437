/* SPDX-License-Identifier: Apache-2.0 */
/* What loading costs without Kiln:
 *
 *     loads FILE...
 *
 * Each file is a binary for the first device. Prints the milliseconds that they took together, from
 * the files' bytes to built programs. Exit codes: 0, 1 a call failed, 77 no device. */
#include <time.h>

#include "first_device.h"

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return 1e3 * (double)time.tv_sec + 1e-6 * (double)time.tv_nsec;
}

static unsigned char *read_file(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  unsigned char *bytes = NULL;
  if (file != NULL && fseek(file, 0, SEEK_END) == 0) {
    *size = (size_t)ftell(file);
    bytes = malloc(*size + 1);
    rewind(file);
    if (bytes != NULL && fread(bytes, 1, *size, file) != *size) {
      *size = 0;
    }
  }
  if (file != NULL) {
    fclose(file);
  }
  return bytes;
}

/* Milliseconds; less than 0 where a call failed. */
static double load(cl_context context, cl_device_id device, const char *path) {
  size_t size = 0;
  unsigned char *bytes = read_file(path, &size);
  const unsigned char *binary = bytes;
  const double start = now();
  cl_int code, status;
  cl_program program =
      clCreateProgramWithBinary(context, 1, &device, &size, &binary, &status, &code);
  if (program == NULL || clBuildProgram(program, 1, &device, "", NULL, NULL)) {
    return -1;
  }
  free(bytes);
  return now() - start;
}

int main(int count, char **words) {
  cl_device_id device;
  cl_context context;
  cl_int code;
  double all = 0;
  int i;
  device = first_device();
  context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
  for (i = 1; context != NULL && i < count; ++i) {
    const double took = load(context, device, words[i]);
    if (took < 0) {
      return 1;
    }
    all += took;
  }
  printf("%.3f\n", all);
  return context == NULL;
}
