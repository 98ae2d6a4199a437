// SPDX-License-Identifier: Apache-2.0
// A device that is not there: what makes its binaries, and what packs say of these.
#pragma once

#include <string>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "builder/process/child_process.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

// A compiler, or a driver that is told to be that device. Immutable once made; compile() may be
// called from any thread.
class VirtualDevice {
 public:
  struct Made {
    packs::Bytes binary;  // as the driver of such a device takes it
    std::string log;      // what the tools said; mostly empty
    // From here on a driver's alone. Compilers leave them: nothing has loaded what they make.
    packs::Finish finish{};
    std::vector<packs::KernelFacts> kernels{};
    std::uint64_t build_microseconds = 0, load_microseconds = 0;
  };

  virtual ~VirtualDevice() = default;

  // The device as the user named it: "nvidia:sm_90".
  virtual const std::string &name() const = 0;
  // How the binaries are made, which packs keep as their finisher: "virtual-nvptx 1, clang 15.0.6,
  // ptxas 13.0.88". Begins with "virtual-"; of a compiler, equal texts mean equal bytes for equal
  // variants.
  virtual const std::string &recipe() const = 0;
  // The oldest driver that takes the binaries; empty where any does that has the binary key.
  virtual const std::string &driver() const = 0;
  // From the variant's source, or its IL where that is taken. `limits` are each step's; `finish` is
  // a driver's matter, as BuildOptions has it. Fails with Code::requirement for what it makes no
  // code for, with Code::bad_input for a program that it refuses, with Code::failed where it may be
  // either that or the machine's fault, with Code::process for a tool that dies, hangs, takes too
  // much memory, or lies about its success, and as a driver does with its code of OpenCL. The
  // message names what is wrong and ends with what the tool said.
  virtual Result<Made> compile(const packs::Variant &variant, const CallLimits &limits,
                               bool finish) const = 0;
};

// Whether no device has launched the binary, since it was made for one that was not there.
inline bool is_virtual(const packs::Finish &finish) {
  return finish.finisher.starts_with("virtual-");
}

// The recipe of binaries by Intel's driver as another GPU, which has loaded them; the finisher goes
// on with " as skl".
inline constexpr char kNeoRecipe[] = "virtual-neo 1";
inline bool is_by_neo(const packs::Finish &finish) {
  return finish.finisher.starts_with(kNeoRecipe);
}

}  // namespace kiln::builder
