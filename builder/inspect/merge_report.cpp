// SPDX-License-Identifier: Apache-2.0
// Finds the labels of variants and targets, and the descriptions of the rules.
#include "builder/inspect/merge_report.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "builder/inspect/pack_json.hpp"

namespace kiln::builder {
namespace {

using nlohmann::json;
using packs::MergeChoice;
using packs::MergeRule;

const char *part_name(MergeChoice::Part part) {
  static const char *const names[] = {"binary", "intermediate", "il32", "il64", "members"};
  return names[static_cast<std::size_t>(part)];
}

const char *rule_name(MergeRule rule) {
  static const char *const names[] = {"finality",   "driver",    "finisher", "hash", "variant",
                                      "workaround", "known_bad", "stricter", "hints"};
  return names[static_cast<std::size_t>(rule)];
}

const char *part_text(MergeChoice::Part part) {
  static const char *const texts[] = {"binary", "intermediate", "32-bit SPIR-V", "64-bit SPIR-V",
                                      "members"};
  return texts[static_cast<std::size_t>(part)];
}

const char *rule_text(MergeRule rule) {
  static const char *const texts[] = {"final first",
                                      "older driver first",
                                      "newer finisher first",
                                      "smaller hash first",
                                      "by the order of variants",
                                      "the one with a workaround first",
                                      "a build found the variant wrong, and this one compared less",
                                      "the stricter counts",
                                      "more hints first"};
  return texts[static_cast<std::size_t>(rule)];
}

std::string label_of(const packs::Contents &merged, const std::string &key) {
  const auto target = std::find_if(merged.targets.begin(), merged.targets.end(),
                                   [&](const packs::Target &t) { return t.key == key; });
  return target == merged.targets.end() ? std::string() : target_label(*target);
}

std::string digits(const packs::Digest &hash) { return packs::hex(hash).substr(0, 16); }

std::string choice_line(const packs::Contents &merged, const MergeChoiceOf &one) {
  const MergeChoice &choice = one.choice;
  if (choice.part == MergeChoice::Part::members) {
    const char *side = choice.from_kept ? ", which are kept" : ", which are left out";
    return fmt::format("{}: {} differs in {}{} ({})\n", choice.place, one.pack, choice.members,
                       choice.rule == MergeRule::hints ? side : "", rule_text(choice.rule));
  }
  const std::string place = choice.target.empty() ? "" : " for " + label_of(merged, choice.target);
  if (choice.rule == MergeRule::known_bad) {
    return fmt::format("{}{}: left out the {} {}: {}\n", variant_label(merged, choice.variant),
                       place, part_text(choice.part), digits(choice.left_out),
                       rule_text(choice.rule));
  }
  const std::string of = " of " + one.pack;
  return fmt::format("{}{}: kept the {} {}{} ({}), left out {}{}\n",
                     variant_label(merged, choice.variant), place, part_text(choice.part),
                     digits(choice.kept), choice.from_kept ? of : "", rule_text(choice.rule),
                     digits(choice.left_out), choice.from_kept ? "" : of);
}

}  // namespace

std::string merge_report_text(const packs::Contents &merged, const MergeReport &report) {
  std::string text;
  for (const MergeChoiceOf &one : report) text += choice_line(merged, one);
  return text;
}

json merge_report_json(const packs::Contents &merged, const MergeReport &report) {
  json choices = json::array();
  for (const auto &[pack, choice] : report) {
    if (choice.part == MergeChoice::Part::members) {
      choices.push_back({{"part", part_name(choice.part)},
                         {"place", choice.place},
                         {"members", choice.members},
                         {"rule", rule_name(choice.rule)},
                         {"pack", pack},
                         {"pack_kept", choice.from_kept}});
      continue;
    }
    json row = {
        {"part", part_name(choice.part)},
        {"variant", variant_label(merged, choice.variant)},
        {"variant_hash", packs::hex(choice.variant)},
        {"kept", choice.rule == MergeRule::known_bad ? json() : json(packs::hex(choice.kept))},
        {"left_out", packs::hex(choice.left_out)},
        {"rule", rule_name(choice.rule)},
        {"pack", pack},
        {"pack_kept", choice.from_kept}};
    if (!choice.target.empty()) {
      row["target"] = label_of(merged, choice.target);
      row["target_key"] = choice.target;
    }
    choices.push_back(std::move(row));
  }
  return choices;
}

}  // namespace kiln::builder
