// SPDX-License-Identifier: Apache-2.0
// Plans the launch of a variant for a problem size: memory, arguments, NDRanges. Pure; session.hpp
// executes the plan on a device.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "builder/problem/program_shape.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

// A buffer, or an image object, that the kernels of a variant share by role and name. The host's
// plane may be narrower: an image whose texels pack several pixels holds whole texels.
struct Memory {
  Role role = Role::input;  // input, output or scratch
  Storage storage = Storage::buffer;
  PlaneShape shape;  // the host's plane; scratch memory: as the kernel sees it
  Type type = Type::uchar_;
  std::uint32_t channels = 1;
  std::uint64_t columns = 1;
  std::uint64_t rows = 1;    // of all slices
  std::uint64_t slices = 1;  // of a 3D image; layers of an array
  bool accumulates = false;
  bool is_normalized = true;  // an image of integers of 8 or 16 bits

  std::uint64_t row_bytes() const { return columns * channels * size_of(type); }
  std::uint64_t bytes() const { return row_bytes() * rows; }
};

// The value of one kernel parameter: memory, local memory, a sampler, or bytes.
struct Binding {
  std::size_t memory = SIZE_MAX;  // index into Workload::memories; SIZE_MAX: none
  std::uint64_t local = 0;        // bytes of local memory; 0: none
  std::optional<packs::ArgumentSampler> sampler{};
  std::vector<std::uint8_t> bytes;
};

struct Stage {
  std::string kernel;
  unsigned dimensions = 2;
  std::array<std::size_t, 3> global{1, 1, 1};
  std::vector<Binding> bindings;
};

struct Workload {
  ProblemSize size;
  std::vector<Memory> memories;
  std::vector<Stage> stages;
};

// Returns the values of the variant's parameters: from `given` if it has the name, else the
// default. Other names in `given` are left out.
Parameters all_parameters(const packs::Variant &variant, const Parameters &given);

// Fails with Code::bad_argument if the variant has the parameter and it cannot take these values.
Status check_parameter(const packs::Variant &variant, const std::string &name,
                       const std::vector<double> &values);

// Fails with Code::bad_input if Kiln itself cannot launch the variant.
Status check_launchable(const packs::Variant &variant);

// Fails with Code::requirement if the variant requires a proof and no target with that key has a
// proven binary for it.
Status check_proven(const packs::Contents &contents, const std::string &key,
                    const packs::Variant &variant);

// Plans a launch; parameters that are not given take their defaults. Fails with Code::bad_argument
// if the variant lacks a given parameter, with Code::over_limit if the size needs too much memory,
// and with Code::bad_input if the pack's own text gives no workload.
Result<Workload> plan_workload(const packs::Program &program, const packs::Variant &variant,
                               const ProblemSize &size, const Parameters &given);

// Returns the planes of the variants that Kiln can launch (common_shape).
ProgramShape program_shape(const packs::Program &program);

// Returns the bytes that a launch has to move: each input read once, each output written once.
std::uint64_t bytes_moved(const packs::Program &program, const ProblemSize &size);

// Makes an input for which no picture is given. Bytes get soft slopes and edges under a little
// noise, as in a photograph; other types get evenly spread values. The result is the same on every
// machine.
Plane make_input(const PlaneShape &shape, const ProblemSize &size, std::uint32_t seed);
std::vector<Plane> make_inputs(const packs::Program &program, const ProblemSize &size);

}  // namespace kiln::builder
