// SPDX-License-Identifier: Apache-2.0
// Writes a delta: the plan in parts of bounded size, each with one frame for its literal bytes.
#include "kiln/packs/delta.hpp"

#include <algorithm>
#include <map>
#include <memory>

#include <sodium.h>
#include <zstd.h>

#include "kiln/packs/bytes.hpp"
#include "kiln/packs/output_file.hpp"
#include "packs/delta/delta_format.hpp"
#include "packs/delta/delta_plan.hpp"

namespace kiln::packs {
namespace {

constexpr int kDeltaLevel = 19;
constexpr int kLargestPlainWindow = 23;  // larger windows need long-distance matching
constexpr std::uint64_t kHashedAtOnce = 1u << 20;

Status name_all(const Pack &pack, Digest *out) {
  crypto_generichash_state state;
  crypto_generichash_init(&state, nullptr, 0, out->size());
  Bytes scratch;
  View view;
  for (std::uint64_t at = 0; at < pack.available(); at += view.size) {
    const std::uint64_t size = std::min(kHashedAtOnce, pack.available() - at);
    if (Status s = pack.bytes_at(at, size, &scratch, &view); !s.ok()) return s;
    crypto_generichash_update(&state, view.data, view.size);
  }
  crypto_generichash_final(&state, out->data(), out->size());
  return {};
}

// Compresses the literal bytes of one part after another.
class DeltaCompressor {
 public:
  DeltaCompressor() : context_(ZSTD_createCCtx(), ZSTD_freeCCtx) {}

  Status compress(View prefix, View literal, Bytes *frame) {
    int window = 10;
    while (window < 27 && (std::uint64_t{1} << window) < prefix.size + literal.size) ++window;
    ZSTD_CCtx *const context = context_.get();
    ZSTD_CCtx_reset(context, ZSTD_reset_session_and_parameters);
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, kDeltaLevel);
    ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window);
    const bool far = window > kLargestPlainWindow;
    ZSTD_CCtx_setParameter(context, ZSTD_c_enableLongDistanceMatching, far ? 1 : 0);
    ZSTD_CCtx_refPrefix(context, prefix.data, prefix.size);
    frame->resize(ZSTD_compressBound(literal.size));
    const std::size_t size =
        ZSTD_compress2(context, frame->data(), frame->size(), literal.data, literal.size);
    if (ZSTD_isError(size)) {
      return Status::error(Code::failed, {"zstd: ", ZSTD_getErrorName(size)});
    }
    frame->resize(size);
    return {};
  }

 private:
  std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context_;
};

class DeltaWriter {
 public:
  DeltaWriter(const Pack &old_pack, const Pack &new_pack, OutputFile *file)
      : old_(old_pack), new_(new_pack), file_(file) {}

  Status write(const DeltaPlan &plan) {
    for (DeltaStep step : plan.steps) {
      while (step.size > 0) {
        if (literal_.size() == kMaxDeltaLiteral || operations_.size() == kMaxDeltaEntries) {
          if (Status s = flush(plan); !s.ok()) return s;
        }
        const bool copy = step.old_offset != kLiteralOffset;
        if (Status s = copy ? add_copy(&step) : add_literal(&step); !s.ok()) return s;
      }
    }
    return operations_.empty() ? Status() : flush(plan);
  }

  std::uint64_t copied() const { return copied_; }

 private:
  Status add_copy(DeltaStep *step) {
    const std::uint64_t size = std::min<std::uint64_t>(step->size, kMaxDeltaLiteral);
    View view;
    if (Status s = old_.bytes_at(step->old_offset, size, &scratch_, &view); !s.ok()) return s;
    operations_.push_back({step->old_offset, size, xxh3(view.data, view.size)});
    copied_ += size;
    advance(size, step);
    step->old_offset += size;
    return {};
  }

  Status add_literal(DeltaStep *step) {
    const std::uint64_t size =
        std::min<std::uint64_t>(step->size, kMaxDeltaLiteral - literal_.size());
    View view;
    if (Status s = new_.bytes_at(step->new_offset, size, &scratch_, &view); !s.ok()) return s;
    operations_.push_back({kLiteralOffset, size, 0});
    literal_.insert(literal_.end(), view.data, view.data + view.size);
    advance(size, step);
    return {};
  }

  void advance(std::uint64_t size, DeltaStep *step) {
    step->new_offset += size;
    step->size -= size;
    to_ = step->new_offset;
  }

  // Returns the ranges of OLD that resemble the part's literal bytes: rising, joined across
  // paddings.
  std::map<std::uint64_t, std::uint64_t> likeness(const DeltaPlan &plan) {
    std::map<std::uint64_t, std::uint64_t> from_to;
    while (first_hint_ < plan.hints.size()) {
      const ByteRange &done = plan.hints[first_hint_].literal;
      if (done.offset + done.size > from_) break;
      ++first_hint_;
    }
    for (std::size_t i = first_hint_; i < plan.hints.size(); ++i) {
      const DeltaHint &hint = plan.hints[i];
      if (hint.literal.offset >= to_) break;
      std::uint64_t &end = from_to[hint.like.offset];
      end = std::max(end, hint.like.offset + hint.like.size);
    }
    for (auto at = from_to.begin(); at != from_to.end();) {
      const auto next = std::next(at);
      if (next == from_to.end() || next->first >= at->second + kAlignment) {
        at = next;
        continue;
      }
      at->second = std::max(at->second, next->second);
      from_to.erase(next);
    }
    return from_to;
  }

  Status read_prefix(const DeltaPlan &plan, std::vector<DeltaEntry> *ranges, Bytes *prefix) {
    std::uint64_t left = kMaxDeltaPrefix;
    for (const auto &[from, to] : likeness(plan)) {
      const std::uint64_t size = std::min(to - from, left);
      if (size == 0 || ranges->size() == kMaxDeltaEntries) break;
      ranges->push_back({from, size, 0});
      left -= size;
    }
    prefix->reserve(static_cast<std::size_t>(kMaxDeltaPrefix - left));
    for (DeltaEntry &range : *ranges) {
      const std::size_t at = prefix->size();
      Status s = append_bytes(old_, range.offset, range.size, prefix);
      if (!s.ok()) return s;
      range.xxh3 = xxh3(prefix->data() + at, prefix->size() - at);
    }
    return {};
  }

  Status flush(const DeltaPlan &plan) {
    DeltaPart part;
    Bytes prefix, frame;
    if (!literal_.empty()) {
      if (Status s = read_prefix(plan, &part.ranges, &prefix); !s.ok()) return s;
      const View literal{literal_.data(), literal_.size()};
      Status s = compressor_.compress({prefix.data(), prefix.size()}, literal, &frame);
      if (!s.ok()) return s;
    }
    part.literal = static_cast<std::uint32_t>(literal_.size());
    part.operations = std::move(operations_);
    part.frame = {frame.data(), frame.size()};
    const Bytes bytes = encode_delta_part(part);
    literal_.clear();
    operations_.clear();
    from_ = to_;
    return file_->append({bytes.data(), bytes.size()});
  }

  const Pack &old_;
  const Pack &new_;
  OutputFile *file_;
  DeltaCompressor compressor_;
  Bytes scratch_;
  // The current part, and the range of NEW that it covers.
  Bytes literal_;
  std::vector<DeltaEntry> operations_;
  std::uint64_t from_ = 0;
  std::uint64_t to_ = 0;
  std::size_t first_hint_ = 0;
  std::uint64_t copied_ = 0;
};

}  // namespace

Status make_delta(const Pack &old_pack, const Pack &new_pack, const std::string &path,
                  DeltaFacts *facts) {
  DeltaHeader header;
  header.old_size = old_pack.superblock().pack_size;
  header.new_size = new_pack.available();
  if (Status s = delta_name(old_pack, &header.old_name); !s.ok()) return s;
  if (Status s = name_all(new_pack, &header.new_name); !s.ok()) return s;
  DeltaPlan plan;
  if (Status s = plan_delta(old_pack, new_pack, &plan); !s.ok()) return s;
  OutputFile file;
  if (Status s = file.open(path); !s.ok()) return s;
  const Bytes placeholder(kDeltaHeaderSize);
  if (Status s = file.append({placeholder.data(), placeholder.size()}); !s.ok()) return s;
  DeltaWriter writer(old_pack, new_pack, &file);
  if (Status s = writer.write(plan); !s.ok()) return s;
  header.delta_size = file.size();
  const Bytes bytes = encode_delta_header(header);
  if (Status s = file.rewrite_start({bytes.data(), bytes.size()}); !s.ok()) return s;
  if (Status s = file.commit(); !s.ok()) return s;
  *facts = {header.old_name, header.new_name,   header.old_size,
            header.new_size, header.delta_size, writer.copied()};
  return {};
}

}  // namespace kiln::packs
