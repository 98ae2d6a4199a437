// SPDX-License-Identifier: Apache-2.0
// How fast the tiled float GEMM is with other sizes of tiles, each built on the device from source.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/bench/gemm_times.hpp"

namespace kiln::test {

struct SweepRow {
  std::string options;
  builder::Status status;         // a failure leaves no figures
  double build = 0;               // milliseconds
  std::string work_group;         // "16x16x1"
  std::vector<double> gigaflops;  // of each size; 0: not measured
  std::vector<bool> right;
};

struct SweepRequest {
  std::string source;                // the text of gemm_f32_tiled.cl
  std::vector<std::string> options;  // build options, with ITEM_ROWS and ITEM_COLUMNS where not 8
  std::vector<std::size_t> sizes;    // n of n x n matrices
  double seconds = 150;              // for all; what is not begun by then is left out
  std::string lock;                  // a file that is locked while times are taken; empty: none
};

// Options that are worth trying on a large GPU.
std::vector<std::string> sweep_options();

// Calls `row` with each as it comes.
void sweep(const builder::OpenedDevice &device, const GemmMatrices &matrices,
           const SweepRequest &request, const std::function<void(const SweepRow &)> &row);

}  // namespace kiln::test
