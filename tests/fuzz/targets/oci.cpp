// SPDX-License-Identifier: Apache-2.0
// The JSON of an OCI image layout: an index and a manifest.
#include <cstdlib>

#include "builder/publish/oci_format.hpp"
#include "tests/fuzz/targets/target.hpp"

using namespace kiln::builder;

namespace {

void read_index_text(const std::string &text) {
  auto index = OciIndex::read(text);
  if (!index.ok()) return;
  const std::size_t count = index->manifests().size();
  const bool has_tag = index->find("latest") != nullptr;
  index->set("latest", {kManifestType, "sha256:" + std::string(64, '0'), 1});
  const auto again = OciIndex::read(index->text());
  if (!again.ok() || again->find("latest") == nullptr) std::abort();
  if (again->manifests().size() != count + (has_tag ? 0 : 1)) std::abort();
  if (again->text() != index->text()) std::abort();
}

void read_manifest_text(const std::string &text) {
  const auto manifest = read_manifest_json(text);
  if (!manifest.ok()) return;
  (void)manifest->revision();
  const auto again = read_manifest_json(manifest_json(*manifest));
  if (!again.ok() || again->layers.size() != manifest->layers.size()) std::abort();
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  const std::string text(reinterpret_cast<const char *>(data), size);
  read_index_text(text);
  read_manifest_text(text);
  return 0;
}
