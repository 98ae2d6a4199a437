// SPDX-License-Identifier: Apache-2.0
// A device with a pack, opened in a process that may die.
#pragma once

#include <memory>
#include <string>

#include "builder/device/opened_device.hpp"
#include "builder/launch/runtime_status.hpp"
#include "kiln/kiln.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

struct OpenedPack {
  OpenedDevice child;
  kiln::OpenCL opencl;
  kiln::Device device;
  kiln::Pack pack;
  kiln::Loader loader;
  kiln::Queue queue;  // in order, with profiling
  packs::Contents contents;

  // Fails with the code of the first call of the runtime that fails. For child processes alone.
  Status open(const DeviceInfo &info, const std::string &pack_path,
              const kiln::LoaderOptions &options = {});

  const runtime::OpenCL &cl() const { return *child.device->cl; }
};

const packs::Program *find_program(const packs::Contents &contents, const std::string &name);
const packs::Variant *find_variant(const packs::Program &program, const std::string &name);

// Of a pack that has not what was in it when the command read it.
Status pack_changed();

}  // namespace kiln::builder
