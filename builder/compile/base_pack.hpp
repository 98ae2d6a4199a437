// SPDX-License-Identifier: Apache-2.0
// The host step: from a manifest to a base pack's contents, with no device.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "builder/compile/toolchain.hpp"
#include "builder/manifest/manifest.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

// A variant that did not make it, or not into IL; the status has the compiler's or Kiln's whole
// message.
struct VariantFailure {
  std::string program;
  std::string variant;
  Status status;
};

struct BasePack {
  packs::Contents contents;  // the variants that succeeded
  std::vector<VariantFailure> failures;
  // In the contents, as source alone: the translator has no SPIR-V for these correct programs, or
  // none that is valid.
  std::vector<VariantFailure> without_il;
  bool bad_sources = false;           // the failures are of reading sources and includes
  std::vector<std::string> warnings;  // ready to print
};

// Told before each variant: its name, how many are done, how many there are.
using Progress = std::function<void(const std::string &what, std::size_t done, std::size_t all)>;

// Flattens, compiles for every address size, validates, and counts each kernel's
// arguments. A failing variant does not stop the others; but nothing is compiled when a source
// or an include cannot be read, or includes itself: that is a fault of the manifest.
// `manifest_path` is the file that the manifest was read from: names in the pack are relative to
// its folder.
BasePack make_base_pack(const Manifest &manifest, const std::filesystem::path &manifest_path,
                        const Toolchain &toolchain, const Progress &progress);

}  // namespace kiln::builder
