// SPDX-License-Identifier: Apache-2.0
// A manifest, as if it lay beside the case studies.
#include "builder/manifest/manifest.hpp"

#include "tests/fuzz/targets/target.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char *>(data), size);
  (void)kiln::builder::parse_manifest(text, KILN_SOURCE_DIR "/manifests/fuzzed.toml");
  return 0;
}
