// SPDX-License-Identifier: Apache-2.0
// Builds a variant's source, which may be of a program that is linked of several, and asks what the
// driver knows of kernels.
#pragma once

#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "runtime/load/build.hpp"

namespace kiln::builder {

// Builds as runtime::build_program() does from source. Compiles the parts of a linked program
// (packs::linked_source) one by one and links them with `options`; `working` is not used for them.
// If a part fails, the log is that part's.
runtime::BuildOutcome build_source(const runtime::Device &device, cl_context context,
                                   packs::View source, std::string_view options,
                                   const std::vector<runtime::ExpectedKernel> &expected,
                                   std::string_view working = {});

// Returns a row for each kernel: the members of packs::KernelFacts, in their order.
nlohmann::json kernel_rows(const runtime::Device &device,
                           const std::vector<runtime::Handle<cl_kernel>> &kernels);

}  // namespace kiln::builder
