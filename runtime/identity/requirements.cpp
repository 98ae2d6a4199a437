// SPDX-License-Identifier: Apache-2.0
// The table of requirements, and the test of each against the capabilities of a device.
#include "runtime/identity/requirements.hpp"

#include <algorithm>

#include "kiln/packs/text.hpp"

namespace kiln::runtime {
namespace {

using packs::concat;

// The text after the colon of a requirement.
enum class Operand : std::uint8_t {
  none,     // there is no colon
  name,     // name of an extension: letters, digits and '_'
  feature,  // the same, of a feature of OpenCL C
  profile,  // profile of a vendor; a later version may know more profiles
  items,    // work-items: a number from 1 of at most 6 digits
  version,  // "M.N", as parse_compute_capability() reads it
  range,    // "X", "XxY" or "XxYxZ", as parse_range_multiple() reads it
};

// One requirement. It holds its texts instead of pointing to them: each pointer would cost the
// shared library a relocation.
struct Rule {
  char word[20];  // the whole requirement, or its part before the operand
  Operand operand;
  char lack[28];                      // for messages: the thing that a device lacks
  bool Capabilities::*has = nullptr;  // if without operand; null: every device has it
};

// The one list of requirements, for the runtime and for manifests, in the order of messages.
constexpr Rule kRules[] = {
    {"fp16", Operand::none, "half-precision arithmetic", &Capabilities::fp16},
    {"fp64", Operand::none, "double-precision arithmetic", &Capabilities::fp64},
    {"images", Operand::none, "images", &Capabilities::images},
    {"integer_dot_product", Operand::none, "integer dot products",
     &Capabilities::integer_dot_product},
    {"opencl_3", Operand::none, "OpenCL 3.0", &Capabilities::opencl_3},
    {"opencl_3_1", Operand::none, "OpenCL 3.1", &Capabilities::opencl_3_1},
    {"subgroups", Operand::none, "sub-groups", &Capabilities::subgroups},
    {"unified_memory", Operand::none, "memory shared with the host", &Capabilities::unified_memory},
    {"vendor:", Operand::profile, "a device of the profile "},
    {"extension:", Operand::name, "the extension "},
    {"__opencl_c_", Operand::feature, "the feature __opencl_c_"},
    {"work_group:", Operand::items, "work-groups of "},
    {"compute_capability:", Operand::version, "compute capability "},
    // Requirements on launches and binaries, which every device meets.
    {"no_global_offset", Operand::none, ""},
    {"proof", Operand::none, ""},
    {"range_multiple:", Operand::range, ""},
};

// Returns a number from 1 with at most `most` digits; 0 if the text is anything else.
std::size_t number_of(std::string_view digits, std::size_t most) {
  if (digits.size() > most) return 0;
  std::size_t number = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9' || (c == '0' && number == 0)) return 0;
    number = 10 * number + static_cast<std::size_t>(c - '0');
  }
  return number;
}

bool is_extension_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    const char letter = packs::lower(c);
    return (letter >= 'a' && letter <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

// A requirement split by its rule. The rule is null for an unknown requirement.
struct Parsed {
  const Rule *rule = nullptr;
  std::string_view operand;
  std::size_t number = 0;  // value of the operand, if it is a number
};

// Returns whether the text after the rule's word is an operand of its kind; sets the number.
bool fits(Operand kind, std::string_view operand, std::size_t *number) {
  switch (kind) {
    case Operand::none: return operand.empty();
    case Operand::name:
    case Operand::feature: return is_extension_name(operand);
    case Operand::profile: return !operand.empty();
    case Operand::items: *number = number_of(operand, 6); break;
    case Operand::version: *number = parse_compute_capability(operand); break;
    case Operand::range: return parse_range_multiple(operand)[0] != 0;
  }
  return *number != 0;
}

Parsed parse(std::string_view requirement) {
  for (const Rule &rule : kRules) {
    const std::string_view word = rule.word;
    if (requirement.substr(0, word.size()) != word) continue;
    Parsed parsed{&rule, requirement.substr(word.size()), 0};
    if (fits(rule.operand, parsed.operand, &parsed.number)) return parsed;
  }
  return {};
}

bool has(const Capabilities &device, const Parsed &needed) {
  switch (needed.rule->operand) {
    case Operand::none: return needed.rule->has == nullptr || device.*needed.rule->has;
    case Operand::name: return device.has_extension(needed.operand);
    case Operand::feature:
      return device.features.find(concat({" ", needed.rule->word, needed.operand, " "})) !=
             std::string::npos;
    case Operand::profile: return device.profile == needed.operand;
    case Operand::items: return device.max_work_group_size >= needed.number;
    case Operand::version: return device.compute_capability >= needed.number;
    case Operand::range: return true;
  }
  return false;
}

// Says what the device lacks.
std::string lack(const Capabilities &device, const Parsed &needed) {
  const bool foreign = needed.rule->operand == Operand::version && device.compute_capability == 0;
  std::string text =
      concat({"needs ", foreign ? "NVIDIA's " : "", needed.rule->lack, needed.operand});
  switch (needed.rule->operand) {
    case Operand::profile: return concat({text, ", and this one is ", device.profile});
    case Operand::items: return concat({text, " work-items"});
    case Operand::version:
      if (foreign) break;
      return concat({text, " (this device has ", packs::decimal(device.compute_capability / 100),
                     ".", packs::decimal(device.compute_capability % 100), ")"});
    default: break;
  }
  return text;
}

}  // namespace

packs::Status check_requirement(std::string_view requirement, const Capabilities &device) {
  const Parsed needed = parse(requirement);
  if (needed.rule != nullptr && has(device, needed)) return {};
  return packs::Status::error(
      packs::Code::requirement,
      needed.rule == nullptr
          ? concat({"needs \"", requirement, "\", which this version does not know"})
          : lack(device, needed));
}

std::uint32_t parse_compute_capability(std::string_view text) {
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos) return 0;
  const std::size_t major = number_of(text.substr(0, dot), 2);
  const std::string_view minor_text = text.substr(dot + 1);
  const std::size_t minor = number_of(minor_text, 2);
  if (major == 0 || (minor == 0 && minor_text != "0")) return 0;
  return static_cast<std::uint32_t>(100 * major + minor);
}

std::array<std::size_t, 3> parse_range_multiple(std::string_view text) {
  std::array<std::size_t, 3> sides{1, 1, 1};
  for (std::size_t &side : sides) {
    const std::size_t end = std::min(text.find('x'), text.size());
    side = number_of(text.substr(0, end), 4);
    if (side == 0) break;
    if (end == text.size()) return sides;
    text.remove_prefix(end + 1);
  }
  return {0, 0, 0};
}

std::uint32_t compute_capability_of(const Facts &key) {
  const std::string *text = find_fact(key, "compute_capability");
  return text == nullptr ? 0 : parse_compute_capability(*text);
}

std::uint32_t compute_capability_of(const Facts &key, const Description &device) {
  return both_have(key, device.key.facts(), "address_bits") ? compute_capability_of(key) : 0;
}

bool takes_lower_cubins(std::uint32_t device, std::uint32_t cubins) {
  return cubins != 0 && cubins / 100 == device / 100 && cubins < device;
}

bool Capabilities::has_extension(std::string_view name) const {
  return std::binary_search(extensions.begin(), extensions.end(), name);
}

bool is_known_requirement(std::string_view requirement) {
  const Parsed parsed = parse(requirement);
  if (parsed.rule == nullptr || parsed.rule->operand != Operand::profile) {
    return parsed.rule != nullptr;
  }
  const std::vector<std::string> profiles = profile_names();
  return std::binary_search(profiles.begin(), profiles.end(), parsed.operand);
}

std::vector<std::string> known_requirements() {
  std::vector<std::string> all;
  for (const Rule &rule : kRules) {
    switch (rule.operand) {
      case Operand::none: all.emplace_back(rule.word); break;
      case Operand::name:
      case Operand::feature: all.push_back(concat({rule.word, "NAME"})); break;
      case Operand::profile:
        for (const std::string &name : profile_names()) all.push_back(concat({rule.word, name}));
        break;
      case Operand::items: all.push_back(concat({rule.word, "N"})); break;
      case Operand::version: all.push_back(concat({rule.word, "M.N"})); break;
      case Operand::range: all.push_back(concat({rule.word, "XxY"})); break;
    }
  }
  return all;
}

}  // namespace kiln::runtime
