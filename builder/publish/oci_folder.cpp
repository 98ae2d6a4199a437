// SPDX-License-Identifier: Apache-2.0
// Reads a layout, and adds to it so that its index never names a missing blob.
#include "builder/publish/oci_folder.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include "builder/base/whole_file.hpp"
#include "kiln/packs/descriptor.hpp"
#include "kiln/packs/text.hpp"

namespace kiln::builder {
namespace {

namespace fs = std::filesystem;

constexpr const char *kLayoutText = "{\"imageLayoutVersion\":\"1.0.0\"}\n";
constexpr const char *kScratchName = ".kiln-publish";

Status in_file(const std::string &path, const Status &status) {
  return {status.code, fmt::format("{}: {}", path, status.message)};
}

Status system_fault(const std::string &path, int error) {
  const Code code = error == ENOENT ? Code::not_found : Code::failed;
  return {code, fmt::format("{}: {}", path, std::strerror(error))};
}

Result<std::string> read_oci_text(const std::string &path) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  if (error) return system_fault(path, error.value());
  if (size > kMaxOciText) return in_file(path, {Code::over_limit, "it is over 4 MiB"});
  auto text = read_whole_file(path);
  if (!text) return system_fault(path, errno);
  return *std::move(text);
}

Status sync_folder(const std::string &path) {
  const packs::Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder && (fsync(folder.get()) == 0 || errno == EINVAL)) return {};
  return system_fault(path, errno);
}

// Changes Code::io_error to Code::failed: an error while writing is no fault of the layout.
Status as_written(Status status) {
  if (status.code == Code::io_error) status.code = Code::failed;
  return status;
}

Status wrong_blob(const std::string &path, const FileDigest &found, const OciDescriptor &named) {
  if (found.size != named.size) {
    return {Code::blob_corrupt, fmt::format("{}: it has {} bytes, and the layout says {}", path,
                                            found.size, named.size)};
  }
  return {Code::blob_corrupt, fmt::format("{}: its digest is {}, and the layout says {}", path,
                                          found.digest, named.digest)};
}

std::string digest_text(const std::array<std::uint8_t, crypto_hash_sha256_BYTES> &hash) {
  return "sha256:" + packs::hex(hash.data(), hash.size());
}

// Reads a regular file in pieces. For a file with more than `most` bytes, returns only the size,
// without a digest. Fails with Code::not_found or Code::io_error; the message has the path.
Result<FileDigest> sha256_of_file(const std::string &path, std::uint64_t most = UINT64_MAX) {
  const auto fault = [&](int error) {
    return Status(error == ENOENT ? Code::not_found : Code::io_error,
                  path + ": " + std::strerror(error));
  };
  const packs::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat facts {};
  if (!file || fstat(file.get(), &facts) != 0) return fault(errno);
  if (!S_ISREG(facts.st_mode)) return Status(Code::io_error, path + ": not a regular file");
  const std::uint64_t size = static_cast<std::uint64_t>(facts.st_size);
  if (size > most) return FileDigest{"", size};
  crypto_hash_sha256_state state;
  crypto_hash_sha256_init(&state);
  std::vector<std::uint8_t> piece(1u << 20);
  FileDigest out;
  for (std::size_t got = piece.size(); got == piece.size() && out.size <= most; out.size += got) {
    if (const int error = packs::read_all(file.get(), out.size, piece.data(), &got); error != 0) {
      return fault(error);
    }
    crypto_hash_sha256_update(&state, piece.data(), got);
  }
  std::array<std::uint8_t, crypto_hash_sha256_BYTES> hash{};
  crypto_hash_sha256_final(&state, hash.data());
  out.digest = digest_text(hash);
  return out;
}

}  // namespace

FileDigest sha256_of(std::string_view bytes) {
  std::array<std::uint8_t, crypto_hash_sha256_BYTES> hash{};
  crypto_hash_sha256(hash.data(), reinterpret_cast<const std::uint8_t *>(bytes.data()),
                     bytes.size());
  return {digest_text(hash), bytes.size()};
}

OciFolder::~OciFolder() {
  std::error_code ignored;
  if (!scratch_.empty()) fs::remove_all(scratch_, ignored);
}

std::string OciFolder::blob_path(const std::string &digest) const {
  return at("blobs/sha256/" + digest.substr(digest.find(':') + 1));
}

Status OciFolder::read() {
  const auto layout = read_oci_text(at("oci-layout"));
  if (!layout.ok()) return layout.status();
  const auto version = nlohmann::json::parse(*layout, nullptr, false);
  if (!version.is_object() || !version.contains("imageLayoutVersion") ||
      version["imageLayoutVersion"] != "1.0.0") {
    return {Code::root_malformed, at("oci-layout") + ": not of an OCI image layout 1.0.0"};
  }
  const auto text = read_oci_text(at("index.json"));
  if (!text.ok()) return text.status();
  const Status status = OciIndex::read(*text).move_to(&index_);
  return status.ok() ? status : in_file(at("index.json"), status);
}

Result<OciFolder> OciFolder::open(const std::string &path) {
  OciFolder folder(path);
  if (Status s = folder.read(); !s.ok()) return s;
  return folder;
}

// Makes the missing parts of a layout, except its index.
Status OciFolder::prepare() {
  std::error_code error;
  if (!fs::exists(at("oci-layout"), error)) {
    if (!fs::is_empty(path_, error)) {
      return {Code::bad_argument, path_ + ": not an OCI image layout, and it has other files"};
    }
    Status s = as_written(write_whole_file(at("oci-layout"), kLayoutText));
    if (!s.ok()) return s;
  }
  fs::create_directories(at("blobs/sha256"), error);
  if (error) return system_fault(at("blobs/sha256"), error.value());
  scratch_ = at(kScratchName);  // leftovers of a killed command are removed under the lock
  fs::remove_all(scratch_, error);
  fs::create_directory(scratch_, error);
  return error ? system_fault(scratch_, error.value()) : Status();
}

Result<OciFolder> OciFolder::open_to_add(const std::string &path,
                                         const packs::FolderLock::Waiting &waiting) {
  OciFolder folder(path);
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return system_fault(path, error.value());
  folder.lock_ = std::make_unique<packs::FolderLock>(folder.at("index.json"), waiting);
  if (Status s = folder.prepare(); !s.ok()) return s;
  const Status status = folder.read();
  const bool is_new = status.code == Code::not_found && !fs::exists(folder.at("index.json"), error);
  if (!status.ok() && !is_new) return status;
  if (Status s = folder.check_manifests(); !s.ok()) return s;
  return folder;
}

Status OciFolder::check_manifests() const {
  for (const OciDescriptor &descriptor : index_.manifests()) {
    if (descriptor.media_type != kManifestType) continue;  // not a manifest of Kiln's
    const auto manifest = this->manifest(descriptor);
    if (!manifest.ok()) return manifest.status();
    std::vector<OciDescriptor> blobs = manifest->layers;
    blobs.push_back(manifest->config);
    for (const OciDescriptor &blob : blobs) {
      const std::string path = blob_path(blob.digest);
      std::error_code error;
      const auto size = fs::file_size(path, error);
      if (error) return system_fault(path, error.value());
      if (size != blob.size) return wrong_blob(path, {blob.digest, size}, blob);
    }
  }
  return {};
}

Result<std::string> OciFolder::text(const OciDescriptor &descriptor) const {
  const std::string path = blob_path(descriptor.digest);
  auto text = read_oci_text(path);
  if (!text.ok()) return text;
  const FileDigest found = sha256_of(*text);
  if (found.digest != descriptor.digest || found.size != descriptor.size) {
    return wrong_blob(path, found, descriptor);
  }
  return text;
}

Result<OciManifest> OciFolder::manifest(const OciDescriptor &descriptor) const {
  const auto text = this->text(descriptor);
  if (!text.ok()) return text.status();
  auto manifest = read_manifest_json(*text);
  if (!manifest.ok()) return in_file(blob_path(descriptor.digest), manifest.status());
  return manifest;
}

Status OciFolder::check_blob(const OciDescriptor &descriptor) const {
  const std::string path = blob_path(descriptor.digest);
  const auto found = sha256_of_file(path, descriptor.size);
  if (!found.ok()) return found.status();
  if (found->digest == descriptor.digest && found->size == descriptor.size) return {};
  return wrong_blob(path, *found, descriptor);
}

Result<OciDescriptor> OciFolder::add_file(const std::string &path, const char *media_type) {
  const auto found = sha256_of_file(path);
  if (!found.ok()) return found.status();
  const OciDescriptor descriptor{media_type, found->digest, found->size};
  const std::string blob = blob_path(descriptor.digest);
  std::error_code error;
  if (fs::exists(blob, error)) {
    if (Status s = check_blob(descriptor); !s.ok()) return s;
    fs::remove(path, error);
    return descriptor;
  }
  fs::rename(path, blob, error);
  if (error) return system_fault(blob, error.value());
  return descriptor;
}

Result<OciDescriptor> OciFolder::add_text(std::string_view text, const char *media_type) {
  const std::string path = scratch_ + "/text";
  if (Status s = as_written(write_whole_file(path, text)); !s.ok()) return s;
  return add_file(path, media_type);
}

Status OciFolder::commit() {
  if (Status s = sync_folder(at("blobs/sha256")); !s.ok()) return s;
  return as_written(write_whole_file(at("index.json"), index_.text()));
}

Result<OciFolder::Removed> OciFolder::remove_unneeded_blobs() {
  std::set<std::string> needed;
  for (const OciDescriptor &descriptor : index_.manifests()) {
    if (descriptor.media_type != kManifestType) {
      return Status(
          Code::bad_argument,
          fmt::format("{}: no blob is removed: {} is not a manifest whose blobs are known", path_,
                      descriptor.digest));
    }
    const auto manifest = this->manifest(descriptor);
    if (!manifest.ok()) return manifest.status();
    needed.insert(descriptor.digest);
    needed.insert(manifest->config.digest);
    for (const OciDescriptor &layer : manifest->layers) needed.insert(layer.digest);
  }
  Removed removed;
  std::error_code error;
  for (const auto &entry : fs::directory_iterator(at("blobs/sha256"), error)) {
    const std::string digest = "sha256:" + entry.path().filename().string();
    if (!is_digest(digest) || needed.count(digest) != 0) continue;
    const auto size = entry.file_size(error);
    if (!fs::remove(entry.path(), error)) return system_fault(entry.path(), error.value());
    ++removed.blobs;
    removed.bytes += size;
  }
  if (error) return system_fault(at("blobs/sha256"), error.value());
  return removed;
}

}  // namespace kiln::builder
