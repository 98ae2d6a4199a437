// SPDX-License-Identifier: Apache-2.0
// kiln verify: check every byte of a pack.
#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "builder/cli/device_options.hpp"
#include "builder/inspect/deep_check.hpp"
#include "builder/inspect/pack_json.hpp"
#include "builder/inspect/printable.hpp"
#include "builder/inspect/program_check.hpp"
#include "builder/launch/recorded_launch.hpp"
#include "builder/publish/minisign.hpp"
#include "kiln/packs/soundness.hpp"

namespace kiln::cli {
namespace {

struct VerifyArguments {
  std::string path;
  std::vector<std::string> keys;
  std::string signature;       // a file of a detached one; empty: none
  std::uint64_t revision = 0;  // the smallest
  bool deep = false;
  bool json = false;
};

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
class Verifier {
 public:
  // `all`: how many blobs there are, for the progress.
  Verifier(std::string path, std::size_t all) : path_(std::move(path)), all_(all) {}

  void check(const packs::BlobSource &blob, const std::string &what) {
    progress(what, blobs_++, all_);
    const packs::BlobRef entry = blob.blob();
    const auto [place, fresh] =
        known_.emplace(Entry{entry.offset(), entry.stored_size(), entry.raw_size(), entry.xxh3(),
                             entry.codec(), entry.base(), entry.name()},
                       packs::Status());
    if (fresh) place->second = checked(blob);
    check(place->second, what);
  }
  void check(const std::optional<packs::BlobSource> &blob, const std::string &what) {
    if (blob) check(*blob, what);
  }
  std::size_t blobs() const { return blobs_; }
  const nlohmann::json &faults() const { return faults_; }

  void check(const packs::Status &status, const std::string &what) {
    if (!status.ok())
      fail(what, status.message, fmt::format(" [{}]", packs::code_name(status.code)));
  }
  void add(const builder::Finding &fault) { fail(fault.what, fault.text, ""); }

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

  void fail(const std::string &what, const std::string &why, const std::string &code) {
    complain(builder::printable_line(fmt::format("{}: {}: {}{}", path_, what, why, code)));
    faults_.push_back({{"what", what}, {"fault", why}});
  }

  std::string path_;
  std::size_t all_;
  std::size_t blobs_ = 0;
  std::map<Entry, packs::Status> known_;
  nlohmann::json faults_ = nlohmann::json::array();
};

void check_variant(const std::string &program, const packs::Variant &variant, Verifier *verifier) {
  const std::string name = program + "/" + variant.name;
  verifier->check(variant.source, name + " source");
  verifier->check(variant.il32, name + " SPIR-V, 32-bit");
  verifier->check(variant.il64, name + " SPIR-V, 64-bit");
  verifier->check(variant.launches, name + " launches");
  // A blob that cannot be read has its fault already.
  const Status status = builder::check_variant(program, variant);
  if (status.code == Code::conflict) verifier->check(status, name);
}

// How many of the binaries leave nothing to compile at their first launch.
struct Finals {
  std::size_t all = 0;
  std::size_t yes = 0;
  std::size_t no = 0;

  void add(const packs::Finish &finish) {
    ++all;
    yes += finish.finality == packs::Finality::yes ? 1 : 0;
    no += finish.finality == packs::Finality::no ? 1 : 0;
  }
  std::string text() const {
    if (all == 0) return {};
    std::string text = fmt::format("; binaries: {} final", yes);
    if (no != 0) text += fmt::format(", {} not", no);
    if (all != yes + no) text += fmt::format(", {} not launched", all - yes - no);
    return text;
  }
};

void check_target(const packs::Contents &contents, const packs::Target &target, Verifier *verifier,
                  Finals *finals) {
  const auto check = [&](const packs::Binary &binary, const char *kind) {
    const std::string name =
        fmt::format("{}{} for {}", builder::variant_label(contents, binary.variant), kind,
                    builder::target_label(target));
    verifier->check(binary.blob, name);
    verifier->check(binary.auxiliary, name + ", auxiliary");
  };
  verifier->check(target.auxiliary, builder::target_label(target) + ", auxiliary");
  for (const packs::Binary &binary : target.binaries) {
    finals->add(binary.finish);
    check(binary, "");
  }
  for (const packs::Binary &binary : target.intermediates) check(binary, ", intermediate");
}

// Whether the lines can be launched, for kernels that the variant has.
Status check_launch_lines(const packs::Variant &variant, std::string_view lines) {
  const auto launches = builder::parse_launches(lines);
  if (!launches.ok()) return launches.status();
  for (const builder::RecordedLaunch &launch : *launches) {
    const bool known =
        std::any_of(variant.kernels.begin(), variant.kernels.end(),
                    [&](const auto &kernel) { return kernel.name == launch.kernel; });
    if (!known) return {Code::failed, "the variant does not have the kernel " + launch.kernel};
  }
  return {};
}

// The notes are results, not faults.
Status verify_deeply(const OpenPack &open, Verifier *verifier,
                     std::vector<builder::Finding> *notes) {
  auto findings = builder::check_deeply(*open.pack, open.contents, check_launch_lines);
  if (!findings.ok()) return findings.status();
  for (const builder::Finding &fault : findings->faults) verifier->add(fault);
  *notes = std::move(findings->notes);
  return {};
}

void verify_contents(const OpenPack &open, Verifier *verifier, Finals *finals) {
  for (const packs::Program &program : open.contents.programs) {
    for (const packs::Variant &v : program.variants) check_variant(program.name, v, verifier);
  }
  for (const packs::Target &target : open.contents.targets) {
    check_target(open.contents, target, verifier, finals);
  }
  end_progress();
  verifier->check(packs::check_layout(*open.pack), "layout");
}

// What became of the signatures.
struct Vouched {
  std::size_t signatures = 0;  // in the pack
  bool asked = false;          // for a key's
  std::optional<packs::Signature> by{};

  std::string text() const {
    if (by) {
      return fmt::format("; revision {}, signed by the key {}", by->revision,
                         packs::key_text(by->key));
    }
    return asked || signatures == 0
               ? std::string()
               : fmt::format("; {}, not checked without --key", count(signatures, "signature"));
  }
  void add_to(nlohmann::json *shown) const {
    (*shown)["signatures"] = signatures;
    if (!asked) return;
    (*shown)["signed_by"] = nullptr;
    if (!by) return;
    (*shown)["signed_by"] = {{"key", packs::key_text(by->key)}, {"revision", by->revision}};
  }
};

// Damaged ones have been told by the layout's check.
Status verify_signatures(const packs::Pack &pack, const VerifyArguments &options,
                         const packs::Demand &demand, Verifier *verifier, Vouched *out) {
  std::vector<packs::Signature> signatures;
  const bool readable = packs::read_signatures(pack, &signatures).ok();
  out->signatures = signatures.size();
  out->asked = !options.keys.empty();
  if (!out->asked) return {};
  if (!options.signature.empty()) {
    const auto texts = builder::read_detached_files(options.signature);
    if (!texts.ok()) return texts.status();
    packs::Signature detached;
    if (Status s = packs::read_detached(pack, *texts, &detached); !s.ok()) {
      verifier->check(s, options.signature);
      return {};
    }
    signatures = {detached};
  } else if (!readable) {
    return {};
  }
  packs::Signature found;
  const packs::Status trusted =
      packs::find_trusted(pack.superblock(), packs::root_name(pack), signatures, demand, &found);
  verifier->check(trusted, "signature");
  if (trusted.ok()) out->by = found;
  return {};
}

nlohmann::json verify_json(const Verifier &verifier, const Finals &finals) {
  return {{"schema", 1},
          {"sound", verifier.faults().empty()},
          {"blobs", verifier.blobs()},
          {"binaries", finals.all},
          {"final", finals.yes},
          {"not_final", finals.no},
          {"faults", verifier.faults()}};
}

int verify(const VerifyArguments &options) {
  const auto keys = builder::read_public_keys(options.keys);
  if (!keys.ok()) return fail(keys.status());
  if (options.keys.empty() && (!options.signature.empty() || options.revision != 0)) {
    return fail({Code::bad_argument, "--signature and --revision need --key"});
  }
  const auto open = open_pack(options.path);
  if (!open.ok()) return fail(open.status());
  Verifier verifier(options.path, blobs_of(open->contents));
  Finals finals;
  verify_contents(*open, &verifier, &finals);
  Vouched vouched;
  if (Status s =
          verify_signatures(*open->pack, options, {*keys, options.revision}, &verifier, &vouched);
      !s.ok()) {
    return fail(s);
  }
  std::vector<builder::Finding> notes;
  if (options.deep) {
    if (Status s = verify_deeply(*open, &verifier, &notes); !s.ok()) return fail(s);
  }
  const bool sound = verifier.faults().empty();
  if (options.json) {
    nlohmann::json shown = verify_json(verifier, finals);
    vouched.add_to(&shown);
    if (options.deep) shown["notes"] = nlohmann::json::array();
    for (const auto &note : notes)
      shown["notes"].push_back({{"what", note.what}, {"note", note.text}});
    print(shown);
  } else {
    for (const auto &note : notes) {
      print("note: " + builder::printable_line(note.what + ": " + note.text) + "\n");
    }
    if (sound) {
      print(fmt::format("{}: sound, {} of {}{}{}\n", options.path, count(verifier.blobs(), "blob"),
                        count(open->contents.targets.size(), "target"), finals.text(),
                        vouched.text()));
    }
  }
  return sound ? kDone : kBadPack;
}

}  // namespace

void add_verify(CLI::App &app, Command *command) {
  auto options = std::make_shared<VerifyArguments>();
  CLI::App *sub =
      app.add_subcommand("verify", "Check every hash of a pack, and that it holds nothing else");
  sub->add_option("pack", options->path, "Pack to check")->required();
  sub->add_flag("--deep", options->deep,
                "Also check what blobs and records say, and what they refer to");
  sub->add_option("--key", options->keys,
                  "Public key, a file or its line, of which a signature must be; may be repeated")
      ->allow_extra_args(false)
      ->type_name("KEY");
  sub->add_option("--signature", options->signature,
                  "Detached signature, PACK.statement.minisig, instead of the pack's own")
      ->type_name("FILE");
  sub->add_option("--revision", options->revision, "The smallest revision that will do")
      ->type_name("N");
  add_json_flag(*sub, &options->json);
  sub->callback([=] { *command = [=] { return verify(*options); }; });
}

}  // namespace kiln::cli
