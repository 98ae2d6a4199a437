// SPDX-License-Identifier: Apache-2.0
#include "runtime/layer/settings.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace kiln::layer {
namespace {

std::string variable(const char *name) {
  const char *value = secure_getenv(name);
  return value == nullptr ? "" : value;
}

std::vector<std::string> parts(const std::string &text) {
  std::vector<std::string> found;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find(':', start), text.size());
    if (end > start) found.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return found;
}

Settings read_settings() {
  Settings made;
  made.spool = variable("KILN_SPOOL");
  made.record = variable("KILN_LAYER") == "record" && !made.spool.empty();
  made.packs = parts(variable("KILN_PACK"));
  made.overlay = variable("KILN_OVERLAY");
  made.report = variable("KILN_REPORT");
  return made;
}

}  // namespace

const Settings &settings() {
  static const Settings &read = *new Settings(read_settings());
  return read;
}

void complain(const std::string &text) { std::fprintf(stderr, "kiln layer: %s\n", text.c_str()); }

}  // namespace kiln::layer
