// SPDX-License-Identifier: Apache-2.0
// Compares planes and hashes of memory, and names them by a hash.
#include "builder/finish/results.hpp"

#include "builder/launch/plane_json.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

using nlohmann::json;

json to_json(const Results &results) {
  return {
      {"outputs", to_json(results.outputs)}, {"memory", results.memory}, {"none", results.none}};
}

Results results_from(const json &in) {
  return {planes_from(in["outputs"]), in["memory"], in["none"]};
}

Comparison compare_results(const Results &got, const Results &expected, double tolerance) {
  if (expected.memory.empty()) return compare_outputs(got.outputs, expected.outputs, tolerance);
  Comparison result;
  result.check = got.memory.size() == expected.memory.size() ? Check::exact : Check::wrong;
  for (std::size_t i = 0; i < got.memory.size() && i < expected.memory.size(); ++i) {
    if (got.memory[i] == expected.memory[i]) continue;
    if (result.different++ == 0) result.first_wrong = i;
    result.check = Check::wrong;
  }
  return result;
}

std::string name_of(const Results &results) {
  packs::Bytes bytes;
  for (const Plane &plane : results.outputs) {
    bytes.insert(bytes.end(), plane.pixels.begin(), plane.pixels.end());
  }
  const auto *memory = reinterpret_cast<const std::uint8_t *>(results.memory.data());
  bytes.insert(bytes.end(), memory, memory + results.memory.size() * sizeof(results.memory[0]));
  return packs::hex(packs::blake2b({bytes.data(), bytes.size()})).substr(0, 16);
}

}  // namespace kiln::builder
