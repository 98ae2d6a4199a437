// SPDX-License-Identifier: Apache-2.0
// Launches the same small problem twice, and looks whether the outputs changed at all.
#include "builder/finish/launch_twice.hpp"

#include <algorithm>

#include "builder/finish/launch_sizes.hpp"

namespace kiln::builder {
namespace {

constexpr std::uint8_t kBefore = 0xa5;  // of every byte of an output

std::vector<std::vector<std::uint8_t>> pixels_of(const std::vector<Plane> &planes) {
  std::vector<std::vector<std::uint8_t>> all;
  for (const Plane &plane : planes) all.push_back(plane.pixels);
  return all;
}

}  // namespace

ProblemSize small_problem(const packs::Program &program) {
  if (works_on_rows(program)) return {4096, 1, 1};
  const bool deep = std::any_of(program.sizes.begin(), program.sizes.end(),
                                [](const auto &size) { return size[2] > 1; });
  return {64, 64, deep ? 64u : 1u};
}

Status launch_twice(const packs::Program &program, const packs::Variant &variant, Session *session,
                    FirstLaunch *out) {
  const ProgramShape shape = program_shape(program);
  std::vector<Plane> before;
  std::vector<Plane> after;
  Launched first;
  Launched second;
  Status status = session->upload(make_inputs(program, session->workload().size));
  if (status.ok()) status = session->fill_outputs(kBefore);
  if (status.ok()) status = session->download(shape, &before);
  if (status.ok()) status = session->launch({}, &first);
  if (status.ok()) status = session->launch({}, &second);
  if (status.ok()) status = session->download(shape, &after);
  if (!status.ok()) {
    status.message = variant.name + ": " + status.message;
    return status;
  }
  out->first = first.host_nanoseconds / 1e6;
  out->second = second.host_nanoseconds / 1e6;
  out->executes = pixels_of(before) != pixels_of(after);
  return {};
}

}  // namespace kiln::builder
