// SPDX-License-Identifier: Apache-2.0
// Generated programs with the shapes of six projects' kernels: how many texts, how long, how many
// kernels in each, how many options.
#pragma once

#include <filesystem>
#include <vector>

namespace kiln::test {

struct Shape {
  const char *project;  // whose shape it is
  const char *scale;    // what is made, and what the project has
  const char *table;    // the manifest's table [program.all], after its source
  void (*write)(const std::filesystem::path &folder);  // writes the sources, *.cl, and headers
};

const std::vector<Shape> &shapes();

// Writes the sources and the manifest. Returns the manifest's path. Prints the reason and ends the
// process if a file cannot be written.
std::filesystem::path write_shape(const Shape &shape, const std::filesystem::path &folder);

}  // namespace kiln::test
