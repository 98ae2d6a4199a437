// SPDX-License-Identifier: Apache-2.0
// Writes the manifest as text, so that the checks and messages are those of any manifest.
#include "builder/manifest/sources.hpp"

#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "builder/base/whole_file.hpp"
#include "builder/manifest/manifest.hpp"
#include "builder/manifest/toml_reader.hpp"
#include "runtime/source/build_options.hpp"

namespace kiln::builder {
namespace {

namespace fs = std::filesystem;

fs::path whole(const fs::path &path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  return normal_path(error ? path : absolute);
}

fs::path common_folder(const std::vector<fs::path> &files) {
  fs::path folder = whole(files.front()).parent_path();
  for (const fs::path &file : files) {
    const fs::path other = whole(file).parent_path();
    fs::path shared;
    for (auto a = folder.begin(), b = other.begin();
         a != folder.end() && b != other.end() && *a == *b; ++a, ++b) {
      shared /= *a;
    }
    folder = shared;
  }
  return folder;
}

// Returns the folder, relative to the working directory where it is below.
fs::path shown(const fs::path &folder) {
  const fs::path near = folder.lexically_proximate(whole("."));
  return near.empty() || *near.begin() == ".." ? folder : near;
}

// Strings and arrays of strings are written alike in JSON and in TOML.
std::string toml_text(const nlohmann::json &value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

fs::path path_for_sources(const Sources &sources) {
  const fs::path folder = normal_path(shown(common_folder(sources.files)));
  return folder == "." ? "arguments" : folder / "arguments";
}

Result<Manifest> manifest_of(const Sources &sources) {
  const auto words = source::option_words(sources.options);
  if (!words) {
    return Status(Code::bad_input, fmt::format("a quote stays open in the build options {}",
                                               in_quotes(sources.options)));
  }
  const fs::path folder = common_folder(sources.files);
  std::vector<std::string> options, folders;
  for (const auto &word : *words) options.push_back(word.text);
  for (const fs::path &one : sources.include_dirs) {
    std::error_code error;
    if (!fs::is_directory(one, error)) {
      return Status(Code::bad_input, file_error(one.generic_string(), "no such folder"));
    }
    folders.push_back(whole(one).lexically_relative(folder).generic_string());
  }
  std::set<std::string> names;
  std::string text = "schema = 1\n";
  for (const fs::path &file : sources.files) {
    const std::string shown_file = file.generic_string();
    const std::string name = sources.program.empty() ? file.stem().string() : sources.program;
    std::error_code error;
    if (!fs::is_regular_file(file, error)) {
      return Status(Code::bad_input, file_error(shown_file, "no such file"));
    }
    if (!is_name(name)) {
      return Status(Code::bad_input,
                    file_error(shown_file, fmt::format("{} is no name of a program: {}",
                                                       in_quotes(name), kNameRule)));
    }
    if (!names.insert(name).second) {
      return Status(Code::bad_input,
                    file_error(shown_file, fmt::format("another source gives the program {}, too",
                                                       in_quotes(name))));
    }
    text += fmt::format(
        "[program.{}]\nsource = {}\nkernels = \"all\"\noptions = {}\ninclude_dirs = {}\n",
        toml_text(name), toml_text(whole(file).lexically_relative(folder).generic_string()),
        toml_text(options), toml_text(folders));
  }
  return parse_manifest(text, path_for_sources(sources));
}

}  // namespace kiln::builder
