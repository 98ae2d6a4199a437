// SPDX-License-Identifier: Apache-2.0
#include "builder/under_layer/report_sum.hpp"

#include <sstream>

#include <fmt/format.h>

#include "tests/support/catch.hpp"

using namespace kiln;
using builder::ReportSums;

namespace {

void add_lines(ReportSums *sums, const std::vector<std::string> &lines) {
  std::size_t number = 0;
  for (const std::string &line : lines) builder::add_report_line(line, "a.report", ++number, sums);
}

nlohmann::json report_json(const std::vector<std::string> &lines) {
  ReportSums sums;
  add_lines(&sums, lines);
  return builder::report_sums_json(sums);
}

std::string report_text(const std::vector<std::string> &lines) {
  ReportSums sums;
  add_lines(&sums, lines);
  return builder::report_sums_text(sums);
}

std::string started(int process, const std::string &application,
                    const std::string &layer = "serve") {
  return fmt::format(
      R"({{"process": "{:016x}", "outcome": "started", "layer": "{}", "application": "{}"}})",
      process, layer, application);
}

std::string first_result(int process, double milliseconds) {
  return fmt::format(R"({{"process": "{:016x}", "outcome": "first_result", "milliseconds": {}}})",
                     process, milliseconds);
}

// `kernels` is JSON: "\"Iq\", \"Iqxy\"".
std::string built(const std::string &outcome, const std::string &rung, double milliseconds,
                  const std::string &program = "cl-1", const std::string &kernels = "",
                  const std::string &reason = "") {
  return fmt::format(
      R"({{"process": "{:016x}", "outcome": "{}", "program": "{}", "kernels": [{}], )"
      R"("rung": "{}", "reason": "{}", "nearest": null, "milliseconds": {}}})",
      1, outcome, program, kernels, rung, reason, milliseconds);
}

const char kOwnBinary[] =
    R"({"process": "0000000000000001", "outcome": "own_binary", "bytes": 123, "milliseconds": 2.0})";

}  // namespace

TEST_CASE("devices of all programs are named once, and all builds add up", "[report_sum]") {
  ReportSums sums;
  std::istringstream lines(
      R"({"outcome": "passed", "rung": "", "devices": ["b", "a"], "milliseconds": 2.5})"
      "\n"
      R"({"outcome": "served", "rung": "exact", "devices": ["a", 7], "milliseconds": 0.25})"
      "\n"
      R"({"outcome": "served", "rung": "exact", "devices": "c"})"
      "\nno line\n");
  REQUIRE(add_report_lines(lines, "r", &sums).ok());
  CHECK(sums.devices == std::set<std::string>{"a", "b"});
  CHECK(builds_of(sums) == 3);
  CHECK(build_milliseconds(sums) == 2.75);
  CHECK(sums.first_other_line == "r:4");
}

TEST_CASE("the text says what was loaded, how fast, and why the rest was not", "[report_sum]") {
  CHECK(
      report_text({started(1, "/usr/bin/hashcat"), started(2, "/usr/bin/darktable"),
                   built("served", "exact", 0.8), built("served", "exact", 1.25),
                   built("served", "overlay", 20),
                   built("compiled", "source", 300.4, "cl-2", "\"a\", \"b\", \"c\"", "exact: none"),
                   built("passed", "", 400, "cl-3", "\"Iq\", \"Iqxy\"", "no pack has it"),
                   kOwnBinary, first_result(1, 410), first_result(2, 204), "{"}) ==
      R"(2 processes of 2 applications, 5 program builds

outcome   rung     builds  median, ms  largest   sum
served    exact         2        1.02     1.25  2.05
served    overlay       1        20.0     20.0  20.0
compiled  source        1         300      300   300
passed                  1         400      400   400

reasons
1  compiled: exact: none
   a, b, ...
1  passed: no pack has it
   Iq, Iqxy

without Kiln: applications loaded 1 binary (123 bytes) from caches of their own

first result, ms after a process began
starts  first  later, median
     1    410              -  /usr/bin/hashcat
     1    204              -  /usr/bin/darktable

1 line is no report line, the first in a.report:11
)");
}

TEST_CASE("a report without lines says so, and how to find out why", "[report_sum]") {
  const std::string none = "no report lines: if no process reached Kiln, 'kiln doctor' says why\n";
  CHECK(report_text({}) == none);
  CHECK(report_text({"", " \t\r"}) == none);
  CHECK(report_text({"{"}) == none + "\n1 line is no report line, the first in a.report:1\n");
  CHECK(report_text({started(1, "/a")}) == "1 process of 1 application, 0 program builds\n");
}

TEST_CASE("lines of the Python module are summed, though they name no process", "[report_sum]") {
  const std::string line =
      R"({"program": "cl-1", "outcome": "served", "rung": "exact", "reason": "", )"
      R"("nearest": null, "milliseconds": 0.5})";
  CHECK(report_text({line, line}) ==
        "2 program builds\n\n"
        "outcome  rung   builds  median, ms  largest   sum\n"
        "served   exact       2        0.50     0.50  1.00\n");
}

TEST_CASE("the median of an even number of times is the mean of the two in the middle",
          "[report_sum]") {
  const auto times = report_json({built("served", "exact", 8), built("served", "exact", 1),
                                  built("served", "exact", 3), built("served", "exact", 2)});
  CHECK(times["outcomes"][0]["milliseconds"] ==
        nlohmann::json{{"count", 4}, {"median", 2.5}, {"largest", 8.0}, {"sum", 14.0}});
}

TEST_CASE("reasons are sorted by count and then by their first lines", "[report_sum]") {
  const auto reasons = report_json(
      {built("passed", "", 1, "a", "", "one"), built("passed", "", 1, "b", "", "two"),
       built("compiled", "il", 1, "c", "", "two"), built("compiled", "il", 1, "c", "", "two"),
       built("passed", "", 1, "d", "", "")})["reasons"];
  REQUIRE(reasons.size() == 4);
  CHECK(reasons[0] == nlohmann::json::parse(R"({"outcome": "compiled", "reason": "two", "count": 2,
      "programs": 1, "examples": [{"program": "c", "kernels": []}]})"));
  CHECK(reasons[1]["reason"] == "one");
  CHECK(reasons[2]["reason"] == "two");
  CHECK(reasons[3]["reason"] == "");
}

TEST_CASE("a reason shows three programs that differ in their kernels", "[report_sum]") {
  std::vector<std::string> lines;
  for (const char *kernel : {"a", "a", "b", "c", "d"}) {
    lines.push_back(built("passed", "", 1, fmt::format("cl-{}", lines.size()),
                          fmt::format("\"{}\"", kernel), "why"));
  }
  lines.push_back(lines.back());
  CHECK(kiln::test::mentions(report_text(lines), "\n6  passed: why\n   a; b; c; 2 more\n"));
  // A program without kernels or without a name.
  CHECK(kiln::test::mentions(report_text({built("passed", "", 1, "cl-1", "", "why"),
                                          built("passed", "", 1, "", "", "why")}),
                             "\n   cl-1; no name\n"));
}

TEST_CASE("the text has ten reasons, and JSON has all", "[report_sum]") {
  std::vector<std::string> lines;
  for (int i = 0; i < 12; ++i) {
    lines.push_back(built("passed", "", 1, "cl-1", "", fmt::format("reason {}", i)));
  }
  const std::string text = report_text(lines);
  CHECK(kiln::test::mentions(text, "passed: reason 9\n"));
  CHECK(!kiln::test::mentions(text, "passed: reason 10\n"));
  CHECK(kiln::test::mentions(text, "\n2 more reasons: --json lists all\n"));
  CHECK(report_json(lines)["reasons"].size() == 12);
}

TEST_CASE(
    "first results are reported for each application and mode, the first apart from later ones",
    "[report_sum]") {
  const auto sums = report_json({started(1, "/a", "record"), first_result(1, 900), started(2, "/a"),
                                 first_result(2, 500), started(3, "/b"), started(4, "/a"),
                                 first_result(4, 100), started(5, "/a"), first_result(5, 300),
                                 first_result(5, 7), first_result(6, 50)});
  CHECK(sums["processes"] == 6);
  CHECK(sums["applications"] == nlohmann::json::parse(R"([
      {"application": "/a", "layer": "record", "processes": 1, "first_result": 900.0,
       "later_results": null},
      {"application": "/a", "layer": "serve", "processes": 3, "first_result": 500.0,
       "later_results": {"count": 2, "median": 200.0, "largest": 300.0, "sum": 400.0}},
      {"application": "/b", "layer": "serve", "processes": 1, "first_result": null,
       "later_results": null},
      {"application": "", "layer": "", "processes": 1, "first_result": 50.0,
       "later_results": null}])"));
  CHECK(report_text({started(1, "/a", "record"), first_result(1, 900), first_result(6, 50)}) ==
        R"(2 processes of 1 application and of unknown ones, 0 program builds

first result, ms after a process began
starts  first  later, median
     1    900              -  /a (record)
     1   50.0              -  an unknown application
)");
}

TEST_CASE("lines that are no report lines are counted, and the first is named", "[report_sum]") {
  const std::string deep(500'000, '[');
  const auto sums =
      report_json({built("served", "exact", 1), "{\"process\": \"00", "[]", "17", deep,
                   R"({"schema": 1, "rung": "exact"})", R"({"outcome": 1})",
                   R"({"outcome": "from a later version"})", "{\"outcome\": \"\xff\"}"});
  CHECK(sums["lines"] == 1);
  CHECK(sums["other_lines"] == 8);
  CHECK(sums["first_other_line"] == "a.report:2");
  CHECK(report_json({kOwnBinary})["first_other_line"].is_null());
}

TEST_CASE("members of other types, out of range or absent are unknown", "[report_sum]") {
  const std::string deep = std::string(300'000, '[') + std::string(300'000, ']');
  const auto sums = report_json(
      {R"({"outcome": "served"})",
       R"({"outcome": "served", "rung": 1, "milliseconds": "2", "process": 3, "kernels": {}})",
       R"({"outcome": "served", "milliseconds": -1})",
       R"({"outcome": "served", "milliseconds": 1e300, "nearest": )" + deep + "}",
       R"({"outcome": "passed", "kernels": [1, "k", null], "reason": [], "program": {}})",
       R"({"outcome": "own_binary", "bytes": -5})", R"({"outcome": "started"})",
       R"({"process": "1", "outcome": "started", "application": 5})",
       R"({"process": "1", "outcome": "first_result"})", R"({"outcome": "first_result"})"});
  CHECK(sums["lines"] == 10);
  CHECK(sums["other_lines"] == 0);
  CHECK(sums["processes"] == 1);
  CHECK(
      sums["outcomes"][0] ==
      nlohmann::json{{"outcome", "served"}, {"rung", ""}, {"count", 4}, {"milliseconds", nullptr}});
  CHECK(sums["reasons"][0]["examples"] ==
        nlohmann::json::parse(R"([{"program": "", "kernels": ["k"]}])"));
  CHECK(sums["own_binaries"] ==
        nlohmann::json{{"count", 1}, {"bytes", 0}, {"milliseconds", nullptr}});
}

TEST_CASE("names and reasons are escaped in the text", "[report_sum]") {
  const std::string text = report_text(
      {started(1, R"(/a\n0 faults)"), first_result(1, 1),
       built("passed", R"(r\u001b)", 1, "cl-1", R"("k\nl")", R"(why\n  7  passed: x)")});
  CHECK(kiln::test::mentions(text, "  /a\\x0a0 faults\n"));
  CHECK(kiln::test::mentions(text, "passed   r\\x1b "));
  CHECK(kiln::test::mentions(text, "passed: why\\x0a  7  passed: x\n"));
  CHECK(kiln::test::mentions(text, "   k\\x0al\n"));
}
