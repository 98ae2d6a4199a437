// SPDX-License-Identifier: Apache-2.0
// Tries the forms that a purpose allows, and copies frames from other packs.
#include "packs/write/encoder.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <future>
#include <map>
#include <thread>

#define ZSTD_STATIC_LINKING_ONLY  // for ZSTD_CCtx_loadDictionary_byReference
#include <zstd.h>

#include "kiln/packs/bytes.hpp"

namespace kiln::packs {

namespace {

constexpr int kLevel = 19;
constexpr int kQuickLevel = 3;            // tells which bases are worth level 19
constexpr std::size_t kMaxEarlier = 32;   // of each likeness, earlier blobs that are tried as bases
constexpr std::size_t kMaxBest = 2;       // bases that are tried at level 19
constexpr unsigned kMaxProgramBases = 2;  // source and IL leave the other bases to binaries

using Context = std::unique_ptr<ZSTD_CCtx, std::size_t (*)(ZSTD_CCtx *)>;

Status zstd_error(std::size_t code) {
  return Status::error(Code::io_error, std::string("zstd: ") + ZSTD_getErrorName(code));
}

View view_of(const Bytes &bytes) { return {bytes.data(), bytes.size()}; }

bool begins_like_dictionary(View raw) {
  const std::uint8_t magic[] = {0x37, 0xa4, 0x30, 0xec};
  return raw.size >= sizeof(magic) && std::memcmp(raw.data, magic, sizeof(magic)) == 0;
}

// Makes one frame of `raw`, coded with `base` unless that is empty.
Status compress(ZSTD_CCtx *context, View raw, View base, int level, Bytes *out) {
  if (context == nullptr) return Status::error(Code::io_error, "no memory to compress");
  ZSTD_CCtx_reset(context, ZSTD_reset_session_and_parameters);
  const auto set = [&](ZSTD_cParameter parameter, int value) {
    (void)ZSTD_CCtx_setParameter(context, parameter, value);
  };
  set(ZSTD_c_compressionLevel, level);
  if (base.size != 0) {
    // Puts all of both in reach, up to what a 32-bit reader can hold.
    set(ZSTD_c_windowLog,
        std::clamp(static_cast<int>(std::bit_width(raw.size + base.size)), 10, 27));
    const std::size_t loaded = ZSTD_CCtx_loadDictionary_byReference(context, base.data, base.size);
    if (ZSTD_isError(loaded)) return zstd_error(loaded);
  }
  out->resize(ZSTD_compressBound(raw.size));
  const std::size_t size = ZSTD_compress2(context, out->data(), out->size(), raw.data, raw.size);
  if (ZSTD_isError(size)) return zstd_error(size);
  out->resize(size);
  return {};
}

Status copy_frame(const BlobSource &source, EncodedBlob *out) {
  Bytes scratch;
  View stored;
  if (Status s = source.pack()->stored_bytes(source.blob(), &scratch, &stored); !s.ok()) return s;
  out->stored.assign(stored.data, stored.data + stored.size);
  return {};
}

// Whether a start gives it to a driver, or provisions it.
bool is_started(const BlobUse &use) {
  return use.kind == BlobKind::binary || use.kind == BlobKind::cache_entries;
}

std::string group_of(const BlobUse &use) {
  switch (use.kind) {
    case BlobKind::source: return "source";
    case BlobKind::il: return "il";
    case BlobKind::binary: return "binary " + use.profile;
    default: return "";
  }
}

// Compresses `raw` with each base that can serve, and passes the frame to take(index, frame), which
// several threads call.
Status try_bases(View raw, const std::vector<BlobSource> &bases, int level,
                 const std::function<void(std::size_t, Bytes)> &take) {
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    const Context context(ZSTD_createCCtx(), ZSTD_freeCCtx);
    for (std::size_t i = next++; i < bases.size(); i = next++) {
      Bytes base, frame;
      if (Status s = bases[i].read(&base); !s.ok()) return s;
      if (begins_like_dictionary(view_of(base))) continue;  // zstd would not take it as it is
      if (Status s = compress(context.get(), raw, view_of(base), level, &frame); !s.ok()) return s;
      take(i, std::move(frame));
    }
    return Status{};
  };
  const std::size_t threads =
      std::min<std::size_t>(bases.size(), std::max(1u, std::thread::hardware_concurrency()));
  std::vector<std::future<Status>> running;
  for (std::size_t i = 0; i < threads; ++i) {
    running.push_back(std::async(std::launch::async, work));
  }
  Status status;
  for (std::future<Status> &each : running) {
    if (Status s = each.get(); !s.ok()) status = std::move(s);
  }
  return status;
}

// Leaves the most promising bases.
Status choose_bases(View raw, std::vector<BlobSource> *bases) {
  if (bases->size() <= kMaxBest) return {};
  std::vector<std::pair<std::size_t, std::size_t>> ranked(bases->size(), {SIZE_MAX, 0});
  const auto take = [&](std::size_t i, const Bytes &frame) { ranked[i] = {frame.size(), i}; };
  if (Status s = try_bases(raw, *bases, kQuickLevel, take); !s.ok()) return s;
  std::sort(ranked.begin(), ranked.end());
  std::vector<BlobSource> best;
  for (const auto &[size, i] : ranked) {
    if (best.size() < kMaxBest && size != SIZE_MAX) best.push_back((*bases)[i]);
  }
  *bases = std::move(best);
  return {};
}

}  // namespace

Status BlobForms::check(const BlobSource &source, View *raw, EncodedBlob *out) {
  if (source.raw()) {
    *raw = view_of(*source.raw());
  } else if (source.pack()) {
    if (Status s = source.pack()->read_blob(source.blob(), &scratch_, raw); !s.ok()) return s;
  } else {
    if (Status s = source.read(&scratch_); !s.ok()) return s;
    *raw = view_of(scratch_);
  }
  if (raw->size > kMaxBlobSize) return Status::error(Code::over_limit, "a blob is over 1 GiB");
  // Blobs of one name are stored once, so a false name would replace another blob.
  if (blake2b(*raw) != source.name()) {
    return Status::error(Code::blob_corrupt, "blob: its bytes do not have the recorded name");
  }
  out->raw_size = raw->size;
  out->xxh3 = xxh3(raw->data, raw->size);
  return {};
}

Status RawForms::prepare(const Contents & /*contents*/) { return {}; }

Status RawForms::encode(const BlobSource &source, const BlobUse & /*use*/, EncodedBlob *out) {
  View raw;
  if (Status s = check(source, &raw, out); !s.ok()) return s;
  if (source.pack()) {
    out->codec = source.blob().codec();
    if (out->codec == Codec::based) {
      return Status::error(Code::bad_argument, "a blob with a base needs a compressor");
    }
    return copy_frame(source, out);
  }
  out->stored.assign(raw.data, raw.data + raw.size);
  return {};
}

Status compress_part(View raw, Bytes *out) {
  const Context context(ZSTD_createCCtx(), ZSTD_freeCCtx);
  return compress(context.get(), raw, {}, kLevel, out);
}

void Encoder::FreeContext::operator()(ZSTD_CCtx_s *context) const { ZSTD_freeCCtx(context); }

Encoder::Encoder(std::optional<Purpose> purpose) : purpose_(purpose), context_(ZSTD_createCCtx()) {}

Status Encoder::prepare(const Contents &contents) {
  for (const Program &program : contents.programs) {
    for (const Variant &variant : program.variants) {
      programs_.emplace(variant.hash, program.name);
      for (const auto *il : {&variant.il64, &variant.il32}) {
        if (*il) il_[variant.hash].push_back(**il);
      }
    }
  }
  return {};
}

unsigned Encoder::bases_of(const BlobSource &source) const {
  const auto known = bases_.find(source.name());
  return known == bases_.end() ? 0 : known->second;
}

// Returns whether the form in a pack can stay: if it has no base, or one that the new pack has
// already. Source, IL and launches that are raw are compressed: recordings have them so.
bool Encoder::keeps(const BlobSource &source, const BlobUse &use, EncodedBlob *out) {
  if (!source.pack() || purpose_ == Purpose::fleet || purpose_ == Purpose::raw) return false;
  out->codec = source.blob().codec();
  if (out->codec == Codec::raw) return is_started(use) && copy_frame(source, out).ok();
  if (purpose_ == Purpose::ready && is_started(use)) return false;
  if (out->codec == Codec::based) {
    out->base.emplace(source.pack(), source.pack()->blob(source.blob().base()));
    if (stored_.count(out->base->name()) == 0 || bases_of(*out->base) >= kMaxBases) {
      out->base.reset();
      return false;
    }
  }
  return copy_frame(source, out).ok();
}

// What a blob has in common with others, the most first.
std::vector<std::string> Encoder::likeness(const BlobUse &use) const {
  const std::string group = group_of(use);
  if (use.kind == BlobKind::source || use.kind == BlobKind::il) return {group};
  if (use.kind != BlobKind::binary) return {};
  std::vector<std::string> all{group + " of " + hex(use.variant)};
  const auto program = programs_.find(use.variant);
  if (program != programs_.end()) all.push_back(group + " for " + program->second);
  all.push_back(group);
  return all;
}

std::vector<BlobSource> Encoder::bases_for(const BlobSource &source, const BlobUse &use) const {
  std::vector<BlobSource> bases;
  if (purpose_ != Purpose::fleet) return bases;
  const auto add = [&](const BlobSource &base) {
    if (base.name() == source.name() || bases_of(base) >= kMaxBases) return;
    if (std::find(bases.begin(), bases.end(), base) == bases.end()) bases.push_back(base);
  };
  const auto il = il_.find(use.variant);
  if (use.kind == BlobKind::binary && il != il_.end()) {
    for (const BlobSource &module : il->second) add(module);
  }
  for (const std::string &like : likeness(use)) {
    const auto earlier = earlier_.find(like);
    if (earlier == earlier_.end()) continue;
    for (const BlobSource &each : earlier->second) add(each);
  }
  return bases;
}

Status Encoder::code(const BlobSource &source, const BlobUse &use, View raw, EncodedBlob *out) {
  const bool is_ready = purpose_ != Purpose::fleet && is_started(use);
  if (purpose_ == Purpose::raw || is_ready) {
    out->codec = Codec::raw;
    out->base.reset();
    out->stored.assign(raw.data, raw.data + raw.size);
    return {};
  }
  std::vector<BlobSource> bases = bases_for(source, use);
  if (Status s = choose_bases(raw, &bases); !s.ok()) return s;
  std::vector<Bytes> frames(bases.size());
  const auto take = [&](std::size_t i, Bytes frame) { frames[i] = std::move(frame); };
  if (Status s = try_bases(raw, bases, kLevel, take); !s.ok()) return s;
  out->codec = Codec::zstd;
  out->base.reset();
  if (Status s = compress(context_.get(), raw, {}, kLevel, &out->stored); !s.ok()) return s;
  // A base that saves little would keep others from being coded with this blob.
  std::size_t most = out->stored.size() / 4 * 3;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (frames[i].empty() || frames[i].size() > most) continue;
    most = frames[i].size() - 1;
    out->codec = Codec::based;
    out->base = bases[i];
    out->stored = std::move(frames[i]);
  }
  if (out->stored.size() < raw.size) return {};
  out->codec = Codec::raw;
  out->base.reset();
  out->stored.assign(raw.data, raw.data + raw.size);
  return {};
}

void Encoder::remember(const BlobSource &source, const BlobUse &use, const EncodedBlob &coded) {
  stored_.insert(source.name());
  if (coded.base) bases_.emplace(source.name(), bases_of(*coded.base) + 1);
  const unsigned most = use.kind == BlobKind::binary ? kMaxBases : kMaxProgramBases;
  if (bases_of(source) >= most) return;
  for (const std::string &like : likeness(use)) {
    std::vector<BlobSource> &earlier = earlier_[like];
    if (earlier.size() == kMaxEarlier) earlier.erase(earlier.begin());
    earlier.push_back(source);
  }
}

Status Encoder::encode(const BlobSource &source, const BlobUse &use, EncodedBlob *out) {
  View raw;
  if (Status s = check(source, &raw, out); !s.ok()) return s;
  if (!keeps(source, use, out)) {
    if (Status s = code(source, use, raw, out); !s.ok()) return s;
  }
  remember(source, use, *out);
  return {};
}

}  // namespace kiln::packs
