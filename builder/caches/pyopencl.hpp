// SPDX-License-Identifier: Apache-2.0
// PyOpenCL's cache: a folder for each program and device, with the binary, the source and a pickle.
// The key contains the version of PyOpenCL; Kiln writes keys of version 2022.3.1. If a program
// includes files, its own text is read from a cache that PyOpenCL wrote.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "builder/caches/application_cache.hpp"

namespace kiln::builder {

// Where Debian has the headers that PyOpenCL names in the options of every program.
inline constexpr char kPyopenclInclude[] = "/usr/lib/python3/dist-packages/pyopencl/cl";

// Returns the source as the application wrote it. When PyOpenCL was recorded while its cache was
// on, it had added a constant with another name at each start, so that no driver finds the program
// in its own cache.
std::string pyopencl_source(const std::string &source);

// Returns the options followed by -I with the folder of headers, which a pack does not have.
std::string pyopencl_options(const std::string &options, const std::string &include);

// Returns a string as Python writes it, or nothing if the string has characters outside ASCII:
// Python writes some of them as they are and some as escapes.
std::optional<std::string> python_literal(const std::string &text);

// Returns the name of the folder for a program whose source is the application's own text. Fails
// with Code::requirement.
Result<std::string> pyopencl_key(const CachedProgram &program, const runtime::Facts &device,
                                 const std::string &include);

// Returns the contents of the file `info`: the log of the build, and a list of included files,
// which is empty.
std::string pyopencl_info(const std::string &log);

// Opens the cache. `include`: PyOpenCL's folder of headers; empty: the folder on Debian. `learn` is
// as in CacheRequest.
std::unique_ptr<ApplicationCache> open_pyopencl_cache(const std::string &folder,
                                                      const std::string &include,
                                                      const std::string &learn);

}  // namespace kiln::builder
