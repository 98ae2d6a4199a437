// SPDX-License-Identifier: Apache-2.0
// A folder that devices fetch from: files named by their SHA-256, and a manifest that names them.
// It has the form of skopeo's transport "dir:", so that skopeo copies it to a registry and back,
// and any web server can serve it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "builder/fleet/delivery/index.hpp"
#include "kiln/packs/pack_folder.hpp"

namespace kiln::builder {

inline constexpr const char *kManifestName = "manifest.json";

// What manifest.json, an OCI image manifest, names.
struct PublishedManifest {
  Blob index;
  std::vector<Blob> signatures;  // of the index, by minisign
  std::vector<Blob> parts;       // the programs, and one delta for each pack
};

std::string manifest_json(const PublishedManifest &manifest);
// Fails with Code::root_malformed.
Result<PublishedManifest> read_manifest_json(const std::string &text);

class PublishedFolder {
 public:
  explicit PublishedFolder(std::string path) : path_(std::move(path)) {}

  std::string at(const std::string &name) const { return path_ + "/" + name; }
  std::string path_of(const Blob &blob) const { return at(blob.sha256); }

  // Fails with Code::not_found, as if there is no folder, and with Code::root_malformed.
  Result<PublishedManifest> manifest() const;
  // Checks that the file has the blob's size and digest. Fails with Code::not_found and with
  // Code::blob_corrupt; the message has the path.
  Status check(const Blob &blob) const;
  // Reads a file of at most 16 MiB, and checks it likewise.
  Result<std::string> text(const Blob &blob) const;
  // Removes all files that these manifests do not name. Errors are left to the next call.
  void remove_other_files(const std::vector<PublishedManifest> &manifests) const;

 private:
  std::string path_;
};

// Adds files to a folder, and replaces the manifest last: a killed command leaves the old manifest
// with every file that it names.
class FolderWriter {
 public:
  // Makes the folder, locks it (`waiting` is as in FolderLock) and makes an empty folder for work.
  // Fails with Code::bad_argument for a folder that has other files, and with Code::failed.
  static Result<FolderWriter> open(const std::string &path,
                                   const packs::FolderLock::Waiting &waiting);
  FolderWriter(FolderWriter &&) = default;
  ~FolderWriter();

  const PublishedFolder &folder() const { return folder_; }
  // Returns the path of a file within the folder for work, which is removed with this object.
  std::string scratch(const std::string &name) const;

  // Moves a file from the folder for work to the folder's files.
  Result<Blob> add_file(const std::string &path);
  Result<Blob> add_text(std::string_view text);
  // Writes the manifest.
  Status commit(const PublishedManifest &manifest);

 private:
  FolderWriter(PublishedFolder folder, std::unique_ptr<packs::FolderLock> lock)
      : folder_(std::move(folder)), lock_(std::move(lock)) {}

  PublishedFolder folder_;
  std::unique_ptr<packs::FolderLock> lock_;  // null: moved to another object
};

}  // namespace kiln::builder
