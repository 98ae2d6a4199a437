// SPDX-License-Identifier: Apache-2.0
// Which system on chip has which GPU, as the Play Console's device catalog says.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "builder/base/builder_status.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

// The GPUs of each system on chip, "QTI SM8550": the manufacturer is its first word, the model the
// rest. A GPU has the name of its device group; the name is empty for GPUs that have none.
using DeviceCatalog = std::map<std::string, std::set<std::string>>;

// Returns the device group of a GPU as the catalog names it, "Qualcomm Adreno 740 (818 MHz)" or
// "ARM Mali G710 (848 MHz)": adreno_740, mali_g710. Returns an empty string unless it is an Adreno,
// a Mali, an Immortalis (which drivers call Mali, too) or a PowerVR.
std::string device_group(std::string_view gpu);

// Returns the device group of a target's GPU, likewise.
std::string device_group(const packs::Target &target);

// Parses CSV with the columns "System on Chip" and "GPU"; `file` is its name in messages. Leaves
// out devices for which the catalog does not say both. Fails with Code::bad_input.
Result<DeviceCatalog> parse_device_catalog(std::string_view csv, const std::string &file);

// Reads such a file. Fails with Code::failed if it cannot be read, and as parsing does.
Result<DeviceCatalog> read_device_catalog(const std::string &path);

}  // namespace kiln::builder
