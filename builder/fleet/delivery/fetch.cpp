// SPDX-License-Identifier: Apache-2.0
// Fetches manifest, index, programs and one delta, checks each, and applies the delta.
#include "builder/fleet/delivery/fetch.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "builder/base/whole_file.hpp"
#include "builder/process/run_tool.hpp"
#include "builder/sign/public_keys.hpp"
#include "kiln/packs/delta.hpp"
#include "kiln/packs/pack.hpp"

namespace kiln::builder {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::hours kTransferLimit{1};
constexpr std::uint64_t kMaxManifest = 4u << 20;  // bytes, as registries have it

Result<std::string> run(const char *name, std::vector<std::string> arguments) {
  const auto program = find_executable({name});
  if (!program) return Status(Code::no_device, fmt::format("{}: not in PATH", name));
  ProcessRequest request;
  request.program = *program;
  request.arguments = std::move(arguments);
  request.limits = CallLimits(kTransferLimit);
  request.output_limit = kMaxManifest;
  ProcessResult result = run_tool(request);
  if (result.ok()) return std::move(result.out);
  while (!result.err.empty() && result.err.back() == '\n') result.err.pop_back();
  return Status(Code::failed,
                result.err.empty() ? fmt::format("{}: {}", name, result.reason) : result.err);
}

// Runs curl; redirections stay on HTTP. A server that is silent for a minute has failed.
Status curl(const std::string &url, std::uint64_t size, const std::string &path) {
  return run("curl", {"-fsSL", "--proto", "=http,https", "--connect-timeout", "20", "--speed-limit",
                      "1", "--speed-time", "60", "--retry", "2", "--max-filesize",
                      std::to_string(size), "-o", path, url})
      .status();
}

// Where the files come from, and the folder that they are in afterwards.
class Source {
 public:
  explicit Source(const FetchRequest &request)
      : url_(is_url(request.from) ? request.from : ""),
        folder_(url_.empty() ? request.from : request.cache) {}

  const PublishedFolder &folder() const { return folder_; }

  Result<PublishedManifest> manifest() {
    if (url_.empty()) return folder_.manifest();
    std::error_code error;
    fs::create_directories(folder_.at("."), error);
    if (error) return Status(Code::failed, folder_.at(".") + ": " + error.message());
    lock_.emplace(folder_.at(kManifestName));
    Status s = is_registry() ? copy_from_registry()
                             : curl(url_of(kManifestName), kMaxManifest, folder_.at(kManifestName));
    return s.ok() ? folder_.manifest() : Result<PublishedManifest>(s);
  }

  // Brings a file that is not here. A file that is wrong does not stay.
  Status bring(const Blob &blob) const {
    Status s = folder_.check(blob);
    if (s.ok() || url_.empty()) return s;
    const std::string path = folder_.path_of(blob);
    if (!is_registry()) {
      const std::string part = path + ".part";
      s = curl(url_of(blob.sha256), blob.size, part);
      std::error_code ignored;
      if (s.ok()) fs::rename(part, path, ignored);
      if (s.ok()) s = folder_.check(blob);
    }
    std::error_code ignored;
    if (s.code == Code::blob_corrupt) fs::remove(path, ignored);
    return s;
  }

  Result<std::string> text(const Blob &blob) const {
    Status s = bring(blob);
    return s.ok() ? folder_.text(blob) : Result<std::string>(s);
  }

  // Removes from the cache what this revision does not have.
  void remove_other_files(const PublishedManifest &manifest) const {
    if (!url_.empty()) folder_.remove_other_files({manifest});
  }

 private:
  bool is_registry() const { return url_.starts_with("docker://"); }
  std::string url_of(const std::string &name) const {
    return url_ + (url_.ends_with('/') ? "" : "/") + name;
  }

  // skopeo empties the folder first, so it is called only if something is missing.
  Status copy_from_registry() const {
    const auto manifest = run("skopeo", {"inspect", "--raw", url_});
    if (!manifest.ok()) return manifest.status();
    const auto named = read_manifest_json(*manifest);
    if (!named.ok()) return {named.status().code, url_ + ": " + named.status().message};
    std::vector<Blob> blobs = {named->index};
    blobs.insert(blobs.end(), named->signatures.begin(), named->signatures.end());
    blobs.insert(blobs.end(), named->parts.begin(), named->parts.end());
    const bool is_here = read_whole_file(folder_.at(kManifestName)) == *manifest &&
                         std::all_of(blobs.begin(), blobs.end(), [this](const Blob &blob) {
                           std::error_code ignored;
                           return fs::exists(folder_.path_of(blob), ignored);
                         });
    if (is_here) return {};
    return run("skopeo", {"copy", "--quiet", url_, "dir:" + folder_.at("")}).status();
  }

  std::string url_;  // empty: the folder is the source
  PublishedFolder folder_;
  std::optional<packs::FolderLock> lock_;  // of a cache
};

// Checks the index by the device's keys, which are replaced by those that the index names even if
// the fetch then fails, so that a revoked key does not count again.
Status trust(const std::string &text, const std::vector<std::string> &signatures,
             const PublishedIndex &index, const FetchRequest &request) {
  const packs::FolderLock lock(request.keys);
  const auto present = read_small_file(request.keys);
  if (!present.ok()) return as_failed(present.status());
  const auto keys = read_trusted_keys(*present);
  if (!keys.ok()) return {Code::failed, request.keys + ": " + keys.status().message};
  if (Status s = check_index_signatures(text, signatures, *keys); !s.ok()) return s;
  if (index.revision >= request.smallest_revision && !index.keys.empty()) {
    const std::string next = trusted_keys_text(index.keys);
    Status s = next == *present ? Status() : as_failed(write_whole_file(request.keys, next));
    if (!s.ok()) return s;
  }
  return check_index_dates(index, request.today);
}

// Brings the index, and believes it or fails.
Result<PublishedIndex> read_index(const Source &source, const PublishedManifest &manifest,
                                  const FetchRequest &request) {
  const auto text = source.text(manifest.index);
  if (!text.ok()) return text.status();
  auto index = read_index_json(*text);
  if (!index.ok()) return Status(index.status().code, request.from + ": " + index.status().message);
  if (!request.keys.empty()) {
    std::vector<std::string> signatures;
    for (const Blob &blob : manifest.signatures) {
      if (Status s = source.text(blob).move_to(&signatures.emplace_back()); !s.ok()) return s;
    }
    if (Status s = trust(*text, signatures, *index, request); !s.ok()) return s;
  }
  if (index->revision >= request.smallest_revision) return index;
  return Status(Code::conflict,
                fmt::format("{}: revision {} is older than the demanded {}", request.from,
                            index->revision, request.smallest_revision));
}

}  // namespace

bool is_url(const std::string &word) {
  return word.starts_with("http://") || word.starts_with("https://") ||
         word.starts_with("docker://");
}

Result<Fetched> fetch_pack(const FetchRequest &request, const std::string &output) {
  Source source(request);
  const auto manifest = source.manifest();
  if (!manifest.ok()) return manifest.status();
  const auto index = read_index(source, *manifest, request);
  if (!index.ok()) return index.status();
  Fetched fetched{index->revision, {}, false};
  Status s = choose_pack(*index, request.target).move_to(&fetched.pack);
  if (s.ok()) s = source.bring(index->programs);
  if (s.ok()) s = source.bring(fetched.pack.delta);
  std::shared_ptr<const packs::Pack> programs;
  const PublishedFolder &folder = source.folder();
  if (s.ok()) s = packs::Pack::open_file(folder.path_of(index->programs).c_str(), &programs);
  packs::DeltaFacts facts;
  if (s.ok()) {
    s = packs::apply_delta(*programs, folder.path_of(fetched.pack.delta), output, &facts);
  }
  if (!s.ok()) return s;
  source.remove_other_files(*manifest);
  fetched.fell_back =
      fetched.pack.key_hash.empty() && !request.target.empty() && request.target != "any";
  return fetched;
}

}  // namespace kiln::builder
