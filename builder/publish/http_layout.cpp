// SPDX-License-Identifier: Apache-2.0
// Runs curl for the manifest and for each missing blob.
#include "builder/publish/http_layout.hpp"

#include <filesystem>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "builder/base/whole_file.hpp"
#include "builder/process/run_tool.hpp"
#include "builder/publish/oci_folder.hpp"
#include "builder/publish/publish.hpp"
#include "builder/publish/signed_tags.hpp"

namespace kiln::builder {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::hours kTransferLimit{1};

// Runs curl with these arguments; redirections stay on HTTP.
Result<std::string> curl(std::vector<std::string> arguments) {
  const auto program = find_executable({"curl"});
  if (!program) return Status(Code::no_device, "curl: not in PATH");
  ProcessRequest request;
  request.program = *program;
  request.arguments = {"-fsSL", "--proto",       "=http,https", "--connect-timeout",
                       "20",    "--speed-limit", "1",           "--speed-time",
                       "60"};
  request.arguments.insert(request.arguments.end(), arguments.begin(), arguments.end());
  request.limits = CallLimits(kTransferLimit);
  request.output_limit = kMaxOciText;
  ProcessResult result = run_tool(request);
  if (result.ok()) return std::move(result.out);
  while (!result.err.empty() && result.err.back() == '\n') result.err.pop_back();
  return Status(Code::failed, result.err.empty() ? "curl: " + result.reason : result.err);
}

// Brings manifests and blobs of a repository into a layout on disk. The index is written first, so
// it may name blobs that are still missing; fetch_pack() checks every blob.
class Mirror {
 public:
  Mirror(std::string repository, std::string folder)
      : repository_(std::move(repository)), folder_(std::move(folder)) {}

  // Fetches a manifest, which gets the tag here.
  Result<OciManifest> manifest(const std::string &reference, const std::string &tag) {
    const std::string accepted = fmt::format("Accept: {}", kManifestType);
    const std::string url = fmt::format("{}/manifests/{}", repository_, reference);
    const auto text = curl({"-H", accepted, url});
    if (!text.ok()) return text.status();
    auto manifest = read_manifest_json(*text);
    if (!manifest.ok()) {
      return Status(manifest.status().code, fmt::format("{}: manifest of {}: {}", repository_,
                                                        reference, manifest.status().message));
    }
    const FileDigest named = sha256_of(*text);
    index_.set(tag, {kManifestType, named.digest, named.size});
    kept_.insert(named.digest);
    std::error_code error;
    fs::create_directories(blobs(), error);
    for (const auto &[path, content] :
         {std::pair<fs::path, std::string>{fs::path(folder_) / "oci-layout",
                                           "{\"imageLayoutVersion\":\"1.0.0\"}\n"},
          {fs::path(folder_) / "index.json", index_.text()},
          {blobs() / named.digest.substr(named.digest.find(':') + 1), *text}}) {
      const Status s = write_whole_file(path.string(), content);
      if (!s.ok()) return Status(Code::failed, s.message);
    }
    return manifest;
  }

  // Fetches these layers of a manifest, and keeps its other layers that are here.
  Status layers(const OciManifest &manifest, const std::vector<OciDescriptor> &wanted) {
    const auto layout = open();
    if (!layout.ok()) return layout.status();
    for (const OciDescriptor &layer : manifest.layers) kept_.insert(layer.digest);
    for (const OciDescriptor &layer : wanted) {
      if (Status s = fetch_blob(layer, *layout); !s.ok()) return s;
    }
    return {};
  }

  Result<OciFolder> open() const { return OciFolder::open(folder_); }

  // Removes what no manifest names.
  void remove_others() const {
    std::error_code ignored;
    for (const auto &file : fs::directory_iterator(blobs(), ignored)) {
      if (!kept_.contains("sha256:" + file.path().filename().string())) {
        fs::remove(file.path(), ignored);
      }
    }
  }

 private:
  fs::path blobs() const { return fs::path(folder_) / "blobs" / "sha256"; }

  // Fetches a blob next to its place, and moves it there if the digest is right.
  Status fetch_blob(const OciDescriptor &blob, const OciFolder &folder) const {
    if (folder.check_blob(blob).ok()) return {};
    const std::string path = folder.blob_path(blob.digest);
    const std::string part = path + ".part";
    std::error_code ignored;
    if (!fs::exists(part, ignored) || fs::file_size(part, ignored) < blob.size) {
      const auto done = curl({"-C", "-", "--max-filesize", std::to_string(blob.size), "-o", part,
                              repository_ + "/blobs/" + blob.digest});
      if (!done.ok()) return done.status();
    }
    fs::rename(part, path, ignored);
    const Status status = folder.check_blob(blob);
    if (!status.ok()) fs::remove(path, ignored);
    return status;
  }

  std::string repository_;
  std::string folder_;
  OciIndex index_;
  std::set<std::string> kept_;  // digests
};

// Brings the statements of keys and of the tag. Returns the digest of the manifest that the tag's
// names; fetch_pack() checks the signatures.
Result<std::string> fetch_statements(const std::string &tag, Mirror *mirror) {
  const std::string of_tag = signed_tag(tag);
  for (const std::string &name : {std::string(kKeysTag), of_tag}) {
    const auto manifest = mirror->manifest(name, name);
    if (!manifest.ok()) return manifest.status();
    if (Status s = mirror->layers(*manifest, manifest->layers); !s.ok()) return s;
  }
  const auto layout = mirror->open();
  if (!layout.ok()) return layout.status();
  const auto statements = read_signed_texts(*layout, of_tag);
  if (!statements.ok()) return statements.status();
  if (statements->empty()) return Status(Code::untrusted, "the tag " + tag + " is not signed");
  const auto statement = read_tag_statement(statements->front().text);
  if (!statement.ok()) return statement.status();
  return statement->manifest;
}

}  // namespace

bool is_url(const std::string &word) {
  return word.starts_with("http://") || word.starts_with("https://");
}

Status fetch_layout(const std::string &repository, const std::string &tag,
                    const std::string &target, bool is_signed, const std::string &folder) {
  Mirror mirror(repository, folder);
  std::string reference = tag;
  if (is_signed) {
    if (Status s = fetch_statements(tag, &mirror).move_to(&reference); !s.ok()) return s;
  }
  const auto manifest = mirror.manifest(reference, tag);
  if (!manifest.ok()) return manifest.status();
  const auto delta = choose_layer(*manifest, target);
  if (!delta.ok()) return delta.status();
  std::vector<OciDescriptor> wanted = {**delta};
  for (const OciDescriptor &layer : manifest->layers) {
    if (layer.media_type == kProgramsType) wanted.push_back(layer);
  }
  const Status status = mirror.layers(*manifest, wanted);
  if (status.ok()) mirror.remove_others();
  return status;
}

}  // namespace kiln::builder
