// SPDX-License-Identifier: Apache-2.0
// Arguments whose type the pack knows, set with their own type and with others.
#include <array>
#include <cstring>
#include <utility>

#include "kiln/launch.hpp"
#include "tests/runtime/fake/launch_ready.hpp"

using namespace kiln;
using namespace kiln::test;

namespace {

// The fake's kernel, whose second argument is that one.
packs::Contents contents_with(const packs::Argument &argument) {
  packs::Contents contents = fake_contents();
  packs::Argument first;
  first.role = packs::Role::input;
  contents.programs[0].variants[0].arguments = {first, argument};
  return contents;
}

packs::Argument parameter(kiln_type type, std::uint8_t components = 1) {
  packs::Argument argument;
  argument.role = packs::Role::parameter;
  argument.type = static_cast<packs::ElementType>(type);
  argument.channels = components;
  argument.name = "x";
  return argument;
}

struct Typed : Ready {
  explicit Typed(const packs::Argument &argument) : Ready(contents_with(argument)), cpp(kernel) {
    kernel = nullptr;
  }
  // Empty where it was taken.
  template <typename T>
  std::string set(const T &value) const {
    const Status status = cpp.set(1, value);
    CHECK(status.status == (status.ok() ? KILN_OK : KILN_ERROR_ARGUMENT));
    return status.message;
  }
  // What the driver holds as the second argument.
  std::string bytes() const { return runtime_kernel().arguments[1].value.bytes; }
  const runtime::Kernel &runtime_kernel() const { return cpp.get()->kernel; }

  Kernel cpp;
};

template <typename T>
std::string bytes_of_value(const T &value) {
  return {reinterpret_cast<const char *>(&value), sizeof(value)};
}

}  // namespace

TEST_CASE("a value of the type that the pack knows is set", "[argument]") {
  reset_fake();
  const Typed of_float(parameter(KILN_TYPE_FLOAT));
  CHECK(of_float.set(0.5f).empty());
  CHECK(of_float.bytes() == bytes_of_value(0.5f));
  const Typed of_int(parameter(KILN_TYPE_INT));
  CHECK(of_int.set(-1).empty());
  CHECK(of_int.bytes() == bytes_of_value(-1));
  const Typed of_uint(parameter(KILN_TYPE_UINT));
  CHECK(of_uint.set(1u).empty());
  const Typed of_default(parameter(KILN_TYPE_UCHAR));  // which stands for uint
  CHECK(of_default.set(1u).empty());
}

TEST_CASE("local memory is set where the pack does not know better", "[argument]") {
  reset_fake();
  packs::Argument scratch;
  scratch.role = packs::Role::scratch;
  const Typed of_buffer(scratch);
  CHECK(of_buffer.set(local(64)) == "argument 1 takes a buffer, not local memory");
  CHECK(of_buffer.set(local(0)).find("kiln_kernel_set_local") == 0);
  scratch.storage = packs::ArgumentStorage::local;
  const Typed of_local(scratch);
  CHECK(of_local.set(local(64)).empty());
  CHECK(of_local.runtime_kernel().arguments[1].value.local == 64);
  CHECK(of_local.set(1u) == "argument 1 takes local memory, not uint");
  const Typed of_uint(parameter(KILN_TYPE_UINT));
  CHECK(of_uint.set(local(64)) == "argument 1 takes uint, not local memory");
}

TEST_CASE("local memory that the device does not have is refused", "[argument]") {
  reset_fake();
  fake().local_memory = 64;
  Ready r;
  const Kernel kernel(std::exchange(r.kernel, nullptr));
  CHECK(kernel.set(1, local(65)).message ==
        std::string("argument 1: 65 bytes of local memory, the device has 64"));
  CHECK(kernel.set(0, local(40)).ok());
  CHECK(kernel.set(1, local(25)).message ==
        std::string("argument 1: 25 bytes of local memory after 40, the device has 64"));
  CHECK(kernel.set(1, local(24)).ok());
  CHECK(kernel.set(0, local(40)).ok());
}

TEST_CASE("a value of another type is refused, and nothing is converted", "[argument]") {
  reset_fake();
  const Typed of_uint(parameter(KILN_TYPE_UINT));
  CHECK(of_uint.set(7u).empty());
  CHECK(of_uint.set(0.5f) == "argument 1 takes uint, not float");
  CHECK(of_uint.set(0.5) == "argument 1 takes uint, not double");
  CHECK(of_uint.set(1) == "argument 1 takes uint, not int");
  CHECK(of_uint.set(std::uint64_t{1}) == "argument 1 takes uint, not ulong");
  CHECK(of_uint.set(std::int64_t{1}) == "argument 1 takes uint, not long");
  CHECK(of_uint.set(std::uint16_t{1}) == "argument 1 takes uint, not ushort");
  CHECK(of_uint.set(std::int16_t{1}) == "argument 1 takes uint, not short");
  CHECK(of_uint.set(std::uint8_t{1}) == "argument 1 takes uint, not uchar");
  CHECK(of_uint.set(static_cast<signed char>(1)) == "argument 1 takes uint, not char");
  CHECK(of_uint.set(std::array<cl_uint, 2>{1, 2}) == "argument 1 takes uint, not uint2");
  CHECK(of_uint.bytes() == bytes_of_value(7u));
  const cl_half half = 0;
  CHECK(std::string(of_uint.cpp.set_typed(1, KILN_TYPE_HALF, 1, &half).message) ==
        "argument 1 takes uint, not half");
  const Typed of_float(parameter(KILN_TYPE_FLOAT));
  CHECK(of_float.set(1) == "argument 1 takes float, not int");
}

TEST_CASE("a vector has the components that the pack knows", "[argument]") {
  reset_fake();
  const Typed of_three(parameter(KILN_TYPE_FLOAT, 3));
  CHECK(of_three.set(std::array<float, 3>{1, 2, 3}).empty());
  CHECK(of_three.bytes() == bytes_of_value(std::array<float, 4>{1, 2, 3, 0}));  // as OpenCL has it
  CHECK(of_three.set(1.0f) == "argument 1 takes float3, not float");
  CHECK(of_three.set(std::array<float, 4>{}) == "argument 1 takes float3, not float4");
  const Typed of_sixteen(parameter(KILN_TYPE_INT, 16));
  CHECK(of_sixteen.set(std::array<int, 16>{1}).empty());
  CHECK(of_sixteen.bytes() == bytes_of_value(std::array<int, 16>{1}));
  CHECK(of_sixteen.set(std::array<double, 16>{}) == "argument 1 takes int16, not double16");
}

TEST_CASE("a side of the problem is int or uint", "[argument]") {
  reset_fake();
  packs::Argument width;
  width.role = packs::Role::width;
  const Typed of_width(width);
  CHECK(of_width.set(5).empty());
  CHECK(of_width.set(5u).empty());
  CHECK(of_width.set(5.0f) == "argument 1 takes int or uint, not float");
  CHECK(of_width.set(std::array<int, 2>{}) == "argument 1 takes int or uint, not int2");
}

TEST_CASE("memory is told from values, and buffers from images", "[argument]") {
  reset_fake();
  packs::Argument image;
  image.role = packs::Role::input;
  image.storage = packs::ArgumentStorage::image;
  const Typed of_image(image);
  CHECK(of_image.set(1) == "argument 1 takes an image, not int");
  kiln_error error{};
  CHECK(kiln_kernel_set_image(of_image.cpp.get(), 1, of_image.image, &error) == KILN_OK);
  CHECK(kiln_kernel_set_buffer(of_image.cpp.get(), 1, of_image.buffer, &error) ==
        KILN_ERROR_ARGUMENT);
  CHECK(std::string(error.message) == "argument 1 takes an image, not a buffer");
  CHECK(kiln_kernel_set_image(of_image.cpp.get(), 0, of_image.image, &error) ==
        KILN_ERROR_ARGUMENT);
  CHECK(std::string(error.message) == "argument 0 takes a buffer, not an image");
  const Typed of_float(parameter(KILN_TYPE_FLOAT));
  CHECK(kiln_kernel_set_buffer(of_float.cpp.get(), 1, of_float.buffer, &error) ==
        KILN_ERROR_ARGUMENT);
  CHECK(std::string(error.message) == "argument 1 takes float, not a buffer");
}

TEST_CASE("arguments of another stage and unknown ones are the driver's to check", "[argument]") {
  reset_fake();
  Ready r;  // a pack that describes no arguments
  const Kernel kernel(r.kernel);
  r.kernel = nullptr;
  CHECK(kernel.set(1, 0.5f).ok());
  CHECK(kernel.set(1, 3).ok());
  CHECK(kernel.get()->kernel.arguments[1].value.bytes == bytes_of_value(3));
  const float pair[2] = {1, 2};
  CHECK(kernel.set_bytes(1, pair, sizeof(pair)).ok());
  CHECK(kernel.get()->kernel.arguments[1].value.bytes == bytes_of_value(pair));
}
