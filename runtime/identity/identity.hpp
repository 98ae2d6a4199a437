// SPDX-License-Identifier: Apache-2.0
// Device identity: what a driver says about itself, and what a vendor profile makes of it.
//
// Everything here is a value or a pure function of values; the queries that fill an Identity are in
// runtime/device/device.hpp. No exceptions; safe to use from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kiln::runtime {

// The raw facts of an identity. Values are kept exactly as the driver gave them, never
// truncated; numbers are written in lower-case hexadecimal with "0x" (ids, versions) or
// in decimal (address bits). The order is the order in which identities are printed.
enum class Field : std::uint8_t {
  platform_name,
  platform_vendor,
  platform_version,
  device_name,
  device_vendor,
  device_vendor_id,  // CL_DEVICE_VENDOR_ID, "0x8086"
  device_version,
  opencl_c_version,
  device_profile,  // "FULL_PROFILE" or "EMBEDDED_PROFILE"
  address_bits,    // "32" or "64"
  driver_version,
  device_uuid,  // cl_khr_device_uuid, 32 hexadecimal digits
  driver_uuid,
  ip_version,          // cl_intel_device_attribute_query, "0x000c0000"
  compute_capability,  // cl_nv_device_attribute_query, "9.0"
  il_version,          // as reported: "SPIR-V_1.2 SPIR-V_1.3"; may be empty
  extensions_hash,     // XXH3-64 of the extension names, sorted and joined by a space: 16 digits
  instruction_set,     // of a device that is the processor: "x86-64-v3"; absent on others
};
inline constexpr std::size_t kFieldCount = 18;

// Returns the field's name in packs, reports and JSON ("driver_version").
const char *field_name(Field field);
// Returns the field with that name, or std::nullopt.
std::optional<Field> field_from_name(const std::string &name);

// Names with values; the order counts.
using Facts = std::vector<std::pair<std::string, std::string>>;

// A failed query is an absent value, which is not the same as an empty string.
class Identity {
 public:
  const std::optional<std::string> &operator[](Field field) const {
    return values_[static_cast<std::size_t>(field)];
  }
  void set(Field field, std::string value) {
    values_[static_cast<std::size_t>(field)] = std::move(value);
  }
  // Returns the value; empty if absent.
  const std::string &text(Field field) const;
  // Returns the fields that are present, by their names.
  Facts facts() const;

 private:
  std::optional<std::string> values_[kFieldCount];
};

// Returns the value under that name, or null.
const std::string *find_fact(const Facts &facts, const char *name);
// Return whether both have the name, with equal values and with different values.
bool both_have(const Facts &a, const Facts &b, const char *name);
bool both_have_and_differ(const Facts &a, const Facts &b, const char *name);

// Returns facts as one text, a "name=value" line for each, each line ended by a newline; backslash
// and newline in a value are escaped ("\\" and "\n"), other bytes are kept, UTF-8 or not. Names are
// lower-case letters, digits and underscores. Equal texts mean equal facts.
std::string facts_text(const Facts &facts);
// Appends the line of one fact.
void append_fact(std::string_view name, std::string_view value, std::string *text);

// Parses a text of facts_text(); returns std::nullopt for any other text.
std::optional<Facts> parse_facts(std::string_view text);

// The part of an identity that must be equal for a binary to be exact: facts in a fixed order for
// each profile. Absent facts are left out, so that absent and empty differ.
//
// The first fact is "profile"; then come raw facts under their field names, and parts of raw facts
// as "model", "compiler" and "build". Nothing in a key is looked up in a table of Kiln's own: a
// newer Kiln that knows more names must make the same keys.
class BinaryKey {
 public:
  BinaryKey() = default;
  explicit BinaryKey(const Facts &facts);
  void add(std::string_view name, std::string_view value);

  const Facts &facts() const { return facts_; }
  // Returns the canonical text by facts_text(), which packs hold and by which keys are compared.
  const std::string &text() const { return text_; }
  // Returns the XXH3-64 of the text, by which tunings name the device.
  std::uint64_t hash() const { return hash_; }

 private:
  Facts facts_;
  std::string text_;
  std::uint64_t hash_ = 0;  // 0: no fact was added
};

// How a driver's binary becomes final, so that nothing is left to compile at its first launch.
// docs/understand/final.md gives the source for each driver.
enum class Finishing : std::uint8_t {
  unknown,       // not measured for this driver
  not_needed,    // clGetProgramInfo gives a final binary
  linker,        // the binary is PTX; the linker in libcuda makes a cubin from it
  launches,      // the binary holds code for the work-group sizes launched before it was taken
  shader_cache,  // the binary is a portable form; final code is in the driver's cache on disk
};

// The values that a profile extracts; a member is empty if the driver does not report it.
struct Description {
  const char *profile = "generic";  // one of profile_names()
  std::string family;               // "Adreno 7xx", "Gen12LP", "Mali Valhall", "gfx9", ...
  std::string model;                // "750", "Mali-G710", "NVIDIA H200"
  std::string compiler;             // the driver's compiler build: "E031.45.02.06", "r32p1-01eac0"
  unsigned adjacent_threads = 0;    // work-items in x that the vendor says execute together; 0: not
                                    // stated for this model
  BinaryKey key;
  Finishing finishing = Finishing::unknown;
  // Options of the vendor's own compiler, each with a space before it; empty: it has none.
  const char *deferring = "";   // compile a kernel when it is created
  const char *one_thread = "";  // compile only in the calling thread
};

// Picks the profile and extracts the description. Never fails: broken or empty strings give the
// generic profile, or the vendor's profile with an empty model and every identity string in the
// key.
Description describe(const Identity &identity);

// Returns the names of all profiles, sorted.
std::vector<std::string> profile_names();

// A fact that differs between two keys; std::nullopt: the key lacks the fact.
struct Difference {
  std::string field;
  std::optional<std::string> pack;
  std::optional<std::string> device;
};

// Returns every field in which the keys differ: the device's fields in their order, then the fields
// that only the pack's target has.
std::vector<Difference> differences(const Facts &pack, const Facts &device);

// Returns how far apart two keys are; 0 if they hold the same pairs. From near to far: another
// driver version of the same model, keys that do not let the models be compared (an old driver that
// says less), another model, another vendor.
unsigned distance(const Facts &pack, const Facts &device);

}  // namespace kiln::runtime
