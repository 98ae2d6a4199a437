// SPDX-License-Identifier: Apache-2.0
// The table of formats: a new format is a new row here.
#include "builder/caches/cache_formats.hpp"

#include <algorithm>

#include "builder/base/names.hpp"
#include "builder/caches/opencv.hpp"
#include "builder/caches/pyopencl.hpp"

namespace kiln::builder {
namespace {

using Opened = Result<std::unique_ptr<ApplicationCache>>;

struct Format {
  const char *name;
  Opened (*open)(const CacheRequest &request);
  // Whether the entry `name` of a folder belongs to a cache of this format.
  bool (*has)(const std::string &folder, const std::string &name);
};

bool is_opencv(const std::string &folder, const std::string &name) {
  const std::vector<std::string> files = names_in(folder + "/" + name);
  return std::any_of(files.begin(), files.end(),
                     [](const std::string &file) { return !hash_in_opencv_name(file).empty(); });
}

bool is_pyopencl(const std::string &folder, const std::string &name) {
  const std::vector<std::string> files = names_in(folder + "/" + name);
  return is_hex(name, 32) && std::find(files.begin(), files.end(), "info") != files.end();
}

constexpr Format kFormats[] = {
    {"opencv",
     [](const CacheRequest &request) -> Opened {
       return open_opencv_cache(request.folder, request.learn);
     },
     is_opencv},
    {"pyopencl",
     [](const CacheRequest &request) -> Opened {
       return open_pyopencl_cache(request.folder, request.include, request.learn);
     },
     is_pyopencl},
};

}  // namespace

const std::vector<std::string> &cache_formats() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Format &format : kFormats) all.emplace_back(format.name);
    return all;
  }();
  return names;
}

Result<std::unique_ptr<ApplicationCache>> open_cache(const CacheRequest &request) {
  for (const Format &known : kFormats) {
    if (request.format == known.name) return known.open(request);
  }
  return Status(Code::bad_argument, "unknown format " + request.format + ": " +
                                        expected_one_of(request.format, cache_formats()));
}

Result<std::string> recognise_cache(const std::string &folder) {
  std::string found;
  for (const std::string &name : names_in(folder)) {
    for (const Format &format : kFormats) {
      if (found == format.name || !format.has(folder, name)) continue;
      if (!found.empty()) {
        return Status(Code::failed, folder + ": it has files of " + found + "'s cache and of " +
                                        format.name + "'s");
      }
      found = format.name;
    }
  }
  if (!found.empty()) return found;
  return Status(Code::failed, folder + ": no cache of a format that is known: " +
                                  expected_one_of("", cache_formats()));
}

}  // namespace kiln::builder
