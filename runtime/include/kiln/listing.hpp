// SPDX-License-Identifier: Apache-2.0
/// @file
/// C++17 over listing.h: the contents of a pack.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kiln/kiln.hpp"
#include "kiln/listing.h"

namespace kiln {

/// A kernel of a pack; see kiln_pack_kernel.
struct PackKernel {
  std::string program;          ///< name, for Loader::load()
  std::string variant;          ///< name, for Loader::load()
  std::string options;          ///< build options of the variant
  std::string kernel;           ///< name
  std::uint32_t arguments = 0;  ///< number of arguments
};

/// Returns all kernels of a pack; see kiln_pack_kernels().
inline std::vector<PackKernel> pack_kernels(const Pack &pack) {
  std::vector<PackKernel> all;
  kiln_pack_kernels(
      pack.get(),
      [](const kiln_pack_kernel *one, void *user) {
        static_cast<std::vector<PackKernel> *>(user)->push_back(
            {one->program, one->variant, one->options, one->kernel, one->arguments});
      },
      &all);
  return all;
}

/// Returns a hash of a program's contents; see kiln_loader_program_hash().
inline std::uint64_t program_hash(const Loader &loader, const std::string &program) {
  return kiln_loader_program_hash(loader.get(), program.c_str());
}

}  // namespace kiln
