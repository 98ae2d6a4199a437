// SPDX-License-Identifier: Apache-2.0
// Finds the files that match a pattern, and makes a program for each file and choice of options.
#include "builder/manifest/whole_programs.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fnmatch.h>

#include "builder/base/whole_file.hpp"
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
  const auto [root, path] = root_and_path(source.value);
  const fs::path pattern(path);
  const fs::path folder = table.folder(
      {root + (pattern.has_parent_path() ? pattern.parent_path().string() : "."), source.at});
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator i(folder, error), end; !error && i != end; i.increment(error)) {
    const fs::path name = i->path().filename();
    const fs::path file = normal_path(folder / name);
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

// What some files of a pattern have besides.
struct FileRule {
  std::string pattern;  // of their names
  Position at;
  std::string options;
  std::vector<std::string> requirements;
  std::vector<OptionSet> sets;  // instead of the program's; empty: the program's
  bool il = true;
  bool skip = false;
  bool is_used = false;
};

// Returns the rules in the order of the manifest.
std::vector<FileRule> read_rules(const ManifestText &document, const TableReader &table,
                                 const std::vector<OptionSet> &sets) {
  constexpr char kRule[] = "a table such as { \"*_half.cl\" = { requires = [\"fp16\"] } }";
  const toml::table *entries = table.table("files", kRule);
  std::vector<FileRule> rules;
  if (entries == nullptr) return rules;
  if (!has_pattern(table)) {
    table.fail(position_of(*entries),
               fmt::format("\"files\" of {} needs several files", table.label()),
               "expected a pattern as source");
  }
  for (const auto &[key, node] : *entries) {
    const std::string pattern(key.str());
    const std::string label = fmt::format("files {} of {}", in_quotes(pattern), table.label());
    if (!node.is_table() || pattern.find('/') != std::string::npos) {
      table.fail(position_of(key),
                 fmt::format("{} {}", label, node.is_table() ? "have a folder" : "have no table"),
                 fmt::format("expected names of files, each with {}", kRule));
    }
    const TableReader reader(document, *node.as_table(), label);
    reader.allow_only({"il", "options", "requires", "sets", "skip"});
    rules.push_back({pattern, position_of(key), read_options(reader), read_requirements(reader),
                     read_sets(document, reader, sets), reader.boolean("il").value_or(true),
                     reader.boolean("skip").value_or(false)});
  }
  std::sort(rules.begin(), rules.end(), [](const FileRule &one, const FileRule &other) {
    return std::pair(one.at.line, one.at.column) < std::pair(other.at.line, other.at.column);
  });
  return rules;
}

// Returns what all rules that fit the file say together.
FileRule rule_for(const TableReader &table, const fs::path &file, std::vector<FileRule> *rules) {
  FileRule all;
  const FileRule *of_sets = nullptr;
  for (FileRule &rule : *rules) {
    if (fnmatch(rule.pattern.c_str(), file.filename().c_str(), FNM_PERIOD) != 0) continue;
    rule.is_used = true;
    if (!rule.options.empty()) all.options += (all.options.empty() ? "" : " ") + rule.options;
    add_requirements(rule.requirements, &all.requirements);
    all.il = all.il && rule.il;
    all.skip = all.skip || rule.skip;
    if (rule.sets.empty()) continue;
    if (of_sets != nullptr) {
      table.fail(rule.at,
                 fmt::format("{} has the sets of {} and of {}", file.filename().string(),
                             in_quotes(of_sets->pattern), in_quotes(rule.pattern)),
                 "expected at most one pattern with sets that fits this name");
    }
    of_sets = &rule;
    all.sets = rule.sets;
  }
  return all;
}

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
  table.allow_only({"files", "il", "include_dirs", "kernels", "limits", "local_sizes", "options",
                    "prelude", "requires", "sets", "source"});
  ManifestProgram common;
  for (const auto &folder : table.strings("include_dirs")) {
    common.include_dirs.push_back(table.folder(folder));
  }
  ManifestVariant variant;
  variant.record.name = "default";
  variant.record.kernels = read_kernels(table);
  variant.record.requirements = read_requirements(table);
  variant.record.limits = read_limits(document, table, {});
  variant.record.local_sizes = read_local_sizes(table);
  read_host_check(table, &variant);
  const std::vector<OptionChoice> choices = read_option_matrix(document, table);
  const std::vector<OptionSet> sets = read_sets(document, table);
  std::vector<FileRule> rules = read_rules(document, table, sets);
  std::vector<ManifestProgram> programs;
  for (const Source &source : read_sources(table, name, taken)) {
    const FileRule rule = rule_for(table, source.file, &rules);
    if (rule.skip) continue;
    for (const OptionChoice &choice :
         with_sets(table, choices, rule.options, rule.sets.empty() ? sets : rule.sets)) {
      ManifestProgram &program = programs.emplace_back(common);
      program.record.name = source.name + (choice.name.empty() ? "" : "." + choice.name);
      program.variants.push_back(variant);
      ManifestVariant &own = program.variants[0];
      own.source = source.file;
      own.il = own.il && rule.il;
      own.only_warn = own.only_warn || !rule.il;
      own.record.options = choice.options;
      add_requirements(rule.requirements, &own.record.requirements);
      add_requirements(choice.requirements, &own.record.requirements);
      require_for_merging(table, &own.record);
    }
  }
  for (const FileRule &rule : rules) {
    if (rule.is_used) continue;
    table.fail(rule.at,
               fmt::format("no file of {} is called {}", table.label(), in_quotes(rule.pattern)),
               "expected the names of some files that its source fits and no other program names");
  }
  return programs;
}

}  // namespace kiln::builder
