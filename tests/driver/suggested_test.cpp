// SPDX-License-Identifier: Apache-2.0
// First guesses of work-group sizes on a scripted Mali: the driver's suggestion, and Arm's table.
#include "builder/machine/opened_device.hpp"
#include "builder/tune/measure.hpp"
#include "kiln/packs/writer.hpp"
#include "runtime/launch/enqueue.hpp"
#include "tests/driver/application.hpp"
#include "tests/support/catch.hpp"

using namespace kiln;
using namespace kiln::test;
using nlohmann::json;

namespace {

constexpr unsigned kLaunches = 3;

std::string mali(const std::string &more) {
  std::string script = computing_device(
      "vendor_id = 0x74021000\nmax_work_group_size = 384\n"
      "max_work_item_sizes = [384, 384, 384]\n" +
      more);
  const auto replace = [&](const std::string &what, const std::string &by) {
    script.replace(script.find(what), what.size(), by);
  };
  replace("name = \"Scripted GPU\"", "name = \"Mali-G52 r1p0\"");
  replace("vendor = \"Kiln\"", "vendor = \"ARM\"");
  replace("OpenCL 3.0 scripted", "OpenCL 2.0 v1.r26p0-01eac0.0123456789abcdef0123456789abcdef");
  return script;
}

std::string suggesting(const std::string &size) {
  return "extensions = \"cl_khr_suggested_local_work_size\"\nsuggested_local_size = " + size + "\n";
}

// In a child: launches "triple" a few times. [whether each value is right, the source of the
// work-group size, its x, why a suggestion was refused].
json launch_in_child(const std::string &path) {
  auto opencl = take(OpenCL::open());
  const Device device = take(opencl.device(0));
  const Loader loader = take(Loader::create(device, take(Pack::open_file(path))));
  const Loaded loaded = loader.load("triple");
  if (!loaded.program) throw std::runtime_error(loaded.program.error().message);
  const Queue queue = take(Queue::create(loader));
  constexpr std::uint32_t kCount = 500;
  constexpr std::size_t kPadded = 1024;
  const Buffer out = take(Buffer::create(loader, kPadded * 4, KILN_ACCESS_BOTH));
  const Kernel kernel = take(Kernel::create(*loaded.program, "triple"));
  require(kernel.set(0, out));
  require(kernel.set(1, 3u));
  const kiln_ndrange range = {1, {kCount, 1, 1}, {0, 0, 0}, {0, 0, 0}};
  for (unsigned i = 0; i < kLaunches; ++i) take(kernel.launch(queue, range));
  const auto *values = static_cast<std::uint32_t *>(take(out.map(queue)));
  bool right = true;
  for (std::uint32_t i = 0; i < kCount; ++i) right = right && values[i] == 3 * i + 1;
  require(out.unmap(queue));
  return {right, take(kernel.local_source(range)), take(kernel.plan(range)).local[0],
          kernel.suggestion_refused(range)};
}

// In a child: the first guesses of the tuner for 500 work-items.
json seed_in_child(const std::string &path, const std::array<std::uint32_t, 3> &own) {
  const auto listed = builder::list_devices();
  builder::PackOnDevice opened;
  if (!listed.ok() || !opened.open(listed->front(), path).ok())
    throw std::runtime_error("no device");
  const Loaded loaded = opened.loader.load("triple");
  if (!loaded.program) throw std::runtime_error(loaded.program.error().message);
  const Buffer out = take(Buffer::create(opened.loader, 4096, KILN_ACCESS_BOTH));
  const Kernel kernel = take(Kernel::create(*loaded.program, "triple"));
  require(kernel.set(0, out));
  require(kernel.set(1, 3u));
  packs::Variant variant = triple_program().programs[0].variants[0];
  variant.local_size = own;
  const builder::Stage stage{"triple", 1, {500, 1, 1}, {}};
  const auto limits = runtime::query_limits(*opened.child.device, kernel.cl());
  const builder::Seeds seeds = builder::find_seeds(opened, kernel.cl(), variant, stage, limits);
  return {seeds.sizes(), seeds.refused, seeds.refused_local};
}

json seeds_on(const std::string &script, const std::array<std::uint32_t, 3> &own = {0, 0, 0}) {
  const ScriptedDriver driver(script);
  const std::string path = driver.path("app.kiln");
  REQUIRE(packs::write_pack(triple_program(), path).ok());
  const auto child = driver.run([&] { return seed_in_child(path, own); });
  INFO(child.reason());
  REQUIRE(child.ok());
  return child.answer;
}

struct Outcome {
  json answer;
  std::size_t asked = 0;
};

Outcome launch_on(const std::string &script) {
  const ScriptedDriver driver(script);
  const std::string path = driver.path("app.kiln");
  REQUIRE(packs::write_pack(triple_program(), path).ok());
  const auto child = driver.run([&] { return launch_in_child(path); });
  INFO(child.reason());
  REQUIRE(child.ok());
  return {child.answer, driver.calls("clGetKernelSuggestedLocalWorkSizeKHR")};
}

}  // namespace

TEST_CASE("a Mali that suggests a size is asked once, and launched with it") {
  KILN_NEEDS_POCL();
  const Outcome outcome = launch_on(mali(suggesting("[96, 1, 1]")));
  CHECK(outcome.answer == json{true, KILN_LOCAL_SUGGESTED, 96, ""});
  CHECK(outcome.asked == 1);
}

TEST_CASE("a Mali without suggestions gets its size from Arm's table") {
  KILN_NEEDS_POCL();
  const Outcome outcome = launch_on(mali(""));
  CHECK(outcome.answer == json{true, KILN_LOCAL_PROFILE, 64, ""});
  CHECK(outcome.asked == 0);
}

TEST_CASE("a Mali's suggestion beyond its limits is named, and the table serves") {
  KILN_NEEDS_POCL();
  const std::pair<const char *, const char *> rows[] = {
      {"[0, 0, 0]", "the driver suggests 0: nothing in dimension 0"},
      {"[512, 1, 1]", "the driver suggests 512: at most 384 fit in dimension 0"}};
  for (const auto &[size, why] : rows) {
    const Outcome outcome = launch_on(mali(suggesting(size)));
    CHECK(outcome.answer == json{true, KILN_LOCAL_PROFILE, 64, why});
    CHECK(outcome.asked == 1);
  }
}

TEST_CASE("a Mali that cannot say what it would choose is launched all the same") {
  KILN_NEEDS_POCL();
  const char fault[] =
      "[[fault]]\nat = \"clGetKernelSuggestedLocalWorkSizeKHR\"\ndo = \"error\"\ncode = -5\n";
  const Outcome outcome = launch_on(mali(suggesting("[64, 1, 1]") + fault));
  CHECK(outcome.answer ==
        json{true, KILN_LOCAL_PROFILE, 64,
             "clGetKernelSuggestedLocalWorkSizeKHR returned CL_OUT_OF_RESOURCES (-5)"});
  CHECK(outcome.asked == 1);
}

TEST_CASE("the tuner begins with the variant's own size, the suggestion and the table's") {
  KILN_NEEDS_POCL();
  const json none = {0, 0, 0};
  CHECK(seeds_on(mali(suggesting("[96, 1, 1]")), {48, 1, 0}) ==
        json{{{48, 1, 1}, {96, 1, 1}, {64, 1, 1}}, "", none});
  CHECK(seeds_on(mali("")) == json{{{64, 1, 1}}, "", none});
  CHECK(seeds_on(mali(suggesting("[512, 1, 1]"))) ==
        json{{{64, 1, 1}}, "the driver suggests 512: at most 384 fit in dimension 0", {512, 1, 1}});
}
