// SPDX-License-Identifier: Apache-2.0
#include <fstream>

#include "builder/prove/result_check.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace kiln;
using namespace kiln::builder;

namespace {

Results outputs(std::vector<std::uint8_t> pixels) {
  Plane plane{static_cast<std::uint32_t>(pixels.size()), 1, 1, "", {}, Type::uchar_};
  plane.pixels = std::move(pixels);
  return {{plane}, {}, ""};
}

Expectation expected(Results results) { return {std::move(results), "the reference", true}; }

packs::Program program(const std::string &reference) {
  packs::Program p{"p", reference, {}};
  for (const char *name : {"a", "b"}) {
    packs::Variant variant;
    variant.name = name;
    variant.kernels = {{name, 0}};
    variant.arguments = {{Role::output, Storage::buffer, 1, "", 0, Type::uchar_}};
    p.variants.push_back(variant);
  }
  return p;
}

}  // namespace

TEST_CASE("results travel as JSON") {
  const Results sent{outputs({1, 2, 3}).outputs, {7, 1ull << 63}, "why"};
  const Results got = results_from(to_json(sent));
  REQUIRE(got.outputs.size() == 1);
  CHECK(got.outputs[0].pixels == sent.outputs[0].pixels);
  CHECK(got.memory == sent.memory);
  CHECK(got.none == "why");
}

TEST_CASE("right results become a proof, within the tolerance") {
  packs::Finish finish;
  CHECK(judge(outputs({1, 2, 3}), expected(outputs({1, 2, 3})), 0, &finish).ok());
  CHECK(finish.proof == "the reference");
  finish = {};
  CHECK(judge(outputs({1, 2, 4}), expected(outputs({1, 2, 3})), 1, &finish).ok());
  CHECK(finish.proof == "the reference");
}

TEST_CASE("wrong results fail, and both are named") {
  packs::Finish finish;
  const Results got = outputs({1, 2, 9});
  const Results right = outputs({1, 2, 3});
  const packs::Status status = judge(got, expected(right), 1, &finish);
  CHECK(name_of(got) != name_of(right));
  CHECK(name_of(got).size() == 16);
  CHECK(status.message == "its results are wrong: " + name_of(got) + " instead of " +
                              name_of(right) +
                              ", which the reference gives; 1 of 3 elements "
                              "differ, the worst by 6");
  CHECK(finish.proof.empty());
}

TEST_CASE("results of other sizes are wrong") {
  packs::Finish finish;
  CHECK_FALSE(judge(outputs({1, 2}), expected(outputs({1, 2, 3})), 255, &finish).ok());
  CHECK_FALSE(judge({{}, {5}, ""}, expected({{}, {5, 6}, ""}), 0, &finish).ok());
}

TEST_CASE("memory after recorded launches has to be equal") {
  packs::Finish finish;
  CHECK(judge({{}, {5, 6}, ""}, expected({{}, {5, 6}, ""}), 0, &finish).ok());
  CHECK(finish.proof == "the reference");
  const packs::Status status = judge({{}, {5, 7}, ""}, expected({{}, {5, 6}, ""}), 9, &finish);
  CHECK(status.message.find("the memory of 1 of 2 recorded launches differs") != std::string::npos);
}

TEST_CASE("where there is nothing to compare, the reason is kept") {
  packs::Finish finish;
  CHECK(judge(outputs({1}), expected({{}, {}, "it hangs"}), 0, &finish).ok());
  CHECK(finish.unproven == "it hangs");
  CHECK(finish.proof.empty());
  const Results blank{outputs({0}).outputs, {}, "it writes nothing"};
  CHECK(judge(outputs({0}), expected(blank), 0, &finish).ok());
  CHECK(finish.unproven == "it writes nothing");
  CHECK(finish.proof.empty());
  CHECK(judge({{}, {}, "no memory"}, expected(outputs({1})), 0, &finish).ok());
  CHECK(finish.unproven == "no memory");
}

TEST_CASE("a program's reference is taken, or else the program built from source") {
  const test::TemporaryFolder folder;
  const std::vector<packs::Program> programs = {program(""), program("variant:a"),
                                                program("file:right.raw:4x4"),
                                                program("library:none.so:f")};
  const auto find = [&] {
    return find_checks(programs, {}, (folder.path() / "m.toml").string(), "");
  };
  auto checks = find();
  CHECK(checks[0].identity == "source");
  CHECK_FALSE(checks[0].has_reference(programs[0], programs[0].variants[0]));
  CHECK_FALSE(checks[1].has_reference(programs[1], programs[1].variants[0]));
  CHECK(checks[1].has_reference(programs[1], programs[1].variants[1]));
  CHECK(checks[2].identity == "source");
  CHECK(checks[2].missing.find("right.raw is not in") != std::string::npos);
  CHECK(checks[3].missing.find("none.so is not in") != std::string::npos);

  folder.write("right.raw", "0123456789abcdef");
  checks = find();
  CHECK(checks[2].has_reference(programs[2], programs[2].variants[0]));
  CHECK(checks[2].size(programs[2]) == ProblemSize{4, 4, 1});
  const std::string before = checks[2].identity;
  folder.write("right.raw", "0123456789abcdeF");
  CHECK(find()[2].identity != before);

  const auto off = find_checks(programs, {true, ""}, "", "");
  CHECK(off[2].off);
  CHECK_FALSE(off[2].has_reference(programs[2], programs[2].variants[0]));
}
