// SPDX-License-Identifier: Apache-2.0
// Opens a device once and gives each way to multiply as a function.
#include "tests/bench/gemm_ways.hpp"

#include <fmt/format.h>

#include "builder/run/workload.hpp"
#include "runtime/opencl/error.hpp"

namespace kiln::test {
namespace {

using builder::Code;
using builder::Status;

constexpr char kProgram[] = "gemm_f32";
constexpr char kPlainVariant[] = "scalar";

}  // namespace

Status GemmBench::open(const builder::DeviceInfo &device, const std::string &pack,
                       std::size_t most) {
  Status status = pack_.open(device, pack);
  if (status.ok()) status = builder::take(kiln::Queue::create(pack_.loader), &queue_);
  if (status.ok()) status = matrices_.make(pack_.child, queue_.cl(), most);
  const auto take = [&](cl_mem memory, kiln_access access, kiln::Buffer *out) {
    if (!status.ok()) return;
    status = builder::take(kiln::Buffer::from_cl(pack_.loader, memory, access), out);
  };
  take(matrices_.a(), KILN_ACCESS_READ, &a_);
  take(matrices_.b(), KILN_ACCESS_READ, &b_);
  take(matrices_.c(), KILN_ACCESS_WRITE, &c_);
  if (!status.ok()) return status;
  const packs::Program *program = builder::find_program(pack_.contents, kProgram);
  if (program == nullptr) return {Code::not_in_pack, "the pack has no program gemm_f32"};
  load(*program);
  auto clblast = ClBlast::open();
  if (clblast.ok()) clblast_ = *clblast;
  no_clblast_ = clblast.status().message;
  return {};
}

void GemmBench::load(const packs::Program &program) {
  for (const packs::Variant &variant : program.variants) {
    auto v = std::make_unique<GemmVariant>();
    v->program = &program;
    v->variant = &variant;
    kiln::Loaded loaded = pack_.loader.load(program.name, variant.name);
    if (loaded.program) {
      v->loaded = std::move(*loaded.program);
      v->status = builder::take(kiln::Kernel::create(v->loaded), &v->kernel);
    } else {
      v->status = builder::status_of(loaded.program.error());
    }
    variants_.push_back(std::move(v));
  }
}

Status GemmBench::prepare(std::size_t n, GemmVariant *v) const {
  if (v->size == n) return {};
  const auto size = static_cast<std::uint32_t>(n);
  const auto workload = builder::plan_workload(*v->program, *v->variant, {size, size, size}, {});
  if (!workload.ok()) return workload.status();
  const builder::Stage &stage = workload->stages.front();
  v->range = {stage.dimensions, {stage.global[0], stage.global[1], stage.global[2]}, {}, {}};
  kiln::Status status = v->kernel.set(0, a_);
  if (status.ok()) status = v->kernel.set(1, b_);
  if (status.ok()) status = v->kernel.set(2, c_);
  for (unsigned i = 3; i < 6 && status.ok(); ++i) status = v->kernel.set(i, size);
  if (status.ok()) v->size = n;
  return builder::status_of(status);
}

Status GemmBench::launch(std::size_t n, GemmVariant *v) const {
  if (Status status = prepare(n, v); !status.ok()) return status;
  kiln_error error{};
  if (kiln_launch(queue_.get(), v->kernel.get(), &v->range, nullptr, 0, nullptr, &error) ==
      KILN_OK) {
    return {};
  }
  return builder::status_of(error);
}

Status GemmBench::launch_plainly(std::size_t n, GemmVariant *v) const {
  if (Status status = prepare(n, v); !status.ok()) return status;
  const cl_int code =
      pack_.cl().clEnqueueNDRangeKernel(queue_.cl(), v->kernel.cl(), v->range.dimensions, nullptr,
                                        v->range.global, nullptr, 0, nullptr, nullptr);
  return code == CL_SUCCESS ? Status() : runtime::cl_failure("clEnqueueNDRangeKernel", code);
}

std::vector<GemmWay> GemmBench::ways() {
  std::vector<GemmWay> ways;
  if (clblast_) {
    ways.push_back({"clblast", [this](std::size_t n) {
                      return clblast_->multiply(queue_.cl(), matrices_.a(), matrices_.b(),
                                                matrices_.c(), n, n, n);
                    }});
  }
  for (const auto &v : variants_) {
    if (!v->status.ok()) continue;
    GemmVariant *variant = v.get();
    ways.push_back(
        {variant->variant->name, [this, variant](std::size_t n) { return launch(n, variant); }});
    if (variant->variant->name != kPlainVariant) continue;
    ways.push_back({std::string("plain ") + kPlainVariant,
                    [this, variant](std::size_t n) { return launch_plainly(n, variant); }});
  }
  return ways;
}

std::vector<std::string> GemmBench::left_out() const {
  std::vector<std::string> lines;
  for (const auto &v : variants_) {
    if (!v->status.ok()) lines.push_back(v->variant->name + ": " + v->status.message);
  }
  return lines;
}

std::string GemmBench::work_group(const std::string &way) const {
  for (const auto &v : variants_) {
    if (v->variant->name != way || v->size == 0) continue;
    const auto planned = v->kernel.plan(v->range);
    if (!planned) return "";
    std::string text = fmt::format("{}x{}", planned->local[0], planned->local[1]);
    return planned->local[2] > 1 ? fmt::format("{}x{}", text, planned->local[2]) : text;
  }
  return "";
}

}  // namespace kiln::test
