// SPDX-License-Identifier: Apache-2.0
// Reads a picture, or gets the inputs for a size from the program's reference.
#include "builder/run/work.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "builder/base/names.hpp"
#include "builder/problem/png.hpp"
#include "builder/run/workload.hpp"

namespace kiln::builder {
namespace {

constexpr std::uint64_t kMaxProblemBytes = std::uint64_t{1} << 33;  // inputs and outputs together

Result<Work> make_work(const packs::Program &program, const std::string &text,
                       const Reference &reference) {
  const auto size = parse_size(text);
  if (!size) {
    return Status(Code::bad_argument,
                  "--size takes WIDTH, WIDTHxHEIGHT or WIDTHxHEIGHTxDEPTH, not " + text);
  }
  const std::uint64_t bytes = bytes_moved(program, *size);
  if (bytes > kMaxProblemBytes) {
    return Status(Code::failed,
                  fmt::format("a problem of {} has {} bytes of inputs and outputs; at most {} here",
                              text, bytes, kMaxProblemBytes));
  }
  auto inputs = reference.inputs(program, *size);
  if (!inputs.ok()) return inputs.status();
  return Work{*size, *std::move(inputs)};
}

// Fails if the reference is a file and the request is for another problem: a file has the outputs
// of one problem.
Status fits_reference(const packs::Program &program, const WorkRequest &request,
                      const Reference &reference) {
  const auto size = reference.only_size();
  if (!size) return {};
  std::string other = parse_size(request.size) == size ? "" : request.size;
  if (request.has_parameters) other = "other parameters";
  if (!request.image.empty()) other = "pictures";
  if (other.empty()) return {};
  return {Code::bad_argument,
          fmt::format("program {} is checked by {}, which is not for {}: give --size {} alone, or "
                      "--no-check",
                      program.name, program.reference, other, size_text(*size))};
}

}  // namespace

bool is_picture(const PlaneShape &shape) {
  return shape.type == Type::uchar_ && shape.channels != 2;
}

Result<Work> read_work(const packs::Program &program, const WorkRequest &request,
                       const Reference &reference) {
  if (Status s = fits_reference(program, request, reference); !s.ok()) return s;
  if (request.image.empty()) return make_work(program, request.size, reference);
  const ProgramShape shape = program_shape(program);
  if (shape.inputs.size() != 1 || !is_picture(shape.inputs.front())) {
    return Status(Code::bad_argument,
                  fmt::format("program {} does not work on one picture: give --size instead of "
                              "--image",
                              program.name));
  }
  auto input = read_png(request.image, shape.inputs.front().channels);
  if (!input.ok()) return Status(Code::failed, input.status().message);
  Work work{{input->width, input->height, 1}, {}};
  if (bytes_of(shape.inputs.front(), work.size) != input->pixels.size()) {
    return Status(Code::bad_argument,
                  fmt::format("program {} takes other than a picture's pixels at {}: give --size "
                              "instead of --image",
                              program.name, size_text(work.size)));
  }
  work.inputs.push_back(*std::move(input));
  return work;
}

Status check_parameters(const std::string &program, const std::vector<packs::Variant> &variants,
                        const Parameters &given) {
  std::vector<std::string> names;
  for (const packs::Variant &variant : variants) {
    for (const auto &[name, value] : all_parameters(variant, {})) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  for (const auto &[name, value] : given) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      return {Code::bad_argument,
              fmt::format("program {} has no parameter {}: {}", program, name,
                          names.empty() ? "it takes none" : expected_one_of(name, names))};
    }
    for (const packs::Variant &variant : variants) {
      if (Status s = check_parameter(variant, name, value); !s.ok()) return s;
    }
  }
  return {};
}

}  // namespace kiln::builder
