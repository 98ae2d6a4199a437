// SPDX-License-Identifier: Apache-2.0
// Launches recorded from an application (packs/FORMAT.md, "Launches"). Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "kiln/packs/contents.hpp"
#include "runtime/launch/work_group.hpp"

namespace kiln::builder {

// An image argument. The types and the order are OpenCL's numbers.
struct RecordedImage {
  std::uint32_t type = 0;  // type of the memory object
  std::uint32_t order = 0;
  std::uint32_t data_type = 0;
  std::uint64_t width = 0;
  std::uint64_t height = 0;
  std::uint64_t depth = 0;
  std::uint64_t layers = 0;
};

// A sampler argument, in OpenCL's numbers.
struct RecordedSampler {
  bool normalized = false;
  std::uint32_t addressing = 0;
  std::uint32_t filter = 0;
};

struct RecordedArgument {
  enum class Kind : std::uint8_t { value, local, buffer, image, sampler, unknown };
  Kind kind = Kind::unknown;
  packs::Bytes value{};
  std::uint64_t size = 0;  // bytes of local memory or of a buffer; 0: a null pointer
  RecordedImage image{};
  RecordedSampler sampler{};
  std::string what{};  // name of an unknown argument
};

struct RecordedLaunch {
  std::string kernel;
  unsigned dimensions = 1;
  runtime::NDSize global{1, 1, 1};
  runtime::NDSize local{0, 0, 0};  // 0: the driver chose
  runtime::NDSize offset{0, 0, 0};
  std::vector<RecordedArgument> arguments;
};

// Parses one launch per line. Fails with Code::failed if a line is not a launch.
Result<std::vector<RecordedLaunch>> parse_launches(std::string_view text);

// Returns the variant's recorded launches; empty if it has none. Fails as parse_launches() does,
// and if the blob cannot be read.
Result<std::vector<RecordedLaunch>> recorded_launches(const packs::Variant &variant);

}  // namespace kiln::builder
