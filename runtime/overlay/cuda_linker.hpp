// SPDX-License-Identifier: Apache-2.0
// The linker inside NVIDIA's driver. NVIDIA's OpenCL gives PTX as a program's binary, and compiles
// the PTX at each load. The linker compiles it once, to a cubin, which clCreateProgramWithBinary
// takes unchanged: machine code for the compute capability X.y, which every X.z with z >= y runs.
#pragma once

#include <cstdint>
#include <string>

#include "kiln/packs/pack.hpp"
#include "runtime/opencl/error.hpp"

namespace kiln::runtime {

// Returns whether the bytes begin as PTX must: the first word outside of comments is ".version",
// within the first 4 KiB. Pure; accepts any bytes.
bool is_ptx(packs::View bytes);

// Returns whether the bytes begin with a whole header of a 64-bit little-endian ELF file for CUDA.
// Does not check the rest, which may crash a driver. Pure; accepts any bytes.
bool is_cubin(packs::View bytes);

// Compiles PTX for `compute_capability` in the form of Capabilities (9.0 is 900, 12.1 is 1201),
// which must not be less than the PTX's own .target. `ptx` stays the caller's and is copied; a NUL
// may end it. `*out` is the caller's copy of the cubin, and empty after an error. `log` may be
// null; `*log` gets the linker's log, at most 16 KiB, also after success.
//
// Needs libcuda.so.1, which is opened here and never closed, and the first device that CUDA shows
// (CUDA_VISIBLE_DEVICES counts). The linker works in that device's primary context, which exists
// afterwards only if it did before. The calling thread's current context is restored. CUDA stays
// initialised in the process.
//
// Any thread may call this function. Calls at the same time are not faster: the compiler in the
// driver holds one lock. 113 KB of PTX took 155 to 200 ms on an H200. The driver may crash or hang
// during the call, as in any compilation: the caller guards the call, or makes it in a process of
// its own.
//
// Errors, each with a message that names what failed:
//   Code::bad_argument  not PTX, a NUL inside, too large for a pack, no compute capability
//   Code::no_opencl     no libcuda.so.1, or one without the linker's functions
//   Code::no_device     CUDA does not start, or shows no device
//   Code::opencl        another call failed, the linker refused the PTX (the message has the
//                       first line of its log), or the result is no cubin or too large
Status link_cubin(packs::View ptx, std::uint32_t compute_capability, packs::Bytes *out,
                  std::string *log);

}  // namespace kiln::runtime
