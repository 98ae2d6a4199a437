// SPDX-License-Identifier: Apache-2.0
// The prefixes of drivers' variables, and the variables that change nothing.
#include "runtime/source/driver_variables.hpp"

#include <algorithm>

#include <unistd.h>

namespace kiln::source {
namespace {

// Lists are words; in `harmless`, one that ends with '*' is a prefix, and NAME=VALUE is for this
// value alone.
struct Rule {
  std::string_view profile;
  std::string_view prefixes;
  std::string_view harmless;
};

constexpr Rule kRules[] = {
    // Libpocl.so names the first; the others choose the linker of its kernels, and what it writes.
    // The option says only how fast the code is.
    {"pocl", "POCL_ COMPILER_PATH GNUTARGET LDEMULATION",
     "POCL_AFFINITY POCL_CACHE_DIR POCL_DEBUG POCL_DEVICES POCL_KERNEL_CACHE "
     "POCL_LEAVE_KERNEL_COMPILER_TEMP_FILES POCL_MAX_PTHREAD_COUNT POCL_MEMORY_LIMIT "
     "POCL_SIGFPE_HANDLER POCL_SIGUSR2_HANDLER POCL_STARTUP_DELAY POCL_TRACING* "
     "POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable"},
    // The binary is SPIR-V, so variables of Mesa's back ends do not matter.
    {"rusticl", "RUSTICL_ CLC_ MESA_",
     "RUSTICL_ENABLE RUSTICL_DEVICE_TYPE RUSTICL_MAX_WORK_GROUPS MESA_SHADER_CACHE_* "
     "MESA_DISK_CACHE_* MESA_GLSL_CACHE_* MESA_GL_VERSION_OVERRIDE MESA_GLES_VERSION_OVERRIDE "
     "MESA_GLSL_VERSION_OVERRIDE MESA_LOADER_DRIVER_OVERRIDE MESA_LOG* MESA_VK_* MESA_NO_ERROR"},
    // The last four make a device that is not there (docs/operate/virtual.md); its identity says
    // so.
    {"intel", "IGC_ NEO_",
     "NEO_CACHE_* NEOReadDebugKeys SetCommandStreamReceiver ProductFamilyOverride "
     "AUBDumpCaptureFileName"},
    {"nvidia", "CUDA_",
     "CUDA_ARCHITECTURES CUDA_BIN_PATH CUDA_CACHE_* CUDA_DEVICE_MAX_CONNECTIONS CUDA_DEVICE_ORDER "
     "CUDA_HOME CUDA_LAUNCH_BLOCKING CUDA_MODULE_LOADING CUDA_MPS_* CUDA_PATH* CUDA_ROOT "
     "CUDA_TOOLKIT_ROOT_DIR CUDA_VERSION CUDA_VISIBLE_DEVICES"},
    {"amd", "AMD_OCL_ AMD_COMGR_", "AMD_COMGR_CACHE*"},
    {"clover", "CLOVER_", ""},
};

// Calls `test` with each word of the list; returns whether one passes.
template <typename Test>
bool any_word(std::string_view list, const Test &test) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(' '), list.size());
    if (test(list.substr(0, end))) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

bool is_harmless(std::string_view variable, std::string_view list) {
  const std::string_view name = variable.substr(0, variable.find('='));
  return any_word(list, [&](std::string_view word) {
    if (word.ends_with('*')) return name.starts_with(word.substr(0, word.size() - 1));
    return word == name || word == variable;
  });
}

bool is_letter(char c, char first) { return c >= first && c < first + 26; }

// Returns whether the name is like those of Intel's debug keys: DisableStatelessToStateful...
bool is_debug_key(std::string_view name) {
  const auto fits = [](char c) {
    return is_letter(c, 'a') || is_letter(c, 'A') || (c >= '0' && c <= '9');
  };
  return !name.empty() && is_letter(name[0], 'A') && std::all_of(name.begin(), name.end(), fits) &&
         std::any_of(name.begin(), name.end(), [](char c) { return is_letter(c, 'a'); });
}

std::string_view value_of(std::string_view name, const char *const *environment) {
  for (; *environment != nullptr; ++environment) {
    const std::string_view variable = *environment;
    if (variable.starts_with(name) && variable.substr(name.size()).starts_with('=')) {
      return variable.substr(name.size() + 1);
    }
  }
  return {};
}

std::string_view changing(const Rule &rule, const char *const *environment) {
  const std::string_view debug = value_of("NEOReadDebugKeys", environment);
  const bool has_keys = rule.profile == "intel" && !debug.empty() && debug != "0";
  for (; *environment != nullptr; ++environment) {
    const std::string_view variable = *environment;
    const std::string_view name = variable.substr(0, variable.find('='));
    const bool counts = (has_keys && is_debug_key(name)) ||
                        any_word(rule.prefixes, [&](auto word) { return name.starts_with(word); });
    if (counts && !is_harmless(variable, rule.harmless)) return name;
  }
  // The driver takes the keys of this file in place of the variables.
  static constexpr char kFile[] = "igdrcl.config";
  return has_keys && access(kFile, F_OK) == 0 ? kFile : std::string_view();
}

bool has_rules(std::string_view profile) {
  return std::any_of(std::begin(kRules), std::end(kRules),
                     [&](const Rule &rule) { return rule.profile == profile; });
}

}  // namespace

std::string_view variable_that_changes_code(std::string_view profile,
                                            const char *const *environment) {
  if (environment == nullptr) return {};
  const bool is_known = has_rules(profile);
  for (const Rule &rule : kRules) {
    if (is_known && rule.profile != profile) continue;
    if (const std::string_view found = changing(rule, environment); !found.empty()) return found;
  }
  return {};
}

void SeenVariables::see(const char *const *environment) {
  for (const Rule &rule : kRules) (void)found(rule.profile, environment);
  (void)found("", environment);
}

std::string_view SeenVariables::found(std::string_view profile, const char *const *environment) {
  const auto place = names_.try_emplace(std::string(has_rules(profile) ? profile : "")).first;
  std::string &name = place->second;
  if (name.empty()) name = variable_that_changes_code(place->first, environment);
  return name;
}

}  // namespace kiln::source
