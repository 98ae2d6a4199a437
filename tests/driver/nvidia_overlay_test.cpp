// SPDX-License-Identifier: Apache-2.0
// The overlay on a GPU of NVIDIA's shape: PTX is finished in the application, once.
#include "builder/under_layer/overlay_folder.hpp"
#include "tests/driver/nvidia.hpp"

using namespace kiln;
using namespace kiln::test;

TEST_CASE("a GPU of a later architecture compiles the PTX once, and has its own cubin then") {
  KILN_NEEDS_POCL();
  const Gpu later = with_capability(100);
  for (const bool by_release : {false, true}) {
    const std::string overlay = nvidia().new_overlay();
    How how = from(overlay);
    how.finish = !by_release;
    how.end = !by_release;
    const Run first = nvidia().start(later, nvidia().full(), how);
    {
      INFO("by release: " << by_release);
      SHOW(first);
      CHECK(first.rung == "intermediate");
      CHECK(first.right);
      CHECK(first.jits == 1);
      CHECK(first.final == false);
      CHECK(first.why_not == kCompiles);
      CHECK(first.all(KILN_NOTICE_STORED) ==
            std::vector<std::string>{"the finished binary was stored in the overlay"});
    }
    const Run second = nvidia().start(later, nvidia().full(), from(overlay));
    {
      SHOW(second);
      CHECK(second.rung == "overlay");
      CHECK(second.right);
      CHECK(second.jits == 0);
      CHECK(second.final == true);
      CHECK(second.all(KILN_NOTICE_STORED).empty());
    }
    const std::string settled = snapshot(overlay);
    const Run third = nvidia().start(later, nvidia().full(), from(overlay));
    CHECK(third.rung == "overlay");
    CHECK(snapshot(overlay) == settled);
    const auto read = builder::read_overlay(overlay);
    REQUIRE(read.ok());
    const builder::OverlayFolder &folder = *read;
    REQUIRE(folder.binaries.size() == 1);
    const auto cubin = shapes::read_cubin(bytes_of(folder.binaries[0].binary().blob));
    REQUIRE(cubin);
    CHECK(cubin->target == 100);
    // The H200 in the next slot finds its own in the pack, and not this one.
    const Run h200 = nvidia().start(Gpu(), nvidia().full(), from(overlay));
    CHECK(h200.rung == "exact");
  }
}

TEST_CASE("what an application leaves behind that ends before it finished, the next improves") {
  KILN_NEEDS_POCL();
  const std::string overlay = nvidia().new_overlay();
  How hasty = from(overlay);
  hasty.end = true;
  const Run first = nvidia().start(Gpu(), nvidia().base(), hasty);
  {
    SHOW(first);
    CHECK(first.rung == "source");
    CHECK(first.right);
    CHECK(first.has_note("the driver's binary was stored in the overlay"));
    CHECK(first.final == false);
  }
  const Run second = nvidia().start(Gpu(), nvidia().base(), from(overlay));
  {
    SHOW(second);
    CHECK(second.rung == "overlay");
    CHECK(second.right);
    CHECK(second.jits == 1);
    CHECK(second.final == false);
    CHECK(second.why_not == "stored, but an earlier start ended before it made the binary final");
    CHECK(second.notice(KILN_NOTICE_STORED) == "the finished binary was stored in the overlay");
  }
  const Run third = nvidia().start(Gpu(), nvidia().base(), from(overlay));
  SHOW(third);
  CHECK(third.rung == "overlay");
  CHECK(third.right);
  CHECK(third.jits == 0);
  CHECK(third.final == true);
  CHECK(entries_in(overlay) == 1);
}

TEST_CASE("the first start of a pack with source alone leaves a cubin when it is released") {
  KILN_NEEDS_POCL();
  const std::string overlay = nvidia().new_overlay();
  CHECK(nvidia().start(Gpu(), nvidia().base(), from(overlay)).rung == "source");
  const Run second = nvidia().start(Gpu(), nvidia().base(), from(overlay));
  SHOW(second);
  CHECK(second.rung == "overlay");
  CHECK(second.right);
  CHECK(second.jits == 0);
  CHECK(second.final == true);
  // An update takes it as it is; a driver from before it does not, and makes its own.
  const Run updated = nvidia().start(with_driver(kLaterDriver), nvidia().base(), from(overlay));
  {
    SHOW(updated);
    CHECK(updated.rung == "overlay");
    CHECK(updated.jits == 0);
  }
  const Run back = nvidia().start(with_driver(kEarlierDriver), nvidia().base(), from(overlay));
  {
    SHOW(back);
    CHECK(back.rung == "source");
    CHECK(back.outcome("overlay") == "missed");
    CHECK(back.reason("overlay") == "the overlay's binary was made by the later driver " +
                                        std::string(kDriver) + ", and this one is " +
                                        kEarlierDriver);
  }
  for (const char *const version : {kEarlierDriver, kDriver}) {
    const Run own = nvidia().start(with_driver(version), nvidia().base(), from(overlay));
    SHOW(own);
    CHECK(own.rung == "overlay");
    CHECK(own.final == true);
  }
}

TEST_CASE("an overlay's PTX gives way to the pack's final cubin") {
  KILN_NEEDS_POCL();
  const std::string overlay = nvidia().new_overlay();
  How hasty = from(overlay);
  hasty.end = true;
  REQUIRE(nvidia().start(Gpu(), nvidia().base(), hasty).rung == "source");
  const Run run = nvidia().start(Gpu(), nvidia().full(), hasty);
  SHOW(run);
  CHECK(run.rung == "exact");
  CHECK(run.reason("overlay") == "it is not final, and the pack's binary is");
  CHECK(run.outcome("overlay") == "missed");
  CHECK(run.jits == 0);
}

TEST_CASE("a linker that dies in the application is not tried again") {
  KILN_NEEDS_POCL();
  for (const char *const way : {"segv", "abort,later", "exit"}) {
    const std::string overlay = nvidia().new_overlay();
    const Gpu deadly = [&] {
      Gpu gpu = with_capability(100);
      gpu.linker = way;
      return gpu;
    }();
    How how = from(overlay);
    how.finish = true;
    for (int i = 0; i < 2; ++i) {
      const Run first = nvidia().start(deadly, nvidia().full(), how);
      INFO(way << first.child.reason());
      CHECK_FALSE(first.child.ok());
    }
    const Run second = nvidia().start(deadly, nvidia().full(), how);
    {
      SHOW(second);
      REQUIRE(second.child.ok());
      CHECK(second.rung == "intermediate");
      CHECK(second.right);
      CHECK(second.notice(KILN_NOTICE_DEATH) == "an earlier process ended inside the driver");
      CHECK(second.all(KILN_NOTICE_NOT_STORED) ==
            std::vector<std::string>{"the binary was not finished for the overlay: the driver's "
                                     "linker died or hung over it"});
    }
    const std::string settled = snapshot(overlay, false);
    const Run third = nvidia().start(deadly, nvidia().full(), how);
    SHOW(third);
    CHECK(third.rung == "intermediate");
    CHECK(third.right);
    CHECK(third.notice(KILN_NOTICE_DEATH) == "-");
    CHECK(snapshot(overlay, false) == settled);
  }
}

TEST_CASE("two programs that the linker died of do not stop others from being kept") {
  KILN_NEEDS_POCL();
  const std::string overlay = nvidia().new_overlay();
  const std::vector<std::string> packs_of = other_programs();
  for (int i = 0; i < 2; ++i) {
    CHECK_FALSE(
        nvidia()
            .start(with_linker("segv"), packs_of[static_cast<std::size_t>(i)], from(overlay))
            .child.ok());
  }
  const Run third = nvidia().start(Gpu(), packs_of[2], from(overlay));
  {
    SHOW(third);
    CHECK(third.rung == "source");
    CHECK(third.right);
    CHECK(third.has_note("the driver's binary was stored in the overlay"));
  }
  const Run again = nvidia().start(Gpu(), packs_of[2], from(overlay));
  SHOW(again);
  CHECK(again.rung == "overlay");
}

TEST_CASE("a linker that refuses in the application leaves the PTX, and its log in the notice") {
  KILN_NEEDS_POCL();
  const std::string overlay = nvidia().new_overlay();
  const Run first = nvidia().start(with_linker("refuse"), nvidia().base(), from(overlay));
  {
    SHOW(first);
    CHECK(first.rung == "source");
    CHECK(holds(first.notice(KILN_NOTICE_NOT_STORED),
                "the binary was not finished for the "
                "overlay: CUDA 13.0's linker refused the PTX"));
    CHECK(holds(first.notice(KILN_NOTICE_NOT_STORED), "Ptx assembly aborted due to errors"));
  }
  const Run later = nvidia().start(with_linker("refuse"), nvidia().base(), from(overlay));
  SHOW(later);
  CHECK(later.rung == "overlay");
  CHECK(later.final == false);
  CHECK(later.right);
  CHECK(later.all(KILN_NOTICE_NOT_STORED) ==
        std::vector<std::string>{
            "the binary was not finished for the overlay: an earlier start could not"});
}

TEST_CASE("a refusal of the linker is not shown as a death of the driver") {
  KILN_NEEDS_POCL();
  const std::string overlay = nvidia().new_overlay();
  REQUIRE(nvidia().start(with_linker("refuse"), nvidia().base(), from(overlay)).rung == "source");
  const auto read = builder::read_overlay(overlay);
  REQUIRE(read.ok());
  REQUIRE(read->drivers.size() == 1);
  CHECK(read->drivers[0].deaths == 0);
  CHECK(read->drivers[0].proven > 0);
}

TEST_CASE("an overlay's PTX is exported as an intermediate, its cubin as a binary") {
  KILN_NEEDS_POCL();
  const std::string overlay = nvidia().new_overlay();
  How hasty = from(overlay);
  hasty.end = true;
  REQUIRE(nvidia().start(Gpu(), nvidia().base(), hasty).rung == "source");
  const auto exported = [&] {
    const auto read = builder::read_overlay(overlay);
    REQUIRE(read.ok());
    const builder::OverlayFolder &folder = *read;
    packs::Contents contents = builder::overlay_contents(folder);
    REQUIRE(contents.targets.size() == 1);
    CHECK(contents.targets[0].key == "profile=nvidia\ncompute_capability=9.0\naddress_bits=64\n");
    packs::Contents merged = launchable();
    REQUIRE(packs::merge(contents, &merged).message == "");
    return merged;
  };
  const std::string pack = nvidia().path("exported.kiln");
  const packs::Contents ptx = exported();
  CHECK(ptx.targets[0].binaries.empty());
  REQUIRE(ptx.targets[0].intermediates.size() == 1);
  CHECK(ptx.targets[0].intermediates[0].finish.finality == Finality::no);
  CHECK(ptx.targets[0].intermediates[0].finish.driver == kDriver);
  save(ptx, pack);
  const Run below = nvidia().start(Gpu(), pack);
  {
    SHOW(below);
    CHECK(below.rung == "intermediate");
    CHECK(below.right);
  }
  REQUIRE(nvidia().start(Gpu(), nvidia().base(), from(overlay)).rung == "overlay");
  const packs::Contents cubin = exported();
  CHECK(cubin.targets[0].intermediates.empty());
  REQUIRE(cubin.targets[0].binaries.size() == 1);
  CHECK(cubin.targets[0].binaries[0].finish.driver == kDriver);
  save(cubin, pack);
  const Run exact = nvidia().start(with_driver(kLaterDriver), pack);
  {
    SHOW(exact);
    CHECK(exact.rung == "exact");
    CHECK(exact.right);
    CHECK(exact.jits == 0);
  }
  const Run earlier = nvidia().start(with_driver(kEarlierDriver), pack);
  SHOW(earlier);
  CHECK(earlier.rung == "source");
}
