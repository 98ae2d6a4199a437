// SPDX-License-Identifier: Apache-2.0
// Reads and writes published folders. The manifest's words come from the OCI image specification,
// the file "version" from skopeo.
#include "builder/fleet/delivery/published_folder.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>

#include <fcntl.h>
#include <fmt/format.h>
#include <sodium.h>
#include <sys/stat.h>
#include <nlohmann/json.hpp>

#include "builder/base/whole_file.hpp"
#include "kiln/packs/files.hpp"
#include "kiln/packs/text.hpp"

namespace kiln::builder {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char *kManifestType = "application/vnd.oci.image.manifest.v1+json";
constexpr const char *kEmptyType = "application/vnd.oci.empty.v1+json";
constexpr const char *kArtifactType = "application/vnd.kiln.published.v1";
constexpr const char *kIndexType = "application/vnd.kiln.index.v1+json";
constexpr const char *kSignatureType = "application/vnd.kiln.signature.v1";
constexpr const char *kPartType = "application/vnd.kiln.part.v1";
constexpr const char *kDigestPrefix = "sha256:";
constexpr const char *kEmptyConfig = "{}";
constexpr const char *kVersionName = "version";
constexpr const char *kVersionText = "Directory Transport Version: 1.1\n";
constexpr const char *kScratchName = ".kiln-publish";
constexpr std::uint64_t kMaxText = std::uint64_t{16} << 20;

Status system_fault(const std::string &path, int error) {
  return {error == ENOENT ? Code::not_found : Code::failed,
          fmt::format("{}: {}", path, packs::open_fault(error))};
}

Blob blob_of(std::string_view bytes) {
  std::array<std::uint8_t, crypto_hash_sha256_BYTES> hash{};
  crypto_hash_sha256(hash.data(), reinterpret_cast<const std::uint8_t *>(bytes.data()),
                     bytes.size());
  return {packs::hex(hash.data(), hash.size()), bytes.size()};
}

// Reads a regular file in pieces. Of a file with more than `most` bytes, returns only the size.
Result<Blob> blob_of_file(const std::string &path, std::uint64_t most = UINT64_MAX) {
  const packs::Descriptor file(packs::open_at(packs::kWorkingFolder, path.c_str(), O_RDONLY));
  struct stat facts {};
  if (!file || fstat(file.get(), &facts) != 0) return system_fault(path, errno);
  const auto size = static_cast<std::uint64_t>(facts.st_size);
  if (size > most) return Blob{"", size};
  crypto_hash_sha256_state state;
  crypto_hash_sha256_init(&state);
  std::vector<std::uint8_t> piece(1u << 20);
  Blob blob;
  for (std::size_t got = piece.size(); got == piece.size() && blob.size <= most; blob.size += got) {
    const int error = packs::read_all(file.get(), blob.size, piece.data(), &got);
    if (error != 0) return system_fault(path, error);
    crypto_hash_sha256_update(&state, piece.data(), got);
  }
  std::array<std::uint8_t, crypto_hash_sha256_BYTES> hash{};
  crypto_hash_sha256_final(&state, hash.data());
  blob.sha256 = packs::hex(hash.data(), hash.size());
  return blob;
}

json descriptor(const Blob &blob, const char *type) {
  return {{"mediaType", type}, {"digest", kDigestPrefix + blob.sha256}, {"size", blob.size}};
}

// Throws json::exception. The digest names a file, and must not name another one.
Blob read_descriptor(const json &value) {
  const std::string digest = value.at("digest");
  const std::size_t prefix = std::strlen(kDigestPrefix);
  Blob blob{digest.starts_with(kDigestPrefix) ? digest.substr(prefix) : "", value.at("size")};
  if (!are_hex_digits(blob.sha256, 64)) blob.sha256.clear();
  return blob;
}

Status sync_folder(const std::string &path) {
  const packs::Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder && packs::sync_folder(folder.get())) return {};
  return system_fault(path, errno);
}

}  // namespace

std::string manifest_json(const PublishedManifest &manifest) {
  json layers = json::array({descriptor(manifest.index, kIndexType)});
  for (const Blob &blob : manifest.signatures) layers.push_back(descriptor(blob, kSignatureType));
  for (const Blob &blob : manifest.parts) layers.push_back(descriptor(blob, kPartType));
  return json{{"schemaVersion", 2},
              {"mediaType", kManifestType},
              {"artifactType", kArtifactType},
              {"config", descriptor(blob_of(kEmptyConfig), kEmptyType)},
              {"layers", layers}}
             .dump() +
         "\n";
}

Result<PublishedManifest> read_manifest_json(const std::string &text) {
  PublishedManifest manifest;
  bool is_sound = false;
  try {
    const json parsed = json::parse(text);
    is_sound = parsed.at("artifactType") == kArtifactType;
    for (const json &layer : parsed.at("layers")) {
      const std::string type = layer.at("mediaType");
      const Blob blob = read_descriptor(layer);
      is_sound = is_sound && !blob.sha256.empty();
      if (type == kIndexType) manifest.index = blob;
      if (type == kSignatureType) manifest.signatures.push_back(blob);
      if (type == kPartType) manifest.parts.push_back(blob);
    }
  } catch (const json::exception &) {
    is_sound = false;
  }
  if (is_sound && !manifest.index.sha256.empty()) return manifest;
  return Status(Code::root_malformed, "not a manifest of 'kiln fleet publish'");
}

Result<PublishedManifest> PublishedFolder::manifest() const {
  const std::string path = at(kManifestName);
  const auto text = read_whole_file(path);
  if (!text) return system_fault(path, errno);
  auto manifest = read_manifest_json(*text);
  if (manifest.ok()) return manifest;
  return Status(manifest.status().code, path + ": " + manifest.status().message);
}

Status PublishedFolder::check(const Blob &blob) const {
  const std::string path = path_of(blob);
  const auto found = blob_of_file(path, blob.size);
  if (!found.ok()) return found.status();
  if (*found == blob) return {};
  return {Code::blob_corrupt,
          found->size != blob.size
              ? fmt::format("{}: {} bytes instead of {}", path, found->size, blob.size)
              : fmt::format("{}: its SHA-256 is {}", path, found->sha256)};
}

Result<std::string> PublishedFolder::text(const Blob &blob) const {
  if (blob.size > kMaxText) return Status(Code::over_limit, path_of(blob) + ": over 16 MiB");
  if (Status s = check(blob); !s.ok()) return s;
  auto text = read_whole_file(path_of(blob));
  return text ? Result(*std::move(text)) : system_fault(path_of(blob), errno);
}

void PublishedFolder::remove_other_files(const std::vector<PublishedManifest> &manifests) const {
  std::set<std::string> needed = {blob_of(kEmptyConfig).sha256};
  for (const PublishedManifest &manifest : manifests) {
    needed.insert(manifest.index.sha256);
    for (const auto *blobs : {&manifest.signatures, &manifest.parts}) {
      for (const Blob &blob : *blobs) needed.insert(blob.sha256);
    }
  }
  std::error_code ignored;
  for (const auto &file : fs::directory_iterator(path_, ignored)) {
    const std::string name = file.path().stem().string();  // a part that curl left is NAME.part
    if (are_hex_digits(name, 64) && !needed.contains(file.path().filename().string())) {
      fs::remove(file.path(), ignored);
    }
  }
}

FolderWriter::~FolderWriter() {
  std::error_code ignored;
  if (lock_) fs::remove_all(folder_.at(kScratchName), ignored);
}

Result<FolderWriter> FolderWriter::open(const std::string &path,
                                        const packs::FolderLock::Waiting &waiting) {
  PublishedFolder folder(path);
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return system_fault(path, error.value());
  auto lock = std::make_unique<packs::FolderLock>(folder.at(kManifestName), waiting);
  // What a killed command left is removed under the lock.
  fs::remove_all(folder.at(kScratchName), error);
  const std::string version = folder.at(kVersionName);
  if (!fs::exists(version, error)) {
    if (!fs::is_empty(path, error)) {
      return Status(Code::bad_argument,
                    path + ": 'kiln fleet publish' did not make it, and it has other files");
    }
    if (Status s = write_whole_file(version, kVersionText); !s.ok()) return as_failed(s);
  }
  fs::create_directory(folder.at(kScratchName), error);
  if (error) return system_fault(folder.at(kScratchName), error.value());
  return FolderWriter(std::move(folder), std::move(lock));
}

std::string FolderWriter::scratch(const std::string &name) const {
  return folder_.at(kScratchName) + "/" + name;
}

Result<Blob> FolderWriter::add_file(const std::string &path) {
  auto blob = blob_of_file(path);
  if (!blob.ok()) return blob;
  std::error_code error;
  fs::rename(path, folder_.path_of(*blob), error);
  return error ? system_fault(folder_.path_of(*blob), error.value()) : blob;
}

Result<Blob> FolderWriter::add_text(std::string_view text) {
  const std::string path = scratch("text");
  if (Status s = write_whole_file(path, text); !s.ok()) return as_failed(s);
  return add_file(path);
}

Status FolderWriter::commit(const PublishedManifest &manifest) {
  if (const auto config = add_text(kEmptyConfig); !config.ok()) return config.status();
  if (Status s = sync_folder(folder_.at(".")); !s.ok()) return s;
  return as_failed(write_whole_file(folder_.at(kManifestName), manifest_json(manifest)));
}

}  // namespace kiln::builder
