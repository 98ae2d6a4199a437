// SPDX-License-Identifier: Apache-2.0
// Splits both packs into parts with the members that `kiln pack inspect --json` shows, and compares
// parts with the same key.
#include "builder/inspect/pack_diff.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "builder/inspect/note_text.hpp"
#include "builder/inspect/pack_json.hpp"
#include "builder/inspect/printable.hpp"
#include "kiln/packs/bytes.hpp"

namespace kiln::builder {
namespace {

using nlohmann::json;

// The kinds of parts, in the order of the list.
constexpr const char *kPartKinds[] = {"pack",   "program",      "variant", "target",
                                      "binary", "intermediate", "tuning",  "note"};
enum PackPartKind : std::size_t {
  kPackPart,
  kProgramPart,
  kVariantPart,
  kTargetPart,
  kBinaryPart,
  kIntermediatePart,
  kTuningPart,
  kNotePart
};

struct PackPart {
  std::string name;
  json fields = json::object();
  std::size_t parts = 0;
  std::string within{};  // the key of the program or target that holds the part
};

// Identifies a part: its kind, then the fields by which a pack sorts such parts.
using PackPartKey = std::pair<std::size_t, std::vector<std::string>>;
using PackParts = std::map<PackPartKey, PackPart>;

// Replaces each blob by its hash: where a blob is stored does not matter.
void reduce_blobs(json *value) {
  if (!value->is_structured()) return;
  if (value->is_object() && value->contains("stored_size")) {
    *value = value->at("hash");
    return;
  }
  for (json &inner : *value) reduce_blobs(&inner);
}

json members_without(json object, std::initializer_list<const char *> names) {
  for (const char *name : names) object.erase(name);
  reduce_blobs(&object);
  return object;
}

json name_of_blob(const std::optional<packs::BlobSource> &blob) {
  return blob ? json(packs::hex(blob->name())) : json();
}

std::string hash_digits(std::uint64_t hash) { return fmt::format("{:016x}", hash); }

void add_programs(const packs::Contents &contents, const json &described, PackParts *parts) {
  for (std::size_t i = 0; i < contents.programs.size(); ++i) {
    const packs::Program &program = contents.programs[i];
    const json &shown = described[i];
    (*parts)[{kProgramPart, {program.name}}] = {
        program.name, members_without(shown, {"name", "variants"}), program.variants.size()};
    for (std::size_t j = 0; j < program.variants.size(); ++j) {
      const packs::Variant &variant = program.variants[j];
      json fields = members_without(shown["variants"][j], {"name"});
      fields["launches"] = name_of_blob(variant.launches);
      (*parts)[{kVariantPart, {program.name, variant.name}}] = {program.name + "/" + variant.name,
                                                                std::move(fields), 0, program.name};
    }
  }
}

void add_binaries(const packs::Contents &contents, const packs::Target &target, PackPartKind kind,
                  const json &described, PackParts *parts) {
  const auto &binaries = kind == kBinaryPart ? target.binaries : target.intermediates;
  for (std::size_t i = 0; i < binaries.size(); ++i) {
    json fields = members_without(described[i], {"variant", "variant_hash", "provenance"});
    for (const auto &[name, value] : described[i]["provenance"].items()) {
      if (value.is_object()) {
        fields.update(value);  // how the binary was finished
      } else {
        fields[name] = value;
      }
    }
    fields.erase("statistics");
    for (const packs::Statistic &statistic : known_statistics(binaries[i])) {
      const std::string kernel = kernel_name(contents, binaries[i].variant, statistic.kernel);
      fields[kernel + "." + statistic_name(statistic.name)] = statistic.value;
    }
    const packs::Digest &variant = binaries[i].variant;
    (*parts)[{kind, {target.key, packs::hex(variant)}}] = {
        fmt::format("{} for {}", variant_label(contents, variant), target_label(target)),
        std::move(fields), 0, target.key};
  }
}

void add_targets(const packs::Contents &contents, const json &described, PackParts *parts) {
  for (std::size_t i = 0; i < contents.targets.size(); ++i) {
    const packs::Target &target = contents.targets[i];
    const json &shown = described[i];
    json fields = members_without(shown, {"label", "key", "identity", "binaries", "intermediates"});
    for (const auto &[fact, value] : target.identity) fields["identity." + fact] = value;
    fields["cache_entries"] = name_of_blob(target.cache_entries);
    (*parts)[{kTargetPart, {target.key}}] = {
        fmt::format("{} {}", target_label(target), hash_digits(packs::xxh3(target.key))),
        std::move(fields), target.binaries.size() + target.intermediates.size()};
    add_binaries(contents, target, kBinaryPart, shown["binaries"], parts);
    add_binaries(contents, target, kIntermediatePart, shown["intermediates"], parts);
  }
}

void add_records(const packs::Contents &contents, PackParts *parts) {
  for (const packs::Tuning &t : contents.tunings) {
    (*parts)[{kTuningPart,
              {t.program, t.variant, t.kernel, std::to_string(static_cast<int>(t.size_class)),
               t.profile, t.family, t.model, hash_digits(t.key_hash)}}] = {
        fmt::format("{}/{} {}, {}, on {}", t.program, t.variant,
                    t.kernel.empty() ? "as a whole" : t.kernel, size_class_name(t.size_class),
                    tuning_place(t)),
        {{"local_size", t.local_size},
         {"nanoseconds", t.nanoseconds},
         {"default_nanoseconds", t.default_nanoseconds},
         {"samples", t.samples},
         {"spread", t.spread / 1000.0},
         {"conditions", t.conditions},
         {"variant_hash", packs::hex(t.variant_hash)}}};
  }
}

void add_notes(const packs::Contents &contents, PackParts *parts) {
  for (const packs::KnownBad &note : contents.known_bad) {
    const json fields = note_json(note);
    (*parts)[{kNotePart, {fields.dump(-1, ' ', false, json::error_handler_t::replace)}}] = {
        fmt::format("{}: {}", note_subject(note), rung_words(note.rungs)), fields};
  }
}

PackParts parts_of(const packs::Contents &contents) {
  const json described = describe_contents(contents);
  PackParts parts;
  parts[{kPackPart, {}}] = {
      "", {{"producer", contents.producer}, {"known_bad_version", contents.known_bad_version}}};
  add_programs(contents, described["programs"], &parts);
  add_targets(contents, described["targets"], &parts);
  add_records(contents, &parts);
  add_notes(contents, &parts);
  return parts;
}

// Compares bytes, so that a NaN equals itself and -0.0 differs from 0.0.
bool same_bytes(const json &a, const json &b) { return json::to_cbor(a) == json::to_cbor(b); }

std::vector<DifferentField> different_fields(const json &a, const json &b) {
  std::vector<DifferentField> fields;
  for (const auto &[name, value] : a.items()) {
    const json other = b.value(name, json());
    if (!same_bytes(value, other)) fields.push_back({name, value, other});
  }
  for (const auto &[name, value] : b.items()) {
    if (!a.contains(name)) fields.push_back({name, json(), value});
  }
  return fields;
}

// Whether the other side lacks the program or target that holds the part.
bool is_within_absent(const PackPartKey &key, const PackPart &part, const PackParts &others) {
  if (key.first == kVariantPart) return others.count({kProgramPart, {part.within}}) == 0;
  if (key.first != kBinaryPart && key.first != kIntermediatePart) return false;
  return others.count({kTargetPart, {part.within}}) == 0;
}

constexpr std::size_t kShortValue = 48;

// Returns a short text for a value; for a hash, the digits that `kiln pack inspect` shows.
std::string short_text(const json &value) {
  if (value.is_null() || (value.is_structured() && value.empty()) || value == "") return "none";
  if (!value.is_string()) return value.dump(-1, ' ', false, json::error_handler_t::replace);
  const std::string text = value.get<std::string>();
  const bool is_hash = text.size() == 2 * packs::kDigestSize &&
                       text.find_first_not_of("0123456789abcdef") == std::string::npos;
  return is_hash ? text.substr(0, 16) : text;
}

std::string field_text(const DifferentField &field) {
  const std::string a = short_text(field.a);
  const std::string b = short_text(field.b);
  const auto is_short = [](const std::string &text) {
    return text.size() <= kShortValue && text.find('\n') == std::string::npos;
  };
  if (!is_short(a) || !is_short(b)) return field.name;
  return fmt::format("{} {} | {}", field.name, a, b);
}

std::string difference_line(const PackDifference &difference) {
  const std::string space = difference.name.empty() ? "" : " ";
  std::string text = difference.kind + space + difference.name;
  if (difference.side == Side::both) {
    const char *separator = ": ";
    for (const DifferentField &field : difference.fields) {
      text += separator + field_text(field);
      separator = "; ";
    }
  } else if (difference.kind == kPartKinds[kProgramPart]) {
    text +=
        fmt::format(", {} {}", difference.parts, difference.parts == 1 ? "variant" : "variants");
  } else if (difference.kind == kPartKinds[kTargetPart]) {
    text += fmt::format(", {} {}", difference.parts, difference.parts == 1 ? "binary" : "binaries");
  }
  return text;
}

std::size_t count_side(const std::vector<PackDifference> &differences, Side side) {
  return static_cast<std::size_t>(
      std::count_if(differences.begin(), differences.end(),
                    [side](const PackDifference &d) { return d.side == side; }));
}

}  // namespace

std::vector<PackDifference> compare_packs(const packs::Contents &a, const packs::Contents &b) {
  const PackParts of_a = parts_of(a);
  const PackParts of_b = parts_of(b);
  std::set<PackPartKey> keys;
  for (const PackParts *parts : {&of_a, &of_b}) {
    for (const auto &part : *parts) keys.insert(part.first);
  }
  std::vector<PackDifference> differences;
  for (const PackPartKey &key : keys) {
    const auto in_a = of_a.find(key);
    const auto in_b = of_b.find(key);
    const char *kind = kPartKinds[key.first];
    if (in_a != of_a.end() && in_b != of_b.end()) {
      auto fields = different_fields(in_a->second.fields, in_b->second.fields);
      if (fields.empty()) continue;
      differences.push_back({Side::both, kind, in_a->second.name, 0, std::move(fields)});
      continue;
    }
    const bool only_a = in_a != of_a.end();
    const PackPart &part = only_a ? in_a->second : in_b->second;
    if (is_within_absent(key, part, only_a ? of_b : of_a)) continue;
    differences.push_back({only_a ? Side::only_a : Side::only_b, kind, part.name, part.parts});
  }
  return differences;
}

std::string differences_text(const std::vector<PackDifference> &differences, const std::string &a,
                             const std::string &b) {
  if (differences.empty()) return fmt::format("{} and {} hold the same\n", a, b);
  std::string text;
  for (const PackDifference &d : differences) {
    const std::string where = d.side == Side::both     ? "differs"
                              : d.side == Side::only_a ? "only in " + a
                                                       : "only in " + b;
    text += fmt::format("{}: {}\n", where, printable_line(difference_line(d)));
  }
  return text + fmt::format("{} only in {}, {} only in {}, {} different\n",
                            count_side(differences, Side::only_a), a,
                            count_side(differences, Side::only_b), b,
                            count_side(differences, Side::both));
}

json differences_json(const std::vector<PackDifference> &differences) {
  json only_a = json::array();
  json only_b = json::array();
  json different = json::array();
  for (const PackDifference &d : differences) {
    json part = {{"kind", d.kind}, {"name", d.name}};
    if (d.side != Side::both) {
      (d.side == Side::only_a ? only_a : only_b).push_back(std::move(part));
      continue;
    }
    for (const DifferentField &field : d.fields) {
      part["fields"][field.name] = {{"a", field.a}, {"b", field.b}};
    }
    different.push_back(std::move(part));
  }
  return {{"schema", 1},
          {"equal", differences.empty()},
          {"only_in_a", only_a},
          {"only_in_b", only_b},
          {"different", different}};
}

}  // namespace kiln::builder
