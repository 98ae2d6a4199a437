// SPDX-License-Identifier: Apache-2.0
// Options that change how a vendor's compiler works and not what it makes.
#include "tests/runtime/fake/load.hpp"

using namespace kiln;
using namespace kiln::test;

namespace {

// A healthy driver before and after.
struct Healthy {
  Healthy() { reset_fake(); }
  ~Healthy() { reset_fake(); }
};

constexpr unsigned kFromSource = KILN_LOAD_NO_BINARY | KILN_LOAD_NO_IL;
const char *const kOwn = "-cl-std=CL1.2 -DX=1 -cl-mad-enable";

}  // namespace

TEST_CASE("Mali compiles the one kernel of a variant when it is created", "[load]") {
  const Healthy healthy;
  fake().device_name = "Mali-G710";
  const FakeLoad load(written(fake_contents()), kFromSource);
  REQUIRE(load.status == KILN_OK);
  CHECK(fake().source.built_with == std::string(kOwn) + " -fdeferred-compilation");
  CHECK(fake().source.builds == 1);
}

TEST_CASE("a driver that does not know the option is asked without it", "[load]") {
  for (const cl_int code : {CL_INVALID_BUILD_OPTIONS, CL_BUILD_PROGRAM_FAILURE}) {
    const Healthy healthy;
    fake().device_name = "Mali-T628";
    fake().source.build_code = code;
    fake().source.on_build = [] {
      const bool knows = fake().source.built_with == std::string(kOwn);
      if (knows) fake().source.build_code = CL_SUCCESS;
    };
    const FakeLoad load(written(fake_contents()), kFromSource);
    CHECK(load.status == KILN_OK);
    CHECK(fake().source.builds == 2);
  }
}

TEST_CASE("what the driver says of the second compilation counts, with the first one's log",
          "[load]") {
  const struct {
    cl_int first, second;
    const char *reason;
    bool has_log;
  } rows[] = {
      {CL_INVALID_BUILD_OPTIONS, CL_OUT_OF_HOST_MEMORY, "CL_OUT_OF_HOST_MEMORY", false},
      {CL_BUILD_PROGRAM_FAILURE, CL_BUILD_PROGRAM_FAILURE, "CL_BUILD_PROGRAM_FAILURE", true},
  };
  for (const auto &row : rows) {
    CAPTURE(row.reason);
    const Healthy healthy;
    fake().device_name = "Mali-T628";
    fake().source.build_code = row.first;
    fake().source.log = "k.cl:1: no";
    fake().source.on_build = [&row] {
      if (fake().source.built_with != std::string(kOwn)) return;
      fake().source.build_code = row.second;
      fake().source.log.clear();
    };
    const FakeLoad load(written(fake_contents()), kFromSource);
    CHECK(load.status == KILN_ERROR_NO_RUNG);
    CHECK(mentions(load.reason(KILN_RUNG_SOURCE), row.reason));
    CHECK(mentions(load.json(), "k.cl:1: no") == row.has_log);
  }
}

TEST_CASE("programs of several kernels, IL, binaries and other vendors get no such option",
          "[load]") {
  const Healthy healthy;
  {
    const FakeLoad load(written(fake_contents()), kFromSource);
    CHECK(fake().source.built_with == kOwn);
  }
  fake().device_name = "Mali-G710";
  packs::Contents contents = fake_contents();
  const FakeLoad il(written(contents), KILN_LOAD_NO_BINARY);
  CHECK(fake().il.built_with == "-cl-mad-enable");
  const FakeLoad binary(written(contents));
  CHECK_FALSE(fake().binary.built_with);
  contents.programs[0].variants[0].kernels.push_back({"l", 2});
  contents.targets[0].binaries[0].kernels.push_back({64, 1, 0, 0});
  const FakeLoad several(written(contents), kFromSource);
  CHECK(several.status == KILN_OK);
  CHECK(fake().source.built_with == kOwn);
}
