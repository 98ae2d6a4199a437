// SPDX-License-Identifier: Apache-2.0
// An OCI image layout as a folder: blobs by their digests, and an index that names manifests.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "builder/base/builder_status.hpp"
#include "builder/publish/oci_format.hpp"
#include "kiln/packs/pack_folder.hpp"

namespace kiln::builder {

// By SHA-256, as OCI names blobs.
struct FileDigest {
  std::string digest;  // "sha256:" and 64 hexadecimal digits
  std::uint64_t size = 0;
};

FileDigest sha256_of(std::string_view bytes);

// An open layout. Blobs are added one by one and count only when an index names them: commit()
// replaces index.json, last and by rename, so that a command that is killed leaves the old index
// with all that it needs. Not thread-safe.
class OciFolder {
 public:
  // For reading. Fails with Code::not_found where the folder or its index is missing, and with
  // another code of a damaged file where they are no layout; the message has the file's name.
  static Result<OciFolder> open(const std::string &path);
  // For adding to it: makes the folder if it does not exist, holds its lock (`waiting` as
  // FolderLock has it), and makes an empty folder for work, scratch(). Checks each manifest that
  // the index has, and that its layers are there with their sizes. Code::bad_argument: a folder of
  // other files.
  static Result<OciFolder> open_to_add(const std::string &path,
                                       const packs::FolderLock::Waiting &waiting);
  OciFolder(OciFolder &&) = default;
  OciFolder(const OciFolder &) = delete;
  ~OciFolder();

  OciIndex &index() { return index_; }
  const OciIndex &index() const { return index_; }
  // Where a blob lies, whether it does or not.
  std::string blob_path(const std::string &digest) const;
  // A folder within the layout's, which goes with this object.
  const std::string &scratch() const { return scratch_; }

  // Reads a manifest and checks its size and digest: Code::blob_corrupt, or Code::not_found.
  Result<OciManifest> manifest(const OciDescriptor &descriptor) const;
  // Whether the blob is there, with its size and its digest.
  Status check_blob(const OciDescriptor &descriptor) const;

  // Moves a synced file of the scratch folder among the blobs. Where there is a blob of that
  // digest, it is checked and the file removed.
  Result<OciDescriptor> add_file(const std::string &path, const char *media_type);
  Result<OciDescriptor> add_text(std::string_view text, const char *media_type);
  // Writes the index.
  Status commit();

 private:
  explicit OciFolder(std::string path) : path_(std::move(path)) {}
  Status read();
  Status prepare();
  Status check_manifests() const;
  std::string at(const std::string &name) const { return path_ + "/" + name; }

  std::string path_;
  std::unique_ptr<packs::FolderLock> lock_;
  std::string scratch_;
  OciIndex index_;
};

}  // namespace kiln::builder
