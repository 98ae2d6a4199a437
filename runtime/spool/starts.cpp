// SPDX-License-Identifier: Apache-2.0
// Appends a line for each program that this process built, as one write.
#include "runtime/spool/starts.hpp"

#include <chrono>
#include <mutex>
#include <set>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kiln/packs/descriptor.hpp"
#include "kiln/packs/hash.hpp"
#include "kiln/packs/pack_folder.hpp"
#include "kiln/packs/text.hpp"

namespace kiln::layer {
namespace {

std::uint64_t this_start() {
  const std::uint64_t facts[] = {
      static_cast<std::uint64_t>(getpid()),
      static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count())};
  return packs::xxh3(facts, sizeof(facts));
}

// Of as much of the words as one read gives.
std::uint64_t this_command() {
  char words[4096];
  const packs::Descriptor file(open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC));
  if (!file) return 0;
  const auto size = packs::uninterrupted([&] { return read(file.get(), words, sizeof(words)); });
  return size < 0 ? 0 : packs::xxh3(words, static_cast<std::size_t>(size));
}

bool is_first(const std::string &program) {
  static std::mutex &mutex = *new std::mutex;
  static auto &noted = *new std::set<std::string>;
  const std::lock_guard<std::mutex> lock(mutex);
  return noted.insert(program).second;
}

void append_line(const std::string &path, const std::string &line) {
  const packs::Descriptor file(open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666));
  struct stat info {};
  if (!file || fstat(file.get(), &info) != 0 || info.st_size >= kMostOfStarts) return;
  (void)packs::write_line(file.get(), line.data(), line.size());
}

}  // namespace

void note_start(const std::string &spool, const std::string &program) {
  if (!is_first(program)) return;
  static const std::string prefix =
      packs::hex64(this_start()) + " " + packs::hex64(this_command()) + " ";
  append_line(spool + "/" + packs::kStartsFile, prefix + program + "\n");
}

void note_link(const std::string &spool, const std::string &program) {
  if (!is_first(program)) return;
  (void)mkdir(spool.c_str(), 0777);
  append_line(spool + "/" + packs::kLinksFile, program + "\n");
}

}  // namespace kiln::layer
