// SPDX-License-Identifier: Apache-2.0
// Programs that a device's driver refused to build or compile. The overlay remembers them as the
// driver's other refusals (runtime/overlay/quarantine.hpp), and the layer answers like the driver.
#pragma once

#include "runtime/layer/serve/cached_programs.hpp"
#include "runtime/layer/serve/objects.hpp"

namespace kiln::layer {

// A build or compilation without a callback, which the driver may refuse. For one thread; the
// program outlives it.
class RefusableCall {
 public:
  // `whole` is the program that is named, and null if nothing is to be remembered. `code` is what a
  // driver returns for a text that it does not take. Nothing is remembered either without an
  // overlay, of a program for several devices, or of one that was built for another device.
  RefusableCall(const ProgramPointer &program, const WholeProgram *whole, const Options &options,
                const Devices &devices, cl_int code);

  // Returns the refusal that the overlay remembers, unless it is time to ask the driver again; null
  // if the driver is to be asked.
  RefusalPointer find() const;
  // Remembers what the driver says, if it has returned `code` and its log has the reason. Memory
  // that has run out and the like is not remembered.
  void note(cl_int code) const;

 private:
  const ProgramPointer &program_;
  const Devices devices_;
  const cl_int refused_;
  runtime::Persistence *persistence_ = nullptr;  // null: nothing is remembered
  std::string name_;
  runtime::DriverTask task_;
};

}  // namespace kiln::layer
