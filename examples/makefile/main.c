/* SPDX-License-Identifier: Apache-2.0 */
/* y = 2 x + y on the first OpenCL device, by a kernel from the pack that is named. */
#include <kiln/kiln.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 100000, SIZE = COUNT * sizeof(float) };

static void check(kiln_status status, const kiln_error *error) {
  if (status == KILN_OK) return;
  fprintf(stderr, "%s\n", error->message);
  exit(1);
}

int main(int argc, char **argv) {
  const kiln_ndrange range = {1, {COUNT}, {0}, {0}};
  const float a = 2;
  const unsigned count = COUNT;
  kiln_error e;
  kiln_opencl *opencl;
  kiln_device *device;
  kiln_pack *pack;
  kiln_loader *loader;
  kiln_program *program;
  kiln_kernel *kernel;
  kiln_queue *queue;
  kiln_buffer *x, *y;
  void *xs, *ys;
  unsigned i, wrong = 0;

  if (argc != 2) return fprintf(stderr, "usage: saxpy PACK\n"), 2;
  check(kiln_opencl_open(NULL, 0, &opencl, &e), &e);
  check(kiln_device_open(opencl, 0, &device, &e), &e);
  check(kiln_pack_open_file(argv[1], &pack, &e), &e);
  check(kiln_loader_create(device, pack, NULL, &loader, &e), &e);
  check(kiln_load(loader, "saxpy", NULL, 0, &program, NULL, &e), &e);
  check(kiln_kernel_create(program, "saxpy", &kernel, &e), &e);
  check(kiln_queue_create(loader, NULL, &queue, &e), &e);
  check(kiln_buffer_create(loader, SIZE, KILN_ACCESS_READ, &x, &e), &e);
  check(kiln_buffer_create(loader, SIZE, KILN_ACCESS_BOTH, &y, &e), &e);

  check(kiln_buffer_map(queue, x, &xs, &e), &e);
  check(kiln_buffer_map(queue, y, &ys, &e), &e);
  for (i = 0; i < COUNT; ++i) ((float *)xs)[i] = (float)i, ((float *)ys)[i] = 1;
  check(kiln_buffer_unmap(queue, x, &e), &e);
  check(kiln_buffer_unmap(queue, y, &e), &e);

  check(kiln_kernel_set_typed(kernel, 0, KILN_TYPE_FLOAT, 1, &a, &e), &e);
  check(kiln_kernel_set_buffer(kernel, 1, x, &e), &e);
  check(kiln_kernel_set_buffer(kernel, 2, y, &e), &e);
  check(kiln_kernel_set_typed(kernel, 3, KILN_TYPE_UINT, 1, &count, &e), &e);
  check(kiln_launch(queue, kernel, &range, NULL, 0, NULL, &e), &e);

  check(kiln_buffer_map(queue, y, &ys, &e), &e); /* waits */
  for (i = 0; i < COUNT; ++i) wrong += ((float *)ys)[i] != a * (float)i + 1;
  check(kiln_buffer_unmap(queue, y, &e), &e);
  printf("%u numbers, %u wrong\n", count, wrong);

  kiln_buffer_release(x), kiln_buffer_release(y), kiln_queue_release(queue);
  kiln_kernel_release(kernel), kiln_program_release(program), kiln_loader_release(loader);
  kiln_pack_release(pack), kiln_device_release(device), kiln_opencl_release(opencl);
  return wrong != 0;
}
