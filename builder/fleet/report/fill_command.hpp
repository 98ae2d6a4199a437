// SPDX-License-Identifier: Apache-2.0
// The commands that make a device's binaries: on such a device, or by a virtual one.
#pragma once

#include <string>

#include "builder/fleet/report/inventory.hpp"

namespace kiln::builder {

// The word of --virtual for a device whose binaries Kiln can make without it.
struct VirtualWord {
  std::string word;      // "mesa:navi21"; empty: none is known
  std::string needs;     // "Mesa 25.0.7": binaries of another version are for other devices
  std::string products;  // products and SoCs with this GPU; may be known without a word
};
VirtualWord virtual_word_of(const FleetDevice &device);

// Returns `kiln build PACK --device ... -o HASH.kiln`, with the names quoted for a shell.
std::string device_command(const std::string &pack, const FleetDevice &device);
std::string virtual_command(const std::string &pack, const FleetDevice &device,
                            const std::string &word);

}  // namespace kiln::builder
