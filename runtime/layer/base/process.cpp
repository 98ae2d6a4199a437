// SPDX-License-Identifier: Apache-2.0
// For POSIX; Linux's /proc tells of the process.
#include "runtime/layer/base/process.hpp"

#include <cstdlib>
#include <cstring>
#include <ctime>

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kiln/packs/bytes.hpp"
#include "kiln/packs/files.hpp"

extern "C" char **environ;

namespace kiln::layer {

std::string variable(const char *name, const char *otherwise) {
  const char *value = getenv(name);
  return value == nullptr ? otherwise : value;
}

const char *const *all_variables() { return environ; }

bool has_other_rights() { return getauxval(AT_SECURE) != 0; }

void stay_loaded() {}

std::chrono::microseconds age_of_process() {
  char text[1024];
  const packs::Descriptor file(packs::open_at(packs::kWorkingFolder, "/proc/self/stat", O_RDONLY));
  const auto size = packs::uninterrupted([&] { return read(file.get(), text, sizeof(text) - 1); });
  if (size <= 0) return {};
  text[size] = '\0';
  const char *place = std::strrchr(text, ')');  // ends the name, which may have blanks
  constexpr int kFieldsBetween = 20;            // proc(5): "starttime"
  for (int i = 0; place != nullptr && i < kFieldsBetween; ++i) place = std::strchr(place + 1, ' ');
  struct timespec now {};
  if (place == nullptr || clock_gettime(CLOCK_BOOTTIME, &now) != 0) return {};
  const long long ticks = std::strtoll(place, nullptr, 10);
  const std::chrono::microseconds began(ticks * 1'000'000 / sysconf(_SC_CLK_TCK));
  return std::chrono::seconds(now.tv_sec) + std::chrono::microseconds(now.tv_nsec / 1000) - began;
}

// As much as one read returns.
std::uint64_t this_command() {
  char words[4096];
  const packs::Descriptor file(
      packs::open_at(packs::kWorkingFolder, "/proc/self/cmdline", O_RDONLY));
  if (!file) return 0;
  const auto size = packs::uninterrupted([&] { return read(file.get(), words, sizeof(words)); });
  return size < 0 ? 0 : packs::xxh3(words, static_cast<std::size_t>(size));
}

bool is_readable(const std::string &path) { return access(path.c_str(), R_OK) == 0; }

void make_shared_folder(const std::string &path) { (void)mkdir(path.c_str(), 0777); }

int open_to_append(const std::string &path) {
  return packs::open_at(packs::kWorkingFolder, path.c_str(), O_WRONLY | O_APPEND | O_CREAT, 0666);
}

}  // namespace kiln::layer
