// SPDX-License-Identifier: Apache-2.0
// OpenCV's cache: a folder for each device and driver, with one file for each source. The name of
// the file contains the names of OpenCV's module and kernel file. The driver never sees these two
// names, so they are taken from files that an OpenCV wrote.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "builder/caches/application_cache.hpp"

namespace kiln::builder {

// Returns the name of the device's folder. Fails with Code::requirement.
Result<std::string> opencv_folder(const runtime::Facts &device);

// Returns the hashes by which OpenCV may name a source: first, for a kernel that comes with OpenCV,
// the MD5 digest that the build of OpenCV computes from the text as C string literals; then, for a
// source that an application named itself, its CRC.
std::vector<std::string> opencv_source_hashes(const std::string &source);

// Returns the hash in the name of a file, "imgproc--resize_bd15...31.bin"; empty if the name has
// another form.
std::string hash_in_opencv_name(const std::string &name);

// One entry of a file, which holds the binaries of one source for one device by build options.
struct OpencvEntry {
  std::string options;
  packs::Bytes binary;
};

// Reads the entries of a file. Fails with Code::bad_input if the file belongs to a source with
// another hash, or is not as OpenCV writes it.
Result<std::vector<OpencvEntry>> read_opencv_file(packs::View file, std::string_view source_hash);

// Returns a file with these entries, in which OpenCV finds all of them; each entry has other
// options. Fails with Code::bad_input if the file would need offsets of more than 32 bits.
Result<std::string> opencv_file(const std::vector<OpencvEntry> &entries,
                                std::string_view source_hash);

// Opens the cache. Uses only the names of the files in `learn`, which is as in CacheRequest.
std::unique_ptr<ApplicationCache> open_opencv_cache(const std::string &folder,
                                                    const std::string &learn);

}  // namespace kiln::builder
