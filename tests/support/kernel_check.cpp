// SPDX-License-Identifier: Apache-2.0
// kiln_kernel_check [--light] [--thin] [--special|--preferred] PACK DEVICE FROM TO
// [PROGRAM[/VARIANT]]
//
// Loads every variant that the device can run from the pack, through the runtime and by
// whatever rung, and compares its result with the reference library for every width and height
// from FROM to TO: several kinds of image, parameters and local sizes. Outputs hold a
// pattern before each launch, so that a byte that no work-item writes is seen. --light takes
// one kind of image and one local size, for devices that check every access. --thin takes a quarter
// of the pairs of widths and heights over 16, for slow devices. --special takes the variants alone
// that need half precision, sub-groups, integer dot products or another extension of Khronos';
// --preferred of each program the first that the device can run.
//
// A variant that requires a proof may be inaccurate: it is told, and is no failure.
//
// Variants are checked in one process, since a driver reads its own functions at the first program
// of each, which takes PoCL half a second. After a fault the next variant has a new process.
//
// Exit codes: 0 all equal, 1 a mismatch or a failure, 2 usage, 4 bad pack, 77 no OpenCL
// library, or no such device.
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "builder/machine/opened_device.hpp"
#include "builder/process/serving_child.hpp"
#include "runtime/identity/requirements.hpp"
#include "tests/support/check_variant.hpp"

using namespace kiln;
using namespace kiln::test;

namespace {

constexpr std::chrono::minutes kTimeout{20};

struct Arguments {
  std::string pack;
  std::string device;
  CheckPlan plan;
  std::string program;
  std::string variant;
  bool special = false;
  bool preferred = false;
};

bool parse(int argc, char **argv, Arguments *out) {
  std::vector<std::string> words;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--light") == 0) {
      out->plan.light = true;
    } else if (std::strcmp(argv[i], "--thin") == 0) {
      out->plan.thin = true;
    } else if (std::strcmp(argv[i], "--special") == 0) {
      out->special = true;
    } else if (std::strcmp(argv[i], "--preferred") == 0) {
      out->preferred = true;
    } else {
      words.emplace_back(argv[i]);
    }
  }
  if (words.size() < 4 || words.size() > 5) return false;
  out->pack = words[0];
  out->device = words[1];
  out->plan.from = static_cast<std::uint32_t>(std::strtoul(words[2].c_str(), nullptr, 10));
  out->plan.to = static_cast<std::uint32_t>(std::strtoul(words[3].c_str(), nullptr, 10));
  if (words.size() == 5) {
    const std::size_t slash = words[4].find('/');
    out->program = words[4].substr(0, slash);
    if (slash != std::string::npos) out->variant = words[4].substr(slash + 1);
  }
  return out->plan.from >= 1 && out->plan.from <= out->plan.to && out->plan.to <= 4096;
}

enum class Outcome : std::uint8_t { equal, skipped, wrong };

// Of a program and a variant; `checker` gets their numbers. A driver that dies ends one check and
// names it.
Outcome check(builder::ServingChild *checker, const packs::Contents &contents, std::size_t p,
              std::size_t v) {
  const packs::Program &program = contents.programs[p];
  const packs::Variant &variant = program.variants[v];
  const auto child = checker->call({p, v}, {kTimeout});
  const std::string name = program.name + "/" + variant.name;
  if (!child.ok()) {
    fmt::print("{}: the driver {}\n", name, child.reason());
    return Outcome::wrong;
  }
  std::fputs(child.output.c_str(), stderr);  // what a checking driver complains about
  const auto &answer = child.answer;
  if (answer.contains("skipped")) {
    fmt::print("{}: skipped, {}\n", name, answer["skipped"].get<std::string>());
    return Outcome::skipped;
  }
  for (const auto &line : answer["mismatches"]) {
    fmt::print("{}: {}\n", name, line.get<std::string>());
  }
  fmt::print("{}: {} launches, {} mismatches, rung {}, {:.1f} s\n", name,
             answer["launches"].get<long>(), answer["failed"].get<long>(),
             answer["rung"].get<std::string>(), answer["seconds"].get<double>());
  if (answer["failed"] == 0) return Outcome::equal;
  checker->end();
  if (!runtime::requires_word(variant.requirements, runtime::kProof)) return Outcome::wrong;
  fmt::print("{}: a build leaves it out here\n", name);
  return Outcome::skipped;
}

bool is_special(const packs::Variant &variant) {
  return std::any_of(
      variant.requirements.begin(), variant.requirements.end(), [](const std::string &requirement) {
        return requirement == "fp16" || requirement == "subgroups" ||
               requirement == "integer_dot_product" || requirement.starts_with("extension:cl_khr_");
      });
}

int check_all(const Arguments &arguments, const builder::DeviceInfo &device,
              const packs::Contents &contents) {
  builder::PackOnDevice opened;  // in the child
  builder::ServingChild checker([&](const nlohmann::json &order) {
    const packs::Program &program = contents.programs[order[0].get<std::size_t>()];
    return check_variant(&opened, device, arguments.pack, program,
                         program.variants[order[1].get<std::size_t>()], arguments.plan);
  });
  bool all = true;
  std::size_t checked = 0;
  for (std::size_t p = 0; p < contents.programs.size(); ++p) {
    const packs::Program &program = contents.programs[p];
    if (!arguments.program.empty() && program.name != arguments.program) continue;
    if (program.reference.empty()) continue;
    for (std::size_t v = 0; v < program.variants.size(); ++v) {
      const packs::Variant &variant = program.variants[v];
      if (!arguments.variant.empty() && variant.name != arguments.variant) continue;
      if (arguments.special && !is_special(variant)) continue;
      const Outcome outcome = check(&checker, contents, p, v);
      std::fflush(stdout);
      all = all && outcome != Outcome::wrong;
      ++checked;
      if (arguments.preferred && outcome != Outcome::skipped) break;
    }
  }
  if (checked != 0) return all ? 0 : 1;
  fmt::print(stderr, "{}: no variant with that name and a reference\n", arguments.pack);
  return 1;
}

}  // namespace

int main(int argc, char **argv) {
  Arguments arguments;
  if (!parse(argc, argv, &arguments)) {
    fmt::print(stderr,
               "usage: {} [--light] [--thin] [--special|--preferred] PACK DEVICE FROM TO "
               "[PROGRAM[/VARIANT]]\n",
               argv[0]);
    return 2;
  }
  std::shared_ptr<const packs::Pack> pack;
  packs::Contents contents;
  packs::Status status = packs::Pack::open_file(arguments.pack.c_str(), &pack);
  if (status.ok()) status = packs::read_contents(pack, &contents);
  if (!status.ok()) {
    fmt::print(stderr, "{}\n", status.message);
    return 4;
  }
  const auto listed = builder::list_devices();
  if (!listed.ok()) {
    const bool none = dlopen("libOpenCL.so.1", RTLD_NOW) == nullptr;
    fmt::print("{}: {}\n", none ? "SKIP" : "FAIL", listed.status().message);
    return none ? 77 : 1;
  }
  const auto devices = builder::select_devices(*listed, arguments.device);
  if (devices.empty()) {
    fmt::print("SKIP: no device is \"{}\"\n", arguments.device);
    return 77;
  }
  fmt::print("{}\n", devices[0].label());
  return check_all(arguments, devices[0], contents);
}
