// SPDX-License-Identifier: Apache-2.0
#include "builder/fleet/report/fleet_report.hpp"

#include <sstream>

#include "builder/fleet/report/fill_command.hpp"
#include "builder/machine/device_info.hpp"
#include "kiln/packs/text.hpp"
#include "runtime/identity/target.hpp"
#include "tests/packs/sample.hpp"
#include "tests/support/identities.hpp"

using namespace kiln;
using namespace kiln::test;
using builder::FleetLoad;
using nlohmann::json;

namespace {

Identity gpu(const char *capability, const char *driver = "580.1") {
  return make({{Field::platform_name, "NVIDIA CUDA"},
               {Field::device_name, std::string("GPU ") + capability},
               {Field::device_vendor, "NVIDIA Corporation"},
               {Field::device_version, "OpenCL 3.0 CUDA"},
               {Field::address_bits, "64"},
               {Field::driver_version, driver},
               {Field::compute_capability, capability}});
}

Identity cpu(const char *driver) {
  return make({{Field::platform_name, "Portable Computing Language"},
               {Field::device_name, "cpu"},
               {Field::driver_version, driver}});
}

packs::Target target_for(const Identity &identity) {
  return runtime::target_of(identity, runtime::describe(identity));
}

// A line of an inventory with identity and capabilities.
std::string line(const Identity &identity, std::uint64_t count,
                 const std::function<void(runtime::Capabilities *)> &change = {}) {
  runtime::Capabilities capabilities;
  capabilities.compiler = true;
  capabilities.address_bits = 64;
  capabilities.il_versions = {0x00010200};
  capabilities.compute_capability =
      runtime::compute_capability_of(runtime::describe(identity).key.facts());
  if (change) change(&capabilities);
  return json{{"identity", builder::to_json(identity)},
              {"capabilities", capabilities},
              {"count", count},
              {"starts", 10 * count}}
             .dump() +
         "\n";
}

builder::FleetPack pack_of(const Contents &contents, Bytes *bytes, const char *path = "app.kiln") {
  *bytes = written(contents);
  const PackPointer pack = opened(*bytes);
  return {path, pack, contents_of(pack)};
}

builder::FleetReport report_of(const Contents &contents, const std::string &inventory,
                               const std::string &reports = "") {
  Bytes bytes;
  builder::Fleet fleet;
  builder::FleetReader reader(&fleet);
  std::istringstream in(inventory), more(reports);
  REQUIRE(reader.add(in, "inventory", builder::FleetReader::Kind::inventory).ok());
  REQUIRE(reader.add(more, "reports", builder::FleetReader::Kind::report).ok());
  CHECK(fleet.faults == 0);
  auto report = builder::make_fleet_report(std::move(fleet), {pack_of(contents, &bytes)});
  INFO(report.status().message);
  REQUIRE(report.ok());
  return *report;
}

// Two programs: "blur" has source, "wide" needs fp16 and has IL as well.
Contents programs() {
  Contents contents;
  contents.programs = {{"blur", "", {variant("plain", "kernel void plain() {}")}},
                       {"wide", "", {variant("half", "kernel void half_() {}")}}};
  packs::Variant &half = contents.programs[1].variants[0];
  half.requirements = {"fp16"};
  half.il64 = packs::BlobSource(bytes_of("spirv"));
  half.il_version = 0x00010200;
  return contents;
}

void add_target(const Identity &identity, Contents *contents) {
  packs::Target target = target_for(identity);
  for (const packs::Program &program : contents->programs) {
    target.binaries.push_back(binary(
        program.variants[0],
        noise(40, static_cast<std::uint32_t>(contents->targets.size() + target.binaries.size()))));
  }
  contents->targets.push_back(target);
}

FleetLoad from(kiln_rung rung) { return builder::load_from(*runtime::find_rung(rung)); }

FleetLoad load_of(const Contents &contents, const std::string &inventory) {
  return report_of(contents, inventory).pairs.at(0).load;
}

void with_fp16(runtime::Capabilities *device) { device->fp16 = true; }

}  // namespace

TEST_CASE("a device's load is that of its worst program", "[fleet]") {
  Contents contents = programs();
  const Identity six = cpu("6.0");
  CHECK(load_of(contents, line(six, 1)) == from(KILN_RUNG_SOURCE));
  CHECK(report_of(contents, line(six, 1)).pairs[0].programs.size() == 1);  // "wide" needs fp16
  const auto both = report_of(contents, line(six, 1, with_fp16)).pairs[0].programs;
  REQUIRE(both.size() == 2);
  CHECK(both[0] == std::pair<std::string, FleetLoad>("blur", from(KILN_RUNG_SOURCE)));
  CHECK(both[1] == std::pair<std::string, FleetLoad>("wide", from(KILN_RUNG_IL)));
  CHECK(load_of(contents, line(six, 1, [](auto *c) { c->compiler = false; })) == FleetLoad::none);
  add_target(six, &contents);
  CHECK(load_of(contents, line(six, 1, with_fp16)) == FleetLoad::exact);
  CHECK(load_of(contents, line(cpu("7.1"), 1, with_fp16)) == from(KILN_RUNG_SOURCE));
  contents.targets[0].binaries.pop_back();
  CHECK(load_of(contents, line(six, 1, with_fp16)) == from(KILN_RUNG_IL));
  contents.programs.erase(contents.programs.begin());
  contents.targets.clear();
  CHECK(load_of(contents, line(six, 1)) == FleetLoad::none);  // no program is for it
}

TEST_CASE("a variant that the pack prefers is taken, as at a load", "[fleet]") {
  Contents contents = programs();
  contents.programs.pop_back();
  contents.programs[0].variants.push_back(variant("other", "kernel void other() {}"));
  const Identity six = cpu("6.0");
  add_target(six, &contents);  // only the first variant has a binary
  contents.programs[0].preferred = {"other"};
  CHECK(load_of(contents, line(six, 1)) == from(KILN_RUNG_SOURCE));
  contents.programs[0].preferred = {"plain"};
  CHECK(load_of(contents, line(six, 1)) == FleetLoad::exact);
}

TEST_CASE("devices that differ in what they can do are judged one by one", "[fleet]") {
  Contents contents = programs();
  const Identity six = cpu("6.0");
  const auto report =
      report_of(contents, line(six, 3) + line(six, 2, with_fp16) +
                              line(six, 1, [](runtime::Capabilities *c) { c->compiler = false; }));
  REQUIRE(report.pairs.size() == 3);
  CHECK(report.pairs[0].programs.size() == 1);
  CHECK(report.pairs[1].programs.size() == 2);
  CHECK(report.pairs[2].load == FleetLoad::none);
}

TEST_CASE("a measured model takes another variant than a model of the same key", "[fleet]") {
  Contents contents = programs();
  contents.programs.pop_back();
  contents.programs[0].variants.push_back(variant("other", "kernel void other() {}"));
  Identity first = gpu("8.0"), second = gpu("8.0");
  second.set(Field::device_name, "GPU B");
  add_target(first, &contents);  // "other" has no binary
  packs::Tuning row = tuning(contents.targets[0], packs::SizeClass::large, {8, 8, 1});
  row.program = "blur";
  row.variant = "other";
  row.kernel.clear();
  row.model = "GPU B";
  row.family.clear();
  row.key_hash = packs::xxh3(contents.targets[0].key);
  contents.tunings = {row, row};
  contents.tunings[1].variant = "plain";
  contents.tunings[1].model = "GPU 8.0";
  const auto report = report_of(contents, line(first, 2) + line(second, 1));
  REQUIRE(report.pairs.size() == 2);
  CHECK(report.pairs[0].load == from(KILN_RUNG_SOURCE));
  CHECK(report.pairs[0].device.model == "GPU B");
  CHECK(report.pairs[1].load == FleetLoad::exact);
}

TEST_CASE("NVIDIA's cubins and PTX count as a load takes them", "[fleet]") {
  Contents contents = programs();
  contents.programs.pop_back();
  add_target(gpu("8.0"), &contents);
  CHECK(load_of(contents, line(gpu("8.6"), 1)) == FleetLoad::exact);
  CHECK(load_of(contents, line(gpu("9.0"), 1)) == from(KILN_RUNG_SOURCE));
  contents.targets[0].intermediates = std::exchange(contents.targets[0].binaries, {});
  CHECK(load_of(contents, line(gpu("9.0"), 1)) == from(KILN_RUNG_INTERMEDIATE));
  CHECK(load_of(contents, line(gpu("7.5"), 1)) == from(KILN_RUNG_SOURCE));
}

TEST_CASE("a key without an identity is unknown unless a target has it", "[fleet]") {
  Contents contents = programs();
  add_target(cpu("6.0"), &contents);
  const auto line_of = [](std::uint64_t key) {
    return "{\"key_hash\": \"" + packs::hex64(key) + "\"}\n";
  };
  const std::uint64_t known = packs::xxh3(contents.targets[0].key);
  const auto report = report_of(contents, line_of(known) + line_of(7));
  REQUIRE(report.pairs.size() == 2);
  CHECK(report.pairs[1].load == FleetLoad::exact);
  CHECK(report.pairs[1].device.label() == "cpu (driver 6.0)");
  CHECK(report.pairs[0].load == FleetLoad::unknown);
  REQUIRE(report.gaps.size() == 1);
  CHECK(report.gaps[0].command == "kiln devices --json");
  contents.targets[0].binaries.pop_back();  // whether it can run "wide" is not known
  CHECK(report_of(contents, line_of(known)).pairs[0].load == FleetLoad::unknown);
}

TEST_CASE("a name that is no UTF-8 is found by the key's hash", "[fleet]") {
  Contents contents = programs();
  contents.programs.pop_back();
  const Identity odd = cpu("6.0\xff");
  add_target(odd, &contents);
  const std::string printed = json{
      {"identity", builder::to_json(odd)},
      {"key_hash", packs::hex64(packs::xxh3(contents.targets[0].key))},
      {"capabilities",
       runtime::Capabilities()}}.dump(-1, ' ', false, json::error_handler_t::replace);
  CHECK(load_of(contents, printed) == FleetLoad::exact);
}

TEST_CASE("gaps come by the devices and starts that filling them gains", "[fleet]") {
  Contents contents = programs();
  add_target(cpu("6.0"), &contents);
  add_target(cpu("5.0"), &contents);
  const auto report = report_of(
      contents, line(cpu("6.0"), 70, with_fp16) + line(cpu("7.1"), 10) + line(gpu("9.0"), 20));
  CHECK(report.all.devices == 100);
  CHECK(report.exact_percent() == 70);
  REQUIRE(report.gaps.size() == 2);
  CHECK(report.gaps[0].device == "GPU 9.0 (driver 580.1)");
  CHECK(report.gaps[0].gain.devices == 20);
  CHECK(report.gaps[0].gain.starts == 200);
  CHECK(report.gaps[0].command == "kiln build 'app.kiln' --device 'GPU 9.0' -o " +
                                      packs::hex64(report.gaps[0].key_hash) + ".kiln");
  CHECK(report.gaps[0].virtual_command == "kiln build 'app.kiln' --virtual nvidia.toml:sm_90 -o " +
                                              packs::hex64(report.gaps[0].key_hash) + ".kiln");
  CHECK(report.gaps[1].virtual_command.empty());
  CHECK(report.drivers.at("pocl 6.0")[0].devices == 70);
  CHECK(report.profiles.at("pocl")[0].starts == 700);
  REQUIRE(report.unused_targets.size() == 1);
  CHECK(report.unused_targets[0].name == "cpu (driver 5.0)");
  CHECK(report.unused_targets[0].bytes > 80);
  CHECK(report.unused_programs.empty());  // no report tells
}

TEST_CASE("reports name the programs that are used, and the drivers that die", "[fleet]") {
  const Contents contents = programs();
  const std::string key = packs::hex64(runtime::describe(cpu("6.0")).key.hash());
  const auto report = report_of(contents, line(cpu("6.0"), 1),
                                R"({"program": "blur", "rung": "source", "key_hash": ")" + key +
                                    R"(", "rungs": [{"rung": "il", "outcome": "quarantined"}]})");
  REQUIRE(report.unused_programs.size() == 1);
  CHECK(report.unused_programs[0].name == "wide");
  CHECK(report.reports.at("pocl 6.0").deaths == 1);
  CHECK(report.reports.at("pocl 6.0").compiled == 1);
}

TEST_CASE("a report needs a device", "[fleet]") {
  Bytes bytes;
  const auto report = builder::make_fleet_report({}, {pack_of(programs(), &bytes)});
  REQUIRE_FALSE(report.ok());
  CHECK(report.status().message == "the inventories have no device");
}

TEST_CASE("the best of several packs counts", "[fleet]") {
  Contents with = programs();
  add_target(cpu("6.0"), &with);
  Contents bare = programs();
  Bytes first, second;
  builder::Fleet fleet;
  std::istringstream in(line(cpu("6.0"), 1, with_fp16));
  REQUIRE(builder::FleetReader(&fleet).add(in, "i", builder::FleetReader::Kind::inventory).ok());
  const auto report = builder::make_fleet_report(
      std::move(fleet), {pack_of(bare, &first, "a.kiln"), pack_of(with, &second, "b.kiln")});
  REQUIRE(report.ok());
  CHECK(report->pairs[0].load == FleetLoad::exact);
}

TEST_CASE("devices have the word of --virtual and their products", "[fleet]") {
  const auto word_of = [](const char *profile, const char *name, const char *model) {
    builder::FleetDevice device;
    device.profile = profile;
    device.name = name;
    device.model = model;
    device.driver = "25.0.7";
    const builder::VirtualWord found = builder::virtual_word_of(device);
    return found.word + "|" + found.needs + "|" + found.products;
  };
  CHECK(word_of("rusticl", "AMD Custom GPU 0405 (radeonsi, vangogh, LLVM 19.1.7)", "") ==
        "mesa:vangogh|Mesa 25.0.7|Steam Deck");
  CHECK(word_of("rusticl", "FD740", "") == "mesa:fd740|Mesa 25.0.7|Adreno 740: Snapdragon 8 Gen 2");
  CHECK(word_of("adreno", "QUALCOMM Adreno(TM)", "740") == "||Adreno 740: Snapdragon 8 Gen 2");
  CHECK(word_of("mali", "Mali-G57 r0p1", "Mali-G57") == "||Mali-G57: MediaTek MT8192");
  CHECK(word_of("pocl", "cpu-740", "") == "||");
}

TEST_CASE("the page holds its data without markup of it", "[fleet]") {
  builder::FleetReport report =
      report_of(programs(), line(make({{Field::device_name, "</script><b>&"}}), 1));
  const std::string page = builder::fleet_report_page(report);
  CHECK(page.find("</script><b>") == std::string::npos);
  CHECK(page.find("\\u003c/script\\u003e\\u003cb\\u003e\\u0026") != std::string::npos);
  CHECK(page.find("{{data}}") == std::string::npos);
}
