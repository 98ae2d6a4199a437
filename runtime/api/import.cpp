// SPDX-License-Identifier: Apache-2.0
// The C API: buffers over memory of other parts of the system.
#include "runtime/launch/memory.hpp"

#include "runtime/api/api.hpp"
#include "runtime/api/options.hpp"

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
