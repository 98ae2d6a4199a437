// SPDX-License-Identifier: Apache-2.0
// The zstd frames of a pack: compressed blobs, roots and sections. A build without zstd
// (KILN_ZSTD=OFF) has frames_refused.cpp, which refuses each, in place of frames.cpp.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>

#include "kiln/packs/bytes.hpp"
#include "kiln/packs/status.hpp"

struct ZSTD_DCtx_s;

namespace kiln::packs {

// Whether it begins as a zstd frame, neither a skippable nor an old one.
inline bool is_frame(View bytes) {
  constexpr std::uint8_t kMagic[] = {0x28, 0xb5, 0x2f, 0xfd};
  return bytes.size >= sizeof(kMagic) && std::memcmp(bytes.data, kMagic, sizeof(kMagic)) == 0;
}

// Decodes blobs, one after another. Not thread-safe.
class FrameDecoder {
 public:
  FrameDecoder();
  FrameDecoder(const FrameDecoder &) = delete;
  FrameDecoder &operator=(const FrameDecoder &) = delete;
  ~FrameDecoder();

  // Sets `*out` to the content of `stored`, which must be exactly one frame with `raw_size` bytes
  // of content, coded with `base` unless that is empty. Fails with Code::blob_corrupt, with
  // Code::io_error for lack of memory, and without zstd with Code::unknown_feature.
  Status decode(View base, View stored, std::uint64_t raw_size, Bytes *out);

 private:
  [[maybe_unused]] ZSTD_DCtx_s *const context_;  // null without zstd
};

// Makes `*own` the content of a root or a section, at most `limit` bytes, and `*out` a view of it.
// Fails with `malformed` for what is not exactly one frame, or too small for its content, and
// otherwise as FrameDecoder::decode() does.
Status unpack_part(View stored, std::uint64_t limit, Code malformed,
                   std::unique_ptr<std::uint8_t[]> *own, View *out);

}  // namespace kiln::packs
