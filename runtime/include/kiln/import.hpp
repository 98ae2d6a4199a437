// SPDX-License-Identifier: Apache-2.0
/// @file
/// C++17 over import.h: buffers and images over dma-bufs and Android's hardware buffers; link
/// kiln::launch.
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

/// kiln_image_layout with `size` set; fill in the other members.
struct ImageLayout : kiln_image_layout {
  ImageLayout() : kiln_image_layout{} { size = sizeof(kiln_image_layout); }
};

/// See kiln_image_from_buffer().
inline Result<Image> image_from_buffer(const Buffer &buffer, const ImageLayout &layout) {
  return detail::make<Image, kiln_image>([&](kiln_image **out, kiln_error *error) {
    return kiln_image_from_buffer(buffer.get(), &layout, out, error);
  });
}

/// See kiln_image_from_hardware_buffer().
inline Result<Image> image_from_hardware_buffer(const Loader &loader, void *hardware_buffer,
                                                kiln_plane plane, const ImageLayout &layout,
                                                const ImportOptions &options) {
  return detail::make<Image, kiln_image>([&](kiln_image **out, kiln_error *error) {
    return kiln_image_from_hardware_buffer(loader.get(), hardware_buffer, plane, &layout, &options,
                                           out, error);
  });
}

/// See kiln_buffer_acquire_external(); on an in-order queue.
inline Status acquire_external(const Queue &queue, const Buffer &buffer) {
  return detail::call([&](kiln_error *error) {
    kiln_buffer_acquire_external(queue.get(), buffer.get(), nullptr, 0, nullptr, error);
  });
}
/// See kiln_image_acquire_external(); on an in-order queue.
inline Status acquire_external(const Queue &queue, const Image &image) {
  return detail::call([&](kiln_error *error) {
    kiln_image_acquire_external(queue.get(), image.get(), nullptr, 0, nullptr, error);
  });
}
/// See kiln_buffer_release_external(); on an in-order queue.
inline Status release_external(const Queue &queue, const Buffer &buffer) {
  return detail::call([&](kiln_error *error) {
    kiln_buffer_release_external(queue.get(), buffer.get(), nullptr, 0, nullptr, error);
  });
}
/// See kiln_image_release_external(); on an in-order queue.
inline Status release_external(const Queue &queue, const Image &image) {
  return detail::call([&](kiln_error *error) {
    kiln_image_release_external(queue.get(), image.get(), nullptr, 0, nullptr, error);
  });
}

}  // namespace kiln
