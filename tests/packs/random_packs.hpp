// SPDX-License-Identifier: Apache-2.0
// Small packs that are made at random, the same on every machine.
#pragma once

#include <algorithm>
#include <filesystem>
#include <random>
#include <set>

#include "tests/packs/sample.hpp"

namespace kiln::test {

// A folder in memory, where there is one: each pack is synced.
inline std::filesystem::path packs_folder() {
  const std::filesystem::path memory = "/dev/shm";
  std::error_code error;
  return std::filesystem::is_directory(memory, error) ? memory
                                                      : std::filesystem::temp_directory_path();
}

// Writes packs to one place of its own, and reads each into memory that lives as long as this.
class PackFolder {
 public:
  Bytes write(const Contents &contents) const {
    const std::string path = (folder_.path() / "out.kiln").string();
    const Status status = write_pack(contents, path);
    INFO(status.message);
    REQUIRE(status.ok());
    return read_file(path);
  }

  // As `kiln pack merge` does.
  Bytes merge_all(const std::vector<Bytes> &packs) const {
    Contents merged;
    for (const Bytes &bytes : packs) {
      const Status status = merge(contents_of(opened(bytes)), &merged);
      INFO(status.message);
      REQUIRE(status.ok());
    }
    return write(merged);
  }

 private:
  TemporaryFolder folder_{packs_folder()};
};

// Contents that agree in what merging demands, and in nothing else: few names, so that packs have
// much in common, and few values, so that orders are decided late.
class RandomPacks {
 public:
  RandomPacks() : bytes_(written(pool())), pack_(opened(bytes_)) {
    const Contents contents = contents_of(pack_);  // the loop would not keep a temporary
    for (const packs::Variant &variant : contents.programs[0].variants) {
      pool_.push_back(*variant.source);
    }
  }

  Contents contents() {
    Contents contents;
    contents.producer = pick({"", "clang 14", "clang 15"});
    for (const char *name : {"p", "q"}) {
      if (maybe(3)) contents.programs.push_back(program(name));
    }
    for (const char *model : {"A", "B", "C"}) {
      if (maybe(2)) contents.targets.push_back(any_target(model));
    }
    for (const char *name : {"p", "q"}) {
      for (const char *model : {"", "A", "B"}) {
        if (maybe(3)) contents.tunings.push_back(any_tuning(name, model));
      }
    }
    drop_foreign_proofs(&contents);
    contents.known_bad_version = number(3);
    for (std::uint32_t i = number(3); contents.known_bad_version != 0 && i != 0; --i) {
      contents.known_bad.push_back({{}, number(2)});
      contents.known_bad.back().texts[number(2)] = pick({"p", "q"});
    }
    return contents;
  }

 private:
  // Blobs that are compressed once: packs copy them.
  static Contents pool() {
    Contents contents;
    contents.programs = {{"pool", "", {}}};
    for (std::uint32_t i = 0; i < 24; ++i) {
      Bytes bytes = noise(i % 5 * 7, i);
      if (i % 3 == 0) bytes.resize(bytes.size() + 200);
      bytes.push_back(static_cast<std::uint8_t>(i));
      packs::Variant one = variant("v" + std::to_string(i), "");
      one.source = packs::BlobSource(bytes);
      contents.programs[0].variants.push_back(one);
    }
    return contents;
  }

  std::uint32_t number(std::uint32_t limit) {
    return static_cast<std::uint32_t>(random_() % limit);
  }
  bool maybe(std::uint32_t in) { return number(in) != 0; }  // but for one of so many
  std::string pick(std::vector<std::string> texts) {
    return texts[number(static_cast<std::uint32_t>(texts.size()))];
  }
  packs::BlobSource blob() { return pool_[number(static_cast<std::uint32_t>(pool_.size()))]; }
  std::optional<packs::BlobSource> maybe_blob() {
    return maybe(2) ? std::optional<packs::BlobSource>(blob()) : std::nullopt;
  }

  std::vector<std::string> sorted(std::vector<std::string> from) {
    std::erase_if(from, [&](const std::string &) { return maybe(2); });
    return from;
  }
  std::vector<std::string> shuffled(std::vector<std::string> from) {
    from = sorted(std::move(from));
    std::shuffle(from.begin(), from.end(), random_);
    return from;
  }
  std::vector<packs::Statistic> limits() {
    std::vector<packs::Statistic> out;
    for (const auto name : {packs::StatisticName::registers, packs::StatisticName::waves}) {
      if (maybe(2)) out.push_back({0, name, number(3)});
    }
    return out;
  }

  packs::Variant any_variant(const std::string &program, const std::string &name) {
    packs::Variant out;
    out.name = name;
    out.hash = name_of(program + name);
    out.kernels = {{"k", 1 + number(2), pick({"", "width"})}};
    if (maybe(2)) out.kernels[0].parameters = parameters(out.kernels[0].arguments);
    if (maybe(3)) out.source = packs::BlobSource(bytes_of("source of " + program + name));
    out.il32 = maybe_blob();
    out.il64 = maybe_blob();
    if (out.il32 || out.il64) out.il_version = number(2) << 8;
    out.requirements = sorted({"fp16", "fp64", "proof"});
    out.limits = limits();
    out.workarounds = shuffled({"-DA", "-DB", "-DA -DB"});
    out.local_sizes = {{1, 1, 1}, {2, 1, 1}, {4, 1, 1}};
    out.local_sizes.resize(number(4));
    std::shuffle(out.local_sizes.begin(), out.local_sizes.end(), random_);
    out.tolerance = number(3);
    if (maybe(2)) out.local_size = {8, 8, 8};
    if (maybe(2)) {
      out.arguments.push_back({Role::parameter, ArgumentStorage::buffer, 1, "x", 1});
      out.arguments.back().accumulates = maybe(2);
      if (maybe(2)) out.arguments.back().values = {-0.0};
    }
    if (maybe(2)) out.launches = packs::BlobSource(lines());
    return out;
  }

  std::vector<packs::Parameter> parameters(std::uint32_t count) {
    std::vector<packs::Parameter> out(count);
    for (packs::Parameter &parameter : out) {
      parameter = {pick({"", "x"}), pick({"int", "float*"}), number(2) * 4};
      parameter.qualifiers = static_cast<std::uint8_t>(number(2));
    }
    return out;
  }

  Bytes lines() {
    std::string text;
    for (const char *line : {"a", "b", "c", "d"}) {
      if (maybe(2)) text = packs::united_launches(text, std::string(line) + "\n");
    }
    return bytes_of(text);
  }

  packs::Program program(const std::string &name) {
    packs::Program out{name, "reference", {}, {}, {}, {}};
    for (const char *variant : {"a", "b"}) {
      if (maybe(3)) out.variants.push_back(any_variant(name, variant));
    }
    if (maybe(2)) out.preferred = {pick({"a", "b"})};
    if (maybe(2)) out.baseline = pick({"a", "b"});
    if (maybe(2)) out.sizes = {{number(2) + 1, 1, 1}};
    return out;
  }

  packs::Finish finish() {
    packs::Finish out;
    out.finality = static_cast<packs::Finality>(number(3));
    if (out.finality != packs::Finality::yes) out.why_not = pick({"", "slow"});
    out.finisher = pick({"", "linker 1", "linker 2", "linker 10", "linker 2, launches 0123"});
    out.driver = pick({"", "550.1", "550.01", "580.65"});
    out.microseconds = number(2);
    if (maybe(2)) out.local_sizes = {{number(2) + 1, 1, 1}};
    out.proof = pick({"", "reference", "source"});
    if (out.proof.empty()) out.unproven = pick({"", "no arguments"});
    out.made_from = pick({"", "0", "1"});
    out.proved_by = pick({"", "0", "1"});
    out.workaround = pick({"", "-cl-opt-disable"});
    return out;
  }

  std::vector<packs::Binary> binaries() {
    std::vector<packs::Binary> out;
    for (const char *variant : {"pa", "pb", "qa"}) {
      if (!maybe(3)) continue;
      out.push_back({name_of(variant), blob(), pick({"", "log"}), {}});
      if (maybe(2)) out.back().kernels = {{number(2), 1, 0, 0}};
      out.back().finish = finish();
      if (maybe(2)) out.back().statistics = {{0, packs::StatisticName::registers, number(2)}};
    }
    return out;
  }

  packs::Target any_target(const std::string &model) {
    packs::Target out = target(model);
    out.compiler = pick({"1", "2"});
    out.identity[1].second = pick({"", "x"});
    out.binaries = binaries();
    for (packs::Binary &binary : out.binaries) binary.cache_entries = maybe_blob();
    out.intermediates = binaries();
    out.cache_entries = maybe_blob();
    return out;
  }

  // A proof is of a variant in its pack, whose tolerance it is within.
  static void drop_foreign_proofs(Contents *contents) {
    std::set<packs::Digest> own;
    for (const packs::Program &program : contents->programs) {
      for (const packs::Variant &variant : program.variants) own.insert(variant.hash);
    }
    for (packs::Target &target : contents->targets) {
      for (auto *list : {&target.binaries, &target.intermediates}) {
        for (packs::Binary &binary : *list) {
          if (own.count(binary.variant) != 0) continue;
          binary.finish.proof.clear();
          binary.finish.proved_by.clear();
          binary.finish.unproven.clear();
        }
      }
    }
  }

  packs::Tuning any_tuning(const std::string &program, const std::string &model) {
    packs::Tuning out =
        tuning(model.empty() ? packs::Target{} : target(model), packs::SizeClass::small, {1, 1, 1});
    if (model.empty()) out.key_hash = 0;
    out.program = program;
    out.variant = pick({"a", "b", "wide"});
    if (maybe(2)) out.variant_hash = name_of(program + out.variant);
    out.samples = number(2) + 1;
    out.spread = number(2);
    out.nanoseconds = number(2);
    out.local_size[0] = number(2) + 1;
    out.conditions = pick({"", "idle"});
    return out;
  }

  Bytes bytes_;
  PackPointer pack_;
  std::vector<packs::BlobSource> pool_;
  std::mt19937 random_{14};  // the same packs on every machine
};

}  // namespace kiln::test
