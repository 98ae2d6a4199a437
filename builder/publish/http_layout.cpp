// SPDX-License-Identifier: Apache-2.0
// Runs curl for the manifest and for each missing blob, as the script in
// docs/operate/fleet-delivery.md does.
#include "builder/publish/http_layout.hpp"

#include <filesystem>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "builder/base/atomic_text_file.hpp"
#include "builder/process/run_tool.hpp"
#include "builder/publish/oci_folder.hpp"

namespace kiln::builder {
namespace {

namespace fs = std::filesystem;

constexpr const char *kKeyAnnotation = "vnd.kiln.key";
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

// Fetches a blob next to its place, and moves it there if the digest is right.
Status fetch_blob(const std::string &repository, const OciDescriptor &blob,
                  const OciFolder &folder) {
  if (folder.check_blob(blob).ok()) return {};
  const std::string path = folder.blob_path(blob.digest);
  const std::string part = path + ".part";
  std::error_code ignored;
  if (!fs::exists(part, ignored) || fs::file_size(part, ignored) < blob.size) {
    const auto done = curl({"-C", "-", "--max-filesize", std::to_string(blob.size), "-o", part,
                            repository + "/blobs/" + blob.digest});
    if (!done.ok()) return done.status();
  }
  fs::rename(part, path, ignored);
  const Status status = folder.check_blob(blob);
  if (!status.ok()) fs::remove(path, ignored);
  return status;
}

bool is_wanted(const OciDescriptor &layer, const std::string &key_hash) {
  if (layer.media_type == kProgramsType) return true;
  const auto key = layer.annotations.find(kKeyAnnotation);
  return layer.media_type == kDeltaType && key != layer.annotations.end() &&
         key->second == key_hash;
}

void remove_other_blobs(const fs::path &blobs, const std::set<std::string> &kept) {
  std::error_code ignored;
  for (const auto &file : fs::directory_iterator(blobs, ignored)) {
    if (!kept.contains("sha256:" + file.path().filename().string())) {
      fs::remove(file.path(), ignored);
    }
  }
}

}  // namespace

Status fetch_layout(const std::string &repository, const std::string &tag,
                    const std::string &key_hash, const std::string &folder) {
  const auto text = curl({"-H", std::string("Accept: ") + kManifestType,
                          fmt::format("{}/manifests/{}", repository, tag)});
  if (!text.ok()) return text.status();
  const auto manifest = read_manifest_json(*text);
  if (!manifest.ok()) {
    return {manifest.status().code,
            fmt::format("{}: manifest of {}: {}", repository, tag, manifest.status().message)};
  }
  const fs::path blobs = fs::path(folder) / "blobs" / "sha256";
  std::error_code error;
  fs::create_directories(blobs, error);
  const FileDigest named = sha256_of(*text);
  const OciDescriptor descriptor{kManifestType, named.digest, named.size};
  OciIndex index;
  index.set(tag, descriptor);
  // The folder is a cache of this process: the index is written before the blobs, all of which
  // fetch_pack() checks.
  for (const auto &[name, content] :
       {std::pair<std::string, std::string>{"oci-layout", "{\"imageLayoutVersion\":\"1.0.0\"}\n"},
        {"index.json", index.text()},
        {"blobs/sha256/" + named.digest.substr(named.digest.find(':') + 1), *text}}) {
    const Status s = write_whole_file(folder + "/" + name, content);
    if (!s.ok()) return {Code::failed, s.message};
  }
  const auto layout = OciFolder::open(folder);
  if (!layout.ok()) return layout.status();
  std::set<std::string> kept{named.digest};
  for (const OciDescriptor &layer : manifest->layers) {
    kept.insert(layer.digest);
    if (!is_wanted(layer, key_hash)) continue;
    if (Status s = fetch_blob(repository, layer, *layout); !s.ok()) return s;
  }
  remove_other_blobs(blobs, kept);
  return {};
}

}  // namespace kiln::builder
