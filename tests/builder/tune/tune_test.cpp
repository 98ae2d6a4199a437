// SPDX-License-Identifier: Apache-2.0
// A scripted driver on which some kernels compute, some do nothing, and some kill.
#include "builder/tune/tune.hpp"

#include <algorithm>
#include <iostream>

#include "builder/compile/base_pack.hpp"
#include "builder/machine/opened_device.hpp"
#include "kiln/packs/writer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/pocl.hpp"
#include "tests/support/scripted_driver.hpp"

using namespace kiln;
using namespace kiln::builder;

namespace {

constexpr char kMachine[] =
    "[[platform]]\nname = \"Scripted platform\"\n"
    "[[platform.device]]\nforward = true\ntype = \"gpu\"\nname = \"Scripted GPU\"\n";

std::string fault(const std::string &what, const std::string &kernel,
                  const std::string &more = {}) {
  return "[[fault]]\nat = \"clEnqueueNDRangeKernel\"\ndo = \"" + what + "\"\nkernel = \"" + kernel +
         "\"\n" + more;
}

const test::ScriptedDriver &driver() {
  static const test::ScriptedDriver made(kMachine);
  return made;
}

DeviceInfo scripted_pocl() {
  driver().use();
  driver().rewrite(kMachine);
  const auto listed = list_devices();
  if (!listed.ok()) FAIL(listed.status().message);
  return listed->front();
}

// With a threshold of 0 the epsilon filter gives back its input.
packs::Variant copying(const std::string &kernel) {
  packs::Variant v;
  v.name = kernel;
  const std::string source = "__kernel void " + kernel +
                             "(__global const uchar *in, __global uchar *out, uint width, uint "
                             "height, uint threshold) {\n  uint x = get_global_id(0), y = "
                             "get_global_id(1);\n  if (x < width && y < height) out[y * width + x] "
                             "= in[y * width + x];\n}\n";
  v.hash = kiln::packs::variant_hash(source, "", {kernel});
  v.kernels = {{kernel, 5}};
  v.source.emplace(packs::Bytes{source.begin(), source.end()});
  for (const Role role : {Role::input, Role::output, Role::width, Role::height, Role::parameter}) {
    packs::Argument a;
    a.role = role;
    if (role == Role::parameter) {
      a.name = "threshold";
      a.type = Type::uint_;
    }
    v.arguments.push_back(a);
  }
  return v;
}

// An application's kernels. `picky` is fast in groups of 64 alone; `loose` and `wild` are, too, but
// on anything but zeros `loose` computes something else then, and `wild` ends the process.
constexpr char kRecorded[] =
    "size_t slowly(void) {\n"
    "  const size_t i = get_global_id(0);\n"
    "  volatile uint x = 0;\n"
    "  if (get_local_size(0) != 64) for (uint k = 0; k < 200; ++k) x += k;\n"
    "  return i;\n"
    "}\n"
    "kernel void picky(global uint *out) { const size_t i = slowly(); out[i] = out[i] * 3 + i; }\n"
    "kernel void loose(global uint *out) {\n"
    "  const size_t i = slowly();\n"
    "  if (out[i] != 0) out[i] = get_local_size(0);\n"
    "}\n"
    "kernel void wild(global uint *out) {\n"
    "  const size_t i = slowly();\n"
    "  if (out[(size_t)out[i] << 20] == 7) out[i] = 1;\n"
    "}\n"
    "kernel void shape(global uint *out) { out[get_global_id(0)] = get_local_size(0); }\n"
    "kernel __attribute__((reqd_work_group_size(64, 1, 1)))\n"
    "void sized(global uint *out) { out[get_global_id(0)] = 1; }\n"
    "kernel void dies(global uint *out) { out[get_global_id(0)] = 1; }\n"
    "kernel void odd(global uint *out) { out[get_global_id(0)] = 1; }\n"
    "kernel void samples(global uint *out) { out[get_global_id(0)] = 1; }\n"
    "kernel void given(global uint *out) { out[get_global_id(0)] = 1; }\n";

std::string recorded(const std::string &kernel, std::size_t range, const char *local = "[0,0,0]",
                     const char *argument = R"({"buffer":262144})") {
  return R"({"kernel":")" + kernel + R"(","dimensions":1,"local":)" + local +
         R"(,"wide":false,"moved":false,"global":[)" + std::to_string(range) +
         R"(,1,1],"offset":[0,0,0],"arguments":[)" + argument + "]}\n";
}

packs::Variant application() {
  packs::Variant v;
  v.name = "recorded";
  const std::string source = kRecorded;
  std::vector<std::string> names;
  std::string lines;
  for (const char *kernel :
       {"picky", "loose", "wild", "shape", "sized", "dies", "odd", "samples", "given"}) {
    names.emplace_back(kernel);
    v.kernels.push_back({kernel, 1});
  }
  for (const char *kernel : {"picky", "loose", "wild", "shape", "sized", "dies"}) {
    lines += recorded(kernel, std::string(kernel) == "picky" ? 65'536 : 4096);
  }
  lines += recorded("picky", 32'768) + recorded("picky", 4096) + recorded("odd", 101) +
           recorded("samples", 64, "[0,0,0]", R"({"unknown":"a sampler"})") +
           recorded("given", 64, "[32,1,1]");
  v.hash = kiln::packs::variant_hash(source, "", names);
  v.source.emplace(packs::Bytes{source.begin(), source.end()});
  v.launches.emplace(packs::Bytes{lines.begin(), lines.end()});
  return v;
}

struct Workshop {
  explicit Workshop(std::vector<packs::Variant> variants) {
    contents.programs = {
        {"same", "library:libkiln_case_references.so:epsilon", std::move(variants)}};
    options.pack_path = (folder.path() / "tune.kiln").string();
    options.sizes = {{48, 32, 1}};
    options.budget_seconds = 30;  // more than a busy machine needs
    options.timeout = std::chrono::seconds(8);
  }

  TunedDevice tuned(const DeviceInfo &device) const {
    const packs::Status status = packs::write_pack(contents, options.pack_path.c_str());
    INFO(status.message);
    REQUIRE(status.ok());
    return tune(contents, device, options, nullptr);
  }

  test::TemporaryFolder folder;
  packs::Contents contents;
  TuneOptions options;
};

const TunedVariant &variant(const TunedDevice &tuned, const std::string &name,
                            std::size_t size = 0) {
  const auto &variants = tuned.sizes.at(size).variants;
  return *std::find_if(variants.begin(), variants.end(),
                       [&](const TunedVariant &v) { return v.variant == name; });
}

bool starts_with(const std::string &text, const std::string &start) {
  return text.compare(0, start.size(), start) == 0;
}

}  // namespace

TEST_CASE("a variant that kills the driver or does nothing is reported, and costs no other") {
  KILN_NEEDS_POCL();
  const DeviceInfo device = scripted_pocl();
  Workshop shop({copying("good"), copying("dies"), copying("hangs"), copying("idle"),
                 copying("refused"), copying("lacking")});
  shop.contents.programs[0].variants.back().requirements = {"extension:cl_no_such_extension"};
  shop.options.sizes = {{48, 32, 1}, {96, 64, 1}};
  driver().rewrite(kMachine + fault("segv", "dies") + fault("hang", "hangs") +
                   fault("skip", "idle") + fault("error", "refused"));
  const TunedDevice tuned = shop.tuned(device);
  REQUIRE(tuned.status.ok());
  REQUIRE(tuned.sizes.size() == 2);
  CHECK(variant(tuned, "good").measured());
  CHECK(variant(tuned, "good").check == Check::exact);
  CHECK(starts_with(variant(tuned, "dies").reason, "the driver died: crashed with signal 11"));
  CHECK(starts_with(variant(tuned, "hangs").reason, "the driver died: gave no answer in time"));
  CHECK(variant(tuned, "idle", 1).reason == "the result is wrong: not tuned");
  CHECK(starts_with(variant(tuned, "refused").reason, "clEnqueueNDRangeKernel returned"));
  CHECK(variant(tuned, "lacking").reason == "needs the extension cl_no_such_extension");
  for (const std::size_t size : {0U, 1U}) {
    CHECK(variant(tuned, "dies", size).rejected());
    CHECK(variant(tuned, "hangs", size).rejected());
    CHECK_FALSE(variant(tuned, "lacking", size).rejected());
  }
  CHECK(variant(tuned, "idle", 1).rejected());
  CHECK(variant(tuned, "idle").reason == "rejected at 96x64: the result is wrong: not tuned");
  REQUIRE(tuned.sizes[0].best() != nullptr);
  CHECK(tuned.sizes[0].best()->variant == "good");
  for (const packs::Tuning &row : tuning_rows(tuned)) CHECK(row.variant == "good");
}

TEST_CASE("sizes that the driver refuses are skipped, and the best is one that it takes") {
  KILN_NEEDS_POCL();
  const DeviceInfo device = scripted_pocl();
  Workshop shop({copying("good")});
  // After the check and the warm-up, in the search.
  driver().rewrite(kMachine + fault("error", "good", "code = -5\nnth = 7\n"));
  const TunedDevice tuned = shop.tuned(device);
  const TunedVariant good = variant(tuned, "good");
  REQUIRE(good.measured());
  REQUIRE(good.kernels.size() == 1);
  REQUIRE(good.kernels[0].skipped.size() == 1);
  CHECK(starts_with(good.kernels[0].skipped[0].reason, "clEnqueueNDRangeKernel returned"));
  CHECK(good.kernels[0].local != good.kernels[0].skipped[0].local);
  for (const TunedPoint &point : good.kernels[0].points) {
    CHECK(point.local != good.kernels[0].skipped[0].local);
  }
}

TEST_CASE("what is measured is within the kernel's limits and has times") {
  KILN_NEEDS_POCL();
  const DeviceInfo device = scripted_pocl();
  Workshop shop({copying("good")});
  driver().rewrite(kMachine);
  const TunedDevice tuned = shop.tuned(device);
  const TunedVariant good = variant(tuned, "good");
  REQUIRE(good.measured());
  CHECK(good.nanoseconds > 0);
  CHECK(good.default_nanoseconds > 0);
  CHECK(good.samples >= 5);
  const TunedKernel &kernel = good.kernels.at(0);
  CHECK(kernel.work_items == 48 * 32);
  REQUIRE(kernel.points.size() > 1);
  bool has_best = false;
  for (const TunedPoint &point : kernel.points) {
    CHECK(point.nanoseconds > 0);
    CHECK(point.local[0] * point.local[1] * point.local[2] <=
          device.capabilities.max_work_group_size);
    has_best = has_best || point.local == kernel.local;
  }
  CHECK(has_best);
}

// Fast with the sizes that PoCL chooses for 45x33, whose sides no other size divides.
packs::Variant whole_range() {
  packs::Variant v = copying("whole");
  const std::string source =
      "kernel void whole(global const uchar *in, global uchar *out, uint width, uint height, "
      "uint threshold) {\n"
      "  volatile uint spent = 0;\n"
      "  if (get_global_size(0) != 45 || get_global_size(1) != 33 || get_local_size(0) < 5)\n"
      "    for (uint k = 0; k < 2000; ++k) spent += k;\n"
      "  uint x = get_global_id(0), y = get_global_id(1);\n"
      "  if (x < width && y < height) out[y * width + x] = in[y * width + x];\n"
      "}\n";
  v.hash = kiln::packs::variant_hash(source, "", {"whole"});
  v.source.emplace(packs::Bytes{source.begin(), source.end()});
  return v;
}

TEST_CASE("a driver's own choice is tried; of what can be launched the fastest is kept") {
  KILN_NEEDS_POCL();
  const DeviceInfo device = scripted_pocl();
  const bool known = GENERATE(true, false);
  Workshop shop({whole_range()});
  shop.options.sizes = {{45, 33, 1}};
  driver().rewrite(kMachine + (known ? "" : fault("error", "kiln_driver_size", "code = -5\n")));
  const TunedDevice tuned = shop.tuned(device);
  const TunedVariant whole = variant(tuned, "whole");
  INFO(whole.reason);
  REQUIRE(whole.measured());
  const TunedKernel &kernel = whole.kernels.at(0);
  std::size_t rows = 0;
  for (const packs::Tuning &row : tuning_rows(tuned)) rows += row.kernel == "whole" ? 1 : 0;
  CHECK(rows == 1);
  CHECK((45 % kernel.local[0] == 0 && kernel.local[0] >= 5) == known);
  CHECK((whole.gain() > 0.5) == known);
}

TEST_CASE("a device that is gone gives no tunings and says so") {
  KILN_NEEDS_POCL();
  DeviceInfo device = scripted_pocl();
  Workshop shop({copying("good")});
  device.index = 7;
  const TunedDevice tuned = shop.tuned(device);
  CHECK(tuned.status.code == Code::no_device);
  CHECK(tuned.status.message == "the device is gone");
  CHECK(tuning_rows(tuned).empty());
}

TEST_CASE("a used-up budget leaves the rest unmeasured, and says so") {
  KILN_NEEDS_POCL();
  const DeviceInfo device = scripted_pocl();
  Workshop shop({copying("a"), copying("b"), copying("c")});
  driver().rewrite(kMachine);
  shop.options.budget_seconds = 1e-3;
  const TunedDevice tuned = shop.tuned(device);
  CHECK(variant(tuned, "b").reason == "the budget was used up");
  CHECK(variant(tuned, "c").reason == "the budget was used up");
  for (const packs::Tuning &row : tuning_rows(tuned)) CHECK(row.variant == "a");
}

TEST_CASE("a recorded kernel gets the size that is better in all of its launches") {
  KILN_NEEDS_POCL();
  const DeviceInfo device = scripted_pocl();
  Workshop shop({});
  shop.contents.programs = {{"cl-0", "", {application()}}};
  shop.options.budget_seconds = 60;
  driver().rewrite(kMachine + fault("segv", "dies"));
  const TunedDevice tuned = shop.tuned(device);
  REQUIRE(tuned.status.ok());
  CHECK(tuned.sizes.empty());
  const auto of = [&](const std::string &kernel, packs::SizeClass size_class) {
    const auto found =
        std::find_if(tuned.launches.begin(), tuned.launches.end(), [&](const TunedLaunch &launch) {
          return launch.kernel.kernel == kernel && launch.size_class == size_class;
        });
    REQUIRE(found != tuned.launches.end());
    return *found;
  };
  constexpr auto kSmall = packs::SizeClass::small;
  constexpr auto kMedium = packs::SizeClass::medium;
  for (const packs::SizeClass size_class : {kSmall, kMedium}) {
    const TunedLaunch picky = of("picky", size_class);
    CHECK(picky.reason == "");
    CHECK(picky.end == LaunchEnd::better);
    CHECK(picky.compared_on_pattern);
    CHECK(picky.kernel.local == NDSize{64, 1, 1});
    CHECK(picky.launches == (size_class == kSmall ? 2 : 1));
  }
  CHECK(of("loose", kSmall).end == LaunchEnd::refused);
  CHECK(of("loose", kSmall).reason == "it does not compute the same with groups of 64");
  CHECK(of("wild", kSmall).end == LaunchEnd::better);
  CHECK_FALSE(of("wild", kSmall).compared_on_pattern);
  CHECK(of("shape", kSmall).end == LaunchEnd::refused);
  CHECK(starts_with(of("shape", kSmall).reason, "it does not compute the same with groups of "));
  CHECK(of("sized", kSmall).reason == "it has a required size");
  CHECK(of("dies", kSmall).end == LaunchEnd::refused);
  CHECK(starts_with(of("dies", kSmall).reason,
                    "it ends the process on zeros: crashed with signal 11"));
  CHECK(of("odd", kSmall).reason == "no work-group size divides its ranges");
  CHECK(of("samples", kSmall).reason == "argument 0 of a launch was not recorded: a sampler");
  CHECK(tuned.launches.size() == 9);
  std::vector<std::string> rows;
  for (const packs::Tuning &row : tuning_rows(tuned)) rows.push_back(row.kernel);
  CHECK(rows == std::vector<std::string>{"picky", "picky", "wild"});
}

TEST_CASE("a program whose launches all have sizes has nothing to tune") {
  KILN_NEEDS_POCL();
  const DeviceInfo device = scripted_pocl();
  Workshop shop({});
  packs::Variant variant = application();
  const std::string line = recorded("given", 64, "[32,1,1]");
  variant.launches.emplace(packs::Bytes{line.begin(), line.end()});
  shop.contents.programs = {{"cl-0", "", {variant}}};
  driver().rewrite(kMachine);
  const TunedDevice tuned = shop.tuned(device);
  REQUIRE(tuned.launches.size() == 1);
  CHECK(tuned.launches[0].reason == "no recorded launch leaves the work-group size to the driver");
  CHECK(tuning_rows(tuned).empty());
}
