// SPDX-License-Identifier: Apache-2.0
#include "builder/virtual/virtual_devices.hpp"

#include "tests/support/catch.hpp"

using namespace kiln::builder;

TEST_CASE("a device that is not there is asked for as BACKEND:MODEL,...") {
  const auto spec = parse_virtual_spec("neo:skl,dg2");
  REQUIRE(spec.ok());
  CHECK(spec->backend == "neo");
  CHECK(spec->models == std::vector<std::string>{"skl", "dg2"});
  CHECK(parse_virtual_spec("neo:skl,dg2,skl")->models ==
        std::vector<std::string>{"skl", "dg2", "skl"});
  CHECK(parse_virtual_spec("folder/mali.toml")->backend == "folder/mali.toml");
  const auto described = parse_virtual_spec("amd.toml:gfx908:xnack-,gfx1030");
  CHECK(described->backend == "amd.toml");
  CHECK(described->models == std::vector<std::string>{"gfx908:xnack-", "gfx1030"});
  for (const char *text : {"", "nvidia:sm_90", "cuda:sm_90", "neo", "neo:", "neo:skl,", "neo:,skl",
                           "Neo:skl", "neo:SKL", "neo:skl;dg2", "ocloc:skl", "mali.toml:"}) {
    CAPTURE(text);
    CHECK(parse_virtual_spec(text).status().code == Code::bad_argument);
  }
}
