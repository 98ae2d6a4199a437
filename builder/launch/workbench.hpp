// A device with a pack, opened in a process that may die.
#pragma once

#include <memory>
#include <string>

#include "builder/device/opened_device.hpp"
#include "kiln/kiln.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

struct Workbench {
  ChildDevice child;
  kiln::OpenCL opencl;
  kiln::Device device;
  kiln::Pack pack;
  kiln::Loader loader;
  kiln::Queue queue;  // in order, with profiling
  packs::Contents contents;

  // Empty on success, else what went wrong. For child processes alone.
  std::string open(const DeviceInfo &info, const std::string &pack_path,
                   const kiln::LoaderOptions &options = {});

  const runtime::OpenCL &cl() const { return *child.device->cl; }
};

const packs::Program *find_program(const packs::Contents &contents, const std::string &name);
const packs::Variant *find_variant(const packs::Program &program, const std::string &name);

// Moves what was made to `*out`, or gives the error's message.
template <typename T>
std::string take(kiln::Result<T> made, T *out) {
  if (!made) return made.error().message;
  *out = std::move(*made);
  return {};
}

inline std::string text_of(const kiln::Status &status) {
  return status ? std::string() : status.message;
}

}  // namespace kiln::builder
