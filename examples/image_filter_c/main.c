/* SPDX-License-Identifier: Apache-2.0 */
/* Sharpens an image on the first OpenCL device, by a kernel from the pack inside this program. */
#include <kiln/kiln.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernels.h" /* kiln_add_pack() writes it */

enum { WIDTH = 640, HEIGHT = 480, SIZE = WIDTH * HEIGHT };

static void check(kiln_status status, const kiln_error *error) {
  if (status == KILN_OK) return;
  fprintf(stderr, "%s\n", error->message);
  exit(1);
}

static int clamp(int value, int low, int high) {
  return value < low ? low : value > high ? high : value;
}

static int pixel(const unsigned char *image, int x, int y) {
  return image[clamp(y, 0, HEIGHT - 1) * WIDTH + clamp(x, 0, WIDTH - 1)];
}

static int sharpened(const unsigned char *image, int x, int y) {
  const int around = pixel(image, x - 1, y) + pixel(image, x + 1, y) + pixel(image, x, y - 1) +
                     pixel(image, x, y + 1);
  return clamp(5 * pixel(image, x, y) - around, 0, 255);
}

int main(void) {
  static unsigned char image[SIZE];
  const int width = WIDTH, height = HEIGHT;
  const kiln_ndrange range = {2, {WIDTH, HEIGHT}, {0}, {0}};
  kiln_error e;
  kiln_opencl *opencl;
  kiln_device *device;
  kiln_pack *pack;
  kiln_loader *loader;
  kiln_program *program;
  kiln_report *report;
  kiln_kernel *kernel;
  kiln_queue *queue;
  kiln_buffer *source, *result;
  void *mapped;
  int i, wrong = 0;

  check(kiln_opencl_open(NULL, 0, &opencl, &e), &e);
  check(kiln_device_open(opencl, 0, &device, &e), &e);
  check(kiln_pack_open_memory(kernels_data, kernels_size, &pack, &e), &e);
  check(kiln_loader_create(device, pack, NULL, &loader, &e), &e);
  check(kiln_load(loader, "sharpen", NULL, 0, &program, &report, &e), &e);
  puts(kiln_report_json(report)); /* what was loaded, and why nothing better */
  check(kiln_kernel_create(program, "sharpen", &kernel, &e), &e);
  check(kiln_queue_create(loader, NULL, &queue, &e), &e);
  check(kiln_buffer_create(loader, SIZE, KILN_ACCESS_READ, &source, &e), &e);
  check(kiln_buffer_create(loader, SIZE, KILN_ACCESS_WRITE, &result, &e), &e);

  check(kiln_buffer_map(queue, source, &mapped, &e), &e);
  for (i = 0; i < SIZE; ++i)
    image[i] = ((unsigned char *)mapped)[i] = (unsigned char)(i * i / WIDTH);
  check(kiln_buffer_unmap(queue, source, &e), &e);

  check(kiln_kernel_set_buffer(kernel, 0, source, &e), &e);
  check(kiln_kernel_set_buffer(kernel, 1, result, &e), &e);
  check(kiln_kernel_set_typed(kernel, 2, KILN_TYPE_INT, 1, &width, &e), &e);
  check(kiln_kernel_set_typed(kernel, 3, KILN_TYPE_INT, 1, &height, &e), &e);
  check(kiln_launch(queue, kernel, &range, NULL, 0, NULL, &e), &e);

  check(kiln_buffer_map(queue, result, &mapped, &e), &e); /* waits */
  for (i = 0; i < SIZE; ++i)
    wrong += ((unsigned char *)mapped)[i] != sharpened(image, i % WIDTH, i / WIDTH);
  check(kiln_buffer_unmap(queue, result, &e), &e);
  printf("sharpened %dx%d pixels, %d wrong\n", WIDTH, HEIGHT, wrong);

  kiln_buffer_release(source), kiln_buffer_release(result), kiln_kernel_release(kernel);
  kiln_queue_release(queue), kiln_program_release(program), kiln_report_release(report);
  kiln_loader_release(loader), kiln_pack_release(pack), kiln_device_release(device);
  kiln_opencl_release(opencl);
  return wrong != 0;
}
