// SPDX-License-Identifier: Apache-2.0
// The environment in which Mesa takes a shim for the kernel.
#include "builder/virtual/mesa.hpp"
#include "builder/base/whole_file.hpp"
#include "builder/machine/driver_caches.hpp"

#include <algorithm>
#include <fstream>
#include <memory>

#include <fmt/format.h>

#include "builder/base/names.hpp"
#include "builder/machine/opened_device.hpp"
#include "builder/process/temporary_folder.hpp"
#include "builder/virtual/driver_root.hpp"

namespace kiln::builder {
namespace {

constexpr char kShimPackage[] = "mesa-drm-shim";
constexpr char kInside[] = "/.kiln";  // in a root: this program and the ICD file
constexpr char kEmulator[] = "/.kiln/emulator";
constexpr int kEmulationSlowness = 10;

// Returns which shim's GPUs the file names, for a message.
std::string known_names(const MesaDriver &driver, std::string_view shim) {
  std::string known;
  for (const MesaModel &model : mesa_models()) {
    if (model.driver->gallium != driver.gallium || !has_string(shim, model.value)) continue;
    known += (known.empty() ? "" : ", ") + std::string(model.name);
  }
  return known.empty() ? "none" : known;
}

// Returns the shim's path. Fails if it is not there or does not know the model.
Result<std::filesystem::path> find_shim(const MesaRoot &mesa, const MesaModel &model) {
  const MesaDriver &driver = *model.driver;
  const std::filesystem::path shim = find_in(mesa.folders, driver.shim);
  if (shim.empty()) {
    return Status(
        Code::no_device,
        fmt::format("there is no {} on {}: {}", driver.shim,
                    mesa.root.empty() ? "this machine" : mesa.root.string(), driver.packages));
  }
  if (!driver.lists_names) return shim;
  const std::string file = read_whole_file(shim).value_or("");
  if (has_string(file, model.value)) return shim;
  return Status(Code::no_device, fmt::format("{} does not know it; it knows {}", shim.string(),
                                             known_names(driver, file)));
}

// Returns a path of the root as a process inside sees it.
std::string seen_inside(const MesaRoot &mesa, const std::filesystem::path &path) {
  if (mesa.sandbox.empty()) return path.string();
  return "/" + path.lexically_relative(mesa.root).string();
}

// Adds the mounts that make the root "/": its folders read-only, no GPU of this machine, this
// program, the ICD file and the job's folder.
void enter(const MesaRoot &mesa, const std::string &icd, const std::string &folder,
           ProcessRequest *request) {
  namespace fs = std::filesystem;
  std::vector<std::string> line{"--die-with-parent"};
  std::error_code error;
  std::vector<fs::path> entries;
  for (const auto &entry : fs::directory_iterator(mesa.root, error)) entries.push_back(entry);
  std::sort(entries.begin(), entries.end());
  for (const fs::path &entry : entries) {
    const std::string name = entry.filename().string(), inside = "/" + name;
    if (fs::is_symlink(entry, error)) {
      line.insert(line.end(), {"--symlink", fs::read_symlink(entry, error).string(), inside});
    } else if (name != "dev" && name != "proc" && name != "sys" && name != "tmp") {
      line.insert(line.end(), {"--ro-bind", entry.string(), inside});
    }
  }
  const std::string program = std::string(kInside) + "/kiln";
  if (!mesa.emulator.empty()) {
    line.insert(line.end(), {"--ro-bind", mesa.emulator.string(), kEmulator});
  }
  line.insert(line.end(), {"--dev", "/dev", "--bind", "/proc", "/proc", "--tmpfs", "/tmp",
                           "--ro-bind", request->program.string(), program, "--ro-bind", icd,
                           std::string(kInside) + "/driver.icd"});
  if (!folder.empty()) line.insert(line.end(), {"--bind", folder, folder});
  // Not in bubblewrap's own environment: the shim is a library of the root.
  for (const auto &[name, value] : request->environment) {
    if (value) {
      line.insert(line.end(), {"--setenv", name, *value});
    } else {
      line.insert(line.end(), {"--unsetenv", name});
    }
  }
  request->environment.clear();
  line.insert(line.end(), {"--chdir", folder.empty() ? "/" : folder, "--"});
  if (!mesa.emulator.empty()) line.emplace_back(kEmulator);
  line.push_back(program);
  request->arguments.insert(request->arguments.begin(), line.begin(), line.end());
  request->program = mesa.sandbox;
}

}  // namespace

Result<MesaRoot> find_mesa(const std::filesystem::path &root,
                           const std::filesystem::path &program) {
  MesaRoot mesa;
  const bool is_own = root.empty() || program.empty();
  if (!root.empty()) {
    if (Status s = canonical_root(root).move_to(&mesa.root); !s.ok()) return s;
  }
  std::error_code error;
  if (!is_own && !std::filesystem::is_regular_file(program, error)) {
    return Status(Code::bad_argument, program.string() + ": no such file");
  }
  const std::filesystem::path whole = root.empty() ? "/" : mesa.root;
  const auto drivers = find_drivers(whole, "libRusticlOpenCL",
                                    is_own ? std::filesystem::path(kThisProgram) : program);
  if (!drivers.ok()) return drivers.status();
  if (drivers->empty()) {
    return Status(Code::no_device,
                  fmt::format("no file {} names Mesa's rusticl, as Debian's mesa-opencl-icd has "
                              "it; {} has the libraries that act as GPUs",
                              icd_files(whole), kShimPackage));
  }
  mesa.library = drivers->front().library;
  mesa.folders = library_folders(whole);
  if (root.empty()) return mesa;
  if (has_earlier_libc(mesa.folders)) {
    return Status(Code::no_device, fmt::format("{}: its C library is earlier than this machine's",
                                               mesa.root.string()));
  }
  const auto sandbox = find_executable({"bwrap"});
  if (!sandbox) {
    return Status(Code::no_device,
                  "there is no program bwrap in PATH (Debian's package bubblewrap) to enter " +
                      mesa.root.string());
  }
  mesa.sandbox = *sandbox;
  if (is_own) return mesa;
  mesa.program = std::filesystem::absolute(program);
  const std::string emulator = emulator_of(program);
  if (emulator.empty()) return mesa;
  const auto found = find_executable({emulator});
  if (!found) {
    return Status(Code::no_device, fmt::format("there is no program {} in PATH (Debian's package "
                                               "qemu-user-static) to run {}",
                                               emulator, program.string()));
  }
  mesa.emulator = *found;
  return mesa;
}

ProcessRequest mesa_request(const MesaRoot &mesa, const MesaModel &model,
                            const std::filesystem::path &shim, const std::string &icd,
                            std::vector<std::string> arguments, const std::string &folder) {
  std::error_code error;
  ProcessRequest request;
  request.program =
      mesa.program.empty() ? std::filesystem::read_symlink(kThisProgram, error) : mesa.program;
  request.arguments = std::move(arguments);
  const bool inside = !mesa.sandbox.empty();
  request.environment = {{"OCL_ICD_VENDORS", inside ? std::string(kInside) + "/driver.icd" : icd},
                         {"OCL_ICD_FILENAMES", std::nullopt},
                         {"OPENCL_LAYERS", std::nullopt},
                         {"LD_PRELOAD", seen_inside(mesa, shim)},
                         {"RUSTICL_ENABLE", std::string(model.driver->gallium)},
                         {std::string(model.driver->variable), std::string(model.value)}};
  if (!folder.empty()) {
    request.environment.emplace_back(kListedCaches, folder + "/" + kPosedCaches);
  }
  if (!inside) return request;
  request.environment.insert(request.environment.end(), {{"LD_LIBRARY_PATH", std::nullopt},
                                                         {"HOME", "/tmp"},
                                                         {"TMPDIR", "/tmp"},
                                                         {"XDG_CACHE_HOME", std::nullopt},
                                                         {"XDG_CONFIG_HOME", std::nullopt}});
  enter(mesa, icd, folder, &request);
  return request;
}

Result<DeviceInfo> mesa_device(const MesaRoot &mesa, const std::string &name) {
  const MesaModel *const model = find_mesa_model(name);
  if (model == nullptr) {
    return Status(Code::bad_argument, expected_one_of(name, mesa_model_names()));
  }
  const auto shim = find_shim(mesa, *model);
  if (!shim.ok()) return shim.status();
  auto made = TemporaryFolder::make();
  if (!made.ok()) return made.status();
  const auto place = std::make_shared<const TemporaryFolder>(*std::move(made));
  const std::string icd = place->path() + "/driver.icd";
  std::ofstream file(icd);
  file << seen_inside(mesa, mesa.library) << '\n';
  file.close();
  if (!file) return Status(Code::failed, "cannot write " + icd);
  return posing_device({"mesa:" + name, name, kMesaFinisher,
                        [=](std::vector<std::string> arguments, const std::string &folder) {
                          return mesa_request(mesa, *model, *shim, place->path() + "/driver.icd",
                                              std::move(arguments), folder);
                        },
                        place->path(), mesa.emulator.empty() ? 1 : kEmulationSlowness});
}

}  // namespace kiln::builder
