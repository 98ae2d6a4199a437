// SPDX-License-Identifier: Apache-2.0
// A compiler that makes binaries for a device that is not there.
#pragma once

#include <string>

#include "builder/base/builder_status.hpp"
#include "builder/process/child_process.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

// Immutable once made; compile() may be called from any thread.
class OfflineCompiler {
 public:
  struct Made {
    packs::Bytes binary;  // as the driver of such a device takes it
    std::string log;      // what the tools said; mostly empty
  };

  virtual ~OfflineCompiler() = default;

  // The device as the user named it: "nvidia:sm_90".
  virtual const std::string &name() const = 0;
  // How the binaries are made, which packs keep as their finisher: "offline-nvptx 1, clang 15.0.6,
  // ptxas 13.0.88". Begins with "offline-"; equal texts mean equal bytes for equal variants.
  virtual const std::string &recipe() const = 0;
  // The oldest driver that takes the binaries; empty where any does that has the binary key.
  virtual const std::string &driver() const = 0;
  // From the variant's source, or its IL where the compiler takes that. `limits` are each tool's.
  // Fails with Code::requirement for what it makes no code for, with Code::bad_input for a program
  // that it refuses, with Code::failed where it may be either that or the machine's fault, with
  // Code::process for a tool that dies, hangs, takes too much memory, or lies about its success.
  // The message names what is wrong and ends with what the tool said.
  virtual Result<Made> compile(const packs::Variant &variant, const CallLimits &limits) const = 0;
};

// Whether a binary is an offline compiler's, by its finisher.
inline bool is_offline(const packs::Finish &finish) {
  return finish.finisher.starts_with("offline-");
}

}  // namespace kiln::builder
