// SPDX-License-Identifier: Apache-2.0
// Writes and reads an environment.d file, and a .lay file, which holds one path.
#include "builder/under_layer/enabled_layer.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <unistd.h>

#include <fmt/format.h>

#include "builder/base/this_process.hpp"
#include "builder/base/whole_file.hpp"

namespace kiln::builder {
namespace {

namespace fs = std::filesystem;

constexpr char kLayers[] = "OPENCL_LAYERS";
constexpr char kHeader[] =
    "# Written by 'kiln serve --enable'; 'kiln serve --disable' removes it.\n";
constexpr char kLibrary[] = "libkiln_layer.so";

bool is_list(const std::string &path) { return path.ends_with(".lay"); }

// Empty if there is no file.
std::string text_of(const std::string &path) { return read_whole_file(path).value_or(""); }

std::string last_layer(const std::string &line) {
  const std::string list = line.substr(0, line.find_first_of("\"\n"));
  const std::string last = list.substr(list.rfind(':') + 1);
  return last.ends_with(kLibrary) ? last : "";
}

// Returns the path of Kiln's layer in a file's text; empty if Kiln did not write it.
std::string layer_in(const std::string &path, const std::string &text) {
  if (is_list(path)) return last_layer(text);
  const std::string begin = std::string(kLayers) + "=\"";
  const std::size_t at = text.find(begin);
  if (!text.starts_with(kHeader) || at == std::string::npos) return "";
  return last_layer(text.substr(at + begin.size()));
}

// Returns the text of a file for these variables.
std::string text_for(const std::string &path, const Variables &variables) {
  if (!is_list(path)) return kHeader + variables_text(variables, "environment.d");
  const auto layers = std::find_if(variables.begin(), variables.end(),
                                   [](const auto &each) { return each.first == kLayers; });
  return last_layer(layers->second) + "\n";
}

// Fails if there is a file that is not Kiln's.
Status check_own(const std::string &path) {
  const std::string text = text_of(path);
  if (text.empty() || !layer_in(path, text).empty()) return {};
  return {Code::bad_argument, path + ": not written by 'kiln serve --enable'; it stays as it is"};
}

Status check_all_own(const std::vector<std::string> &paths) {
  for (const std::string &path : paths) {
    if (Status s = check_own(path); !s.ok()) return s;
  }
  return {};
}

Result<std::vector<std::string>> enabling_files(EnabledFor whom) {
  if (whom == EnabledFor::machine) {
    return std::vector<std::string>{"/etc/environment.d/kiln.conf", "/etc/OpenCL/layers/kiln.lay"};
  }
  std::string folder = variable("XDG_CONFIG_HOME");
  if (folder.empty() && !variable("HOME").empty()) folder = variable("HOME") + "/.config";
  if (folder.empty()) return Status(Code::bad_argument, "neither XDG_CONFIG_HOME nor HOME is set");
  return std::vector<std::string>{folder + "/environment.d/kiln.conf"};
}

}  // namespace

Result<std::vector<std::string>> enable_layer(EnabledFor whom, const Variables &variables) {
  auto paths = enabling_files(whom);
  if (!paths.ok()) return paths.status();
  if (Status s = check_all_own(*paths); !s.ok()) return s;
  for (const std::string &path : *paths) {
    std::error_code error;
    fs::create_directories(fs::path(path).parent_path(), error);
    if (error) return Status(Code::failed, fmt::format("{}: {}", path, error.message()));
    if (Status s = write_whole_file(path, text_for(path, variables)); !s.ok()) return s;
  }
  return paths;
}

Result<std::vector<std::string>> disable_layer(EnabledFor whom) {
  const auto paths = enabling_files(whom);
  if (!paths.ok()) return paths.status();
  if (Status s = check_all_own(*paths); !s.ok()) return s;
  std::vector<std::string> removed;
  for (const std::string &path : *paths) {
    if (unlink(path.c_str()) == 0) {
      removed.push_back(path);
    } else if (errno != ENOENT) {
      return Status(Code::failed, fmt::format("{}: {}", path, std::strerror(errno)));
    }
  }
  return removed;
}

std::vector<EnablingFile> enabled_layers() {
  std::vector<EnablingFile> found;
  for (const EnabledFor whom : {EnabledFor::user, EnabledFor::machine}) {
    const auto paths = enabling_files(whom);
    if (!paths.ok()) continue;
    for (const std::string &path : *paths) {
      const std::string layer = layer_in(path, text_of(path));
      if (!layer.empty()) found.push_back({path, layer, whom});
    }
  }
  return found;
}

}  // namespace kiln::builder
