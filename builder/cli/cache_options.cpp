// SPDX-License-Identifier: Apache-2.0
// Declares the options with CLI11; the words for formats are checked while parsing.
#include "builder/cli/cache_options.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "builder/base/suggest.hpp"
#include "builder/cli/parse.hpp"

namespace kiln::cli {
namespace {

Status check_format(const std::string &word) {
  const auto &known = builder::cache_formats();
  if (std::find(known.begin(), known.end(), word) != known.end()) return {};
  return {Code::bad_argument,
          fmt::format("unknown format {}: {}", word, builder::expected_one_of(word, known))};
}

}  // namespace

CLI::Option *add_format_option(CLI::App &command, builder::CacheRequest *cache,
                               const char *otherwise) {
  const std::string text =
      fmt::format("Whose cache: {}{}", fmt::join(builder::cache_formats(), ", "), otherwise);
  return command.add_option("--as", cache->format, text)
      ->type_name("FORMAT")
      ->check(as_validator(check_format, ""));
}

void add_learning_options(CLI::App &command, builder::CacheRequest *cache) {
  command
      .add_option("--learn", cache->learn,
                  "Existing cache of the application, for any device, to read names (opencv) "
                  "and sources (pyopencl) from")
      ->type_name("FOLDER");
  command
      .add_option("--include", cache->include,
                  "PyOpenCL's folder of headers, as its applications name it; default: Debian's")
      ->type_name("FOLDER");
}

}  // namespace kiln::cli
