// SPDX-License-Identifier: Apache-2.0
// The clock, the terminal and its width.
#include "builder/cli/progress.hpp"

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <sys/ioctl.h>
#include <unistd.h>

#include "builder/base/clock.hpp"
#include "builder/inspect/printable.hpp"

namespace kiln::cli {
namespace {

constexpr std::size_t kUsualColumns = 80;

bool line_shown = false;

bool is_terminal() {
  const char *kind = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && (kind == nullptr || std::string_view(kind) != "dumb");
}

std::size_t columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col
                                                                         : kUsualColumns;
}

double now_in_seconds() {
  return std::chrono::duration<double>(builder::Clock::now().time_since_epoch()).count();
}

}  // namespace

void show_progress(const builder::ProgressState &progress) {
  static builder::ProgressPace pace;
  const std::string text = builder::printable_line(builder::progress_text(progress));
  if (is_terminal()) {
    line_shown = true;
    std::fprintf(stderr, "\r\033[K%s", builder::cut_line(text, columns() - 1).c_str());
    std::fflush(stderr);
  } else if (pace.passes(now_in_seconds())) {
    std::fprintf(stderr, "%s: %s\n", kToolName, text.c_str());
  }
}

void progress(const std::string &what, std::size_t done, std::size_t all) {
  static builder::Clock::time_point start;
  static std::size_t before = 0, before_all = 0;
  if (done == 0 || done < before || all != before_all) {
    start = builder::Clock::now();
    before_all = all;
  }
  before = done;
  show_progress({done, all, done, builder::milliseconds_since(start) / 1000, 0, 1, what});
}

void end_progress() {
  if (!line_shown) return;
  line_shown = false;
  clear_progress();
}

void clear_progress() {
  if (is_terminal()) std::fputs("\r\033[K", stderr);
}

}  // namespace kiln::cli
