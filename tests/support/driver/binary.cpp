// SPDX-License-Identifier: Apache-2.0
#include "tests/support/driver/binary.hpp"

namespace kiln::driver {
namespace {

constexpr char kMagic[] = "KILN TEST DRIVER";
constexpr std::size_t kMagicSize = sizeof(kMagic) - 1;
constexpr std::size_t kHashSize = 8;

std::uint64_t fnv1a(const std::string &bytes, std::size_t begin) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (std::size_t i = begin; i < bytes.size(); ++i) {
    hash = (hash ^ static_cast<unsigned char>(bytes[i])) * 0x100000001b3;
  }
  return hash;
}

void put(std::uint64_t value, std::size_t size, std::string *out) {
  for (std::size_t i = 0; i < size; ++i) out->push_back(static_cast<char>(value >> (8 * i)));
}

void put(const std::string &text, std::string *out) {
  put(text.size(), 4, out);
  *out += text;
}

// Reads fields in order; after the first that is not there, everything is empty.
struct Fields {
  const std::string &bytes;
  std::size_t at;
  bool good = true;

  std::uint64_t number(std::size_t size) {
    if (!good || bytes.size() - at < size) good = false;
    std::uint64_t value = 0;
    for (std::size_t i = 0; good && i < size; ++i) {
      value |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
    }
    if (good) at += size;
    return value;
  }

  std::string text() {
    const std::size_t size = number(4);
    if (!good || bytes.size() - at < size) good = false;
    if (!good) return {};
    at += size;
    return bytes.substr(at - size, size);
  }
};

// Of the ELF file: the size of its header and of each section's header, which follow it.
constexpr std::size_t kElfHeader = 64, kElfSection = 64, kElfSections = 2;
constexpr std::size_t kElfData = kElfHeader + kElfSections * kElfSection;
constexpr char kElfMagic[] = "\x7f\x45LF\2\1\1";
constexpr std::uint64_t kSpirvSection = 0xff000009;

void put_at(std::size_t at, std::uint64_t value, std::size_t size, std::string *out) {
  std::string bytes;
  put(value, size, &bytes);
  out->replace(at, size, bytes);
}

}  // namespace

std::string encode(const Binary &binary) {
  std::string out = kMagic;
  std::string body;
  put(binary.model, &body);
  put(binary.driver_version, &body);
  put(binary.revision, 4, &body);
  put(binary.generation, 4, &body);
  put(binary.stub ? 1 : 0, 4, &body);
  put(binary.options, &body);
  put(binary.kernels, &body);
  put(binary.source, &body);
  put(binary.payload, &body);
  put(fnv1a(body, 0), kHashSize, &out);
  return out + body;
}

Decoded decode(const std::string &bytes, Binary *out) {
  if (bytes.compare(0, kMagicSize, kMagic) != 0) return Decoded::foreign;
  Fields fields{bytes, kMagicSize};
  const std::uint64_t hash = fields.number(kHashSize);
  const bool intact = fields.good && hash == fnv1a(bytes, kMagicSize + kHashSize);
  out->model = fields.text();
  out->driver_version = fields.text();
  out->revision = static_cast<std::uint32_t>(fields.number(4));
  out->generation = static_cast<std::uint32_t>(fields.number(4));
  out->stub = fields.number(4) != 0;
  out->options = fields.text();
  out->kernels = fields.text();
  out->source = fields.text();
  out->payload = fields.text();
  return intact && fields.good ? Decoded::good : Decoded::corrupt;
}

std::string intel_of(const std::string &bytes) {
  const std::string spirv(1000, 's');
  std::string file = kElfMagic;
  file.resize(kElfData);
  put_at(40, kElfHeader, 8, &file);
  put_at(58, kElfSection, 2, &file);
  put_at(60, kElfSections, 2, &file);
  const auto section = [&](std::size_t at, std::uint64_t type, const std::string &contents) {
    put_at(at + 4, type, 4, &file);
    put_at(at + 24, file.size(), 8, &file);
    put_at(at + 32, contents.size(), 8, &file);
    file += contents;
  };
  section(kElfHeader, kSpirvSection, spirv);
  section(kElfHeader + kElfSection, 1, bytes);
  return file;
}

IntelFile read_intel(const std::string &file) {
  if (file.size() < kElfData || file.compare(0, sizeof(kElfMagic) - 1, kElfMagic) != 0) return {};
  Fields places{file, kElfHeader + 32};
  const bool has_spirv = places.number(8) != 0;
  places.at = kElfHeader + kElfSection + 24;
  const std::uint64_t start = places.number(8), size = places.number(8);
  if (start > file.size() || size != file.size() - start) return {};
  return {file.substr(start), has_spirv};
}

}  // namespace kiln::driver
