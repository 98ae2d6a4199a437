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

}  // namespace kiln::driver
