// SPDX-License-Identifier: Apache-2.0
#include "builder/under_layer/past_layer.hpp"

#include <catch2/catch.hpp>

namespace kiln::builder {
namespace {

constexpr char kLayer[] = "/usr/lib/kiln/libkiln_layer.so";

MappedDriver seen(std::string_view maps) {
  return mapped_driver(maps, kLayer,
                       {"libnvidia-opencl.so.1", "/usr/lib/intel-opencl/libigdrcl.so"});
}

}  // namespace

TEST_CASE("a driver is known by its file name, whatever its version", "[past_layer]") {
  const MappedDriver nvidia = seen(
      "7f00-7f01 r--p 00000000 08:01 77 /usr/lib/x86_64-linux-gnu/libc.so.6\n"
      "7f02-7f03 r-xp 00000000 08:01 78 /a folder/libnvidia-opencl.so.580.159.04 (deleted)\n");
  CHECK(nvidia.driver == "libnvidia-opencl.so.580.159.04 (deleted)");
  CHECK_FALSE(nvidia.has_layer);
  const MappedDriver both = seen(
      "7f02-7f03 r-xp 00000000 08:01 78 /opt/libigdrcl.so\n"
      "7f04-7f05 r-xp 00000000 08:01 79 /elsewhere/libkiln_layer.so\n");
  CHECK(both.driver == "libigdrcl.so");
  CHECK(both.has_layer);
}

TEST_CASE("neither loaders nor other files are drivers", "[past_layer]") {
  for (const char *maps : {"", "7f00-7f01 rw-p 00000000 00:00 0 [heap]\n",
                           "7f00-7f01 r-xp 00000000 08:01 1 /usr/lib/libOpenCL.so.1.0.0\n",
                           "7f00-7f01 r--p 00000000 08:01 1 /data/libigdrcl\n",
                           "7f00-7f01 r--p 00000000 08:01 1 /data/libigdrcl_more.so\n", "/"}) {
    CAPTURE(maps);
    const MappedDriver mapped = seen(maps);
    CHECK(mapped.driver.empty());
    CHECK_FALSE(mapped.has_layer);
  }
}

}  // namespace kiln::builder
