// SPDX-License-Identifier: Apache-2.0
// Calls the C interface of CLBlast, whose declarations stand here: its header may be absent.
#include "tests/bench/clblast.hpp"

#include <dlfcn.h>

#include <cstring>
#include <vector>

namespace kiln::test {
namespace {

using builder::Code;
using builder::Status;

constexpr int kRowMajor = 101;
constexpr int kNoTranspose = 111;
constexpr int kSingle = 32;

using Multiply = int(int layout, int a_transpose, int b_transpose, std::size_t m, std::size_t n,
                     std::size_t k, float alpha, cl_mem a, std::size_t a_offset, std::size_t a_ld,
                     cl_mem b, std::size_t b_offset, std::size_t b_ld, float beta, cl_mem c,
                     std::size_t c_offset, std::size_t c_ld, cl_command_queue *queue,
                     cl_event *event);
using Override = int(cl_device_id device, const char *kernel, int precision, std::size_t count,
                     const char **names, const std::size_t *values);

template <typename Function>
Function *as(void *symbol) {
  Function *function = nullptr;
  std::memcpy(&function, &symbol, sizeof(function));
  return function;
}

Status failure(const char *call, int code) {
  if (code == 0) return {};
  return {Code::opencl, std::string(call) + " returned " + std::to_string(code)};
}

}  // namespace

builder::Result<ClBlast> ClBlast::open() {
  void *library = dlopen("libclblast.so.1", RTLD_NOW);
  if (library == nullptr) {
    const char *reason = dlerror();
    return Status{Code::not_found, reason == nullptr ? "no libclblast.so.1" : reason};
  }
  ClBlast clblast;
  clblast.multiply_ = dlsym(library, "CLBlastSgemm");
  clblast.override_ = dlsym(library, "CLBlastOverrideParameters");
  if (clblast.multiply_ == nullptr || clblast.override_ == nullptr) {
    return Status{Code::not_found, "libclblast.so.1 lacks CLBlastSgemm"};
  }
  return clblast;
}

Status ClBlast::multiply(cl_command_queue queue, cl_mem a, cl_mem b, cl_mem c, std::size_t width,
                         std::size_t height, std::size_t depth) const {
  return failure(
      "CLBlastSgemm",
      as<Multiply>(multiply_)(kRowMajor, kNoTranspose, kNoTranspose, height, width, depth, 1.0f, a,
                              0, depth, b, 0, width, 0.0f, c, 0, width, &queue, nullptr));
}

Status ClBlast::use(cl_device_id device, const ClBlastParameters &parameters) const {
  std::vector<const char *> names;
  std::vector<std::size_t> values;
  for (const auto &[name, value] : parameters) {
    names.push_back(name.c_str());
    values.push_back(value);
  }
  return failure(
      "CLBlastOverrideParameters",
      as<Override>(override_)(device, "Xgemm", kSingle, names.size(), names.data(), values.data()));
}

}  // namespace kiln::test
