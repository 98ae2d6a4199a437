// SPDX-License-Identifier: Apache-2.0
// Kiln's float GEMM beside CLBlast's, on one device in one run (docs/understand/measurements.md):
//
//     kiln_gemm_compare PACK [--device GLOB] [--sizes 1024,4096] [--json]
//     kiln_gemm_compare --sweep gemm_f32_tiled.cl [--options FILE] [--share I/N] [--lock FILE]
//
// PACK has the program gemm_f32 of manifests/case-studies.toml, built for the device or not. All
// multiply the same matrices on one queue and take turns: CLBlast's SGEMM, where the machine has
// libclblast.so.1; every variant through the runtime, with the work-group size that it chooses; and
// the variant `scalar` by a plain clEnqueueNDRangeKernel with the work-group size left to the
// driver. Each product is compared with CLBlast's, and some of its elements with the host's sums.
//
// With --sweep the tiled kernel is built from source with each set of options of FILE, a set a
// line, or of a list of its own; --share takes every N-th of them, and --lock lets several
// processes compile concurrently and measure one at a time.
//
// Exit codes: 0, 1 where a product was wrong or something failed, 77 no such device.
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "builder/base/this_process.hpp"
#include "builder/device/opened_device.hpp"
#include "builder/process/fork_call.hpp"
#include "runtime/opencl/error.hpp"
#include "tests/bench/gemm_sweep.hpp"
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
  std::string sweep;
  std::string options;
  std::string share = "1/1";
  std::string lock;
  double seconds = 150;
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

// Every N-th of the sets of options, from the I-th on.
std::vector<std::string> shared(const std::vector<std::string> &all, const std::string &share) {
  std::size_t first = 1, of = 1;
  if (std::sscanf(share.c_str(), "%zu/%zu", &first, &of) != 2 || first < 1 || of < first) return {};
  std::vector<std::string> mine;
  for (std::size_t i = first - 1; i < all.size(); i += of) mine.push_back(all[i]);
  return mine;
}

std::vector<std::string> lines_of(const std::string &path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line[0] != '#') lines.push_back(line);
  }
  return lines;
}

void say_row(const Arguments &arguments, const SweepRow &row) {
  std::string speeds;
  for (std::size_t i = 0; i < row.gigaflops.size(); ++i) {
    speeds += fmt::format(" {:>9.1f}{}", row.gigaflops[i], row.right[i] ? "" : " WRONG");
  }
  const std::string why = row.status.ok() ? "" : "  " + row.status.message;
  say(arguments, fmt::format("{} {:>8.0f} {:>9}  {}{}\n", speeds, row.build, row.work_group,
                             row.options, why));
}

int sweep_all(const builder::DeviceInfo &device, const Arguments &arguments) {
  std::ifstream file(arguments.sweep);
  std::stringstream text;
  text << file.rdbuf();
  if (!file) return fail(arguments.sweep + ": cannot be read");
  SweepRequest request;
  request.source = text.str();
  request.options = shared(
      arguments.options.empty() ? sweep_options() : lines_of(arguments.options), arguments.share);
  request.sizes = arguments.sizes;
  request.seconds = arguments.seconds;
  request.lock = arguments.lock;
  builder::OpenedDevice opened;
  if (Status s = opened.open(device); !s.ok()) return fail(s.message);
  const runtime::OpenCL &cl = *opened.device->cl;
  cl_int code = CL_SUCCESS;
  const runtime::Handle<cl_command_queue> queue(
      cl.clCreateCommandQueue(opened.context.get(), opened.device->id, 0, &code),
      cl.clReleaseCommandQueue);
  if (code != CL_SUCCESS) return fail(runtime::cl_failure("clCreateCommandQueue", code).message);
  GemmMatrices matrices;
  const std::size_t most = *std::max_element(request.sizes.begin(), request.sizes.end());
  if (Status s = matrices.make(opened, queue.get(), most); !s.ok()) return fail(s.message);
  std::string head;
  for (const std::size_t n : request.sizes) head += fmt::format(" {:>9}", n);
  say(arguments,
      fmt::format("{} {:>8} {:>9}  GFLOPS, ms to build, items, options\n", head, "build", "items"));
  bool wrong = false;
  sweep(opened, matrices, request, [&](const SweepRow &row) {
    say_row(arguments, row);
    wrong = wrong || std::find(row.right.begin(), row.right.end(), false) != row.right.end();
  });
  return wrong ? 1 : 0;
}

void add_options(CLI::App *app, Arguments *arguments) {
  app->add_option("pack", arguments->pack, "Pack with the program gemm_f32");
  app->add_option("--device", arguments->device, "Index, or glob over names; default: the first");
  app->add_option("--sizes", arguments->sizes, "n of n x n matrices")
      ->delimiter(',')
      ->check(CLI::Range(1, 16384));
  app->add_option("--rounds", arguments->rule.rounds, "Rounds, in which all take turns")
      ->check(CLI::Range(1, 1000));
  app->add_option("--longest", arguments->longest, "Seconds; what is slower is left out");
  app->add_flag("--try-parameters", arguments->try_parameters,
                "Find CLBlast's best of its own parameters and some others first");
  app->add_option("--sweep", arguments->sweep, "Source of the tiled kernel")
      ->check(CLI::ExistingFile);
  app->add_option("--options", arguments->options, "File of build options, a set a line")
      ->check(CLI::ExistingFile);
  app->add_option("--share", arguments->share, "I/N: the I-th share of the sweep");
  app->add_option("--lock", arguments->lock, "File that is locked while times are taken");
  app->add_option("--seconds", arguments->seconds, "Time after which the sweep begins no more");
  app->add_flag("--json", arguments->as_json, "JSON on standard output, text on standard error");
}

int run(int argc, char **argv) {
  CLI::App app("Kiln's float GEMM beside CLBlast's");
  Arguments arguments;
  add_options(&app, &arguments);
  CLI11_PARSE(app, argc, argv);
  if (arguments.pack.empty() == arguments.sweep.empty()) {
    return fail("expected a pack, or --sweep FILE");
  }
  arguments.rule.longest = 1e9 * arguments.longest;
  const auto listed = builder::list_devices();
  if (!listed.ok()) return fail(listed.status().message);
  const auto devices = builder::select_devices(*listed, arguments.device);
  if (devices.empty()) {
    fmt::print("SKIP: no device is \"{}\"\n", arguments.device);
    return 77;
  }
  return arguments.sweep.empty() ? compare(devices[0], arguments)
                                 : sweep_all(devices[0], arguments);
}

}  // namespace
}  // namespace kiln::test

int main(int argc, char **argv) { return kiln::test::run(argc, argv); }
