// SPDX-License-Identifier: Apache-2.0
// The linker inside NVIDIA's driver. NVIDIA's OpenCL gives PTX as a program's binary and compiles
// it at each load; the linker compiles it once, to a cubin, which clCreateProgramWithBinary takes
// as it is: machine code for the compute capability X.y, which every X.z with z >= y runs.
#pragma once

#include <cstdint>
#include <string>

#include "kiln/packs/pack.hpp"
#include "runtime/opencl/error.hpp"

namespace kiln::runtime {

// Whether the bytes begin as PTX must: their first word that is no comment is ".version", within
// the first 4 KiB. Pure; any bytes are accepted.
bool is_ptx(packs::View bytes);

// Whether the bytes begin with a whole header of a 64-bit little-endian ELF file for CUDA. What
// follows is not looked at: a driver may die of it. Pure; any bytes are accepted.
bool is_cubin(packs::View bytes);

// Compiles PTX for `compute_capability` as Capabilities has it (9.0 is 900, 12.1 is 1201), which
// must not be less than the PTX's own .target. `ptx` stays the caller's and is copied; a NUL may
// end it. `*out` is the caller's copy of the cubin and empty after an error; `*log`, which may be
// null, gets the linker's log, at most 16 KiB, after success too.
//
// It needs libcuda.so.1, which is opened here and never closed, and the first device that CUDA
// shows (CUDA_VISIBLE_DEVICES counts): the linker works in that device's primary context, which
// exists afterwards only if it did before. The calling thread's current context is afterwards
// what it was. CUDA stays initialised in the process.
//
// Any thread may call, at the same time too, which is no faster: the compiler in the driver holds
// one lock. 113 KB of PTX took 155 to 200 ms on an H200. The driver may crash or hang in it, as in
// any compilation: the caller guards the call, or makes it in a process of its own.
//
// Errors, each with a message that names what failed:
//   Code::bad_argument  not PTX, a NUL inside, too large for a pack, no compute capability
//   Code::no_opencl     no libcuda.so.1, or one without the linker's functions
//   Code::no_device     CUDA does not start, or shows no device
//   Code::opencl        another call failed, the linker refused the PTX (the message has the
//                       first line of its log), or what it made is no cubin or too large
Status link_cubin(packs::View ptx, std::uint32_t compute_capability, packs::Bytes *out,
                  std::string *log);

}  // namespace kiln::runtime
