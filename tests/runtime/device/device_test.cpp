// SPDX-License-Identifier: Apache-2.0
// The runtime on a real device, the first that there is. Says SKIP and exits with 77 where
// there is none.
#include <cstdlib>
#include <numeric>

#include <dlfcn.h>

#include "kiln/listing.hpp"
#include "kiln/packs/contents.hpp"
#include "kiln/packs/writer.hpp"
#include "runtime/api/api.hpp"
#include "tests/runtime/fake/on_device.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace kiln;
using namespace kiln::test;

namespace {

packs::Contents base_contents() {
  std::shared_ptr<const packs::Pack> pack;
  packs::Contents contents;
  REQUIRE(packs::Pack::open_file(kPack, &pack).ok());
  REQUIRE(packs::read_contents(pack, &contents).ok());
  return contents;
}

packs::Variant &find(packs::Contents &contents, const std::string &program,
                     const std::string &variant) {
  for (packs::Program &p : contents.programs) {
    for (packs::Variant &v : p.variants) {
      if (p.name == program && v.name == variant) return v;
    }
  }
  FAIL("no " << program << "/" << variant);
  std::abort();
}

// The base pack with this device's own binary of scale/a_plain.
std::string exact_pack(const test::TemporaryFolder &folder) {
  packs::Contents contents = base_contents();
  const Loader loader = loader_for(kPack);
  Loaded loaded = loader.load("scale", "a_plain", kSourceOnly);
  REQUIRE(loaded.program);
  packs::Bytes binary;
  REQUIRE(runtime::program_binary(*device().get()->device, loaded.program->cl(), &binary).ok());
  packs::Target target;
  target.key = device().info("key");
  const packs::Variant variant = find(contents, "scale", "a_plain");
  target.binaries.push_back(
      {variant.hash, packs::BlobSource(std::move(binary)), "", {packs::KernelFacts{}}});
  contents.targets = {target};
  const std::string path = (folder.path() / "exact.kiln").string();
  REQUIRE(packs::write_pack(contents, path).ok());
  return path;
}

using Sizes = std::vector<std::uint32_t>;

// Scales 0, 1, 2, ... by 3 in one launch, checks every value, and returns the launch's own
// view of its sizes: global x and y, local x and y.
Sizes scale(const Loader &loader, const Kernel &kernel, const kiln_ndrange &range) {
  const std::uint32_t count =
      static_cast<std::uint32_t>(range.global[0] * (range.dimensions > 1 ? range.global[1] : 1));
  const Queue queue = take(Queue::create(loader));
  const Buffer values = take(Buffer::create(loader, count * 4, KILN_ACCESS_BOTH));
  const Buffer sizes = take(Buffer::create(loader, 16, KILN_ACCESS_WRITE));
  auto *numbers = static_cast<std::uint32_t *>(take(values.map(queue)));
  std::iota(numbers, numbers + count, 0u);
  require(values.unmap(queue));
  require(kernel.set(0, values));
  require(kernel.set(1, 3));
  require(kernel.set(2, count));
  require(kernel.set(3, sizes));
  const Event event = take(kernel.launch(queue, range));
  const kiln_times times = take(event.times());
  CHECK(times.queued <= times.submit);
  CHECK(times.submit <= times.start);
  CHECK(times.start <= times.end);
  CHECK(times.end > 0);
  numbers = static_cast<std::uint32_t *>(take(values.map(queue)));
  bool right = true;
  for (std::uint32_t i = 0; i < count; ++i) right = right && numbers[i] == 3 * i;
  CHECK(right);
  require(values.unmap(queue));
  const auto *seen = static_cast<const std::uint32_t *>(take(sizes.map(queue)));
  const Sizes result(seen, seen + 4);
  require(sizes.unmap(queue));
  return result;
}

// What the report says of a rung.
std::string reason_of(const Loaded &loaded, kiln_rung rung) {
  const auto found = loaded.report.of_rung(rung);
  return found ? found->reason : "not tried";
}

Kernel kernel_of(const Loader &loader, const char *variant, const char *name = "") {
  Loaded loaded = loader.load("scale", variant, kSourceOnly);
  INFO(loaded.report.json());
  REQUIRE(loaded.program);
  return take(Kernel::create(*loaded.program, name));
}

}  // namespace

TEST_CASE("the device says who it is", "[device]") {
  CHECK_FALSE(device().info("device_name").empty());
  CHECK_FALSE(device().info("profile").empty());
  CHECK_FALSE(device().info("key").empty());
  auto opencl = take(OpenCL::open());
  const Device again = take(opencl.device_from_cl(device().cl()));
  CHECK(again.info("key") == device().info("key"));
  const std::size_t count = take(opencl.device_count());
  const auto beyond = opencl.device(count);
  CHECK(beyond.error().status == KILN_ERROR_NO_DEVICE);
}

TEST_CASE("this device's own binary is exact and gives the right numbers", "[device]") {
  device();
  const test::TemporaryFolder folder;
  const Loader loader = loader_for(exact_pack(folder));
  Loaded loaded = loader.load("scale", "", KILN_LOAD_CHECK_RECOMPILED);
  const std::string report = loaded.report.json();
  INFO(report);
  REQUIRE(loaded.program);
  CHECK(loaded.report.rung() == KILN_RUNG_EXACT);
  CHECK(loaded.report.milliseconds() > 0);
  CHECK(report.starts_with(R"({"schema": 1, "program": "scale", "variant": "a_plain", )"));
  CHECK(mentions(report, R"("rung": "exact", )"));
  CHECK(report.ends_with(R"("nearest": null})"));
  const std::size_t blob = report.find(R"("blob": ")");
  REQUIRE(blob != std::string::npos);
  CHECK(report.find('"', blob + 9) == blob + 9 + 64);
  scale(loader, take(Kernel::create(*loaded.program)), {1, {1000, 0, 0}, {}, {}});
}

TEST_CASE("IL is used where the device takes it, and skipped with the reason where not",
          "[device]") {
  device();
  const Loader loader = loader_for(kPack);
  Loaded loaded = loader.load("scale");
  INFO(loaded.report.json());
  REQUIRE(loaded.program);
  CHECK(reason_of(loaded, KILN_RUNG_EXACT) == "no target of the pack has this device's binary key");
  if (device().info("il_version").find("SPIR-V_1.") == std::string::npos) {
    CHECK(loaded.report.rung() == KILN_RUNG_SOURCE);
    CHECK(reason_of(loaded, KILN_RUNG_IL) == "the device takes no SPIR-V");
  } else {
    CHECK(loaded.report.rung() == KILN_RUNG_IL);
  }
  scale(loader, take(Kernel::create(*loaded.program, "scale")), {1, {77, 0, 0}, {}, {}});
}

TEST_CASE("source that does not compile is an error with the build log", "[device]") {
  device();
  const test::TemporaryFolder folder;
  packs::Contents contents = base_contents();
  const std::string text = "kernel void scale(global uint *v) { v[0] = no_such_name; }";
  packs::Variant &variant = find(contents, "scale", "a_plain");
  variant.source = packs::BlobSource(packs::Bytes(text.begin(), text.end()));
  variant.il32.reset();
  variant.il64.reset();
  const std::string path = (folder.path() / "broken.kiln").string();
  REQUIRE(packs::write_pack(contents, path).ok());
  const Loader loader = loader_for(path);
  const Loaded loaded = loader.load("scale", "a_plain");
  CHECK(loaded.program.error().status == KILN_ERROR_NO_RUNG);
  CHECK(loaded.report.rung() == KILN_RUNG_ERROR);
  CHECK(loaded.report.of_rung(KILN_RUNG_SOURCE)->outcome == KILN_OUTCOME_FAILED);
  const std::string report = loaded.report.json();
  INFO(report);
  CHECK(mentions(report, R"("rung": "error", )"));
  const std::size_t log = report.find(R"("log": ")");
  REQUIRE(log != std::string::npos);
  CHECK(report.find("no_such_name", log) != std::string::npos);
}

TEST_CASE("what the device lacks is said before anything is built", "[device]") {
  device();
  const Loader loader = loader_for(kPack);
  const Loaded named = loader.load("scale", "impossible");
  CHECK(named.program.error().status == KILN_ERROR_REQUIREMENT);
  CHECK(loader.load("only_impossible").program.error().status == KILN_ERROR_REQUIREMENT);
  CHECK(loader.load("nothing").program.error().status == KILN_ERROR_NOT_IN_PACK);
}

TEST_CASE("a launch takes the size that is given, and pads the range to it", "[device]") {
  device();
  const Loader loader = loader_for(kPack);
  const Kernel kernel = kernel_of(loader, "a_plain", "scale");
  CHECK(scale(loader, kernel, {1, {13, 0, 0}, {4, 0, 0}, {}}) == Sizes{16, 1, 4, 1});
  CHECK(scale(loader, kernel, {2, {13, 5, 0}, {7, 3, 0}, {}}) == Sizes{14, 6, 7, 3});
  CHECK(scale(loader, kernel, {2, {1, 1, 0}, {1, 1, 0}, {}}) == Sizes{1, 1, 1, 1});
  CHECK(Kernel::create(*loader.load("scale", "a_plain", kSourceOnly).program, "no_such_kernel")
            .error()
            .status == KILN_ERROR_NOT_IN_PACK);
}

TEST_CASE("the pack's size is used where none is given, and clamped to the device", "[device]") {
  device();
  const Loader loader = loader_for(kPack);
  const Sizes stored = scale(loader, kernel_of(loader, "stored"), {2, {13, 5, 0}, {}, {}});
  CHECK(stored == Sizes{16, 6, 8, 2});
  const Kernel greedy = kernel_of(loader, "greedy");
  const kiln_ndrange planned = take(greedy.plan({2, {5000, 3, 0}, {}, {}}));
  const Sizes clamped = scale(loader, greedy, {2, {5000, 3, 0}, {}, {}});
  CHECK(clamped[2] == planned.local[0]);
  CHECK(clamped[3] == planned.local[1]);
  CHECK(clamped[0] == planned.global[0]);
  CHECK(planned.local[0] * planned.local[1] <=
        device().get()->device->capabilities.max_work_group_size);
}

TEST_CASE("the size that a kernel requires is used whatever is asked for", "[device]") {
  device();
  const Loader loader = loader_for(kPack);
  const Kernel kernel = kernel_of(loader, "required");
  CHECK(scale(loader, kernel, {2, {13, 5, 0}, {}, {}}) == Sizes{16, 6, 4, 2});
  CHECK(scale(loader, kernel, {2, {13, 5, 0}, {16, 16, 0}, {}}) == Sizes{16, 6, 4, 2});
}

TEST_CASE("images go in and out by mapping, rows at their pitch", "[device]") {
  device();
  const Loader loader = loader_for(kPack);
  Loaded loaded = loader.load("invert");
  if (!loaded.program && loaded.program.error().status == KILN_ERROR_REQUIREMENT) {
    KILN_SKIP("the device has no images");
  }
  const Kernel kernel = take(Kernel::create(*loaded.program));
  const Queue queue = take(Queue::create(loader));
  constexpr std::size_t kWidth = 37;
  constexpr std::size_t kHeight = 5;
  for (const unsigned channels : {1u, 2u, 4u}) {
    CAPTURE(channels);
    auto made = Image::create(loader, kWidth, kHeight, channels, KILN_ACCESS_READ);
    if (!made && channels != 4) continue;  // CL_RGBA is all that OpenCL 1.2 promises
    const Image from = take(std::move(made));
    const Image to = take(Image::create(loader, kWidth, kHeight, channels, KILN_ACCESS_WRITE));
    Image::Mapping rows = take(from.map(queue));
    CHECK(rows.row_pitch >= kWidth * channels);
    CHECK_FALSE(from.map(queue));
    for (std::size_t y = 0; y < kHeight; ++y) {
      auto *row = static_cast<std::uint8_t *>(rows.address) + y * rows.row_pitch;
      for (std::size_t x = 0; x < kWidth * channels; ++x) row[x] = static_cast<std::uint8_t>(x + y);
    }
    require(from.unmap(queue));
    require(kernel.set(0, from));
    require(kernel.set(1, to));
    require(take(kernel.launch(queue, {2, {kWidth, kHeight, 0}, {}, {}})).wait());
    rows = take(to.map(queue));
    bool right = true;
    for (std::size_t y = 0; y < kHeight; ++y) {
      const auto *row = static_cast<const std::uint8_t *>(rows.address) + y * rows.row_pitch;
      for (std::size_t x = 0; x < kWidth * channels; ++x) {
        right = right && row[x] == 255 - static_cast<std::uint8_t>(x + y);
      }
    }
    CHECK(right);
    require(to.unmap(queue));
    require(queue.finish());
  }
}

TEST_CASE("a sub-device lives for as long as what was made from it") {
  const runtime::Device &whole = *device().get()->device;
  const auto library = dlopen("libOpenCL.so.1", RTLD_NOW);
  REQUIRE(library != nullptr);
  const auto create =
      reinterpret_cast<decltype(&::clCreateSubDevices)>(dlsym(library, "clCreateSubDevices"));
  REQUIRE(create != nullptr);
  const cl_device_partition_property by_counts[] = {CL_DEVICE_PARTITION_BY_COUNTS, 1,
                                                    CL_DEVICE_PARTITION_BY_COUNTS_LIST_END, 0};
  cl_device_id part = nullptr;
  if (create(whole.id, by_counts, 1, &part, nullptr) != CL_SUCCESS) {
    KILN_SKIP("this device cannot be partitioned");
  }
  const auto references = [&] {
    cl_uint count = 0;
    CHECK(whole.cl->clGetDeviceInfo(part, CL_DEVICE_REFERENCE_COUNT, sizeof(count), &count,
                                    nullptr) == CL_SUCCESS);
    return count;
  };
  const cl_uint before = references();
  {
    const Device opened = take(take(OpenCL::open()).device_from_cl(part));
    CHECK(references() > before);
    const Loader loader = take(Loader::create(opened, take(Pack::open_file(kPack))));
    CHECK(loader.load("scale", "a_plain", kSourceOnly).program);
  }
  CHECK(references() == before);
  CHECK(whole.cl->clReleaseDevice(part) == CL_SUCCESS);
}

TEST_CASE("A pack tells its programs, their variants and kernels") {
  const auto kernels = pack_kernels(take(Pack::open_file(kPack)));
  REQUIRE(kernels.size() == 7);
  CHECK(kernels[5].program == "scale");
  CHECK(kernels[5].variant == "required");
  CHECK(kernels[5].options == "-cl-std=CL1.2");
  CHECK(kernels[5].kernel == "scale_by_groups");
  CHECK(kernels[0].arguments == 2);
  CHECK(pack_kernels(Pack()).empty());
}
