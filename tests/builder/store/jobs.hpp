// SPDX-License-Identifier: Apache-2.0
// Invented jobs for tests of the store.
#pragma once

#include <string>

#include "builder/store/store.hpp"

namespace kiln::test {

inline builder::Action action(const std::string &name) {
  builder::Action made("{\"name\":\"" + name + "\"}");
  made.device = "GPU (driver 1)";
  return made;
}

// With a binary of these bytes, many times over.
inline builder::StoredJob job(const std::string &bytes,
                              builder::JobState state = builder::JobState::done) {
  packs::Bytes binary;
  for (int i = 0; i < 100; ++i) binary.insert(binary.end(), bytes.begin(), bytes.end());
  builder::StoredJob made;
  made.state = state;
  made.answer = {{"log", "log of " + bytes},
                 {"binary", {{"bytes", nlohmann::json::binary(binary)}, {"size", 1.5}}},
                 {"also", {1, {{"bytes", nlohmann::json::binary({1, 2, 3})}}, nullptr}}};
  made.milliseconds = 12;
  made.finished = 1'700'000'000;
  return made;
}

}  // namespace kiln::test
