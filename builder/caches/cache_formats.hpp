// SPDX-License-Identifier: Apache-2.0
// The caches that Kiln knows, and opening one by the name of its format.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "builder/caches/application_cache.hpp"

namespace kiln::builder {

struct CacheRequest {
  std::string format;  // one of cache_formats()
  std::string folder;  // need not exist
  // A cache that the application wrote, for any device, from which names and sources are read; may
  // be empty. The folder itself is read, too.
  std::string learn{};
  std::string include{};  // pyopencl: the folder of its headers; empty: the folder on Debian
};

// Returns the names of the formats: "opencv", "pyopencl".
const std::vector<std::string> &cache_formats();

// Opens a cache. Fails with Code::bad_argument for an unknown format.
Result<std::unique_ptr<ApplicationCache>> open_cache(const CacheRequest &request);

// Recognises the format of a cache by the names of its files. Fails with Code::failed if no format,
// or more than one, matches.
Result<std::string> recognise_cache(const std::string &folder);

}  // namespace kiln::builder
