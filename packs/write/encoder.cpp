// SPDX-License-Identifier: Apache-2.0
// Tries the forms that a purpose allows, and copies frames from other packs.
#include "packs/write/encoder.hpp"

#include <algorithm>
#include <cstring>
#include <future>
#include <map>

#define ZSTD_STATIC_LINKING_ONLY  // for ZSTD_c_literalCompressionMode
#include <zstd.h>

#include "kiln/packs/bytes.hpp"

namespace kiln::packs {

namespace {

constexpr int kLevel = 19;
// For binaries that starts decode: faster to decode than at level 19, for some more bytes.
constexpr int kFastLevel = 12;
constexpr std::size_t kMaxTried = 48;   // blobs that a dictionary is tried on
constexpr std::size_t kMaxEarlier = 4;  // earlier sources or modules that are tried as bases

Status zstd_error(std::size_t code) {
  return Status::error(Code::io_error, std::string("zstd: ") + ZSTD_getErrorName(code));
}

View view_of(const Bytes &bytes) { return {bytes.data(), bytes.size()}; }

bool is_dictionary(View raw) {
  const std::uint8_t magic[] = {0x37, 0xa4, 0x30, 0xec};
  return raw.size >= sizeof(magic) && std::memcmp(raw.data, magic, sizeof(magic)) == 0;
}

// Makes one frame of `raw`, coded with `base` unless that is empty.
Status compress(ZSTD_CCtx *context, View raw, View base, bool fast, Bytes *out) {
  if (context == nullptr) return Status::error(Code::io_error, "no memory to compress");
  ZSTD_CCtx_reset(context, ZSTD_reset_session_and_parameters);
  const auto set = [&](ZSTD_cParameter parameter, int value) {
    (void)ZSTD_CCtx_setParameter(context, parameter, value);
  };
  set(ZSTD_c_compressionLevel, fast ? kFastLevel : kLevel);
  if (fast) set(ZSTD_c_literalCompressionMode, ZSTD_ps_disable);
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

// The blobs of one group that a dictionary could serve.
using Group = std::map<Digest, std::pair<BlobSource, Digest>>;  // by name; with the variant

std::string group_of(const BlobUse &use) {
  switch (use.kind) {
    case BlobKind::source: return "source";
    case BlobKind::il: return "il";
    case BlobKind::binary: return "binary " + use.profile;
    default: return "";
  }
}

template <typename Function>
void for_each_binary(const Contents &contents, Function function) {
  for (const Target &target : contents.targets) {
    for (const auto *binaries : {&target.binaries, &target.intermediates}) {
      for (const Binary &binary : *binaries) {
        function(binary, BlobUse{BlobKind::binary, binary.variant, target.profile});
      }
    }
  }
}

std::map<std::string, Group> groups_of(const Contents &contents) {
  std::map<std::string, Group> groups;
  const auto add = [&](const BlobSource &source, const BlobUse &use) {
    groups[group_of(use)].emplace(source.name(), std::pair(source, use.variant));
  };
  for (const Program &program : contents.programs) {
    for (const Variant &variant : program.variants) {
      if (variant.source) add(*variant.source, {BlobKind::source});
      if (variant.il32) add(*variant.il32, {BlobKind::il});
      if (variant.il64) add(*variant.il64, {BlobKind::il});
    }
  }
  for_each_binary(contents,
                  [&](const Binary &binary, const BlobUse &use) { add(binary.blob, use); });
  return groups;
}

// Returns at most `most` of `values`, evenly spaced.
template <typename T>
std::vector<T> spaced(const std::vector<T> &values, std::size_t most) {
  if (values.size() <= most) return values;
  std::vector<T> some;
  for (std::size_t i = 0; i < most; ++i) some.push_back(values[i * values.size() / most]);
  return some;
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

void Encoder::FreeContext::operator()(ZSTD_CCtx_s *context) const { ZSTD_freeCCtx(context); }

Encoder::Encoder(const WriteOptions &options) : options_(options), context_(ZSTD_createCCtx()) {}

Status Encoder::prepare(const Contents &contents) {
  for (const Program &program : contents.programs) {
    for (const Variant &variant : program.variants) {
      for (const auto *il : {&variant.il64, &variant.il32}) {
        if (*il) il_[variant.hash].push_back(**il);
      }
    }
  }
  const bool trains = options_.train != nullptr && options_.purpose == Purpose::fleet;
  return trains ? make_dictionaries(contents) : Status{};
}

Status Encoder::make_dictionaries(const Contents &contents) {
  for (const auto &[name, group] : groups_of(contents)) {
    std::vector<BlobSource> sources;
    for (const auto &entry : group) sources.push_back(entry.second.first);
    Bytes dictionary;
    if (Status s = options_.train(sources, &dictionary); !s.ok()) return s;
    if (dictionary.empty()) continue;
    Bytes frame;
    if (Status s = compress(context_.get(), view_of(dictionary), {}, false, &frame); !s.ok())
      return s;
    // Keeps the dictionary if it saves more than its size, as estimated from a sample of the blobs.
    const std::vector<BlobSource> some = spaced(sources, kMaxTried);
    const BlobSource base(std::move(dictionary));
    std::uint64_t saved = 0;
    for (const BlobSource &source : some) {
      BlobUse use{name == "il" ? BlobKind::il : BlobKind::source};
      if (name != "il" && name != "source") {
        use = {BlobKind::binary, group.at(source.name()).second};
      }
      Bytes raw;
      EncodedBlob without;
      Bytes with;
      if (Status s = source.read(&raw); !s.ok()) return s;
      if (Status s = code(source, use, view_of(raw), &without); !s.ok()) return s;
      if (Status s = compress(context_.get(), view_of(raw), view_of(*base.raw()), false, &with);
          !s.ok())
        return s;
      if (with.size() < without.stored.size()) saved += without.stored.size() - with.size();
    }
    if (saved * sources.size() > frame.size() * some.size()) dictionaries_.emplace(name, base);
  }
  return {};
}

bool Encoder::makes(const BlobSource &base) const {
  return std::any_of(dictionaries_.begin(), dictionaries_.end(),
                     [&](const auto &each) { return each.second.name() == base.name(); });
}

unsigned Encoder::bases_of(const BlobSource &source) const {
  const auto known = bases_.find(source.name());
  return known == bases_.end() ? 0 : known->second;
}

Purpose Encoder::purpose_for(const BlobSource &source) const {
  return options_.purpose.value_or(source.pack() ? Purpose::fleet : Purpose::startup);
}

// Returns whether the frame from a pack can stay. Source, IL and launches that are raw are
// compressed: recordings have them so. A frame can stay if it has no base, or if the base is a
// dictionary, or source or IL that the new pack already has, so that the number of blobs before it
// is known.
bool Encoder::keeps(const BlobSource &source, const BlobUse &use, EncodedBlob *out) {
  if (!source.pack() || options_.purpose) return false;
  out->codec = source.blob().codec();
  const bool started = use.kind == BlobKind::binary || use.kind == BlobKind::auxiliary;
  if (out->codec == Codec::raw && !started) return false;
  if (out->codec == Codec::based) {
    out->base.emplace(source.pack(), source.pack()->blob(source.blob().base()));
    Bytes raw;
    const bool stays = of_programs_.count(out->base->name()) != 0 ||
                       (out->base->blob().codec() != Codec::based && out->base->read(&raw).ok() &&
                        is_dictionary(view_of(raw)));
    if (!stays || bases_of(*out->base) >= kMaxBases) {
      out->base.reset();
      return false;
    }
  }
  return copy_frame(source, out).ok();
}

std::vector<BlobSource> Encoder::bases_for(const BlobSource &source, const BlobUse &use) const {
  std::vector<BlobSource> bases;
  if (purpose_for(source) != Purpose::fleet || use.kind == BlobKind::dictionary) return bases;
  const auto add = [&](const BlobSource &base) {
    if (base.name() != source.name() && bases_of(base) < kMaxBases) bases.push_back(base);
  };
  const auto il = il_.find(use.variant);
  if (use.kind == BlobKind::binary && il != il_.end()) {
    for (const BlobSource &module : il->second) add(module);
  }
  // Sources and modules of one project resemble each other. Only on request: readers that know no
  // bases refuse the pack.
  const auto earlier = earlier_.find(use.kind);
  if (options_.purpose == Purpose::fleet && earlier != earlier_.end()) {
    const std::vector<BlobSource> &all = earlier->second;
    std::for_each(all.end() - static_cast<std::ptrdiff_t>(std::min(all.size(), kMaxEarlier)),
                  all.end(), add);
  }
  const auto dictionary = dictionaries_.find(group_of(use));
  if (dictionary != dictionaries_.end()) add(dictionary->second);
  return bases;
}

Status Encoder::code(const BlobSource &source, const BlobUse &use, View raw, EncodedBlob *out) {
  const bool started = use.kind == BlobKind::binary || use.kind == BlobKind::auxiliary;
  const bool fast = started && purpose_for(source) == Purpose::startup;
  const std::vector<BlobSource> bases = bases_for(source, use);
  std::vector<Bytes> frames(1 + bases.size());
  std::vector<std::future<Status>> running;
  for (std::size_t i = 0; i < bases.size(); ++i) {
    running.push_back(std::async(std::launch::async, [&, i] {
      Bytes base;
      if (Status s = bases[i].read(&base); !s.ok()) return s;
      // zstd would read a blob that merely begins like a dictionary as one.
      if (is_dictionary(view_of(base)) && !makes(bases[i])) return Status{};
      return compress(Context(ZSTD_createCCtx()).get(), raw, view_of(base), false, &frames[i + 1]);
    }));
  }
  Status status = compress(context_.get(), raw, {}, fast, &frames[0]);
  for (std::future<Status> &each : running) {
    if (Status s = each.get(); !s.ok()) status = std::move(s);
  }
  if (!status.ok()) return status;
  out->codec = Codec::raw;
  out->base.reset();
  std::size_t least = raw.size;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (frames[i].empty() || frames[i].size() >= least) continue;
    least = frames[i].size();
    out->codec = i == 0 ? Codec::zstd : Codec::based;
    out->base = i == 0 ? std::nullopt : std::optional(bases[i - 1]);
    out->stored = std::move(frames[i]);
  }
  if (out->codec == Codec::raw) out->stored.assign(raw.data, raw.data + raw.size);
  return {};
}

void Encoder::remember(const BlobSource &source, const BlobUse &use, const EncodedBlob &coded) {
  if (use.kind == BlobKind::source || use.kind == BlobKind::il) {
    of_programs_.insert(source.name());
    if (!coded.base || bases_of(*coded.base) == 0) earlier_[use.kind].push_back(source);
  }
  if (coded.base) bases_.emplace(source.name(), bases_of(*coded.base) + 1);
}

Status Encoder::encode(const BlobSource &source, const BlobUse &use, EncodedBlob *out) {
  View raw;
  if (Status s = check(source, &raw, out); !s.ok()) return s;
  if (options_.purpose == Purpose::raw) {
    out->stored.assign(raw.data, raw.data + raw.size);
    return {};
  }
  if (!keeps(source, use, out)) {
    if (Status s = code(source, use, raw, out); !s.ok()) return s;
  }
  remember(source, use, *out);
  return {};
}

}  // namespace kiln::packs
