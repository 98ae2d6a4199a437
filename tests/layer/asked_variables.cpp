// SPDX-License-Identifier: Apache-2.0
// Which variables a driver asks for while it starts, builds, links and launches: each must either
// be one by which the layer and the builder leave a program alone
// (runtime/source/driver_variables.cpp), or stand in the list below with the reason why it changes
// no program. A new version of a driver that asks for another fails this test.
//
//     kiln_asked_variables PROFILE PRELOADED APPLICATION
//
// PRELOADED is logged_getenv.c, APPLICATION steps.c. A driver that reads `environ` itself is not
// seen. Exit codes: 0 passed, 1 failed, 77 there is no device.
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>
#include <string>

#include "runtime/source/driver_variables.hpp"

namespace {

namespace fs = std::filesystem;

constexpr int kNoDevice = 77;

// A name that ends with '*' is a prefix.
struct Harmless {
  std::string_view names;
  std::string_view reason;
};

constexpr Harmless kHarmless[] = {
    {"OCL_ICD_* OPENCL_* KILN_*", "the ICD loader's and this test's"},
    {"HOME PATH TMPDIR XDG_* LANG LC_* LANGUAGE", "places of files, and languages of messages"},
    {"AS_SECURE_LOG_FILE COLLECT_NO_DEMANGLE LIBCTF_DEBUG LLVM_OVERRIDE_PRODUCER RUST_BACKTRACE",
     "logs, and a word for the producer beside the code"},
    {"LIBRARY_PATH LD_RUN_PATH",
     "where PoCL's linker looks for the C library, which is the process's at the load"},
    {"HWLOC_*", "which processors PoCL sees: they are in the device's key"},
    {"ROCM_PATH", "a path of Clang's for AMD's devices"},
    {"bar", "LLVM asks for it to keep code that is never called"},
    {"RUST_MIN_STACK", "stacks of threads"},
    {"DRAW_* GALLIUM_* GALLIVM_* LIBGL_* LP_* TGSI_* NIR_* ST_*",
     "Mesa's back ends, which compile the SPIR-V that rusticl's binary is"},
    {"allow_* always_* disable_* do_dce_* force_* glsl_* glthread_* glx_* ignore_* indirect_* "
     "keep_* "
     "mesa_* override_* pp_* transcode_* vs_*",
     "Mesa's options of OpenGL"},
    {"ZE_* ZEX_*", "which devices Intel's driver shows"},
    {"NEOReadDebugKeys SetCommandStreamReceiver ProductFamilyOverride AUBDumpCaptureFileName",
     "which device Intel's driver shows, in the rules by their whole names"},
    {"cl_cache_dir", "the place of Intel's cache"},
};

bool is_harmless(const std::string &name) {
  for (const Harmless &line : kHarmless) {
    std::istringstream words{std::string(line.names)};
    for (std::string word; words >> word;) {
      const bool is_prefix = word.back() == '*';
      if (is_prefix) word.pop_back();
      if (is_prefix ? name.starts_with(word) : name == word) return true;
    }
  }
  return false;
}

// Whether the layer's rules know the name: it counts, or another of its prefix would.
bool is_in_rules(const std::string &profile, const std::string &name) {
  const std::string variable = name + "=1";
  const std::string other = name.substr(0, name.find('_')) + "_OF_KILNS_TEST=1";
  for (const std::string *one : {&variable, &other}) {
    const char *environment[] = {"NEOReadDebugKeys=1", one->c_str(), nullptr};
    if (!kiln::source::variable_that_changes_code(profile, environment).empty()) return true;
  }
  return false;
}

}  // namespace

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  const std::string profile = argv[1];
  std::string name = (fs::temp_directory_path() / "kiln-asked-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) return 1;
  const fs::path folder = name, asked = folder / "asked";
  std::ofstream(folder / "steps.h") << "#define VALUE 5\n";
  // Nothing comes of a cache.
  const std::string command = "cd '" + name + "' && KILN_ASKED='" + asked.string() +
                              "' POCL_KERNEL_CACHE=0 POCL_CACHE_DIR='" + name +
                              "' MESA_SHADER_CACHE_DISABLE=true LD_PRELOAD='" + argv[2] + "' '" +
                              argv[3] + "' 'build:-I .' launch:2 'compile:-I .' link " +
                              (profile == "intel" ? "" : "launch:4") + " > output 2>&1";
  const int status = std::system(command.c_str());
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
  std::set<std::string> names;
  std::ifstream lines(asked);
  for (std::string line; std::getline(lines, line);) names.insert(line);
  std::ifstream output(folder / "output");
  if (code != 0) std::cout << output.rdbuf();
  fs::remove_all(folder);
  if (code == kNoDevice) std::cout << "SKIP: there is no OpenCL device\n";
  if (code != 0) return code;
  int unknown = 0;
  std::size_t in_rules = 0;
  for (const std::string &one : names) {
    const bool is_known = is_in_rules(profile, one);
    in_rules += is_known ? 1 : 0;
    if (is_known || is_harmless(one)) continue;
    ++unknown;
    std::cout << "the driver asks for " << one << ", which no list has\n";
  }
  std::cout << names.size() << " variables are asked for, " << in_rules << " are in the rules, "
            << unknown << " in no list\n";
  // A driver that was not seen to ask for anything shows nothing.
  return unknown == 0 && in_rules != 0 ? 0 : 1;
}
