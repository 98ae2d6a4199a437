// SPDX-License-Identifier: Apache-2.0
// Arm's Mali and Immortalis.
#include "runtime/identity/profiles/profile.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "runtime/text/driver_strings.hpp"

namespace kiln::runtime::profiles {
namespace {

struct MaliModel {
  std::uint8_t id;  // architecture and product digits of the GPU id: 0xa*7*0000 is 0xa7
  std::uint8_t adjacent_threads;  // 0: not in Arm's table
  char name[11];
  char family[13];
};

// The numbers of adjacent threads are from Arm's OpenCL guide, chapter 9.2, which lists no others.
constexpr MaliModel kMaliModels[] = {
    {0x60, 4, "Mali-G71", "Mali Bifrost"},   {0x61, 4, "Mali-G72", "Mali Bifrost"},
    {0x70, 4, "Mali-G51", "Mali Bifrost"},   {0x71, 8, "Mali-G76", "Mali Bifrost"},
    {0x72, 8, "Mali-G52", "Mali Bifrost"},   {0x73, 4, "Mali-G31", "Mali Bifrost"},
    {0x90, 16, "Mali-G77", "Mali Valhall"},  {0x91, 16, "Mali-G57", "Mali Valhall"},
    {0x92, 16, "Mali-G78", "Mali Valhall"},  {0x94, 0, "Mali-G68", "Mali Valhall"},
    {0x95, 0, "Mali-G78AE", "Mali Valhall"}, {0xa2, 0, "Mali-G710", "Mali Valhall"},
    {0xa3, 0, "Mali-G510", "Mali Valhall"},  {0xa4, 0, "Mali-G310", "Mali Valhall"},
    {0xa7, 0, "Mali-G610", "Mali Valhall"},  {0xb2, 0, "Mali-G715", "Mali Valhall"},
    {0xb3, 0, "Mali-G615", "Mali Valhall"},  {0xc0, 0, "Mali-G720", "Mali 5th Gen"},
    {0xc1, 0, "Mali-G620", "Mali 5th Gen"},  {0xd0, 0, "Mali-G725", "Mali 5th Gen"},
    {0xd1, 0, "Mali-G625", "Mali 5th Gen"},
};

// Finds the model by the id, or by the name if the id is 0.
const MaliModel *find_mali(unsigned long gpu_id, const std::string &name) {
  const unsigned long id = (gpu_id >> 28 & 15) << 4 | (gpu_id >> 16 & 15);
  for (const MaliModel &model : kMaliModels) {
    if (gpu_id != 0 ? model.id == id : name == model.name) return &model;
  }
  return nullptr;
}

// Returns the GPU id, which is the vendor id: architecture major, minor, revision, product (four
// bits each), then the silicon's revision. Midgard uses another format and is not in the table.
// Returns 0 for an id of at most 16 bits, which names a vendor and not a GPU.
unsigned long mali_gpu_id(const Identity &identity) {
  const std::string &text = identity.text(Field::device_vendor_id);
  const unsigned long id = std::strtoul(text.c_str(), nullptr, 16);
  return id > 0xffff ? id : 0;
}

// Sets the model by the id, known or not, because the name is not canonical (a G610 may call itself
// Mali-LODX). The name decides for Midgard, and for devices without an id.
void set_mali_model(const Identity &identity, unsigned long gpu_id, Description *out) {
  const std::string name = first_word(identity.text(Field::device_name));
  const MaliModel *model = find_mali(gpu_id, name);
  if (model != nullptr) {
    out->model = model->name;
    out->family = model->family;
    out->adjacent_threads = model->adjacent_threads;
  } else if (starts_with(name, "Mali-T")) {
    out->model = name;
    out->family = "Mali Midgard";
  } else if (gpu_id != 0) {
    out->model = "Mali " + identity.text(Field::device_vendor_id);
  } else {
    out->model = name;
  }
}

// Returns whether the text is a release with its build: "r32p1-01eac0", "g13p0-01eac0".
bool is_mali_release(const std::string &text) {
  if (text.empty() || (text[0] != 'r' && text[0] != 'g')) return false;
  const std::size_t major = count_digits(text, 1);
  const std::size_t p = 1 + major;
  if (major == 0 || text[p] != 'p') return false;
  const std::size_t minor = count_digits(text, p + 1);
  const std::size_t end = p + 1 + minor;
  return minor != 0 && (end == text.size() || text[end] == '-');
}

}  // namespace

bool Mali::recognizes(const Identity &identity) {
  return holds(identity, Field::device_name, "Mali-") ||
         holds(identity, Field::device_name, "Immortalis-") ||
         equals(identity, Field::platform_name, "ARM Platform") ||
         equals(identity, Field::device_vendor, "ARM");
}

// It is not known whether the binary is final. Reportedly machine code is made when a kernel is
// created, so that a binary taken before is not final; Kiln's builder creates all kernels first.
//
// The key is the GPU id and the driver, which the device version names as "v1.r32p1-01eac0.<hash>".
// The release alone is the compiler. The hash after it differs between two vendors' builds of one
// release and is part of the key, but only if it is a hash: some drivers have placeholders or junk
// in its place.
void Mali::describe(const Identity &identity, Description *out) {
  constexpr std::size_t kMinHashDigits = 16;
  out->deferring = " -fdeferred-compilation";
  out->one_thread = " -j 1";
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
  if (hash.size() >= kMinHashDigits && is_hexadecimal(hash)) {
    add_part("build", hash, &out->key);
  }
  add(identity, Field::address_bits, &out->key);
}

}  // namespace kiln::runtime::profiles
