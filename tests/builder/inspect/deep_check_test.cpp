// SPDX-License-Identifier: Apache-2.0
#include "builder/inspect/pack_check.hpp"

#include <functional>

#include "tests/packs/forge.hpp"
#include "tests/packs/sample.hpp"

using namespace kiln;
using namespace kiln::test;
using builder::Finding;

namespace {

std::string lines_of(const std::vector<Finding> &findings) {
  std::string lines;
  for (const Finding &finding : findings) lines += finding.what + ": " + finding.text + "\n";
  return lines;
}

builder::DeepFindings findings_in(const Bytes &bytes) {
  const PackPointer pack = opened(bytes);
  const auto findings = builder::check_deeply(
      *pack, contents_of(pack), [](const packs::Variant &, std::string_view lines) {
        return lines.starts_with("no") ? Status(Code::failed, "a line is no launch") : Status();
      });
  INFO(findings.status().message);
  REQUIRE(findings.ok());
  return *findings;
}

Bytes module(std::uint32_t version) {
  Bytes bytes(20);
  const std::uint32_t words[] = {0x07230203, version, 0, 1, 0};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::uint8_t>(words[i / 4] >> (8 * (i % 4)));
  }
  return bytes;
}

// The sample, with SPIR-V where it has noise.
Contents sound() {
  Contents contents = sample();
  packs::Variant &scalar = contents.programs[0].variants[0];
  scalar.il32 = scalar.il64 = packs::BlobSource(module(scalar.il_version));
  contents.programs[0].preferred = {"wide"};
  for (packs::Tuning &row : contents.tunings) {
    if (!row.kernel.empty()) row.kernel = "wide";
  }
  return contents;
}

builder::DeepFindings after(const std::function<void(Contents *)> &change) {
  Contents contents = sound();
  change(&contents);
  return findings_in(written(contents));
}

std::string faults_after(const std::function<void(Contents *)> &change) {
  return lines_of(after(change).faults);
}

}  // namespace

TEST_CASE("a pack whose records agree has no findings", "[deep]") {
  const auto findings = findings_in(written(sound()));
  CHECK(lines_of(findings.faults) == "");
  CHECK(lines_of(findings.notes) == "");
}

TEST_CASE("SPIR-V is a module of the version that the pack says", "[deep]") {
  CHECK(lines_of(findings_in(written(sample())).faults) ==
        "blur/scalar SPIR-V, 32-bit: this is no SPIR-V module\n"
        "blur/scalar SPIR-V, 64-bit: this is no SPIR-V module\n");
  CHECK(faults_after([](Contents *c) {
          c->programs[0].variants[0].il64 = packs::BlobSource(module(0x00010000));
        }) ==
        "blur/scalar SPIR-V, 64-bit: its version word is 0x00010000, the pack says 0x00010200\n");
}

TEST_CASE("launches are lines of launches that rise", "[deep]") {
  const auto with = [](const char *lines) {
    return [lines](Contents *c) {
      c->programs[0].variants[0].launches = packs::BlobSource(bytes_of(lines));
    };
  };
  CHECK(faults_after(with("a\nb\n")) == "");
  CHECK(faults_after(with("no\n")) == "blur/scalar launches: a line is no launch\n");
  const std::string not_rising =
      "blur/scalar launches: the lines do not rise, are not of one kind each, or are too many\n";
  CHECK(faults_after(with("b\na\n")) == not_rising);
  CHECK(faults_after(with("a\na\n")) == not_rising);
}

TEST_CASE("a key is the text of a binary key of the target's profile", "[deep]") {
  CHECK(faults_after([](Contents *c) { c->targets[1].key = "B200"; }) ==
        "target B200 (driver ): its key is not the text of a binary key\n");
  CHECK(faults_after([](Contents *c) { c->targets[1].profile = "other"; }) ==
        "target B200 (driver ): its key does not begin with its profile, other\n");
}

TEST_CASE("a binary has facts of each kernel or of none, and sizes that rise", "[deep]") {
  CHECK(faults_after([](Contents *c) { c->targets[1].binaries[0].kernels.clear(); }) == "");
  CHECK(faults_after([](Contents *c) { c->targets[1].binaries[1].kernels.pop_back(); }) ==
        "blur/wide for B200 (driver ): it has facts of 1 kernels, the variant has 2\n");
  CHECK(faults_after([](Contents *c) {
          std::swap(c->targets[0].binaries[0].finish.local_sizes[0],
                    c->targets[0].binaries[0].finish.local_sizes[1]);
        }) ==
        "blur/scalar for A100 (driver ): the work-group sizes that it holds code for do not "
        "rise\n");
}

TEST_CASE("cache entries of rusticl are looked into", "[deep]") {
  CHECK(faults_after([](Contents *c) {
          c->targets[0].profile = "rusticl";
          c->targets[0].key = "profile=rusticl\n";
        }) ==
        "A100 (driver ), cache entries: the blob of Mesa's cache entries does not begin with a "
        "place\n"
        "blur/scalar for A100 (driver ), cache entries: the blob of Mesa's cache entries does not "
        "begin "
        "with a place\n");
}

TEST_CASE("what a record names and the pack lacks is noted", "[deep]") {
  const auto findings = after([](Contents *c) {
    c->programs[0].preferred = {"wide", "narrow"};
    c->programs[1].baseline = "none";
    c->tunings[0].kernel = "lost";
    c->tunings[1].variant = "lost";
    c->tunings[2].program = "lost";
    c->targets[1].binaries[0].variant = name_of("lost");
  });
  CHECK(lines_of(findings.faults) == "");
  CHECK(lines_of(findings.notes) ==
        "program blur: preferred names narrow, which it lacks\n"
        "program invert: baseline names none, which it lacks\n" +
            packs::hex(name_of("lost")) +
            " for B200 (driver ): the pack does not have the variant\n"
            "tuning blur/lost: the program does not have the variant\n"
            "tuning blur/wide: the variant does not have the kernel lost\n"
            "tuning lost/wide: the pack does not have the program\n");
}

TEST_CASE("a blob that nothing refers to is noted and read", "[deep]") {
  Forge forge;
  ForgedRoot root;
  root.programs[0].variants[0].source = 1;
  root.blobs = {forge.raw_blob(noise(100, 1)), forge.raw_blob(noise(50, 2))};
  const std::string name = packs::hex(packs::to_digest(root.blobs[1].name())).substr(0, 16);
  Bytes bytes = forge.finish(root);
  CHECK(lines_of(findings_in(bytes).notes) == "blob " + name + ": nothing refers to it\n");
  CHECK(findings_in(bytes).faults.empty());
  bytes[root.blobs[1].offset()] ^= 1;
  CHECK(lines_of(findings_in(bytes).faults) ==
        "blob " + name + ": blob: its bytes do not have the recorded hash\n");
}
