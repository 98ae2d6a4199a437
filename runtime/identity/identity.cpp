// SPDX-License-Identifier: Apache-2.0
// Facts as text and back, binary keys, and how far two devices are from each other.
#include "runtime/identity/identity.hpp"

#include <algorithm>

#include "kiln/packs/bytes.hpp"
#include "runtime/identity/intel_ip.hpp"

namespace kiln::runtime {
namespace {

constexpr char kFieldNames[kFieldCount][19] = {
    "platform_name",   "platform_vendor",  "platform_version",   "device_name",
    "device_vendor",   "device_vendor_id", "device_version",     "opencl_c_version",
    "device_profile",  "address_bits",     "driver_version",     "device_uuid",
    "driver_uuid",     "ip_version",       "compute_capability", "il_version",
    "extensions_hash", "instruction_set",
};

// The scale of distance(): all differences below one step add up to less than the step.
constexpr unsigned kPerFact = 1;
constexpr unsigned kMaxFacts = 255;
constexpr unsigned kUnknownModel = 256;
constexpr unsigned kOtherModel = 2 * kUnknownModel;
constexpr unsigned kOtherVendor = 2 * kOtherModel;

// The facts by which models are compared without Intel's IP version, the most reliable first. The
// first fact that both keys have decides: a device name may carry the driver's own version
// (llvmpipe names its LLVM), and some drivers put only the vendor in it.
constexpr char kModelFacts[][19] = {"compute_capability", "model", "device_name",
                                    "device_vendor_id"};

// Two driver versions may encode the IP version of one GPU in two ways. Then only the architecture
// can be compared.
unsigned ip_distance(const std::string &a, const std::string &b) {
  if (a == b) return 0;
  const IntelIp ip_a = parse_intel_ip(a);
  const IntelIp ip_b = parse_intel_ip(b);
  const bool comparable = ip_a.newer == ip_b.newer || ip_a.architecture != ip_b.architecture;
  return comparable ? kOtherModel : kUnknownModel;
}

unsigned model_distance(const Facts &a, const Facts &b) {
  const std::string *ip_of_a = find_fact(a, "ip_version");
  const std::string *ip_of_b = find_fact(b, "ip_version");
  if (ip_of_a != nullptr && ip_of_b != nullptr) return ip_distance(*ip_of_a, *ip_of_b);
  for (const char *fact : kModelFacts) {
    const std::string *of_a = find_fact(a, fact);
    const std::string *of_b = find_fact(b, fact);
    if (of_a != nullptr && of_b != nullptr) return *of_a == *of_b ? 0 : kOtherModel;
  }
  return kUnknownModel;
}

// A profile is a vendor's driver, whatever vendor string a release reports. Devices without a
// profile of their own are compared by that string.
bool vendors_differ(const Facts &a, const Facts &b) {
  if (both_have_and_differ(a, b, "profile")) return true;
  const std::string *profile = find_fact(a, "profile");
  return profile != nullptr && *profile == "generic" && both_have_and_differ(a, b, "device_vendor");
}

bool is_name(const std::string &text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

// Undoes the escapes of a value that ends at `end`; false if an escape is unknown.
bool unescape(std::string_view text, std::size_t begin, std::size_t end, std::string *value) {
  for (std::size_t i = begin; i < end; ++i) {
    if (text[i] != '\\') {
      value->push_back(text[i]);
      continue;
    }
    if (++i == end) return false;
    if (text[i] != '\\' && text[i] != 'n') return false;
    value->push_back(text[i] == 'n' ? '\n' : '\\');
  }
  return true;
}

}  // namespace

const std::string *find_fact(const Facts &facts, const char *name) {
  for (const auto &pair : facts) {
    if (pair.first == name) return &pair.second;
  }
  return nullptr;
}

bool both_have(const Facts &a, const Facts &b, const char *name) {
  const std::string *of_a = find_fact(a, name);
  const std::string *of_b = find_fact(b, name);
  return of_a != nullptr && of_b != nullptr && *of_a == *of_b;
}

bool both_have_and_differ(const Facts &a, const Facts &b, const char *name) {
  const std::string *of_a = find_fact(a, name);
  const std::string *of_b = find_fact(b, name);
  return of_a != nullptr && of_b != nullptr && *of_a != *of_b;
}

const char *field_name(Field field) { return kFieldNames[static_cast<std::size_t>(field)]; }

std::optional<Field> field_from_name(const std::string &name) {
  for (std::size_t i = 0; i < kFieldCount; ++i) {
    if (name == kFieldNames[i]) return static_cast<Field>(i);
  }
  return std::nullopt;
}

const std::string &Identity::text(Field field) const {
  static const std::string *const empty = new std::string;  // outlives every static object
  const std::optional<std::string> &value = (*this)[field];
  return value ? *value : *empty;
}

Facts Identity::facts() const {
  Facts facts;
  for (std::size_t i = 0; i < kFieldCount; ++i) {
    if (values_[i]) facts.emplace_back(kFieldNames[i], *values_[i]);
  }
  return facts;
}

void append_fact(std::string_view name, std::string_view value, std::string *text) {
  *text += name;
  *text += '=';
  for (const char c : value) {
    if (c == '\\') {
      *text += "\\\\";
    } else if (c == '\n') {
      *text += "\\n";
    } else {
      *text += c;
    }
  }
  *text += '\n';
}

std::string facts_text(const Facts &facts) {
  std::string text;
  for (const auto &[name, value] : facts) append_fact(name, value, &text);
  return text;
}

std::optional<Facts> parse_facts(std::string_view text) {
  Facts facts;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    const std::size_t equals = text.find('=', begin);
    if (end == std::string_view::npos || equals > end) return std::nullopt;
    std::string name(text.substr(begin, equals - begin));
    std::string value;
    if (!is_name(name) || find_fact(facts, name.c_str()) != nullptr) return std::nullopt;
    if (!unescape(text, equals + 1, end, &value)) return std::nullopt;
    facts.emplace_back(std::move(name), std::move(value));
    begin = end + 1;
  }
  return facts;
}

BinaryKey::BinaryKey(const Facts &facts) {
  for (const auto &[name, value] : facts) add(name, value);
}

void BinaryKey::add(std::string_view name, std::string_view value) {
  append_fact(name, value, &text_);
  hash_ = packs::xxh3(text_);
  facts_.emplace_back(name, value);
}

std::vector<Difference> differences(const Facts &pack, const Facts &device) {
  std::vector<Difference> result;
  for (const auto &pair : device) {
    const std::string *other = find_fact(pack, pair.first.c_str());
    if (other != nullptr && *other == pair.second) continue;
    result.push_back({pair.first, std::nullopt, pair.second});
    if (other != nullptr) result.back().pack = *other;
  }
  for (const auto &pair : pack) {
    if (find_fact(device, pair.first.c_str()) != nullptr) continue;
    result.push_back({pair.first, pair.second, std::nullopt});
  }
  return result;
}

unsigned distance(const Facts &pack, const Facts &device) {
  const auto facts = static_cast<unsigned>(differences(pack, device).size());
  if (facts == 0) return 0;
  const unsigned vendor = vendors_differ(pack, device) ? kOtherVendor : 0;
  return vendor + model_distance(pack, device) + std::min(facts, kMaxFacts) * kPerFact;
}

}  // namespace kiln::runtime
