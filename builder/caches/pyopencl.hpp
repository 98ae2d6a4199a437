// SPDX-License-Identifier: Apache-2.0
// PyOpenCL's cache: a folder for each program and device, with the binary, the source and a pickle.
// The key has PyOpenCL's version in it; this is that of version 2022.3.1. If a program includes
// files, its own text is read from a cache that PyOpenCL wrote.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "builder/caches/application_cache.hpp"

namespace kiln::builder {

// Where Debian has the headers that PyOpenCL names in the options of every program.
inline constexpr char kPyopenclInclude[] = "/usr/lib/python3/dist-packages/pyopencl/cl";

// The source as the application wrote it: where PyOpenCL was recorded with its cache, it had added
// a constant of another name each time, so that no driver finds the program in a cache of its own.
std::string pyopencl_source(const std::string &source);

// The options with the folder of headers, which a pack does not have, behind them.
std::string pyopencl_options(const std::string &options, const std::string &include);

// A string as Python writes it; nothing for one with other characters than ASCII's, of which Python
// writes some as they are and some as escapes.
std::optional<std::string> python_literal(const std::string &text);

// The name of the folder for a program, of which the application's own text is the source. Fails
// with Code::requirement.
Result<std::string> pyopencl_key(const CachedProgram &program, const runtime::Facts &device,
                                 const std::string &include);

// The file `info`: that the program includes no files, and the log of its build.
std::string pyopencl_info(const std::string &log);

// `include`: PyOpenCL's folder of headers; empty: Debian's. `learn`: as CacheRequest has it.
std::unique_ptr<ApplicationCache> open_pyopencl_cache(const std::string &folder,
                                                      const std::string &include,
                                                      const std::string &learn);

}  // namespace kiln::builder
