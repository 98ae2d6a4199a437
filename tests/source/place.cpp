// SPDX-License-Identifier: Apache-2.0
#include "tests/source/place.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

namespace kiln::cases {
namespace {

namespace fs = std::filesystem;

void write_file(const fs::path &path, const std::string &text) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) return;
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t written = write(file, text.data() + at, text.size() - at);
    if (written <= 0) break;
    at += static_cast<std::size_t>(written);
  }
  close(file);
}

}  // namespace

std::string placed(std::string text, const fs::path &here) {
  for (std::size_t at = 0; (at = text.find(kHere, at)) != std::string::npos;) {
    text.replace(at, sizeof(kHere) - 1, here.string());
  }
  return text;
}

void put_on_disk(const std::vector<Entry> &entries, const fs::path &here) {
  for (const Entry &entry : entries) {
    const fs::path path = here / entry.path;
    std::error_code error;
    if (entry.kind == Kind::renamed) {
      fs::create_directories((here / entry.text).parent_path(), error);
      (void)rename(path.c_str(), (here / entry.text).c_str());
      continue;
    }
    if (entry.kind != Kind::removed) fs::create_directories(path.parent_path(), error);
    if (entry.kind == Kind::file) {
      write_file(path, placed(entry.text, here));
      continue;
    }
    if (unlink(path.c_str()) != 0 && errno == EISDIR) continue;
    if (entry.kind == Kind::symbolic_link) {
      if (symlink(entry.text.c_str(), path.c_str()) != 0) continue;
    } else if (entry.kind == Kind::hard_link) {
      if (link((here / entry.text).c_str(), path.c_str()) != 0) continue;
    }
  }
}

void write_out(const Case &example, const fs::path &folder, const std::string &about) {
  fs::create_directories(folder / "before");
  fs::create_directories(folder / "after");
  const fs::path here = fs::absolute(folder);
  put_on_disk(example.files, here / "before");
  put_on_disk(example.files, here / "after");
  put_on_disk(example.edit, here / "after");
  write_file(here / "source.cl", placed(example.source, here / "before"));
  write_file(here / "options", placed(options_of(example), here / "before") + "\n");
  for (std::size_t i = 0; i < example.headers.size(); ++i) {
    const std::string number = std::to_string(i);
    write_file(here / ("header-" + number + ".name"), example.headers[i].first);
    write_file(here / ("header-" + number + ".text"), example.headers[i].second);
    write_file(here / ("header-" + number + ".edited"), example.edited_headers[i].second);
  }
  if (!example.current.empty()) write_file(here / "current", example.current + "\n");
  write_file(here / "about.txt", about);
}

}  // namespace kiln::cases
