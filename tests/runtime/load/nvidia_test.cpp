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

}  // namespace

TEST_CASE_METHOD(NvidiaFixture, "a cubin for the device's compute capability is exact",
                 "[nvidia]") {
  add_cubin("8.6", "own");
  CHECK(used() == "exact: own");
}

TEST_CASE_METHOD(NvidiaFixture, "a cubin of a later driver is no exact one", "[nvidia]") {
  add_cubin("8.6", "later", "7.2");
  CHECK(used() == "source: ");
  CHECK(reason(KILN_RUNG_EXACT) ==
        "missed: the binary was made by the later driver 7.2, and this one is 7.1");
  contents.targets.clear();
  add_cubin("8.6", "earlier", "7.0");
  CHECK(used() == "exact: earlier");
}

TEST_CASE_METHOD(NvidiaFixture, "cubins for the major version and a lower minor one are exact",
                 "[nvidia]") {
  add_cubin("8.9", "too new");
  add_cubin("9.0", "of the next");
  add_cubin("7.5", "of the last");
  add_cubin("8.0a", "of an architecture by itself");
  add_cubin("8.4", "of a later driver", "7.2");
  CHECK(used() == "source: ");
  CHECK(reason(KILN_RUNG_EXACT) == "missed: no target of the pack has this device's binary key");
  target_of("8.5");  // which has nothing of this variant
  add_cubin("8.0", "older");
  CHECK(used() == "exact: older");
  CHECK(used(KILN_LOAD_CHECK_RECOMPILED) == "exact: older");
  CHECK(used(KILN_LOAD_NO_BINARY) == "source: ");
  const FakeLoad load(written(contents));
  CHECK(mentions(load.json(), "NVIDIA's GPUs take code for lower minor compute capabilities"));
  add_cubin("8.3", "nearer");
  CHECK(used() == "exact: nearer");
  add_cubin("8.6", "own");
  CHECK(used() == "exact: own");
}

TEST_CASE_METHOD(NvidiaFixture,
                 "a lower cubin serves in place of the device's own by a later driver",
                 "[nvidia]") {
  add_cubin("8.6", "later", "7.2");
  add_cubin("8.0", "older");
  CHECK(used() == "exact: older");
}

TEST_CASE_METHOD(NvidiaFixture, "a proof for another compute capability does not count",
                 "[nvidia]") {
  contents.programs[0].variants[0].requirements = {"proof"};
  add_cubin("8.6", "later", "7.2");
  add_cubin("8.0", "older");
  for (packs::Target &target : contents.targets) target.binaries[0].finish.proof = "variant:w";
  const auto status = [&](unsigned flags) {
    return FakeLoad(written(contents), flags, "p", "v").status;
  };
  CHECK(status(0) == KILN_ERROR_NO_RUNG);
  CHECK(status(KILN_LOAD_UNPROVEN) == KILN_OK);
}

TEST_CASE_METHOD(NvidiaFixture, "a cubin that the driver refuses is not the last that is tried",
                 "[nvidia]") {
  add_cubin("8.0", "one");
  add_cubin("8.5", "two");
  fake().binary.build_code = CL_BUILD_PROGRAM_FAILURE;
  const FakeLoad load(written(contents));
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
