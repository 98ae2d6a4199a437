/* SPDX-License-Identifier: Apache-2.0 */
/* The C API from C, with a device: names that nothing has, sizes and places that do not fit,
 * handles that do not belong together. Each is a status with a message, and the handles serve
 * afterwards. The argument is the path of runtime.kiln; 77 where there is no device. */
#include "tests/runtime/api/c_check.h"

#include "kiln/driver.h"
#include "kiln/import.h"
#include "kiln/overlay.h"
#include "kiln/sequence.h"
#include "kiln/trust.h"

#include <stdint.h>

static kiln_opencl *opencl;
static kiln_device *device;
static kiln_pack *pack;
static kiln_loader *loader;
static kiln_queue *queue;

static void test_unknown_names(void) {
  kiln_program *program = NULL;
  kiln_report *report = NULL;
  kiln_kernel *kernel = NULL;
  kiln_device *none = NULL;
  size_t count = 0;
  kiln_error e;
  FAILS(kiln_load(loader, "", NULL, 0, &program, NULL, &e), KILN_ERROR_NOT_IN_PACK, "no program");
  FAILS(kiln_load(loader, "Scale", NULL, 0, &program, NULL, &e), KILN_ERROR_NOT_IN_PACK, "Scale");
  FAILS(kiln_load(loader, "scale", "other", 0, &program, &report, &e), KILN_ERROR_NOT_IN_PACK,
        "program scale has no variant other");
  FAILS(kiln_load(loader, "scale", "impossible", 0, &program, NULL, &e), KILN_ERROR_REQUIREMENT,
        "cl_kiln_no_device_has_this");
  FAILS(kiln_load(loader, "scale", NULL, 1u << 30, &program, NULL, &e), KILN_ERROR_ARGUMENT, "");
  FAILS(kiln_load(loader, "scale", "", 0, &program, NULL, &e), KILN_ERROR_NOT_IN_PACK,
        "program scale has no variant \"\"");
  FAILS(kiln_load_dry_run(loader, "scale", "", 0, &report, &e), KILN_ERROR_NOT_IN_PACK,
        "program scale has no variant \"\"");
  CHECK(program == NULL && kiln_report_rung(report) == KILN_RUNG_ERROR);
  CHECK(kiln_report_reason(report, (kiln_rung)17, NULL) == NULL);
  kiln_report_release(report);
  SUCCEEDS(kiln_load(loader, "scale", "a_plain", 0, &program, NULL, &e));
  FAILS(kiln_kernel_create(program, "scales", &kernel, &e), KILN_ERROR_NOT_IN_PACK, "scales");
  FAILS(kiln_kernel_create(program, "", &kernel, &e), KILN_ERROR_NOT_IN_PACK, "has no kernel");
  CHECK(kernel == NULL);
  CHECK(strcmp(kiln_program_name(program), "scale") == 0);
  CHECK(strcmp(kiln_program_variant(program), "a_plain") == 0);
  SUCCEEDS(kiln_kernel_create(program, "scale", &kernel, &e));
  kiln_kernel_release(kernel);
  kiln_program_release(program);
  CHECK(kiln_device_info(device, "device_colour") == NULL);
  CHECK(kiln_device_info(device, "") == NULL);
  SUCCEEDS(kiln_device_count(opencl, &count, &e));
  FAILS(kiln_device_open(opencl, count, &none, &e), KILN_ERROR_NO_DEVICE, "no device");
  FAILS(kiln_device_open(opencl, SIZE_MAX, &none, &e), KILN_ERROR_NO_DEVICE, "no device");
  CHECK(none == NULL);
}

/* Options of a newer header, as a library that is older sees them. */
static void test_options_of_newer_headers(void) {
  struct {
    kiln_loader_options known;
    uint64_t unknown;
  } newer = {{0}, 0};
  struct {
    kiln_queue_options known;
    uint64_t unknown;
  } newer_queue = {{0}, 0};
  kiln_loader *made = NULL;
  kiln_queue *made_queue = NULL;
  kiln_error e;
  newer.known.size = sizeof(newer);
  newer_queue.known.size = sizeof(newer_queue);
  SUCCEEDS(kiln_loader_create(device, pack, &newer.known, &made, &e));
  kiln_loader_release(made);
  SUCCEEDS(kiln_queue_create(loader, &newer_queue.known, &made_queue, &e));
  kiln_queue_release(made_queue);
  made = NULL;
  made_queue = NULL;
  newer.unknown = 1;
  newer_queue.unknown = 1;
  FAILS(kiln_loader_create(device, pack, &newer.known, &made, &e), KILN_ERROR_ARGUMENT,
        "kiln_loader_options: an option is set that this version of the library does not know");
  FAILS(kiln_queue_create(loader, &newer_queue.known, &made_queue, &e), KILN_ERROR_ARGUMENT,
        "kiln_queue_options: an option is set that this version of the library does not know");
  newer.known.size = sizeof(newer.known);
  newer.known.reserved = 1;
  newer_queue.known.size = sizeof(newer_queue.known);
  newer_queue.known.reserved = 1;
  FAILS(kiln_loader_create(device, pack, &newer.known, &made, &e), KILN_ERROR_ARGUMENT,
        "kiln_loader_options: reserved is not zero");
  FAILS(kiln_queue_create(loader, &newer_queue.known, &made_queue, &e), KILN_ERROR_ARGUMENT,
        "kiln_queue_options: reserved is not zero");
  CHECK(made == NULL && made_queue == NULL);
}

/* Those of an older one are shorter; a size that cannot be one is refused. */
static void test_sizes_of_options(void) {
  const size_t wrong[] = {0, sizeof(size_t) - 1, 4097, SIZE_MAX};
  kiln_loader_options options = {0};
  kiln_queue_options queue_options = {0};
  kiln_loader *made = NULL;
  kiln_queue *made_queue = NULL;
  kiln_error e;
  size_t i;
  for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); ++i) {
    options.size = queue_options.size = wrong[i];
    FAILS(kiln_loader_create(device, pack, &options, &made, &e), KILN_ERROR_ARGUMENT,
          "kiln_loader_options: size is not its sizeof");
    FAILS(kiln_queue_create(loader, &queue_options, &made_queue, &e), KILN_ERROR_ARGUMENT,
          "kiln_queue_options: size is not its sizeof");
  }
  CHECK(made == NULL && made_queue == NULL);
  options.size = offsetof(kiln_loader_options, notice);
  options.priority = (kiln_level)77; /* lies behind its end */
  SUCCEEDS(kiln_loader_create(device, pack, &options, &made, &e));
  kiln_loader_release(made);
  queue_options.size = offsetof(kiln_queue_options, reserved);
  SUCCEEDS(kiln_queue_create(loader, &queue_options, &made_queue, &e));
  kiln_queue_release(made_queue);
}

/* Asked for by hand, a part would silently be left out. */
static void test_parts_not_connected(void) {
  kiln_loader_options options = {0};
  kiln_trust trust = {0};
  kiln_loader *made = NULL;
  kiln_error e;
  options.size = sizeof(options);
  options.overlay = "folder";
  FAILS(kiln_loader_create(device, pack, &options, &made, &e), KILN_ERROR_ARGUMENT,
        "kiln_loader_options: overlay without kiln_loader_use_overlay()");
  kiln_loader_use_overlay(&options, NULL, 0);
  options.trust = &trust;
  FAILS(kiln_loader_create(device, pack, &options, &made, &e), KILN_ERROR_ARGUMENT,
        "kiln_loader_options: trust without kiln_loader_use_trust()");
  kiln_loader_use_trust(&options, NULL);
  kiln_loader_use_overlay(NULL, "folder", 0);
  kiln_loader_use_shared(NULL, "folder", 0);
  kiln_loader_use_trust(NULL, &trust);
  SUCCEEDS(kiln_loader_create(device, pack, &options, &made, &e));
  kiln_loader_release(made);
}

static void test_wrong_sizes_of_memory(void) {
  kiln_buffer *buffer = NULL;
  kiln_image *image = NULL;
  kiln_error e;
  FAILS(kiln_buffer_create(loader, 0, KILN_ACCESS_BOTH, &buffer, &e), KILN_ERROR_ARGUMENT,
        "at least 1 byte");
  FAILS(kiln_buffer_create(loader, SIZE_MAX, KILN_ACCESS_BOTH, &buffer, &e), KILN_ERROR_OPENCL,
        "clCreateBuffer");
  FAILS(kiln_image_create(loader, 0, 4, 4, KILN_ACCESS_READ, &image, &e), KILN_ERROR_OPENCL,
        "clCreateImage");
  FAILS(kiln_image_create(loader, 4, SIZE_MAX, 4, KILN_ACCESS_READ, &image, &e), KILN_ERROR_OPENCL,
        "clCreateImage");
  FAILS(kiln_image_create(loader, 4, 4, 3, KILN_ACCESS_READ, &image, &e), KILN_ERROR_ARGUMENT,
        "channels");
  CHECK(buffer == NULL && image == NULL);
}

static void test_mapping_out_of_turn(void) {
  kiln_buffer *buffer = NULL;
  kiln_error e;
  void *address = NULL;
  void *again = NULL;
  SUCCEEDS(kiln_buffer_create(loader, 64, KILN_ACCESS_BOTH, &buffer, &e));
  FAILS(kiln_buffer_unmap(queue, buffer, &e), KILN_ERROR_ARGUMENT, "not mapped");
  SUCCEEDS(kiln_buffer_map(queue, buffer, &address, &e));
  FAILS(kiln_buffer_map(queue, buffer, &again, &e), KILN_ERROR_ARGUMENT, "mapped already");
  CHECK(address != NULL && again == NULL);
  SUCCEEDS(kiln_buffer_unmap(queue, buffer, &e));
  FAILS(kiln_buffer_unmap(queue, buffer, &e), KILN_ERROR_ARGUMENT, "not mapped");
  kiln_buffer_release(buffer);
}

/* scale(values, factor, count, sizes), with what is wrong first. */
static void test_wrong_launches(void) {
  kiln_ndrange range = {1, {16, 0, 0}, {0, 0, 0}, {0, 0, 0}};
  kiln_program *program = NULL;
  kiln_kernel *kernel = NULL;
  kiln_buffer *buffer = NULL;
  kiln_event *event = NULL;
  uint32_t one = 1;
  kiln_error e;
  SUCCEEDS(kiln_load(loader, "scale", "a_plain", 0, &program, NULL, &e));
  SUCCEEDS(kiln_kernel_create(program, NULL, &kernel, &e));
  SUCCEEDS(kiln_buffer_create(loader, 64, KILN_ACCESS_BOTH, &buffer, &e));
  FAILS(kiln_kernel_set_value(kernel, 4, &one, 4, &e), KILN_ERROR_OPENCL, "argument 4: ");
  FAILS(kiln_kernel_set_value(kernel, UINT32_MAX, &one, 4, &e), KILN_ERROR_OPENCL, "argument 4294");
  FAILS(kiln_kernel_set_value(kernel, 1, &one, 0, &e), KILN_ERROR_OPENCL, "argument 1: ");
  FAILS(kiln_kernel_set_typed(kernel, 4, KILN_TYPE_UINT, 1, &one, &e), KILN_ERROR_OPENCL,
        "argument 4: ");
  FAILS(kiln_kernel_set_typed(kernel, 1, KILN_TYPE_UINT, 0, &one, &e), KILN_ERROR_ARGUMENT,
        "no type of OpenCL C");
  FAILS(kiln_kernel_set_typed(kernel, 1, KILN_TYPE_UINT, 5, &one, &e), KILN_ERROR_ARGUMENT,
        "no type of OpenCL C");
  FAILS(kiln_kernel_set_typed(kernel, 1, KILN_TYPE_UINT, UINT32_MAX, &one, &e), KILN_ERROR_ARGUMENT,
        "no type of OpenCL C");
  FAILS(kiln_kernel_set_typed(kernel, 1, (kiln_type)11, 1, &one, &e), KILN_ERROR_ARGUMENT,
        "no type of OpenCL C");
  FAILS(kiln_kernel_set_buffer(kernel, 9, buffer, &e), KILN_ERROR_OPENCL, "argument 9: ");
  FAILS(kiln_launch(queue, kernel, &range, NULL, 0, &event, &e), KILN_ERROR_OPENCL,
        "clEnqueueNDRangeKernel");
  SUCCEEDS(kiln_kernel_set_buffer(kernel, 0, buffer, &e));
  SUCCEEDS(kiln_kernel_set_value(kernel, 1, &one, 4, &e));
  SUCCEEDS(kiln_kernel_set_typed(kernel, 2, KILN_TYPE_UINT, 1, &one, &e));
  SUCCEEDS(kiln_kernel_set_buffer(kernel, 3, buffer, &e));
  range.dimensions = 0;
  FAILS(kiln_launch(queue, kernel, &range, NULL, 0, &event, &e), KILN_ERROR_ARGUMENT, "dimensions");
  range.dimensions = 4;
  FAILS(kiln_launch(queue, kernel, &range, NULL, 0, &event, &e), KILN_ERROR_ARGUMENT, "dimensions");
  range.dimensions = 2; /* the second is empty */
  FAILS(kiln_launch(queue, kernel, &range, NULL, 0, &event, &e), KILN_ERROR_ARGUMENT, "empty");
  CHECK(event == NULL);
  range.dimensions = 1;
  SUCCEEDS(kiln_launch(queue, kernel, &range, NULL, 0, &event, &e));
  SUCCEEDS(kiln_event_wait(event, &e));
  kiln_event_release(event);
  kiln_buffer_release(buffer);
  kiln_kernel_release(kernel);
  kiln_program_release(program);
}

/* Memory of others on a driver that has no extension for it, and what is none. */
static void test_imports(void) {
  kiln_import_options options = {sizeof(kiln_import_options), KILN_ACCESS_READ,
                                 KILN_HOST_CACHE_NONE, NULL};
  kiln_image_layout layout = {sizeof(kiln_image_layout), 4, 4, 4, 0, 0};
  kiln_buffer *buffer = NULL;
  kiln_image *image = NULL;
  FILE *file = tmpfile();
  kiln_error e;
  CHECK(file != NULL);
  FAILS(kiln_buffer_from_dma_buf(loader, -1, 64, &options, &buffer, &e), KILN_ERROR_ARGUMENT,
        "not open");
  FAILS(kiln_buffer_from_dma_buf(loader, fileno(file), 64, &options, &buffer, &e),
        KILN_ERROR_ARGUMENT, "not one of a dma-buf");
  FAILS(kiln_buffer_from_dma_buf(loader, fileno(file), 0, &options, &buffer, &e),
        KILN_ERROR_ARGUMENT, "at least 1 byte");
  FAILS(kiln_buffer_from_hardware_buffer(loader, &options, 64, &options, &buffer, &e),
        KILN_ERROR_REQUIREMENT, "cl_arm_import_memory_android_hardware_buffer");
  FAILS(kiln_image_from_hardware_buffer(loader, &options, KILN_PLANE_NONE, &layout, &options,
                                        &image, &e),
        KILN_ERROR_REQUIREMENT, "cl_arm_import_memory_android_hardware_buffer");
  CHECK(buffer == NULL && image == NULL);
  fclose(file);
}

/* What this driver has no extension for. */
static void test_driver_requests(void) {
  kiln_unload done = KILN_UNLOAD_CALLED;
  kiln_loader *fresh = NULL;
  kiln_error e;
  FAILS(kiln_loader_set_performance(loader, KILN_LEVEL_LOW, &e), KILN_ERROR_REQUIREMENT,
        "cl_qcom_perf_hint");
  FAILS(kiln_loader_set_performance(loader, (kiln_level)77, &e), KILN_ERROR_ARGUMENT, "level");
  SUCCEEDS(kiln_loader_create(device, pack, NULL, &fresh, &e));
  SUCCEEDS(kiln_loader_unload_compiler(fresh, &done, &e));
  CHECK(done == KILN_UNLOAD_NOT_NEEDED); /* it has loaded nothing */
  kiln_loader_release(fresh);
}

/* Changes of a sequence that do not fit it. */
static void test_wrong_changes(void) {
  const kiln_ndrange range = {1, {16, 0, 0}, {0, 0, 0}, {0, 0, 0}};
  const kiln_ndrange plane = {2, {4, 4, 0}, {0, 0, 0}, {0, 0, 0}};
  kiln_program *program = NULL;
  kiln_kernel *kernel = NULL;
  kiln_kernel *bare = NULL;
  kiln_buffer *buffer = NULL;
  kiln_sequence *sequence = NULL;
  uint32_t one = 1;
  kiln_error e;
  SUCCEEDS(kiln_load(loader, "scale", "a_plain", 0, &program, NULL, &e));
  SUCCEEDS(kiln_kernel_create(program, NULL, &kernel, &e));
  SUCCEEDS(kiln_kernel_create(program, NULL, &bare, &e));
  SUCCEEDS(kiln_buffer_create(loader, 64, KILN_ACCESS_BOTH, &buffer, &e));
  SUCCEEDS(kiln_kernel_set_buffer(kernel, 0, buffer, &e));
  SUCCEEDS(kiln_kernel_set_value(kernel, 1, &one, 4, &e));
  SUCCEEDS(kiln_kernel_set_value(kernel, 2, &one, 4, &e));
  SUCCEEDS(kiln_kernel_set_buffer(kernel, 3, buffer, &e));
  SUCCEEDS(kiln_sequence_begin(queue, &sequence, &e));
  FAILS(kiln_sequence_change(sequence, 0, kernel, NULL, &e), KILN_ERROR_ARGUMENT, "no launch 0");
  SUCCEEDS(kiln_sequence_add(sequence, kernel, &range, &e));
  SUCCEEDS(kiln_sequence_end(sequence, &e));
  FAILS(kiln_sequence_change(sequence, 1, kernel, NULL, &e), KILN_ERROR_ARGUMENT, "no launch 1");
  FAILS(kiln_sequence_change(sequence, 0, bare, NULL, &e), KILN_ERROR_ARGUMENT, "not set");
  FAILS(kiln_sequence_change(sequence, 0, kernel, &plane, &e), KILN_ERROR_ARGUMENT, "dimensions");
  SUCCEEDS(kiln_sequence_run(sequence, NULL, 0, NULL, &e));
  SUCCEEDS(kiln_queue_finish(queue, &e));
  kiln_sequence_release(sequence);
  kiln_buffer_release(buffer);
  kiln_kernel_release(bare);
  kiln_kernel_release(kernel);
  kiln_program_release(program);
}

/* A kernel, a queue and a buffer that come from two contexts. */
static void test_strangers(void) {
  const kiln_ndrange range = {1, {16, 0, 0}, {0, 0, 0}, {0, 0, 0}};
  kiln_loader *other = NULL;
  kiln_queue *stranger = NULL;
  kiln_program *program = NULL;
  kiln_kernel *kernel = NULL;
  kiln_buffer *buffer = NULL;
  kiln_event *event = NULL;
  void *address = NULL;
  kiln_error e;
  SUCCEEDS(kiln_loader_create(device, pack, NULL, &other, &e));
  SUCCEEDS(kiln_queue_create(other, NULL, &stranger, &e));
  SUCCEEDS(kiln_load(loader, "scale", "a_plain", 0, &program, NULL, &e));
  SUCCEEDS(kiln_kernel_create(program, NULL, &kernel, &e));
  SUCCEEDS(kiln_buffer_create(loader, 64, KILN_ACCESS_BOTH, &buffer, &e));
  FAILS(kiln_launch(stranger, kernel, &range, NULL, 0, &event, &e), KILN_ERROR_ARGUMENT, "context");
  FAILS(kiln_buffer_map(stranger, buffer, &address, &e), KILN_ERROR_ARGUMENT, "context");
  CHECK(event == NULL && address == NULL);
  kiln_buffer_release(buffer);
  kiln_kernel_release(kernel);
  kiln_program_release(program);
  kiln_queue_release(stranger);
  kiln_loader_release(other);
}

int main(int argc, char **argv) {
  kiln_error e;
  if (argc != 2) {
    fprintf(stderr, "usage: %s runtime.kiln\n", argv[0]);
    return 2;
  }
  if (kiln_opencl_open(NULL, 0, &opencl, &e) != KILN_OK ||
      kiln_device_open(opencl, 0, &device, &e) != KILN_OK) {
    const int none = e.status == KILN_ERROR_NO_OPENCL || e.status == KILN_ERROR_NO_DEVICE;
    printf("%s: %s\n", none ? "SKIP" : "FAIL", e.message);
    return none ? 77 : 1;
  }
  SUCCEEDS(kiln_pack_open_file(argv[1], &pack, &e));
  SUCCEEDS(kiln_loader_create(device, pack, NULL, &loader, &e));
  SUCCEEDS(kiln_queue_create(loader, NULL, &queue, &e));
  test_unknown_names();
  test_options_of_newer_headers();
  test_sizes_of_options();
  test_parts_not_connected();
  test_wrong_sizes_of_memory();
  test_mapping_out_of_turn();
  test_wrong_launches();
  test_strangers();
  test_imports();
  test_driver_requests();
  test_wrong_changes();
  kiln_queue_release(queue);
  kiln_loader_release(loader);
  kiln_pack_release(pack);
  kiln_device_release(device);
  kiln_opencl_release(opencl);
  return finish();
}
