// SPDX-License-Identifier: Apache-2.0
// The pack for one device from a layout: what a device does with blobs that it fetched.
#pragma once

#include <cstdint>
#include <string>

#include "builder/publish/oci_folder.hpp"

namespace kiln::builder {

struct FetchRequest {
  std::string tag = "latest";
  // The 16 digits of a key's hash, or a glob over "device (driver version)"; empty: the programs
  // alone.
  std::string target{};
  std::uint64_t smallest_revision = 0;
};

struct Fetched {
  std::uint64_t revision = 0;  // 0: the manifest has none
  std::string label;           // of the target, or "programs"
  std::uint64_t size = 0;      // of the pack
  std::string blake2b;         // of the pack, in hexadecimal digits
};

// Writes the pack to `output`, which appears when it is right. Every blob that is used is checked
// for its digest. Fails with Code::not_in_pack where no target or tag matches, with Code::conflict
// where the revision is older than demanded, with Code::blob_corrupt for a blob that is not what
// its digest says, and as OciFolder and apply_delta() do.
Result<Fetched> fetch_pack(const OciFolder &folder, const FetchRequest &request,
                           const std::string &output);

}  // namespace kiln::builder
