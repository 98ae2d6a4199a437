// SPDX-License-Identifier: Apache-2.0
#include "builder/fleet/report/inventory.hpp"

#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "builder/machine/device_info.hpp"
#include "kiln/packs/text.hpp"
#include "tests/packs/sample.hpp"
#include "tests/support/identities.hpp"

using namespace kiln;
using namespace kiln::test;
using builder::FleetReader;
using nlohmann::json;

namespace {

constexpr auto kInventory = FleetReader::Kind::inventory;
constexpr auto kReport = FleetReader::Kind::report;

builder::Fleet fleet_of(const std::string &text, FleetReader::Kind kind = kInventory) {
  builder::Fleet fleet;
  std::istringstream in(text);
  REQUIRE(FleetReader(&fleet).add(in, "file", kind).ok());
  builder::complete_rows(&fleet);
  return fleet;
}

std::string row_text(const builder::FleetDevice &row) {
  return packs::hex64(row.key_hash) + " " + row.label() + " " + std::to_string(row.devices) + " " +
         std::to_string(row.starts);
}

std::vector<std::string> rows_of(const std::string &text) {
  std::vector<std::string> rows;
  for (const auto &row : fleet_of(text).devices) rows.push_back(row_text(row));
  return rows;
}

const Identity kPocl = make({{Field::platform_name, "Portable Computing Language"},
                             {Field::device_name, "cpu"},
                             {Field::driver_version, "6.0"}});

json device_json(bool with_capabilities) {
  json device = {{"identity", builder::to_json(kPocl)},
                 {"key_hash", packs::hex64(runtime::describe(kPocl).key.hash())}};
  if (with_capabilities) device["capabilities"] = runtime::Capabilities();
  return device;
}

json list_of_one() { return {{"schema", 1}, {"devices", json::array({device_json(true)})}}; }

using Strings = std::vector<std::string>;

}  // namespace

TEST_CASE("equal lines add up, and a line stands for one device unless it says more", "[fleet]") {
  CHECK(rows_of(R"({"key_hash": "00000000000000aa", "model": "G", "driver": "1", "count": 5}
{"key_hash":"00000000000000aa","model":"G","driver":"1","starts":7,"more":[{"a":null}]}

{"key_hash": "00000000000000AA", "model": "H", "count": 0, "starts": null}
{"key_hash": "00000000000000bb", "count": 2}
)") == Strings{"00000000000000aa G (driver 1) 6 7", "00000000000000bb 00000000000000bb 2 0"});
}

TEST_CASE("documents take one line or several, and follow each other", "[fleet]") {
  const std::string one = list_of_one().dump(), indented = list_of_one().dump(2);
  const std::string row = packs::hex64(runtime::describe(kPocl).key.hash()) + " cpu (driver 6.0) ";
  for (const std::string &text :
       {one, indented, one + "\n" + indented + "\n", indented + "\n" + indented,
        json::array({list_of_one(), list_of_one()}).dump(1), "[\n" + one + ",\n" + one + "\n]",
        "\r\n" + indented + "\r\n"}) {
    CAPTURE(text);
    const builder::Fleet fleet = fleet_of(text);
    CHECK(fleet.faults == 0);
    REQUIRE(fleet.devices.size() == 1);
    CHECK(row_text(fleet.devices[0]) == row + std::to_string(fleet.lines) + " 0");
    CHECK(fleet.devices[0].described->has_capabilities);
  }
}

TEST_CASE("nothing of a document gets into the next", "[fleet]") {
  json other = device_json(true);
  other["identity"]["device_name"] = "other cpu";
  other["key_hash"] = nullptr;
  const json two = {{"schema", 1}, {"devices", json::array({device_json(true), other})}};
  const Strings documents = {
      R"({"key_hash": "00000000000000aa", "model": "G", "driver": "1", "count": 5, "starts": 3})",
      R"({"key_hash": "00000000000000ab"})",
      R"({"key_hash": "00000000000000ac", "model": ["H", "I"], "count": 9, "count": 2})",
      R"({"key_hash": "00000000000000ad", "model": ["J"], "driver": {"a": {"b": [1, 2]}}})",
      R"({"key_hash": "00000000000000ae", "model": "K", "driver": {"a": {}}, "starts": 1})",
      two.dump(),
      list_of_one().dump(),
      json::array({list_of_one(), other}).dump(),
      R"([{"key_hash": "00000000000000af", "model": null}])",
      R"({"key_hash": "00000000000000b0", "model": "L", "driver": 3.5, "count": 18446744073709551616})",
      R"({"key_hash": "00000000000000b1", "model": true})"};
  // Any two in turn, each order.
  for (const std::string &first : documents) {
    for (const std::string &second : documents) {
      CAPTURE(first, second);
      std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> apart, together;
      const auto add = [](const builder::Fleet &fleet, auto *sums) {
        for (const auto &row : fleet.devices) {
          auto &sum = (*sums)[row.label() + packs::hex64(row.key_hash)];
          sum.first += row.devices;
          sum.second += row.starts;
        }
      };
      const builder::Fleet one = fleet_of(first), other_one = fleet_of(second);
      const builder::Fleet both = fleet_of(first + "\n" + second);
      add(one, &apart);
      add(other_one, &apart);
      add(both, &together);
      CHECK(together == apart);
      CHECK(both.lines == one.lines + other_one.lines);
      CHECK(both.faults == one.faults + other_one.faults);
    }
  }
}

TEST_CASE("broken lines are counted and passed over, and the first are named", "[fleet]") {
  const builder::Fleet fleet = fleet_of(R"({"key_hash": "00000000000000aa", "cou
{"key_hash": "00000000000000aa"}
hello
{"key_hash": "00000000000000aa", "co
{
  "key_hash": "00000000000000aa",
{"key_hash": "00000000000000aa"} x
{"key_hash": "aa"}
{"key_hash": "00000000000000aa", "count": -1}
{"model": "G"}
{"identity": {"device_name": "cpu"}, "capabilities": {"images": "yes"}}
{"key_hash": "00000000000000aa", "starts": 3}
{"key_hash": "00000000000000aa")");
  CHECK(fleet.faults == 10);
  CHECK(fleet.first_faults == Strings{"file:1: the JSON is not complete", "file:3: this is no JSON",
                                      "file:4: the JSON is not complete",
                                      "file:5: the JSON is not complete",
                                      "file:7: this is no JSON"});
  REQUIRE(fleet.devices.size() == 1);
  CHECK(row_text(fleet.devices[0]) == "00000000000000aa 00000000000000aa 2 3");
}

TEST_CASE("a line that never ends takes no memory without bound", "[fleet]") {
  std::string text(65u << 20u, ' ');
  text += "\n{\"key_hash\": \"00000000000000aa\"}\n";
  const builder::Fleet fleet = fleet_of(text);
  CHECK(fleet.devices.size() == 1);
  CHECK(fleet.faults >= 1);
}

TEST_CASE("rows with a key get the identity that another line has", "[fleet]") {
  const std::string hash = device_json(false)["key_hash"];
  const builder::Fleet fleet =
      fleet_of(json{{"key_hash", hash}, {"count", 4}}.dump() + "\n" +
               json{{"key_hash", hash}, {"model", "CPU"}}.dump() + "\n" + device_json(true).dump());
  REQUIRE(fleet.devices.size() == 2);
  CHECK(row_text(fleet.devices[0]) == hash + " cpu (driver 6.0) 5 0");
  CHECK(row_text(fleet.devices[1]) == hash + " CPU (driver 6.0) 1 0");
  CHECK(fleet.devices[1].described == fleet.devices[0].described);
  CHECK(fleet.devices[1].profile == "pocl");
}

TEST_CASE("report lines in an inventory count a process as a start of its devices", "[fleet]") {
  const auto line = [](const char *process, const char *key) {
    return fmt::format(R"({{"process": "{}", "outcome": "served", "program": "blur", )"
                       R"("key_hash": "{}", "rung": "exact", "devices": ["G"]}})",
                       process, key) +
           "\n";
  };
  const std::string a = "00000000000000aa", b = "00000000000000bb";
  CHECK(
      rows_of(line("1", a.c_str()) + line("1", a.c_str()) + line("1", b.c_str()) +
              line("2", a.c_str()) +
              R"({"process": "3", "outcome": "started", "application": "x"})" + "\n" +
              R"({"key_hash": "00000000000000bb", "count": 9})" + "\n" +
              R"({"program": "p", "rung": "source", "key_hash": "00000000000000cc"})") ==
      Strings{a + " " + a + " 1 2", b + " " + b + " 9 1", "00000000000000cc 00000000000000cc 1 0"});
}

TEST_CASE("reports are summed by key, or by the device's name", "[fleet]") {
  const builder::Fleet fleet = fleet_of(
      R"({"process": "1", "outcome": "served", "program": "a", "rung": "exact", "key_hash": "00000000000000aa"}
{"process": "1", "outcome": "passed", "program": "b", "rung": "", "key_hash": "00000000000000aa"}
{"process": "1", "outcome": "first_result", "milliseconds": 20}
{"process": "2", "outcome": "first_result", "milliseconds": 1e99}
{"process": "3", "outcome": "compiled", "program": "a", "rung": "source", "devices": ["G 1"]}
{
  "schema": 1, "program": "c", "variant": "v", "device": "G 2", "rung": "il",
  "rungs": [{"rung": "overlay", "outcome": "skipped"}, {"rung": "exact", "outcome": "quarantined"},
            {"rung": "intermediate", "outcome": "failed", "log": "{"}, {"rung": "il", "outcome": "loaded"}]
}
)",
      kReport);
  CHECK(fleet.faults == 0);
  CHECK(fleet.devices.empty());
  REQUIRE(fleet.reports.size() == 3);
  CHECK(fleet.reports[0].key_hash == 0xaa);
  CHECK(fleet.reports[0].loads == 2);
  CHECK(fleet.reports[0].compiled == 1);
  CHECK(fleet.reports[0].first_results.count() == 1);
  CHECK(fleet.reports[0].first_results.largest() == 20);
  CHECK(fleet.reports[1].name == "G 1");
  CHECK(fleet.reports[1].loads == 1);
  CHECK(fleet.reports[1].compiled == 1);
  CHECK(fleet.reports[2].name == "G 2");
  CHECK(fleet.reports[2].deaths == 1);
  CHECK(fleet.reports[2].refusals == 1);
  CHECK(fleet.programs.size() == 3);
}

TEST_CASE("the median of durations is right to 3%", "[fleet]") {
  builder::Durations times;
  CHECK(times.median() == 0);
  for (int i = 1; i <= 999; ++i) times.add(i);
  CHECK(times.median() > 500 * 0.97);
  CHECK(times.median() < 500 * 1.03);
  CHECK(times.largest() == 999);
  builder::Durations one;
  one.add(12.5);
  CHECK(one.median() <= one.largest());
}

TEST_CASE("a file that is not there is an error", "[fleet]") {
  builder::Fleet fleet;
  FleetReader reader(&fleet);
  const TemporaryFolder folder;
  CHECK(reader.add_file((folder.path() / "no").string(), kInventory).code == Code::bad_input);
  CHECK(reader.add_file(folder.path().string(), kInventory).code == Code::bad_input);
}
