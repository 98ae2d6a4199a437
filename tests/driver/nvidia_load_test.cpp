// SPDX-License-Identifier: Apache-2.0
// Loading for a GPU of NVIDIA's shape: which rung other drivers, other GPUs and damaged cubins get.
#include "tests/driver/nvidia.hpp"

using namespace kiln;
using namespace kiln::test;

namespace {

constexpr char kGivenDied[] = "an earlier process ended inside the driver while it was given this";

}  // namespace

TEST_CASE("a driver update keeps the exact rung, and an earlier driver's reason names both") {
  KILN_NEEDS_POCL();
  const Run later = nvidia().start(with_driver(kLaterDriver), nvidia().full());
  {
    SHOW(later);
    CHECK(later.rung == "exact");
    CHECK(later.right);
    CHECK(later.jits == 0);
    CHECK(later.final == true);
  }
  const Gpu earlier = with_driver(kEarlierDriver);
  const std::string reason = "the binary was made by the later driver " + std::string(kDriver) +
                             ", and this one is " + kEarlierDriver;
  const Run missed = nvidia().start(earlier, nvidia().full());
  {
    SHOW(missed);
    CHECK(missed.rung == "intermediate");
    CHECK(missed.right);
    CHECK(missed.jits == 1);
    CHECK(missed.outcome("exact") == "missed");
    CHECK(missed.reason("exact") == reason);
  }
}

TEST_CASE("PTX of a language that an earlier driver does not know leads on to the source") {
  KILN_NEEDS_POCL();
  Gpu earlier = with_driver(kEarlierDriver);
  earlier.ptx = "8.5";
  const Run run = nvidia().start(earlier, nvidia().full());
  SHOW(run);
  CHECK(run.rung == "source");
  CHECK(run.right);
  CHECK(run.outcome("intermediate") == "failed");
  CHECK(holds(run.reason("intermediate"), "CL_INVALID_BINARY"));
  CHECK(run.final == false);
  CHECK(run.why_not == "it was compiled here");
}

TEST_CASE("a GPU of a later minor compute capability takes the cubin, unless it refuses it") {
  KILN_NEEDS_POCL();
  const Run run = nvidia().start(with_capability(91), nvidia().full());
  {
    SHOW(run);
    CHECK(run.rung == "exact");
    CHECK(run.right);
    CHECK(run.jits == 0);
    CHECK(run.final == true);
    CHECK(run.has_note("NVIDIA's GPUs take code for lower minor compute capabilities"));
  }
  Gpu refusing = with_capability(91);
  refusing.binary = "cubin = \"refuse\"";
  const Run refused = nvidia().start(refusing, nvidia().full());
  SHOW(refused);
  CHECK(refused.rung == "intermediate");
  CHECK(refused.outcome("exact") == "failed");
  CHECK(refused.right);
}

TEST_CASE("an earlier GPU takes neither cubin nor PTX") {
  KILN_NEEDS_POCL();
  for (const unsigned capability : {80u, 89u}) {
    const Run run = nvidia().start(with_capability(capability), nvidia().full());
    SHOW(run);
    CHECK(run.rung == "source");
    CHECK(run.right);
    CHECK(run.jits == 0);
    CHECK(run.reason("intermediate") ==
          "the pack has no intermediate form for this device's architecture");
    CHECK(run.outcome("exact") == "missed");
  }
}

TEST_CASE("a damaged cubin in a pack never reaches the driver") {
  KILN_NEEDS_POCL();
  const std::string good = [] {
    std::ifstream file(nvidia().full(), std::ios::binary);
    return std::string((std::istreambuf_iterator<char>(file)), {});
  }();
  const packs::Contents contents = read_pack(nvidia().full());
  const std::string cubin = bytes_of(contents.targets[0].binaries[0].blob);
  const std::size_t at = good.find(cubin);
  REQUIRE(at != std::string::npos);
  const std::string damaged = nvidia().path("damaged.kiln");
  constexpr std::size_t kRegions = 16;
  for (std::size_t region = 0; region < kRegions; ++region) {
    std::string bad = good;
    const std::size_t place = at + region * (cubin.size() - 1) / (kRegions - 1);
    bad[place] = static_cast<char>(bad[place] ^ (1 << (region % 8)));
    std::ofstream(damaged, std::ios::binary) << bad;
    const Run run = nvidia().start(with_binary("corrupt = \"segv\""), damaged);
    INFO("byte " << place - at << " of " << cubin.size());
    SHOW(run);
    REQUIRE(run.child.ok());
    CHECK(run.rung == "intermediate");
    CHECK(run.right);
    CHECK(run.outcome("exact") == "failed");
    CHECK(holds(run.reason("exact"), "hash"));
  }
}

TEST_CASE("a cubin of another architecture under this device's key is refused, and PTX serves") {
  KILN_NEEDS_POCL();
  packs::Contents forged = read_pack(nvidia().full());
  packs::Target &target = forged.targets[0];
  const std::string payload = shapes::read_cubin(bytes_of(target.binaries[0].blob))->payload;
  const std::string pack = nvidia().path("forged.kiln");
  for (const unsigned other : {80u, 91u, 100u}) {
    target.binaries[0].blob = blob(shapes::cubin_of(other, payload));
    save(forged, pack);
    const Run run = nvidia().start(Gpu(), pack);
    INFO(other);
    SHOW(run);
    CHECK(run.rung == "intermediate");
    CHECK(run.right);
    CHECK(run.outcome("exact") == "failed");
    CHECK(holds(run.reason("exact"), "CL_INVALID_BINARY"));
  }
  target.intermediates.clear();
  save(forged, pack);
  const Run run = nvidia().start(Gpu(), pack);
  SHOW(run);
  CHECK(run.rung == "source");
  CHECK(run.right);
}

TEST_CASE("sixty damaged cubins with the right hashes cost a process each at most") {
  KILN_NEEDS_POCL();
  packs::Contents forged = read_pack(nvidia().full());
  packs::Target &target = forged.targets[0];
  const std::string cubin = bytes_of(target.binaries[0].blob);
  const std::string pack = nvidia().path("mutated.kiln");
  const char *const ways[] = {"segv", "abort", "exit", "refuse"};
  unsigned deaths = 0;
  for (unsigned i = 0; i < 60; ++i) {
    std::string bad = cubin;
    const std::size_t place = i * (cubin.size() - 1) / 59;
    if (i % 5 == 4) {
      bad.resize(place);
      if (bad.empty()) continue;
    } else {
      bad[place] = static_cast<char>(static_cast<unsigned char>(bad[place]) ^ (1 + i));
    }
    target.binaries[0].blob = blob(bad);
    save(forged, pack);
    const Gpu gpu = with_binary(std::string("corrupt = \"") + ways[i % 4] + "\"");
    const std::string overlay = nvidia().new_overlay();
    const Run first = nvidia().start(gpu, pack, from(overlay));
    if (first.child.ok()) {
      CHECK(first.right);
      CHECK(first.rung == "intermediate");
    } else {
      ++deaths;
      CHECK_FALSE(nvidia().start(gpu, pack, from(overlay)).child.ok());
    }
    const Run second = nvidia().start(gpu, pack, from(overlay));
    INFO(i << " " << ways[i % 4]);
    SHOW(second);
    REQUIRE(second.child.ok());
    CHECK(second.right);
    CHECK(second.jits <= 1);
    if (!first.child.ok()) CHECK(second.reason("exact") == kGivenDied);
    const Run third = nvidia().start(gpu, pack, from(overlay));
    SHOW(third);
    REQUIRE(third.child.ok());
    CHECK(third.right);
    CHECK(third.rung == "overlay");
  }
  CHECK(deaths >= 30);
}

TEST_CASE("of the PTX for several architectures the highest that fits is taken") {
  KILN_NEEDS_POCL();
  packs::Contents both = read_pack(nvidia().full());
  const Build older = nvidia().build(with_capability(80), nvidia().path("ampere.kiln"));
  REQUIRE(packs::merge(older.contents, &both).message == "");
  REQUIRE(both.targets.size() == 2);
  for (packs::Target &target : both.targets) target.binaries.clear();
  const std::string pack = nvidia().path("architectures.kiln");
  save(both, pack);
  const struct {
    unsigned capability;
    const char *key;
  } rows[] = {{100, "=9.0"}, {120, "=9.0"}, {89, "=8.0"}};
  for (const auto &row : rows) {
    const Run run = nvidia().start(with_capability(row.capability), pack);
    INFO(row.capability);
    SHOW(run);
    CHECK(run.rung == "intermediate");
    CHECK(run.right);
    const auto target =
        std::find_if(both.targets.begin(), both.targets.end(),
                     [&](const packs::Target &one) { return holds(one.key, row.key); });
    REQUIRE(target != both.targets.end());
    CHECK(holds(run.report, packs::hex(target->intermediates[0].blob.name())));
  }
}
