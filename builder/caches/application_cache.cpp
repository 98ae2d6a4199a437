// SPDX-License-Identifier: Apache-2.0
#include "builder/caches/application_cache.hpp"

#include <algorithm>

#include "builder/base/suggest.hpp"
#include "builder/caches/cache_files.hpp"
#include "builder/caches/ggml.hpp"
#include "builder/caches/opencv.hpp"
#include "builder/caches/pyopencl.hpp"

namespace kiln::builder {
namespace {

struct Format {
  const char *name;
  std::unique_ptr<ApplicationCache> (*open)(const CacheRequest &request);
  // Whether what stands under that name in a folder is of such a cache.
  bool (*has)(const std::string &folder, const std::string &name);
};

bool is_ggml(const std::string &, const std::string &name) {
  return name.ends_with(".clbin") && is_hex(std::string_view(name).substr(0, name.size() - 6), 64);
}

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
    {"ggml", [](const CacheRequest &request) { return open_ggml_cache(request.folder); }, is_ggml},
    {"opencv",
     [](const CacheRequest &request) { return open_opencv_cache(request.folder, request.learn); },
     is_opencv},
    {"pyopencl",
     [](const CacheRequest &request) {
       return open_pyopencl_cache(request.folder, request.include, request.learn);
     },
     is_pyopencl},
};

// Where a file's text begins at or behind `at`: at a directive `#line N "name"`.
std::size_t next_file(std::string_view source, std::size_t at) {
  constexpr std::string_view kDirective = "#line ";
  while ((at = source.find(kDirective, at)) != std::string_view::npos) {
    const bool begins = at == 0 || source[at - 1] == '\n';
    const std::size_t number = at + kDirective.size();
    const std::size_t name =
        std::min(source.find_first_not_of("0123456789", number), source.size());
    if (begins && name != number && source.substr(name, 2) == " \"") return at;
    at = number;
  }
  return std::string_view::npos;
}

}  // namespace

Result<std::string> own_text(const std::string &source) {
  const std::size_t first = next_file(source, 0);
  if (first == std::string::npos) return source;
  const std::size_t text = source.find('\n', first);
  // One file, as a manifest names it, or several.
  if (first == 0 && text != std::string::npos && next_file(source, text) == std::string::npos) {
    return source.substr(text + 1);
  }
  return Status(Code::requirement,
                "it includes files, and how the application's own text reads is not in the pack");
}

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
