// SPDX-License-Identifier: Apache-2.0
// Mesa's rusticl with a Gallium driver that is told to be a GPU which is not there: a library of
// Debian's package mesa-drm-shim answers in place of the kernel. It is Mesa's compiler for that
// GPU, not the GPU vendor's, and no kernel runs.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "builder/machine/device_info.hpp"
#include "builder/virtual/mesa_models.hpp"
#include "builder/virtual/posing_device.hpp"

namespace kiln::builder {

struct MesaRoot {
  std::filesystem::path root;     // empty: this machine
  std::filesystem::path library;  // rusticl
  std::vector<std::filesystem::path> folders{};
  // bubblewrap, for a root: Mesa reads files by absolute paths, so a process needs the root as "/".
  std::filesystem::path sandbox{};
  // For a root of another architecture: a Kiln of that architecture, and what emulates it.
  std::filesystem::path program{}, emulator{};
};

// Returns Mesa in an unpacked root; an empty root means this machine. `program` is a Kiln of the
// root's architecture; empty means this one. Fails with Code::bad_argument if `root` is no folder
// or `program` no file, and with Code::no_device if the root has no rusticl of the program's
// architecture, or if there is no bubblewrap to enter it or no emulator.
Result<MesaRoot> find_mesa(const std::filesystem::path &root,
                           const std::filesystem::path &program = {});

// Returns the GPU of that name, which must be a model's. Fails with Code::no_device if the root has
// no shim for it or an earlier or later one, and as posing_device() does.
Result<DeviceInfo> mesa_device(const MesaRoot &mesa, const std::string &model);

// Returns a request for this program with Mesa as that model. Pure, but for the program's path.
// `icd` is a file that names rusticl alone; `folder` is as in Pose.
ProcessRequest mesa_request(const MesaRoot &mesa, const MesaModel &model,
                            const std::filesystem::path &shim, const std::string &icd,
                            std::vector<std::string> arguments, const std::string &folder);

}  // namespace kiln::builder
