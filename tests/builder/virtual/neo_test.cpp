// SPDX-License-Identifier: Apache-2.0
// The version of a C library, and the environment of a driver.
#include "builder/virtual/neo.hpp"

#include <algorithm>

#include "builder/virtual/driver_root.hpp"
#include "tests/support/catch.hpp"

using kiln::builder::glibc_version;
using kiln::builder::NeoDriver;
using kiln::builder::NeoPlace;

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
  NeoDriver driver{"/other/usr/lib/libigdrcl.so", {"skl", "tgllp"}, {"/other/usr/lib"}, ""};
  const auto value = [](const auto &request, const char *name) {
    const auto &all = request.environment;
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const auto &one) { return one.first == name; });
    return found == all.end() ? std::nullopt : found->second;
  };
  const auto earlier = NeoPlace::make(driver)->request("skl", {"devices"});
  CHECK(earlier.arguments == std::vector<std::string>{"devices"});
  CHECK(value(earlier, "LD_LIBRARY_PATH")->ends_with("/system:/other/usr/lib"));
  CHECK(value(earlier, "ProductFamilyOverride") == "skl");
  CHECK(!value(earlier, "OverrideRevision"));
  driver.loader = "/other/usr/lib/ld.so";
  const auto later = NeoPlace::make(driver)->request("tgllp", {"devices"});
  CHECK(later.program == driver.loader);
  CHECK(later.arguments == std::vector<std::string>{earlier.program.string(), "devices"});
  CHECK(value(later, "LD_LIBRARY_PATH")->ends_with("/system:/other/usr/lib"));
  CHECK(value(later, "OverrideRevision") == "1");
}
