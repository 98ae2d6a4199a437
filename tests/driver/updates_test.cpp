// SPDX-License-Identifier: Apache-2.0
// Drivers and systems that are updated between two starts, with and without a sign of it.
#include "kiln/kiln.hpp"
#include "kiln/packs/bytes.hpp"
#include "tests/driver/ladder.hpp"

using namespace kiln;
using namespace kiln::test;
using builder::ProcessEnd;
namespace fs = std::filesystem;

namespace {

constexpr char kQuarantined[] =
    "an earlier process ended inside the driver while it was given this";

// Puts a driver into the machine whose file was made `hours` after the built one.
void install_driver(int hours) {
  const fs::path path = machine().driver().path("driver.so");
  const fs::path fresh = machine().driver().path("driver.new");
  fs::copy_file(KILN_TEST_DRIVER_LIBRARY, fresh);
  fs::last_write_time(fresh,
                      fs::last_write_time(KILN_TEST_DRIVER_LIBRARY) + std::chrono::hours(hours));
  fs::rename(fresh, path);
  machine().driver().folder().write("icd/kiln_test_driver.icd", path.string() + "\n");
}

Start start_full(const std::string &rest, const StartOptions &options) {
  return machine().start_with(rest, machine().full(), options);
}

std::size_t comparisons() { return machine().driver().calls("clGetProgramInfo binary"); }

void set_version(const std::string &version) {
  std::string script = computing_device("il = \"SPIR-V_1.0\"\n");
  const std::string old = "driver_version = \"1.0\"";
  script.replace(script.find(old), old.size(), "driver_version = \"" + version + "\"");
  machine().driver().rewrite(script);
}

constexpr char kRefuses[] = "[platform.device.binary]\nrevision = 1\n";
constexpr char kRecompiles[] =
    "[platform.device.binary]\nrevision = 1\nother_revision = \"recompile\"\n";

// A row that was measured on this machine's device, for the program's variant "other".
packs::Tuning measured(const char *kernel, std::uint64_t nanoseconds) {
  const auto facts = machine().driver().run([]() -> nlohmann::json {
    auto opencl = OpenCL::open();
    auto device = opencl->device(0);
    const auto fact = [&](const char *name) {
      const char *text = kiln_device_info(device->get(), name);
      return std::string(text == nullptr ? "" : text);
    };
    return {fact("profile"), fact("family"), fact("model"), fact("key")};
  });
  INFO(facts.reason());
  REQUIRE(facts.ok());
  packs::Tuning tuning;
  tuning.program = "triple";
  tuning.variant = "other";
  tuning.kernel = kernel;
  tuning.profile = facts.answer[0];
  tuning.family = facts.answer[1];
  tuning.model = facts.answer[2];
  const std::string key = facts.answer[3];
  tuning.key_hash = packs::xxh3(key.data(), key.size());
  tuning.nanoseconds = nanoseconds;
  tuning.local_size = {*kernel == '\0' ? 1u : 4u, 1, 1};
  return tuning;
}

// What a start on the machine chooses: the variant, why, and where its work-group size is from.
nlohmann::json choose_here(const std::string &pack) {
  const auto child = machine().driver().run([&]() -> nlohmann::json {
    auto opencl = OpenCL::open();
    auto loader = Loader::create(*opencl->device(0), *Pack::open_file(pack));
    Loaded loaded = loader->load("triple", {}, KILN_LOAD_NO_IL);
    auto kernel = Kernel::create(*loaded.program);
    const kiln_ndrange range{1, {64, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    return {nlohmann::json::parse(loaded.report.json())["variant"], loaded.report.choice(),
            *kernel->local_source(range), kernel->plan(range)->local[0]};
  });
  INFO(child.reason());
  REQUIRE(child.ok());
  return child.answer;
}

}  // namespace

TEST_CASE("a driver whose file was replaced under unchanged strings has proven nothing") {
  KILN_NEEDS_POCL();
  const StartOptions options = with(machine().new_overlay());
  install_driver(0);
  CHECK(start_full("", options).rung == "exact");
  const std::size_t first = comparisons();
  CHECK(start_full("", options).rung == "exact");
  CHECK(comparisons() == first);  // proven
  install_driver(1);
  const Start replaced = start_full("", options);
  INFO(replaced.child.reason() << replaced.report);
  CHECK(replaced.rung == "exact");
  CHECK(replaced.right);
  CHECK(comparisons() > first);
  install_driver(0);
  const std::size_t second = comparisons();
  CHECK(start_full("", options).rung == "exact");
  CHECK(comparisons() == second);  // the old driver's proofs were kept
}

TEST_CASE("only a library that the driver needs counts as a part of the driver") {
  KILN_NEEDS_POCL();
  const StartOptions options = with(machine().new_overlay());
  install_driver(0);
  CHECK(start_full("", options).rung == "exact");
  const std::size_t proven = comparisons();
  const auto install = [](const char *name) { machine().driver().folder().write(name, "new"); };
  install("libunneeded.so.6");
  CHECK(start_full("", options).rung == "exact");
  CHECK(comparisons() == proven);
  install("libc.so.6");
  CHECK(start_full("", options).rung == "exact");
  CHECK(comparisons() > proven);
  const std::size_t updated = comparisons();
  const fs::path library = machine().driver().path("libc.so.6");
  fs::last_write_time(library, fs::last_write_time(library) - std::chrono::hours(1));
  CHECK(start_full("", options).rung == "exact");
  CHECK(comparisons() > updated);
  fs::remove(library);
}

TEST_CASE("a replaced driver that dies is seen, and a quarantine ends with the next one") {
  KILN_NEEDS_POCL();
  const StartOptions options = with(machine().new_overlay());
  install_driver(0);
  CHECK(start_full("", options).rung == "exact");
  install_driver(1);
  const std::string death = fault("clBuildProgram", "segv", "form = \"binary\"\n");
  for (int i = 0; i < 2; ++i) {
    CHECK(start_full(death, options).child.end == ProcessEnd::signalled);
  }
  const Start after = start_full(death, options);
  INFO(after.child.reason() << after.report);
  CHECK(after.reason("exact") == kQuarantined);
  CHECK(after.rung == "il");
  CHECK(after.right);
  install_driver(2);
  forget_binaries(options.overlay);
  const Start repaired = start_full("", options);
  INFO("repaired: " << repaired.child.reason() << repaired.report);
  CHECK(repaired.rung == "exact");
  CHECK(repaired.right);
  install_driver(1);
  CHECK(start_full("", options).reason("exact") == kQuarantined);  // a rollback is known
}

TEST_CASE("a system update that shows nowhere and refuses binaries gets the entry replaced") {
  KILN_NEEDS_POCL();
  const StartOptions options = with(machine().new_overlay());
  CHECK(start_full(kRefuses, options).rung == "il");  // the pack's binary is stale
  CHECK(start_full(kRefuses, options).rung == "overlay");
  const Start updated = start_full("[platform.device.binary]\nrevision = 2\n", options);
  INFO(updated.child.reason() << updated.report);
  for (const char *const rung : {"overlay", "exact"}) {
    CHECK(updated.outcome(rung) == "failed");
    CHECK(holds(updated.reason(rung), "CL_INVALID_BINARY (-42)"));
  }
  CHECK(updated.rung == "il");
  CHECK(updated.right);
  CHECK(updated.has_note("the driver's binary was stored in the overlay"));
  CHECK(entries_in(options.overlay) == 1);
  const Start next = start_full("[platform.device.binary]\nrevision = 2\n", options);
  INFO("next: " << next.child.reason() << next.report);
  CHECK(next.rung == "overlay");
  CHECK(next.right);
}

// What was proven is not looked at again: that is the price of starts without a write.
TEST_CASE("a system update that shows nowhere and recompiles computes right, and a check heals") {
  KILN_NEEDS_POCL();
  const StartOptions options = with(machine().new_overlay());
  CHECK(start_full("", options).rung == "exact");
  const Start updated = start_full(kRecompiles, options);
  INFO(updated.child.reason() << updated.report);
  CHECK(updated.rung == "exact");
  CHECK_FALSE(updated.recompiled);
  CHECK(updated.right);
  const Start checked = start_full(kRecompiles, with(options.overlay, KILN_LOAD_CHECK_RECOMPILED));
  INFO("checked: " << checked.child.reason() << checked.report);
  CHECK(checked.rung == "exact");
  CHECK(checked.recompiled);
  CHECK(checked.notice(KILN_NOTICE_RECOMPILED) != "-");
  const Start healed = start_full(kRecompiles, options);
  INFO("healed: " << healed.child.reason() << healed.report);
  CHECK(healed.rung == "overlay");
  CHECK_FALSE(healed.recompiled);
  CHECK(healed.right);
}

TEST_CASE("a driver update leaves the old driver's entries, and the rollback finds them") {
  KILN_NEEDS_POCL();
  const StartOptions options = with(machine().new_overlay());
  const auto start_version = [&](const std::string &version, const std::string &pack) {
    set_version(version);
    return start(machine().driver(), pack, options);
  };
  CHECK(start_version("1.0", machine().base()).rung == "il");
  const Start updated = start_version("2.0", machine().full());
  INFO(updated.child.reason() << updated.report);
  CHECK(updated.reason("overlay") == "the overlay has no binary of this variant");
  CHECK(updated.reason("exact") == "no target of the pack has this device's binary key");
  CHECK(holds(updated.report,
              "\"differs\": [{\"field\": \"driver_version\", \"pack\": \"1.0\", "
              "\"device\": \"2.0\"}]"));
  CHECK(updated.rung == "il");
  CHECK(updated.right);
  CHECK(entries_in(options.overlay) == 2);
  for (const char *const version : {"1.0", "2.0"}) {
    const std::size_t compiled = machine().driver().calls("clCreateProgramWithIL");
    const Start again = start_version(version, machine().base());
    INFO(version << ": " << again.child.reason() << again.report);
    CHECK(again.rung == "overlay");
    CHECK_FALSE(again.recompiled);
    CHECK(again.right);
    CHECK(machine().driver().calls("clCreateProgramWithIL") == compiled);
  }
}

TEST_CASE("a driver update keeps the choice of variant and the work-group size") {
  KILN_NEEDS_POCL();
  packs::Contents contents = triple_program();
  packs::Variant other = triple_variant("other");
  other.name = "other";
  contents.programs[0].variants.push_back(other);
  contents.programs[0].preferred = {"plain"};
  set_version("1.0");
  contents.tunings = {measured("", 810'000), measured("triple", 7'000)};
  const std::string pack = machine().driver().path("tuned.kiln");
  REQUIRE(packs::write_pack(contents, pack).ok());
  CHECK(choose_here(pack) ==
        nlohmann::json{"other", "the only one measured on this device for small problems: 0.810 ms",
                       KILN_LOCAL_DEVICE, 4});
  set_version("2.0");
  CHECK(choose_here(pack) ==
        nlohmann::json{"other", "the only one measured on this model for small problems: 0.810 ms",
                       KILN_LOCAL_MODEL, 4});
  set_version("1.0");
}
