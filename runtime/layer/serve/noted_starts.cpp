// SPDX-License-Identifier: Apache-2.0
// Keeps the lines of the driver's file in memory, and appends to both.
#include "runtime/layer/serve/noted_starts.hpp"

#include <map>
#include <mutex>

#include <fcntl.h>

#include "kiln/packs/bytes.hpp"
#include "kiln/packs/pack_folder.hpp"
#include "runtime/cached/started_programs.hpp"
#include "runtime/layer/base/build_report.hpp"
#include "runtime/layer/base/process.hpp"
#include "runtime/layer/base/settings.hpp"

namespace kiln::layer {
namespace {

// The file is begun anew when it is larger, in bytes.
constexpr std::size_t kLargestFile = 64u << 10;

// Guards the lines.
std::mutex &lines_mutex() {
  static std::mutex &mutex = *new std::mutex;
  return mutex;
}

std::string below(const cached::DriverKey &driver) {
  return packs::concat({cached::kNoted, "/", cached::driver_name(driver)});
}

// Returns the lines of a driver's file, as this process has read and added them. Makes no folder:
// most starts note nothing.
std::string &lines_of(const cached::DriverKey &driver) {
  static auto &known = *new std::map<std::string, std::string>;
  const auto [place, is_new] = known.try_emplace(below(driver));
  struct stat info {};
  runtime::Folder noted;
  if (is_new &&
      packs::status_at(packs::kWorkingFolder, (settings().overlay + place->first).c_str(), &info) &&
      cached::open_folder(settings().overlay, place->first, &noted).ok()) {
    place->second = cached::read_text(noted, packs::kStartsFile);
  }
  return place->second;
}

// Adds a line of this start, whose other words are given.
void add_line(const cached::DriverKey &driver, std::string_view words, std::string *lines) {
  const std::string line = packs::concat({this_process(), " ", words, "\n"});
  runtime::Folder noted;
  if (lines->find(line) != std::string::npos ||
      !cached::open_folder(settings().overlay, below(driver), &noted).ok()) {
    return;
  }
  if (lines->size() > kLargestFile) {
    (void)noted.remove(packs::kStartsFile);
    lines->clear();
  }
  *lines += line;
  packs::Descriptor file;
  struct stat info {};
  if (noted.open_file(packs::kStartsFile, O_WRONLY | O_APPEND | O_CREAT, &file, &info) == 0) {
    (void)packs::write_line(file.get(), line.data(), line.size());
  }
}

}  // namespace

bool varies_at_each_start(const cached::DriverKey &driver, const packs::Program &program) {
  const std::lock_guard<std::mutex> lock(lines_mutex());
  std::string &lines = lines_of(driver);
  const std::string command = packs::hex64(this_command());
  const std::string shape = packs::hex64(packs::xxh3(cached::shape_of(program)));
  const cached::Family family = cached::families_of(lines)[{command, shape}];
  add_line(driver, packs::concat({command, " ", program.name, " ", shape}), &lines);
  return family.is_varying() && family.programs.count(program.name) == 0;
}

void note_second_start(const cached::DriverKey &driver, const std::string &program) {
  const std::lock_guard<std::mutex> lock(lines_mutex());
  std::string &lines = lines_of(driver);
  const std::size_t at = lines.find(program);
  if (at == std::string::npos || lines.rfind(program) != at) return;
  const std::size_t begin = lines.rfind('\n', at) + 1;  // 0 for the first line
  const std::string line = lines.substr(begin, lines.find('\n', at) - begin);
  add_line(driver, std::string_view(line).substr(line.find(' ') + 1), &lines);
}

}  // namespace kiln::layer
