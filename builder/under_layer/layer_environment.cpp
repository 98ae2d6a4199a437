// SPDX-License-Identifier: Apache-2.0
// Joins paths, and quotes values as a shell, systemd, a desktop file and a Dockerfile read them.
#include "builder/under_layer/layer_environment.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include <fmt/format.h>

#include "builder/base/this_process.hpp"
#include "runtime/provision/mesa_provision.hpp"

namespace kiln::builder {
namespace {

// Returns `text` in double quotes, with a backslash before each of `special`; `doubled` characters
// stand for themselves when they are written twice.
std::string quoted(const std::string &text, std::string_view special,
                   std::string_view doubled = "") {
  std::string out = "\"";
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) out += '\\';
    if (doubled.find(c) != std::string_view::npos) out += c;
    out += c;
  }
  return out + "\"";
}

std::string in_shell(const std::string &text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// Returns whether Mesa takes the value for true.
bool is_true(std::string value) {
  for (char &c : value) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return value == "1" || value == "true" || value == "yes" || value == "y";
}

std::string before(const std::string &first, const char *name) {
  const char *rest = std::getenv(name);
  return rest == nullptr || *rest == '\0' ? first : first + ":" + rest;
}

// Adds the layer to a list, where it stands already if it is enabled for all applications.
std::string behind(const std::string &layer, const std::string &others) {
  if (others.empty()) return layer;
  const bool is_listed = (":" + others + ":").find(":" + layer + ":") != std::string::npos;
  return is_listed ? others : others + ":" + layer;
}

std::string for_shell(const Variables &variables) {
  std::string text;
  for (const auto &[name, value] : variables) {
    text += fmt::format("export {}={}\n", name, in_shell(value));
  }
  return text;
}

std::string for_environment_d(const Variables &variables) {
  std::string text;
  for (const auto &[name, value] : variables) {
    text += fmt::format("{}={}\n", name, quoted(value, "\\\"", "$"));
  }
  return text;
}

std::string for_systemd(const Variables &variables) {
  std::string text = "[Service]\n";
  for (const auto &[name, value] : variables) {
    text += fmt::format("Environment={}\n", quoted(name + "=" + value, "\\\"", "%"));
  }
  return text;
}

// A desktop file's strings are unescaped once before the command line is split.
std::string for_desktop(const Variables &variables) {
  std::string text = "Exec=env";
  for (const auto &[name, value] : variables) {
    std::string word = quoted(name + "=" + value, "\\\"`$", "%");
    std::string escaped;
    for (const char c : word) escaped += c == '\\' ? std::string("\\\\") : std::string(1, c);
    text += " " + escaped;
  }
  return text + " APPLICATION\n";
}

std::string for_container(const Variables &variables) {
  std::string text;
  for (const auto &[name, value] : variables) {
    text += fmt::format("ENV {}={}\n", name, quoted(value, "\\\"$"));
  }
  return text;
}

struct Form {
  const char *name;
  std::string (*text)(const Variables &variables);
};

constexpr Form kForms[] = {{"sh", for_shell},
                           {"environment.d", for_environment_d},
                           {"systemd", for_systemd},
                           {"desktop", for_desktop},
                           {"container", for_container}};

}  // namespace

std::string mesa_folder() {
  for (const char *name : {"MESA_SHADER_CACHE_DIR", "XDG_CACHE_HOME"}) {
    if (const std::string folder = variable(name); !folder.empty()) return folder;
  }
  const std::string home = variable("HOME");
  return home.empty() ? "" : home + "/.cache";
}

Result<Variables> mesa_variables(const std::string &folder) {
  const std::string disabled = variable("MESA_SHADER_CACHE_DISABLE");
  if (is_true(disabled)) {
    return Status(Code::failed, "MESA_SHADER_CACHE_DISABLE=" + disabled +
                                    ": Mesa does not read rusticl's final code");
  }
  const std::string single = variable("MESA_DISK_CACHE_SINGLE_FILE");
  if (!single.empty() && !is_true(single)) {
    return Status(Code::failed, "MESA_DISK_CACHE_SINGLE_FILE=" + single +
                                    ": Mesa looks for rusticl's final code elsewhere");
  }
  constexpr char kDatabases[] = "MESA_DISK_CACHE_READ_ONLY_FOZ_DBS";
  Variables variables{{"MESA_DISK_CACHE_SINGLE_FILE", single.empty() ? "1" : single},
                      {kDatabases, runtime::with_kiln_database(std::getenv(kDatabases))}};
  // Some versions of Mesa, such as 22.3, do not look at HOME.
  if (!folder.empty()) variables.emplace_back("MESA_SHADER_CACHE_DIR", folder);
  return variables;
}

Result<Variables> layer_variables(const LayerEnvironment &environment) {
  std::vector<std::string> listed = environment.packs;
  listed.insert(listed.end(), {environment.layer, environment.preload});
  for (const std::string &path : listed) {
    if (path.find(':') != std::string::npos) {
      return Status(Code::bad_argument,
                    path + ": a path with a colon cannot be handed to the layer");
    }
  }
  std::string packs;
  for (const std::string &pack : environment.packs) packs += (packs.empty() ? "" : ":") + pack;
  Variables variables;
  const auto add = [&](const char *name, const std::string &value) {
    if (!value.empty()) variables.emplace_back(name, value);
  };
  const char *others = std::getenv("OPENCL_LAYERS");
  add("OPENCL_LAYERS", behind(environment.layer, others == nullptr ? "" : others));
  if (!environment.preload.empty()) add("LD_PRELOAD", before(environment.preload, "LD_PRELOAD"));
  add("KILN_SPOOL", environment.spool);
  add("KILN_PACK", packs);
  add("KILN_OVERLAY", environment.overlay);
  add("KILN_SHARED", environment.shared);
  add("KILN_KEYS", fmt::format("{}", fmt::join(environment.keys, ":")));
  add("KILN_REPORT", environment.report);
  add("KILN_REQUIRE", environment.require);
  add("KILN_RUNG", environment.rung);
  add("KILN_REPORT_DIR", environment.report_folder);
  return variables;
}

const std::vector<std::string> &environment_forms() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> made;
    for (const Form &form : kForms) made.emplace_back(form.name);
    return made;
  }();
  return names;
}

std::string variables_text(const Variables &variables, const std::string &form) {
  const auto *found = std::find_if(std::begin(kForms), std::end(kForms),
                                   [&](const Form &one) { return form == one.name; });
  return found == std::end(kForms) ? std::string() : found->text(variables);
}

std::string shell_command(const std::vector<std::string> &words) {
  const auto is_plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("%+,-./:=@_").find(c) != std::string_view::npos;
  };
  std::string text;
  for (const std::string &word : words) {
    if (!text.empty()) text += ' ';
    const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), is_plain);
    text += plain ? word : in_shell(word);
  }
  return text;
}

}  // namespace kiln::builder
