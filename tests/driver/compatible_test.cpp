// SPDX-License-Identifier: Apache-2.0
// Another model's binary, which a recorded cross-check says serves; and a prefetch of many
// programs of which one kills the driver.
#include <nlohmann/json.hpp>

#include "kiln/kiln.hpp"
#include "kiln/packs/bytes.hpp"
#include "kiln/packs/pack.hpp"
#include "kiln/packs/records.hpp"
#include "tests/driver/ladder.hpp"

using namespace kiln;
using namespace kiln::test;
using builder::ProcessEnd;
using nlohmann::json;

namespace {

std::string model(const std::string &name, const std::string &binary) {
  std::string script = computing_device("[platform.device.binary]\n" + binary);
  const std::string old = "Scripted GPU";
  script.replace(script.find(old), old.size(), name);
  return script;
}

json device_key() {
  auto opencl = OpenCL::open();
  auto device = opencl->device(0);
  return device->info("key");
}

// Adds to the pack's only target the record of how the device with that key takes its binaries, and
// writes the pack elsewhere.
void add_record(const std::string &pack_path, const std::string &device, packs::CrossResult result,
                const std::string &output) {
  std::shared_ptr<const packs::Pack> pack;
  packs::Contents contents;
  REQUIRE(packs::Pack::open_file(pack_path.c_str(), &pack).ok());
  REQUIRE(packs::read_contents(pack, &contents).ok());
  REQUIRE(contents.targets.size() == 1);
  REQUIRE(device != contents.targets[0].key);
  contents.cross_checks.push_back({packs::xxh3(device), packs::xxh3(contents.targets[0].key),
                                   static_cast<std::uint32_t>(result)});
  REQUIRE(packs::write_pack(contents, output).ok());
}

// A pack with model A's binary, and the record that model B takes it as its own.
class Fleet {
 public:
  Fleet() : driver_(model("Model A", "")), pack_(driver_.path("fleet.kiln")) {
    const std::string own = build_pack(driver_, triple_program());
    driver_.rewrite(model("Model B", ""));
    const auto child = driver_.run(device_key);
    REQUIRE(child.ok());
    add_record(own, child.answer, packs::CrossResult::native, pack_);
  }

  std::string new_overlay() { return driver_.path("overlay-" + std::to_string(++overlays_)); }

  // A start on model B.
  Start start_b(const std::string &binary, const std::string &overlay, std::optional<bool> check) {
    driver_.rewrite(model("Model B", binary));
    Wishes wishes;
    wishes.flags = KILN_LOAD_COMPATIBLE;
    wishes.overlay = overlay;
    wishes.check = check;
    return start(driver_, pack_, wishes);
  }

  const ScriptedDriver &driver() const { return driver_; }
  const std::string &pack() const { return pack_; }

 private:
  ScriptedDriver driver_;
  std::string pack_;
  unsigned overlays_ = 0;
};

Fleet &fleet() {
  static Fleet made;
  return made;
}

std::string adreno(const std::string &gpu, const std::string &compiler,
                   const std::string &binary = "") {
  return "log = \"{folder}/calls\"\n[[platform]]\nname = \"QUALCOMM Snapdragon(TM)\"\n"
         "[[platform.device]]\nforward = true\nname = \"QUALCOMM Adreno(TM) " +
         gpu + "\"\nvendor = \"QUALCOMM\"\nversion = \"OpenCL 3.0 Adreno(TM) " + gpu +
         "\"\ndriver_version = \"OpenCL 3.0 QUALCOMM build: x Compiler " + compiler +
         "\"\n[platform.device.binary]\n" + binary;
}

// A pack that an Adreno 750 made with one driver, and what that GPU does with a later one.
class Phone {
 public:
  Phone() : driver_(adreno("750", kOld)), pack_(driver_.path("phone.kiln")) {
    std::filesystem::rename(build_pack(driver_, triple_program()), pack_);
  }

  // The pack with that record of the phone with its new driver.
  std::string recorded(packs::CrossResult result) {
    driver_.rewrite(adreno("750", kNew));
    const auto child = driver_.run(device_key);
    REQUIRE(child.ok());
    const std::string path = driver_.path("recorded.kiln");
    add_record(pack_, child.answer, result, path);
    return path;
  }

  Start update(const std::string &binary, const Wishes &wishes, const std::string &pack = {}) {
    return start_as(adreno("750", kNew, binary), wishes, pack);
  }
  Start start_as(const std::string &script, const Wishes &wishes, const std::string &pack = {}) {
    driver_.rewrite(script);
    return start(driver_, pack.empty() ? pack_ : pack, wishes);
  }

  Wishes wishes(std::optional<bool> check, bool overlay = false) {
    Wishes all;
    all.flags = KILN_LOAD_COMPATIBLE;
    all.check = check;
    if (overlay) all.overlay = driver_.path("overlay-" + std::to_string(++overlays_));
    return all;
  }
  std::size_t given() const { return driver_.calls("clCreateProgramWithBinary"); }

  static constexpr char kOld[] = "E031.41.03.60";
  static constexpr char kNew[] = "E031.45.02.06";

 private:
  ScriptedDriver driver_;
  std::string pack_;
  unsigned overlays_ = 0;
};

Phone &phone() {
  static Phone made;
  return made;
}

constexpr char kAccepts[] = "other_driver = \"accept\"\n";
constexpr char kUnproven[] =
    "the rule \"a newer Adreno driver may take what an older one made for the same GPU\" suggests "
    "this binary, but nothing proves that it works here: run kiln crosscheck, or set "
    "kiln_loader_options.check";

constexpr char kTakes[] = "accepts = [\"Model A\"]\n";
constexpr char kRecompiles[] = "other_model = \"recompile\"\n";
constexpr char kServes[] = "a cross-check found that this device takes its binaries";

// Three programs with binaries on the machine's device.
const std::string &three_programs() {
  static const std::string path = [] {
    packs::Contents contents;
    for (const char *const name : {"one", "two", "three"}) {
      contents.programs.push_back({name, "", {triple_variant(std::string("kiln_") + name)}});
    }
    machine().rewrite("");
    const std::string built = build_pack(machine().driver(), contents);
    const std::string kept = machine().driver().path("three.kiln");
    std::filesystem::rename(built, kept);
    return kept;
  }();
  return path;
}

int told(const kiln_progress *progress, void *user) {
  json one = {{"status", progress->status},
              {"rung", kiln_report_rung(progress->report)},
              {"json", kiln_report_json(progress->report)}};
  (*static_cast<json *>(user))[progress->program] = one;
  return 0;
}

// Program by program, what a start that prefetches all got.
json prefetch(const std::string &pack, const std::string &overlay) {
  auto opencl = OpenCL::open();
  auto device = opencl->device(0);
  LoaderOptions options;
  options.use_overlay(overlay.c_str());
  auto opened = Pack::open_file(pack);
  auto loader = Loader::create(*device, *opened, options);
  json programs = json::object();
  if (!loader) return programs;
  return loader->prefetch(told, &programs) ? programs : json::object();
}

builder::ChildResult prefetch_start(const std::string &faults, const std::string &overlay) {
  const std::string pack = three_programs();
  machine().rewrite(faults);
  return machine().driver().run([&] { return prefetch(pack, overlay); });
}

}  // namespace

TEST_CASE("a model that takes another's binary as its own uses it after one check") {
  KILN_NEEDS_POCL();
  const std::string overlay = fleet().new_overlay();
  const Start first = fleet().start_b(kTakes, overlay, true);
  INFO(first.child.reason() << first.report);
  CHECK(first.reason("exact") == "no target of the pack has this device's binary key");
  CHECK(first.rung == "compatible");
  CHECK_FALSE(first.recompiled);
  CHECK(first.right);
  CHECK(first.checks == 1);
  CHECK(first.has_note(kServes));
  const std::string before = snapshot(overlay);
  const Start second = fleet().start_b(kTakes, overlay, true);
  INFO("second: " << second.child.reason() << second.report);
  CHECK(second.rung == "compatible");
  CHECK(second.right);
  CHECK(second.checks == 0);
  CHECK(snapshot(overlay) == before);
}

TEST_CASE("without an overlay the check is asked at every start, and without a check nobody is") {
  KILN_NEEDS_POCL();
  for (int i = 0; i < 2; ++i) {
    const Start started = fleet().start_b(kTakes, "", true);
    CHECK(started.rung == "compatible");
    CHECK(started.checks == 1);
  }
  const Start unchecked = fleet().start_b(kTakes, "", std::nullopt);
  CHECK(unchecked.rung == "compatible");
  CHECK(unchecked.right);
}

TEST_CASE("a binary that computes wrongly falls to source and is never tried again") {
  KILN_NEEDS_POCL();
  const std::string overlay = fleet().new_overlay();
  const Start first = fleet().start_b("other_model = \"wrong\"\n", overlay, false);
  INFO(first.child.reason() << first.report);
  CHECK(first.outcome("compatible") == "failed");
  CHECK(first.reason("compatible") == "the application's check found its results wrong");
  CHECK(first.rung == "source");
  CHECK(first.right);
  CHECK(first.checks == 1);
  forget_binaries(overlay);
  const std::size_t given = fleet().driver().calls("clCreateProgramWithBinary");
  const Start second = fleet().start_b("other_model = \"wrong\"\n", overlay, true);
  INFO("second: " << second.child.reason() << second.report);
  CHECK(second.outcome("compatible") == "quarantined");
  CHECK(second.reason("compatible") == "its results were wrong when it was first used");
  CHECK(second.rung == "source");
  CHECK(second.right);
  CHECK(second.checks == 0);
  CHECK(fleet().driver().calls("clCreateProgramWithBinary") == given);
  const Start third = fleet().start_b("other_model = \"wrong\"\n", overlay, true);
  CHECK(third.rung == "overlay");
  CHECK(third.right);
}

TEST_CASE("a model that recompiles another's binary is not served by it, and that is remembered") {
  KILN_NEEDS_POCL();
  const std::string overlay = fleet().new_overlay();
  const Start first = fleet().start_b(kRecompiles, overlay, true);
  INFO(first.child.reason() << first.report);
  CHECK(first.outcome("compatible") == "failed");
  CHECK(first.reason("compatible") == "the driver recompiled the binary, so it is not used");
  CHECK(first.rung == "source");
  CHECK_FALSE(first.recompiled);
  CHECK(first.right);
  CHECK(first.checks == 0);
  forget_binaries(overlay);
  const std::size_t given = fleet().driver().calls("clCreateProgramWithBinary");
  const Start second = fleet().start_b(kRecompiles, overlay, true);
  INFO("second: " << second.child.reason() << second.report);
  CHECK(second.outcome("compatible") == "missed");
  CHECK(second.reason("compatible") == "the driver recompiles the binary");
  CHECK(second.right);
  CHECK(fleet().driver().calls("clCreateProgramWithBinary") == given);
}

TEST_CASE("a model that dies on another's binary is passed over from then on") {
  KILN_NEEDS_POCL();
  const std::string overlay = fleet().new_overlay();
  const std::string kills = "other_model = \"abort\"\n";
  for (int i = 0; i < 2; ++i) {
    CHECK(fleet().start_b(kills, overlay, true).child.end == ProcessEnd::signalled);
  }
  const Start second = fleet().start_b(kills, overlay, true);
  INFO(second.child.reason() << second.report);
  CHECK(second.outcome("compatible") == "quarantined");
  CHECK(second.rung == "source");
  CHECK(second.right);
  CHECK(second.notice(KILN_NOTICE_DEATH) == "an earlier process ended inside the driver");
}

TEST_CASE("without being asked for, another model's binary is not used") {
  KILN_NEEDS_POCL();
  fleet().driver().rewrite(model("Model B", kTakes));
  const Start started = start(fleet().driver(), fleet().pack());
  INFO(started.child.reason() << started.report);
  CHECK(started.outcome("compatible") == "skipped");
  CHECK(started.rung == "source");
  CHECK(started.right);
}

TEST_CASE("an older Adreno driver's binary is not given where nothing vouches for it") {
  KILN_NEEDS_POCL();
  const std::size_t given = phone().given();
  const Start started = phone().update(kAccepts, phone().wishes(std::nullopt, true));
  INFO(started.child.reason() << started.report);
  CHECK(started.outcome("compatible") == "skipped");
  CHECK(started.reason("compatible") == kUnproven);
  CHECK(started.rung == "source");
  CHECK(started.right);
  CHECK(phone().given() == given);
}

TEST_CASE(
    "an older Adreno driver's binary serves when the check finds it right, and from then on") {
  KILN_NEEDS_POCL();
  Wishes wishes = phone().wishes(true, true);
  const Start first = phone().update(kAccepts, wishes);
  INFO(first.child.reason() << first.report);
  CHECK(first.rung == "compatible");
  CHECK(first.right);
  CHECK(first.checks == 1);
  CHECK(first.has_note("a newer Adreno driver may take"));
  const Start second = phone().update(kAccepts, wishes);
  CHECK(second.rung == "compatible");
  CHECK(second.checks == 0);
  wishes.check.reset();  // what was found right once needs no check
  const Start third = phone().update(kAccepts, wishes);
  INFO("third: " << third.child.reason() << third.report);
  CHECK(third.rung == "compatible");
  CHECK(third.right);
}

TEST_CASE("an older Adreno driver's binary that computes wrongly is quarantined") {
  KILN_NEEDS_POCL();
  const char *const wrong = "other_driver = \"wrong\"\n";
  const Wishes wishes = phone().wishes(false, true);
  const Start first = phone().update(wrong, wishes);
  INFO(first.child.reason() << first.report);
  CHECK(first.outcome("compatible") == "failed");
  CHECK(first.reason("compatible") == "the application's check found its results wrong");
  CHECK(first.rung == "source");
  CHECK(first.right);
  forget_binaries(wishes.overlay);
  const std::size_t given = phone().given();
  const Start second = phone().update(wrong, wishes);
  CHECK(second.outcome("compatible") == "quarantined");
  CHECK(second.right);
  CHECK(phone().given() == given);
}

TEST_CASE("an older Adreno driver's binary that is recompiled does not serve, whatever the check") {
  KILN_NEEDS_POCL();
  const Start started =
      phone().update("other_driver = \"recompile\"\n", phone().wishes(true, false));
  INFO(started.child.reason() << started.report);
  CHECK(started.reason("compatible") == "the driver recompiled the binary, so it is not used");
  CHECK(started.rung == "source");
  CHECK(started.checks == 0);
}

TEST_CASE("a cross-check decides over an older Adreno driver's binary without a check") {
  KILN_NEEDS_POCL();
  const std::string native = phone().recorded(packs::CrossResult::native);
  const Start served = phone().update(kAccepts, phone().wishes(std::nullopt), native);
  INFO(served.child.reason() << served.report);
  CHECK(served.rung == "compatible");
  CHECK(served.right);
  CHECK(served.has_note(kServes));
  for (const auto result : {packs::CrossResult::recompiled, packs::CrossResult::refused,
                            packs::CrossResult::crashed, packs::CrossResult::wrong}) {
    const std::string other = phone().recorded(result);
    const std::size_t given = phone().given();
    const Start passed = phone().update(kAccepts, phone().wishes(true), other);
    CHECK(passed.reason("compatible") ==
          "no target serves by the vendor's rule or a recorded cross-check");
    CHECK(passed.rung == "source");
    CHECK(phone().given() == given);
  }
}

TEST_CASE("a newer Adreno driver's binary and another GPU's are no candidates, even with a check") {
  KILN_NEEDS_POCL();
  const std::size_t given = phone().given();
  for (const std::string &script :
       {adreno("750", "E031.32.00.01", kAccepts), adreno("740", Phone::kNew, kAccepts)}) {
    const Start started = phone().start_as(script, phone().wishes(true));
    INFO(started.child.reason() << started.report);
    CHECK(started.outcome("compatible") == "missed");
    CHECK(started.rung == "source");
  }
  CHECK(phone().given() == given);
}

TEST_CASE("a prefetch in which the driver died prefetches the others and reports the one") {
  KILN_NEEDS_POCL();
  const struct {
    const char *form;
    int deaths;
    kiln_status status;  // of the one
  } rows[] = {{"form = \"binary\"\n", 2, KILN_OK},
              {"", 2 + 3, KILN_ERROR_NO_RUNG}};  // the binary, then the source
  for (const auto &row : rows) {
    const std::string overlay = machine().new_overlay();
    const std::string death =
        fault("clBuildProgram", "segv", row.form + std::string("text = \"kiln_two\"\n"));
    for (int i = 0; i < row.deaths; ++i) {
      CHECK(prefetch_start(death, overlay).end == ProcessEnd::signalled);
    }
    const auto next = prefetch_start(death, overlay);
    INFO(next.reason() << next.answer.dump());
    REQUIRE(next.ok());
    REQUIRE(next.answer.size() == 3);
    for (const char *const well : {"one", "three"}) {
      CHECK(next.answer[well]["status"] == KILN_OK);
      CHECK(next.answer[well]["rung"] == KILN_RUNG_EXACT);
    }
    CHECK(next.answer["two"]["status"] == row.status);
    const json report = json::parse(next.answer["two"]["json"].get<std::string>());
    CHECK(report["rungs"][1]["outcome"] == "quarantined");
    CHECK(report["rung"] == (row.status == KILN_OK ? "source" : "error"));
  }
}
