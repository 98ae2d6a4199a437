// SPDX-License-Identifier: Apache-2.0
// The words of --virtual, the version of a C library, and the environment of a driver.
#include "builder/offline/virtual_driver.hpp"

#include <algorithm>

#include "tests/support/catch.hpp"

using kiln::builder::Code;
using kiln::builder::glibc_version;
using kiln::builder::parse_virtual_spec;
using kiln::builder::VirtualDriver;
using kiln::builder::VirtualPlace;

TEST_CASE("a spec names Intel's driver and its products") {
  CHECK(*parse_virtual_spec("neo:skl") == std::vector<std::string>{"skl"});
  CHECK(*parse_virtual_spec("neo:skl,dg2,skl") == std::vector<std::string>{"skl", "dg2", "skl"});
  for (const char *text : {"", "neo", "neo:", "neo:skl,", "neo:,skl", "Neo:skl", "neo:SKL",
                           "ocloc:skl", "neo:skl;dg2"}) {
    CAPTURE(text);
    CHECK(parse_virtual_spec(text).status().code == Code::bad_argument);
  }
}

TEST_CASE("the version of a C library is in its text") {
  CHECK(glibc_version("GNU C Library (Debian GLIBC 2.31-13) stable release version 2.31.\n") ==
        2031);
  CHECK(glibc_version("GNU C Library (Debian GLIBC 2.41-12) stable release version 2.41.\n") >
        glibc_version("GNU C Library (GNU libc) development release version 2.40.9000.\n"));
  for (const char *text : {"", "musl", "release version ", "release version x.1.",
                           "release version 2", "release version 2.", "release version 2.x"}) {
    CAPTURE(text);
    CHECK(glibc_version(text) == 0);
  }
}

TEST_CASE("a driver of a later C library is run by its own dynamic loader") {
  VirtualDriver driver{"/other/usr/lib/libigdrcl.so", {"skl", "tgllp"}, {"/other/usr/lib"}, ""};
  const auto value = [](const auto &request, const char *name) {
    const auto &all = request.environment;
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const auto &one) { return one.first == name; });
    return found == all.end() ? std::nullopt : found->second;
  };
  const auto earlier = VirtualPlace::make(driver)->request("skl", {"devices"});
  CHECK(earlier.arguments == std::vector<std::string>{"devices"});
  CHECK(value(earlier, "LD_LIBRARY_PATH")->ends_with("/system:/other/usr/lib"));
  CHECK(value(earlier, "ProductFamilyOverride") == "skl");
  CHECK(!value(earlier, "OverrideRevision"));
  driver.loader = "/other/usr/lib/ld.so";
  const auto later = VirtualPlace::make(driver)->request("tgllp", {"devices"});
  CHECK(later.program == driver.loader);
  CHECK(later.arguments == std::vector<std::string>{earlier.program.string(), "devices"});
  CHECK(value(later, "LD_LIBRARY_PATH")->ends_with("/system:/other/usr/lib"));
  CHECK(value(later, "OverrideRevision") == "1");
}
