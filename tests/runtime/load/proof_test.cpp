// SPDX-License-Identifier: Apache-2.0
// Variants that require a proof: a binary whose results were compared, and nothing else.
#include "tests/runtime/fake/load.hpp"

using namespace kiln;
using namespace kiln::test;

namespace {

// Program p, whose variant v requires a proof, which its binary has or not; and w, which does not.
packs::Contents contents_with(const char *proof) {
  packs::Contents contents = fake_contents();
  packs::Program &program = contents.programs[0];
  program.preferred = {"v", "w"};
  program.variants.push_back(program.variants[0]);
  program.variants[1].name = "w";
  program.variants[1].hash[0] = 2;
  program.variants[0].requirements = {"proof"};
  contents.targets[0].binaries[0].finish.proof = proof;
  return contents;
}

std::string variant_of(const FakeLoad &load) { return kiln_program_variant(load.program); }

}  // namespace

TEST_CASE("a variant that requires a proof is chosen where its binary has one", "[proof]") {
  reset_fake();
  const FakeLoad load(written(contents_with("variant:w")));
  REQUIRE(load.status == KILN_OK);
  CHECK(variant_of(load) == "v");
  CHECK(kiln_report_rung(load.report) == KILN_RUNG_EXACT);
}

TEST_CASE("without a proof the next variant is chosen, and by name nothing is loaded", "[proof]") {
  reset_fake();
  const auto bytes = written(contents_with(""));
  const FakeLoad load(bytes);
  REQUIRE(load.status == KILN_OK);
  CHECK(variant_of(load) == "w");
  const FakeLoad named(bytes, 0, "p", "v");
  CHECK(named.status == KILN_ERROR_NO_RUNG);
  for (const auto rung : {KILN_RUNG_EXACT, KILN_RUNG_IL, KILN_RUNG_SOURCE}) {
    CHECK(kiln_report_reason(named.report, rung, nullptr) ==
          std::string("the variant requires a binary with a proof"));
  }
  CHECK(fake().source.builds == 0);
  const FakeLoad anyhow(bytes, KILN_LOAD_UNPROVEN, "p", "v");
  CHECK(anyhow.status == KILN_OK);
  CHECK(kiln_report_rung(anyhow.report) == KILN_RUNG_EXACT);
}

TEST_CASE("what a program computes when it is built from source proves no variant", "[proof]") {
  reset_fake();
  const FakeLoad load(written(contents_with("the program built from source, 64x64")));
  REQUIRE(load.status == KILN_OK);
  CHECK(variant_of(load) == "w");
}

TEST_CASE("a proven variant is not compiled where its binary is refused", "[proof]") {
  reset_fake();
  fake().binary.create_code = CL_INVALID_BINARY;
  const FakeLoad load(written(contents_with("variant:w")));
  REQUIRE(load.status == KILN_OK);
  CHECK(variant_of(load) == "w");
}

TEST_CASE("where every variant requires a proof, the error says so", "[proof]") {
  reset_fake();
  packs::Contents contents = contents_with("");
  contents.programs[0].variants[1].requirements = {"proof"};
  const FakeLoad load(written(contents));
  CHECK(load.status == KILN_ERROR_REQUIREMENT);
  CHECK(load.error.message ==
        std::string("program p has no variant that this device can run; v needs a binary with a "
                    "proof; w needs a binary with a proof"));
}
