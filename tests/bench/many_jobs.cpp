// SPDX-License-Identifier: Apache-2.0
// What a build of many jobs costs besides its drivers:
//
//     kiln_many_jobs KILN [COUNT [BYTES]]
//
// Makes, in a folder that goes with the process, a base pack of 10,000 programs, or COUNT, a pack
// with a binary of 10,000 bytes, or BYTES, for each, and a store with the same; then runs KILN with
// a driver that only tells its name. Prints milliseconds and the builder's own memory for a plan,
// for a build that has nothing to do, and for one that takes all from the store.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "builder/base/this_process.hpp"
#include "builder/device/opened_device.hpp"
#include "builder/finish/finishers.hpp"
#include "builder/jobs/job_store.hpp"
#include "builder/prove/proof.hpp"
#include "builder/prove/result_check.hpp"
#include "kiln/packs/writer.hpp"
#include "tests/support/scripted_driver.hpp"

namespace kiln {
namespace {

constexpr char kScript[] = R"(
[[platform]]
name = "Scripted platform"
[[platform.device]]
name = "Scripted GPU"
compiler_available = true
)";

packs::Bytes bytes_of(const std::string &text) { return {text.begin(), text.end()}; }

packs::Program program_of(int number) {
  const std::string source =
      "kernel void scale(global float *out, float by) {\n"
      "  out[get_global_id(0)] *= by + " +
      std::to_string(number) + ".0f;\n}\n";
  packs::Program program{"program" + std::to_string(number), "", {}};
  packs::Variant variant;
  variant.name = "plain";
  variant.options = "-cl-std=CL1.2";
  variant.kernels = {{"scale", 2}};
  variant.hash = packs::variant_hash(source, variant.options, {"scale"});
  variant.source.emplace(bytes_of(source));
  program.variants = {std::move(variant)};
  return program;
}

// Bytes that do not compress, of a kind of their own for each number.
packs::Binary binary_of(const packs::Variant &variant, int number, std::size_t size) {
  packs::Bytes bytes(size);
  std::uint64_t state = static_cast<std::uint64_t>(number) + 1;
  for (auto &byte : bytes) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    byte = static_cast<std::uint8_t>(state >> 56);
  }
  packs::Binary binary{variant.hash, packs::BlobSource(std::move(bytes)), "", {}};
  binary.kernels = {{256, 32, 0, 0}};
  binary.finish.finality = packs::Finality::yes;
  return binary;
}

void must(const packs::Status &status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.message.c_str());
  std::exit(1);
}

void fill_store(const std::string &file, const packs::Contents &base, const packs::Target &target,
                const builder::DeviceInfo &device) {
  auto store = builder::Store::open(file);
  must(store.status());
  store->database().run("pragma synchronous = off");
  const std::string platform = builder::platform_of(device);
  const auto checks = builder::find_checks(base.programs, {}, "", "");
  const auto start = builder::Clock::now();
  for (std::size_t i = 0; i < base.programs.size(); ++i) {
    const packs::Program &program = base.programs[i];
    builder::JobRequest request{device, program, program.variants[0], {std::chrono::minutes(2)}};
    request.check = &checks[i];
    const auto action = builder::action_of(request, platform);
    nlohmann::json answer{{"binary", builder::to_json(target.binaries[i])},
                          {"log", ""},
                          {"kernels", {{256, 32, 0, 0}}}};
    store->put(action, {builder::JobState::done, std::move(answer), 1, std::time(nullptr)});
  }
  must(store->status());
  std::printf("%-44s %8.0f ms\n", "jobs put into the store", builder::milliseconds_since(start));
}

// Runs KILN to its end and prints what it took.
void run(const char *what, std::vector<std::string> words) {
  std::vector<char *> arguments;
  for (std::string &word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const auto start = builder::Clock::now();
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    std::freopen("/dev/null", "w", stdout);
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  int status = 0;
  rusage used{};
  wait4(child, &status, 0, &used);
  const double milliseconds = builder::milliseconds_since(start);
  if (status != 0) must({packs::Code::failed, words[1] + " failed"});
  std::printf("%-44s %8.0f ms %6ld MiB\n", what, milliseconds, used.ru_maxrss / 1024);
}

void make_files(const test::ScriptedDriver &driver, int count, std::size_t size) {
  const auto devices = builder::list_devices();
  must(devices.status());
  packs::Contents base;
  packs::Target target = builder::make_target(devices->front());
  for (int i = 0; i < count; ++i) {
    base.programs.push_back(program_of(i));
    target.binaries.push_back(binary_of(base.programs.back().variants[0], i, size));
  }
  must(packs::write_pack(base, driver.path("base.kiln")));
  fill_store(driver.path("jobs.sqlite"), base, target, devices->front());
  base.targets = {std::move(target)};
  must(packs::write_pack(base, driver.path("built.kiln")));
}

void measure(const std::string &kiln, int count, std::size_t size) {
  const test::ScriptedDriver driver(kScript);
  driver.use();
  const std::string base_pack = driver.path("base.kiln"), built = driver.path("built.kiln");
  const std::string store = driver.path("jobs.sqlite");
  // In a process of its own: what it takes would count as memory of those that are started here.
  const pid_t child = fork();
  if (child == 0) {
    make_files(driver, count, size);
    std::fflush(stdout);
    _exit(0);
  }
  int status = 1;
  if (waitpid(child, &status, 0) != child || status != 0) std::exit(1);
  run("plan", {kiln, "build", "--dry-run", base_pack, "--store", "none"});
  run("plan, and what the store has", {kiln, "build", "--dry-run", base_pack, "--store", store});
  run("plan, with what an earlier pack has",
      {kiln, "build", "--dry-run", base_pack, "-o", built, "--store", "none"});
  run("build with nothing to do", {kiln, "build", base_pack, "-o", built, "--store", store});
  run("build that takes all from the store",
      {kiln, "build", base_pack, "-o", driver.path("out.kiln"), "--store", store});
}

}  // namespace
}  // namespace kiln

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  kiln::measure(argv[1], argc > 2 ? std::atoi(argv[2]) : 10'000,
                argc > 3 ? std::strtoul(argv[3], nullptr, 10) : 10'000);
  return 0;
}
