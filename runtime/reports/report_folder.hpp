// SPDX-License-Identifier: Apache-2.0
// Lines of JSON in a folder (KILN_REPORT_DIR), for any program that collects logs: a file for each
// process, bounded in number and size, the oldest out first, and no line with a folder's name.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>

#include "kiln/packs/files.hpp"

namespace kiln::runtime {

// The lines of this process. Several processes may use one folder at once. Thread-safe.
class ReportFolder {
 public:
  // A load report has some 500 bytes, so that a file holds a hundred loads and the folder some
  // thousand starts' worth of new lines between two visits of a collector: 4 MiB together.
  static constexpr std::size_t kMaxFiles = 64;
  static constexpr std::size_t kMaxBytes = std::size_t{64} << 10;  // of a file

  // Opens the folder, and makes it, for this user alone, if its parent exists. Returns 0 or errno.
  int open(const char *path);

  // Appends the line with a line end, whole or not at all. Begins a file with the first line, after
  // a fork, when the file is full, and when it was removed; then removes the oldest files beyond
  // kMaxFiles. Returns 0 or errno; EFBIG for a line that no file may hold.
  int append(std::string line);

 private:
  int begin();
  int write(const std::string &line);
  void remove_oldest();

  std::mutex mutex_;
  int open_folder();

  std::string path_;
  packs::KeptDescriptor folder_;
  packs::KeptDescriptor file_;
  std::string name_;                 // of the file
  long owner_ = 0;                   // process that began the file
  std::vector<std::string> others_;  // names of the files when this one was begun, oldest first
};

// Returns the path of this process's executable; empty if the system does not tell.
std::string executable_path();

// Removes the names of folders from a path or a sentence: from the first absolute path to the last
// slash, since a blank may be part of a name. Folders' names tell who the user is.
std::string without_folders(std::string_view text);

}  // namespace kiln::runtime
