// SPDX-License-Identifier: Apache-2.0
// Writes each part of the contents as JSON, and the short texts that people know it by.
#include "builder/inspect/pack_json.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "builder/inspect/note_text.hpp"
#include "kiln/packs/bytes.hpp"
#include "kiln/packs/signatures.hpp"
#include "runtime/device/device.hpp"
#include "runtime/source/whole_program.hpp"

namespace kiln::builder {
namespace {

using nlohmann::json;

json blob_json(const packs::BlobSource &source) {
  const packs::BlobRef blob = source.blob();
  json out = {{"hash", packs::hex(source.name())},
              {"offset", blob.offset()},
              {"stored_size", blob.stored_size()},
              {"raw_size", blob.raw_size()},
              {"codec", blob.codec() == packs::Codec::raw ? "raw" : "zstd"}};
  if (blob.base() != 0) {
    out["base"] = packs::hex(source.pack()->blob(blob.base()).name());
  }
  return out;
}

json optional_blob(const std::optional<packs::BlobSource> &source) {
  return source ? blob_json(*source) : json();
}

json launches_json(const packs::Variant &variant) {
  packs::Bytes text;
  if (!variant.launches || !variant.launches->read(&text).ok()) return json::array();
  json launches = json::array();
  for (auto start = text.begin(); start != text.end();) {
    const auto end = std::find(start, text.end(), '\n');
    const json line = json::parse(start, end, nullptr, false);
    launches.push_back(line.is_discarded() ? json() : line);
    start = end == text.end() ? end : end + 1;
  }
  return launches;
}

json argument_json(const packs::Argument &argument) {
  const auto index = [](auto value) { return static_cast<std::size_t>(value); };
  json out = {{"role", packs::kRoleNames[index(argument.role)]}};
  if (!argument.name.empty()) out["name"] = argument.name;
  const packs::Role role = argument.role;
  if (argument.stage != 0) out["stage"] = argument.stage;
  if (role == packs::Role::parameter) {
    if (!argument.fields.empty()) out["fields"] = argument.fields;
    if (argument.values.empty()) {
      out["value"] = argument.value;
    } else {
      out["values"] = argument.values;
    }
  }
  if (role == packs::Role::sampler) {
    const auto sampler = packs::ArgumentSampler::of(argument.value);
    out["addressing"] = packs::kAddressingNames[sampler.addressing];
    out["filter"] = packs::kFilterNames[sampler.filter];
    out["normalized"] = sampler.normalized;
  }
  if (role == packs::Role::input || role == packs::Role::output || role == packs::Role::scratch) {
    out["storage"] = packs::kStorageNames[index(argument.storage)];
    out["channels"] = argument.channels;
    if (index(argument.type) != 0) out["type"] = packs::kTypeNames[index(argument.type)];
    if (!argument.extent.empty()) out["extent"] = argument.extent;
    if (argument.accumulates) out["accumulates"] = true;
    if (argument.value == packs::kNotNormalized) out["normalized"] = false;
  }
  return out;
}

std::vector<std::string> qualifiers_of(const packs::Parameter &parameter) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < std::size(packs::kQualifierNames); ++i) {
    if ((parameter.qualifiers >> i & 1) != 0) words.emplace_back(packs::kQualifierNames[i]);
  }
  return words;
}

json kernel_json(const packs::Kernel &kernel) {
  const auto index = [](auto value) { return static_cast<std::size_t>(value); };
  json out = {{"name", kernel.name}, {"arguments", nullptr}};
  if (kernel.arguments != packs::kUnknownArguments) out["arguments"] = kernel.arguments;
  if (!kernel.range.empty()) out["range"] = kernel.range;
  for (const packs::Parameter &parameter : kernel.parameters) {
    json &each = out["parameters"].emplace_back();
    each = {{"name", parameter.name},
            {"type", parameter.type},
            {"size", parameter.size},
            {"address_space", packs::kAddressSpaceNames[index(parameter.address_space)]},
            {"qualifiers", qualifiers_of(parameter)}};
    if (parameter.access != packs::ImageAccess::none) {
      each["access"] = packs::kImageAccessNames[index(parameter.access)];
    }
  }
  return out;
}

// Without names of later Kilns.
std::vector<packs::Statistic> known_only(std::vector<packs::Statistic> statistics) {
  std::erase_if(statistics, [](const packs::Statistic &statistic) {
    return static_cast<std::size_t>(statistic.name) >= std::size(packs::kStatisticNames);
  });
  return statistics;
}

json variant_json(const packs::Variant &variant) {
  json kernels = json::array();
  for (const packs::Kernel &kernel : variant.kernels) kernels.push_back(kernel_json(kernel));
  json arguments = json::array();
  for (const packs::Argument &a : variant.arguments) arguments.push_back(argument_json(a));
  json limits = json::object();
  for (const packs::Statistic &limit : known_only(variant.limits)) {
    limits[statistic_name(limit.name)] = limit.value;
  }
  const std::uint32_t version = variant.il_version;
  return {
      {"name", variant.name},
      {"hash", packs::hex(variant.hash)},
      {"options", variant.options},
      {"requirements", variant.requirements},
      {"kernels", kernels},
      {"arguments", arguments},
      {"tolerance", variant.tolerance},
      {"pixels", variant.pixels},
      {"local_size", variant.local_size},
      {"local_sizes", variant.local_sizes},
      {"il_version", std::to_string(version >> 16) + "." + std::to_string((version >> 8) & 0xff)},
      {"source", optional_blob(variant.source)},
      {"il32", optional_blob(variant.il32)},
      {"il64", optional_blob(variant.il64)},
      {"launches", launches_json(variant)},
      {"limits", limits},
      {"workarounds", variant.workarounds}};
}

json finish_json(const packs::Finish &finish) {
  return {{"final", finality_name(finish.finality)},
          {"why_not_final", finish.why_not},
          {"proof", finish.proof},
          {"unproven", finish.unproven},
          {"made_from", finish.made_from},
          {"proved_by", finish.proved_by},
          {"workaround", finish.workaround},
          {"finisher", finish.finisher},
          {"finish_microseconds", finish.microseconds},
          {"unfinished_size", finish.unfinished_size},
          {"driver", finish.driver},
          {"local_sizes", finish.local_sizes}};
}

// An object for each kernel with figures.
json statistics_json(const packs::Contents &contents, const packs::Binary &binary) {
  json kernels = json::array();
  std::uint32_t last = 0;
  for (const packs::Statistic &statistic : known_statistics(binary)) {
    if (kernels.empty() || statistic.kernel != last) {
      kernels.push_back({{"kernel", kernel_name(contents, binary.variant, statistic.kernel)}});
    }
    last = statistic.kernel;
    kernels.back()[statistic_name(statistic.name)] = statistic.value;
  }
  return kernels;
}

json binary_json(const packs::Contents &contents, const packs::Binary &binary) {
  json kernels = json::array();
  for (const packs::KernelFacts &k : binary.kernels) {
    kernels.push_back({{"max_work_group_size", k.max_work_group_size},
                       {"preferred_multiple", k.preferred_multiple},
                       {"private_bytes", k.private_bytes},
                       {"local_bytes", k.local_bytes}});
  }
  return {{"variant", variant_label(contents, binary.variant)},
          {"variant_hash", packs::hex(binary.variant)},
          {"blob", blob_json(binary.blob)},
          {"cache_entries", optional_blob(binary.cache_entries)},
          {"provenance",
           {{"build_log", binary.build_log},
            {"kernels", kernels},
            {"statistics", statistics_json(contents, binary)},
            {"finish", finish_json(binary.finish)}}}};
}

// Returns the variant's name, and what `more` makes of it; the hash if there is no such variant.
template <typename More>
std::string named_variant(const packs::Contents &contents, const packs::Digest &hash,
                          const More &more) {
  for (const packs::Program &program : contents.programs) {
    for (const packs::Variant &variant : program.variants) {
      if (variant.hash == hash) return program.name + "/" + variant.name + more(program, variant);
    }
  }
  return packs::hex(hash);
}

std::string hash_text(std::uint64_t hash) { return fmt::format("{:016x}", hash); }

json target_json(const packs::Contents &contents, const packs::Target &target) {
  json identity = json::object();
  for (const auto &[name, value] : target.identity) identity[name] = value;
  json binaries = json::array();
  for (const packs::Binary &b : target.binaries) binaries.push_back(binary_json(contents, b));
  json intermediates = json::array();
  for (const packs::Binary &b : target.intermediates) {
    intermediates.push_back(binary_json(contents, b));
  }
  return {{"label", target_label(target)}, {"key", target.key},
          {"profile", target.profile},     {"key_hash", hash_text(packs::xxh3(target.key))},
          {"family", target.family},       {"model", target.model},
          {"compiler", target.compiler},   {"identity", identity},
          {"binaries", binaries},          {"intermediates", intermediates}};
}

json tuning_json(const packs::Tuning &tuning) {
  return {
      {"program", tuning.program},
      {"variant", tuning.variant},
      {"kernel", tuning.kernel},
      {"size_class", size_class_name(tuning.size_class)},
      {"profile", tuning.profile},
      {"family", tuning.family},
      {"model", tuning.model},
      {"key_hash", hash_text(tuning.key_hash)},
      {"local_size", tuning.local_size},
      {"nanoseconds", tuning.nanoseconds},
      {"default_nanoseconds", tuning.default_nanoseconds},
      {"samples", tuning.samples},
      {"spread", tuning.spread / 1000.0},
      {"conditions", tuning.conditions},
      {"variant_hash",
       tuning.variant_hash == packs::Digest{} ? json() : json(packs::hex(tuning.variant_hash))}};
}

}  // namespace

const char *finality_name(packs::Finality finality) {
  switch (finality) {
    case packs::Finality::yes: return "yes";
    case packs::Finality::no: return "no";
    default: return "not launched";
  }
}

const char *size_class_name(packs::SizeClass size_class) {
  static const char *const names[] = {"small", "medium", "large"};
  return names[static_cast<unsigned>(size_class)];
}

const char *statistic_name(packs::StatisticName name) {
  return packs::kStatisticNames[static_cast<std::size_t>(name)];
}

std::vector<packs::Statistic> known_statistics(const packs::Binary &binary) {
  return known_only(binary.statistics);
}

std::string kernel_name(const packs::Contents &contents, const packs::Digest &hash,
                        std::uint32_t index) {
  for (const packs::Program &program : contents.programs) {
    for (const packs::Variant &variant : program.variants) {
      if (variant.hash == hash && index < variant.kernels.size()) {
        return variant.kernels[index].name;
      }
    }
  }
  return fmt::format("kernel {}", index + 1);
}

std::string statistics_text(const packs::Contents &contents, const packs::Binary &binary) {
  std::string text;
  std::optional<std::uint32_t> last;
  for (const packs::Statistic &statistic : known_statistics(binary)) {
    const bool same = last == statistic.kernel;
    if (!same) {
      const std::string name = kernel_name(contents, binary.variant, statistic.kernel);
      text += fmt::format("{}    {}:", text.empty() ? "" : "\n", name);
    }
    text +=
        fmt::format("{} {} {}", same ? "," : "", statistic.value, statistic_name(statistic.name));
    last = statistic.kernel;
  }
  return text.empty() ? text : text + "\n";
}

std::string tuning_place(const packs::Tuning &tuning) {
  if (!tuning.model.empty()) return tuning.model;
  if (!tuning.family.empty()) return tuning.profile + ", family " + tuning.family;
  return tuning.profile.empty() ? "any device" : tuning.profile;
}

std::string target_label(const packs::Target &target) {
  const auto fact = [&](const char *name) {
    const std::string *value = runtime::find_fact(target.identity, name);
    return value != nullptr ? *value : std::string();
  };
  const std::string driver = fact("driver_version");
  if (!fact("device_name").empty()) return runtime::device_label(fact("device_name"), driver);
  // A target for any device of a kind, made without asking a device.
  const bool intel = fact("compute_capability").empty();
  const std::string kind = fact("platform_name") +
                           (intel ? ", IP version " : ", compute capability ") +
                           fact(intel ? "ip_version" : "compute_capability");
  return driver.empty() ? kind : runtime::device_label(kind, driver);
}

std::string finish_text(const packs::Finish &finish) {
  std::string proof = finish.workaround.empty() ? "" : "; workaround: " + finish.workaround;
  if (!finish.proof.empty()) proof += "; results match " + finish.proof;
  if (!finish.unproven.empty()) proof += "; results not compared: " + finish.unproven;
  switch (finish.finality) {
    case packs::Finality::yes: return "final" + proof;
    case packs::Finality::no: return "not final: " + finish.why_not + proof;
    default: break;
  }
  return (finish.why_not.empty() ? "not launched" : "not launched: " + finish.why_not) + proof;
}

std::string kernels_label(const std::vector<std::string> &kernels) {
  constexpr std::size_t kMax = 2;
  std::string text;
  for (std::size_t i = 0; i < std::min(kernels.size(), kMax); ++i)
    text += (i == 0 ? "" : ", ") + kernels[i];
  return text + (kernels.size() > kMax ? ", ..." : "");
}

std::string recorded_kernels(const packs::Program &program, const packs::Variant &variant) {
  if (variant.kernels.empty() || !source::is_program_name(program.name)) return {};
  std::vector<std::string> names;
  for (const packs::Kernel &kernel : variant.kernels) names.push_back(kernel.name);
  return " (" + kernels_label(names) + ")";
}

std::string parameter_text(const packs::Parameter &parameter) {
  const std::string &type = parameter.type.empty() ? "?" : parameter.type;
  std::string text;
  if (parameter.access != packs::ImageAccess::none) {
    text += packs::kImageAccessNames[static_cast<std::size_t>(parameter.access)] + std::string(" ");
  } else if (parameter.address_space != packs::AddressSpace::private_) {
    text += packs::kAddressSpaceNames[static_cast<std::size_t>(parameter.address_space)];
    text += " ";
  }
  for (const std::string &word : qualifiers_of(parameter)) {
    if (word != "restrict") text += word + " ";
  }
  text += type;
  if ((parameter.qualifiers & packs::kRestrict) != 0) text += " restrict";
  return parameter.name.empty() ? text : text + " " + parameter.name;
}

std::string kernel_text(const packs::Kernel &kernel) {
  std::string text;
  for (const packs::Parameter &parameter : kernel.parameters)
    text += (text.empty() ? "" : ", ") + parameter_text(parameter);
  return kernel.name + "(" + text + ")";
}

std::string variant_label(const packs::Contents &contents, const packs::Digest &hash) {
  return named_variant(contents, hash, [](const auto &, const auto &) { return ""; });
}

std::string variant_title(const packs::Contents &contents, const packs::Digest &hash) {
  return named_variant(contents, hash, recorded_kernels);
}

json describe_contents(const packs::Contents &contents) {
  json programs = json::array();
  for (const packs::Program &program : contents.programs) {
    json variants = json::array();
    for (const packs::Variant &variant : program.variants)
      variants.push_back(variant_json(variant));
    programs.push_back({{"name", program.name},
                        {"reference", program.reference},
                        {"preferred", program.preferred},
                        {"baseline", program.baseline},
                        {"sizes", program.sizes},
                        {"variants", variants}});
  }
  json targets = json::array();
  for (const packs::Target &target : contents.targets) {
    targets.push_back(target_json(contents, target));
  }
  json tunings = json::array();
  for (const packs::Tuning &tuning : contents.tunings) tunings.push_back(tuning_json(tuning));
  json notes = json::array();
  for (const packs::KnownBad &note : contents.known_bad) notes.push_back(note_json(note));
  return {{"schema", 1},
          {"producer", contents.producer},
          {"programs", programs},
          {"targets", targets},
          {"tunings", tunings},
          {"known_bad", {{"version", contents.known_bad_version}, {"notes", notes}}}};
}

json describe_pack(const packs::Pack &pack, const packs::Contents &contents) {
  json described = describe_contents(contents);
  described["format_version"] = pack.superblock().version;
  described["size"] = pack.superblock().pack_size;
  described["signatures"] = json::array();
  std::vector<packs::Signature> signatures;
  if (packs::Status s = packs::read_signatures(pack, &signatures); !s.ok()) {
    described["signatures_fault"] = s.message;
  }
  for (const packs::Signature &signature : signatures) {
    described["signatures"].push_back(
        {{"key", packs::key_text(signature.key)}, {"revision", signature.revision}});
  }
  return described;
}

}  // namespace kiln::builder
