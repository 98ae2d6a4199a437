// SPDX-License-Identifier: Apache-2.0
// What a GPU of NVIDIA's is given of a pack's cubins and PTX, by their compute capabilities and the
// drivers that made them.
#include <algorithm>

#include "kiln/packs/bytes.hpp"
#include "kiln/packs/text.hpp"
#include "tests/runtime/fake/load.hpp"

using namespace kiln;
using namespace kiln::test;

namespace {

// A machine with a GPU of compute capability 8.6 and driver 7.1.
struct NvidiaFixture {
  NvidiaFixture() {
    reset_fake();
    fake().device_version = "OpenCL 3.0 CUDA";
    fake().extensions = "cl_nv_device_attribute_query";
    fake().compute_capability = 86;
    fake().il_version = "";
    contents = fake_contents();
    contents.targets.clear();
  }
  ~NvidiaFixture() { CHECK(fake().live == 0); }

  packs::Contents contents;

  packs::Binary binary_of(const std::string &text, const std::string &driver) const {
    packs::Binary binary{contents.programs[0].variants[0].hash,
                         packs::BlobSource(bytes_of(text)),
                         "",
                         {{64, 1, 0, 0}}};
    binary.finish.driver = driver;
    return binary;
  }

  packs::Target &target_of(const std::string &capability) {
    packs::Target target;
    target.key = "profile=nvidia\ncompute_capability=" + capability + "\naddress_bits=64\n";
    target.profile = "nvidia";
    contents.targets.push_back(target);
    return contents.targets.back();
  }

  void add_cubin(const std::string &capability, const std::string &text,
                 const std::string &driver = "7.1") {
    target_of(capability).binaries.push_back(binary_of(text, driver));
  }

  void add_ptx(const std::string &capability, const std::string &text) {
    target_of(capability).intermediates.push_back(binary_of(text, "7.1"));
  }

  // The rung that is used, and the text that it gives; "source: " for the source.
  std::string used(unsigned flags = 0) const {
    const FakeLoad load(written(contents), flags);
    INFO(load.json());
    REQUIRE(load.status == KILN_OK);
    std::string text;
    for (const packs::Target &target : contents.targets) {
      for (const auto *binaries : {&target.binaries, &target.intermediates}) {
        for (const packs::Binary &binary : *binaries) {
          const packs::Bytes bytes = bytes_of_blob(binary.blob);
          const std::string name = packs::hex(packs::blake2b({bytes.data(), bytes.size()}));
          const std::string loaded = "\"outcome\": \"loaded\", \"blob\": \"" + name;
          if (mentions(load.json(), loaded)) text.assign(bytes.begin(), bytes.end());
        }
      }
    }
    return std::string(runtime::rung_name(load.rung())) + ": " + text;
  }

  std::string reason(kiln_rung rung, unsigned flags = 0) const {
    return FakeLoad(written(contents), flags).reason(rung);
  }

 private:
  static packs::Bytes bytes_of_blob(const packs::BlobSource &blob) {
    packs::Bytes bytes;
    REQUIRE(blob.read(&bytes).ok());
    return bytes;
  }
};

constexpr unsigned kCompatible = KILN_LOAD_COMPATIBLE;

}  // namespace

TEST_CASE_METHOD(NvidiaFixture, "a cubin for the device's compute capability is exact",
                 "[nvidia]") {
  add_cubin("8.6", "own");
  CHECK(used() == "exact: own");
  CHECK(used(kCompatible) == "exact: own");
}

TEST_CASE_METHOD(NvidiaFixture, "a cubin of a later driver is no exact one, and may be tried",
                 "[nvidia]") {
  add_cubin("8.6", "later", "7.2");
  CHECK(used() == "source: ");
  CHECK(reason(KILN_RUNG_EXACT) ==
        "missed: the binary was made by the later driver 7.2, and this one is 7.1");
  CHECK(used(kCompatible) == "compatible: later");
  contents.targets.clear();
  add_cubin("8.6", "earlier", "7.0");
  CHECK(used() == "exact: earlier");
}

TEST_CASE_METHOD(NvidiaFixture, "cubins for the major version and a lower minor one are compatible",
                 "[nvidia]") {
  add_cubin("8.9", "too new");
  add_cubin("9.0", "of the next");
  add_cubin("7.5", "of the last");
  CHECK(used(kCompatible) == "source: ");
  CHECK(reason(KILN_RUNG_COMPATIBLE, kCompatible) ==
        "missed: no target serves by the vendor's rule or a recorded cross-check");
  CHECK(reason(KILN_RUNG_COMPATIBLE) == "skipped: not asked for");
  target_of("8.5");  // which has nothing of this variant
  add_cubin("8.0", "older");
  CHECK(used(kCompatible) == "compatible: older");
  CHECK(used() == "source: ");
}

TEST_CASE_METHOD(NvidiaFixture, "a cubin that the driver refuses is not the last that is tried",
                 "[nvidia]") {
  add_cubin("8.0", "one");
  add_cubin("8.5", "two");
  fake().binary.build_code = CL_BUILD_PROGRAM_FAILURE;
  const FakeLoad load(written(contents), kCompatible);
  CHECK(load.rung() == KILN_RUNG_SOURCE);
  CHECK(fake().binary.builds == 2);
}

TEST_CASE_METHOD(NvidiaFixture, "of several PTX the one with the highest capability is taken",
                 "[nvidia]") {
  // A pack has its targets in the order of their keys' hashes: each device has its own place.
  for (unsigned minor = 0; minor < 10; ++minor) {
    const std::string capability = "8." + std::to_string(minor);
    add_ptx(capability, capability);
  }
  for (const char *other : {"7.5", "9.0"}) add_ptx(other, other);
  for (unsigned minor = 0; minor < 10; ++minor) {
    fake().compute_capability = 80 + minor;
    CHECK(used() == "intermediate: 8." + std::to_string(minor));
  }
  fake().compute_capability = 86;
  contents.targets.clear();
  add_ptx("9.0", "9.0");
  CHECK(used() == "source: ");
  CHECK(reason(KILN_RUNG_INTERMEDIATE) ==
        "missed: the pack has no intermediate form for this device's architecture");
  add_ptx("8.6", "8.6");
  target_of("8.5");
  add_ptx("8.0", "8.0");
  CHECK(used() == "intermediate: 8.6");
}

TEST_CASE_METHOD(NvidiaFixture, "PTX is compiled at each load, and is no final binary",
                 "[nvidia]") {
  add_ptx("8.0", "ptx");
  const FakeLoad load(written(contents));
  const char *why = nullptr;
  CHECK(kiln_report_final(load.report, &why) == KILN_FINAL_NO);
  CHECK(std::string(why) == "the driver compiles this form whenever it loads it");
  CHECK(kiln_report_final(load.report, nullptr) == KILN_FINAL_NO);
}

TEST_CASE("PTX is for NVIDIA's GPUs alone", "[nvidia]") {
  reset_fake();
  const FakeLoad load(written(fake_contents()), KILN_LOAD_NO_BINARY);
  CHECK(load.reason(KILN_RUNG_INTERMEDIATE) == "-");
  CHECK(load.rung() == KILN_RUNG_IL);
}

TEST_CASE_METHOD(NvidiaFixture, "another target's cubin must come back as it was given",
                 "[nvidia]") {
  add_cubin("8.0", "older");
  CHECK(used(kCompatible | KILN_LOAD_CHECK_RECOMPILED) == "compatible: older");
  fake().binary.binary = "another";
  CHECK(reason(KILN_RUNG_COMPATIBLE, kCompatible) ==
        "failed: the driver recompiled the binary, so it is not used");
  CHECK(used(kCompatible) == "source: ");
}

TEST_CASE_METHOD(NvidiaFixture, "another target's cubin must pass the application's check",
                 "[nvidia]") {
  add_cubin("8.0", "older");
  add_cubin("8.6", "later", "7.2");
  struct Check {
    int answer;
    unsigned asked = 0;
  };
  const auto rung = [&](Check *check, unsigned flags) {
    kiln_loader_options options{};
    options.size = sizeof(options);
    options.check = [](kiln_program *, void *user) {
      auto *asked = static_cast<Check *>(user);
      ++asked->asked;
      return asked->answer;
    };
    options.check_user = check;
    const FakeLoad load(written(contents), flags, "p", nullptr, &options);
    INFO(load.json());
    if (check->answer == 0 && flags != 0) {
      CHECK(load.reason(KILN_RUNG_COMPATIBLE) ==
            "failed: the application's check found its results wrong");
    }
    return load.rung();
  };
  Check passes{1}, fails{0}, not_asked{0};
  CHECK(rung(&passes, kCompatible) == KILN_RUNG_COMPATIBLE);
  CHECK(passes.asked == 1);
  CHECK(rung(&fails, kCompatible) == KILN_RUNG_SOURCE);
  CHECK(fails.asked == 2);
  CHECK(rung(&not_asked, 0) == KILN_RUNG_SOURCE);
  CHECK(not_asked.asked == 0);
}
