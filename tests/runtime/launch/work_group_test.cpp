// SPDX-License-Identifier: Apache-2.0
// Choosing a work-group size and padding the range.
#include "runtime/launch/work_group.hpp"

#include <algorithm>
#include <limits>

#include "tests/support/catch.hpp"

namespace packs = kiln::packs;
using namespace kiln::runtime;

namespace {

constexpr std::size_t kMax = std::numeric_limits<std::size_t>::max();

WorkGroupLimits limits(std::size_t size, std::size_t multiple = 1,
                       NDSize sides = {1024, 1024, 1024}) {
  WorkGroupLimits result;
  result.work_group_size = size;
  result.preferred_multiple = multiple;
  result.work_item_sizes = sides;
  return result;
}

NDSize fit(NDSize wanted, const WorkGroupLimits &within, NDSize global = {1000, 1000, 1}) {
  return fit_local_size(global, wanted, within);
}

}  // namespace

TEST_CASE("a size that fits is taken as it is", "[work_group]") {
  CHECK(fit({16, 8, 1}, limits(256)) == NDSize{16, 8, 1});
  CHECK(fit({7, 3, 1}, limits(256)) == NDSize{7, 3, 1});
  CHECK(fit({256, 1, 1}, limits(256)) == NDSize{256, 1, 1});
  CHECK(fit({1, 1, 64}, limits(64)) == NDSize{1, 1, 64});
}

TEST_CASE("unused dimensions that are given as 0 count as 1", "[work_group]") {
  CHECK(fit({16, 0, 0}, limits(256)) == NDSize{16, 1, 1});
}

TEST_CASE("a size that is too large is halved, its largest side first", "[work_group]") {
  CHECK(fit({64, 16, 1}, limits(256)) == NDSize{16, 16, 1});
  CHECK(fit({16, 16, 4}, limits(256)) == NDSize{8, 8, 4});
  CHECK(fit({31, 31, 1}, limits(32)) == NDSize{3, 7, 1});
  CHECK(fit({512, 1, 1}, limits(1)) == NDSize{1, 1, 1});
}

TEST_CASE("each side is held by the device's own limit for it", "[work_group]") {
  CHECK(fit({64, 64, 64}, limits(1 << 20, 1, {8, 4, 2})) == NDSize{8, 4, 2});
  CHECK(fit({64, 1, 1}, limits(32)) == NDSize{32, 1, 1});
}

TEST_CASE("prime sizes end within the limits", "[work_group]") {
  for (const std::size_t x : {1u, 2u, 3u, 5u, 7u, 13u, 31u, 61u, 127u, 251u, 509u, 1021u}) {
    for (const std::size_t y : {1u, 3u, 17u, 97u, 1021u}) {
      for (const std::size_t most : {1u, 2u, 3u, 31u, 32u, 256u, 1024u}) {
        const NDSize local = fit({x, y, 1}, limits(most));
        CAPTURE(x, y, most, local);
        CHECK(local[0] * local[1] * local[2] <= most);
        CHECK(*std::min_element(local.begin(), local.end()) >= 1);
      }
    }
  }
}

TEST_CASE("a driver that reports no limits at all gets groups of one", "[work_group]") {
  CHECK(fit({64, 64, 1}, limits(0, 0, {0, 0, 0})) == NDSize{1, 1, 1});
  CHECK(fit({0, 0, 0}, limits(0, 0, {0, 0, 0})) == NDSize{1, 1, 1});
}

TEST_CASE("sides whose product does not fit a number are halved as well", "[work_group]") {
  const std::size_t huge = std::size_t{1} << (sizeof(std::size_t) * 4);
  const NDSize local = fit({huge, huge, 1}, limits(huge, 1, {kMax, kMax, kMax}));
  CHECK(local[0] <= huge / local[1]);
  CHECK(fit({kMax, kMax, kMax}, limits(kMax, 1, {kMax, kMax, kMax}))[0] >= 1);
}

TEST_CASE("a size is made from the preferred multiple where none is wanted", "[work_group]") {
  CHECK(fit({0, 0, 0}, limits(256, 32)) == NDSize{32, 4, 1});
  CHECK(fit({0, 0, 0}, limits(256, 64)) == NDSize{64, 2, 1});
  CHECK(fit({0, 0, 0}, limits(256, 128)) == NDSize{128, 1, 1});
  CHECK(fit({0, 0, 0}, limits(256, 1)) == NDSize{8, 8, 1});
  CHECK(fit({0, 0, 0}, limits(256, 3)) == NDSize{12, 4, 1});
  CHECK(fit({0, 0, 0}, limits(48, 32)) == NDSize{32, 1, 1});
  CHECK(fit({0, 0, 0}, limits(256, 32), {5, 1000, 1}) == NDSize{8, 16, 1});
  CHECK(fit({0, 0, 0}, limits(256, 32), {1000, 1, 1}) == NDSize{128, 1, 1});
  CHECK(fit({0, 0, 0}, limits(256, 8), {1000, 1, 1}) == NDSize{64, 1, 1});
  CHECK(fit({0, 0, 0}, limits(256, 8), {20, 1, 1}) == NDSize{32, 1, 1});
  CHECK(fit({0, 0, 0}, limits(32, 64)) == NDSize{32, 1, 1});
  CHECK(fit({0, 0, 0}, limits(256, 0)) == NDSize{8, 8, 1});
}

TEST_CASE("a size that is made up is a multiple of the preferred multiple, or a power of two",
          "[work_group]") {
  for (const std::size_t multiple : {1u, 4u, 8u, 16u, 32u, 64u, 128u}) {
    for (const std::size_t most : {1u, 2u, 7u, 31u, 48u, 61u, 100u, 256u, 1021u}) {
      for (const std::size_t width : {1u, 3u, 13u, 997u, 4096u}) {
        const NDSize local = fit({0, 0, 0}, limits(most, multiple), {width, 1021, 1});
        CAPTURE(multiple, most, width, local);
        const std::size_t items = local[0] * local[1];
        CHECK(items <= most);
        CHECK((items % multiple == 0 || (items & (items - 1)) == 0));
      }
    }
  }
}

TEST_CASE("launches fall into classes by their number of work-items", "[work_group]") {
  CHECK(size_class({1, 1, 1}) == packs::SizeClass::small);
  CHECK(size_class({65'535, 1, 1}) == packs::SizeClass::small);
  CHECK(size_class({256, 256, 1}) == packs::SizeClass::medium);
  CHECK(size_class({1'048'575, 1, 1}) == packs::SizeClass::medium);
  CHECK(size_class({1024, 1024, 1}) == packs::SizeClass::large);
  CHECK(size_class({kMax, kMax, kMax}) == packs::SizeClass::large);
}

TEST_CASE("options say whether a program may be launched with non-uniform work-groups",
          "[work_group]") {
  CHECK(options_allow_non_uniform_work_groups("-cl-std=CL2.0"));
  CHECK(options_allow_non_uniform_work_groups("-DX=1 -cl-std=CL3.0 -cl-mad-enable"));
  CHECK(options_allow_non_uniform_work_groups("-cl-std=CL1.2 -cl-std=CL2.0"));
  CHECK(options_allow_non_uniform_work_groups("-cl-std=CLC++"));
  CHECK_FALSE(options_allow_non_uniform_work_groups(""));
  CHECK_FALSE(options_allow_non_uniform_work_groups("-cl-std=CL1.2"));
  CHECK_FALSE(options_allow_non_uniform_work_groups("-cl-std=CL2.0 -cl-std=CL1.2"));
  CHECK_FALSE(options_allow_non_uniform_work_groups("-cl-std=CL2.0 -cl-uniform-work-group-size"));
}

TEST_CASE("the size that a kernel requires wins over everything", "[work_group]") {
  WorkGroupLimits required = limits(16);
  required.required = {4, 2, 1};
  CHECK(fit({64, 64, 1}, required) == NDSize{4, 2, 1});
  CHECK(fit({0, 0, 0}, required) == NDSize{4, 2, 1});
  required.required = {4, 0, 0};  // no driver should, and none may make a division by zero
  CHECK(fit({0, 0, 0}, required) == NDSize{4, 1, 1});
}

TEST_CASE("a range is padded to whole groups", "[work_group]") {
  CHECK(pad_global_size({40, 40, 1}, {7, 3, 1}) == NDSize{42, 42, 1});
  CHECK(pad_global_size({42, 42, 1}, {7, 3, 1}) == NDSize{42, 42, 1});
  CHECK(pad_global_size({1, 1, 1}, {256, 1, 1}) == NDSize{256, 1, 1});
  CHECK(pad_global_size({1021, 1, 5}, {13, 1, 2}) == NDSize{1027, 1, 6});
}

TEST_CASE("a range that would overflow is left", "[work_group]") {
  CHECK(pad_global_size({kMax, 1, 1}, {2, 1, 1}) == NDSize{kMax, 1, 1});
  CHECK(pad_global_size({kMax - 1, 1, 1}, {2, 1, 1}) == NDSize{kMax - 1, 1, 1});
  CHECK(pad_global_size({kMax - 2, 3, 1}, {2, 2, 1}) == NDSize{kMax - 1, 4, 1});
}

TEST_CASE("what the vendor states of adjacent threads goes before the preferred multiple",
          "[work_group]") {
  WorkGroupLimits mali = limits(384, 64);
  CHECK(fit({0, 0, 0}, mali) == NDSize{64, 2, 1});
  mali.adjacent_threads = 4;
  CHECK(fit({0, 0, 0}, mali) == NDSize{8, 8, 1});
  mali.adjacent_threads = 16;
  CHECK(fit({0, 0, 0}, mali) == NDSize{16, 4, 1});
  CHECK(fit({0, 0, 0}, mali, {1000, 1, 1}) == NDSize{64, 1, 1});
  CHECK(fit({0, 0, 0}, mali, {3, 1000, 1}) == NDSize{4, 16, 1});
  CHECK(fit({32, 2, 1}, mali) == NDSize{32, 2, 1});  // what is wanted stays
  mali.work_group_size = 8;
  CHECK(fit({0, 0, 0}, mali) == NDSize{8, 1, 1});
}

TEST_CASE("a guess fills the limits exactly", "[work_group]") {
  const NDSize line = {4096, 1, 1};
  CHECK(fit({0, 0, 0}, limits(256, 32, {32, 1, 1}), line) == NDSize{32, 1, 1});
  CHECK(fit({0, 0, 0}, limits(256, 32, {64, 1, 1}), line) == NDSize{64, 1, 1});
  CHECK(fit({0, 0, 0}, limits(256, 32, {127, 1, 1}), line) == NDSize{64, 1, 1});
  CHECK(fit({0, 0, 0}, limits(256, 16), line) == NDSize{64, 1, 1});
  CHECK(fit({0, 0, 0}, limits(256, 16), {64, 1, 1}) == NDSize{64, 1, 1});
  CHECK(fit({0, 0, 0}, limits(256, 16), {32, 1, 1}) == NDSize{32, 1, 1});
  CHECK(fit({0, 0, 0}, limits(256, 32), {16, 1, 1}) == NDSize{16, 1, 1});
  CHECK(fit({0, 0, 0}, limits(256, 32), {17, 1, 1}) == NDSize{32, 1, 1});
  CHECK(fit({0, 0, 0}, limits(256, 32), {1, 1, 1}) == NDSize{1, 1, 1});
}

TEST_CASE("a volume that is no number is the largest", "[work_group]") {
  CHECK(volume({2, 3, 4}) == 24);
  CHECK(volume({2, 0, 4}) == 0);
  CHECK(volume({kMax, 1, 1}) == kMax);
  CHECK(volume({kMax / 2, 2, 1}) == kMax - 1);
  CHECK(volume({kMax / 2 + 1, 2, 1}) == kMax);
  CHECK(volume({1, kMax, 2}) == kMax);
  CHECK(volume({kMax / 3, 3, 1}) == kMax);  // a multiple of 3
}

TEST_CASE("a multiple fills each limit, and halves the side that holds the most of it",
          "[work_group]") {
  const auto applied = [](const char *multiple, const WorkGroupLimits &within, NDSize local) {
    LaunchRules rules;
    add_rule(std::string("range_multiple:") + multiple, &rules);
    INFO(multiple);
    const packs::Status status = apply_multiple(rules, within, false, &local);
    return status.ok() ? local : NDSize{0, 0, 0};
  };
  CHECK(applied("4", limits(8, 1, {8, 1, 1}), {7, 1, 1}) == NDSize{8, 1, 1});
  CHECK(applied("4", limits(9, 1, {7, 1, 1}), {7, 1, 1}) == NDSize{4, 1, 1});
  CHECK(applied("4", limits(7, 1, {9, 1, 1}), {7, 1, 1}) == NDSize{4, 1, 1});
  CHECK(applied("1x4", limits(8, 1, {1, 8, 1}), {1, 7, 1}) == NDSize{1, 8, 1});
  CHECK(applied("1x4", limits(9, 1, {1, 7, 1}), {1, 7, 1}) == NDSize{1, 4, 1});
  CHECK(applied("1x1x4", limits(8, 1, {1, 1, 8}), {1, 1, 7}) == NDSize{1, 1, 8});
  CHECK(applied("1x1x4", limits(9, 1, {1, 1, 7}), {1, 1, 7}) == NDSize{1, 1, 4});
  CHECK(applied("4", limits(3), {1, 1, 1}) == NDSize{0, 0, 0});
  // Of two that hold as many the first.
  CHECK(applied("2x4", limits(24), {3, 7, 1}) == NDSize{2, 8, 1});
  CHECK(applied("2x4", limits(31), {3, 15, 1}) == NDSize{2, 8, 1});
}

TEST_CASE("a range that ends at the largest number is padded", "[work_group]") {
  CHECK(pad_global_size({kMax - 1, 1, 1}, {kMax, 1, 1}) == NDSize{kMax, 1, 1});
  CHECK(pad_global_size({1, 1, kMax - 2}, {1, 1, kMax}) == NDSize{1, 1, kMax});
}
