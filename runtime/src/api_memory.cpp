// The C API: buffers and images.
#include "api.hpp"

using namespace kiln::runtime;

namespace {

bool known_access(kiln_access access) {
  return access == KILN_ACCESS_READ || access == KILN_ACCESS_WRITE || access == KILN_ACCESS_BOTH;
}

kiln_status unknown_access(kiln_error *error) {
  return report_error(failure(KILN_ERROR_ARGUMENT, "unknown access"), error);
}

// Calls `work(MapRequest)` for memory and queue of one context.
template <typename Work>
Error on_queue(const Queue &queue, const Memory &memory, Work work) {
  Error e = check_context(*queue.loader, *memory.loader, "the memory and the queue");
  return e.ok() ? work(MapRequest{}) : e;
}

// The same for requests that do not block.
template <typename Work>
Error on_queue_async(const Queue &queue, const Memory &memory, const kiln_event *const *wait,
                     size_t wait_count, kiln_event **event, Work work) {
  Waits waits;
  if (Error e = check_context(*queue.loader, *memory.loader, "the memory and the queue"); !e.ok())
    return e;
  if (Error e = collect_waits(*queue.loader, wait, wait_count, &waits); !e.ok()) return e;
  return enqueue_into(queue.loader, event, [&](Handle<cl_event> *made) {
    return work(MapRequest{CL_FALSE, waits.count, waits.data(), made});
  });
}

kiln_status mapped(const Error &e, const Memory &memory, void **out, kiln_error *error) {
  if (!e.ok()) return report_error(e, error);
  *out = memory.mapped;
  return KILN_OK;
}

}  // namespace

kiln_status kiln_buffer_create(kiln_loader *loader, size_t size, kiln_access access,
                               kiln_buffer **out, kiln_error *error) {
  KILN_REQUIRE(loader != nullptr && out != nullptr, error);
  if (!known_access(access)) return unknown_access(error);
  Memory memory;
  const Error e = create_buffer(loader->loader, size, access, &memory);
  return hand_out(e, std::move(memory), out, error);
}

kiln_status kiln_buffer_from_host(kiln_loader *loader, void *memory, size_t size,
                                  kiln_access access, kiln_buffer **out, kiln_error *error) {
  KILN_REQUIRE(loader != nullptr && memory != nullptr && out != nullptr, error);
  if (!known_access(access)) return unknown_access(error);
  Memory made;
  const Error e = buffer_from_host(loader->loader, memory, size, access, &made);
  return hand_out(e, std::move(made), out, error);
}

kiln_status kiln_buffer_from_cl(kiln_loader *loader, cl_mem from, kiln_access access,
                                kiln_buffer **out, kiln_error *error) {
  KILN_REQUIRE(loader != nullptr && from != nullptr && out != nullptr, error);
  if (!known_access(access)) return unknown_access(error);
  Memory memory;
  const Error e = memory_from_cl(loader->loader, from, CL_MEM_OBJECT_BUFFER, access, &memory);
  return hand_out(e, std::move(memory), out, error);
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
  Memory &memory = buffer->memory;
  const Error e = on_queue(queue->queue, memory, [&](const MapRequest &request) {
    return map_buffer(queue->queue, request, &memory);
  });
  return mapped(e, memory, out, error);
}

kiln_status kiln_buffer_map_async(kiln_queue *queue, kiln_buffer *buffer,
                                  const kiln_event *const *wait, size_t wait_count, void **out,
                                  kiln_event **event, kiln_error *error) {
  KILN_REQUIRE(queue != nullptr && buffer != nullptr && out != nullptr, error);
  Memory &memory = buffer->memory;
  const Error e = on_queue_async(
      queue->queue, memory, wait, wait_count, event,
      [&](const MapRequest &request) { return map_buffer(queue->queue, request, &memory); });
  return mapped(e, memory, out, error);
}

kiln_status kiln_buffer_unmap(kiln_queue *queue, kiln_buffer *buffer, kiln_error *error) {
  KILN_REQUIRE(queue != nullptr && buffer != nullptr, error);
  return kiln_buffer_unmap_async(queue, buffer, nullptr, 0, nullptr, error);
}

kiln_status kiln_buffer_unmap_async(kiln_queue *queue, kiln_buffer *buffer,
                                    const kiln_event *const *wait, size_t wait_count,
                                    kiln_event **event, kiln_error *error) {
  KILN_REQUIRE(queue != nullptr && buffer != nullptr, error);
  const Error e = on_queue_async(
      queue->queue, buffer->memory, wait, wait_count, event,
      [&](const MapRequest &request) { return unmap(queue->queue, request, &buffer->memory); });
  return report_error(e, error);
}

kiln_status kiln_image_create(kiln_loader *loader, size_t width, size_t height, unsigned channels,
                              kiln_access access, kiln_image **out, kiln_error *error) {
  KILN_REQUIRE(loader != nullptr && out != nullptr, error);
  if (!known_access(access)) return unknown_access(error);
  Memory memory;
  const Error e = create_image(loader->loader, width, height, channels, access, &memory);
  return hand_out(e, std::move(memory), out, error);
}

kiln_status kiln_image_from_cl(kiln_loader *loader, cl_mem from, kiln_access access,
                               kiln_image **out, kiln_error *error) {
  KILN_REQUIRE(loader != nullptr && from != nullptr && out != nullptr, error);
  if (!known_access(access)) return unknown_access(error);
  Memory memory;
  const Error e = memory_from_cl(loader->loader, from, CL_MEM_OBJECT_IMAGE2D, access, &memory);
  return hand_out(e, std::move(memory), out, error);
}

void kiln_image_release(kiln_image *image) { delete image; }

cl_mem kiln_image_cl(const kiln_image *image) {
  return image == nullptr ? nullptr : image->memory.handle.get();
}

kiln_status kiln_image_map(kiln_queue *queue, kiln_image *image, void **out, size_t *row_pitch,
                           kiln_error *error) {
  KILN_REQUIRE(queue != nullptr && image != nullptr && out != nullptr && row_pitch != nullptr,
               error);
  Memory &memory = image->memory;
  const Error e = on_queue(queue->queue, memory, [&](const MapRequest &request) {
    return map_image(queue->queue, request, &memory, row_pitch);
  });
  return mapped(e, memory, out, error);
}

kiln_status kiln_image_map_async(kiln_queue *queue, kiln_image *image,
                                 const kiln_event *const *wait, size_t wait_count, void **out,
                                 size_t *row_pitch, kiln_event **event, kiln_error *error) {
  KILN_REQUIRE(queue != nullptr && image != nullptr && out != nullptr && row_pitch != nullptr,
               error);
  Memory &memory = image->memory;
  const Error e =
      on_queue_async(queue->queue, memory, wait, wait_count, event, [&](const MapRequest &request) {
        return map_image(queue->queue, request, &memory, row_pitch);
      });
  return mapped(e, memory, out, error);
}

kiln_status kiln_image_unmap(kiln_queue *queue, kiln_image *image, kiln_error *error) {
  KILN_REQUIRE(queue != nullptr && image != nullptr, error);
  return kiln_image_unmap_async(queue, image, nullptr, 0, nullptr, error);
}

kiln_status kiln_image_unmap_async(kiln_queue *queue, kiln_image *image,
                                   const kiln_event *const *wait, size_t wait_count,
                                   kiln_event **event, kiln_error *error) {
  KILN_REQUIRE(queue != nullptr && image != nullptr, error);
  const Error e = on_queue_async(
      queue->queue, image->memory, wait, wait_count, event,
      [&](const MapRequest &request) { return unmap(queue->queue, request, &image->memory); });
  return report_error(e, error);
}
