// SPDX-License-Identifier: Apache-2.0
// MNN's OpenCL cache: one file, whose name the application chooses. It names a program after a
// kernel file of MNN's, which does not reach the driver; the names are taken from a file that an
// MNN of the same version wrote, for any device.
#pragma once

#include "builder/caches/application_cache.hpp"
#include "builder/caches/mnn_file.hpp"

namespace kiln::builder {

// What MNN makes of a device's strings. Fails with Code::requirement.
Result<MnnDevice> mnn_device(const runtime::Facts &device);

// Whether there is such a file.
bool is_mnn_file(const std::string &path);

// `learn`: such a file, or empty. Fails with Code::failed where the one or the other is there and
// is not as MNN writes it, and with Code::not_found for a file to learn from that is not there.
Result<std::unique_ptr<ApplicationCache>> open_mnn_cache(const std::string &path,
                                                         const std::string &learn);

}  // namespace kiln::builder
