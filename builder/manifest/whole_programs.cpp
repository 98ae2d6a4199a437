// SPDX-License-Identifier: Apache-2.0
// Finds the files that match a pattern, and makes a program for each file and choice of options.
#include "builder/manifest/whole_programs.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fnmatch.h>

#include "builder/manifest/variant.hpp"

namespace kiln::builder {
namespace {

namespace fs = std::filesystem;

constexpr char kKernelsRule[] = "expected kernels = \"all\" or an array of names";

// Reads `kernels`; empty means all kernels of the source.
std::vector<packs::Kernel> read_kernels(const TableReader &table) {
  std::vector<packs::Kernel> kernels;
  const toml::node &node = *table.find("kernels");
  const auto *all = node.as_string();
  if (all != nullptr && all->get() == "all") return kernels;
  if (!node.is_array() || node.as_array()->empty()) {
    table.fail(position_of(node), fmt::format("bad \"kernels\" in {}", table.label()),
               kKernelsRule);
  }
  for (const auto &name : table.strings("kernels")) {
    if (!is_kernel_name(name.value)) {
      table.fail(name.at, fmt::format("bad kernel {} in {}", in_quotes(name.value), table.label()),
                 "expected an OpenCL C identifier");
    }
    const auto same = [&](const packs::Kernel &kernel) { return kernel.name == name.value; };
    if (std::any_of(kernels.begin(), kernels.end(), same)) {
      table.fail(name.at, fmt::format("kernel {} is in {} twice", name.value, table.label()),
                 "expected each kernel once");
    }
    kernels.push_back({name.value, 0, ""});
  }
  return kernels;
}

std::vector<fs::path> matching_files(const TableReader &table, const Located<std::string> &source,
                                     const std::set<fs::path> &taken) {
  const fs::path pattern(source.value);
  const fs::path folder = table.folder(
      {pattern.has_parent_path() ? pattern.parent_path().string() : std::string("."), source.at});
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator i(folder, error), end; !error && i != end; i.increment(error)) {
    const fs::path name = i->path().filename();
    const fs::path file = (folder / name).lexically_normal();
    if (fnmatch(pattern.filename().c_str(), name.c_str(), FNM_PERIOD) != 0) continue;
    std::error_code ignored;  // skips entries whose type is unknown, such as dangling links
    if (i->is_regular_file(ignored) && taken.count(file) == 0) found.push_back(file);
  }
  if (error) {
    table.fail(source.at,
               fmt::format("cannot list {}: {}", folder.generic_string(), error.message()),
               "expected a folder that can be read");
  }
  if (found.empty()) {
    table.fail(source.at, fmt::format("no file is called {}", in_quotes(source.value)),
               "expected a file in " + folder.generic_string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

struct Source {
  std::string name;
  fs::path file;
};

std::vector<Source> read_sources(const TableReader &table, const std::string &name,
                                 const std::set<fs::path> &taken) {
  if (!has_pattern(table)) {
    const auto file = table.file("source");
    if (!file) table.missing("source", "expected source = \"a file\", or \"*.cl\" for several");
    return {{name, *file}};
  }
  const Located<std::string> source = *table.string("source");
  std::vector<Source> found;
  for (const fs::path &file : matching_files(table, source, taken)) {
    const std::string stem = file.stem().string();
    if (!is_name(stem)) {
      table.fail(source.at, fmt::format("{} gives no name of a program", in_quotes(stem)),
                 kNameRule);
    }
    found.push_back({stem, file});
  }
  return found;
}

}  // namespace

bool has_whole_programs(const TableReader &table) { return table.find("kernels") != nullptr; }

bool has_pattern(const TableReader &table) {
  const auto source = table.string("source");
  return source &&
         fs::path(source->value).filename().string().find_first_of("*?[") != std::string::npos;
}

std::vector<ManifestProgram> read_whole_programs(const ManifestText &document,
                                                 const TableReader &table, const std::string &name,
                                                 const std::set<fs::path> &taken) {
  table.allow_only(
      {"il", "include_dirs", "kernels", "limits", "options", "prelude", "requires", "source"});
  ManifestProgram common;
  for (const auto &folder : table.strings("include_dirs")) {
    common.include_dirs.push_back(table.folder(folder));
  }
  ManifestVariant variant;
  variant.record.name = "default";
  variant.record.kernels = read_kernels(table);
  variant.record.requirements = read_requirements(table);
  variant.record.limits = read_limits(document, table, {});
  read_host_check(table, &variant);
  const std::vector<OptionChoice> choices = read_option_matrix(document, table);
  std::vector<ManifestProgram> programs;
  for (const Source &source : read_sources(table, name, taken)) {
    for (const OptionChoice &choice : choices) {
      ManifestProgram &program = programs.emplace_back(common);
      program.record.name = source.name + (choice.name.empty() ? "" : "." + choice.name);
      program.variants.push_back(variant);
      program.variants[0].source = source.file;
      program.variants[0].record.options = choice.options;
      require_for_merging(table, &program.variants[0].record);
    }
  }
  return programs;
}

}  // namespace kiln::builder
