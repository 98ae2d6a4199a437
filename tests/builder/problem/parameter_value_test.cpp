// SPDX-License-Identifier: Apache-2.0
// The layout and the limits of parameters' values.
#include "builder/problem/parameter_value.hpp"

#include <cstring>

#include "tests/support/catch.hpp"

using namespace kiln::builder;
namespace packs = kiln::packs;

namespace {

std::vector<ParameterField> fields(const std::string &text) {
  packs::Argument parameter;
  parameter.fields = text;
  return fields_of(parameter);
}

template <typename T>
T at(const std::vector<std::uint8_t> &bytes, std::size_t offset) {
  T value;
  REQUIRE(offset + sizeof(T) <= bytes.size());
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

}  // namespace

TEST_CASE("A struct lies as the C compiler lays it out") {
  struct Cut {
    std::int8_t first;
    std::int64_t second;
    std::uint16_t third;
    float fourth;
    double fifth;
    std::uint8_t sixth;
  };
  const auto bytes =
      value_bytes(fields("char long ushort float double uchar"), {-1, -2, 3, 0.5, -0.25, 200});
  REQUIRE(bytes.size() == sizeof(Cut));
  const Cut cut = at<Cut>(bytes, 0);
  CHECK(cut.first == -1);
  CHECK(cut.second == -2);
  CHECK(cut.third == 3);
  CHECK(cut.fourth == 0.5f);
  CHECK(cut.fifth == -0.25);
  CHECK(cut.sixth == 200);
}

TEST_CASE("A vector of 3 takes as many bytes as one of 4, alone and in a struct") {
  const auto bytes = value_bytes(fields("short float3 half2"), {1, 2, 3, 4, 1, -2});
  CHECK(bytes.size() == 48);
  CHECK(at<float>(bytes, 16) == 2);
  CHECK(at<float>(bytes, 24) == 4);
  CHECK(at<std::uint16_t>(bytes, 32) == 0x3c00);
  CHECK(at<std::uint16_t>(bytes, 34) == 0xc000);
  packs::Argument vector;
  vector.type = Type::int_;
  vector.values = {1, -2, 3};
  CHECK(value_bytes(fields_of(vector), vector.values).size() == 16);
}

TEST_CASE("Values beyond a field's type are named") {
  const auto mixed = fields("uchar float");
  CHECK(check_values(mixed, {255, 1.5}).ok());
  CHECK(check_values(mixed, {256, 1.5}).message == "is a whole number from 0 to 255, not 256");
  CHECK(check_values(mixed, {1, 1e39}).message ==
        "is a number from -3.40282e+38 to 3.40282e+38, not 1e+39");
  CHECK(check_values(mixed, {1}).message == "has 2 components, not 1");
  CHECK(check_values(fields("ulong"), {9007199254740992.0}).ok());
  CHECK_FALSE(check_values(fields("ulong"), {9007199254740994.0}).ok());
  CHECK_FALSE(check_values(fields("half"), {65505}).ok());
}
