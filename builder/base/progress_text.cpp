// SPDX-License-Identifier: Apache-2.0
// Estimates the remaining time from the finished jobs, and formats it for people.
#include "builder/base/progress_text.hpp"

#include <cmath>

#include <fmt/format.h>

namespace kiln::builder {
namespace {

constexpr std::size_t kEnoughTimed = 3;
constexpr double kEnoughSeconds = 2;

std::string rate_text(double per_second) {
  const double per_minute = per_second * 60, per_hour = per_minute * 60;
  const bool slow = per_second < 1, very_slow = per_minute < 1;
  const double rate = very_slow ? per_hour : slow ? per_minute : per_second;
  return fmt::format("{:.{}f}/{}", rate, rate < 9.95 ? 1 : 0, very_slow ? "h" : slow ? "min" : "s");
}

std::string time_text(double seconds) {
  const double minutes = std::ceil(seconds / 60);
  if (seconds <= 59) return fmt::format("{:.0f} s", std::ceil(seconds));
  if (minutes < 60) return fmt::format("{:.0f} min", minutes);
  return fmt::format("{:.0f} h {:.0f} min", std::floor(minutes / 60), std::fmod(minutes, 60));
}

std::string printable(std::string text) {
  for (char &c : text) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = '?';
  }
  return text;
}

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

}  // namespace

std::string progress_text(const ProgressState &progress) {
  std::string text = fmt::format("[{}/{}]", progress.done, progress.all);
  std::string facts;
  const auto add = [&](const std::string &fact) { facts += (facts.empty() ? " " : ", ") + fact; };
  if (progress.timed >= kEnoughTimed && progress.seconds >= kEnoughSeconds) {
    const double rate = static_cast<double>(progress.timed) / progress.seconds;
    add(rate_text(rate));
    const std::size_t left = progress.all - std::min(progress.done, progress.all);
    if (left > 0) add(time_text(static_cast<double>(left) / rate) + " left");
  }
  if (progress.failed > 0) add(fmt::format("{} failed", progress.failed));
  if (progress.what.empty()) return text + facts;
  text += facts.empty() ? " " : facts + ": ";
  text += printable(progress.what);
  if (progress.running > 1) text += fmt::format(", and {} more", progress.running - 1);
  return text;
}

std::string count(std::uint64_t n, const std::string &noun) {
  if (n == 1) return "1 " + noun;
  const bool y = noun.ends_with("ry");  // a binary, an entry
  return fmt::format("{} {}{}", n, y ? noun.substr(0, noun.size() - 1) : noun, y ? "ies" : "s");
}

std::string cut_line(const std::string &line, std::size_t columns) {
  constexpr std::size_t kDots = 3;
  // `end` is the number of bytes to keep if the line is too long.
  std::size_t characters = 0, end = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (continues_character(line[i])) continue;
    if (characters + kDots <= columns) end = i;
    ++characters;
  }
  if (characters <= columns) return line;
  return line.substr(0, end) + std::string(std::min(kDots, columns), '.');
}

bool ProgressPace::passes(double now) {
  const bool is_first = last_ < 0;
  if (!is_first && now - last_ < kSilence) return false;
  last_ = now;
  return !is_first;
}

}  // namespace kiln::builder
