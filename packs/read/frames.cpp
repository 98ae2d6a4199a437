// SPDX-License-Identifier: Apache-2.0
// Checks a frame by its header before it allocates memory, and decodes it by zstd.
#include "packs/read/frames.hpp"

#include <algorithm>
#include <new>

#include <zstd.h>

#include "kiln/packs/format.hpp"

namespace kiln::packs {
namespace {

// A zstd block takes at least 4 bytes and yields at most 128 KiB.
constexpr std::uint64_t kMaxExpansion = (128 << 10) / 4;

Status out_of_memory() { return Status::error(Code::io_error, "no memory to decode the pack"); }

// Checks that the bytes of `part` are exactly one zstd frame, whose content size is `raw_size`, and
// that is at most `most`. To be called before allocating memory: a wrong raw size in a damaged pack
// must not make the reader allocate gigabytes.
Status check_frame(View stored, std::uint64_t raw_size, std::uint64_t most, Code code,
                   const char *part) {
  const char *fault = nullptr;
  if (!is_frame(stored) || ZSTD_findFrameCompressedSize(stored.data, stored.size) != stored.size) {
    fault = "not one whole zstd frame";
  } else if (ZSTD_getFrameContentSize(stored.data, stored.size) != raw_size) {
    fault = "the frame does not have the recorded raw size";
  } else if (raw_size > most) {
    fault = "the frame is too small, or what it holds too large";
  }
  return fault == nullptr ? Status() : Status::error(code, {part, ": ", fault});
}

}  // namespace

FrameDecoder::FrameDecoder() : context_(ZSTD_createDCtx()) {}
FrameDecoder::~FrameDecoder() { ZSTD_freeDCtx(context_); }

Status FrameDecoder::decode(View base, View stored, std::uint64_t raw_size, Bytes *out) {
  if (context_ == nullptr) return out_of_memory();
  const std::uint64_t most = kMaxExpansion * stored.size;
  Status status = check_frame(stored, raw_size, most, Code::blob_corrupt, "blob");
  if (!status.ok()) return status;
  if (raw_size > out->capacity()) out->clear();  // its old content need not be moved
  out->resize(static_cast<std::size_t>(raw_size));
  const std::size_t got = ZSTD_decompress_usingDict(context_, out->data(), out->size(), stored.data,
                                                    stored.size, base.data, base.size);
  if (got == raw_size) return {};
  return Status::error(Code::blob_corrupt, {"blob: ", ZSTD_getErrorName(got)});
}

Status unpack_part(View stored, std::uint64_t limit, Code malformed,
                   std::unique_ptr<std::uint8_t[]> *own, View *out) {
  const auto size = static_cast<std::size_t>(ZSTD_getFrameContentSize(stored.data, stored.size));
  const std::uint64_t most = std::min(limit, kMaxFrameGrowth * stored.size);
  Status status = check_frame(stored, size, most, malformed, "pack");
  if (!status.ok()) return status;
  std::unique_ptr<std::uint8_t[]> raw(new (std::nothrow) std::uint8_t[size]);
  if (!raw) return out_of_memory();
  *out = {raw.get(), size};
  if (ZSTD_decompress(raw.get(), out->size, stored.data, stored.size) != out->size) {
    return Status::error(malformed, "a frame is damaged");
  }
  *own = std::move(raw);
  return {};
}

}  // namespace kiln::packs
