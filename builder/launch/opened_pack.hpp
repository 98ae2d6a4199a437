// SPDX-License-Identifier: Apache-2.0
// A device with a pack, opened in a process that may die; and the errors of the runtime's C++
// interface as a Status.
#pragma once

#include <string>
#include <utility>

#include "builder/base/builder_status.hpp"
#include "builder/device/opened_device.hpp"
#include "kiln/kiln.hpp"
#include "kiln/packs/contents.hpp"
#include "runtime/load/build.hpp"
#include "runtime/load/report.hpp"

namespace kiln::builder {

// The C interface knows fewer codes: which fault a pack has is in the message alone.
Status status_of(const kiln_error &error);

// Moves what was made to `*out`, or gives the error.
template <typename T>
Status take(kiln::Result<T> made, T *out) {
  if (!made) return status_of(made.error());
  *out = std::move(*made);
  return {};
}

// Everything is opened once: the runtime's handles, the values inside them and the contents are of
// one OpenCL library, one device and one map of the file.
struct OpenedPack {
  OpenedDevice child;
  kiln::Device device;
  kiln::Pack pack;
  kiln::Loader loader;  // on the child's context
  kiln::Queue queue;    // in order, with profiling
  packs::Contents contents;

  // Fails with the code of the first call that fails. For child processes alone, whose end by
  // SIGTERM is no death in an overlay from then on.
  Status open(const DeviceInfo &info, const std::string &pack_path,
              kiln::LoaderOptions options = {});
  // The device alone; then open_another(). Fails as open() does.
  Status open_device(const DeviceInfo &info);
  // Another pack in place of the one that is open, if any, on the device that is.
  Status open_another(const std::string &pack_path, kiln::LoaderOptions options = {});

  const runtime::OpenCL &cl() const { return *child.device->cl; }
  const packs::Pack &file() const;

  // A program that was built on `child`, as if it had been loaded from the pack, which has that
  // variant.
  kiln::Program adopt(const std::string &program, const std::string &variant,
                      runtime::BuiltProgram built) const;

  struct Found {
    const packs::Program *program = nullptr;
    const packs::Variant *variant = nullptr;
  };
  // What the command found when it read the pack. Fails if the pack was replaced since.
  Result<Found> find(const std::string &program, const std::string &variant) const;
};

// For a pack that lacks what was in it when the command read it.
Status pack_changed();

const packs::Program *find_program(const packs::Contents &contents, const std::string &name);
const packs::Variant *find_variant(const packs::Program &program, const std::string &name);

// The report of a load as values; a load that failed has one, too.
const runtime::Report &report_of(const kiln::Loaded &loaded);

}  // namespace kiln::builder
