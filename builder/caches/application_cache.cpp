// SPDX-License-Identifier: Apache-2.0
// Recovers what an application gave to its driver from the flattened source of a pack.
#include "builder/caches/application_cache.hpp"

#include <algorithm>
#include <string_view>

namespace kiln::builder {
namespace {

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
                "it includes files, and the pack does not hold its original text");
}

}  // namespace kiln::builder
