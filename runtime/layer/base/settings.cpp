// SPDX-License-Identifier: Apache-2.0
// Reads the environment, unless the process runs with another user's rights.
#include "runtime/layer/base/settings.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>

#include "kiln/packs/descriptor.hpp"
#include "runtime/layer/base/process.hpp"
#include "runtime/load/rungs.hpp"
#include "runtime/overlay/shared_folder.hpp"

namespace kiln::layer {
namespace {

std::vector<std::string> parts(const std::string &text) {
  std::vector<std::string> found;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find(kListSeparator, start), text.size());
    if (end > start) found.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return found;
}

// Drops missing files: places that the whole system shares are optional.
std::vector<std::string> present(std::vector<std::string> paths) {
  paths.erase(std::remove_if(paths.begin(), paths.end(),
                             [](const auto &path) { return !is_readable(path); }),
              paths.end());
  return paths;
}

std::vector<std::string> packs() {
  const std::vector<std::string> own = parts(variable("KILN_PACK"));
  if (!own.empty()) return own;
  return present(parts(variable("KILN_PACK_PATH", kSystemPacks)));
}

// An unknown word is the strictest one: a gate must not stand open for a slip of the pen.
Require required() {
  const std::string word = variable("KILN_REQUIRE");
  if (word.empty()) return Require::nothing;
  const auto *found = std::find(std::begin(kRequireWords), std::end(kRequireWords), word);
  if (found == std::end(kRequireWords)) {
    complain("KILN_REQUIRE=" + word + ": expected il, exact or final; taken as final");
    return Require::final;
  }
  return static_cast<Require>(1 + (found - std::begin(kRequireWords)));
}

// A shared folder that cannot be used is none, as an overlay.
void use_shared(Settings *made) {
  made->shared = variable("KILN_SHARED");
  made->keys = parts(variable("KILN_KEYS"));
  if (made->shared.empty()) return;
  const packs::Status status = runtime::own_overlay(made->shared.c_str(), &made->overlay);
  if (status.ok()) return;
  complain("KILN_SHARED is not used: " + status.message);
  made->shared.clear();
}

// An unknown word is the lowest rung, for the same reason.
void force_rung(Settings *made) {
  made->rung = variable("KILN_RUNG");
  if (made->rung.empty()) return;
  made->overlay.clear();
  made->shared.clear();
  if (runtime::leave_out_above(made->rung, &made->above_rung)) return;
  complain("KILN_RUNG=" + made->rung +
           ": expected exact, intermediate, il or source; taken as source");
  made->rung = "source";
  (void)runtime::leave_out_above(made->rung, &made->above_rung);
}

Settings read_settings() {
  Settings made;
  if (has_other_rights()) return made;
  made.spool = variable("KILN_SPOOL");
  made.record = variable("KILN_LAYER") == "record" && !made.spool.empty();
  made.serve = variable("KILN_LAYER") == "serve";
  made.packs = packs();
  made.overlay = variable("KILN_OVERLAY");
  use_shared(&made);
  made.tuned = variable("KILN_TUNED") != "0";
  made.report = variable("KILN_REPORT");
  if (!made.record) made.require = required();
  if (!made.record) force_rung(&made);
  made.report_folder = variable("KILN_REPORT_DIR");
  return made;
}

}  // namespace

const Settings &settings() {
  static const Settings &read = *new Settings(read_settings());
  return read;
}

const char *require_word() {
  const auto required = static_cast<std::size_t>(settings().require);
  return required == 0 ? "" : kRequireWords[required - 1];
}

void complain(const std::string &text) {
  const packs::NotCancelled here;
  std::fprintf(stderr, "kiln layer: %s\n", text.c_str());
}

void complain_once(const std::string &text) {
  static std::atomic<bool> done{false};
  if (!done.exchange(true)) complain(text);
}

}  // namespace kiln::layer
