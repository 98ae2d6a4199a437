// SPDX-License-Identifier: Apache-2.0
// Which applications' caches are known, and the opening of one by the word for its format.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "builder/caches/application_cache.hpp"

namespace kiln::builder {

struct CacheRequest {
  std::string format;  // a word of cache_formats()
  std::string folder;  // need not be there
  // A cache that the application wrote, for any device, to read names and sources from; may be
  // empty. The folder itself is looked at, too.
  std::string learn{};
  std::string include{};  // pyopencl: the folder of its headers; empty: where Debian has it
};

// The words for the formats: "opencv", "pyopencl".
const std::vector<std::string> &cache_formats();

// Fails with Code::bad_argument for a word that is none of them.
Result<std::unique_ptr<ApplicationCache>> open_cache(const CacheRequest &request);

// The format of a cache by its files' names. Fails with Code::failed if none, or more than one, is
// recognised.
Result<std::string> recognise_cache(const std::string &folder);

}  // namespace kiln::builder
