// SPDX-License-Identifier: Apache-2.0
// The cache of llama.cpp's OpenCL backend, since its pull request 26050: a file for each program
// and device, all in one folder. The functions of values are pure.
#pragma once

#include "builder/caches/application_cache.hpp"

namespace kiln::builder {

// The file's name for a program on a device. Fails with Code::requirement.
Result<std::string> ggml_file_name(const CachedProgram &program, const runtime::Facts &device);

std::string ggml_file(packs::View binary);

// The binary in such a file. Fails with Code::bad_input for any other.
Result<packs::Bytes> read_ggml_file(packs::View file);

std::unique_ptr<ApplicationCache> open_ggml_cache(const std::string &folder);

}  // namespace kiln::builder
