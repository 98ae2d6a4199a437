// SPDX-License-Identifier: Apache-2.0
// Pixels travel as binary values, which only the binary encodings of JSON have.
#include "builder/launch/plane_json.hpp"

namespace kiln::builder {

using nlohmann::json;

json to_json(const std::vector<Plane> &planes) {
  json all = json::array();
  for (const Plane &plane : planes) {
    all.push_back({{"width", plane.width},
                   {"height", plane.height},
                   {"channels", plane.channels},
                   {"name", plane.name},
                   {"type", static_cast<int>(plane.type)},
                   {"pixels", json::binary(plane.pixels)}});
  }
  return all;
}

std::vector<Plane> planes_from(const json &in) {
  std::vector<Plane> planes;
  for (const json &plane : in) {
    planes.push_back({plane["width"], plane["height"], plane["channels"], plane["name"],
                      plane["pixels"].get_binary(), static_cast<Type>(plane["type"].get<int>())});
  }
  return planes;
}

}  // namespace kiln::builder
