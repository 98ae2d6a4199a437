// SPDX-License-Identifier: Apache-2.0
// Kiln's float GEMM beside CLBlast's, on one device in one run (docs/understand/measurements.md):
//
//     kiln_gemm_compare PACK [--device GLOB] [--sizes 1024,4096] [--try-parameters] [--json]
//
// PACK has the program gemm_f32 of manifests/case-studies.toml, built for the device or not. All
// multiply the same matrices on one queue and take turns: CLBlast's SGEMM, where the machine has
// libclblast.so.1; every variant through the runtime, with the work-group size that it chooses; and
// the variant `scalar` by a plain clEnqueueNDRangeKernel with the work-group size left to the
// driver. Each product is compared with CLBlast's, and some of its elements with the host's sums.
//
// With --try-parameters CLBlast runs with the fastest of its own parameters and six other sets.
//
// Exit codes: 0, 1 where a product was wrong or something failed.
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "builder/base/this_process.hpp"
#include "builder/machine/opened_device.hpp"
#include "builder/process/fork_call.hpp"
#include "tests/bench/gemm_ways.hpp"

namespace kiln::test {
namespace {

using builder::Status;
using nlohmann::json;

constexpr std::chrono::seconds kTimeout{40};

struct Arguments {
  std::string pack;
  std::string device;
  std::vector<std::size_t> sizes{1024, 4096};
  GemmRule rule;
  bool try_parameters = false;
  double longest = 20;  // seconds
  bool as_json = false;
};

int fail(const std::string &message) {
  fmt::print(stderr, "{}\n", message);
  return 1;
}

// Prints at once: a later step may hang.
void say(const Arguments &arguments, const std::string &text) {
  fmt::print(arguments.as_json ? stderr : stdout, "{}", text);
  std::fflush(arguments.as_json ? stderr : stdout);
}

// Parameters of CLBlast's kernel that suit large GPUs, beside those that it has for the device.
std::vector<ClBlastParameters> clblast_sets() {
  const auto set = [](std::size_t depth, std::size_t tile, std::size_t items, std::size_t vector) {
    return ClBlastParameters{{"GEMMK", 0},     {"KREG", 1},      {"KWG", depth},  {"KWI", 2},
                             {"MDIMA", items}, {"MDIMC", items}, {"MWG", tile},   {"NDIMB", items},
                             {"NDIMC", items}, {"NWG", tile},    {"SA", 1},       {"SB", 1},
                             {"STRM", 0},      {"STRN", 0},      {"VWM", vector}, {"VWN", vector}};
  };
  return {set(16, 128, 16, 4), set(16, 128, 16, 2), set(32, 128, 16, 4),
          set(16, 64, 8, 4),   set(32, 64, 8, 2),   set(16, 64, 16, 4)};
}

std::string text_of(const ClBlastParameters &parameters) {
  std::string text;
  for (const auto &[name, value] : parameters) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  }
  return text;
}

// GFLOPS of CLBlast alone for the largest size, with that set of parameters; an empty one stands
// for its own. In a process of its own, since CLBlast forgets no parameters: 0 where that fails.
double clblast_alone(const builder::DeviceInfo &device, const Arguments &arguments,
                     const ClBlastParameters &set) {
  const auto measure = [&]() -> json {
    const std::size_t n = arguments.sizes.back();
    GemmBench bench;
    if (!bench.open(device, arguments.pack, n).ok() || !bench.clblast()) return 0;
    if (!set.empty() && !bench.clblast()->use(bench.device(), set).ok()) return 0;
    GemmRule rule = arguments.rule;
    rule.rounds = 3;
    const std::vector<GemmWay> clblast(1, bench.ways().front());
    const GemmTime time = time_gemms(bench.matrices(), clblast, n, rule).front();
    return time.status.ok() && time.right ? time.gigaflops(n) : 0;
  };
  const auto child = builder::fork_call(measure, kTimeout);
  return child.ok() ? child.answer.get<double>() : 0;
}

// The fastest of CLBlast's own parameters (empty) and the sets above. Begins none after a minute.
ClBlastParameters best_parameters(const builder::DeviceInfo &device, const Arguments &arguments) {
  const auto start = builder::Clock::now();
  ClBlastParameters best;
  double fastest = 0;
  std::vector<ClBlastParameters> sets = clblast_sets();
  sets.insert(sets.begin(), ClBlastParameters());
  for (const ClBlastParameters &set : sets) {
    if (builder::milliseconds_since(start) > 60e3) break;
    const double speed = clblast_alone(device, arguments, set);
    say(arguments, fmt::format("clblast at {}, {}: {:.1f} GFLOPS\n", arguments.sizes.back(),
                               set.empty() ? "its own parameters" : text_of(set), speed));
    if (speed <= fastest) continue;
    fastest = speed;
    best = set;
  }
  return best;
}

std::string row_text(const GemmBench &bench, const GemmTime &time, std::size_t n,
                     const GemmTime *clblast) {
  if (!time.status.ok()) return fmt::format("  {:<14} {}\n", time.name, time.status.message);
  if (!time.measured()) return fmt::format("  {:<14} {}\n", time.name, time.left_out);
  const std::string ratio =
      clblast == nullptr ? "" : fmt::format("{:.2f}", clblast->nanoseconds / time.nanoseconds);
  return fmt::format("  {:<14} {:>10} {:>12.1f} {:>10.1f} {:>8} {:>9.1e}{}\n", time.name,
                     bench.work_group(time.name), time.nanoseconds / 1e3, time.gigaflops(n), ratio,
                     std::max(time.error, time.difference), time.right ? "" : "  WRONG");
}

json row_json(const GemmBench &bench, const GemmTime &time, std::size_t n,
              const GemmTime *clblast) {
  json row = {{"way", time.name}};
  if (!time.status.ok()) row["error"] = time.status.message;
  if (!time.left_out.empty()) row["left_out"] = time.left_out;
  if (!time.measured()) return row;
  row.update({{"work_group", bench.work_group(time.name)},
              {"nanoseconds", time.nanoseconds},
              {"samples", time.samples},
              {"gflops", time.gigaflops(n)},
              {"right", time.right},
              {"worst_error", time.error},
              {"worst_difference", time.difference}});
  if (clblast != nullptr) row["kiln_over_clblast"] = clblast->nanoseconds / time.nanoseconds;
  return row;
}

// One size; `*ok` becomes false where something was wrong.
json compare_size(GemmBench *bench, const Arguments &arguments, std::size_t n, bool *ok) {
  const std::vector<GemmTime> times =
      time_gemms(bench->matrices(), bench->ways(), n, arguments.rule);
  const bool with_clblast = !times.empty() && times[0].name == "clblast" && times[0].measured();
  const GemmTime *clblast = with_clblast ? &times[0] : nullptr;
  say(arguments, fmt::format("{0} x {0}\n  {1:<14} {2:>10} {3:>12} {4:>10} {5:>8} {6:>9}\n", n,
                             "way", "work-group", "us", "GFLOPS", "/clblast", "error"));
  json rows = json::array();
  for (const GemmTime &time : times) {
    say(arguments, row_text(*bench, time, n, clblast));
    rows.push_back(row_json(*bench, time, n, clblast));
    *ok = *ok && time.status.ok() && (time.right || !time.left_out.empty());
  }
  return {{"size", n}, {"ways", rows}};
}

int compare(const builder::DeviceInfo &device, const Arguments &arguments) {
  ClBlastParameters best;
  if (arguments.try_parameters) best = best_parameters(device, arguments);
  GemmBench bench;
  const std::size_t most = *std::max_element(arguments.sizes.begin(), arguments.sizes.end());
  if (Status s = bench.open(device, arguments.pack, most); !s.ok()) return fail(s.message);
  say(arguments, device.label() + "\n");
  if (!bench.clblast()) say(arguments, "without CLBlast: " + bench.no_clblast() + "\n");
  for (const std::string &line : bench.left_out()) say(arguments, "not here: " + line + "\n");
  if (!best.empty()) {
    if (Status s = bench.clblast()->use(bench.device(), best); !s.ok()) return fail(s.message);
  }
  bool ok = true;
  json sizes = json::array();
  for (const std::size_t n : arguments.sizes) {
    sizes.push_back(compare_size(&bench, arguments, n, &ok));
  }
  if (arguments.as_json) {
    const json document{{"schema", 1},
                        {"device", device.label()},
                        {"clblast_parameters", best.empty() ? json() : json(best)},
                        {"sizes", sizes}};
    fmt::print("{}\n", document.dump(2, ' ', false, json::error_handler_t::replace));
  }
  return ok ? 0 : 1;
}

void add_options(CLI::App *app, Arguments *arguments) {
  app->add_option("pack", arguments->pack, "Pack with the program gemm_f32")->required();
  app->add_option("--device", arguments->device, "Index, or glob over names; default: the first");
  app->add_option("--sizes", arguments->sizes, "n of n x n matrices")
      ->delimiter(',')
      ->check(CLI::Range(1, 16384));
  app->add_option("--rounds", arguments->rule.rounds, "Rounds, in which all take turns")
      ->check(CLI::Range(1, 1000));
  app->add_option("--longest", arguments->longest, "Seconds; what is slower is left out");
  app->add_flag("--try-parameters", arguments->try_parameters,
                "Find CLBlast's best of its own parameters and some others first");
  app->add_flag("--json", arguments->as_json, "JSON on standard output, text on standard error");
}

int run(int argc, char **argv) {
  CLI::App app("Kiln's float GEMM beside CLBlast's");
  Arguments arguments;
  add_options(&app, &arguments);
  CLI11_PARSE(app, argc, argv);
  arguments.rule.longest = 1e9 * arguments.longest;
  const auto devices = builder::find_devices(arguments.device);
  if (!devices.ok()) return fail(devices.status().message);
  return compare(devices->front(), arguments);
}

}  // namespace
}  // namespace kiln::test

int main(int argc, char **argv) { return kiln::test::run(argc, argv); }
