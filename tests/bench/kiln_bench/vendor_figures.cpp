// SPDX-License-Identifier: Apache-2.0
// The figures themselves, each with the publication that it is from.
#include "tests/bench/kiln_bench/vendor_figures.hpp"

namespace kiln::builder {
namespace {

// One row of a publication's table; 0 where nothing is printed. The bars of the sobel figure
// have no printed values, so there is no such table.
struct Row {
  const char *variant;
  double ratios[5];
};

struct Table {
  const char *program;
  const char *device;
  const char *against;
  std::vector<ProblemSize> sizes;  // of the columns
  std::vector<Row> rows;
};

const std::vector<Table> &tables() {
  static const std::vector<Table> kTables = {
      // Arm, "GPU Compute on Mobile Devices".
      {"laplace",
       "Mali-T604",
       "scalar",
       {{768, 432, 1}, {2560, 1600, 1}, {2048, 2048, 1}, {5760, 3240, 1}, {7680, 4320, 1}},
       {{"scalar", {1, 1, 1, 1, 1}},
        {"vec5_int", {1.5, 1.3, 1.8, 3.5, 3.7}},
        {"vec5_int_shared", {1.5, 4.2, 3.3, 5.3, 5.5}},
        {"vec5_short", {1.5, 5.8, 3.4, 7.8, 8.1}},
        {"vec4_short", {1.7, 5.4, 8.8, 7.0, 7.2}},
        {"vec8_short", {1.5, 4.4, 7.2, 5.4, 5.5}}}},
      // Qualcomm 80-NB295-11, 10.3.
      {"epsilon",
       "Adreno 430",
       "r_half",
       {{512, 512, 1}, {1920, 1080, 1}, {3264, 2448, 1}},
       {{"r_half", {0, 0, 1.0}},
        {"rgba_half", {0, 0, 1.4}},
        {"rgba_half_px4", {0, 0, 3.4}},
        {"rgba_half_px8", {0, 0, 3.5}},
        {"rgba_half_px16", {0, 0, 0.5}},
        {"local_8x16", {0, 0, 2.4}},
        {"local_8x24", {0, 0, 2.8}},
        {"local_8x24_select", {0, 0, 2.9}},
        {"rgba_half_px4_select", {4.3, 5.2, 5.4}}}}};
  return kTables;
}

}  // namespace

std::vector<Published> published_ratios(const std::string &program, const std::string &variant) {
  std::vector<Published> found;
  for (const Table &table : tables()) {
    if (table.program != program) continue;
    for (const Row &row : table.rows) {
      if (row.variant != variant) continue;
      for (std::size_t i = 0; i < table.sizes.size(); ++i) {
        if (row.ratios[i] == 0) continue;
        found.push_back({row.ratios[i], table.sizes[i], table.device, table.against});
      }
    }
  }
  return found;
}

}  // namespace kiln::builder
