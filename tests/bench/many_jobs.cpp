// SPDX-License-Identifier: Apache-2.0
// What a build of many jobs costs besides its drivers, and how its pace compares with a driver's:
//
//     kiln_many_jobs KILN [COUNT [BYTES]]
//     kiln_many_jobs KILN shapes [ROUNDS [BUILD OPTION...]]
//     KILN_MESA_ROOT=DIR kiln_many_jobs KILN absent BASE MODEL...
//
// Makes, in a folder that goes with the process, a base pack of 10,000 programs, or COUNT, a pack
// with a binary of 10,000 bytes, or BYTES, for each, and a store with the same; then runs KILN with
// a driver that only tells its name. Prints milliseconds and the builder's own memory for a plan,
// for a build that has nothing to do, and for one that takes all from the store.
//
// With `shapes`, generates programs with the shapes of six projects, whose launches are not known,
// and prints tables:
// * Host step: seconds of `kiln compile` with an empty store, and again with nothing changed.
// * For each device that OpenCL finds: the CPU seconds of one bare process that builds the
//   programs, creates their kernels and reads their binaries; the CPU time of `kiln build -j1`
//   without a store, divided by that (medians); the time of -j2 divided by that of -j1 (the best of
//   each). All start with empty driver caches, and take turns ROUNDS times (3; 0: no device).
// * Packs: their sizes as archive (uncompressed, the file then compressed by zstd), fleet, sent
//   (all layers as published, with uncompressed binaries), alone (each blob as a zstd stream of its
//   own at the highest level, and nothing else), divided by that of one zstd stream of what they
//   hold (level 19). With OPTIONs also for a pack that these build: --virtual neo:skl,dg1
//
// With `absent`, prints for each model of `--virtual mesa:MODEL` the CPU seconds of one bare
// process that builds the preferred variants of the base pack by the same driver in the same root,
// and the CPU time of `kiln build --preferred -j1` without a store divided by that. Each is the
// median of three runs.
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>

#include <fmt/format.h>
#include <zstd.h>

#include "builder/base/this_process.hpp"
#include "builder/finish/finishers.hpp"
#include "builder/fleet/delivery/publish.hpp"
#include "builder/jobs/job_store.hpp"
#include "builder/jobs/resolved_jobs.hpp"
#include "builder/machine/build_source.hpp"
#include "builder/machine/driver_caches.hpp"
#include "builder/machine/opened_device.hpp"
#include "builder/prove/proof.hpp"
#include "builder/virtual/driver_root.hpp"
#include "builder/virtual/mesa.hpp"
#include "kiln/packs/pack.hpp"
#include "kiln/packs/writer.hpp"
#include "runtime/device/device.hpp"
#include "tests/bench/shapes.hpp"
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

void fill_store(const std::string &file, const builder::ResolvedJobs &requests,
                const packs::Target &target, const builder::DeviceInfo &device) {
  auto store = builder::Store::open(file);
  must(store.status());
  store->database().run("pragma synchronous = off");
  const std::string platform = builder::platform_of(device);
  const auto start = builder::Clock::now();
  for (std::size_t i = 0; i < target.binaries.size(); ++i) {
    const builder::PlannedJob job{0, i, 0};
    const auto action = builder::action_of(requests.of(job), requests.origin_of(job), platform);
    nlohmann::json answer{{"binary", builder::to_json(target.binaries[i])},
                          {"log", ""},
                          {"kernels", {{256, 32, 0, 0}}}};
    store->put(action, {builder::JobState::done, std::move(answer), 1, std::time(nullptr)});
  }
  must(store->status());
  std::printf("%-44s %8.0f ms\n", "jobs put into the store", builder::milliseconds_since(start));
}

void use_store(const std::string &file) { setenv("KILN_STORE", file.c_str(), 1); }

// Runs KILN to its end and prints what it took.
void run(const char *what, std::vector<std::string> words, const std::string &store = "none") {
  use_store(store);
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
  const builder::PlanOptions options;
  const std::vector<builder::DeviceInfo> one{devices->front()};
  const builder::ResolvedJobs requests(base, one, options, {}, "", "");
  for (std::size_t i = 0; i < target.binaries.size(); ++i) {
    requests.origin_of({0, i, 0}).note_in(&target.binaries[i].finish);
  }
  fill_store(driver.path("jobs.sqlite"), requests, target, one.front());
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
  run("plan", {kiln, "build", "--dry-run", base_pack});
  run("plan, and what the store has", {kiln, "build", "--dry-run", base_pack}, store);
  run("plan, with what an earlier pack has", {kiln, "build", "--dry-run", base_pack, "-o", built});
  run("build with nothing to do", {kiln, "build", base_pack, "-o", built}, store);
  run("build that takes all from the store",
      {kiln, "build", base_pack, "-o", driver.path("out.kiln")}, store);
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

// Builds the variants of `base` that have a binary in `built`.
void build_variants(const runtime::Device &device, cl_context context, const packs::Contents &base,
                    const packs::Contents &built) {
  std::set<packs::Digest> packed;
  for (const packs::Binary &binary : built.targets.front().binaries) packed.insert(binary.variant);
  for (const packs::Program &program : base.programs) {
    for (const packs::Variant &variant : program.variants) {
      if (packed.count(variant.hash) == 0) continue;
      packs::Bytes source, binary;
      must(variant.source->read(&source));
      std::vector<runtime::ExpectedKernel> kernels;
      for (const auto &kernel : variant.kernels) kernels.push_back({kernel.name, kernel.arguments});
      const auto outcome = builder::build_source(device, context, {source.data(), source.size()},
                                                 variant.options, kernels);
      if (!outcome.error.ok()) {
        must({outcome.error.code, outcome.error.message + "\n" + outcome.log});
      }
      must(runtime::program_binary(device, outcome.built.program.get(), &binary));
    }
  }
}

constexpr char kSizes[] = "decoded, MB | solid, KB | archive | fleet | sent | alone | read, us";

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

packs::Contents contents_of(const std::string &file) {
  std::shared_ptr<const packs::Pack> pack;
  packs::Contents contents;
  must(packs::Pack::open_file(file.c_str(), &pack));
  must(packs::read_contents(pack, &contents));
  return contents;
}

// Runs KILN in this process, which ends.
void become(const std::string &kiln, std::vector<std::string> words) {
  words.insert(words.begin(), kiln);
  std::vector<char *> arguments;
  for (std::string &word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  if (std::freopen("/dev/null", "w", stdout) == nullptr) _exit(127);
  execv(arguments[0], arguments.data());
  _exit(127);
}

// Seconds until KILN has ended, and its CPU seconds.
struct Cost {
  double wall = 0, cpu = 0;
};

Cost cost_of(const std::string &kiln, const std::vector<std::string> &words) {
  const auto start = builder::Clock::now();
  const double cpu = cpu_seconds([&] { become(kiln, words); });
  return {builder::milliseconds_since(start) / 1000, cpu};
}

// Returns the microseconds in which a binary of the pack's first target is read and decoded: the
// median of passes over all of them.
double read_microseconds(const std::string &file) {
  std::shared_ptr<const packs::Pack> pack;
  packs::TargetRef target;
  must(packs::Pack::open_file(file.c_str(), &pack));
  must(pack->target(0, &target));
  std::vector<double> passes;
  for (int pass = 0; pass < 31; ++pass) {
    const auto start = builder::Clock::now();
    for (const packs::fb::Binary *binary : *target.schema().binaries()) {
      packs::Bytes scratch;
      packs::View bytes;
      const packs::BlobRef blob(target.schema().blobs()->Get(binary->blob()));
      must(pack->read_blob(blob, &scratch, &bytes));
    }
    passes.push_back(builder::milliseconds_since(start) * 1000);
  }
  return median(passes) / target.schema().binaries()->size();
}

// Returns the size of all layers of a pack with the programs of one and the binaries of another.
std::size_t published_size(const std::string &programs, const std::string &binaries) {
  packs::Contents contents = contents_of(programs);
  contents.targets = contents_of(binaries).targets;
  auto folder = builder::FolderWriter::open(programs + ".published", {});
  must(folder.status());
  builder::PublishRequest request;
  request.today = builder::today();
  const auto published = builder::publish_pack(contents, &*folder, request);
  must(published.status());
  std::size_t size = published->programs.size;
  for (const builder::PublishedPack &pack : published->packs) size += pack.delta.size;
  return size;
}

// Prints the sizes of the pack's contents for each purpose by that of one stream of its distinct
// blobs.
void print_sizes(const char *shape, const std::string &file) {
  const packs::Contents contents = contents_of(file);
  const auto compressed_size = [](const packs::Bytes &bytes, int level) {
    packs::Bytes out(ZSTD_compressBound(bytes.size()));
    return ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), level);
  };
  std::set<packs::Bytes> seen;
  packs::Bytes all;
  std::size_t alone = 0;
  const auto add = [&](const std::optional<packs::BlobSource> &blob) {
    packs::Bytes bytes;
    if (!blob) return;
    must(blob->read(&bytes));
    if (!seen.insert(bytes).second) return;
    all.insert(all.end(), bytes.begin(), bytes.end());
    alone += compressed_size(bytes, ZSTD_maxCLevel());
  };
  for (const packs::Program &program : contents.programs) {
    for (const packs::Variant &variant : program.variants) {
      add(variant.source);
      add(variant.il64);
    }
  }
  for (const packs::Target &target : contents.targets) {
    for (const packs::Binary &binary : target.binaries) {
      add(binary.blob);
      add(binary.cache_entries);
    }
    add(target.cache_entries);
  }
  const std::size_t solid = compressed_size(all, 19);
  std::string row =
      fmt::format("| {} | {:.2f} | {:.0f} |", shape, static_cast<double>(all.size()) / 1e6,
                  static_cast<double>(solid) / 1e3);
  const auto stored_for = [&](packs::Purpose purpose, const std::string &path) {
    packs::WriteOptions options;
    options.purpose = purpose;
    must(packs::write_pack(contents, path, options));
    std::ifstream in(path, std::ios::binary);
    return packs::Bytes(std::istreambuf_iterator<char>(in), {});
  };
  const std::string raw = file + ".raw", fleet = file + ".fleet";
  const std::size_t archive_size = compressed_size(stored_for(packs::Purpose::raw, raw), 19);
  const std::size_t fleet_size = stored_for(packs::Purpose::fleet, fleet).size();
  for (const std::size_t size : {archive_size, fleet_size, published_size(fleet, raw), alone}) {
    row += fmt::format(" {:.2f} |", static_cast<double>(size) / static_cast<double>(solid));
  }
  row += fmt::format(" {:.1f} |", read_microseconds(raw));
  std::printf("%s\n", row.c_str());
}

void print_header(const std::string &title, const char *columns) {
  std::printf("\n%s\n\n| shape | %s |\n|", title.c_str(), columns);
  for (const char *c = columns; c != nullptr; c = std::strchr(c + 1, '|')) std::printf(" --- |");
  std::printf(" --- |\n");
}

void print_pace(const std::string &kiln, const builder::DeviceInfo &device, const char *shape,
                const std::filesystem::path &folder, int rounds) {
  const std::string base = folder / "base.kiln";
  use_store("none");
  std::vector<double> bare, built, one, two;
  for (int round = 0; round < rounds; ++round) {
    for (const char *jobs : {"-j1", "-j2"}) {
      const std::string out = folder / fmt::format("{}{}.kiln", device.index, jobs);
      std::filesystem::remove(out);
      const Cost cost =
          cost_of(kiln, {"build", base, "-o", out, jobs, "--device", std::to_string(device.index)});
      (jobs[2] == '1' ? one : two).push_back(cost.wall);
      if (jobs[2] == '1') built.push_back(cost.cpu);
    }
    const test::TemporaryFolder caches;
    bare.push_back(cpu_seconds([&] {
      builder::use_driver_caches(caches.path().string());
      builder::OpenedDevice opened;
      must(opened.open(device));
      build_variants(*opened.device, opened.context.get(), contents_of(base),
                     contents_of(folder / fmt::format("{}-j1.kiln", device.index)));
    }));
  }
  std::printf(
      "| %s | %.2f | %.2f | %.2f |\n", shape, median(bare), median(built) / median(bare),
      *std::min_element(two.begin(), two.end()) / *std::min_element(one.begin(), one.end()));
}

void measure_shapes(const std::string &kiln, int rounds, const std::vector<std::string> &options) {
  std::vector<builder::DeviceInfo> devices;
  if (rounds > 0) {
    auto listed = builder::list_devices();
    must(listed.status());
    devices = *std::move(listed);
  }
  const test::TemporaryFolder folder;
  print_header("Host step", "made | first, s | nothing changed, s");
  for (const test::Shape &shape : test::shapes()) {
    const auto place = folder.path() / shape.project;
    const std::vector<std::string> words = {"compile", test::write_shape(shape, place), "-o",
                                            place / "base.kiln"};
    use_store(place / "jobs.sqlite");
    const double first = cost_of(kiln, words).wall, again = cost_of(kiln, words).wall;
    std::printf("| %s | %s | %.2f | %.2f |\n", shape.project, shape.scale, first, again);
  }
  for (const builder::DeviceInfo &device : devices) {
    print_header(device.label(), "bare, CPU s | kiln / bare | -j2 / -j1");
    for (const test::Shape &shape : test::shapes()) {
      print_pace(kiln, device, shape.project, folder.path() / shape.project, rounds);
    }
    print_header("Packs of " + device.label(), kSizes);
    for (const test::Shape &shape : test::shapes()) {
      print_sizes(shape.project,
                  folder.path() / shape.project / fmt::format("{}-j1.kiln", device.index));
    }
  }
  if (options.empty()) return;
  print_header("Packs built with the options", kSizes);
  for (const test::Shape &shape : test::shapes()) {
    const auto place = folder.path() / shape.project;
    std::vector<std::string> words = {"build", place / "base.kiln", "-o", place / "options.kiln"};
    words.insert(words.end(), options.begin(), options.end());
    cost_of(kiln, words);
    print_sizes(shape.project, place / "options.kiln");
  }
}

constexpr char kBare[] = "bare";  // BASE BUILT: in the process that has the model as its device

// Builds with the only device.
void build_bare(const std::string &base, const std::string &built) {
  const auto cl = std::make_shared<runtime::OpenCL>();
  const auto usual = runtime::default_opencl_candidates();
  std::string tried;
  must(runtime::load_opencl(usual.names, usual.count, cl.get(), &tried));
  std::vector<runtime::DeviceId> ids;
  must(runtime::list_devices(*cl, &ids));
  if (ids.size() != 1) must({packs::Code::no_device, "there is not one device"});
  const auto device = runtime::open_device(cl, ids.front());
  runtime::Handle<cl_context> context;
  must(runtime::create_context(*device, &context));
  build_variants(*device, context.get(), contents_of(base), contents_of(built));
}

// Prints the row of one of Mesa's models.
void measure_absent(const std::string &kiln, const std::filesystem::path &base,
                    const std::string &name) {
  const auto *const model = builder::find_mesa_model(name);
  if (model == nullptr) must({packs::Code::bad_argument, "there is no model " + name});
  const char *const root = std::getenv("KILN_MESA_ROOT");
  const auto mesa = builder::find_mesa(root == nullptr ? "" : root);
  must(mesa.status());
  const auto shim = builder::find_in(mesa->folders, model->driver->shim);
  const test::TemporaryFolder folder;
  const std::filesystem::path place = folder.path();
  const std::string built = place / "built.kiln", copy = place / "base.kiln";
  std::filesystem::copy(base, copy);
  std::ofstream(place / "driver.icd")
      << "/" + mesa->library.lexically_relative(mesa->root).string() << '\n';
  const auto request = builder::mesa_request(*mesa, *model, shim, place / "driver.icd",
                                             {"-", kBare, copy, built}, place);
  use_store("none");
  std::vector<double> bare, made;
  for (int round = 0; round < 3; ++round) {
    std::filesystem::remove(built);
    made.push_back(cost_of(kiln, {"build", copy, "-o", built, "-j1", "--preferred", "--virtual",
                                  "mesa:" + name})
                       .cpu);
    bare.push_back(cpu_seconds([&] {
      const auto done = builder::run_tool(request);
      if (!done.ok()) must({packs::Code::failed, done.reason + "\n" + done.err});
    }));
  }
  std::printf("| %s | %zu | %.2f | %.2f |\n", name.c_str(),
              contents_of(built).targets.front().binaries.size(), median(bare),
              median(made) / median(bare));
}

}  // namespace
}  // namespace kiln

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  if (argc == 5 && std::strcmp(argv[2], kiln::kBare) == 0) {
    kiln::build_bare(argv[3], argv[4]);
    return 0;
  }
  if (argc > 4 && std::strcmp(argv[2], "absent") == 0) {
    std::printf("| model | programs | bare, CPU s | kiln / bare |\n| --- | --- | --- | --- |\n");
    for (int i = 4; i < argc; ++i) kiln::measure_absent(argv[1], argv[3], argv[i]);
    return 0;
  }
  if (argc > 2 && std::strcmp(argv[2], "shapes") == 0) {
    kiln::measure_shapes(argv[1], argc > 3 ? std::atoi(argv[3]) : 3,
                         {argv + std::min(argc, 4), argv + argc});
    return 0;
  }
  kiln::measure(argv[1], argc > 2 ? std::atoi(argv[2]) : 10'000,
                argc > 3 ? std::strtoul(argv[3], nullptr, 10) : 10'000);
  return 0;
}
