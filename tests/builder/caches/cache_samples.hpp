// SPDX-License-Identifier: Apache-2.0
// A program and devices, for the tests of caches. The keys that the tests expect were computed by
// Python's hashlib.
#pragma once

#include <string_view>

#include "builder/caches/application_cache.hpp"
#include "tests/support/catch.hpp"

namespace kiln::test {

inline builder::CachedProgram cached_sample() {
  return {"kernel void k(global int *p) { *p = 1; }\n", "-cl-mad-enable"};
}

inline runtime::Facts adreno() {
  return {{"platform_name", "QUALCOMM Snapdragon(TM)"},
          {"platform_vendor", "QUALCOMM"},
          {"platform_version", "OpenCL 3.0 QUALCOMM build: 0800.40"},
          {"device_name", "QUALCOMM Adreno(TM)"},
          {"device_vendor", "QUALCOMM"},
          {"device_version", "OpenCL 3.0 Adreno(TM) 750"},
          {"address_bits", "64"},
          {"driver_version", "OpenCL 3.0 QUALCOMM build: 0800.40 Compiler E031.45.02.06"}};
}

inline runtime::Facts without(runtime::Facts device, std::string_view name) {
  std::erase_if(device, [&](const auto &fact) { return fact.first == name; });
  return device;
}

inline packs::View view_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t *>(text.data()), text.size()};
}

inline std::string text_of(const packs::Bytes &bytes) { return {bytes.begin(), bytes.end()}; }

// What was written is found again, and nothing else is.
inline void check_round_trip(builder::ApplicationCache *cache) {
  const builder::CachedProgram program = cached_sample();
  CHECK(cache->find(program, adreno()).status().code == packs::Code::not_found);
  REQUIRE(cache->store(program, adreno(), view_of("first"), "").ok());
  REQUIRE(cache->store(program, adreno(), view_of("binary"), "").ok());
  const auto found = cache->find(program, adreno());
  REQUIRE(found.ok());
  CHECK(text_of(*found) == "binary");
  runtime::Facts other = without(adreno(), "driver_version");
  CHECK(cache->find(program, other).status().code == packs::Code::requirement);
  other.emplace_back("driver_version", "another");
  CHECK(cache->find(program, other).status().code == packs::Code::not_found);
  builder::CachedProgram changed = program;
  changed.options += " ";
  CHECK(cache->find(changed, adreno()).status().code == packs::Code::not_found);
}

}  // namespace kiln::test
