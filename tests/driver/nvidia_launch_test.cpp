// SPDX-License-Identifier: Apache-2.0
// First launches on a GPU of NVIDIA's shape: what is remembered of one that ended the process.
#include "tests/driver/nvidia.hpp"

using namespace kiln;
using namespace kiln::test;

namespace {

constexpr char kLaunchDied[] = "an earlier process ended while it launched this for the first time";

}  // namespace

TEST_CASE("a driver that dies at a cubin's first launch is given the PTX from then on") {
  KILN_NEEDS_POCL();
  for (const char *const way : {"segv", "abort", "exit"}) {
    const std::string overlay = nvidia().new_overlay();
    const Gpu deadly = with_binary(fault("clEnqueueNDRangeKernel", way, "form = \"cubin\""));
    for (int i = 0; i < 2; ++i) {
      const Run first = nvidia().start(deadly, nvidia().full(), from(overlay));
      INFO(way << first.child.reason());
      CHECK_FALSE(first.child.ok());
      CHECK(markers_in(overlay) == 1);
    }
    const Run second = nvidia().start(deadly, nvidia().full(), from(overlay));
    {
      SHOW(second);
      REQUIRE(second.child.ok());
      CHECK(second.rung == "intermediate");
      CHECK(second.right);
      CHECK(second.outcome("exact") == "quarantined");
      CHECK(second.reason("exact") == kLaunchDied);
      CHECK(second.notice(KILN_NOTICE_DEATH) == "an earlier process ended inside the driver");
    }
    const std::string settled = snapshot(overlay, false);
    for (int i = 0; i < 2; ++i) {
      const Run later = nvidia().start(deadly, nvidia().full(), from(overlay));
      INFO("start " << 3 + i);
      SHOW(later);
      CHECK(later.child.ok());
      CHECK(later.right);
      CHECK(later.jits <= 1);
      CHECK(later.notice(KILN_NOTICE_DEATH) == "-");
      CHECK(markers_in(overlay) == 0);
      CHECK(snapshot(overlay, false) == settled);
    }
  }
}

TEST_CASE("a cubin of the overlay that kills at its first launch is not made again and again") {
  KILN_NEEDS_POCL();
  const std::string overlay = nvidia().new_overlay();
  const Gpu deadly = with_binary(fault("clEnqueueNDRangeKernel", "segv", "form = \"cubin\""));
  CHECK(nvidia().start(deadly, nvidia().base(), from(overlay)).rung == "source");
  for (int i = 0; i < 2; ++i) {
    CHECK_FALSE(nvidia().start(deadly, nvidia().base(), from(overlay)).child.ok());
  }
  const Run third = nvidia().start(deadly, nvidia().base(), from(overlay));
  {
    SHOW(third);
    REQUIRE(third.child.ok());
    CHECK(third.reason("overlay") == kLaunchDied);
    CHECK(third.right);
  }
  std::string settled;
  for (int i = 0; i < 3; ++i) {
    const Run later = nvidia().start(deadly, nvidia().base(), from(overlay));
    INFO("start " << 4 + i);
    SHOW(later);
    REQUIRE(later.child.ok());
    CHECK(later.right);
    CHECK(later.rung == "overlay");  // the PTX, which is better than the source
    if (i == 2) CHECK(snapshot(overlay, false) == settled);
    settled = snapshot(overlay, false);
  }
}

TEST_CASE("two programs that died at their first launch do not stop others from being kept") {
  KILN_NEEDS_POCL();
  const std::string overlay = nvidia().new_overlay();
  const std::vector<std::string> packs_of = other_programs();
  const Gpu deadly = with_binary(fault("clEnqueueNDRangeKernel", "segv"));
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK_FALSE(nvidia().start(deadly, packs_of[i], from(overlay)).child.ok());
  }
  const Run third = nvidia().start(Gpu(), packs_of[2], from(overlay));
  SHOW(third);
  CHECK(third.rung == "source");
  CHECK(third.right);
  CHECK(third.has_note("the driver's binary was stored in the overlay"));
}

TEST_CASE("a launch that is refused in good order leaves the next one marked") {
  KILN_NEEDS_POCL();
  How how = from(nvidia().new_overlay());
  how.launch_options.retry = true;
  const Gpu deadly = with_binary(fault("clEnqueueNDRangeKernel", "error", "nth = 1\ncode = -52") +
                                 fault("clEnqueueNDRangeKernel", "segv", "form = \"cubin\""));
  for (int i = 0; i < 2; ++i) {
    CHECK_FALSE(nvidia().start(deadly, nvidia().full(), how).child.ok());
  }
  const Run second = nvidia().start(deadly, nvidia().full(), how);
  SHOW(second);
  REQUIRE(second.child.ok());
  CHECK(second.reason("exact") == kLaunchDied);
  CHECK(second.rung == "intermediate");
  CHECK(second.right);
}

TEST_CASE("what the driver refuses of its own linker is not linked at each start") {
  KILN_NEEDS_POCL();
  const auto links = [] { return nvidia().driver().calls("cuLinkAddData_v2"); };
  const std::string log = ",log=" + nvidia().path("calls");
  for (const bool refuses_cubin : {true, false}) {
    const std::string overlay = nvidia().new_overlay();
    Gpu gpu = with_binary(refuses_cubin ? "cubin = \"refuse\"" : "");
    gpu.linker = (refuses_cubin ? "" : "refuse") + log;
    const std::string pack = refuses_cubin ? nvidia().full() : nvidia().base();
    for (int i = 0; i < 2; ++i) CHECK(nvidia().start(gpu, pack, from(overlay)).right);
    const std::size_t before = links();
    const Run third = nvidia().start(gpu, pack, from(overlay));
    INFO("the driver refuses cubins: " << refuses_cubin);
    SHOW(third);
    CHECK(third.right);
    CHECK(links() == before);
    CHECK(third.notice(KILN_NOTICE_STORED) == "-");
  }
}

TEST_CASE("launches that end well and processes that launch nothing leave no marker") {
  KILN_NEEDS_POCL();
  for (const bool end : {false, true}) {
    const std::string launched = nvidia().new_overlay();
    How how = from(launched);
    how.end = end;
    for (int i = 0; i < 10; ++i) {
      const Run run = nvidia().start(Gpu(), nvidia().full(), how);
      INFO(i << " end " << end);
      SHOW(run);
      CHECK(run.rung == "exact");
      CHECK(run.right);
      CHECK(run.notice(KILN_NOTICE_DEATH) == "-");
      if (!end) CHECK(markers_in(launched) == 0);
    }
    How idle = from(nvidia().new_overlay());
    idle.launch = false;
    idle.end = end;
    for (int i = 0; i < 2; ++i) {
      const Run run = nvidia().start(Gpu(), nvidia().full(), idle);
      CHECK(run.rung == "exact");
      CHECK(run.notice(KILN_NOTICE_DEATH) == "-");
      if (!end) CHECK(markers_in(idle.overlay) == 0);
    }
  }
}

TEST_CASE("a process that ends right after its first result has not died of the launch") {
  KILN_NEEDS_POCL();
  for (int i = 0; i < 20; ++i) {
    How how = from(nvidia().new_overlay());
    how.launch_options.abrupt = true;
    const Run first = nvidia().start(Gpu(), nvidia().full(), how);
    CHECK(first.child.end == ProcessEnd::exited);
    CHECK(first.child.code == 0);
    how.launch_options.abrupt = false;
    const Run second = nvidia().start(Gpu(), nvidia().full(), how);
    INFO(i);
    SHOW(second);
    CHECK(second.rung == "exact");
    CHECK(second.notice(KILN_NOTICE_DEATH) == "-");
  }
}

TEST_CASE("what was compiled from source has three first launches to die at, and comes back") {
  KILN_NEEDS_POCL();
  const How how = from(nvidia().new_overlay(), KILN_LOAD_NO_OVERLAY);
  const Gpu deadly = with_binary(fault("clEnqueueNDRangeKernel", "segv", "form = \"source\""));
  for (int i = 0; i < 3; ++i) {
    CHECK_FALSE(nvidia().start(deadly, nvidia().base(), how).child.ok());
  }
  {
    const Run fourth = nvidia().start(deadly, nvidia().base(), how);
    SHOW(fourth);
    CHECK(fourth.rung == "error");
    CHECK(fourth.reason("source") == kLaunchDied);
  }
  for (int i = 0; i < 2; ++i) {
    const Run later = nvidia().start(Gpu(), nvidia().base(), how);
    SHOW(later);
    CHECK(later.rung == "source");
    CHECK(later.right);
  }
}
