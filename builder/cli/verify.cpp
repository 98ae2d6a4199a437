// SPDX-License-Identifier: Apache-2.0
// kiln verify: check every byte of a pack.
#include <fmt/format.h>

#include "builder/cli/device_options.hpp"
#include "builder/inspect/pack_json.hpp"
#include "kiln/packs/soundness.hpp"

namespace kiln::cli {
namespace {

// Decodes each blob and checks its hash and its name.
class Verifier {
 public:
  explicit Verifier(std::string path) : path_(std::move(path)) {}

  void check(const packs::BlobSource &blob, const std::string &what) {
    ++blobs_;
    packs::Bytes bytes;
    const packs::Status status = blob.read(&bytes);
    if (!status.ok()) {
      fail(what, status.code, status.message);
    } else if (packs::blake2b({bytes.data(), bytes.size()}) != blob.name()) {
      fail(what, packs::Code::blob_corrupt,
           "blob: its bytes do not have the BLAKE2b hash that names it");
    }
  }
  std::size_t blobs() const { return blobs_; }
  const nlohmann::json &faults() const { return faults_; }

  void check(const packs::Status &status, const std::string &what) {
    if (!status.ok()) fail(what, status.code, status.message);
  }

 private:
  void fail(const std::string &what, packs::Code fault, const std::string &why) {
    complain(fmt::format("{}: {}: {} [{}]", path_, what, why, packs::code_name(fault)));
    faults_.push_back({{"what", what}, {"fault", why}});
  }

  std::string path_;
  std::size_t blobs_ = 0;
  nlohmann::json faults_ = nlohmann::json::array();
};

void check_variant(const std::string &program, const packs::Variant &variant, Verifier *verifier) {
  const std::string name = program + "/" + variant.name;
  if (variant.source) verifier->check(*variant.source, name + " source");
  if (variant.il32) verifier->check(*variant.il32, name + " SPIR-V, 32-bit");
  if (variant.il64) verifier->check(*variant.il64, name + " SPIR-V, 64-bit");
  // A source that cannot be read has its fault already.
  packs::Status hash = packs::check_variant_hash(program, variant);
  if (hash.code == packs::Code::conflict) verifier->check(hash, name);
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
    if (binary.auxiliary) verifier->check(*binary.auxiliary, name + ", auxiliary");
  };
  for (const packs::Binary &binary : target.binaries) {
    finals->add(binary.finish);
    check(binary, "");
  }
  for (const packs::Binary &binary : target.intermediates) check(binary, ", intermediate");
}

int verify(const std::string &path, bool as_json) {
  const auto open = open_pack(path);
  if (!open.ok()) return fail(open.status());
  Verifier verifier(path);
  for (const packs::Program &program : open->contents.programs) {
    for (const packs::Variant &v : program.variants) check_variant(program.name, v, &verifier);
  }
  Finals finals;
  for (const packs::Target &target : open->contents.targets) {
    check_target(open->contents, target, &verifier, &finals);
  }
  verifier.check(packs::check_layout(*open->pack), "layout");
  const bool sound = verifier.faults().empty();
  if (as_json) {
    print(nlohmann::json{{"schema", 1},
                         {"sound", sound},
                         {"blobs", verifier.blobs()},
                         {"binaries", finals.all},
                         {"final", finals.yes},
                         {"not_final", finals.no},
                         {"faults", verifier.faults()}});
  } else if (sound) {
    print(fmt::format("{}: sound, {} of {}{}\n", path, count(verifier.blobs(), "blob"),
                      count(open->contents.targets.size(), "target"), finals.text()));
  }
  return sound ? kDone : kBadPack;
}

}  // namespace

void add_verify(CLI::App &app, Command *command) {
  struct VerifyArguments {
    std::string path;
    bool json = false;
  };
  auto options = std::make_shared<VerifyArguments>();
  CLI::App *sub =
      app.add_subcommand("verify", "Check every hash of a pack, and that it holds nothing else");
  sub->add_option("pack", options->path, "Pack to check")->required();
  add_json_flag(*sub, &options->json);
  sub->callback([=] { *command = [=] { return verify(options->path, options->json); }; });
}

}  // namespace kiln::cli
