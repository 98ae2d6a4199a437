// SPDX-License-Identifier: Apache-2.0
// The ICD loader that an application gets, and whether it takes Kiln's layer. ocl-icd does since
// 2.3.0, Khronos's loader since 2020; the one that CUDA brings does not.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "builder/base/builder_status.hpp"

namespace kiln::builder {

// Why an application does not reach a layer that its ICD loader takes, so far as is known.
inline constexpr char kPastTheLayer[] =
    "it uses no OpenCL, or brings a driver or an ICD loader of its own";

struct IcdLoader {
  std::string path;           // with links resolved
  bool knows_layers = false;  // it has the name of their variable, OPENCL_LAYERS
  bool takes_layer = false;   // it called the layer
};

// Returns "PATH does not take layers", or "PATH does not take Kiln's layer" if it may take others.
std::string refusal_of(const IcdLoader &loader);

// Asks a loader: a child process calls it with `layer` as the only layer and without the system's
// drivers, and with them if it did not take the layer then. A loader that does not know layers is
// not called, as it would start the drivers; one that cannot be called is believed to take the
// layer, and so is one that knows layers if `layer` is empty. Call from a single-threaded process.
// Fails with Code::not_found or Code::io_error.
Result<IcdLoader> icd_loader_at(const std::string &path, const std::string &layer);

// Asks the loader that the dynamic linker finds for a program with this process's environment, in
// the same way. A program that brings its own loader gets another one. Fails with Code::no_opencl
// if there is none.
Result<IcdLoader> default_icd_loader(const std::string &layer);

// Returns the paths of ICD loaders for this process's architecture in the output of `ldconfig -p`.
std::vector<std::string> icd_loaders_listed(const std::string &ldconfig);

// Returns the first loader of the system that takes the layer, or the one that KILN_ICD_LOADER
// names. Fails with Code::not_found if there is none, and with Code::bad_argument if the named one
// cannot be read or does not take it.
Result<IcdLoader> loader_with_layer(const std::string &layer);

// What is put in front of the default loader, for an application that is to run under a layer.
struct LoaderChoice {
  std::optional<IcdLoader> found;  // the default loader, if there is one
  std::string preload;             // path for LD_PRELOAD; empty: the default loader is right
  std::string why_not;             // why the layer cannot be reached; empty: it can be
};
LoaderChoice choose_icd_loader(const std::string &layer);

}  // namespace kiln::builder
