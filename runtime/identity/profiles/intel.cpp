// SPDX-License-Identifier: Apache-2.0
// Intel's compute runtime (NEO).
#include "runtime/identity/profiles/profile.hpp"

#include <cstdint>

#include "runtime/identity/intel_ip.hpp"
#include "runtime/text/driver_strings.hpp"

namespace kiln::runtime::profiles {
namespace {

struct IntelFamily {
  std::uint8_t architecture;
  std::uint8_t first_release;
  char name[8];
};

constexpr IntelFamily kOldIntelFamilies[] = {
    {12, 8, "Xe-HPC"}, {12, 7, "Xe-HPG"}, {12, 5, "Xe-HP"}, {12, 0, "Gen12LP"},
    {11, 0, "Gen11"},  {9, 0, "Gen9"},    {8, 0, "Gen8"},
};
constexpr IntelFamily kNewIntelFamilies[] = {
    {30, 0, "Xe3"},     {20, 0, "Xe2"},    {12, 70, "Xe-LPG"}, {12, 60, "Xe-HPC"},
    {12, 55, "Xe-HPG"}, {12, 50, "Xe-HP"}, {12, 0, "Gen12LP"}, {11, 0, "Gen11"},
    {9, 0, "Gen9"},     {8, 0, "Gen8"},
};

template <std::size_t kCount>
const char *find_intel(const IntelFamily (&families)[kCount], const IntelIp &ip) {
  for (const IntelFamily &family : families) {
    if (family.architecture == ip.architecture && ip.release >= family.first_release) {
      return family.name;
    }
  }
  return "";
}

// A zebin is a 64-bit ELF file for the machine EM_INTELGT (205). The older format, patch tokens, is
// an ELF file for no machine.
bool is_zebin(std::string_view binary) {
  constexpr std::string_view kIdent("\177ELF\2\1", 6);  // 64 bits, little endian
  constexpr std::size_t kMachine = 18;
  return binary.size() > kMachine + 1 && binary.substr(0, kIdent.size()) == kIdent &&
         binary[kMachine] == '\315' && binary[kMachine + 1] == 0;
}

bool has_patch_tokens(std::string_view binary) { return !is_zebin(binary); }

// Measured (docs/operate/crosscheck.md): a driver takes patch tokens of its own version for the
// whole architecture, and zebins of other versions, newer or older, for exactly the same product.
// Neither IP versions in two encodings nor older IP versions tell products apart; the driver does.
//
// The family is compared because the architecture is not enough: 12 spans cores from Gen12LP to
// Xe-HPC.
VendorRule accepts_by_ip_version(std::string_view family, const Facts &key,
                                 const Description &device) {
  const Facts &own = device.key.facts();
  const std::string *target_ip = find_fact(key, "ip_version");
  const std::string *device_ip = find_fact(own, "ip_version");
  if (device.family.empty() || device.family != family || target_ip == nullptr ||
      device_ip == nullptr || !both_have(key, own, "profile") ||
      !both_have(key, own, "address_bits")) {
    return {};
  }
  const IntelIp a = parse_intel_ip(*target_ip);
  const IntelIp b = parse_intel_ip(*device_ip);
  const bool alike = a.newer == b.newer;
  const bool product = !alike || (a.newer ? a.release == b.release : *target_ip == *device_ip);
  if (!both_have(key, own, "driver_version")) {
    if (!product) return {};
    return {"other versions of Intel's driver may take a zebin for the same product", true,
            is_zebin};
  }
  if (!alike || a.architecture != b.architecture || a.architecture == 0) return {};
  return {"Intel's driver takes binaries of one family and driver version", false,
          product ? nullptr : has_patch_tokens};
}

}  // namespace

bool Intel::recognizes(const Identity &identity) {
  return holds(identity, Field::device_vendor, "Intel") ||
         holds(identity, Field::device_version, " NEO");
}

// The IP version names the instruction set, and the driver itself compares the IP version and its
// own version: a binary made offline for a product family is exact on each device of the family.
// The key needs the address bits too: Broxton has Skylake's IP version, but runs with 32. A driver
// without the query may name only the generation (NEO 20.44 without hardware: "Gen9 [0x0000]", and
// a driver version of "1.0.0"): then every string counts, and models of one generation still have
// equal keys.
void Intel::describe(const Identity &identity, Description *out) {
  constexpr Field kKey[] = {Field::ip_version, Field::driver_version};
  out->model = identity.text(Field::device_name);
  out->compiler = identity.text(Field::driver_version);
  const IntelIp ip = parse_intel_ip(identity.text(Field::ip_version));
  out->family = ip.newer ? find_intel(kNewIntelFamilies, ip) : find_intel(kOldIntelFamilies, ip);
  const std::string generation = word_after(out->model, "Gen");
  if (out->family.empty() && count_digits(generation, 0) != 0) out->family = "Gen" + generation;
  // Measured with three versions: loads in 0.06 ms, and the driver gives back the same bytes.
  out->finishing = Finishing::not_needed;
  out->accepts_binary_of = accepts_by_ip_version;
  if (!set_key_if_present(identity, kKey, out)) set_default_key(identity, out);
}

}  // namespace kiln::runtime::profiles
