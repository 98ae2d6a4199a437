// SPDX-License-Identifier: Apache-2.0
// CLBlast's single-precision GEMM, from the library where this machine has it.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "builder/base/builder_status.hpp"
#include "runtime/opencl/library.hpp"

namespace kiln::test {

// Parameters of CLBlast's kernels by their names, such as {"MWG", 128}.
using ClBlastParameters = std::map<std::string, std::size_t>;

// Loaded when it is opened, not linked: the comparison runs without it, too. Not for more than one
// thread.
class ClBlast {
 public:
  // Fails with Code::not_found and the linker's reason if libclblast.so.1 cannot be loaded.
  static builder::Result<ClBlast> open();

  // Enqueues C = A B, row-major and without padding: A of height x depth, B of depth x width. The
  // first call for a device builds its kernels. Fails with Code::opencl and CLBlast's number.
  builder::Status multiply(cl_command_queue queue, cl_mem a, cl_mem b, cl_mem c, std::size_t width,
                           std::size_t height, std::size_t depth) const;

  // What multiply() uses on that device from its next call on: the parameters of "Xgemm", all of
  // them. Fails with Code::opencl if CLBlast knows others.
  builder::Status use(cl_device_id device, const ClBlastParameters &parameters) const;

 private:
  void *multiply_ = nullptr;
  void *override_ = nullptr;
};

}  // namespace kiln::test
