// SPDX-License-Identifier: Apache-2.0
// Input for the launch of a program: a picture, or values made for a size.
#pragma once

#include <string>
#include <vector>

#include "builder/run/reference.hpp"

namespace kiln::builder {

struct Work {
  ProblemSize size;
  std::vector<Plane> inputs;  // in the order of program_shape()
};

// Input as the command line requests it: an image or a size.
struct WorkRequest {
  std::string image;            // a PNG file
  std::string size;             // "512x512"
  bool has_parameters = false;  // other values than the defaults
};

// Returns whether a plane can be written as a PNG file.
bool is_picture(const PlaneShape &shape);

// Reads or makes the inputs. Fails with Code::bad_argument if the request does not fit the program
// or its reference, or with Code::failed.
Result<Work> read_work(const packs::Program &program, const WorkRequest &request,
                       const Reference &reference);

// Fails with Code::bad_argument if a parameter belongs to none of the program's variants, or if a
// variant cannot take its value.
Status check_parameters(const std::string &program, const std::vector<packs::Variant> &variants,
                        const Parameters &given);

}  // namespace kiln::builder
