// SPDX-License-Identifier: Apache-2.0
// OpenCV's cache: a folder for each device and driver, and in it a file for each source. The file's
// name contains those of OpenCV's module and of its kernel file, which do not reach the driver;
// they are taken from the names of files that an OpenCV wrote.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

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

// A file: the binaries of one source for one device, by build options.
struct OpencvEntry {
  std::string options;
  packs::Bytes binary;
};

// The entries of a file that is of the source with this hash. Fails with Code::bad_input if it is
// of another, or not as OpenCV writes it.
Result<std::vector<OpencvEntry>> read_opencv_file(packs::View file, std::string_view source_hash);

// A file with these entries, each options once; OpenCV finds all of them. Fails with
// Code::bad_input if it would not fit into offsets of 32 bits.
Result<std::string> opencv_file(const std::vector<OpencvEntry> &entries,
                                std::string_view source_hash);

// `learn`: as CacheRequest has it. Of its files the names alone are used.
std::unique_ptr<ApplicationCache> open_opencv_cache(const std::string &folder,
                                                    const std::string &learn);

}  // namespace kiln::builder
