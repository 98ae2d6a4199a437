/* SPDX-License-Identifier: Apache-2.0 */
/* The C API of sequences and imports from C: pinned numbers, and wrong arguments to every function.
 * With the path of runtime.kiln also on a device, where handles go to and fro between the runtime
 * and libkiln_launch; 77 where there is no device. */
#include "tests/runtime/api/c_check.h"

#include "kiln/import.h"
#include "kiln/sequence.h"

_Static_assert(KILN_RECORDING_NONE == 0 && KILN_RECORDING_COMMAND_BUFFER == 1, "recording");
_Static_assert(KILN_RECORDING_RECORDABLE_QUEUE == 2, "recording");
_Static_assert(KILN_HOST_CACHE_NONE == 0 && KILN_HOST_CACHE_WRITEBACK == 1, "host cache");
_Static_assert(KILN_HOST_CACHE_COHERENT == 2, "host cache");
_Static_assert(KILN_PLANE_NONE == 0 && KILN_PLANE_LUMA == 1 && KILN_PLANE_CHROMA == 2, "plane");
_Static_assert(offsetof(kiln_import_options, size) == 0, "layout");
_Static_assert(offsetof(kiln_image_layout, size) == 0, "layout");

static void test_null_alone(void) {
  kiln_sequence_release(NULL);
  CHECK(kiln_sequence_kind(NULL) == KILN_RECORDING_NONE);
  CHECK(kiln_sequence_reason(NULL) == NULL);
}

static void test_null_for_sequences(void) {
  kiln_error e;
  kiln_sequence *sequence = NULL;
  kiln_ndrange range = {1, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}};
  kiln_event *event = NULL;
  REFUSED(kiln_sequence_begin(NULL, &sequence, &e), "kiln_sequence_begin");
  REFUSED(kiln_sequence_begin(SOME(kiln_queue), NULL, &e), "kiln_sequence_begin");
  REFUSED(kiln_sequence_add(NULL, SOME(kiln_kernel), &range, &e), "kiln_sequence_add");
  REFUSED(kiln_sequence_add(SOME(kiln_sequence), NULL, &range, &e), "kiln_sequence_add");
  REFUSED(kiln_sequence_add(SOME(kiln_sequence), SOME(kiln_kernel), NULL, &e), "kiln_sequence_add");
  REFUSED(kiln_sequence_change(NULL, 0, SOME(kiln_kernel), &range, &e), "kiln_sequence_change");
  REFUSED(kiln_sequence_change(SOME(kiln_sequence), 0, NULL, &range, &e), "kiln_sequence_change");
  REFUSED(kiln_sequence_end(NULL, &e), "kiln_sequence_end");
  REFUSED(kiln_sequence_run(NULL, NULL, 0, &event, &e), "kiln_sequence_run");
  CHECK(sequence == NULL && event == NULL);
}

static void test_null_for_imports(void) {
  kiln_error e;
  kiln_import_options options = {sizeof(kiln_import_options), KILN_ACCESS_READ,
                                 KILN_HOST_CACHE_NONE, NULL};
  kiln_image_layout layout = {sizeof(kiln_image_layout), 4, 4, 4, 0, 0};
  kiln_buffer *buffer = NULL;
  kiln_image *image = NULL;
  REFUSED(kiln_buffer_from_dma_buf(NULL, 0, 64, &options, &buffer, &e), "from_dma_buf");
  REFUSED(kiln_buffer_from_dma_buf(SOME(kiln_loader), 0, 64, NULL, &buffer, &e), "from_dma_buf");
  REFUSED(kiln_buffer_from_dma_buf(SOME(kiln_loader), 0, 64, &options, NULL, &e), "from_dma_buf");
  REFUSED(kiln_buffer_from_hardware_buffer(NULL, &dummy, 64, &options, &buffer, &e),
          "from_hardware_buffer");
  REFUSED(kiln_buffer_from_hardware_buffer(SOME(kiln_loader), NULL, 64, &options, &buffer, &e),
          "from_hardware_buffer");
  REFUSED(kiln_buffer_from_hardware_buffer(SOME(kiln_loader), &dummy, 64, NULL, &buffer, &e),
          "from_hardware_buffer");
  REFUSED(kiln_buffer_from_hardware_buffer(SOME(kiln_loader), &dummy, 64, &options, NULL, &e),
          "from_hardware_buffer");
  REFUSED(kiln_image_from_buffer(NULL, &layout, &image, &e), "image_from_buffer");
  REFUSED(kiln_image_from_buffer(SOME(kiln_buffer), NULL, &image, &e), "image_from_buffer");
  REFUSED(kiln_image_from_buffer(SOME(kiln_buffer), &layout, NULL, &e), "image_from_buffer");
  REFUSED(
      kiln_image_from_hardware_buffer(NULL, &dummy, KILN_PLANE_NONE, &layout, &options, &image, &e),
      "from_hardware_buffer");
  REFUSED(kiln_image_from_hardware_buffer(SOME(kiln_loader), NULL, KILN_PLANE_NONE, &layout,
                                          &options, &image, &e),
          "from_hardware_buffer");
  REFUSED(kiln_image_from_hardware_buffer(SOME(kiln_loader), &dummy, KILN_PLANE_NONE, NULL,
                                          &options, &image, &e),
          "from_hardware_buffer");
  REFUSED(kiln_image_from_hardware_buffer(SOME(kiln_loader), &dummy, KILN_PLANE_NONE, &layout, NULL,
                                          &image, &e),
          "from_hardware_buffer");
  REFUSED(kiln_image_from_hardware_buffer(SOME(kiln_loader), &dummy, KILN_PLANE_NONE, &layout,
                                          &options, NULL, &e),
          "from_hardware_buffer");
  REFUSED(kiln_image_from_hardware_buffer(SOME(kiln_loader), &dummy, (kiln_plane)3, &layout,
                                          &options, &image, &e),
          "unknown plane");
  REFUSED(kiln_buffer_acquire_external(NULL, SOME(kiln_buffer), NULL, 0, NULL, &e), "acquire");
  REFUSED(kiln_buffer_acquire_external(SOME(kiln_queue), NULL, NULL, 0, NULL, &e), "acquire");
  REFUSED(kiln_buffer_release_external(NULL, SOME(kiln_buffer), NULL, 0, NULL, &e), "release");
  REFUSED(kiln_buffer_release_external(SOME(kiln_queue), NULL, NULL, 0, NULL, &e), "release");
  REFUSED(kiln_image_acquire_external(NULL, SOME(kiln_image), NULL, 0, NULL, &e), "acquire");
  REFUSED(kiln_image_acquire_external(SOME(kiln_queue), NULL, NULL, 0, NULL, &e), "acquire");
  REFUSED(kiln_image_release_external(NULL, SOME(kiln_image), NULL, 0, NULL, &e), "release");
  REFUSED(kiln_image_release_external(SOME(kiln_queue), NULL, NULL, 0, NULL, &e), "release");
  layout.size = 1;
  REFUSED(kiln_image_from_buffer(SOME(kiln_buffer), &layout, &image, &e), "sizeof");
  options.host_cache = (kiln_host_cache)3;
  REFUSED(kiln_buffer_from_dma_buf(SOME(kiln_loader), 0, 64, &options, &buffer, &e),
          "unknown host_cache");
  options.size = 1;
  REFUSED(kiln_buffer_from_dma_buf(SOME(kiln_loader), 0, 64, &options, &buffer, &e), "sizeof");
  CHECK(buffer == NULL && image == NULL);
}

/* Multiplies 1 to 16 by 2 in a sequence, by 3 in a launch and by 2 again in the sequence. Each
 * command waits for the event of the one before and gives its own in the same handle. */
static void test_handles_of_both_libraries(kiln_loader *loader) {
  const kiln_ndrange range = {1, {16, 0, 0}, {0, 0, 0}, {0, 0, 0}};
  const kiln_image_layout layout = {sizeof(kiln_image_layout), 4, 4, 1, 0, 3};
  kiln_program *program = NULL;
  kiln_kernel *kernel = NULL;
  kiln_queue *queue = NULL;
  kiln_buffer *values = NULL, *sizes = NULL;
  kiln_image *image = NULL;
  kiln_sequence *sequence = NULL;
  kiln_event *event = NULL;
  const kiln_event *before = NULL;
  void *address = NULL;
  cl_uint count = 16, factor = 2, i, right = 0;
  kiln_error e;
  SUCCEEDS(kiln_load(loader, "scale", "a_plain", 0, &program, NULL, &e));
  SUCCEEDS(kiln_kernel_create(program, NULL, &kernel, &e));
  SUCCEEDS(kiln_queue_create(loader, NULL, &queue, &e));
  SUCCEEDS(kiln_buffer_create(loader, 64, KILN_ACCESS_BOTH, &values, &e));
  SUCCEEDS(kiln_buffer_create(loader, 16, KILN_ACCESS_WRITE, &sizes, &e));
  SUCCEEDS(kiln_buffer_map(queue, values, &address, &e));
  for (i = 0; i < count; ++i) ((cl_uint *)address)[i] = i + 1;
  SUCCEEDS(kiln_buffer_unmap(queue, values, &e));
  SUCCEEDS(kiln_kernel_set_buffer(kernel, 0, values, &e));
  SUCCEEDS(kiln_kernel_set_value(kernel, 1, &factor, sizeof(factor), &e));
  SUCCEEDS(kiln_kernel_set_value(kernel, 2, &count, sizeof(count), &e));
  SUCCEEDS(kiln_kernel_set_buffer(kernel, 3, sizes, &e));
  SUCCEEDS(kiln_sequence_begin(queue, &sequence, &e));
  SUCCEEDS(kiln_sequence_add(sequence, kernel, &range, &e));
  SUCCEEDS(kiln_sequence_end(sequence, &e));
  SUCCEEDS(kiln_buffer_acquire_external(queue, values, NULL, 0, &event, &e));
  before = event;
  SUCCEEDS(kiln_sequence_run(sequence, &before, 1, &event, &e));
  factor = 3;
  SUCCEEDS(kiln_kernel_set_value(kernel, 1, &factor, sizeof(factor), &e));
  before = event;
  SUCCEEDS(kiln_launch(queue, kernel, &range, &before, 1, &event, &e));
  before = event;
  SUCCEEDS(kiln_sequence_run(sequence, &before, 1, &event, &e));
  before = event;
  SUCCEEDS(kiln_buffer_release_external(queue, values, &before, 1, &event, &e));
  SUCCEEDS(kiln_event_wait(event, &e));
  SUCCEEDS(kiln_buffer_map(queue, values, &address, &e));
  for (i = 0; i < count; ++i) right += ((cl_uint *)address)[i] == 12 * (i + 1);
  CHECK(right == count);
  SUCCEEDS(kiln_buffer_unmap(queue, values, &e));
  SUCCEEDS(kiln_queue_finish(queue, &e));
  FAILS(kiln_image_from_buffer(values, &layout, &image, &e), KILN_ERROR_ARGUMENT,
        "the row pitch is less than a row of the image");
  kiln_event_release(event);
  kiln_sequence_release(sequence);
  kiln_buffer_release(sizes);
  kiln_buffer_release(values);
  kiln_queue_release(queue);
  kiln_kernel_release(kernel);
  kiln_program_release(program);
}

static int test_on_a_device(const char *path) {
  kiln_opencl *opencl = NULL;
  kiln_device *device = NULL;
  kiln_pack *pack = NULL;
  kiln_loader *loader = NULL;
  kiln_error e;
  if (kiln_opencl_open(NULL, 0, &opencl, &e) != KILN_OK ||
      kiln_device_open(opencl, 0, &device, &e) != KILN_OK) {
    printf("SKIP: %s\n", e.message);
    return 77;
  }
  SUCCEEDS(kiln_pack_open_file(path, &pack, &e));
  SUCCEEDS(kiln_loader_create(device, pack, NULL, &loader, &e));
  test_handles_of_both_libraries(loader);
  kiln_loader_release(loader);
  kiln_pack_release(pack);
  kiln_device_release(device);
  kiln_opencl_release(opencl);
  return finish();
}

int main(int argc, char **argv) {
  test_null_alone();
  test_null_for_sequences();
  test_null_for_imports();
  return argc == 2 ? test_on_a_device(argv[1]) : finish();
}
