// SPDX-License-Identifier: Apache-2.0
#include "builder/virtual/virtual_devices.hpp"

#include "builder/virtual/nvptx_compiler.hpp"
#include "tests/support/catch.hpp"

using namespace kiln::builder;

TEST_CASE("a device that is not there is asked for as BACKEND:MODEL,...") {
  const auto spec = parse_virtual_spec("nvidia:sm_75,sm_90");
  REQUIRE(spec.ok());
  CHECK(spec->backend == "nvidia");
  CHECK(spec->models == std::vector<std::string>{"sm_75", "sm_90"});
  CHECK(parse_virtual_spec("neo:skl,dg2,skl")->models ==
        std::vector<std::string>{"skl", "dg2", "skl"});
  CHECK(parse_virtual_spec("folder/mali.toml")->backend == "folder/mali.toml");
  const auto described = parse_virtual_spec("amd.toml:gfx908:xnack-,gfx1030");
  CHECK(described->backend == "amd.toml");
  CHECK(described->models == std::vector<std::string>{"gfx908:xnack-", "gfx1030"});
  for (const char *text : {"", "nvidia", "nvidia:", "nvidia:,", "nvidia:sm_90,", "cuda:sm_90",
                           "neo", "neo:", "neo:skl,", "neo:,skl", "Neo:skl", "neo:SKL",
                           "neo:skl;dg2", "ocloc:skl", "mali.toml:"}) {
    CAPTURE(text);
    CHECK(parse_virtual_spec(text).status().code == Code::bad_argument);
  }
}

TEST_CASE("an architecture's name is its compute capability") {
  CHECK(parse_architecture("sm_75") == 705);
  CHECK(parse_architecture("sm_90") == 900);
  CHECK(parse_architecture("sm_121") == 1201);
  for (const char *text : {"", "sm_", "sm_9", "sm_090", "sm_90a", "sm_1000", "90", "compute_90"}) {
    CAPTURE(text);
    CHECK(!parse_architecture(text));
  }
}

TEST_CASE("the oldest driver for a version of ptxas is that of its major version's first release") {
  CHECK(ptxas_version_of("Cuda compilation tools, release 11.8, V11.8.89\nBuild x") == "11.8.89");
  CHECK(ptxas_version_of("clang 15").empty());
  CHECK(oldest_driver_of("11.8.89") == "450.80.02");
  CHECK(oldest_driver_of("12.4.131") == "525.60.13");
  CHECK(oldest_driver_of("13.0.88") == "580.65.06");
  CHECK(oldest_driver_of("14.0.1").empty());
}
