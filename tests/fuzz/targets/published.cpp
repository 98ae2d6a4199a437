// SPDX-License-Identifier: Apache-2.0
// The JSON of a published folder: a manifest and an index.
#include <cstdlib>

#include "builder/fleet/delivery/published_folder.hpp"
#include "tests/fuzz/targets/target.hpp"

using namespace kiln::builder;

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  const std::string text(reinterpret_cast<const char *>(data), size);
  if (const auto manifest = read_manifest_json(text); manifest.ok()) {
    const auto again = read_manifest_json(manifest_json(*manifest));
    if (!again.ok() || again->index != manifest->index || again->parts != manifest->parts) abort();
  }
  if (const auto index = read_index_json(text); index.ok()) {
    const auto again = read_index_json(index_json(*index));
    if (again.ok() && again->programs != index->programs) abort();
    (void)choose_pack(*index, "A*");
  }
  return 0;
}
