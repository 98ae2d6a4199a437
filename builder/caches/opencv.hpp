// SPDX-License-Identifier: Apache-2.0
// OpenCV's cache: a folder for each device and driver, and in it a file for each source. The file's
// name contains those of OpenCV's module and of its kernel file, which do not reach the driver;
// they are taken from the names of files that an OpenCV wrote.
#pragma once

#include "builder/caches/application_cache.hpp"

namespace kiln::builder {

// The device's folder. Fails with Code::requirement.
Result<std::string> opencv_folder(const runtime::Facts &device);

// What OpenCV may call a source: first the MD5 digest of a kernel that comes with OpenCV, as its
// build computes it of the text as C string literals; then the CRC of one that an application has
// named itself.
std::vector<std::string> opencv_source_hashes(const std::string &source);

// The hash in a file's name, "imgproc--resize_bd15...31.bin"; empty if the name has another form.
std::string hash_in_opencv_name(const std::string &name);

// `learn`: as CacheRequest has it. Of its files the names alone are used.
std::unique_ptr<ApplicationCache> open_opencv_cache(const std::string &folder,
                                                    const std::string &learn);

}  // namespace kiln::builder
