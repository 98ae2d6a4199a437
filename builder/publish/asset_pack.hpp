// SPDX-License-Identifier: Apache-2.0
// A pack as an asset pack of an Android app bundle, with a device group for each GPU: Google Play
// sends a phone the targets of its GPU alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "builder/publish/device_catalog.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

// A device group and its pack. The last one is "other", for all other phones, with the whole pack.
struct DeviceGroup {
  std::string name;
  std::vector<std::string> chips;      // systems on chip, as in the catalog; ascending
  std::vector<packs::Target> targets;  // of the pack
  std::uint64_t size = 0;              // bytes of its pack
};

struct AssetPack {
  std::vector<DeviceGroup> groups;     // ascending by name, then "other"
  std::vector<std::string> no_chips;   // GPUs of the pack without a group: no chip has them alone
  std::vector<std::string> ambiguous;  // chips left out: the catalog gives them several GPUs
};

// Finds the groups; their sizes stay 0. Fails with Code::bad_argument if there is none but "other".
Result<AssetPack> plan_asset_pack(const packs::Contents &contents, const DeviceCatalog &catalog);

// Writes the Gradle module: build.gradle.kts, device_targeting_config.xml, and app.kiln below
// src/main/assets/NAME#group_GROUP/, where NAME is the folder's. The folder appears only when it is
// whole. Fails with Code::bad_argument if it exists and is not empty, or if its name is none for an
// asset pack, and as write_output() does.
Result<AssetPack> write_asset_pack(const packs::Contents &contents, const DeviceCatalog &catalog,
                                   const std::string &folder);

}  // namespace kiln::builder
