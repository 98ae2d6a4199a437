// SPDX-License-Identifier: Apache-2.0
// A program that a driver built, as the contents of a pack, and stored in an overlay.
#pragma once

#include <optional>
#include <string>

#include "kiln/packs/contents.hpp"
#include "runtime/cached/cached_files.hpp"
#include "runtime/device/device.hpp"
#include "runtime/load/persistence.hpp"
#include "runtime/source/whole_program.hpp"

namespace kiln::cached {

// Returns the program with the names of its kernels; nothing if it has none, as a library of
// functions. `built` was built by the driver. Creates no kernel: rusticl 22.3 dies of some.
std::optional<packs::Contents> contents_of(const runtime::OpenCL &cl, cl_program built,
                                           const source::WholeProgram &program);

// Returns the failure of a program without kernels; for a library that is no fault.
packs::Status without_kernels();

// Returns the device's driver; computing its number queries the times of many files.
DriverKey driver_of(const runtime::Device &device);

// Writes the program with the driver's binary for the device (write_cached). `contents` is from
// contents_of(), without a target; `built` was built from its text, and `driver` is the device's.
// Asks for the binary behind a marker of `persistence`, which may be null. Fails with Code::failed
// if the driver must not be asked for the binary.
packs::Status store_program(const std::string &overlay, const DriverKey &driver,
                            const runtime::Device &device, cl_program built,
                            packs::Contents contents, runtime::Persistence *persistence);

}  // namespace kiln::cached
