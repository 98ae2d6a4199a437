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

// A file's SHA-256 digest, by which OCI names blobs, and its size.
struct FileDigest {
  std::string digest;  // "sha256:" and 64 hexadecimal digits
  std::uint64_t size = 0;
};

FileDigest sha256_of(std::string_view bytes);

// An open layout. Blobs are added one by one, and count only when an index names them. commit()
// replaces index.json last, by rename, so that a killed command leaves the old index with every
// blob that it names. Not thread-safe.
class OciFolder {
 public:
  // Opens a layout for reading. Fails with Code::not_found if the folder or its index is missing,
  // and with another code for damaged files if they are not a layout; the message has the name of
  // the file.
  static Result<OciFolder> open(const std::string &path);
  // Opens a layout to add to it: makes the folder if it does not exist, locks it (`waiting` is as
  // in FolderLock) and makes an empty folder for work, scratch(). Checks each manifest in the
  // index, and that the manifest's layers exist with their sizes. Fails with Code::bad_argument for
  // a folder of other files.
  static Result<OciFolder> open_to_add(const std::string &path,
                                       const packs::FolderLock::Waiting &waiting);
  OciFolder(OciFolder &&) = default;
  OciFolder(const OciFolder &) = delete;
  ~OciFolder();

  OciIndex &index() { return index_; }
  const OciIndex &index() const { return index_; }
  // Returns the path of a blob, whether the blob exists or not.
  std::string blob_path(const std::string &digest) const;
  // A folder within the layout's folder, which is removed with this object.
  const std::string &scratch() const { return scratch_; }

  // Reads a manifest, and checks its size and digest. Fails with Code::blob_corrupt or
  // Code::not_found.
  Result<OciManifest> manifest(const OciDescriptor &descriptor) const;
  // Reads a blob of at most 4 MiB, and checks it likewise.
  Result<std::string> text(const OciDescriptor &descriptor) const;
  // Checks that the blob exists with its size and digest.
  Status check_blob(const OciDescriptor &descriptor) const;

  // Moves a synced file from the scratch folder to the blobs. If a blob with the same digest
  // exists, checks that blob and removes the file.
  Result<OciDescriptor> add_file(const std::string &path, const char *media_type);
  Result<OciDescriptor> add_text(std::string_view text, const char *media_type);
  // Writes the index.
  Status commit();
  struct Removed {
    std::size_t blobs = 0;
    std::uint64_t bytes = 0;
  };
  // Removes the blobs that no manifest in the index needs. Fails with Code::bad_argument, and
  // removes nothing, if the index has manifests of another kind, whose blobs are not known.
  Result<Removed> remove_unneeded_blobs();

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
