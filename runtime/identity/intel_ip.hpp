// SPDX-License-Identifier: Apache-2.0
// Intel's IP version (CL_DEVICE_IP_VERSION_INTEL) as drivers really encode it: NEO up to 22.43 has
// the architecture in bits 16 and up and the release in bits 8 to 15 (0x00090000); 24.35 has the
// architecture in bits 22 and up and the release in bits 14 to 21 (0x02400009), for the same GPU.
#pragma once

#include <cstdlib>
#include <string>

namespace kiln::runtime {

struct IntelIp {
  bool newer;  // whether in the newer encoding
  unsigned long architecture;
  unsigned long release;
};

// Parses the text of Field::ip_version; broken text gives architecture 0.
inline IntelIp parse_intel_ip(const std::string &text) {
  constexpr unsigned long kFirstOfNewer = 0x01000000;
  const unsigned long ip = std::strtoul(text.c_str(), nullptr, 16);
  if (ip < kFirstOfNewer) return {false, ip >> 16, ip >> 8 & 255};
  return {true, ip >> 22, ip >> 14 & 255};
}

}  // namespace kiln::runtime
