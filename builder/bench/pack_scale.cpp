// SPDX-License-Identifier: Apache-2.0
// A pack of very many binaries that are made up: writing, opening, finding, merging.
#include <chrono>
#include <filesystem>
#include <fstream>

#include <sys/resource.h>
#include <unistd.h>

#include <fmt/format.h>

#include "builder/base/open_files.hpp"
#include "builder/bench/pack_figures.hpp"
#include "builder/measure/sampler.hpp"
#include "builder/process/fork_call.hpp"
#include "builder/process/status_json.hpp"
#include "kiln/packs/signing.hpp"
#include "kiln/packs/soundness.hpp"
#include "kiln/packs/writer.hpp"

namespace kiln::builder {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::json;
constexpr std::size_t kOpenings = 101;
constexpr std::size_t kBinarySize = 6000;
constexpr auto kLongest = std::chrono::minutes(20);

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// The most memory that this process had, in MB.
double peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

// What this process has in memory now, in KB.
double resident_memory() {
  std::ifstream statm("/proc/self/statm");
  double pages = 0;
  statm >> pages >> pages;
  return pages * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1024;
}

packs::Bytes noise(std::size_t size, std::uint64_t seed) {
  packs::Bytes bytes(size);
  for (std::uint8_t &byte : bytes) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    byte = static_cast<std::uint8_t>(seed >> 56);
  }
  return bytes;
}

// Half noise, half of what each binary of the variant has.
packs::Bytes binary_bytes(std::size_t target, std::size_t variant) {
  packs::Bytes bytes = noise(kBinarySize / 2, target * 1'000'003 + variant + 1);
  for (std::size_t i = 0; i < kBinarySize / 2; ++i) {
    bytes.push_back(static_cast<std::uint8_t>((i / 7 + variant) % 61));
  }
  return bytes;
}

packs::Program program_of(std::size_t variants) {
  packs::Program program{"p", "", {}};
  for (std::size_t i = 0; i < variants; ++i) {
    packs::Variant each;
    each.name = fmt::format("v{:04}", i);
    const std::string source = fmt::format("kernel void k() {{ /* {} */ }}", i);
    each.kernels = {{"k", 0}};
    each.hash = packs::variant_hash(source, "", {"k"});
    each.source = packs::BlobSource(packs::Bytes(source.begin(), source.end()));
    program.variants.push_back(std::move(each));
  }
  return program;
}

std::string key_of(std::size_t target) { return fmt::format("profile=none\nmodel={}\n", target); }

packs::Contents contents_of(const PackScale &scale, std::size_t first, std::size_t count) {
  packs::Contents contents{"bench", {program_of(scale.variants)}, {}, {}, {}};
  for (std::size_t t = first; t < first + count; ++t) {
    packs::Target target{key_of(t), "none", "family", fmt::format("{}", t), "1", {}, {}};
    for (std::size_t i = 0; i < scale.variants; ++i) {
      target.binaries.push_back({contents.programs[0].variants[i].hash,
                                 packs::BlobSource(binary_bytes(t, i)),
                                 "",
                                 {},
                                 {}});
    }
    contents.targets.push_back(std::move(target));
  }
  return contents;
}

std::string part_path(const std::string &folder, std::size_t i) {
  return fmt::format("{}/part{}.kiln", folder, i);
}

Status write_parts(const std::string &folder, const PackScale &scale, std::size_t packs) {
  const std::size_t each = scale.targets / packs;
  for (std::size_t i = 0; i < packs; ++i) {
    const auto s = packs::write_pack(contents_of(scale, i * each, each), part_path(folder, i));
    if (!s.ok()) return s;
  }
  return {};
}

// As `kiln merge` does it.
Json merge_parts(const std::string &folder, std::size_t count, const std::string &output) {
  allow_many_files();
  const auto start = Clock::now();
  packs::Contents merged;
  for (std::size_t i = 0; i < count; ++i) {
    std::shared_ptr<const packs::Pack> pack;
    packs::Contents contents;
    if (auto s = packs::Pack::open_file(part_path(folder, i).c_str(), &pack); !s.ok())
      return to_json(Status(s));
    if (auto s = packs::read_contents(pack, &contents); !s.ok()) return to_json(Status(s));
    if (auto s = packs::check_variant_hashes(contents); !s.ok()) return to_json(Status(s));
    if (auto s = packs::merge(contents, &merged); !s.ok()) return to_json(Status(s));
  }
  if (auto s = packs::write_pack(merged, output); !s.ok()) return to_json(Status(s));
  return {{"seconds", seconds_since(start)}, {"peak", peak_memory()}};
}

// The median of microseconds in which the pack is opened and its signature checked, as "trusted".
Json trusted_openings(const std::string &path) {
  std::shared_ptr<const packs::Pack> pack;
  packs::SecretKey key;
  const std::string is_signed = path + ".signed";
  if (auto s = packs::Pack::open_file(path.c_str(), &pack); !s.ok()) return to_json(Status(s));
  if (auto s = packs::make_secret_key(&key); !s.ok()) return to_json(Status(s));
  const auto written = packs::write_signed(*pack, {packs::sign(*pack, key, 1)}, is_signed);
  if (!written.ok()) return to_json(Status(written));
  const packs::Demand demand{{key.public_key()}, 1};
  std::vector<double> openings;
  for (std::size_t i = 0; i < kOpenings; ++i) {
    std::shared_ptr<const packs::Pack> trusted;
    const auto start = Clock::now();
    if (auto s = packs::Pack::open_file(is_signed.c_str(), &pack); !s.ok())
      return to_json(Status(s));
    if (auto s = packs::open_trusted(*pack, demand, &trusted); !s.ok()) return to_json(Status(s));
    openings.push_back(seconds_since(start) * 1e6);
  }
  return {{"trusted", median(openings)}};
}

// Opening, and exact hits and misses in an open pack, microseconds.
Json search(const std::string &path, const PackScale &scale, std::size_t targets) {
  std::vector<double> openings;
  std::shared_ptr<const packs::Pack> pack;
  const double before = resident_memory();
  for (std::size_t i = 0; i < kOpenings; ++i) {
    const auto start = Clock::now();
    if (auto s = packs::Pack::open_file(path.c_str(), &pack); !s.ok()) return to_json(Status(s));
    openings.push_back(seconds_since(start) * 1e6);
  }
  const packs::Program program = program_of(scale.variants);
  packs::TargetRef target;
  std::vector<std::string> keys;
  for (std::size_t t = 0; t < targets; ++t) keys.push_back(key_of(t));
  const auto first = Clock::now();
  if (auto s = pack->find_target(keys[targets / 2], &target); !s.ok()) return to_json(Status(s));
  const double first_hit = seconds_since(first) * 1e6;
  const double grown = resident_memory() - before;
  for (const std::string &key : keys) {
    if (auto s = pack->find_target(key, &target); !s.ok()) return to_json(Status(s));
  }
  std::size_t found = 0;
  auto start = Clock::now();
  for (std::size_t i = 0; i < 100'000; ++i) {
    (void)pack->find_target(keys[i * 7919 % targets], &target);
    found += target.find_binary(program.variants[i % scale.variants].hash).blob ? 1 : 0;
  }
  const double hit = seconds_since(start) * 10;
  if (found != 100'000) return to_json(Status(Code::failed, "a binary was not found"));
  start = Clock::now();
  for (std::size_t i = 0; i < 100'000; ++i) {
    (void)pack->find_target(program.variants[i % scale.variants].name, &target);
    found += target ? 1 : 0;
  }
  const double miss = seconds_since(start) * 10;
  if (found != 100'000) return to_json(Status(Code::failed, "a key was found that no target has"));
  return {{"open", median(openings)},
          {"first", first_hit},
          {"hit", hit},
          {"miss", miss},
          {"grown", grown}};
}

// The answer of `work` in a process of its own.
Result<Json> in_child(const std::function<Json()> &work) {
  const ChildResult child = fork_call(work, kLongest);
  if (Status s = child.status(); !s.ok()) return s;
  return child.answer;
}

void add_search(const std::string &what, const Json &answer, bool large, Figures *figures) {
  const auto goal = [&](double most) { return large ? std::optional(most) : std::nullopt; };
  const auto value = [&](const char *name) { return answer.at(name).get<double>(); };
  figures->push_back({what + ": opening, warm", value("open"), "us"});
  figures->push_back({what + ": the same with its signature", value("trusted"), "us", goal(1000)});
  figures->push_back({what + ": the first hit of a target", value("first"), "us"});
  figures->push_back({what + ": a hit", value("hit"), "us", goal(1)});
  figures->push_back({what + ": a miss", value("miss"), "us", goal(1)});
  figures->push_back({what + ": memory of an open pack", value("grown"), "KB"});
}

// The pack of all targets, merged from `count` packs into `output`.
Status measure_merging(const PackScale &scale, const std::string &folder, std::size_t count,
                       const std::string &output, Figures *figures) {
  const auto written = in_child([&] { return to_json(write_parts(folder, scale, count)); });
  if (!written.ok()) return written.status();
  const auto merged = in_child([&] { return merge_parts(folder, count, output); });
  if (!merged.ok()) return merged.status();
  const double seconds = merged->at("seconds").get<double>();
  const double megabytes = static_cast<double>(scale.targets * scale.variants * kBinarySize) / 1e6;
  const std::string what = fmt::format("merging {} packs", count);
  const bool many = count == scale.targets;
  const auto goal = [](bool has, double value) {
    return has ? std::optional(value) : std::nullopt;
  };
  figures->push_back({what, seconds, "s", goal(many, 60)});
  figures->push_back({what + ": decoded blobs", megabytes / seconds, "MB/s", {}, goal(!many, 200)});
  figures->push_back({what + ": memory", merged->at("peak").get<double>(), "MB", goal(!many, 256)});
  return {};
}

// Of a pack of that many targets.
Status measure_searching(const PackScale &scale, const std::string &pack, std::size_t targets,
                         Figures *figures) {
  const auto found = in_child([&] { return search(pack, scale, targets); });
  if (!found.ok()) return found.status();
  const auto trusted = in_child([&] { return trusted_openings(pack); });
  if (!trusted.ok()) return trusted.status();
  Json both = *found;
  both.update(*trusted);
  const std::string what = fmt::format("{} binaries", targets * scale.variants);
  add_search(what, both, targets == scale.targets, figures);
  return {};
}

}  // namespace

Result<Figures> measure_scale(const PackScale &scale) {
  auto folder = TemporaryFolder::make();
  if (!folder.ok()) return folder.status();
  Figures figures;
  const std::string large = folder->path() + "/large.kiln";
  const std::string small = folder->path() + "/small.kiln";
  for (const std::size_t count : {scale.packs, scale.targets}) {
    Status s = measure_merging(scale, folder->path(), count, large, &figures);
    if (!s.ok()) return s;
  }
  const auto written = packs::write_pack(contents_of(scale, 0, 1), small);
  if (!written.ok()) return Status(written);
  if (Status s = measure_searching(scale, small, 1, &figures); !s.ok()) return s;
  if (Status s = measure_searching(scale, large, scale.targets, &figures); !s.ok()) return s;
  return figures;
}

}  // namespace kiln::builder
