// SPDX-License-Identifier: Apache-2.0
// Time and memory of `kiln fleet report` for a made-up fleet.
//
//   kiln_fleet_figures KILN FOLDER [PAIRS [ROWS [LINES]]]
//
// Writes into FOLDER a pack with a target for every second of PAIRS pairs of a model and a driver,
// the identities of all pairs, an inventory of ROWS lines and reports of LINES lines; runs the
// report with the inventory, then with the reports as well, and prints seconds and the largest
// resident memory.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "builder/machine/device_info.hpp"
#include "kiln/packs/text.hpp"
#include "kiln/packs/writer.hpp"
#include "runtime/identity/target.hpp"

using namespace kiln;
using nlohmann::json;
using runtime::Field;

namespace {

// A PoCL or a Mali, by turns, each of another model or with another driver.
runtime::Identity identity_of(std::size_t pair) {
  runtime::Identity identity;
  const auto set = [&](Field field, const std::string &text) { identity.set(field, text); };
  const bool mali = pair % 2 == 0;
  set(Field::platform_name, mali ? "ARM Platform" : "Portable Computing Language");
  set(Field::platform_vendor, mali ? "ARM" : "The pocl project");
  set(Field::device_vendor, mali ? "ARM" : "GenuineIntel");
  set(Field::device_name, fmt::format("{}{}", mali ? "Mali-G" : "cpu-model", 100 + pair % 977));
  set(Field::device_version,
      fmt::format("OpenCL 3.0 v1.r{}p0-00eac0.0123456789abcdef", pair / 977));
  set(Field::driver_version, fmt::format("{}.0", pair / 977));
  set(Field::address_bits, "64");
  set(Field::extensions_hash, fmt::format("{:016x}", pair % 7));
  return identity;
}

packs::BlobSource blob(const std::string &text) {
  return packs::BlobSource(packs::Bytes(text.begin(), text.end()));
}

void write_pack(const std::string &path, std::size_t pairs) {
  packs::Contents contents;
  for (int i = 0; i < 6; ++i) {
    packs::Variant variant;
    variant.name = "only";
    variant.source = blob(fmt::format("kernel void k{}() {{}}", i));
    variant.kernels = {{fmt::format("k{}", i), 0}};
    variant.hash[0] = static_cast<std::uint8_t>(i + 1);
    contents.programs.push_back({fmt::format("program{}", i), "", {variant}});
  }
  for (std::size_t pair = 0; pair < pairs; pair += 2) {
    const runtime::Identity identity = identity_of(pair + pair / 2 % 2);
    packs::Target target = runtime::target_of(identity, runtime::describe(identity));
    for (const packs::Program &program : contents.programs) {
      const std::string bytes = fmt::format("{} {}", pair, program.name);
      target.binaries.push_back({program.variants[0].hash, blob(bytes), "", {{1, 1, 0, 0}}});
    }
    contents.targets.push_back(target);
  }
  const packs::Status status = packs::write_pack(contents, path);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.message.c_str());
}

void write_files(const std::string &folder, std::size_t pairs, std::size_t rows,
                 std::size_t lines) {
  std::vector<std::string> keys;
  runtime::Capabilities capabilities;
  capabilities.compiler = true;
  capabilities.max_work_group_size = 1024;
  for (int i = 0; i < 30; ++i) capabilities.extensions.push_back(fmt::format("cl_khr_name_{}", i));
  std::ofstream devices(folder + "/devices.jsonl"), inventory(folder + "/inventory.jsonl"),
      reports(folder + "/reports.jsonl");
  for (std::size_t pair = 0; pair < pairs; ++pair) {
    const runtime::Identity identity = identity_of(pair);
    keys.push_back(packs::hex64(runtime::describe(identity).key.hash()));
    devices << json{{"schema", 1},
                    {"devices",
                     {{{"key_hash", keys.back()},
                       {"count", 0},
                       {"identity", builder::to_json(identity)},
                       {"capabilities", capabilities}}}}}
                   .dump()
            << '\n';
  }
  std::mt19937 random(1);
  for (std::size_t i = 0; i < rows; ++i) {
    const std::size_t pair = random() % pairs;
    inventory
        << fmt::format(
               R"({{"key_hash": "{}", "count": {}, "starts": {}, "model": "model {}", "driver": "{}.0"}})",
               keys[pair], random() % 100, random() % 1000, pair % 977, pair / 977)
        << '\n';
  }
  static const char *const rungs[] = {"exact", "exact", "exact", "overlay", "source"};
  for (std::size_t i = 0; i < lines; ++i) {
    const std::size_t pair = random() % pairs;
    reports
        << fmt::format(
               R"({{"process": "{:016x}", "outcome": "served", "program": "program{}", "kernels": )"
               R"(["blur", "sharpen"], "devices": ["model {}"], "key_hash": "{}", "rung": "{}", )"
               R"("reason": "", "nearest": null, "milliseconds": {}.{:03}}})",
               i / 6, i % 6, pair % 977, keys[pair], rungs[random() % 5], random() % 100,
               random() % 1000)
        << '\n';
  }
}

void run(const std::string &what, std::vector<std::string> words) {
  std::vector<char *> arguments;
  for (std::string &word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = fork();
  if (child == 0) {
    if (std::freopen("/dev/null", "w", stdout) != nullptr) execv(arguments[0], arguments.data());
    _exit(127);
  }
  int status = 0;
  struct rusage usage {};
  wait4(child, &status, 0, &usage);
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  const double user = static_cast<double>(usage.ru_utime.tv_sec) +
                      static_cast<double>(usage.ru_utime.tv_usec) / 1e6;
  std::printf("%s: %.2f s, %.2f s of the processor, %ld MB, exit code %d\n", what.c_str(),
              wall.count(), user, usage.ru_maxrss / 1024, WEXITSTATUS(status));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char **argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: kiln_fleet_figures KILN FOLDER [PAIRS [ROWS [LINES]]]\n");
    return 2;
  }
  const auto number = [&](int at, std::size_t otherwise) {
    return argc > at ? static_cast<std::size_t>(std::atoll(argv[at])) : otherwise;
  };
  const std::string kiln = argv[1], folder = argv[2];
  std::filesystem::create_directories(folder);
  write_pack(folder + "/fleet.kiln", number(3, 10'000));
  write_files(folder, number(3, 10'000), number(4, 1'000'000), number(5, 10'000'000));
  const std::vector<std::string> fleet = {kiln,
                                          "fleet",
                                          "report",
                                          folder + "/fleet.kiln",
                                          "--inventory",
                                          folder + "/devices.jsonl",
                                          folder + "/inventory.jsonl"};
  const auto with = [&](std::vector<std::string> more) {
    std::vector<std::string> words = fleet;
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  run("inventory", fleet);
  run("inventory, page and JSON", with({"--html", folder + "/fleet.html", "--json"}));
  run("inventory and reports", with({"--reports", folder + "/reports.jsonl"}));
}
