// SPDX-License-Identifier: Apache-2.0
// What a build of many jobs costs besides its drivers, and how its pace compares with a driver's:
//
//     kiln_many_jobs KILN [COUNT [BYTES]]
//     kiln_many_jobs KILN driver [COUNT [ROUNDS]]
//
// Makes, in a folder that goes with the process, a base pack of 10,000 programs, or COUNT, a pack
// with a binary of 10,000 bytes, or BYTES, for each, and a store with the same; then runs KILN with
// a driver that only tells its name. Prints milliseconds and the builder's own memory for a plan,
// for a build that has nothing to do, and for one that takes all from the store.
//
// With `driver`, generates COUNT programs (18) whose launches are not known, and builds them on
// each device that OpenCL finds: by KILN, with one job and no store, and by one bare process that
// builds them, creates their kernels and reads their binaries. Both start with empty driver caches,
// and take turns ROUNDS times (3). Prints medians of the CPU time of all processes.
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <sstream>

#include <fmt/format.h>

#include "builder/base/this_process.hpp"
#include "builder/device/build_source.hpp"
#include "builder/device/opened_device.hpp"
#include "builder/finish/finishers.hpp"
#include "builder/jobs/job_store.hpp"
#include "builder/prove/proof.hpp"
#include "builder/prove/result_check.hpp"
#include "kiln/packs/writer.hpp"
#include "tests/support/scripted_driver.hpp"
#include "tests/support/temporary_folder.hpp"

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
    if (std::freopen("/dev/null", "w", stdout) == nullptr) _exit(127);
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

// Sources of the shapes that libraries have, each with its kernels' names and numbers of arguments.
struct Shape {
  const char *kernels;  // names and numbers of arguments
  std::string (*source)(int number);
};

// Image filters: a neighbourhood of pixels, and a few functions of mathematics.
std::string filter(int number) {
  std::string text =
      "constant sampler_t at = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | "
      "CLK_FILTER_NEAREST;\n"
      "float4 tone(float4 c) { return pow(fabs(c), (float4)(0.45f)) * native_exp(-0.1f * c); }\n";
  for (int k = 0; k < 3; ++k) {
    text += fmt::format(
        "kernel void filter{0}(read_only image2d_t in, write_only image2d_t out, int w, int h) {{\n"
        "  const int x = get_global_id(0), y = get_global_id(1);\n  if (x >= w || y >= h) return;\n"
        "  float4 sum = 0.0f;\n  for (int j = -{1}; j <= {1}; ++j)\n"
        "    for (int i = -{1}; i <= {1}; ++i) {{\n"
        "      const float4 c = read_imagef(in, at, (int2)(x + i, y + j));\n"
        "      sum += c * exp(-(float)(i * i + j * j) / {2}.0f) * fabs(c.x - sum.x);\n    }}\n"
        "  write_imagef(out, (int2)(x, y), tone(sum));\n}}\n",
        k, k + 1, number + 3);
  }
  return text;
}

// A matrix product in local memory, with its loops unrolled by hand.
std::string product(int number) {
  std::string text =
      "kernel void product(global const float *a, global const float *b, global float *c, int n) "
      "{\n"
      "  local float ta[16][17], tb[16][17];\n"
      "  const int x = get_local_id(0), y = get_local_id(1);\n"
      "  float4 sum = 0.0f;\n  for (int t = 0; t < n; t += 16) {\n"
      "    ta[y][x] = a[(get_group_id(1) * 16 + y) * n + t + x];\n"
      "    tb[y][x] = b[(t + y) * n + get_group_id(0) * 16 + x];\n"
      "    barrier(CLK_LOCAL_MEM_FENCE);\n";
  for (int i = 0; i < 16; ++i) {
    text += fmt::format("    sum.s{0} = mad(ta[y][{1}], tb[{1}][x], sum.s{0} * {2}.0f);\n", i % 4,
                        i, number % 3 + 1);
  }
  return text +
         "    barrier(CLK_LOCAL_MEM_FENCE);\n  }\n"
         "  c[get_global_id(1) * n + get_global_id(0)] = sum.x + sum.y + sum.z + sum.w;\n}\n"
         "kernel void scale(global float *c, int n) { c[get_global_id(0)] *= n; }\n";
}

// A hash: hundreds of statements on integers.
std::string digest(int number) {
  std::string text =
      "kernel void digest(global const uint *in, global uint *out) {\n"
      "  uint a = in[0], b = in[1], c = in[2], d = in[3];\n"
      "  const uint w = in[get_global_id(0)];\n";
  for (int i = 0; i < 160; ++i) {
    text += fmt::format(
        "  a += ((b & c) | (~b & d)) + w + {}u; a = rotate(a, {}u) + b;\n"
        "  {{ const uint t = d; d = c; c = b; b = a; a = t; }}\n",
        i * 2654435761u + static_cast<unsigned>(number), i % 23 + 5);
  }
  return text + "  out[get_global_id(0)] = a ^ b ^ c ^ d;\n}\n";
}

// Layers of a network: several small kernels on vectors.
std::string layers(int number) {
  std::string text;
  for (int k = 0; k < 4; ++k) {
    text += fmt::format(
        "kernel void layer{0}(global const float4 *in, global const float4 *w, global float4 "
        "*out,\n"
        "                   int n) {{\n"
        "  const int i = get_global_id(0);\n  float4 s = w[i];\n"
        "  for (int k = 0; k < n; k += {1}) s = mad(in[k], w[k + i], s);\n"
        "  out[i] = {2};\n}}\n",
        k, k + number % 4 + 1, k % 2 == 0 ? "fmax(s, 0.0f)" : "1.0f / (1.0f + exp(-s))");
  }
  return text;
}

// A sum over a work-group, and what divides by it.
std::string reduction(int number) {
  return fmt::format(
      "kernel void total(global const float *in, global float *out, local float *part, int n) {{\n"
      "  const int l = get_local_id(0);\n  float s = {}.0f;\n"
      "  for (int i = get_global_id(0); i < n; i += get_global_size(0)) s += in[i] * in[i];\n"
      "  part[l] = s;\n  for (int step = get_local_size(0) / 2; step > 0; step /= 2) {{\n"
      "    barrier(CLK_LOCAL_MEM_FENCE);\n    if (l < step) part[l] += part[l + step];\n  }}\n"
      "  if (l == 0) out[get_group_id(0)] = part[0];\n}}\n"
      "kernel void norm(global float *x, global const float *sum, int n) {{\n"
      "  const int i = get_global_id(0);\n  if (i < n) x[i] *= rsqrt(sum[0] + 1e-6f);\n}}\n",
      number);
}

packs::Program generated(int number) {
  static constexpr Shape kShapes[] = {{"filter0 4 filter1 4 filter2 4", filter},
                                      {"product 4 scale 2", product},
                                      {"digest 2", digest},
                                      {"layer0 4 layer1 4 layer2 4 layer3 4", layers},
                                      {"total 4 norm 3", reduction}};
  const Shape &shape = kShapes[static_cast<std::size_t>(number) % std::size(kShapes)];
  const std::string source = shape.source(number);
  packs::Program program{"program" + std::to_string(number), "", {}};
  packs::Variant variant;
  variant.name = "default";
  variant.options = "-cl-std=CL1.2";
  std::vector<std::string> names;
  std::istringstream words(shape.kernels);
  packs::Kernel kernel;
  while (words >> kernel.name >> kernel.arguments) {
    variant.kernels.push_back(kernel);
    names.push_back(kernel.name);
  }
  variant.hash = packs::variant_hash(source, variant.options, names);
  variant.source.emplace(bytes_of(source));
  program.variants = {std::move(variant)};
  return program;
}

// Returns the CPU seconds of all processes that have ended and that this process has waited for.
double waited_seconds() {
  rusage used{};
  getrusage(RUSAGE_CHILDREN, &used);
  return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

// Runs `work` in a process of its own. Returns the CPU seconds of that process and of all that it
// started, which may outlive it.
double cpu_seconds(const std::function<void()> &work) {
  std::fflush(stdout);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const double before = waited_seconds();
  const pid_t child = fork();
  if (child == 0) {
    work();
    _exit(0);
  }
  int status = 1;
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
    must({packs::Code::failed, "a process failed"});
  }
  while (wait(nullptr) > 0) {
  }
  return waited_seconds() - before;
}

void build_bare(const builder::DeviceInfo &info, const packs::Contents &base,
                const std::string &caches) {
  builder::use_driver_caches(caches);
  builder::OpenedDevice child;
  must(child.open(info));
  for (const packs::Program &program : base.programs) {
    const packs::Variant &variant = program.variants[0];
    packs::Bytes source, binary;
    must(variant.source->read(&source));
    std::vector<runtime::ExpectedKernel> kernels;
    for (const auto &kernel : variant.kernels) kernels.push_back({kernel.name, kernel.arguments});
    const auto outcome =
        builder::build_source(*child.device, child.context.get(), {source.data(), source.size()},
                              variant.options, kernels);
    if (!outcome.error.ok()) must({outcome.error.code, outcome.error.message + "\n" + outcome.log});
    must(runtime::program_binary(*child.device, outcome.built.program.get(), &binary));
  }
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void compare_with_driver(const std::string &kiln, int count, int rounds) {
  const auto devices = builder::list_devices();
  must(devices.status());
  packs::Contents base;
  for (int i = 0; i < count; ++i) base.programs.push_back(generated(i));
  for (const builder::DeviceInfo &device : *devices) {
    std::vector<double> bare, built;
    for (int round = 0; round < rounds; ++round) {
      const test::TemporaryFolder folder;
      const std::string pack = folder.path() / "base.kiln", out = folder.path() / "out.kiln";
      must(packs::write_pack(base, pack));
      bare.push_back(
          cpu_seconds([&] { build_bare(device, base, (folder.path() / "caches").string()); }));
      built.push_back(cpu_seconds([&] {
        if (std::freopen("/dev/null", "w", stdout) == nullptr) _exit(127);
        execl(kiln.c_str(), kiln.c_str(), "build", pack.c_str(), "-o", out.c_str(), "-j1",
              "--store", "none", "--device", std::to_string(device.index).c_str(), nullptr);
        _exit(127);
      }));
    }
    std::printf("%s: %d programs, CPU seconds: bare %.2f, kiln %.2f, ratio %.2f\n",
                device.label().c_str(), count, median(bare), median(built),
                median(built) / median(bare));
  }
}

}  // namespace
}  // namespace kiln

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  if (argc > 2 && std::strcmp(argv[2], "driver") == 0) {
    kiln::compare_with_driver(argv[1], argc > 3 ? std::atoi(argv[3]) : 18,
                              argc > 4 ? std::atoi(argv[4]) : 3);
    return 0;
  }
  kiln::measure(argv[1], argc > 2 ? std::atoi(argv[2]) : 10'000,
                argc > 3 ? std::strtoul(argv[3], nullptr, 10) : 10'000);
  return 0;
}
