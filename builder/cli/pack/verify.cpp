// SPDX-License-Identifier: Apache-2.0
// kiln pack verify: checks every byte of a pack. kiln pack diff: shows the differences between two
// packs.
#include <algorithm>

#include <fmt/format.h>

#include "builder/cli/shared/common_options.hpp"
#include "builder/inspect/pack_check.hpp"
#include "builder/inspect/pack_diff.hpp"
#include "builder/inspect/printable.hpp"
#include "builder/run/recorded_launch.hpp"
#include "builder/sign/public_keys.hpp"

namespace kiln::cli {

namespace {

struct VerifyArguments {
  std::string path;
  builder::PublicKeys keys;
  bool deep = false;
  bool json = false;
};

// The result of checking the signatures.
struct Vouched {
  std::size_t signatures = 0;          // in the pack
  bool asked = false;                  // --key was given
  std::vector<packs::Signature> by{};  // as many as are required, the newest first

  std::string text() const {
    if (!by.empty()) {
      std::string names;
      for (const auto &one : by) names += (names.empty() ? "" : ", ") + packs::key_text(one.key);
      return fmt::format("; revision {}, signed by the {} {}", by.back().revision,
                         by.size() == 1 ? "key" : "keys", names);
    }
    return asked || signatures == 0
               ? std::string()
               : fmt::format("; {}, not checked without --key", count(signatures, "signature"));
  }
  void add_to(nlohmann::json *shown) const {
    (*shown)["signatures"] = signatures;
    if (!asked) return;
    (*shown)["signed_by"] = nullptr;
    (*shown)["signers"] = nlohmann::json::array();
    for (const packs::Signature &one : by) {
      (*shown)["signers"].push_back(
          {{"key", packs::key_text(one.key)}, {"revision", one.revision}});
    }
    if (!by.empty()) (*shown)["signed_by"] = (*shown)["signers"][0];
  }
};

// Looks for a signature of the keys. Damaged signatures were already reported by the check of the
// layout.
void verify_signatures(const packs::Pack &pack, const packs::Demand &demand,
                       builder::PackCheck *check, Vouched *out) {
  std::vector<packs::Signature> signatures;
  const bool readable = packs::read_signatures(pack, &signatures).ok();
  out->signatures = signatures.size();
  out->asked = !demand.keys.empty();
  if (!out->asked || !readable) return;
  check->add(
      packs::find_trusted(pack.superblock(), packs::root_name(pack), signatures, demand, &out->by),
      "signature");
}

// Returns how many binaries compile nothing at their first launch.
std::string binaries_text(const builder::PackCheck &check) {
  if (check.binaries == 0) return {};
  const std::size_t others = check.binaries - check.final - check.not_final;
  std::string text = fmt::format("; binaries: {} final", check.final);
  if (check.not_final != 0) text += fmt::format(", {} not", check.not_final);
  if (others != 0) text += fmt::format(", {} not launched", others);
  return text;
}

// Checks that the lines are valid launches of kernels that the variant has.
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

nlohmann::json verify_json(const builder::PackCheck &check) {
  nlohmann::json faults = nlohmann::json::array();
  for (const builder::Finding &fault : check.faults) {
    faults.push_back({{"what", fault.what}, {"fault", fault.text}});
  }
  return {{"schema", 1},
          {"sound", check.faults.empty()},
          {"blobs", check.blobs},
          {"binaries", check.binaries},
          {"final", check.final},
          {"not_final", check.not_final},
          {"faults", std::move(faults)}};
}

// Prints the faults from number `*printed` on.
void print_faults(const std::string &path, const builder::PackCheck &check, std::size_t *printed) {
  for (; *printed < check.faults.size(); ++*printed) {
    const builder::Finding &fault = check.faults[*printed];
    const std::string code = fault.code.empty() ? "" : " [" + fault.code + "]";
    complain(builder::printable_line(path + ": " + fault.what + ": " + fault.text + code));
  }
}

int verify(const VerifyArguments &options) {
  const auto demand = options.keys.demand();
  if (!demand.ok()) return fail(demand.status());
  if (demand->keys.empty() && demand->revision != 0) {
    return fail({Code::bad_argument, "--min-revision needs --key"});
  }
  const auto open = read_pack(options.path);
  if (!open.ok()) return fail(open.status());
  builder::PackCheck check;
  std::size_t printed = 0;
  const auto on_progress = [&](const std::string &what, std::size_t done, std::size_t all) {
    print_faults(options.path, check, &printed);
    progress(what, done, all);
  };
  builder::check_pack(*open->pack, open->contents, on_progress, &check);
  end_progress();
  Vouched vouched;
  verify_signatures(*open->pack, *demand, &check, &vouched);
  Status status;
  builder::DeepFindings deep;
  if (options.deep) {
    status = builder::check_deeply(*open->pack, open->contents, check_launch_lines).move_to(&deep);
  }
  check.faults.insert(check.faults.end(), deep.faults.begin(), deep.faults.end());
  print_faults(options.path, check, &printed);
  if (!status.ok()) return fail(status);
  const bool sound = check.faults.empty();
  if (options.json) {
    nlohmann::json shown = verify_json(check);
    vouched.add_to(&shown);
    if (options.deep) shown["notes"] = nlohmann::json::array();
    for (const auto &note : deep.notes)
      shown["notes"].push_back({{"what", note.what}, {"note", note.text}});
    print(shown);
    return sound ? kDone : kBadPack;
  }
  // Notes are results, not faults.
  for (const auto &note : deep.notes) {
    print("note: " + builder::printable_line(note.what + ": " + note.text) + "\n");
  }
  if (!sound) return kBadPack;
  print(fmt::format("{}: sound, {}, {}{}{}\n", options.path, count(check.blobs, "blob"),
                    count(open->contents.targets.size(), "target"), binaries_text(check),
                    vouched.text()));
  return kDone;
}

}  // namespace

void add_verify(CLI::App &app, Command *command) {
  auto options = std::make_shared<VerifyArguments>();
  CLI::App *sub = app.add_subcommand("verify", "Check a pack's layout and every hash");
  sub->add_option("pack", options->path, "Pack to check")->required();
  sub->add_flag("--deep", options->deep,
                "Also check what blobs and records say, and what they refer to");
  add_public_keys_option(*sub, &options->keys);
  add_least_revision_option(*sub, &options->keys.revision);
  add_json_flag(*sub, &options->json);
  sub->callback([=] { *command = [=] { return verify(*options); }; });
}

}  // namespace kiln::cli
