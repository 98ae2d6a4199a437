// SPDX-License-Identifier: Apache-2.0
// Puts a function that measures in the place of each entry point of OpenCL's table.
#include "tests/bench/timed_calls.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <vector>

namespace kiln::test {
namespace {

using runtime::OpenCL;
using Clock = std::chrono::steady_clock;

enum : std::size_t {
#define KILN_INDEX(name) kIndex_##name,
  KILN_OPENCL_REQUIRED(KILN_INDEX) KILN_OPENCL_OPTIONAL(KILN_INDEX) kEntries
#undef KILN_INDEX
};

constexpr std::array<const char *, kEntries> kNames = {
#define KILN_NAME(name) #name,
    KILN_OPENCL_REQUIRED(KILN_NAME) KILN_OPENCL_OPTIONAL(KILN_NAME)
#undef KILN_NAME
};

struct Call {
  std::uint64_t count = 0;
  std::uint64_t nanoseconds = 0;
};

struct PartTime {
  Part part;
  std::uint64_t nanoseconds = 0;
  std::array<Call, kEntries> calls{};
};

OpenCL real;
bool measuring = false;
std::vector<PartTime> parts;  // the last one runs
Clock::time_point since;

std::uint64_t nanoseconds_since(Clock::time_point start) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count());
}

template <std::size_t kIndex, auto kMember, typename Function>
struct Timed;

template <std::size_t kIndex, auto kMember, typename R, typename... Arguments>
struct Timed<kIndex, kMember, R(CL_API_CALL *)(Arguments...)> {
  static R CL_API_CALL call(Arguments... arguments) {
    Call &call = parts.back().calls[kIndex];
    const auto start = Clock::now();
    R result = (real.*kMember)(arguments...);
    call.nanoseconds += nanoseconds_since(start);
    ++call.count;
    return result;
  }
};

OpenCL timed_table() {
  OpenCL timed;
#define KILN_TIMED(name)                                                            \
  if (real.name != nullptr) {                                                       \
    timed.name = Timed<kIndex_##name, &OpenCL::name, decltype(OpenCL::name)>::call; \
  }
  KILN_OPENCL_REQUIRED(KILN_TIMED)
  KILN_OPENCL_OPTIONAL(KILN_TIMED)
#undef KILN_TIMED
  return timed;
}

}  // namespace

std::shared_ptr<const runtime::Device> with_timed_calls(const runtime::Device &device) {
  auto timed = std::make_shared<runtime::Device>(device);
  real = *device.cl;
  timed->cl = std::make_shared<OpenCL>(timed_table());
  constexpr std::size_t kManyParts = 4096;  // no memory is allocated while a start is measured
  parts.reserve(kManyParts);
  parts.push_back({Part::none});
  measuring = true;
  since = Clock::now();
  return timed;
}

void begin_part(Part part) {
  if (!measuring) return;
  parts.back().nanoseconds = nanoseconds_since(since);
  parts.push_back({part});
  since = Clock::now();
}

nlohmann::json part_times() {
  if (!measuring) return nullptr;
  nlohmann::json all = nlohmann::json::array();
  for (const PartTime &part : parts) {
    nlohmann::json calls = nlohmann::json::object();
    for (std::size_t i = 0; i < kEntries; ++i) {
      const Call &call = part.calls[i];
      if (call.count != 0) calls[kNames[i]] = {call.count, call.nanoseconds};
    }
    all.push_back({{"part", part.part}, {"ns", part.nanoseconds}, {"calls", std::move(calls)}});
  }
  return all;
}

}  // namespace kiln::test
