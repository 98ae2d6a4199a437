// SPDX-License-Identifier: Apache-2.0
#include "builder/under_layer/background_build.hpp"

#include <sys/resource.h>

#include "builder/under_layer/overlay_build.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/plain_user.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace kiln;

TEST_CASE("a build that could not be started is started at the next look") {
  const test::TemporaryFolder folder;
  const std::string overlay = folder.path().string();
  folder.write(builder::noted_folder(overlay) + "/driver/cl-x.kiln", "");
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
  CHECK(test::as_plain_user([&] {
          builder::BackgroundBuild build(overlay, false);
          std::string starts;
          const auto look = [&] {
            build.look();
            starts += waitpid(-1, nullptr, 0) > 0 ? "started " : "none ";
          };
          rlimit before{};
          getrlimit(RLIMIT_NPROC, &before);
          const rlimit none{0, before.rlim_max};
          setrlimit(RLIMIT_NPROC, &none);
          look();
          setrlimit(RLIMIT_NPROC, &before);
          look();
          look();  // nothing new is noted
          return starts;
        }) == "none started none ");
}
