// SPDX-License-Identifier: Apache-2.0
// The words that name a reference, and the planes that a program's variants share.
#include "builder/problem/program_shape.hpp"
#include "builder/problem/reference_spec.hpp"
#include "tests/support/catch.hpp"

using namespace kiln::builder;

TEST_CASE("A reference is a variant, a file for one size, or a function of a library") {
  const auto variant = parse_reference("variant:px16x1");
  REQUIRE(variant);
  CHECK(variant->kind == ReferenceSpec::Kind::variant);
  CHECK(variant->name == "px16x1");
  const auto file = parse_reference("file:golden/blur.bin:64x48");
  REQUIRE(file);
  CHECK(file->kind == ReferenceSpec::Kind::file);
  CHECK(file->name == "golden/blur.bin");
  CHECK(file->size == ProblemSize{64, 48, 1});
  CHECK(file->input.empty());
  const auto with_input = parse_reference("file:out.bin:64:in.bin");
  REQUIRE(with_input);
  CHECK(with_input->input == "in.bin");
  const auto library = parse_reference("library:libmine.so.1:blur_7");
  REQUIRE(library);
  CHECK(library->kind == ReferenceSpec::Kind::library);
  CHECK(library->name == "libmine.so.1");
  CHECK(library->function == "blur_7");
}

TEST_CASE("Whatever else is said of a reference is no reference") {
  for (const char *text :
       {"", "laplace", "variant:", "variant:a:b", "file:", "file:a.bin", "file:a.bin:0x3",
        "file:a.bin:64x48:", "file:a.bin:64x48:b.bin:c", "file::64x48", "library:libmine.so",
        "library:libmine.so:", "library:libmine.so:7up", "library:libmine.so:a-b", "Variant:a"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_reference(text));
  }
}

TEST_CASE("A reference chooses no file outside of its folder, and no folder for a library") {
  for (const char *text :
       {"file:/etc/passwd:64", "file:../a.bin:64", "file:a/../../b.bin:64", "file:a/:64",
        "file:a.bin:64:/in.bin", "file:a.bin:64:../in.bin", "library:./libmine.so:f",
        "library:/tmp/libmine.so:f", "library:../libmine.so:f"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_reference(text));
  }
}

TEST_CASE("A plane is what the plainest memory of its type is, by the first variant's names") {
  const PlaneShape packed{"", Type::uchar_, 4, "width/4 height"};
  const PlaneShape plain{"", Type::uchar_, 1, "width height"};
  const PlaneShape words{"", Type::uint_, 1, "width/4 height"};
  const ProgramShape shape = common_shape({{{packed}, {plain}}, {{plain}, {words}}});
  REQUIRE(shape.inputs.size() == 1);
  CHECK(shape.inputs[0].channels == 1);
  CHECK(shape.inputs[0].extent == "width height");
  REQUIRE(shape.outputs.size() == 1);
  CHECK(shape.outputs[0].type == Type::uchar_);
  CHECK(common_shape({}).inputs.empty());
}

TEST_CASE("Where no memory is the problem's width and height the smallest is the plane") {
  const PlaneShape packed{"", Type::uchar_, 4, "width/2 2*height"};
  const PlaneShape twice{"", Type::uchar_, 1, "2*width 2*height"};
  const PlaneShape wrong{"", Type::uchar_, 1, "width/2 height"};
  CHECK(common_shape({{{}, {packed}}, {{}, {twice}}}).outputs[0].extent == "2*width 2*height");
  const PlaneShape plain{"", Type::uchar_, 1, "width height"};
  CHECK(common_shape({{{}, {wrong}}, {{}, {plain}}}).outputs[0].extent == "width height");
}

TEST_CASE("Of several planes each is compared with that of its name") {
  const PlaneShape x{"x", Type::float_, 2, "width height"};
  const PlaneShape y{"y", Type::float_, 1, "width height"};
  PlaneShape small_x = x;
  small_x.channels = 1;
  const ProgramShape shape = common_shape({{{}, {x, y}}, {{}, {y, small_x}}});
  REQUIRE(shape.outputs.size() == 2);
  CHECK(shape.outputs[0].name == "x");
  CHECK(shape.outputs[0].channels == 1);
  CHECK(shape.outputs[1].name == "y");
}

TEST_CASE("A volume's plane has the rows of all its slices") {
  const PlaneShape volume{"", Type::ushort_, 1, "width height depth"};
  const Plane plane = blank_plane(volume, {5, 3, 2});
  CHECK(plane.width == 5);
  CHECK(plane.height == 6);
  CHECK(plane.pixels.size() == bytes_of(volume, {5, 3, 2}));
}
