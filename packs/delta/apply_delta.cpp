// SPDX-License-Identifier: Apache-2.0
// Makes the new pack from the old one and a delta, part by part, and checks each part before its
// use.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>

#include <sodium.h>
#include <zstd.h>

#include "kiln/packs/bytes.hpp"
#include "kiln/packs/delta.hpp"
#include "kiln/packs/files.hpp"
#include "kiln/packs/output_file.hpp"
#include "kiln/packs/text.hpp"
#include "packs/delta/delta_format.hpp"

namespace kiln::packs {
namespace {

// A zstd block takes at least 4 bytes and yields at most 128 KiB.
constexpr std::uint64_t kLargestExpansion = (128 << 10) / 4;

Status false_frame(const char *what) {
  return Status::error(Code::section_malformed, {"the delta has a false frame: ", what});
}

class DeltaApplier {
 public:
  DeltaApplier(const Pack &old_pack, const Storage &delta, const DeltaSink &sink)
      : old_(old_pack), delta_(delta), sink_(sink), context_(ZSTD_createDCtx(), ZSTD_freeDCtx) {}

  Status apply(DeltaFacts *facts) {
    if (Status s = read_header(); !s.ok()) return s;
    crypto_generichash_state state;
    crypto_generichash_init(&state, nullptr, 0, kDigestSize);
    hash_ = &state;
    std::uint64_t at = kDeltaHeaderSize;
    while (made_ < header_.new_size) {
      if (Status s = apply_part(&at); !s.ok()) return s;
    }
    if (at != header_.delta_size) {
      return Status::error(Code::section_malformed, "the delta goes on behind the new pack's end");
    }
    Digest name{};
    crypto_generichash_final(&state, name.data(), name.size());
    if (name != header_.new_name) {
      return Status::error(Code::section_malformed,
                           "the delta makes a file that does not have the BLAKE2b hash in it");
    }
    *facts = {header_.old_name, header_.new_name,   header_.old_size,
              header_.new_size, header_.delta_size, copied_};
    return {};
  }

 private:
  Status read_header() {
    std::uint8_t bytes[kDeltaHeaderSize] = {};
    const auto size =
        static_cast<std::size_t>(std::min<std::uint64_t>(sizeof(bytes), delta_.size()));
    if (Status s = delta_.read(0, size, bytes); !s.ok()) return s;
    if (Status s = decode_delta_header({bytes, size}, delta_.size(), &header_); !s.ok()) return s;
    Digest name;
    if (Status s = delta_name(old_, &name); !s.ok()) return s;
    const std::uint64_t size_of_old = old_.superblock().pack_size;
    if (name == header_.old_name && size_of_old == header_.old_size) return {};
    return Status::error(Code::conflict,
                         {"the delta is for another pack: for ", hex(header_.old_name), " of ",
                          decimal(header_.old_size), " bytes, not for ", hex(name), " of ",
                          decimal(size_of_old), " bytes"});
  }

  Status apply_part(std::uint64_t *at) {
    const std::uint64_t left = header_.delta_size - *at;
    std::uint8_t first[kDeltaPartHeadSize] = {};
    const auto some = static_cast<std::size_t>(std::min<std::uint64_t>(sizeof(first), left));
    if (Status s = delta_.read(*at, some, first); !s.ok()) return s;
    DeltaPartHead head;
    if (Status s = decode_delta_part_head(first, left, &head); !s.ok()) return s;
    stored_.resize(static_cast<std::size_t>(head.size()));
    if (Status s = delta_.read(*at, stored_.size(), stored_.data()); !s.ok()) return s;
    *at += stored_.size();
    DeltaPart part;
    Status s = decode_delta_part({stored_.data(), stored_.size()}, head, header_.old_size,
                                 header_.new_size - made_, &part);
    if (s.ok()) s = decode_frame(part);
    return s.ok() ? run(part) : s;
  }

  // Checks that bytes of the old pack are the ones from which the delta was made.
  static Status check_old(const DeltaEntry &entry, View bytes) {
    if (xxh3(bytes.data, bytes.size) == entry.xxh3) return {};
    return Status::error(
        Code::blob_corrupt,
        {"the old pack is damaged: its bytes ", decimal(entry.offset), " to ",
         decimal(entry.offset + entry.size), " are not those of which the delta was made"});
  }

  Status decode_frame(const DeltaPart &part) {
    literal_.clear();
    prefix_.clear();
    std::uint64_t size = 0;
    for (const DeltaEntry &range : part.ranges) size += range.size;
    prefix_.reserve(static_cast<std::size_t>(size));
    for (const DeltaEntry &range : part.ranges) {
      const std::size_t at = prefix_.size();
      Status s = append_bytes(old_, range.offset, range.size, &prefix_);
      if (s.ok()) s = check_old(range, {prefix_.data() + at, prefix_.size() - at});
      if (!s.ok()) return s;
    }
    if (part.literal == 0) return {};
    const View frame = part.frame;
    const std::uint8_t magic[] = {0x28, 0xb5, 0x2f, 0xfd};
    if (frame.size < sizeof(magic) || std::memcmp(frame.data, magic, sizeof(magic)) != 0) {
      return false_frame("not a zstd frame");
    }
    if (ZSTD_getFrameContentSize(frame.data, frame.size) != part.literal ||
        part.literal / kLargestExpansion > frame.size ||
        ZSTD_findFrameCompressedSize(frame.data, frame.size) != frame.size) {
      return false_frame("not one whole frame of the recorded size");
    }
    literal_.resize(part.literal);
    ZSTD_DCtx_refPrefix(context_.get(), prefix_.data(), prefix_.size());
    const std::size_t got = ZSTD_decompressDCtx(context_.get(), literal_.data(), literal_.size(),
                                                frame.data, frame.size);
    if (ZSTD_isError(got)) return false_frame(ZSTD_getErrorName(got));
    return got == literal_.size() ? Status() : false_frame("it ends early");
  }

  Status run(const DeltaPart &part) {
    const std::uint8_t *literal = literal_.data();
    for (const DeltaEntry &operation : part.operations) {
      View view{literal, static_cast<std::size_t>(operation.size)};
      if (operation.offset == kLiteralOffset) {
        literal += view.size;
      } else {
        Status s = old_.bytes_at(operation.offset, operation.size, &scratch_, &view);
        if (s.ok()) s = check_old(operation, view);
        if (!s.ok()) return s;
        copied_ += view.size;
      }
      crypto_generichash_update(hash_, view.data, view.size);
      if (Status s = sink_(view); !s.ok()) return s;
      made_ += view.size;
    }
    return {};
  }

  const Pack &old_;
  const Storage &delta_;
  const DeltaSink &sink_;
  std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context_;
  crypto_generichash_state *hash_ = nullptr;
  DeltaHeader header_;
  Bytes stored_;
  Bytes prefix_;
  Bytes literal_;
  Bytes scratch_;
  std::uint64_t made_ = 0;
  std::uint64_t copied_ = 0;
};

Status as_output_fault(Status status) {
  if (!status.ok() && status.code != Code::no_space) status.code = Code::failed;
  return status;
}

}  // namespace

Status apply_delta(const Pack &old_pack, const Storage &delta, const DeltaSink &sink,
                   DeltaFacts *facts) {
  return DeltaApplier(old_pack, delta, sink).apply(facts);
}

Status apply_delta(const Pack &old_pack, const std::string &delta, const std::string &path,
                   DeltaFacts *facts) {
  const Descriptor file(open_at(kWorkingFolder, delta.c_str(), O_RDONLY));
  const auto in_delta = [&](Status s) {
    if (!s.ok()) s.message = delta + ": " + s.message;
    return s;
  };
  if (!file) {
    const Code fault = errno == ENOENT ? Code::not_found : Code::io_error;
    return in_delta(Status::error(fault, open_fault(errno)));
  }
  Storage storage;
  if (Status s = storage.open(file.get(), 0, kMaxPackSize); !s.ok()) return in_delta(s);
  OutputFile out;
  if (Status s = out.open(path); !s.ok()) return as_output_fault(std::move(s));
  Status written;
  const DeltaSink sink = [&](View view) {
    written = as_output_fault(out.append(view));
    return written;
  };
  const Status s = apply_delta(old_pack, storage, sink, facts);
  if (!written.ok()) return written;
  if (!s.ok()) return in_delta(s);
  return as_output_fault(out.commit());
}

}  // namespace kiln::packs
