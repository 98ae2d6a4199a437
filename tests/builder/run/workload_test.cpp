// SPDX-License-Identifier: Apache-2.0
#include "builder/run/workload.hpp"

#include "builder/problem/plane.hpp"
#include "builder/run/argument_objects.hpp"

#include "tests/support/catch.hpp"

using namespace kiln;
using namespace kiln::builder;

namespace {

packs::Argument argument(Role role, std::uint8_t stage = 0) {
  packs::Argument a;
  a.role = role;
  a.stage = stage;
  return a;
}

packs::Argument named(packs::Argument a, const char *name, const char *extent = "") {
  a.name = name;
  a.extent = extent;
  return a;
}

// Two kernels that share scratch memory, as a blur in two passes has them.
packs::Program two_stages() {
  packs::Variant variant;
  variant.name = "two_pass";
  variant.kernels = {{"first", 3, "width+6 height"}, {"second", 3, ""}};
  variant.pixels = {4, 1, 1};
  variant.arguments = {
      argument(Role::input),     named(argument(Role::scratch), "sums", "width+6 height"),
      argument(Role::width),     named(argument(Role::scratch, 1), "sums", "width+6 height"),
      argument(Role::output, 1), argument(Role::height, 1)};
  packs::Program program;
  program.name = "blur";
  program.variants = {variant};
  return program;
}

Workload planned(const packs::Program &program, const ProblemSize &size) {
  auto plan = plan_workload(program, program.variants[0], size, {});
  INFO(plan.status().message);
  REQUIRE(plan.ok());
  return *std::move(plan);
}

std::string refusal(const packs::Program &program, const ProblemSize &size) {
  const auto plan = plan_workload(program, program.variants[0], size, {});
  REQUIRE_FALSE(plan.ok());
  return plan.status().message;
}

}  // namespace

TEST_CASE("Stages share the memory that has one role and name") {
  const Workload workload = planned(two_stages(), {10, 4, 1});
  REQUIRE(workload.memories.size() == 3);
  CHECK(workload.memories[1].role == Role::scratch);
  CHECK(workload.memories[1].bytes() == 64);
  REQUIRE(workload.stages.size() == 2);
  CHECK(workload.stages[0].bindings[1].memory == 1);
  CHECK(workload.stages[1].bindings[0].memory == 1);
  CHECK(workload.stages[0].global == std::array<std::size_t, 3>{16, 4, 1});
  CHECK(workload.stages[1].global == std::array<std::size_t, 3>{10, 4, 1});
}

TEST_CASE("The NDRange is the size divided by the pixels of a work-item, rounded up") {
  packs::Program program = two_stages();
  program.variants[0].kernels[0].range.clear();
  CHECK(planned(program, {9, 4, 1}).stages[0].global == std::array<std::size_t, 3>{3, 4, 1});
}

TEST_CASE("Parameters are passed as the type that the manifest gives them") {
  packs::Program program = two_stages();
  packs::Argument number = named(argument(Role::parameter, 1), "n");
  number.value = 7;
  packs::Argument curve = named(argument(Role::parameter, 1), "curve");
  curve.type = Type::float_;
  curve.values = {1.5, -2};
  program.variants[0].kernels[1].arguments = 5;
  program.variants[0].arguments.push_back(number);
  program.variants[0].arguments.push_back(curve);
  const auto bindings = planned(program, {9, 4, 1}).stages[1].bindings;
  CHECK(bindings[3].bytes == std::vector<std::uint8_t>{7, 0, 0, 0});
  CHECK(bindings[4].bytes == std::vector<std::uint8_t>{0, 0, 0xc0, 0x3f, 0, 0, 0, 0xc0});
  CHECK(check_parameter(program.variants[0], "n", {7}).ok());
  CHECK(check_parameter(program.variants[0], "n", {-1}).message ==
        "parameter n is a whole number from 0 to 4294967295, not -1");
  CHECK(check_parameter(program.variants[0], "curve", {1}).message ==
        "parameter curve has 2 components, not 1");
}

TEST_CASE("A pack whose values are not of the parameter's type is refused") {
  packs::Program program = two_stages();
  packs::Argument cut = named(argument(Role::parameter, 1), "cut");
  program.variants[0].kernels[1].arguments = 4;
  program.variants[0].arguments.push_back(cut);
  const auto planning = [&](const std::string &fields, std::vector<double> values) {
    packs::Argument &last = program.variants[0].arguments.back();
    last.fields = fields;
    last.values = std::move(values);
    return plan_workload(program, program.variants[0], {9, 4, 1}, {}).status();
  };
  CHECK(planning("int float4", {1, 2, 3, 4, 5}).ok());
  const Status few = planning("int float4", {1});
  CHECK(few.code == Code::bad_input);
  CHECK(few.message.ends_with("parameter cut has 5 components, not 1"));
  CHECK(planning("int", {1e300}).message.ends_with(", not 1e+300"));
}

TEST_CASE("A pack whose image has pixels that no image has is refused") {
  packs::Program program = two_stages();
  packs::Argument image = named(argument(Role::scratch, 1), "image");
  image.storage = Storage::image;
  program.variants[0].kernels[1].arguments = 4;
  program.variants[0].arguments.push_back(image);
  const auto planning = [&](Type type, std::uint8_t channels) {
    packs::Argument &last = program.variants[0].arguments.back();
    last.type = type;
    last.channels = channels;
    return plan_workload(program, program.variants[0], {9, 4, 1}, {}).status().code;
  };
  CHECK(planning(Type::int_, 4) == Code::ok);
  CHECK(planning(Type::double_, 1) == Code::bad_input);
  CHECK(planning(Type::uchar_, 200) == Code::bad_input);
}

TEST_CASE("Local memory has its extent, and is no memory of the device") {
  packs::Program program = two_stages();
  packs::Argument bins = named(argument(Role::scratch, 1), "bins", "2*width");
  bins.storage = Storage::local;
  bins.type = Type::uint_;
  program.variants[0].kernels[1].arguments = 4;
  program.variants[0].arguments.push_back(bins);
  const auto workload = planned(program, {9, 4, 1});
  CHECK(workload.memories.size() == planned(two_stages(), {9, 4, 1}).memories.size());
  CHECK(workload.stages[1].bindings[3].local == 2 * 9 * 4);
  CHECK(workload.stages[1].bindings[3].memory == SIZE_MAX);
}

TEST_CASE("Images have layers or slices, and a sampler is its own argument") {
  packs::Program program = two_stages();
  packs::Argument volume = named(argument(Role::scratch, 1), "volume", "2*width height depth");
  volume.storage = Storage::image3d;
  packs::Argument lines = named(argument(Role::scratch, 1), "lines", "width height");
  lines.storage = Storage::image1d_array;
  packs::Argument sampler;
  sampler.role = Role::sampler;
  sampler.value = packs::ArgumentSampler{3, 1, true}.value();
  program.variants[0].kernels[1].arguments = 6;
  for (packs::Argument *a : {&volume, &lines, &sampler}) {
    a->stage = 1;
    program.variants[0].arguments.push_back(*a);
  }
  const auto workload = planned(program, {9, 4, 5});
  const auto &bindings = workload.stages[1].bindings;
  const Memory &three = workload.memories[bindings[3].memory];
  CHECK(three.columns == 18);
  CHECK(three.rows == 20);
  CHECK(three.slices == 5);
  const cl_image_desc desc = image_desc(three);
  CHECK(desc.image_type == CL_MEM_OBJECT_IMAGE3D);
  CHECK(desc.image_height == 4);
  CHECK(desc.image_depth == 5);
  CHECK(workload.memories[bindings[4].memory].slices == 4);
  CHECK(bindings[5].sampler->addressing == 3);
  CHECK(bindings[5].sampler->filter == 1);
  CHECK(bindings[5].sampler->normalized);
}

TEST_CASE("A variant without arguments is one that Kiln does not launch") {
  packs::Program program = two_stages();
  program.variants[0].arguments.clear();
  CHECK(refusal(program, {9, 4, 1}) ==
        "cannot launch variant two_pass: neither the manifest nor a recorded launch has its "
        "arguments");
}

TEST_CASE("A pack whose arguments do not fit its kernels is refused") {
  packs::Program program = two_stages();
  program.variants[0].arguments.pop_back();
  CHECK(refusal(program, {9, 4, 1}) ==
        "blur/two_pass: kernel second takes 3 arguments, the pack lists 2");
  program = two_stages();
  program.variants[0].arguments[1].extent = "wide";
  CHECK(refusal(program, {9, 4, 1}).find("blur/two_pass: extent \"wide\": expected") == 0);
}

TEST_CASE("Memory beyond all devices is refused before it is asked for") {
  packs::Program program = two_stages();
  CHECK(refusal(program, {1u << 31, 1u << 31, 1}) ==
        "blur/two_pass: size 2147483648x2147483648 needs memory of more than 64 GiB");
}

TEST_CASE("Bytes moved are those of the planes, each once") {
  packs::Program program = two_stages();
  CHECK(bytes_moved(program, {10, 4, 1}) == 80);
  program.variants[0].arguments.push_back(named(argument(Role::output, 1), "more"));
  CHECK(bytes_moved(program, {10, 4, 1}) == 120);
}

TEST_CASE("Texels that pack pixels hold the whole of the last one") {
  packs::Program program = two_stages();
  packs::Variant plain = program.variants[0];
  plain.name = "plain";
  plain.arguments = {argument(Role::input), argument(Role::output)};
  program.variants.push_back(plain);
  packs::Variant &variant = program.variants[0];
  variant.kernels = {{"k", 2, ""}};
  variant.arguments = {named(argument(Role::input), "", "width/4 height"),
                       named(argument(Role::output), "", "width/4 height")};
  for (packs::Argument &a : variant.arguments) {
    a.storage = Storage::image;
    a.channels = 4;
  }
  const Memory memory = planned(program, {9, 2, 1}).memories[0];
  CHECK(memory.columns == 3);
  CHECK(memory.shape.channels == 1);
  for (packs::Argument &a : variant.arguments) a.extent = "width/5 height";
  CHECK(refusal(program, {9, 2, 1}).find("smaller than the program's plane") != std::string::npos);
}

TEST_CASE("Made inputs are the same every time, and of all levels") {
  const PlaneShape shape;
  const Plane plane = make_input(shape, {640, 480, 1}, 1);
  CHECK(plane.pixels == make_input(shape, {640, 480, 1}, 1).pixels);
  CHECK(plane.pixels != make_input(shape, {640, 480, 1}, 2).pixels);
  std::array<bool, 256> seen{};
  for (const std::uint8_t level : plane.pixels) seen[level] = true;
  CHECK(std::count(seen.begin(), seen.end(), true) > 200);
}

TEST_CASE("A difference is counted in elements, and measured against what is allowed") {
  Plane a{2, 1, 1, "", {10, 20}};
  Plane b{2, 1, 1, "", {10, 22}};
  CHECK(difference(a, a, 0).within);
  const Difference d = difference(a, b, 1);
  CHECK(d.elements == 1);
  CHECK(d.worst == 2);
  CHECK(d.first == 1);
  CHECK_FALSE(d.within);
  CHECK(difference(a, b, 2).within);
  Plane x{1, 1, 1, "", std::vector<std::uint8_t>(4), Type::float_};
  Plane y = x;
  x.as<float>()[0] = 1000.0f;
  y.as<float>()[0] = 1001.0f;
  CHECK(difference(x, y, 0.001).within);
  CHECK_FALSE(difference(x, y, 0.0001).within);
  x.as<float>()[0] = std::numeric_limits<float>::quiet_NaN();
  CHECK_FALSE(difference(x, y, 1e30).within);
  // Halves count by their numbers: -0 is 0, and the neighbours of 0 are as near.
  Plane h{3, 1, 1, "", std::vector<std::uint8_t>(6), Type::half_};
  Plane g = h;
  h.as<std::uint16_t>()[0] = 0x8000;  // -0
  h.as<std::uint16_t>()[1] = 0x8001;
  h.as<std::uint16_t>()[2] = 0x3c01;  // 1 + 1/1024
  g.as<std::uint16_t>()[2] = 0x3c00;
  CHECK(difference(h, g, 0.001).within);
  CHECK(difference(h, g, 0.001).elements == 2);
  CHECK(difference(h, g, 0.0009).first == 2);
}

TEST_CASE("Made halves are numbers from -1 to 1") {
  const PlaneShape shape{"", Type::half_};
  Plane plane = make_input(shape, {64, 64, 1}, 1);
  float least = 0, most = 0;
  for (std::size_t i = 0; i < 64 * 64; ++i) {
    const float value = float_of_half(plane.as<std::uint16_t>()[i]);
    REQUIRE(std::abs(value) <= 1);
    least = std::min(least, value);
    most = std::max(most, value);
  }
  CHECK(least < -0.9f);
  CHECK(most > 0.9f);
}

TEST_CASE("Memory whose rows are more than a number holds is refused, and not divided by") {
  packs::Program program = two_stages();
  for (packs::Argument &a : program.variants[0].arguments) {
    if (a.role == Role::scratch) a.extent = "width 65536*height 65536*height";
  }
  CHECK(refusal(program, {4, 65536, 1}) ==
        "blur/two_pass: size 4x65536 needs memory of more than 64 GiB");
  CHECK(bytes_moved(two_stages(), {1u << 31, 1u << 31, 1}) == std::uint64_t{2} << 62);
  packs::Program large = two_stages();
  for (packs::Argument &a : large.variants[0].arguments) a.channels = 4;
  CHECK(bytes_moved(large, {1u << 31, 1u << 31, 1u << 31}) == ~std::uint64_t{0});
}
