// SPDX-License-Identifier: Apache-2.0
// Decodes each blob once, recomputes the names of recorded programs, and checks the records of
// programs, targets and measurements in turn.
#include "builder/inspect/pack_check.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include "builder/inspect/pack_json.hpp"
#include "kiln/packs/bytes.hpp"
#include "kiln/packs/layout.hpp"
#include "runtime/identity/identity.hpp"
#include "runtime/provision/mesa_cache.hpp"
#include "runtime/source/whole_program.hpp"

namespace kiln::builder {

namespace {

using packs::Contents;

constexpr std::uint32_t kSpirvMagic = 0x07230203;

std::uint32_t word_at(const packs::Bytes &bytes, std::size_t index) {
  std::uint32_t word = 0;
  for (std::size_t i = 4; i-- > 0;) word = word << 8 | bytes[4 * index + i];
  return word;
}

class DeepCheck {
 public:
  DeepCheck(const Contents &contents, const CheckLaunches &check_launches)
      : contents_(contents), check_launches_(check_launches) {
    for (const packs::Program &program : contents.programs) {
      for (const packs::Variant &v : program.variants) variants_.emplace(v.hash, &v);
    }
  }

  void check_programs() {
    for (const packs::Program &program : contents_.programs) {
      check_hints(program);
      for (const packs::Variant &variant : program.variants) {
        const std::string name = program.name + "/" + variant.name;
        check_il(name + " SPIR-V, 32-bit", variant.il32, variant.il_version);
        check_il(name + " SPIR-V, 64-bit", variant.il64, variant.il_version);
        check_launches(name + " launches", variant);
      }
    }
  }

  void check_targets() {
    for (const packs::Target &target : contents_.targets) {
      check_key(target);
      if (target.cache_entries) {
        check_cache_entries(target_label(target) + ", cache entries", target,
                            *target.cache_entries);
      }
      for (const packs::Binary &b : target.binaries) check_binary(target, b, "");
      for (const packs::Binary &b : target.intermediates) check_binary(target, b, ", intermediate");
    }
  }

  void check_records() {
    for (const packs::Tuning &tuning : contents_.tunings) check_tuning(tuning);
  }

  void check_unused(const packs::Pack &pack, const packs::Layout &layout) {
    std::set<packs::Digest> used;
    for_each_blob([&](const packs::BlobSource &blob) { used.insert(blob.name()); });
    std::vector<packs::BlobRef> entries = layout.blobs;
    for (const auto &section : layout.sections) {
      entries.insert(entries.end(), section.blobs.begin(), section.blobs.end());
    }
    for (const packs::BlobRef entry : entries) {
      if (entry.base() != 0) used.insert(pack.blob(entry.base()).name());
    }
    for (const packs::BlobRef entry : entries) {
      if (!used.insert(entry.name()).second) continue;
      const std::string name = "blob " + packs::hex(entry.name()).substr(0, 16);
      packs::Bytes scratch;
      packs::View raw;
      if (const Status s = pack.read_blob(entry, &scratch, &raw); !s.ok()) {
        fault(name, s.message);
      } else if (packs::blake2b(raw) != entry.name()) {
        fault(name, "the bytes do not match the BLAKE2b hash that names them");
      }
      note(name, "nothing refers to it");
    }
  }

  DeepFindings take() { return std::move(findings_); }

 private:
  void fault(const std::string &what, const std::string &text) {
    findings_.faults.push_back({what, text});
  }
  void note(const std::string &what, const std::string &text) {
    findings_.notes.push_back({what, text});
  }

  void for_each_blob(const std::function<void(const packs::BlobSource &)> &use) const {
    for (const packs::Program &program : contents_.programs) {
      for (const packs::Variant &v : program.variants) {
        for (const auto *blob : {&v.source, &v.il32, &v.il64, &v.launches}) {
          if (*blob) use(**blob);
        }
      }
    }
    for (const packs::Target &target : contents_.targets) {
      if (target.cache_entries) use(*target.cache_entries);
      for (const auto *binaries : {&target.binaries, &target.intermediates}) {
        for (const packs::Binary &binary : *binaries) {
          use(binary.blob);
          if (binary.cache_entries) use(*binary.cache_entries);
        }
      }
    }
  }

  void check_hints(const packs::Program &program) {
    const auto check = [&](const std::string &name, const char *hint) {
      const bool known = std::any_of(program.variants.begin(), program.variants.end(),
                                     [&](const packs::Variant &v) { return v.name == name; });
      if (!known)
        note("program " + program.name, fmt::format("{} names {}, which it lacks", hint, name));
    };
    for (const std::string &name : program.preferred) check(name, "preferred");
    if (!program.baseline.empty()) check(program.baseline, "baseline");
  }

  void check_il(const std::string &what, const std::optional<packs::BlobSource> &il,
                std::uint32_t version) {
    packs::Bytes bytes;
    if (!il || !il->read(&bytes).ok()) return;
    if (bytes.size() < 20 || bytes.size() % 4 != 0 || word_at(bytes, 0) != kSpirvMagic) {
      fault(what, "this is no SPIR-V module");
    } else if (word_at(bytes, 1) != version) {
      fault(what, fmt::format("its version word is {:#010x}, the pack says {:#010x}",
                              word_at(bytes, 1), version));
    }
  }

  void check_launches(const std::string &what, const packs::Variant &variant) {
    packs::Bytes bytes;
    if (!variant.launches || !variant.launches->read(&bytes).ok()) return;
    const std::string text(bytes.begin(), bytes.end());
    const Status status = check_launches_(variant, text);
    if (!status.ok()) {
      fault(what, status.message);
    } else if (packs::united_launches(text, text) != text) {
      fault(what, "the lines do not rise, are not of one kind each, or are too many");
    }
  }

  void check_key(const packs::Target &target) {
    const auto facts = runtime::parse_facts(target.key);
    const std::string what = "target " + target_label(target);
    if (!facts || facts->empty()) {
      fault(what, "its key is not the text of a binary key");
    } else if (facts->front() != std::pair<std::string, std::string>("profile", target.profile)) {
      fault(what, fmt::format("its key does not begin with its profile, {}", target.profile));
    }
  }

  void check_cache_entries(const std::string &what, const packs::Target &target,
                           const packs::BlobSource &blob) {
    packs::Bytes bytes;
    if (target.profile != "rusticl" || !blob.read(&bytes).ok()) return;
    runtime::MesaBlob entries;
    const Status status = runtime::parse_mesa_blob({bytes.data(), bytes.size()}, &entries);
    if (!status.ok()) fault(what, status.message);
  }

  void check_binary(const packs::Target &target, const packs::Binary &binary, const char *kind) {
    const std::string what = fmt::format("{}{} for {}", variant_label(contents_, binary.variant),
                                         kind, target_label(target));
    const auto variant = variants_.find(binary.variant);
    if (variant == variants_.end()) {
      note(what, "the pack does not have the variant");
    } else if (!binary.kernels.empty() &&
               binary.kernels.size() != variant->second->kernels.size()) {
      fault(what, fmt::format("it has facts of {} kernels, the variant has {}",
                              binary.kernels.size(), variant->second->kernels.size()));
    }
    const auto &sizes = binary.finish.local_sizes;
    if (std::adjacent_find(sizes.begin(), sizes.end(), std::greater_equal<>()) != sizes.end()) {
      fault(what, "the work-group sizes that it holds code for do not rise");
    }
    if (binary.cache_entries)
      check_cache_entries(what + ", cache entries", target, *binary.cache_entries);
  }

  void check_tuning(const packs::Tuning &tuning) {
    const auto same_name = [](const std::string &name) {
      return [&name](const auto &part) { return part.name == name; };
    };
    const auto &programs = contents_.programs;
    const auto program = std::find_if(programs.begin(), programs.end(), same_name(tuning.program));
    const std::string what = fmt::format("tuning {}/{}", tuning.program, tuning.variant);
    if (program == programs.end()) return note(what, "the pack does not have the program");
    const auto &variants = program->variants;
    const auto variant = std::find_if(variants.begin(), variants.end(), same_name(tuning.variant));
    if (variant == variants.end()) return note(what, "the program does not have the variant");
    if (tuning.variant_hash != variant->hash) {
      return note(what, "it measured other source or options than the variant's");
    }
    if (tuning.kernel.empty() ||
        std::any_of(variant->kernels.begin(), variant->kernels.end(), same_name(tuning.kernel))) {
      return;
    }
    note(what, fmt::format("the variant does not have the kernel {}", tuning.kernel));
  }

  const Contents &contents_;
  const CheckLaunches &check_launches_;
  std::map<packs::Digest, const packs::Variant *> variants_;
  DeepFindings findings_;
};

Status check_name(const std::string &program, const packs::Variant &variant,
                  const std::optional<packs::BlobSource> &code, const char *what) {
  packs::Bytes bytes;
  if (!code) return {};
  if (Status s = code->read(&bytes); !s.ok()) return s;
  const std::string_view text(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  const std::string name = source::program_name(text, variant.options);
  if (name == program) return {};
  return {Code::conflict, fmt::format("program {}, variant {}: its {} and options are of the "
                                      "program {}",
                                      program, variant.name, what, name)};
}

std::size_t blobs_of(const packs::Contents &contents) {
  std::size_t blobs = 0;
  const auto add = [&](const std::optional<packs::BlobSource> &blob) { blobs += blob ? 1 : 0; };
  for (const packs::Program &program : contents.programs) {
    for (const packs::Variant &variant : program.variants) {
      for (const auto *blob : {&variant.source, &variant.il32, &variant.il64, &variant.launches}) {
        add(*blob);
      }
    }
  }
  for (const packs::Target &target : contents.targets) {
    add(target.cache_entries);
    for (const auto *binaries : {&target.binaries, &target.intermediates}) {
      blobs += binaries->size();
      for (const packs::Binary &binary : *binaries) add(binary.cache_entries);
    }
  }
  return blobs;
}

// Decodes each blob and checks its hash and its name.
class Checker {
 public:
  Checker(const packs::Contents &contents, const BlobProgress &progress, PackCheck *check)
      : contents_(contents), progress_(progress), all_(blobs_of(contents)), check_(*check) {}

  void run() {
    for (const packs::Program &program : contents_.programs) {
      for (const packs::Variant &variant : program.variants) check(program.name, variant);
    }
    for (const packs::Target &target : contents_.targets) check(target);
  }

 private:
  // The contents of a blob's entry; many tables may hold the same entry.
  using Entry = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, packs::Codec,
                           std::uint32_t, packs::Digest>;

  static packs::Status checked(const packs::BlobSource &blob) {
    packs::Bytes bytes;
    const packs::Status status = blob.read(&bytes);
    if (!status.ok() || packs::blake2b({bytes.data(), bytes.size()}) == blob.name()) return status;
    return {packs::Code::blob_corrupt,
            "blob: the bytes do not match the BLAKE2b hash that names them"};
  }

  void check(const packs::BlobSource &blob, const std::string &what) {
    progress_(what, check_.blobs++, all_);
    const packs::BlobRef entry = blob.blob();
    const auto [place, fresh] =
        known_.emplace(Entry{entry.offset(), entry.stored_size(), entry.raw_size(), entry.xxh3(),
                             entry.codec(), entry.base(), entry.name()},
                       packs::Status());
    if (fresh) place->second = checked(blob);
    check_.add(place->second, what);
  }

  void check(const std::optional<packs::BlobSource> &blob, const std::string &what) {
    if (blob) check(*blob, what);
  }

  void check(const std::string &program, const packs::Variant &variant) {
    const std::string name = program + "/" + variant.name;
    check(variant.source, name + " source");
    check(variant.il32, name + " SPIR-V, 32-bit");
    check(variant.il64, name + " SPIR-V, 64-bit");
    check(variant.launches, name + " launches");
    // The fault of an unreadable blob is already recorded.
    const Status status = check_variant(program, variant);
    if (status.code == Code::conflict) check_.add(status, name);
  }

  void check(const packs::Target &target, const packs::Binary &binary, const char *kind) {
    const std::string name = fmt::format("{}{} for {}", variant_label(contents_, binary.variant),
                                         kind, target_label(target));
    check(binary.blob, name);
    check(binary.cache_entries, name + ", cache entries");
  }

  void check(const packs::Target &target) {
    check(target.cache_entries, target_label(target) + ", cache entries");
    for (const packs::Binary &binary : target.binaries) {
      ++check_.binaries;
      check_.final += binary.finish.finality == packs::Finality::yes ? 1 : 0;
      check_.not_final += binary.finish.finality == packs::Finality::no ? 1 : 0;
      check(target, binary, "");
    }
    for (const packs::Binary &binary : target.intermediates) {
      check(target, binary, ", intermediate");
    }
  }

  const packs::Contents &contents_;
  const BlobProgress &progress_;
  std::size_t all_;
  PackCheck &check_;
  std::map<Entry, packs::Status> known_;
};

}  // namespace

Result<DeepFindings> check_deeply(const packs::Pack &pack, const Contents &contents,
                                  const CheckLaunches &check_launches) {
  packs::Layout layout;
  if (Status s = packs::read_layout(pack, &layout); !s.ok()) return s;
  DeepCheck check(contents, check_launches);
  check.check_programs();
  check.check_targets();
  check.check_records();
  check.check_unused(pack, layout);
  return check.take();
}

Status check_variant(const std::string &program, const packs::Variant &variant) {
  if (Status s = packs::check_variant_hash(program, variant); !s.ok()) return s;
  if (!source::is_program_name(program)) return {};
  // SPIR-V made from a recorded source is not part of the name.
  if (variant.source) return check_name(program, variant, variant.source, "source");
  Status s = check_name(program, variant, variant.il32, "32-bit SPIR-V");
  return s.ok() ? check_name(program, variant, variant.il64, "64-bit SPIR-V") : s;
}

Status check_variants(const packs::Contents &contents) {
  for (const packs::Program &program : contents.programs) {
    for (const packs::Variant &variant : program.variants) {
      if (Status s = check_variant(program.name, variant); s.code == Code::conflict) return s;
    }
  }
  return {};
}

void PackCheck::add(const packs::Status &status, const std::string &what) {
  if (!status.ok()) faults.push_back({what, status.message, packs::code_name(status.code)});
}

void check_pack(const packs::Pack &pack, const packs::Contents &contents,
                const BlobProgress &progress, PackCheck *out) {
  Checker(contents, progress, out).run();
  out->add(packs::check_layout(pack), "layout");
}

}  // namespace kiln::builder
