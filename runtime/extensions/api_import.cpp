// SPDX-License-Identifier: Apache-2.0
// The C API: buffers and images over memory of other parts of the system.
#include "kiln/import.h"

#include <cstring>

#include "runtime/api/api.hpp"
#include "runtime/api/options.hpp"
#include "runtime/extensions/imported_memory.hpp"

using namespace kiln::runtime;

namespace {

// Copies the options; returns null, or what is wrong with them.
const char *read_import(const kiln_import_options *given, kiln_import_options *out) {
  const char *wrong = read_options(given, sizeof(*out), out);
  unsigned cache = 0;  // a C program can pass any number
  static_assert(sizeof(cache) == sizeof(out->host_cache), "an enumeration is an int");
  std::memcpy(&cache, &out->host_cache, sizeof(cache));
  if (cache > KILN_HOST_CACHE_COHERENT) return "unknown host_cache";
  return known_access(out->access) ? wrong : "unknown access";
}

template <typename Memory>
kiln_status import(Status (*how)(const std::shared_ptr<const Loader> &, Memory, std::size_t,
                                 const kiln_import_options &, kiln::runtime::Memory *),
                   kiln_loader *loader, Memory memory, std::size_t size,
                   const kiln_import_options *options, kiln_buffer **out, kiln_error *error) {
  kiln_import_options given = {};
  if (const char *wrong = read_import(options, &given); wrong != nullptr) {
    return refuse_options("kiln_import_options", wrong, error);
  }
  auto *made = new kiln_buffer;
  return hand_out(how(loader->loader, memory, size, given, &made->memory), made, out, error);
}

kiln_status exchange(bool acquire, Queue &queue, const Memory &memory,
                     const kiln_event *const *wait, size_t wait_count, kiln_event **event,
                     kiln_error *error) {
  Waits waits;
  Handle<cl_event> made;
  Status e = check_context(*queue.loader, *memory.loader,
                           "the memory and the queue are of other contexts");
  if (e.ok()) e = collect_waits(*queue.loader, wait, wait_count, &waits);
  if (e.ok()) e = hand_over(queue, acquire, waits, memory, event == nullptr ? nullptr : &made);
  return end_command(e, queue.loader, &made, event, error);
}

}  // namespace

kiln_status kiln_buffer_from_dma_buf(kiln_loader *loader, int fd, size_t size,
                                     const kiln_import_options *options, kiln_buffer **out,
                                     kiln_error *error) {
  KILN_REQUIRE(loader != nullptr && options != nullptr && out != nullptr, error);
  return import(import_dma_buf, loader, fd, size, options, out, error);
}

kiln_status kiln_buffer_from_hardware_buffer(kiln_loader *loader, void *hardware_buffer,
                                             size_t size, const kiln_import_options *options,
                                             kiln_buffer **out, kiln_error *error) {
  KILN_REQUIRE(
      loader != nullptr && hardware_buffer != nullptr && options != nullptr && out != nullptr,
      error);
  return import(import_hardware_buffer, loader, hardware_buffer, size, options, out, error);
}

kiln_status kiln_image_from_buffer(const kiln_buffer *buffer, const kiln_image_layout *layout,
                                   kiln_image **out, kiln_error *error) {
  KILN_REQUIRE(buffer != nullptr && layout != nullptr && out != nullptr, error);
  kiln_image_layout given = {};
  if (const char *wrong = read_options(layout, sizeof(given), &given); wrong != nullptr) {
    return refuse_options("kiln_image_layout", wrong, error);
  }
  auto *made = new kiln_image;
  return hand_out(image_from_buffer(buffer->memory, given, &made->memory), made, out, error);
}

kiln_status kiln_image_from_hardware_buffer(kiln_loader *loader, void *hardware_buffer,
                                            kiln_plane plane, const kiln_image_layout *layout,
                                            const kiln_import_options *options, kiln_image **out,
                                            kiln_error *error) {
  KILN_REQUIRE(loader != nullptr && hardware_buffer != nullptr && layout != nullptr &&
                   options != nullptr && out != nullptr,
               error);
  kiln_import_options given = {};
  if (const char *wrong = read_import(options, &given); wrong != nullptr) {
    return refuse_options("kiln_import_options", wrong, error);
  }
  kiln_image_layout how = {};
  if (const char *wrong = read_options(layout, sizeof(how), &how); wrong != nullptr) {
    return refuse_options("kiln_image_layout", wrong, error);
  }
  unsigned number = 0;  // a C program can pass any
  static_assert(sizeof(number) == sizeof(plane), "an enumeration is an int");
  std::memcpy(&number, &plane, sizeof(number));
  if (number > KILN_PLANE_CHROMA) {
    return report_error(Status::error(Code::bad_argument, "unknown plane"), error);
  }
  auto *made = new kiln_image;
  return hand_out(import_frame(loader->loader, hardware_buffer, plane, how, given, &made->memory),
                  made, out, error);
}

kiln_status kiln_buffer_acquire_external(kiln_queue *queue, kiln_buffer *buffer,
                                         const kiln_event *const *wait, size_t wait_count,
                                         kiln_event **event, kiln_error *error) {
  KILN_REQUIRE(queue != nullptr && buffer != nullptr, error);
  return exchange(true, queue->queue, buffer->memory, wait, wait_count, event, error);
}

kiln_status kiln_buffer_release_external(kiln_queue *queue, kiln_buffer *buffer,
                                         const kiln_event *const *wait, size_t wait_count,
                                         kiln_event **event, kiln_error *error) {
  KILN_REQUIRE(queue != nullptr && buffer != nullptr, error);
  return exchange(false, queue->queue, buffer->memory, wait, wait_count, event, error);
}

kiln_status kiln_image_acquire_external(kiln_queue *queue, kiln_image *image,
                                        const kiln_event *const *wait, size_t wait_count,
                                        kiln_event **event, kiln_error *error) {
  KILN_REQUIRE(queue != nullptr && image != nullptr, error);
  return exchange(true, queue->queue, image->memory, wait, wait_count, event, error);
}

kiln_status kiln_image_release_external(kiln_queue *queue, kiln_image *image,
                                        const kiln_event *const *wait, size_t wait_count,
                                        kiln_event **event, kiln_error *error) {
  KILN_REQUIRE(queue != nullptr && image != nullptr, error);
  return exchange(false, queue->queue, image->memory, wait, wait_count, event, error);
}
