// SPDX-License-Identifier: Apache-2.0
// A device with a pack, opened in a process that may die. Also converts errors of the runtime's C++
// interface to Status.
#pragma once

#include <string>
#include <utility>

#include "builder/base/builder_status.hpp"
#include "builder/machine/opened_device.hpp"
#include "kiln/kiln.hpp"
#include "kiln/packs/contents.hpp"
#include "runtime/load/build.hpp"
#include "runtime/load/report.hpp"

namespace kiln::builder {

// Converts an error of the runtime. The C interface has fewer codes, so only the message tells
// which fault a pack has.
Status status_of(const kiln_error &error);

// Moves the value to `*out`, or returns the error.
template <typename T>
Status take(kiln::Result<T> made, T *out) {
  if (!made) return status_of(made.error());
  *out = std::move(*made);
  return {};
}

// A device, a pack and a loader, each opened once: the runtime's handles, the values inside them
// and the contents share one OpenCL library, one device and one map of the file.
struct PackOnDevice {
  OpenedDevice child;
  kiln::Device device;
  kiln::Pack pack;
  kiln::Loader loader;  // on the child's context
  kiln::Queue queue;    // in order, with profiling unless the driver refuses it
  packs::Contents contents;

  // Opens the device and the pack. Fails with the code of the first call that fails. Only for child
  // processes: from then on, ending the process by SIGTERM does not count as a death in an overlay.
  Status open(const DeviceInfo &info, const std::string &pack_path,
              kiln::LoaderOptions options = {});
  // Opens only the device; call open_another() next. Fails as open() does.
  Status open_device(const DeviceInfo &info);
  // Opens a pack on the open device, in place of the open pack, if any.
  Status open_another(const std::string &pack_path, kiln::LoaderOptions options = {});

  // Opens the queue. Rusticl's panfrost makes no queue with profiling.
  Status open_queue();

  const runtime::OpenCL &cl() const { return *child.device->cl; }
  const packs::Pack &file() const;

  // Wraps a program that was built on `child` as if it had been loaded from the pack, which must
  // have the variant.
  kiln::Program adopt(const std::string &program, const std::string &variant,
                      runtime::BuiltProgram built) const;

  struct Found {
    const packs::Program *program = nullptr;
    const packs::Variant *variant = nullptr;
  };
  // Finds the program and variant that the command read from the pack. Fails if the pack was
  // replaced since then.
  Result<Found> find(const std::string &program, const std::string &variant) const;
};

// Returns the error for a pack that no longer has what the command read from it.
Status pack_changed();

const packs::Program *find_program(const packs::Contents &contents, const std::string &name);
const packs::Variant *find_variant(const packs::Program &program, const std::string &name);

// Returns the report of a load as values; a failed load has a report, too.
const runtime::Report &report_of(const kiln::Loaded &loaded);

}  // namespace kiln::builder
