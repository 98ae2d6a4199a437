// SPDX-License-Identifier: Apache-2.0
// What a program is launched on: a picture, or values made for a size.
#pragma once

#include <string>
#include <vector>

#include "builder/launch/reference.hpp"

namespace kiln::builder {

struct Work {
  ProblemSize size;
  std::vector<Plane> inputs;  // in the order of program_shape()
};

// As a command line asks for it: one of both.
struct WorkRequest {
  std::string image;            // a PNG file
  std::string size;             // "512x512"
  bool has_parameters = false;  // other values than the defaults
};

// Whether a plane can be written as a PNG file.
bool is_picture(const PlaneShape &shape);

// Fails with Code::bad_argument where the request does not fit the program or its reference, or
// with Code::failed.
Result<Work> read_work(const packs::Program &program, const WorkRequest &request,
                       const Reference &reference);

// Whether one of the program's variants has each of the parameters, and takes its value. Fails with
// Code::bad_argument.
Status check_parameters(const std::string &program, const std::vector<packs::Variant> &variants,
                        const Parameters &given);

}  // namespace kiln::builder
