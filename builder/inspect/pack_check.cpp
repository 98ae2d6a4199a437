// SPDX-License-Identifier: Apache-2.0
// Decodes each blob once, and computes the names of recorded programs again.
#include "builder/inspect/pack_check.hpp"

#include <map>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include "builder/inspect/pack_json.hpp"
#include "kiln/packs/soundness.hpp"
#include "runtime/source/whole_program.hpp"

namespace kiln::builder {
namespace {

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
    add(target.auxiliary);
    for (const auto *binaries : {&target.binaries, &target.intermediates}) {
      blobs += binaries->size();
      for (const packs::Binary &binary : *binaries) add(binary.auxiliary);
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
  // All that an entry says; many tables may have it.
  using Entry = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, packs::Codec,
                           std::uint32_t, packs::Digest>;

  static packs::Status checked(const packs::BlobSource &blob) {
    packs::Bytes bytes;
    const packs::Status status = blob.read(&bytes);
    if (!status.ok() || packs::blake2b({bytes.data(), bytes.size()}) == blob.name()) return status;
    return {packs::Code::blob_corrupt,
            "blob: its bytes do not have the BLAKE2b hash that names it"};
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
    // A blob that cannot be read has its fault already.
    const Status status = check_variant(program, variant);
    if (status.code == Code::conflict) check_.add(status, name);
  }

  void check(const packs::Target &target, const packs::Binary &binary, const char *kind) {
    const std::string name = fmt::format("{}{} for {}", variant_label(contents_, binary.variant),
                                         kind, target_label(target));
    check(binary.blob, name);
    check(binary.auxiliary, name + ", auxiliary");
  }

  void check(const packs::Target &target) {
    check(target.auxiliary, target_label(target) + ", auxiliary");
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

Status check_variant(const std::string &program, const packs::Variant &variant) {
  if (Status s = packs::check_variant_hash(program, variant); !s.ok()) return s;
  if (!source::is_program_name(program)) return {};
  // SPIR-V that was made of a recorded source has no part in the name.
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
