// SPDX-License-Identifier: Apache-2.0
#include "builder/machine/opened_device.hpp"

#include "tests/support/catch.hpp"

using namespace kiln;
using builder::DeviceInfo;
using runtime::Field;

namespace {

DeviceInfo device(std::size_t index, const char *platform, const char *name) {
  DeviceInfo info;
  info.index = index;
  info.identity.set(Field::platform_name, platform);
  info.identity.set(Field::device_name, name);
  return info;
}

std::vector<DeviceInfo> three() {
  return {device(0, "Portable Computing Language", "pthread-skylake"),
          device(1, "rusticl", "llvmpipe (LLVM 15.0.6, 256 bits)"),
          device(2, "NVIDIA CUDA", "NVIDIA H200")};
}

}  // namespace

TEST_CASE("a selector is an index or a glob over platform and device") {
  const auto devices = three();
  CHECK(builder::select_devices(devices, "").size() == 3);
  REQUIRE(builder::select_devices(devices, "2").size() == 1);
  CHECK(builder::select_devices(devices, "2")[0].index == 2);
  CHECK(builder::select_devices(devices, "Portable*")[0].index == 0);
  CHECK(builder::select_devices(devices, "llvmpipe*")[0].index == 1);
  CHECK(builder::select_devices(devices, "3").empty());
  CHECK(builder::select_devices(devices, "adreno*").empty());
}

TEST_CASE("capabilities are the same on both sides of a process boundary") {
  runtime::Capabilities all;
  all.images = all.fp16 = all.fp64 = all.subgroups = all.integer_dot_product = true;
  all.opencl_3 = all.opencl_3_1 = all.unified_memory = all.compiler = all.non_uniform_work_groups =
      true;
  all.address_bits = 64;
  all.compute_capability = 900;
  all.max_work_group_size = 1024;
  all.max_work_item_sizes[0] = 1024;
  all.max_work_item_sizes[2] = 64;
  all.local_memory = 49152;
  all.il_versions = {0x00010000, 0x00010200};
  all.extensions = {"cl_khr_fp16", "cl_khr_icd"};
  all.features = " __opencl_c_int64 ";
  all.il_support = " 4 6 OpenCL.std ";
  const nlohmann::json sent = all;
  const auto received = sent.get<runtime::Capabilities>();
  CHECK(nlohmann::json(received) == sent);
  CHECK(received.non_uniform_work_groups);
  CHECK(received.max_work_item_sizes[2] == 64);
  for (const auto &[name, value] : sent.items()) {
    CAPTURE(name);
    CHECK(value != nlohmann::json(runtime::Capabilities())[name]);
  }
}
