// SPDX-License-Identifier: Apache-2.0
/// @file
/// C++17 over import.h: buffers over dma-bufs and Android's hardware buffers.
#pragma once

#include "kiln/import.h"
#include "kiln/kiln.hpp"

namespace kiln {

/// kiln_import_options with `size` set; fill in the other members.
struct ImportOptions : kiln_import_options {
  ImportOptions() : kiln_import_options{} { size = sizeof(kiln_import_options); }
};

/// See kiln_buffer_from_dma_buf().
inline Result<Buffer> buffer_from_dma_buf(const Loader &loader, int fd, std::size_t size,
                                          const ImportOptions &options) {
  return detail::make<Buffer, kiln_buffer>([&](kiln_buffer **out, kiln_error *error) {
    return kiln_buffer_from_dma_buf(loader.get(), fd, size, &options, out, error);
  });
}

/// See kiln_buffer_from_hardware_buffer().
inline Result<Buffer> buffer_from_hardware_buffer(const Loader &loader, void *hardware_buffer,
                                                  std::size_t size, const ImportOptions &options) {
  return detail::make<Buffer, kiln_buffer>([&](kiln_buffer **out, kiln_error *error) {
    return kiln_buffer_from_hardware_buffer(loader.get(), hardware_buffer, size, &options, out,
                                            error);
  });
}

}  // namespace kiln
