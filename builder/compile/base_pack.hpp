// SPDX-License-Identifier: Apache-2.0
// The host step: turns a manifest into a base pack's contents, without a device.
#pragma once

#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "builder/compile/toolchain.hpp"
#include "builder/manifest/manifest.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

// A variant that failed, or has no IL; the status has the compiler's or Kiln's whole message.
struct VariantFailure {
  std::string program;
  std::string variant;
  Status status;
};

struct BasePack {
  packs::Contents contents;  // the variants that succeeded
  std::vector<VariantFailure> failures;
  // Variants packed as source only: the translator has no SPIR-V, or no valid SPIR-V, for these
  // correct programs.
  std::vector<VariantFailure> without_il;
  bool bad_sources = false;           // the failures are in reading sources and includes
  std::vector<std::string> warnings;  // ready to print
  std::set<std::string> files;        // sources and the files that they include, by path as opened
  std::size_t stored = 0;             // variants that came from the store
  Status store_status;                // why the store was not used, or is no longer used
};

struct HostStepOptions {
  std::size_t jobs = 1;  // variants to compile at once
  std::string store{};   // file of the store; empty: none
  Roots roots{};         // given besides the manifest's
};

// Called before each variant with its name, the number done, and the total. Never called twice at
// once, but from any thread.
using Progress = std::function<void(const std::string &what, std::size_t done, std::size_t all)>;

// Flattens, compiles for every address size, validates, and counts each kernel's arguments. A
// failing variant does not stop the others. But nothing is compiled if a source or an include
// cannot be read, or includes itself: that is a fault of the manifest. `manifest_path` is the
// manifest's file; names in the pack are relative to its folder. The pack depends neither on the
// number of jobs nor on the store.
BasePack make_base_pack(const Manifest &manifest, const std::filesystem::path &manifest_path,
                        const Toolchain &toolchain, const HostStepOptions &options,
                        const Progress &progress);

}  // namespace kiln::builder
