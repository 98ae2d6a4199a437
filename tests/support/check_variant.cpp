// SPDX-License-Identifier: Apache-2.0
#include "tests/support/check_variant.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <numeric>
#include <span>

#include <fmt/format.h>

#include "builder/problem/plane.hpp"
#include "builder/run/reference.hpp"
#include "builder/run/session.hpp"
#include "runtime/launch/work_group.hpp"
#include "runtime/load/report.hpp"
#include "tests/support/test_images.hpp"

namespace kiln::test {
namespace {

using namespace kiln::builder;
using nlohmann::json;

constexpr std::size_t kMismatchesTold = 5;
constexpr std::uint8_t kPoison = 0xa5;
constexpr std::size_t kGuard = 64;  // bytes behind a buffer that no kernel may write

// Local sizes to launch with. Few: some drivers compile a kernel anew for each. 7x3 divides no
// size from which it could hide its padding.
constexpr NDSize kLocalSizes[] = {{8, 4, 1}, {7, 3, 1}, {1, 1, 1}};
// PoCL 6.0 ends the process in sub-group functions of groups of one or two items.
constexpr NDSize kSubGroupSizes[] = {{8, 4, 1}, {7, 3, 1}, {16, 1, 1}};
// Sizes beyond the range that is walked through, with the local size that the runtime chooses.
constexpr ProblemSize kLarge[] = {{1023, 7, 67}, {641, 479, 5}, {129, 1031, 3}, {4099, 3, 129}};
constexpr ProblemSize kLight[] = {{17, 5, 9}, {33, 3, 18}, {5, 34, 3}, {67, 2, 7}};
constexpr ProblemSize kLong[] = {{4099, 1, 1}, {65537, 1, 1}, {1000003, 1, 1}};

// Values of a parameter of that name, by turns. A sum that begins with such a bias saturates.
struct Values {
  const char *parameter;
  std::array<double, 8> values;
};
constexpr Values kValues[] = {
    {"threshold", {20, 0, 1, 25, 127, 225, 254, 255}},  // of filters that keep edges
    {"bias", {0, 2147480000, -2147480000, -7, 2147483647, -2147483648.0, 2147450000, -2147450000}}};

// A failure that ends the check of a variant.
struct Failure {
  std::string text;
};

void require(const builder::Status &status) {
  if (!status.ok()) throw Failure{status.message};
}

class Checker {
 public:
  Checker(PackOnDevice *opened, const packs::Program &program, const packs::Variant &variant,
          const CheckPlan &plan)
      : program_(program),
        variant_(variant),
        plan_(plan),
        shape_(program_shape(program)),
        opened_(*opened) {
    const auto &needs = variant.requirements;
    const bool sub_groups = std::find(needs.begin(), needs.end(), "subgroups") != needs.end();
    rules_ = runtime::launch_rules(needs);
    local_sizes_ = sub_groups ? std::span(kSubGroupSizes) : std::span(kLocalSizes);
  }

  json run(const std::string &pack_path, const DeviceInfo &device) {
    if (packs::Status s = check_launchable(variant_); !s.ok()) return {{"skipped", s.message}};
    require(Reference::find(program_, pack_path, {}).move_to(&reference_));
    if (!opened_.child.device) require(opened_.open(device, pack_path));
    kiln::Loaded loaded = opened_.loader.load(program_.name, variant_.name, KILN_LOAD_UNPROVEN);
    if (!loaded.program) {
      const kiln_error &error = loaded.program.error();
      if (error.status == KILN_ERROR_REQUIREMENT) return {{"skipped", error.message}};
      throw Failure{error.message};
    }
    session_.emplace(opened_.cl(), opened_.loader, opened_.queue);
    require(session_->load(*loaded.program, variant_));
    check_sizes();
    return {{"launches", launches_},
            {"failed", failed_},
            {"mismatches", told_},
            {"rung", runtime::rung_name(loaded.report.rung())}};
  }

 private:
  // Whether the problem's size in that direction matters to any memory.
  bool uses(const char *side) const {
    for (const auto *shapes : {&shape_.inputs, &shape_.outputs}) {
      for (const PlaneShape &shape : *shapes) {
        if (shape.extent.find(side) != std::string::npos) return true;
      }
    }
    return false;
  }

  // Every width and height; of a problem of one dimension every width; a depth with each.
  void check_sizes() {
    const bool flat = uses("height");
    const bool deep = uses("depth");
    const std::uint32_t rows = flat ? plan_.to : plan_.from;
    const std::uint32_t columns = flat || plan_.light ? plan_.to : plan_.to * plan_.to;
    if (!plan_.light) prepare({columns, rows, deep ? plan_.to : 1});
    for (std::uint32_t height = plan_.from; height <= rows; ++height) {
      for (std::uint32_t width = plan_.from; width <= columns; ++width) {
        if (left_out(width, height)) continue;
        const std::uint32_t depth = deep ? plan_.from + (width * 5 + height) % plan_.to : 1;
        check_size({width, flat ? height : 1, depth});
      }
      ++turn_;  // so that no width has the same pattern in every row
    }
    const std::span<const ProblemSize> larger = plan_.light ? std::span(kLight) : std::span(kLarge);
    for (const ProblemSize &size : larger) {
      const ProblemSize one{size.width, size.height, deep ? size.depth : 1};
      if (flat && fits(one)) check_size(one);
    }
    for (const ProblemSize &size : kLong) {
      if (!flat && !plan_.light) check_size(size);
    }
  }

  // PoCL's largest image depends on how much memory the machine shows it.
  bool fits(const ProblemSize &size) {
    const auto workload = plan_workload(program_, variant_, size, {});
    return !workload.ok() || over_limits(opened_.cl(), opened_.child.device->id, *workload).ok();
  }

  // A thin check takes every fourth pair where both sides are over 16, so that every width and
  // every height still comes.
  bool left_out(std::uint32_t width, std::uint32_t height) const {
    const bool small = width <= 16 || (height <= 16 && height > 1);
    return plan_.thin && !small && (width + 5 * height) % 4 != 0;
  }

  // Buffers are made once, for the largest size, and images for each size. A light check makes
  // buffers for each size as well, without a byte to spare: the device looks at that.
  void prepare(const ProblemSize &size, const Parameters &parameters = {}) {
    const auto workload = plan_workload(program_, variant_, size, parameters);
    require(workload.status());
    require(session_->bind(*workload, plan_.light ? 0 : kGuard, plan_.light));
  }

  // A random plane or one of the others, by turns.
  void check_size(const ProblemSize &size) {
    const bool large = size.width > plan_.to * plan_.to || size.height > plan_.to ||
                       (size.width > plan_.to && size.height > 1);
    const std::size_t other = 1 + turn_ / 2 % (kPatterns.size() - 1);
    const bool random = plan_.light || turn_ % 2 == 0;
    check_launch(size, random ? Pattern::random : kPatterns[other], large);
    ++turn_;
  }

  Parameters next_parameters() const {
    Parameters parameters = all_parameters(variant_, {});
    if (plan_.light) return parameters;
    for (const Values &known : kValues) {
      const auto found = parameters.find(known.parameter);
      if (found != parameters.end())
        found->second = {known.values[turn_ / 2 % known.values.size()]};
    }
    return parameters;
  }

  void check_launch(const ProblemSize &size, Pattern pattern, bool large) {
    const Parameters parameters = next_parameters();
    NDSize local = local_sizes_[plan_.light ? 0 : turn_ % local_sizes_.size()];
    for (std::size_t i = 0; i < 3; ++i) local[i] = std::lcm(local[i], rules_.multiple[i]);
    if (large) local = {};
    const std::vector<Plane> inputs = make_planes(pattern, shape_.inputs, size);
    prepare(size, parameters);
    require(session_->upload(inputs, kPoison));
    require(session_->fill_outputs(kPoison));
    Launched launched;
    require(session_->launch(std::vector<NDSize>(variant_.kernels.size(), local), &launched));
    ++launches_;
    std::vector<Plane> outputs;
    bool guards_intact = true;
    require(session_->download(shape_, &outputs, &guards_intact, kPoison));
    const auto expected = reference_.expected_here({variant_, size, inputs, parameters, nullptr});
    require(expected.status());
    const std::string where =
        fmt::format("{}, {}, local {}x{}{}", size_text(size), pattern_name(pattern), local[0],
                    local[1], parameter_text(parameters));
    compare(outputs, *expected, guards_intact, where);
  }

  static std::string parameter_text(const Parameters &parameters) {
    std::string text;
    for (const auto &[name, values] : parameters) {
      if (values.size() == 1) text += fmt::format(", {} {}", name, values[0]);
    }
    return text;
  }

  void compare(const std::vector<Plane> &outputs, const std::vector<Plane> &expected,
               bool guards_intact, const std::string &where) {
    std::string wrong = guards_intact ? "" : "wrote behind a buffer";
    const Comparison c = compare_outputs(outputs, expected, variant_.tolerance);
    if (c.check == Check::wrong && wrong.empty()) {
      wrong = describe(outputs[c.first_wrong], expected[c.first_wrong]);
    }
    if (wrong.empty()) return;
    ++failed_;
    if (told_.size() < kMismatchesTold) told_.push_back(where + ": " + wrong);
  }

  std::string describe(const Plane &got, const Plane &expected) const {
    const Difference d = difference(got, expected, variant_.tolerance);
    const std::size_t row = std::size_t{expected.width} * expected.channels;
    const std::size_t element = d.first % row;
    const std::size_t size = size_of(expected.type);
    std::string bytes;
    for (const Plane *plane : {&expected, &got}) {
      bytes += plane == &got ? ", got" : " expected";
      for (std::size_t i = size; i-- > 0;) {
        bytes +=
            fmt::format("{}{:02x}", i + 1 == size ? " 0x" : "", plane->pixels[d.first * size + i]);
      }
    }
    const bool untouched = got.pixels[d.first * size] == kPoison;
    return fmt::format("plane \"{}\", pixel ({}, {}), channel {}:{}{}; {} differ, worst {:g}",
                       expected.name, element / expected.channels, d.first / row,
                       element % expected.channels, bytes,
                       untouched ? " (perhaps never written)" : "", d.elements, d.worst);
  }

  const packs::Program &program_;
  const packs::Variant &variant_;
  const CheckPlan &plan_;
  const ProgramShape shape_;
  Reference reference_;
  PackOnDevice &opened_;
  std::optional<Session> session_;
  std::span<const NDSize> local_sizes_;
  runtime::LaunchRules rules_;
  std::size_t turn_ = 0;
  long launches_ = 0;
  long failed_ = 0;
  std::vector<std::string> told_;
};

}  // namespace

json check_variant(PackOnDevice *opened, const DeviceInfo &device, const std::string &pack_path,
                   const packs::Program &program, const packs::Variant &variant,
                   const CheckPlan &plan) {
  const auto start = std::chrono::steady_clock::now();
  json answer;
  try {
    answer = Checker(opened, program, variant, plan).run(pack_path, device);
  } catch (const Failure &failure) {
    answer = {{"launches", 0}, {"failed", 1}, {"mismatches", {failure.text}}, {"rung", "error"}};
  }
  answer["seconds"] =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return answer;
}

}  // namespace kiln::test
