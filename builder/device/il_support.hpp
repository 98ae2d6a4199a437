// SPDX-License-Identifier: Apache-2.0
// What SPIR-V a device takes by its own answers, and whether a module needs more.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "builder/base/builder_status.hpp"
#include "kiln/packs/bytes.hpp"
#include "runtime/device/device.hpp"

namespace kiln::builder {

// A device's answers to the queries of cl_khr_spirv_queries, which OpenCL 3.1 has in core.
struct IlSupport {
  std::vector<std::uint32_t> capabilities;  // numbers of the SPIR-V specification
  std::vector<std::string> extensions;
  std::vector<std::string> instruction_sets;
};

void to_json(nlohmann::json &out, const IlSupport &support);
void from_json(const nlohmann::json &in, IlSupport &support);

// Returns nothing if the device does not answer, or names no capability.
std::optional<IlSupport> query_il_support(const runtime::Device &device);

// Compares what a module declares in its first instructions. Fails with Code::requirement for the
// first that the device does not report: "needs the SPIR-V capability Groups". Any other bytes
// need nothing.
Status check_il(packs::View module, const IlSupport &support);

}  // namespace kiln::builder
