// SPDX-License-Identifier: Apache-2.0
#include "builder/base/progress_text.hpp"

#include "tests/support/catch.hpp"

using namespace kiln::builder;

namespace {

std::string text_of(ProgressState progress) {
  progress.what = "laplace/scalar for GPU";
  return progress_text(progress);
}

}  // namespace

TEST_CASE("progress names what runs, how much is done and what failed") {
  CHECK(text_of({0, 40}) == "[0/40] laplace/scalar for GPU");
  CHECK(text_of({12, 40, 0, 0, 0, 2}) == "[12/40] laplace/scalar for GPU, and 1 more");
  CHECK(text_of({12, 40, 0, 0, 3, 4}) == "[12/40] 3 failed: laplace/scalar for GPU, and 3 more");
  CHECK(progress_text({12, 40, 0, 0, 1, 0}) == "[12/40] 1 failed");
}

TEST_CASE("rate and remaining time are shown once enough was timed, and not before") {
  CHECK(text_of({2, 40, 2, 60}) == "[2/40] laplace/scalar for GPU");
  CHECK(text_of({30, 40, 30, 1.9}) == "[30/40] laplace/scalar for GPU");
  CHECK(text_of({3, 40, 3, 60}) == "[3/40] 3.0/min, 13 min left: laplace/scalar for GPU");
  CHECK(text_of({30, 40, 30, 2}) == "[30/40] 15/s, 1 s left: laplace/scalar for GPU");
}

TEST_CASE("what the store had counts as done, and for no rate") {
  CHECK(text_of({1000, 1060, 10, 5}) == "[1000/1060] 2.0/s, 30 s left: laplace/scalar for GPU");
}

TEST_CASE("rates and times have units that suit them") {
  CHECK(text_of({5, 15, 5, 1000}) == "[5/15] 18/h, 34 min left: laplace/scalar for GPU");
  CHECK(text_of({5, 500, 5, 500}) == "[5/500] 36/h, 13 h 45 min left: laplace/scalar for GPU");
  CHECK(text_of({10, 69, 10, 10}) == "[10/69] 1.0/s, 59 s left: laplace/scalar for GPU");
  CHECK(text_of({10, 70, 10, 10}) == "[10/70] 1.0/s, 1 min left: laplace/scalar for GPU");
  CHECK(text_of({40, 40, 40, 10, 0, 0}) == "[40/40] 4.0/s: laplace/scalar for GPU");
}

TEST_CASE("a driver's control characters do not reach the terminal") {
  CHECK(progress_text({0, 1, 0, 0, 0, 1, "a\x1b[2J\r\n\x7f"}) == "[0/1] a?[2J???");
}

TEST_CASE("a line is cut to the terminal's columns, and never within a character") {
  CHECK(cut_line("123456", 6) == "123456");
  CHECK(cut_line("1234567", 6) == "123...");
  CHECK(cut_line("\u00e9\u00e9\u00e9\u00e9\u00e9", 5) == "\u00e9\u00e9\u00e9\u00e9\u00e9");
  CHECK(cut_line("\u00e9\u00e9\u00e9\u00e9\u00e9", 4) == "\u00e9...");
  CHECK(cut_line("1234567", 2) == "..");
  CHECK(cut_line("", 0).empty());
}

TEST_CASE("without a terminal a line passes after each half minute of silence") {
  ProgressPace pace;
  CHECK_FALSE(pace.passes(100));
  CHECK_FALSE(pace.passes(129.9));
  CHECK(pace.passes(130));
  CHECK_FALSE(pace.passes(131));
  CHECK(pace.passes(190));
}
