// SPDX-License-Identifier: Apache-2.0
// The ways to multiply that are compared: CLBlast's, and every variant of Kiln's float GEMM.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "builder/run/pack_on_device.hpp"
#include "tests/bench/clblast.hpp"
#include "tests/bench/gemm_times.hpp"

namespace kiln::test {

// A variant of the program gemm_f32, loaded, on one set of matrices.
struct GemmVariant {
  const packs::Program *program = nullptr;
  const packs::Variant *variant = nullptr;
  kiln::Program loaded;
  kiln::Kernel kernel;
  std::size_t size = 0;  // n of the matrices that the arguments and the range are for
  kiln_ndrange range{};
  builder::Status status;  // why it cannot run here
};

// The matrices are the tool's own, on a queue of the runtime's, which all share. Not for more than
// one thread.
class GemmBench {
 public:
  // Loads every variant of the pack's gemm_f32 for the device, and CLBlast. Fails if the device or
  // the pack cannot be opened, and with Code::not_in_pack if it has no such program.
  builder::Status open(const builder::DeviceInfo &device, const std::string &pack,
                       std::size_t most);

  // "clblast", if it is here; each variant that the device can run, through the runtime; and
  // "plain scalar" with a plain clEnqueueNDRangeKernel, the work-group size left to the driver.
  std::vector<GemmWay> ways();

  const GemmMatrices &matrices() const { return matrices_; }
  const std::optional<ClBlast> &clblast() const { return clblast_; }
  const std::string &no_clblast() const { return no_clblast_; }  // why not
  cl_device_id device() const { return pack_.child.device->id; }
  // "scalar: the device has no ..." of each variant that cannot run here.
  std::vector<std::string> left_out() const;
  // The work-group size that the runtime chose: "16x16", or nothing for what is no variant.
  std::string work_group(const std::string &way) const;

 private:
  void load(const packs::Program &program);
  builder::Status prepare(std::size_t n, GemmVariant *v) const;
  builder::Status launch(std::size_t n, GemmVariant *v) const;
  builder::Status launch_plainly(std::size_t n, GemmVariant *v) const;

  builder::PackOnDevice pack_;
  kiln::Queue queue_;
  GemmMatrices matrices_;
  kiln::Buffer a_, b_, c_;
  std::vector<std::unique_ptr<GemmVariant>> variants_;
  std::optional<ClBlast> clblast_;
  std::string no_clblast_;
};

}  // namespace kiln::test
