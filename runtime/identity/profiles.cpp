// One vendor profile per driver family: how it is recognised, what it says of its model
// and compiler, and what its binary key is.
//
// Unless a profile knows the driver's own rule, the key is every identity string but one.
// device_uuid is left out: it is there to name one board across its driver's versions, so
// that nothing built for it would serve another board, and drivers do not agree on it (NEO
// 22.43 and 24.35 number one GPU differently, two different Mali-G610 report the same,
// llvmpipe's is Mesa's version). driver_uuid is kept: it names the driver's build (NEO's
// is the driver version in ASCII) or is a constant (llvmpipe).
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "runtime/identity/identity.hpp"
#include "runtime/identity/intel_ip.hpp"
#include "runtime/identity/requirements.hpp"
#include "runtime/text/driver_strings.hpp"

namespace kiln::runtime {
namespace {

// Tables here hold their texts and no pointers to them: each pointer would cost the shared
// library a relocation of three words beside itself.

void add(const Identity &identity, Field field, BinaryKey *key) {
  if (identity[field]) key->emplace_back(field_name(field), *identity[field]);
}

void add_part(const char *name, const std::string &value, BinaryKey *key) {
  if (!value.empty()) key->emplace_back(name, value);
}

// The key that is safe for any driver. `model` and `compiler`, where they were cut out of
// longer strings, are repeated so that an explanation can say what differs.
void set_default_key(const Identity &identity, Description *out) {
  if (out->model != identity.text(Field::device_name)) {
    add_part("model", out->model, &out->key);
  }
  if (out->compiler != identity.text(Field::driver_version)) {
    add_part("compiler", out->compiler, &out->key);
  }
  for (std::size_t i = 0; i < kFieldCount; ++i) {
    const Field field = static_cast<Field>(i);
    if (field != Field::device_uuid) add(identity, field, &out->key);
  }
}

template <std::size_t kCount>
bool set_key_if_present(const Identity &identity, const Field (&fields)[kCount], Description *out) {
  for (const Field field : fields) {
    if (identity.text(field).empty()) return false;
  }
  for (const Field field : fields) add(identity, field, &out->key);
  add(identity, Field::address_bits, &out->key);
  return true;
}

// Whether the binary is final is not known: Qualcomm's guide calls it executable code and says
// that loading one skips compiling, and nobody here has measured a first launch.
//
// "750" from "OpenCL 3.0 Adreno(TM) 750". An older driver puts the vendor alone in the
// device name, so the version is asked first. The compiler's build is in the driver
// version; where it is not, older drivers have it in the platform version.
void describe_adreno(const Identity &identity, Description *out) {
  constexpr char kMark[] = "Adreno(TM) ";
  out->model = word_after(identity.text(Field::device_version), kMark);
  if (out->model.empty()) out->model = word_after(identity.text(Field::device_name), kMark);
  out->compiler = word_after(identity.text(Field::driver_version), "Compiler ");
  if (out->compiler.empty()) {
    out->compiler = word_after(identity.text(Field::platform_version), "Compiler ");
  }
  const std::string &model = out->model;
  if (count_digits(model, 0) == 3) {
    out->family = "Adreno " + model.substr(0, 1) + "xx";
  } else if (!model.empty()) {
    out->family = "Adreno " + model.substr(0, model.find('-'));
  }
  set_default_key(identity, out);
}

struct MaliModel {
  std::uint8_t id;  // architecture and product digits of the GPU id: 0xa*7*0000 is 0xa7
  char name[11];
  char family[13];
};

constexpr MaliModel kMaliModels[] = {
    {0x60, "Mali-G71", "Mali Bifrost"},   {0x61, "Mali-G72", "Mali Bifrost"},
    {0x70, "Mali-G51", "Mali Bifrost"},   {0x71, "Mali-G76", "Mali Bifrost"},
    {0x72, "Mali-G52", "Mali Bifrost"},   {0x73, "Mali-G31", "Mali Bifrost"},
    {0x90, "Mali-G77", "Mali Valhall"},   {0x91, "Mali-G57", "Mali Valhall"},
    {0x92, "Mali-G78", "Mali Valhall"},   {0x94, "Mali-G68", "Mali Valhall"},
    {0x95, "Mali-G78AE", "Mali Valhall"}, {0xa2, "Mali-G710", "Mali Valhall"},
    {0xa3, "Mali-G510", "Mali Valhall"},  {0xa4, "Mali-G310", "Mali Valhall"},
    {0xa7, "Mali-G610", "Mali Valhall"},  {0xb2, "Mali-G715", "Mali Valhall"},
    {0xb3, "Mali-G615", "Mali Valhall"},  {0xc0, "Mali-G720", "Mali 5th Gen"},
    {0xc1, "Mali-G620", "Mali 5th Gen"},  {0xd0, "Mali-G725", "Mali 5th Gen"},
    {0xd1, "Mali-G625", "Mali 5th Gen"},
};

// By the id, or by the name where the id is 0.
const MaliModel *find_mali(unsigned long gpu_id, const std::string &name) {
  const unsigned long id = (gpu_id >> 28 & 15) << 4 | (gpu_id >> 16 & 15);
  for (const MaliModel &model : kMaliModels) {
    if (gpu_id != 0 ? model.id == id : name == model.name) return &model;
  }
  return nullptr;
}

// The GPU id is the vendor id: architecture major, minor, revision, product (four bits
// each), then the silicon's revision; Midgard counts otherwise and is not in the table.
// What fits 16 bits is a vendor's id and says nothing of the GPU: 0 stands for it.
unsigned long mali_gpu_id(const Identity &identity) {
  const std::string &text = identity.text(Field::device_vendor_id);
  const unsigned long id = std::strtoul(text.c_str(), nullptr, 16);
  return id > 0xffff ? id : 0;
}

// The name is not canonical (a G610 may call itself Mali-LODX), so the id decides where
// there is one, known or not; the name serves Midgard, and where there is no id.
void set_mali_model(const Identity &identity, unsigned long gpu_id, Description *out) {
  const std::string name = first_word(identity.text(Field::device_name));
  const MaliModel *model = find_mali(gpu_id, name);
  if (model != nullptr) {
    out->model = model->name;
    out->family = model->family;
  } else if (starts_with(name, "Mali-T")) {
    out->model = name;
    out->family = "Mali Midgard";
  } else if (gpu_id != 0) {
    out->model = "Mali " + identity.text(Field::device_vendor_id);
  } else {
    out->model = name;
  }
}

// "r32p1-01eac0", "g13p0-01eac0": a release and what was built of it.
bool is_mali_release(const std::string &text) {
  if (text.empty() || (text[0] != 'r' && text[0] != 'g')) return false;
  const std::size_t major = count_digits(text, 1);
  const std::size_t p = 1 + major;
  if (major == 0 || p >= text.size() || text[p] != 'p') return false;
  const std::size_t minor = count_digits(text, p + 1);
  const std::size_t end = p + 1 + minor;
  return minor != 0 && (end == text.size() || text[end] == '-');
}

// Whether the binary is final is not known. It is reported that machine code is made when a kernel
// is created, so that a binary taken before is not; Kiln's builder creates all kernels first.
//
// The GPU id and the driver, which stands in the device version as
// "v1.r32p1-01eac0.<hash>". The release alone is the compiler; the hash behind it tells
// two vendors' builds of one release apart and is part of the key, but only if it is a
// hash: drivers are known that leave placeholders or junk there, which says nothing.
void describe_mali(const Identity &identity, Description *out) {
  constexpr std::size_t kLeastHashDigits = 16;
  const unsigned long gpu_id = mali_gpu_id(identity);
  set_mali_model(identity, gpu_id, out);
  const std::string driver = word_after(identity.text(Field::device_version), " v1.");
  const std::string release = until(driver, '.');
  if (is_mali_release(release)) out->compiler = release;
  if (out->compiler.empty() || gpu_id == 0) {
    set_default_key(identity, out);
    return;
  }
  add(identity, Field::device_vendor_id, &out->key);
  add_part("compiler", out->compiler, &out->key);
  const std::string hash = driver.substr(std::min(release.size() + 1, driver.size()));
  if (hash.size() >= kLeastHashDigits && is_hexadecimal(hash)) {
    add_part("build", hash, &out->key);
  }
  add(identity, Field::address_bits, &out->key);
}

// Whether the binary is final is not known.
//
// "BXE-4-32" from "PowerVR B-Series BXE-4-32", "GE8320" from "PowerVR Rogue GE8320".
void describe_powervr(const Identity &identity, Description *out) {
  const std::string &name = identity.text(Field::device_name);
  const std::string family = word_after(name, "PowerVR ");
  const std::string model = family.empty() ? family : word_after(name, (family + " ").c_str());
  out->model = model.empty() ? family : model;
  if (!model.empty()) out->family = "PowerVR " + family;
  out->compiler = identity.text(Field::driver_version);
  set_default_key(identity, out);
}

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

// The IP version names the instruction set, and the driver itself compares it and its own
// version: a binary made offline for a product family is exact on each of its devices.
// Address bits are needed beside it: Broxton runs with 32, on the IP version of Skylake.
// A driver without the query may name the generation alone (NEO 20.44 without hardware:
// "Gen9 [0x0000]", and a driver version of "1.0.0"): then every string counts, and models
// of one generation still cannot be told apart.
void describe_intel(const Identity &identity, Description *out) {
  constexpr Field kKey[] = {Field::ip_version, Field::driver_version};
  out->model = identity.text(Field::device_name);
  out->compiler = identity.text(Field::driver_version);
  const IntelIp ip = parse_intel_ip(identity.text(Field::ip_version));
  out->family = ip.newer ? find_intel(kNewIntelFamilies, ip) : find_intel(kOldIntelFamilies, ip);
  const std::string generation = word_after(out->model, "Gen");
  if (out->family.empty() && count_digits(generation, 0) != 0) out->family = "Gen" + generation;
  // Measured with three versions: loads in 0.06 ms, and the bytes come back as they were given.
  out->finishing = Finishing::not_needed;
  if (!set_key_if_present(identity, kKey, out)) set_default_key(identity, out);
}

// The finished binary is a cubin: code for one compute capability, which every later driver takes
// (measured with one driver; NVIDIA promises the rest). What the driver itself gives is PTX, which
// it compiles at each load. A driver that does not tell its compute capability gets a key of names;
// the device version is in it because some names were sold with two architectures (GeForce GT 730).
void describe_nvidia(const Identity &identity, Description *out) {
  constexpr Field kCubinKey[] = {Field::compute_capability};
  constexpr Field kKey[] = {Field::device_name, Field::device_version, Field::driver_version};
  out->model = identity.text(Field::device_name);
  out->compiler = identity.text(Field::driver_version);
  if (parse_compute_capability(identity.text(Field::compute_capability)) != 0) {
    out->finishing = Finishing::linker;
    set_key_if_present(identity, kCubinKey, out);
    return;
  }
  if (!set_key_if_present(identity, kKey, out)) set_default_key(identity, out);
}

// The binary is a code object, an ELF of machine code, by AMD's documentation of its format; that
// a first launch compiles nothing was not measured.
//
// The device name is the code object's target with its features,
// "gfx908:sramecc+:xnack-", which is what the driver compares; the features are part of
// the key and not of the model. Older drivers have a chip's name there.
void describe_amd(const Identity &identity, Description *out) {
  constexpr Field kKey[] = {Field::device_name, Field::platform_version, Field::driver_version};
  const std::string &name = identity.text(Field::device_name);
  out->model = name.substr(0, name.find(':'));
  out->compiler = first_word(identity.text(Field::driver_version));
  // The last two characters are minor and stepping: gfx908 and gfx90a are gfx9.
  if (starts_with(out->model, "gfx") && out->model.size() >= 6) {
    out->family = out->model.substr(0, out->model.size() - 2);
  }
  if (!starts_with(name, "gfx") || !set_key_if_present(identity, kKey, out)) {
    set_default_key(identity, out);
  }
}

// Device version "... HSTR: pthread-x86_64-pc-linux-gnu-skylake-avx512" is the device,
// the target's triple and the processor. LLVM is in the platform version alone. The device
// name stays in the key, although PoCL's own rule is the HSTR: a processor that hides
// instructions from one machine of a kind would stop at the first that is missing.
void describe_pocl(const Identity &identity, Description *out) {
  constexpr int kDashesBeforeProcessor = 5;
  const std::string target = word_after(identity.text(Field::device_version), "HSTR: ");
  std::size_t begin = 0;
  std::size_t architecture = 0;
  for (int i = 0; i < kDashesBeforeProcessor; ++i) {
    const std::size_t dash = target.find('-', begin);
    begin = dash == std::string::npos ? 0 : dash + 1;
    if (begin == 0) break;
    if (i == 0) architecture = begin;
  }
  out->model = target.substr(begin);
  if (begin != 0) {
    out->family =
        "PoCL " + target.substr(architecture, target.find('-', architecture) - architecture);
  }
  const std::string llvm = until(word_after(identity.text(Field::platform_version), "LLVM "), ',');
  if (!llvm.empty()) out->compiler = "LLVM " + llvm;
  out->finishing = Finishing::launches;  // measured with three versions
  set_default_key(identity, out);
}

// "llvmpipe (LLVM 15.0.6, 256 bits)", "AMD Radeon RX 6600 (radeonsi, navi23, LLVM ...)":
// a model, then the Gallium driver or what it compiles with.
void describe_rusticl(const Identity &identity, Description *out) {
  const std::string &name = identity.text(Field::device_name);
  const std::size_t bracket = name.find(" (");
  out->model = name.substr(0, bracket);
  if (bracket != std::string::npos) {
    const std::string driver = until(until(name.substr(bracket + 2), ','), ')');
    out->family = starts_with(driver, "LLVM") ? out->model : driver;
    const std::string llvm = until(until(word_after(name, "LLVM "), ','), ')');
    if (!llvm.empty()) out->compiler = "LLVM " + llvm;
  }
  out->finishing = Finishing::shader_cache;  // measured with three versions, on llvmpipe
  set_default_key(identity, out);
}

// Whether the binary is final is not known.
//
// The compiler belongs to the system, and only the platform version names its build:
// "OpenCL 1.2 (Aug 30 2022 21:57:34)".
void describe_apple(const Identity &identity, Description *out) {
  constexpr Field kKey[] = {Field::device_name, Field::device_vendor_id, Field::platform_version,
                            Field::driver_version};
  const std::string &platform = identity.text(Field::platform_version);
  const std::string &name = identity.text(Field::device_name);
  const std::size_t bracket = platform.find('(');
  out->model = name;
  if (bracket != std::string::npos) out->compiler = until(platform.substr(bracket + 1), ')');
  const std::string chip = word_after(name, "Apple ");
  if (!chip.empty()) out->family = "Apple " + chip;
  if (!set_key_if_present(identity, kKey, out)) set_default_key(identity, out);
}

// Whether the binary is final is not known.
//
// "GC7000L.6214.0000" from "Vivante OpenCL Device GC7000L.6214.0000": the chip's model,
// revision and customer id, of which the family is the first.
void describe_vivante(const Identity &identity, Description *out) {
  out->model = word_after(identity.text(Field::device_name), "Device ");
  if (!out->model.empty()) out->family = "Vivante " + until(out->model, '.');
  out->compiler = last_word(identity.text(Field::driver_version));
  set_default_key(identity, out);
}

void describe_generic(const Identity &identity, Description *out) {
  out->model = identity.text(Field::device_name);
  out->compiler = identity.text(Field::driver_version);
  set_default_key(identity, out);
}

struct Profile {
  char name[8];
  void (*describe)(const Identity &, Description *);
};

constexpr Profile kProfiles[] = {
    {"generic", describe_generic}, {"pocl", describe_pocl},       {"rusticl", describe_rusticl},
    {"apple", describe_apple},     {"adreno", describe_adreno},   {"mali", describe_mali},
    {"powervr", describe_powervr}, {"vivante", describe_vivante}, {"nvidia", describe_nvidia},
    {"amd", describe_amd},         {"intel", describe_intel},
};

enum class Match : std::uint8_t { whole, begins, holds };

struct Rule {
  Field field;
  Match match;
  char profile[8];
  char text[28];  // without regard to case
};

// The first rule that holds decides. Layers and portable drivers come first: they name
// somebody else's hardware in the device's strings (PoCL on an AMD processor reports
// Intel's vendor id). Vendor ids decide nothing: rusticl's may be 0, Mali's is the GPU id.
constexpr Rule kRules[] = {
    {Field::platform_name, Match::holds, "generic", "clvk"},
    {Field::platform_name, Match::holds, "generic", "OpenCLOn12"},
    {Field::platform_name, Match::holds, "generic", "Clover"},
    {Field::platform_name, Match::holds, "generic", "Oclgrind"},
    {Field::platform_name, Match::whole, "pocl", "Portable Computing Language"},
    {Field::device_version, Match::holds, "pocl", "PoCL"},
    {Field::platform_name, Match::whole, "rusticl", "rusticl"},
    {Field::platform_name, Match::whole, "apple", "Apple"},
    {Field::device_name, Match::holds, "adreno", "Adreno"},
    {Field::device_version, Match::holds, "adreno", "Adreno"},
    {Field::device_vendor, Match::holds, "adreno", "QUALCOMM"},
    {Field::device_name, Match::holds, "mali", "Mali-"},
    {Field::device_name, Match::holds, "mali", "Immortalis-"},
    {Field::platform_name, Match::whole, "mali", "ARM Platform"},
    {Field::device_vendor, Match::whole, "mali", "ARM"},
    {Field::device_name, Match::holds, "powervr", "PowerVR"},
    {Field::device_vendor, Match::holds, "powervr", "Imagination"},
    {Field::device_name, Match::holds, "vivante", "Vivante"},
    {Field::device_vendor, Match::holds, "vivante", "Vivante"},
    {Field::device_vendor, Match::holds, "nvidia", "NVIDIA"},
    {Field::device_version, Match::holds, "nvidia", " CUDA"},
    {Field::device_vendor, Match::holds, "amd", "Advanced Micro Devices"},
    {Field::device_name, Match::begins, "amd", "gfx"},
    {Field::device_vendor, Match::holds, "intel", "Intel"},
    {Field::device_version, Match::holds, "intel", " NEO"},
    {Field::device_name, Match::begins, "apple", "Apple M"},
};

bool holds(const Rule &rule, const Identity &identity) {
  const std::string &value = identity.text(rule.field);
  switch (rule.match) {
    case Match::whole: return equals_ignoring_case(value, rule.text);
    case Match::begins: return starts_with(value, rule.text);
    case Match::holds: break;
  }
  return contains_ignoring_case(value, rule.text);
}

}  // namespace

Description describe(const Identity &identity) {
  const char *name = "generic";
  for (const Rule &rule : kRules) {
    if (!holds(rule, identity)) continue;
    name = rule.profile;
    break;
  }
  const Profile *profile = kProfiles;
  while (std::strcmp(profile->name, name) != 0) ++profile;
  Description result;
  result.profile = profile->name;
  result.key.emplace_back("profile", profile->name);
  profile->describe(identity, &result);
  return result;
}

}  // namespace kiln::runtime
