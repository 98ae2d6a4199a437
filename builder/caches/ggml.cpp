// SPDX-License-Identifier: Apache-2.0
// File names, header and key of that cache, as llama.cpp makes them.
#include "builder/caches/ggml.hpp"

#include "builder/caches/cache_files.hpp"
#include "builder/caches/digests.hpp"

namespace kiln::builder {
namespace {

using runtime::Field;

constexpr std::string_view kGgmlMagic = "GGMLCLBC";
constexpr std::uint32_t kGgmlVersion = 1;
constexpr char kGgmlKeyEnd[] = "fmt=1";  // the same version, in the key

std::string ggml_header() {
  std::string header(kGgmlMagic);
  append_u32(kGgmlVersion, &header);
  append_u32(0, &header);  // reserved
  return header;
}

class GgmlCache : public ApplicationCache {
 public:
  explicit GgmlCache(std::string folder) : folder_(std::move(folder)) {}

  Result<std::string> store(const CachedProgram &program, const runtime::Facts &device,
                            packs::View binary, const std::string &) override {
    auto name = ggml_file_name(program, device);
    if (!name.ok()) return name;
    if (Status s = write_cache_file(folder_ + "/" + *name, ggml_file(binary)); !s.ok()) return s;
    return name;
  }

  Result<packs::Bytes> find(const CachedProgram &program, const runtime::Facts &device) override {
    const auto name = ggml_file_name(program, device);
    if (!name.ok()) return name.status();
    const auto file = read_cache_file(folder_ + "/" + *name);
    if (!file.ok()) return file.status();
    auto binary = read_ggml_file({file->data(), file->size()});
    if (binary.ok()) return binary;
    return Status(binary.status().code, *name + ": " + binary.status().message);
  }

 private:
  std::string folder_;
};

}  // namespace

Result<std::string> ggml_file_name(const CachedProgram &program, const runtime::Facts &device) {
  const auto strings = device_strings(device, {Field::device_name, Field::driver_version,
                                               Field::device_version, Field::platform_version});
  if (!strings.ok()) return strings.status();
  const auto source = own_text(program.source);
  if (!source.ok()) return source;
  // llama.cpp takes its sources as C strings.
  std::string key = source->substr(0, source->find('\0'));
  key += '\0';
  key += program.options;
  key += '\0';
  for (const std::string &value : *strings) {
    key += value;
    key += '\0';
  }
  return sha256_hex(key + kGgmlKeyEnd) + ".clbin";
}

std::string ggml_file(packs::View binary) { return ggml_header().append(text_of(binary)); }

Result<packs::Bytes> read_ggml_file(packs::View file) {
  const std::string header = ggml_header();
  const std::string_view text = text_of(file);
  if (!text.starts_with(kGgmlMagic)) {
    return Status(Code::bad_input, "it does not begin with GGMLCLBC");
  }
  if (!text.starts_with(header)) {
    return Status(Code::bad_input, "it is of another version than 1, or cut short");
  }
  if (text.size() == header.size()) return Status(Code::bad_input, "it holds no binary");
  return packs::Bytes(file.data + header.size(), file.data + file.size);
}

std::unique_ptr<ApplicationCache> open_ggml_cache(const std::string &folder) {
  return std::make_unique<GgmlCache>(folder);
}

}  // namespace kiln::builder
