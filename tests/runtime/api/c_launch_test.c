/* SPDX-License-Identifier: Apache-2.0 */
/* The C API of kernels, queues, events and memory from C, without a device: pinned
 * numbers, and wrong arguments to every function. */
#include "tests/runtime/api/c_check.h"

#include "kiln/driver.h"

_Static_assert(KILN_LOCAL_DEVICE == 0 && KILN_LOCAL_KERNEL == 8, "local source");
_Static_assert(KILN_LOCAL_SUGGESTED == 9 && KILN_LOCAL_PROFILE == 10, "local source");
_Static_assert(KILN_ACCESS_READ == 0 && KILN_ACCESS_WRITE == 1 && KILN_ACCESS_BOTH == 2, "access");
_Static_assert(KILN_LEVEL_DEFAULT == 0 && KILN_LEVEL_LOW == 1, "level");
_Static_assert(KILN_LEVEL_MEDIUM == 2 && KILN_LEVEL_HIGH == 3, "level");
_Static_assert(KILN_QUEUE_OUT_OF_ORDER == 1 && KILN_QUEUE_NO_PROFILING == 2, "flag");
_Static_assert(KILN_HINT_PRIORITY == 1 && KILN_HINT_THROTTLE == 2, "hint");
_Static_assert(KILN_HINT_OUT_OF_ORDER == 4 && KILN_HINT_PERFORMANCE == 8, "hint");
_Static_assert(KILN_MAX_WAITS == 64, "waits");
_Static_assert(KILN_TYPE_UCHAR == 0 && KILN_TYPE_USHORT == 1 && KILN_TYPE_UINT == 2, "type");
_Static_assert(KILN_TYPE_INT == 3 && KILN_TYPE_FLOAT == 4 && KILN_TYPE_HALF == 5, "type");
_Static_assert(KILN_TYPE_CHAR == 6 && KILN_TYPE_SHORT == 7 && KILN_TYPE_LONG == 8, "type");
_Static_assert(KILN_TYPE_ULONG == 9 && KILN_TYPE_DOUBLE == 10, "type");
_Static_assert(KILN_UNLOAD_CALLED == 0 && KILN_UNLOAD_NOT_NEEDED == 1, "unload");
_Static_assert(KILN_UNLOAD_BUSY == 2 && KILN_UNLOAD_NO_CALL == 3, "unload");
_Static_assert(KILN_UNLOAD_QUARANTINED == 4 && KILN_NOTICE_UNLOADED == 10, "unload");
_Static_assert(offsetof(kiln_queue_options, size) == 0, "layout");

static void test_release_of_null(void) {
  kiln_kernel_release(NULL);
  kiln_queue_release(NULL);
  kiln_buffer_release(NULL);
  kiln_image_release(NULL);
  kiln_event_release(NULL);
}

static void test_questions_to_null(void) {
  CHECK(kiln_kernel_cl(NULL) == NULL);
  CHECK(kiln_buffer_cl(NULL) == NULL);
  CHECK(kiln_image_cl(NULL) == NULL);
  CHECK(kiln_queue_cl(NULL) == NULL);
  CHECK(kiln_queue_hints(NULL) == 0);
  CHECK(kiln_event_cl(NULL) == NULL);
  CHECK(kiln_buffer_zero_copy(NULL) == 0);
}

static void CL_CALLBACK on_event(cl_event event, cl_int status, void *user) {
  (void)event;
  (void)status;
  (void)user;
}

static void test_null_for_kernels(void) {
  kiln_error e;
  kiln_kernel *kernel = NULL;
  kiln_event *event = NULL;
  kiln_ndrange range = {1, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}};
  kiln_local_source source = KILN_LOCAL_DEVICE;
  kiln_times times;
  int value = 0;
  REFUSED(kiln_kernel_create(NULL, "k", &kernel, &e), "kiln_kernel_create");
  REFUSED(kiln_kernel_create(SOME(kiln_program), "k", NULL, &e), "kiln_kernel_create");
  REFUSED(kiln_kernel_set_value(NULL, 0, &value, 4, &e), "kiln_kernel_set_value");
  REFUSED(kiln_kernel_set_value(SOME(kiln_kernel), 0, NULL, 4, &e), "kiln_kernel_set_value");
  REFUSED(kiln_kernel_set_typed(NULL, 0, KILN_TYPE_INT, 1, &value, &e), "kiln_kernel_set_typed");
  REFUSED(kiln_kernel_set_typed(SOME(kiln_kernel), 0, KILN_TYPE_INT, 1, NULL, &e),
          "kiln_kernel_set_typed");
  REFUSED(kiln_kernel_set_buffer(NULL, 0, SOME(kiln_buffer), &e), "kiln_kernel_set_buffer");
  REFUSED(kiln_kernel_set_buffer(SOME(kiln_kernel), 0, NULL, &e), "kiln_kernel_set_buffer");
  REFUSED(kiln_kernel_set_image(NULL, 0, SOME(kiln_image), &e), "kiln_kernel_set_image");
  REFUSED(kiln_kernel_set_image(SOME(kiln_kernel), 0, NULL, &e), "kiln_kernel_set_image");
  REFUSED(kiln_kernel_set_local(NULL, 0, 4, &e), "kiln_kernel_set_local");
  REFUSED(kiln_kernel_set_local(SOME(kiln_kernel), 0, 0, &e), "kiln_kernel_set_local");
  REFUSED(kiln_kernel_set_sampler(NULL, 0, SOME(struct _cl_sampler), &e),
          "kiln_kernel_set_sampler");
  REFUSED(kiln_kernel_set_sampler(SOME(kiln_kernel), 0, NULL, &e), "kiln_kernel_set_sampler");
  REFUSED(kiln_kernel_set_svm(NULL, 0, &range, &e), "kiln_kernel_set_svm");
  REFUSED(kiln_kernel_set_svm(SOME(kiln_kernel), 0, NULL, &e), "kiln_kernel_set_svm");
  REFUSED(kiln_kernel_plan(NULL, &range, &range, &e), "kiln_kernel_plan");
  REFUSED(kiln_kernel_plan(SOME(kiln_kernel), NULL, &range, &e), "kiln_kernel_plan");
  REFUSED(kiln_kernel_plan(SOME(kiln_kernel), &range, NULL, &e), "kiln_kernel_plan");
  REFUSED(kiln_kernel_local_source(NULL, &range, &source, &e), "kiln_kernel_local_source");
  REFUSED(kiln_kernel_local_source(SOME(kiln_kernel), NULL, &source, &e),
          "kiln_kernel_local_source");
  REFUSED(kiln_kernel_local_source(SOME(kiln_kernel), &range, NULL, &e),
          "kiln_kernel_local_source");
  CHECK(strcmp(kiln_kernel_suggestion_refused(NULL, &range), "") == 0);
  CHECK(strcmp(kiln_kernel_suggestion_refused(SOME(kiln_kernel), NULL), "") == 0);
  REFUSED(kiln_launch(NULL, SOME(kiln_kernel), &range, NULL, 0, &event, &e), "kiln_launch");
  REFUSED(kiln_launch(SOME(kiln_queue), NULL, &range, NULL, 0, &event, &e), "kiln_launch");
  REFUSED(kiln_launch(SOME(kiln_queue), SOME(kiln_kernel), NULL, NULL, 0, &event, &e),
          "kiln_launch");
  REFUSED(kiln_event_from_cl(NULL, (cl_event)&dummy, &event, &e), "kiln_event_from_cl");
  REFUSED(kiln_event_from_cl(SOME(kiln_loader), NULL, &event, &e), "kiln_event_from_cl");
  REFUSED(kiln_event_from_cl(SOME(kiln_loader), (cl_event)&dummy, NULL, &e), "kiln_event_from_cl");
  REFUSED(kiln_event_wait(NULL, &e), "kiln_event_wait");
  REFUSED(kiln_event_set_callback(NULL, on_event, NULL, &e), "kiln_event_set_callback");
  REFUSED(kiln_event_set_callback(SOME(kiln_event), NULL, NULL, &e), "kiln_event_set_callback");
  REFUSED(kiln_event_times(NULL, &times, &e), "kiln_event_times");
  REFUSED(kiln_event_times(SOME(kiln_event), NULL, &e), "kiln_event_times");
  CHECK(kernel == NULL && event == NULL);
}

static void test_null_for_memory_of_others(void) {
  kiln_error e;
  kiln_buffer *buffer = NULL;
  kiln_image *image = NULL;
  const cl_mem from = (cl_mem)&dummy;
  REFUSED(kiln_buffer_from_host(NULL, &dummy, 64, KILN_ACCESS_READ, &buffer, &e),
          "kiln_buffer_from_host");
  REFUSED(kiln_buffer_from_host(SOME(kiln_loader), NULL, 64, KILN_ACCESS_READ, &buffer, &e),
          "kiln_buffer_from_host");
  REFUSED(kiln_buffer_from_host(SOME(kiln_loader), &dummy, 64, KILN_ACCESS_READ, NULL, &e),
          "kiln_buffer_from_host");
  REFUSED(kiln_buffer_from_host(SOME(kiln_loader), &dummy, 64, (kiln_access)3, &buffer, &e),
          "access");
  REFUSED(kiln_buffer_from_cl(NULL, from, KILN_ACCESS_READ, &buffer, &e), "kiln_buffer_from_cl");
  REFUSED(kiln_buffer_from_cl(SOME(kiln_loader), NULL, KILN_ACCESS_READ, &buffer, &e),
          "kiln_buffer_from_cl");
  REFUSED(kiln_buffer_from_cl(SOME(kiln_loader), from, KILN_ACCESS_READ, NULL, &e),
          "kiln_buffer_from_cl");
  REFUSED(kiln_buffer_from_cl(SOME(kiln_loader), from, (kiln_access)3, &buffer, &e), "access");
  REFUSED(kiln_image_from_cl(NULL, from, KILN_ACCESS_READ, &image, &e), "kiln_image_from_cl");
  REFUSED(kiln_image_from_cl(SOME(kiln_loader), NULL, KILN_ACCESS_READ, &image, &e),
          "kiln_image_from_cl");
  REFUSED(kiln_image_from_cl(SOME(kiln_loader), from, KILN_ACCESS_READ, NULL, &e),
          "kiln_image_from_cl");
  REFUSED(kiln_image_from_cl(SOME(kiln_loader), from, (kiln_access)3, &image, &e), "access");
  CHECK(buffer == NULL && image == NULL);
}

static void test_null_for_driver_requests(void) {
  kiln_error e;
  kiln_unload done = KILN_UNLOAD_BUSY;
  kiln_timers timers = {0, 0};
  REFUSED(kiln_loader_unload_compiler(NULL, &done, &e), "kiln_loader_unload_compiler");
  REFUSED(kiln_loader_unload_compiler(SOME(kiln_loader), NULL, &e), "kiln_loader_unload_compiler");
  REFUSED(kiln_loader_set_performance(NULL, KILN_LEVEL_LOW, &e), "kiln_loader_set_performance");
  REFUSED(kiln_loader_set_performance(SOME(kiln_loader), KILN_LEVEL_DEFAULT, &e), "a level is");
  REFUSED(kiln_loader_set_performance(SOME(kiln_loader), (kiln_level)4, &e), "a level is");
  REFUSED(kiln_device_timers(NULL, &timers, &e), "kiln_device_timers");
  REFUSED(kiln_device_timers(SOME(kiln_device), NULL, &e), "kiln_device_timers");
  CHECK(done == KILN_UNLOAD_BUSY && timers.device == 0);
}

static void test_null_for_async_maps(void) {
  kiln_error e;
  kiln_queue *queue = SOME(kiln_queue);
  kiln_buffer *buffer = SOME(kiln_buffer);
  kiln_image *image = SOME(kiln_image);
  void *address = NULL;
  size_t pitch = 0;
  kiln_event *event = NULL;
  REFUSED(kiln_buffer_map_async(NULL, buffer, NULL, 0, &address, &event, &e), "map_async");
  REFUSED(kiln_buffer_map_async(queue, NULL, NULL, 0, &address, &event, &e), "map_async");
  REFUSED(kiln_buffer_map_async(queue, buffer, NULL, 0, NULL, &event, &e), "map_async");
  REFUSED(kiln_buffer_unmap_async(NULL, buffer, NULL, 0, &event, &e), "unmap_async");
  REFUSED(kiln_buffer_unmap_async(queue, NULL, NULL, 0, &event, &e), "unmap_async");
  REFUSED(kiln_image_map_async(NULL, image, NULL, 0, &address, &pitch, &event, &e), "map_async");
  REFUSED(kiln_image_map_async(queue, NULL, NULL, 0, &address, &pitch, &event, &e), "map_async");
  REFUSED(kiln_image_map_async(queue, image, NULL, 0, NULL, &pitch, &event, &e), "map_async");
  REFUSED(kiln_image_map_async(queue, image, NULL, 0, &address, NULL, &event, &e), "map_async");
  REFUSED(kiln_image_unmap_async(NULL, image, NULL, 0, &event, &e), "unmap_async");
  REFUSED(kiln_image_unmap_async(queue, NULL, NULL, 0, &event, &e), "unmap_async");
  CHECK(address == NULL && pitch == 0 && event == NULL);
}

static void test_null_for_memory(void) {
  kiln_error e;
  kiln_buffer *buffer = NULL;
  kiln_image *image = NULL;
  kiln_queue *queue = NULL;
  void *address = NULL;
  size_t pitch = 0;
  REFUSED(kiln_buffer_create(NULL, 4, KILN_ACCESS_READ, &buffer, &e), "kiln_buffer_create");
  REFUSED(kiln_buffer_create(SOME(kiln_loader), 4, KILN_ACCESS_READ, NULL, &e),
          "kiln_buffer_create");
  REFUSED(kiln_buffer_create(SOME(kiln_loader), 4, (kiln_access)3, &buffer, &e), "access");
  REFUSED(kiln_buffer_map(NULL, SOME(kiln_buffer), &address, &e), "kiln_buffer_map");
  REFUSED(kiln_buffer_map(SOME(kiln_queue), NULL, &address, &e), "kiln_buffer_map");
  REFUSED(kiln_buffer_map(SOME(kiln_queue), SOME(kiln_buffer), NULL, &e), "kiln_buffer_map");
  REFUSED(kiln_buffer_unmap(NULL, SOME(kiln_buffer), &e), "kiln_buffer_unmap");
  REFUSED(kiln_buffer_unmap(SOME(kiln_queue), NULL, &e), "kiln_buffer_unmap");
  REFUSED(kiln_image_create(NULL, 1, 1, 1, KILN_ACCESS_READ, &image, &e), "kiln_image_create");
  REFUSED(kiln_image_create(SOME(kiln_loader), 1, 1, 1, KILN_ACCESS_READ, NULL, &e),
          "kiln_image_create");
  REFUSED(kiln_image_create(SOME(kiln_loader), 1, 1, 1, (kiln_access)-1, &image, &e), "access");
  REFUSED(kiln_image_map(NULL, SOME(kiln_image), &address, &pitch, &e), "kiln_image_map");
  REFUSED(kiln_image_map(SOME(kiln_queue), NULL, &address, &pitch, &e), "kiln_image_map");
  REFUSED(kiln_image_map(SOME(kiln_queue), SOME(kiln_image), NULL, &pitch, &e), "kiln_image_map");
  REFUSED(kiln_image_map(SOME(kiln_queue), SOME(kiln_image), &address, NULL, &e), "kiln_image_map");
  REFUSED(kiln_image_unmap(NULL, SOME(kiln_image), &e), "kiln_image_unmap");
  REFUSED(kiln_image_unmap(SOME(kiln_queue), NULL, &e), "kiln_image_unmap");
  REFUSED(kiln_queue_create(NULL, NULL, &queue, &e), "kiln_queue_create");
  REFUSED(kiln_queue_create(SOME(kiln_loader), NULL, NULL, &e), "kiln_queue_create");
  REFUSED(kiln_queue_flush(NULL, &e), "kiln_queue_flush");
  REFUSED(kiln_queue_finish(NULL, &e), "kiln_queue_finish");
  CHECK(buffer == NULL && image == NULL && queue == NULL && address == NULL && pitch == 0);
}

int main(void) {
  test_release_of_null();
  test_questions_to_null();
  test_null_for_kernels();
  test_null_for_memory();
  test_null_for_memory_of_others();
  test_null_for_async_maps();
  test_null_for_driver_requests();
  return finish();
}
