// SPDX-License-Identifier: Apache-2.0
// How soon the tuner's search comes to a good work-group size, with its first guesses and without.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "builder/device/device_info.hpp"
#include "builder/problem/problem_size.hpp"
#include "builder/tune/seeds.hpp"

namespace kiln::builder {

// What one kernel's search is replayed with. Times: min of 12 launches, nanoseconds;
// 0 where there is no such size.
struct SearchOrder {
  std::string program;
  std::string variant;
  std::string kernel;
  ProblemSize size;
  std::size_t candidates = 0;  // all of them were measured, and the first guesses
  NDSize best{1, 1, 1};
  double best_time = 0;
  Seeds seeds;
  double own_time = 0;
  double suggested_time = 0;
  double guess_time = 0;
  // Sizes tried until one is within 5% of the best: without first guesses, with the variant's own
  // size and the made-up one, and with the driver's suggestion besides. 0: none of those tried is.
  std::size_t tried_without = 0;
  std::size_t tried_guess = 0;
  std::size_t tried_suggested = 0;
};

struct SearchOrders {
  std::string device;
  std::vector<SearchOrder> kernels;
  std::vector<std::string> left_out;  // "PROGRAM/VARIANT: why"
};

struct SearchOrderOptions {
  std::string pack_path;
  std::string program;             // empty: all
  std::vector<ProblemSize> sizes;  // empty: 1024 x 1024, rows of 1048576, or 64 x 64 x 64
  std::chrono::milliseconds timeout{600'000};  // of one variant
};

// Measures every candidate of every kernel of the variants that the device runs, each variant in a
// process of its own. The search is then replayed on these times, so that all orders are judged by
// the same ones.
SearchOrders search_orders(const packs::Contents &contents, const DeviceInfo &device,
                           const SearchOrderOptions &options);

nlohmann::json to_json(const SearchOrders &orders);

}  // namespace kiln::builder
