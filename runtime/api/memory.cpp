// SPDX-License-Identifier: Apache-2.0
// The C API: buffers and images.
#include "runtime/api/api.hpp"

using namespace kiln::runtime;

namespace {

kiln_status unknown_access(kiln_error *error) {
  return report_error(Status::error(Code::bad_argument, "unknown access"), error);
}

// A request to map an image or a buffer (`row_pitch` null), or to unmap either (`out` null).
struct Mapping {
  Queue &queue;
  Memory &memory;
  void **out = nullptr;
  std::size_t *row_pitch = nullptr;
  cl_bool blocking = CL_FALSE;
};

kiln_status run(const Mapping &m, const kiln_event *const *wait, size_t wait_count,
                kiln_event **event, kiln_error *error) {
  const std::shared_ptr<const Loader> &loader = m.queue.loader;
  Waits waits;
  Handle<cl_event> made;
  Status e =
      check_context(*loader, *m.memory.loader, "the memory and the queue are of other contexts");
  if (e.ok()) e = collect_waits(*loader, wait, wait_count, &waits);
  Handle<cl_event> *wanted = event == nullptr ? nullptr : &made;
  if (e.ok()) {
    e = m.out == nullptr ? unmap(m.queue, waits, &m.memory, wanted)
                         : map(m.queue, m.blocking, waits, &m.memory, m.row_pitch, wanted);
  }
  if (e.ok() && m.out != nullptr) *m.out = m.memory.mapped;
  return end_command(e, loader, &made, event, error);
}

}  // namespace

namespace kiln::runtime {

bool known_access(const kiln_access &access) {
  unsigned number = 0;  // as known_levels() does
  static_assert(sizeof(number) == sizeof(access), "an enumeration is an int");
  std::memcpy(&number, &access, sizeof(number));
  return number <= KILN_ACCESS_BOTH;
}

}  // namespace kiln::runtime

kiln_status kiln_buffer_create(kiln_loader *loader, size_t size, kiln_access access,
                               kiln_buffer **out, kiln_error *error) {
  KILN_REQUIRE(loader != nullptr && out != nullptr, error);
  if (!known_access(access)) return unknown_access(error);
  auto *made = new kiln_buffer;
  return hand_out(create_buffer(loader->loader, size, access, &made->memory), made, out, error);
}

kiln_status kiln_buffer_from_host(kiln_loader *loader, void *memory, size_t size,
                                  kiln_access access, kiln_buffer **out, kiln_error *error) {
  KILN_REQUIRE(loader != nullptr && memory != nullptr && out != nullptr, error);
  if (!known_access(access)) return unknown_access(error);
  auto *made = new kiln_buffer;
  return hand_out(buffer_from_host(loader->loader, memory, size, access, &made->memory), made, out,
                  error);
}

kiln_status kiln_buffer_from_cl(kiln_loader *loader, cl_mem from, kiln_access access,
                                kiln_buffer **out, kiln_error *error) {
  KILN_REQUIRE(loader != nullptr && from != nullptr && out != nullptr, error);
  if (!known_access(access)) return unknown_access(error);
  auto *made = new kiln_buffer;
  return hand_out(memory_from_cl(loader->loader, from, false, access, &made->memory), made, out,
                  error);
}

void kiln_buffer_release(kiln_buffer *buffer) { delete buffer; }

cl_mem kiln_buffer_cl(const kiln_buffer *buffer) {
  return buffer == nullptr ? nullptr : buffer->memory.handle.get();
}

int kiln_buffer_zero_copy(const kiln_buffer *buffer) {
  return buffer != nullptr && buffer->memory.zero_copy ? 1 : 0;
}

kiln_status kiln_buffer_map(kiln_queue *queue, kiln_buffer *buffer, void **out, kiln_error *error) {
  KILN_REQUIRE(queue != nullptr && buffer != nullptr && out != nullptr, error);
  return run({queue->queue, buffer->memory, out, nullptr, CL_TRUE}, nullptr, 0, nullptr, error);
}

kiln_status kiln_buffer_map_async(kiln_queue *queue, kiln_buffer *buffer,
                                  const kiln_event *const *wait, size_t wait_count, void **out,
                                  kiln_event **event, kiln_error *error) {
  KILN_REQUIRE(queue != nullptr && buffer != nullptr && out != nullptr, error);
  return run({queue->queue, buffer->memory, out, nullptr}, wait, wait_count, event, error);
}

kiln_status kiln_buffer_unmap(kiln_queue *queue, kiln_buffer *buffer, kiln_error *error) {
  KILN_REQUIRE(queue != nullptr && buffer != nullptr, error);
  return run({queue->queue, buffer->memory}, nullptr, 0, nullptr, error);
}

kiln_status kiln_buffer_unmap_async(kiln_queue *queue, kiln_buffer *buffer,
                                    const kiln_event *const *wait, size_t wait_count,
                                    kiln_event **event, kiln_error *error) {
  KILN_REQUIRE(queue != nullptr && buffer != nullptr, error);
  return run({queue->queue, buffer->memory}, wait, wait_count, event, error);
}

kiln_status kiln_image_create(kiln_loader *loader, size_t width, size_t height, unsigned channels,
                              kiln_access access, kiln_image **out, kiln_error *error) {
  KILN_REQUIRE(loader != nullptr && out != nullptr, error);
  if (!known_access(access)) return unknown_access(error);
  auto *made = new kiln_image;
  return hand_out(create_image(loader->loader, width, height, channels, access, &made->memory),
                  made, out, error);
}

kiln_status kiln_image_from_cl(kiln_loader *loader, cl_mem from, kiln_access access,
                               kiln_image **out, kiln_error *error) {
  KILN_REQUIRE(loader != nullptr && from != nullptr && out != nullptr, error);
  if (!known_access(access)) return unknown_access(error);
  auto *made = new kiln_image;
  return hand_out(memory_from_cl(loader->loader, from, true, access, &made->memory), made, out,
                  error);
}

void kiln_image_release(kiln_image *image) { delete image; }

cl_mem kiln_image_cl(const kiln_image *image) {
  return image == nullptr ? nullptr : image->memory.handle.get();
}

kiln_status kiln_image_map(kiln_queue *queue, kiln_image *image, void **out, size_t *row_pitch,
                           kiln_error *error) {
  KILN_REQUIRE(queue != nullptr && image != nullptr && out != nullptr && row_pitch != nullptr,
               error);
  return run({queue->queue, image->memory, out, row_pitch, CL_TRUE}, nullptr, 0, nullptr, error);
}

kiln_status kiln_image_map_async(kiln_queue *queue, kiln_image *image,
                                 const kiln_event *const *wait, size_t wait_count, void **out,
                                 size_t *row_pitch, kiln_event **event, kiln_error *error) {
  KILN_REQUIRE(queue != nullptr && image != nullptr && out != nullptr && row_pitch != nullptr,
               error);
  return run({queue->queue, image->memory, out, row_pitch}, wait, wait_count, event, error);
}

kiln_status kiln_image_unmap(kiln_queue *queue, kiln_image *image, kiln_error *error) {
  KILN_REQUIRE(queue != nullptr && image != nullptr, error);
  return run({queue->queue, image->memory}, nullptr, 0, nullptr, error);
}

kiln_status kiln_image_unmap_async(kiln_queue *queue, kiln_image *image,
                                   const kiln_event *const *wait, size_t wait_count,
                                   kiln_event **event, kiln_error *error) {
  KILN_REQUIRE(queue != nullptr && image != nullptr, error);
  return run({queue->queue, image->memory}, wait, wait_count, event, error);
}
