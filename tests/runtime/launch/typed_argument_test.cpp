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

// The fake's kernel, whose second parameter is declared so.
packs::Contents contents_declaring(const packs::Parameter &parameter) {
  packs::Contents contents = fake_contents();
  packs::Kernel &kernel = contents.programs[0].variants[0].kernels[0];
  kernel.parameters.assign(kernel.arguments, {"to", "float4*", 0, packs::AddressSpace::global});
  kernel.parameters[1] = parameter;
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
  explicit Typed(const packs::Argument &argument) : Typed(contents_with(argument)) {}
  explicit Typed(const packs::Parameter &declared) : Typed(contents_declaring(declared)) {}
  explicit Typed(const packs::Contents &contents) : Ready(contents), cpp(kernel) {
    kernel = nullptr;
  }
  // Empty where it was taken.
  template <typename T>
  std::string set(const T &value) const {
    const Status status = cpp.set(1, value);
    CHECK(status.status == (status.ok() ? KILN_OK : KILN_ERROR_ARGUMENT));
    return status.message;
  }
  std::string set_bytes(const void *bytes, std::size_t size) const {
    const Status status = cpp.set_bytes(1, bytes, size);
    CHECK(status.status == (status.ok() ? KILN_OK : KILN_ERROR_ARGUMENT));
    return status.message;
  }
  std::string set_buffer() {
    (void)kiln_kernel_set_buffer(cpp.get(), 1, buffer, &error);
    return error.message;
  }
  std::string set_image() {
    (void)kiln_kernel_set_image(cpp.get(), 1, image, &error);
    return error.message;
  }
  // What the driver holds as the second argument.
  std::string bytes() const { return runtime_kernel().arguments[1].value.bytes; }
  const runtime::Kernel &runtime_kernel() const { return cpp.get()->kernel; }

  Kernel cpp;
};

// A handle that the fake never looks at.
int some_object;
const cl_sampler kSomeSampler = reinterpret_cast<cl_sampler>(&some_object);

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

TEST_CASE("an argument that the manifest lists as a sampler or an image takes that", "[argument]") {
  reset_fake();
  packs::Argument listed;
  listed.role = packs::Role::sampler;
  Typed of_sampler(listed);
  CHECK(of_sampler.set(kSomeSampler).empty());
  CHECK(of_sampler.set(1u) == "argument 1 takes a sampler, not uint");
  CHECK(of_sampler.set_buffer() == "argument 1 takes a sampler, not a buffer");
  listed.role = packs::Role::scratch;
  listed.storage = packs::ArgumentStorage::image3d;
  CHECK(Typed(listed).set_buffer() == "argument 1 takes an image, not a buffer");
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
  CHECK(of_float.set(kSomeSampler) == "argument 1 takes float, not a sampler");
  fake().svm = CL_DEVICE_SVM_COARSE_GRAIN_BUFFER;
  CHECK(of_float.set(svm(&half)) == "argument 1 takes float, not an SVM pointer");
  CHECK(of_float.cpp.set(0, svm(&half)).ok());  // the manifest says: a buffer
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

TEST_CASE("an argument is what the kernel's source declares", "[argument]") {
  reset_fake();
  const float four[4] = {};
  Typed of_uint(packs::Parameter{"width", "uint", 4});
  CHECK(of_uint.set(7u).empty());
  CHECK(of_uint.set(0.5f) == "kernel k: argument 1, uint width, cannot take float");
  CHECK(of_uint.set(7) == "kernel k: argument 1, uint width, cannot take int");
  CHECK(of_uint.set(local(4)) == "kernel k: argument 1, uint width, cannot take local memory");
  CHECK(of_uint.set_bytes(four, 4).empty());
  CHECK(of_uint.set_bytes(four, 8) ==
        "kernel k: argument 1, uint width, cannot take 8 bytes: it has 4");
  CHECK(of_uint.set_buffer() == "kernel k: argument 1, uint width, cannot take a buffer");
  CHECK(of_uint.set_image() == "kernel k: argument 1, uint width, cannot take an image");
  const Typed of_vector(packs::Parameter{"color", "float4", 16});
  CHECK(of_vector.set(std::array<float, 4>{}).empty());
  CHECK(of_vector.set(0.5f) == "kernel k: argument 1, float4 color, cannot take float");
  CHECK(of_vector.set_bytes(four, 4) ==
        "kernel k: argument 1, float4 color, cannot take 4 bytes: it has 16");
}

TEST_CASE("memory is what the kernel's source declares", "[argument]") {
  reset_fake();
  using packs::AddressSpace;
  const char bytes[8] = {};
  Typed of_local(packs::Parameter{"own", "uint*", 0, AddressSpace::local});
  CHECK(of_local.set(local(64)).empty());
  CHECK(of_local.set_buffer() == "kernel k: argument 1, local uint* own, cannot take a buffer");
  CHECK(of_local.set_bytes(bytes, 8) ==
        "kernel k: argument 1, local uint* own, cannot take 8 bytes of a value");
  Typed of_buffer(packs::Parameter{"from", "float*", 0, AddressSpace::global,
                                   packs::ImageAccess::none, packs::kConst});
  CHECK(of_buffer.set_buffer().empty());
  CHECK(of_buffer.set_image() ==
        "kernel k: argument 1, global const float* from, cannot take an image");
  CHECK(of_buffer.set(local(64)) ==
        "kernel k: argument 1, global const float* from, cannot take local memory");
  CHECK(of_buffer.set_bytes(bytes, 2) ==
        "kernel k: argument 1, global const float* from, cannot take 2 bytes: it is a handle of " +
            std::to_string(sizeof(cl_mem)));
  Typed of_image(
      packs::Parameter{"in", "image2d_t", 0, AddressSpace::global, packs::ImageAccess::read_only});
  CHECK(of_image.set_image().empty());
  CHECK(of_image.set_buffer() ==
        "kernel k: argument 1, read_only image2d_t in, cannot take a buffer");
}

TEST_CASE("an image is of the kind that the kernel's source declares", "[argument]") {
  reset_fake();
  const auto declared = [](const char *type) {
    return Typed(packs::Parameter{"in", type, 0, packs::AddressSpace::global,
                                  packs::ImageAccess::read_only})
        .set_image();
  };
  CHECK(declared("image2d_t").empty());
  CHECK(declared("my_image").empty());
  CHECK(declared("").empty());
  for (const std::string type :
       {"image1d_t", "image1d_buffer_t", "image1d_array_t", "image2d_array_t", "image2d_depth_t",
        "image2d_msaa_t", "image3d_t"}) {
    CHECK(declared(type.c_str()) ==
          "kernel k: argument 1, read_only " + type + " in, cannot take an image2d_t");
  }
}

TEST_CASE("a pointer to shared virtual memory is passed where a buffer is", "[argument]") {
  reset_fake();
  using packs::AddressSpace;
  const float value = 0;
  Typed of_global(packs::Parameter{"to", "float*", 0, AddressSpace::global});
  const Status status = of_global.cpp.set(1, svm(&value));
  CHECK(status.status == KILN_ERROR_REQUIREMENT);
  CHECK(std::string(status.message) ==
        "argument 1: the device has no shared virtual memory (clSetKernelArgSVMPointer)");
  fake().svm = CL_DEVICE_SVM_COARSE_GRAIN_BUFFER;
  CHECK(of_global.set(svm(&value)).empty());
  CHECK(of_global.runtime_kernel().arguments[1].value.svm == &value);
  CHECK(of_global.set_buffer().empty());
  CHECK(of_global.runtime_kernel().arguments[1].value.svm == nullptr);
  Typed of_constant(packs::Parameter{"of", "float*", 0, AddressSpace::constant});
  CHECK(of_constant.set(svm(&value)).empty());
  const Typed of_local(packs::Parameter{"own", "float*", 0, AddressSpace::local});
  CHECK(of_local.set(svm(&value)) ==
        "kernel k: argument 1, local float* own, cannot take an SVM pointer");
  const Typed of_long(packs::Parameter{"x", "ulong", 8});
  CHECK(of_long.set(svm(&value)) == "kernel k: argument 1, ulong x, cannot take an SVM pointer");
  const Typed of_image(
      packs::Parameter{"in", "image2d_t", 0, AddressSpace::global, packs::ImageAccess::read_only});
  CHECK(of_image.set(svm(&value)) ==
        "kernel k: argument 1, read_only image2d_t in, cannot take an SVM pointer");
  fake().argument_code = CL_INVALID_ARG_VALUE;
  CHECK(std::string(of_constant.cpp.set(1, svm(&value)).message) ==
        "argument 1: clSetKernelArgSVMPointer returned CL_INVALID_ARG_VALUE (-50)");
}

TEST_CASE("samplers, pipes, structs and typedefs are told by their size", "[argument]") {
  reset_fake();
  const char bytes[24] = {};
  Typed of_sampler(packs::Parameter{"s", "sampler_t"});
  CHECK(of_sampler.set_bytes(bytes, sizeof(cl_sampler)).empty());
  CHECK(of_sampler.set(kSomeSampler).empty());
  CHECK(of_sampler.bytes() == bytes_of_value(kSomeSampler));
  CHECK(of_sampler.set_image() == "kernel k: argument 1, sampler_t s, cannot take an image");
  CHECK(of_sampler.set(1u) == "kernel k: argument 1, sampler_t s, cannot take uint");
  Typed of_pipe(packs::Parameter{"p", "int", 0, packs::AddressSpace::private_,
                                 packs::ImageAccess::none, packs::kPipe});
  CHECK(of_pipe.set(1) == "kernel k: argument 1, pipe int p: Kiln passes no pipes");
  CHECK(of_pipe.set_bytes(bytes, 8) == "kernel k: argument 1, pipe int p: Kiln passes no pipes");
  CHECK(of_pipe.set_buffer() == "kernel k: argument 1, pipe int p: Kiln passes no pipes");
  const Typed of_struct(packs::Parameter{"sizes", "struct sizes", 24});
  CHECK(of_struct.set_bytes(bytes, 24).empty());
  CHECK(of_struct.set_bytes(bytes, 20) ==
        "kernel k: argument 1, struct sizes sizes, cannot take 20 bytes: it has 24");
  const Typed of_typedef(packs::Parameter{"x", "real", 4});
  CHECK(of_typedef.set(0.5f).empty());
  CHECK(of_typedef.set(0.5) == "kernel k: argument 1, real x, cannot take double");
  CHECK(of_typedef.set(kSomeSampler) == "kernel k: argument 1, real x, cannot take a sampler");
  CHECK(Typed(packs::Parameter{"s", "my_sampler"}).set(kSomeSampler).empty());
  const Typed of_unknown(packs::Parameter{});
  CHECK(of_unknown.set(0.5).empty());
  CHECK(of_unknown.set(local(4)) == "kernel k: argument 1, value, cannot take local memory");
}

TEST_CASE("a side of the problem may be int or uint, whatever the source declares", "[argument]") {
  reset_fake();
  packs::Contents contents = contents_declaring(packs::Parameter{"width", "uint", 4});
  packs::Argument width;
  width.role = packs::Role::width;
  contents.programs[0].variants[0].arguments =
      contents_with(width).programs[0].variants[0].arguments;
  const Typed of_width(contents);
  CHECK(of_width.set(5).empty());
  CHECK(of_width.set(5u).empty());
  CHECK(of_width.set(5.0f) == "kernel k: argument 1, uint width, cannot take float");
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
