// SPDX-License-Identifier: Apache-2.0
// Names files by time, so that the first name is the oldest. A name's time is never before those of
// the other files: a device whose clock went back would remove its new files first.
#include "runtime/reports/report_folder.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include <fcntl.h>
#include <unistd.h>

#include "kiln/packs/atomic_file.hpp"
#include "kiln/packs/text.hpp"
#ifdef _WIN32
#include "packs/base/windows.hpp"
#endif

namespace kiln::runtime {
namespace {

constexpr std::string_view kPrefix = "kiln-";
constexpr std::string_view kSuffix = ".jsonl";
constexpr std::size_t kDigits = 16;
constexpr std::size_t kNameSize = kPrefix.size() + kDigits + 1 + kDigits + kSuffix.size();

bool is_report(const std::string &name) {
  return name.size() == kNameSize && name.compare(0, kPrefix.size(), kPrefix) == 0 &&
         name.compare(kNameSize - kSuffix.size(), kSuffix.size(), kSuffix) == 0;
}

// Returns microseconds since 1970, or a later time than the name's.
std::uint64_t time_after(const std::string &last) {
  const auto now =
      static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(
                                     std::chrono::system_clock::now().time_since_epoch())
                                     .count());
  if (last.empty()) return now;
  return std::max<std::uint64_t>(
      now, std::strtoull(last.substr(kPrefix.size(), kDigits).c_str(), nullptr, 16) + 1);
}

bool ends_word(char c) {
  return std::string_view(" \t\n'\"(=:,;<").find(c) != std::string_view::npos;
}

#ifdef _WIN32
constexpr std::string_view kSeparators = "/\\";
#else
constexpr std::string_view kSeparators = "/";
#endif

// Returns whether the text begins with an absolute path.
bool begins_with_path(std::string_view text) {
#ifdef _WIN32
  if (text.size() > 2 && text[1] == ':') text.remove_prefix(2);
#endif
  return kSeparators.find(text[0]) != std::string_view::npos;
}

}  // namespace

int ReportFolder::open(const char *path) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!packs::make_folder(path) && errno != EEXIST) return errno;
  path_ = path;
  return open_folder();
}

int ReportFolder::open_folder() {
  folder_.keep(packs::open_folder(path_.c_str(), true));
  return folder_ ? 0 : errno;
}

int ReportFolder::begin() {
  others_.clear();
  if (folder_.get() < 0) {  // the application has closed it
    if (const int error = open_folder(); error != 0) return error;
  }
  if (!packs::list_folder(folder_.get(), &others_)) return errno;
  others_.erase(std::remove_if(others_.begin(), others_.end(),
                               [](const std::string &name) { return !is_report(name); }),
                others_.end());
  std::sort(others_.begin(), others_.end());
  name_ = packs::concat({kPrefix, packs::hex64(time_after(others_.empty() ? "" : others_.back())),
                         "-", packs::hex64(packs::unique_number()), kSuffix});
  file_.keep(packs::open_at_itself(folder_.get(), name_.c_str(),
                                   O_WRONLY | O_APPEND | O_CREAT | O_EXCL, 0666));
  owner_ = static_cast<long>(getpid());
  return file_ ? 0 : errno;
}

int ReportFolder::write(const std::string &line) {
  struct stat before {};
  if (!packs::status_of(file_.get(), &before)) return errno;
  if (packs::write_line(file_.get(), line.data(), line.size())) return 0;
  const int error = errno;
  (void)!ftruncate(file_.get(), before.st_size);  // a part of a line
  return error;
}

void ReportFolder::remove_oldest() {
  for (std::size_t i = 0; i + kMaxFiles <= others_.size(); ++i) {
    packs::remove_at(folder_.get(), others_[i].c_str());
  }
  others_ = {};
}

int ReportFolder::append(std::string line) {
  line += '\n';
  if (line.size() > kMaxBytes) return EFBIG;
  const std::lock_guard<std::mutex> lock(mutex_);
  struct stat now {};
  const bool goes_on = file_ && owner_ == static_cast<long>(getpid()) &&
                       packs::status_of(file_.get(), &now) && now.st_nlink != 0 &&
                       static_cast<std::size_t>(now.st_size) + line.size() <= kMaxBytes;
  if (goes_on) return write(line);
  if (const int error = begin(); error != 0) return error;
  const int error = write(line);
  if (error == 0) {
    remove_oldest();
  } else {  // a full disk must not push out the lines that are there
    file_.keep(-1);
    packs::remove_at(folder_.get(), name_.c_str());
  }
  return error;
}

std::string executable_path() {
#ifdef __linux__
  char path[4096];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof(path));
  return std::string(path, size > 0 ? static_cast<std::size_t>(size) : 0);
#elif defined(_WIN32)
  wchar_t path[4096];
  const DWORD size = GetModuleFileNameW(nullptr, path, 4096);
  return size == 0 || size == 4096 ? std::string() : packs::narrow(path);
#else
  return {};
#endif
}

std::string without_folders(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((i != 0 && !ends_word(text[i - 1])) || !begins_with_path(text.substr(i))) continue;
    return packs::concat({text.substr(0, i), text.substr(text.find_last_of(kSeparators) + 1)});
  }
  return std::string(text);
}

}  // namespace kiln::runtime
