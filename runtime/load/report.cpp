// SPDX-License-Identifier: Apache-2.0
// Writes the report as JSON, and looks for the target that is nearest to the device.
#include "runtime/load/report.hpp"

#include <algorithm>
#include <cstdio>

#include "kiln/packs/text.hpp"
#include "runtime/text/json.hpp"

namespace kiln::runtime {
namespace {

// Appends a member of an object that `*out` ends with, after a comma unless it is the first.
void append_member(const char *name, std::string_view value, std::string *out) {
  if (out->back() != '{') *out += ", ";
  append_json(name, out);
  *out += ": ";
  append_json(value, out);
}

void append_rung(const RungResult &result, std::string *out) {
  *out += "{";
  append_member("rung", rung_name(result.rung), out);
  append_member("outcome", outcome_name(result.outcome), out);
  const std::string blob =
      result.blob ? packs::hex(result.blob.name().data(), packs::kDigestSize) : std::string();
  const std::pair<const char *, const std::string &> members[] = {
      {"reason", result.reason}, {"blob", blob}, {"log", result.log}};
  for (const auto &[name, value] : members) {
    if (value.empty()) continue;
    append_member(name, value, out);
  }
  *out += "}";
}

void append_choice(const Choice &choice, std::string *out) {
  static const char names[][12] = {"name", "measurement", "preference", "order"};
  *out += ", \"choice\": ";
  if (!choice.variant) {
    *out += "null";
    return;
  }
  *out += "{";
  append_member("by", names[choice.by], out);
  append_member("reason", choice.reason, out);
  if (choice.by == KILN_CHOICE_MEASUREMENT) {
    append_member("level", tuning_level_name(choice.level), out);
    append_member("size_class", size_class_name(choice.size_class), out);
    *out += ", \"nanoseconds\": ";
    *out += packs::decimal(choice.nanoseconds);
  }
  *out += "}";
}

void append_final(kiln_finality final, const std::string &why_not, std::string *out) {
  *out += ", \"final\": ";
  *out += final == KILN_FINAL_UNKNOWN ? "null" : final == KILN_FINAL_YES ? "true" : "false";
  if (why_not.empty()) return;
  append_member("why_not_final", why_not, out);
}

void append_optional(const char *name, const std::optional<std::string> &value, std::string *out) {
  if (value) return append_member(name, *value, out);
  *out += packs::concat({", \"", name, "\": null"});
}

}  // namespace

void append_nearest(const Report &report, std::string *out) {
  const std::optional<Nearest> nearest = report.nearest();
  if (!nearest) {
    *out += "null";
    return;
  }
  *out += "{";
  append_member("target", nearest->target, out);
  *out += ", \"differs\": [";
  const char *separator = "";
  for (const Difference &difference : nearest->differs) {
    *out += separator;
    *out += "{";
    append_member("field", difference.field, out);
    append_optional("pack", difference.pack, out);
    append_optional("device", difference.device, out);
    *out += "}";
    separator = ", ";
  }
  *out += "]}";
}

std::optional<Nearest> Report::nearest() const {
  std::optional<Nearest> nearest;
  const Rung *used = find_rung(rung);
  if (used != nullptr && !used->compiles) return nearest;
  unsigned best = 0;
  for (std::size_t i = 0; i < pack->target_count(); ++i) {
    packs::TargetRef target;
    if (!pack->target(i, &target).ok()) continue;
    const std::optional<Facts> key = parse_facts(target.key());
    if (!key) continue;
    const unsigned d = distance(*key, device->key().facts());
    if (nearest && d >= best) continue;
    best = d;
    nearest = Nearest{device_label(target.fact("device_name"), target.fact("driver_version")),
                      differences(*key, device->key().facts())};
  }
  return nearest;
}

bool Report::has_compiled() const {
  const Rung *used = find_rung(rung);
  if (used != nullptr && used->compiles) return true;
  if (final == KILN_FINAL_NO || recompiled.value_or(false)) return true;
  return std::any_of(rungs.begin(), rungs.end(), [](const RungResult &tried) {
    return tried.outcome == KILN_OUTCOME_FAILED && find_rung(tried.rung)->form != Form::binary;
  });
}

double Report::estimate() const {
  const Rung *used = find_rung(rung);
  if (used != nullptr && !used->compiles && final != KILN_FINAL_NO) return 0;
  packs::VariantRef wanted;
  if (!pack->find_variant(program, variant, &wanted).ok()) return -1;
  std::uint64_t longest = 0;
  for (std::size_t i = 0; used != nullptr && wanted && i < pack->target_count(); ++i) {
    packs::TargetRef target;
    if (!pack->target(i, &target).ok() || target.profile() != device->description.profile) continue;
    for (const packs::BinaryRef binary :
         {target.find_binary(wanted.hash()), target.find_intermediate(wanted.hash())}) {
      if (binary) longest = std::max(longest, binary.provenance.finish_microseconds());
    }
  }
  return longest == 0 ? -1 : static_cast<double>(longest) / 1000;
}

const char *outcome_name(kiln_outcome outcome) {
  static const char names[][12] = {"loaded", "skipped", "missed", "failed", "quarantined"};
  return names[outcome];
}

std::string Report::json(const Choice &choice) const {
  std::string out = "{\"schema\": 1";
  append_member("program", program, &out);
  append_member("variant", variant, &out);
  append_choice(choice, &out);
  append_member("device",
                device_label(device->identity.text(Field::device_name),
                             device->identity.text(Field::driver_version)),
                &out);
  append_member("key_hash", packs::hex64(device->key().hash()), &out);
  append_member("rung", rung_name(rung), &out);
  out += ", \"recompiled\": ";
  out += !recompiled ? "null" : *recompiled ? "true" : "false";
  append_final(final, why_not_final, &out);
  char number[40];
  const auto microseconds = static_cast<unsigned long long>(milliseconds * 1000 + 0.5);
  // Not %f, whose decimal point is the application's locale's.
  std::snprintf(number, sizeof(number), ", \"milliseconds\": %llu.%03llu", microseconds / 1000,
                microseconds % 1000);
  out += number;
  out += ", \"rungs\": [";
  const char *separator = "";
  for (const RungResult &result : rungs) {
    out += separator;
    append_rung(result, &out);
    separator = ", ";
  }
  out += "], \"notes\": [";
  separator = "";
  for (const std::string &note : notes) {
    out += separator;
    append_json(note, &out);
    separator = ", ";
  }
  out += "], \"nearest\": ";
  append_nearest(*this, &out);
  return out + "}";
}

}  // namespace kiln::runtime
