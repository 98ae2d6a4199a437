// SPDX-License-Identifier: Apache-2.0
// Cases for skips_test.py, which selects them by their tags: none runs by itself.
#include "tests/support/catch.hpp"

TEST_CASE("passes", "[.][pass]") { CHECK(true); }

TEST_CASE("is skipped", "[.][skip]") { KILN_SKIP("a reason"); }

TEST_CASE("fails", "[.][fail]") { CHECK(false); }

TEST_CASE("fails as often as the exit code of a skip says", "[.][often]") {
  for (int i = 0; i < kiln::test::kExitSkipped; ++i) CHECK(i < 0);
}

TEST_CASE("cannot run at all", "[.][without]") { kiln::test::skip_all("nothing here"); }
