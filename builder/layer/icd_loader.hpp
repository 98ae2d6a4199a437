// SPDX-License-Identifier: Apache-2.0
// The ICD loader that an application gets, and whether it takes layers. ocl-icd does since 2.3.0,
// Khronos's loader since 2020; the one that CUDA brings does not.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "builder/base/builder_status.hpp"

namespace kiln::builder {

struct IcdLoader {
  std::string path;  // with links resolved
  bool takes_layers = false;
};

// Looks at a loader's file; calls nothing in it. A loader takes layers if it knows their variable,
// OPENCL_LAYERS. Fails with Code::not_found or Code::io_error.
Result<IcdLoader> icd_loader_at(const std::string &path);

// Returns the loader that the dynamic linker finds for a program with this process's environment,
// without loading a driver. A program that brings its own loader gets another one. Fails with
// Code::no_opencl if there is none.
Result<IcdLoader> default_icd_loader();

// Returns the paths of ICD loaders for this process's architecture in the output of `ldconfig -p`.
std::vector<std::string> icd_loaders_listed(const std::string &ldconfig);

// Returns the first loader of the system that takes layers, or the one that KILN_ICD_LOADER names.
// Fails with Code::not_found if there is none, and with Code::bad_argument if the named one cannot
// be read or takes none.
Result<IcdLoader> loader_with_layers();

// What is put in front of the default loader, for an application that is to run under a layer.
struct LoaderChoice {
  std::optional<IcdLoader> found;  // the default loader, if there is one
  std::string preload;             // path for LD_PRELOAD; empty: the default loader is right
  std::string why_not;             // why no layer can be reached; empty: one can be
};
LoaderChoice choose_icd_loader();

}  // namespace kiln::builder
