// SPDX-License-Identifier: Apache-2.0
// The faults of single values in a manifest.
#include "builder/base/names.hpp"
#include "builder/problem/program_shape.hpp"
#include "runtime/identity/requirements.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/manifest_project.hpp"

using kiln::test::Project;
using namespace kiln::builder;

TEST_CASE("Names are letters, digits, '_', '-' and '.'") {
  const std::string rule =
      "expected letters, digits and '_', with '-' and '.' allowed after the first character\n";
  CHECK(Project().error("schema = 1\n[program.\"a b\"]\n") ==
        "m.toml:2:10: error: bad program name \"a b\"\n"
        "[program.\"a b\"]\n"
        "         ^\n" +
            rule);
  CHECK(Project().error("schema = 1\n[program.p.variant.-v]\n") ==
        "m.toml:2:20: error: bad variant name \"-v\"\n"
        "[program.p.variant.-v]\n"
        "                   ^\n" +
            rule);
  CHECK(Project().error("schema = 1\n[program.\"a\\nb\"]\n") ==
        "m.toml:2:10: error: bad program name \"a\\x0ab\"\n"
        "[program.\"a\\nb\"]\n"
        "         ^\n" +
            rule);
  CHECK(Project().variant_error("kernel = \"1k\"") ==
        "m.toml:3:10: error: bad kernel \"1k\" in [program.p.variant.v]\n"
        "kernel = \"1k\"\n"
        "         ^\n"
        "expected an OpenCL C identifier\n");
}

TEST_CASE("Sources and include folders must be there, below a relative path") {
  CHECK(Project().program_error("source = \"src/c.cl\"") ==
        "m.toml:3:10: error: source \"src/c.cl\" in [program.p] is not a file\n"
        "source = \"src/c.cl\"\n"
        "         ^\n"
        "expected a file at src/c.cl\n");
  CHECK(Project().program_error("source = \"inc/../src\"") ==
        "m.toml:3:10: error: source \"inc/../src\" in [program.p] is not a file\n"
        "source = \"inc/../src\"\n"
        "         ^\n"
        "expected a file at src\n");
  CHECK(Project().program_error("include_dirs = [\"inc\", \"src/a.cl\"]") ==
        "m.toml:3:24: error: \"src/a.cl\" in [program.p] is not a folder\n"
        "include_dirs = [\"inc\", \"src/a.cl\"]\n"
        "                       ^\n"
        "expected a folder at src/a.cl\n");
  CHECK(Project().program_error("source = \"/src/a.cl\"") ==
        "m.toml:3:10: error: path \"/src/a.cl\" in [program.p] is absolute\n"
        "source = \"/src/a.cl\"\n"
        "         ^\n"
        "expected a path relative to the manifest's folder, or NAME:PATH in one of [roots]\n");
  CHECK(Project().program_error("source = \"\"") ==
        "m.toml:3:10: error: path \"\" in [program.p] is empty\n"
        "source = \"\"\n"
        "         ^\n"
        "expected a path relative to the manifest's folder, or NAME:PATH in one of [roots]\n");
}

TEST_CASE("An empty option is refused") {
  CHECK(Project().program_error("options = [\"\"]") ==
        "m.toml:3:12: error: empty option in [program.p]\n"
        "options = [\"\"]\n"
        "           ^\n"
        "expected a build option such as \"-cl-std=CL1.2\"\n");
}

TEST_CASE("Pixels and local sizes are two integers within bounds") {
  const std::string head = "kernel = \"k\"\nsource = \"src/a.cl\"\n";
  CHECK(Project().variant_error(head + "pixels = [16, 0]") ==
        "m.toml:5:15: error: item 2 of \"pixels\" in [program.p.variant.v] is 0\n"
        "pixels = [16, 0]\n"
        "              ^\n"
        "expected 1 to 4096\n");
  CHECK(Project().variant_error(head + "local_size = [4097, 1]") ==
        "m.toml:5:15: error: item 1 of \"local_size\" in [program.p.variant.v] is 4097\n"
        "local_size = [4097, 1]\n"
        "              ^\n"
        "expected 1 to 4096\n");
  CHECK(Project().variant_error(head + "local_size = [8]") ==
        "m.toml:5:14: error: \"local_size\" in [program.p.variant.v] has 1 items\n"
        "local_size = [8]\n"
        "             ^\n"
        "expected an array of two integers, each 1 to 4096\n");
  CHECK(Project().variant_error(head + "pixels = [\"4\", 1]") ==
        "m.toml:5:11: error: item 1 of \"pixels\" in [program.p.variant.v] is a string\n"
        "pixels = [\"4\", 1]\n"
        "          ^\n"
        "expected an integer\n");
}

TEST_CASE("Stated work-group sizes have one to three sides within bounds") {
  const std::string head = "kernel = \"k\"\nsource = \"src/a.cl\"\n";
  for (const char *bad : {"[]", "[0]", "[4097]", "[1, 1, 1, 1]", "8", "[8, \"1\"]"}) {
    const std::string line = std::string("local_sizes = [[64], ") + bad + "]";
    CHECK(Project().variant_error(head + line) ==
          "m.toml:5:22: error: bad item of \"local_sizes\" in [program.p.variant.v]\n" + line +
              "\n                     ^\nexpected one to three integers, each 1 to 4096\n");
  }
}

TEST_CASE("An unknown requirement gets the list and the nearest of it") {
  const std::string head = "kernel = \"k\"\nsource = \"src/a.cl\"\n";
  const std::string list =
      expected_one_of("", kiln::runtime::known_requirements());  // requirements_test has the list
  CHECK(Project().variant_error(head + "requires = [\"image\"]") ==
        "m.toml:5:13: error: unknown requirement \"image\" in [program.p.variant.v]\n"
        "requires = [\"image\"]\n"
        "            ^\n" +
            list + "; did you mean \"images\"?\n");
  CHECK(Project().variant_error(head + "requires = [\"vendor:arm\"]") ==
        "m.toml:5:13: error: unknown requirement \"vendor:arm\" in [program.p.variant.v]\n"
        "requires = [\"vendor:arm\"]\n"
        "            ^\n" +
            list + "; did you mean \"vendor:amd\"?\n");
}

TEST_CASE("The SPIR-V version and the address sizes are from a short list") {
  CHECK(Project().error("schema = 1\n[spirv]\nversion = \"2.6\"\n") ==
        "m.toml:3:11: error: unknown SPIR-V version \"2.6\" in [spirv]\n"
        "version = \"2.6\"\n"
        "          ^\n"
        "expected one of: 1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6; did you mean \"1.6\"?\n");
  CHECK(Project().error("schema = 1\n[spirv]\naddress_bits = [32, 16]\n") ==
        "m.toml:3:21: error: bad item of \"address_bits\" in [spirv]\n"
        "address_bits = [32, 16]\n"
        "                    ^\n"
        "expected 32 or 64\n");
  CHECK(Project().error("schema = 1\n[spirv]\naddress_bits = []\n") ==
        "m.toml:3:16: error: \"address_bits\" in [spirv] is empty\n"
        "address_bits = []\n"
        "               ^\n"
        "expected an array of 32 and 64\n");
}

TEST_CASE("Arguments have a known role and only the keys of that role") {
  CHECK(
      Project().argument_error("  { role = \"inptu\" },") ==
      "m.toml:4:12: error: unknown role \"inptu\" in argument 1 of [program.p]\n"
      "  { role = \"inptu\" },\n"
      "           ^\n"
      "expected one of: depth, height, input, output, parameter, sampler, scratch, width; did you "
      "mean \"input\"?\n");
  CHECK(Project().argument_error("  { role = \"width\" }, { channels = 3 },") ==
        "m.toml:4:23: error: missing key \"role\" in argument 2 of [program.p]\n"
        "  { role = \"width\" }, { channels = 3 },\n"
        "                      ^\n"
        "expected one of: depth, height, input, output, parameter, sampler, scratch, width\n");
  CHECK(Project().argument_error("  { role = \"width\", value = 3 },") ==
        "m.toml:4:21: error: unknown key \"value\" in argument 1 of [program.p]\n"
        "  { role = \"width\", value = 3 },\n"
        "                    ^\n"
        "expected one of: role\n");
  CHECK(Project().argument_error("  { role = \"input\", value = 1 },") ==
        "m.toml:4:21: error: unknown key \"value\" in argument 1 of [program.p]\n"
        "  { role = \"input\", value = 1 },\n"
        "                    ^\n"
        "expected one of: channels, extent, name, normalized, role, storage, type\n");
  CHECK(Project().argument_error("  \"input\",") ==
        "m.toml:4:3: error: argument 1 of [program.p] is not a table\n"
        "  \"input\",\n"
        "  ^\n"
        "expected a table such as { role = \"input\" }\n");
}

TEST_CASE("Storage and channels are within what images and buffers have") {
  CHECK(Project().argument_error("  { role = \"input\", storage = \"imgae\" },") ==
        "m.toml:4:31: error: unknown storage \"imgae\" in argument 1 of [program.p]\n"
        "  { role = \"input\", storage = \"imgae\" },\n"
        "                              ^\n"
        "expected one of: buffer, image, image1d, image1d_array, image1d_buffer, image2d_array, "
        "image3d, local; did you mean \"image\"?\n");
  CHECK(Project().argument_error("  { role = \"input\", storage = \"local\" },") ==
        "m.toml:4:31: error: \"storage\" in argument 1 of [program.p] is \"local\", which only "
        "scratch memory can be\n"
        "  { role = \"input\", storage = \"local\" },\n"
        "                              ^\n"
        "expected role = \"scratch\"\n");
  CHECK(Project().argument_error("  { role = \"scratch\", storage = \"local\" },") ==
        "m.toml:4:3: error: missing key \"extent\" in argument 1 of [program.p]\n"
        "  { role = \"scratch\", storage = \"local\" },\n"
        "  ^\n"
        "expected the number of elements, such as extent = [\"256\"]\n");
  CHECK(Project().argument_error("  { role = \"input\", channels = 5 },") ==
        "m.toml:4:32: error: \"channels\" in argument 1 of [program.p] is 5\n"
        "  { role = \"input\", channels = 5 },\n"
        "                               ^\n"
        "expected 1 to 4\n");
  CHECK(Project().argument_error("  { role = \"output\", storage = \"image\", channels = 3 },") ==
        "m.toml:4:52: error: \"channels\" in argument 1 of [program.p] is 3, which no "
        "image has\n"
        "  { role = \"output\", storage = \"image\", channels = 3 },\n"
        "                                                   ^\n"
        "expected 1, 2 or 4\n");
}

TEST_CASE("Images other than 2D have as many sides as their kind") {
  CHECK(Project().argument_error(
            "  { role = \"input\", storage = \"image3d\", extent = [\"width\", \"height\"] },") ==
        "m.toml:4:51: error: \"extent\" in argument 1 of [program.p] has 2 items\n"
        "  { role = \"input\", storage = \"image3d\", extent = [\"width\", \"height\"] },\n"
        "                                                  ^\n"
        "expected 3 for storage = \"image3d\"\n");
  const auto extent_of = [](const std::string &storage) {
    return Project()
        .good(
            "schema = 1\n[program.p.variant.v]\nkernel = \"k\"\n"
            "source = \"src/a.cl\"\narguments = [{ role = \"input\", storage = \"" +
            storage + "\" }]\n")
        .programs[0]
        .variants[0]
        .record.arguments[0]
        .extent;
  };
  CHECK(extent_of("image").empty());
  CHECK(extent_of("image1d") == "width");
  CHECK(extent_of("image1d_buffer") == "width");
  CHECK(extent_of("image1d_array") == "width height");
  CHECK(extent_of("image2d_array") == "width height depth");
  CHECK(extent_of("image3d") == "width height depth");
}

TEST_CASE("Samplers have the words of OpenCL C") {
  CHECK(Project().argument_error("  { role = \"sampler\", addressing = \"mirror\" },") ==
        "m.toml:4:36: error: unknown addressing \"mirror\" in argument 1 of [program.p]\n"
        "  { role = \"sampler\", addressing = \"mirror\" },\n"
        "                                   ^\n"
        "expected one of: clamp, clamp_to_edge, mirrored_repeat, none, repeat\n");
  CHECK(Project().argument_error("  { role = \"sampler\", filter = \"cubic\" },") ==
        "m.toml:4:32: error: unknown filter \"cubic\" in argument 1 of [program.p]\n"
        "  { role = \"sampler\", filter = \"cubic\" },\n"
        "                               ^\n"
        "expected one of: linear, nearest\n");
  CHECK(Project().argument_error("  { role = \"sampler\", normalized = 1 },") ==
        "m.toml:4:36: error: \"normalized\" in argument 1 of [program.p] is an integer\n"
        "  { role = \"sampler\", normalized = 1 },\n"
        "                                   ^\n"
        "expected true or false\n");
  CHECK(Project().argument_error("  { role = \"sampler\", type = \"float\" },") ==
        "m.toml:4:23: error: unknown key \"type\" in argument 1 of [program.p]\n"
        "  { role = \"sampler\", type = \"float\" },\n"
        "                      ^\n"
        "expected one of: addressing, filter, normalized, role\n");
  CHECK(
      Project().argument_error("  { role = \"sampler\", addressing = \"repeat\" },") ==
      "m.toml:4:36: error: \"addressing\" in argument 1 of [program.p] is \"repeat\", which needs "
      "normalized coordinates\n"
      "  { role = \"sampler\", addressing = \"repeat\" },\n"
      "                                   ^\n"
      "expected normalized = true, or one of: clamp, clamp_to_edge, none\n");
  const auto good = Project().good(
      "schema = 1\n[program.p.variant.v]\nkernel = \"k\"\nsource = \"src/a.cl\"\n"
      "arguments = [{ role = \"sampler\" }, { role = \"sampler\", addressing = \"repeat\", "
      "filter = \"linear\", normalized = true }]\n");
  const auto &arguments = good.programs[0].variants[0].record.arguments;
  CHECK(arguments[0].value == 1);
  CHECK(arguments[1].value == 3 + 8 + 16);
}

TEST_CASE("Parameters have a name of their own and a 32-bit value") {
  CHECK(Project().argument_error("  { role = \"parameter\", value = 3 },") ==
        "m.toml:4:3: error: missing key \"name\" in argument 1 of [program.p]\n"
        "  { role = \"parameter\", value = 3 },\n"
        "  ^\n"
        "expected name = \"the parameter's name\"\n");
  CHECK(Project().argument_error("  { role = \"parameter\", name = \"t\", value = -1 },") ==
        "m.toml:4:45: error: \"value\" in argument 1 of [program.p] is -1\n"
        "  { role = \"parameter\", name = \"t\", value = -1 },\n"
        "                                            ^\n"
        "expected 0 to 4294967295\n");
  CHECK(Project().argument_error(
            "{ role = \"output\", name = \"t\" },\n{ role = \"parameter\", name = \"t\" },") ==
        "m.toml:5:30: error: name \"t\" of argument 2 of [program.p] is taken\n"
        "{ role = \"parameter\", name = \"t\" },\n"
        "                             ^\n"
        "expected a name that no argument before it has\n");
}

TEST_CASE("A kernel has at most 64 arguments") {
  std::string lines;
  for (int i = 0; i < 64; ++i) lines += "{ role = \"width\" },\n";
  const std::string good =
      "schema = 1\n[program.p.variant.v]\nkernel = \"k\"\n"
      "source = \"src/a.cl\"\narguments = [\n" +
      lines + "]\n";
  CHECK(Project().good(good).programs[0].variants[0].record.arguments.size() == 64);
  CHECK(Project().argument_error(lines + "{ role = \"height\" },") ==
        "m.toml:68:1: error: too many arguments in [program.p]\n"
        "{ role = \"height\" },\n"
        "^\n"
        "expected at most 64\n");
}

TEST_CASE("A reference is a variant that Kiln launches, a file of the right size, or a library") {
  CHECK(Project().program_error("reference = \"laplace\"") ==
        "m.toml:3:13: error: bad reference \"laplace\" in [program.p]\n"
        "reference = \"laplace\"\n"
        "            ^\n"
        "expected variant:NAME, file:PATH:SIZE, file:PATH:SIZE:INPUT or library:FILE:FUNCTION\n");
  const std::string arguments = "\narguments = [{ role = \"input\" }, { role = \"output\" }]";
  CHECK(Project().program_error("reference = \"variant:w\"" + arguments) ==
        "m.toml:3:13: error: \"reference\" of [program.p] names \"w\", which is no variant that "
        "Kiln launches\n"
        "reference = \"variant:w\"\n"
        "            ^\n"
        "expected one of: v\n");
  CHECK(Project().program_error("reference = \"file:out.bin:4x3\"" + arguments) ==
        "m.toml:3:13: error: \"out.bin\" of [program.p] is not a file\n"
        "reference = \"file:out.bin:4x3\"\n"
        "            ^\n"
        "expected a file at out.bin\n");
  CHECK(Project().program_error("reference = \"file:src/a.cl:4x3\"" + arguments) ==
        "m.toml:3:13: error: \"src/a.cl\" of [program.p] has 0 bytes\n"
        "reference = \"file:src/a.cl:4x3\"\n"
        "            ^\n"
        "expected 12, those of 1 x uchar at 4x3\n");
  const Manifest manifest = Project().good(
      "schema = 1\n[program.p]\nreference = \"library:libmine.so:blur\"" + arguments +
      "\n[program.p.variant.v]\nkernel = \"k\"\nsource = \"src/a.cl\"\n");
  CHECK(manifest.programs[0].record.reference == "library:libmine.so:blur");
}

TEST_CASE("Variants that are compared take and give the same") {
  const std::string head =
      "schema = 1\n[program.p]\nreference = \"variant:v\"\nsource = \"src/a.cl\"\n";
  const std::string v =
      "[program.p.variant.v]\nkernel = \"k\"\narguments = [{ role = \"input\" }, "
      "{ role = \"output\" }]\n";
  const std::string w = "[program.p.variant.w]\nkernel = \"k\"\n";
  Project().good(head + v + w +
                 "arguments = [{ role = \"input\", channels = 4, extent = [\"width/4\"] }, "
                 "{ role = \"output\" }]\n");
  CHECK(Project().error(head + v + w +
                        "arguments = [{ role = \"input\" }, { role = \"output\", type = \"uint\" "
                        "}]\n") ==
        "m.toml:8:1: error: the arguments of [program.p.variant.w] are not those of the program, "
        "which has a reference\n"
        "[program.p.variant.w]\n"
        "^\n"
        "expected inputs: 1 x uchar; outputs: 1 x uchar\n");
}

TEST_CASE("Memory has a type, and an extent in terms of the problem's size") {
  const Manifest manifest = Project().good(
      "schema = 1\n[program.p.variant.v]\nkernel = \"k\"\nsource = \"src/a.cl\"\narguments = [\n"
      "{ role = \"scratch\", name = \"s\", type = \"float\", extent = [\"width/4\", \"height+6\"] "
      "},\n"
      "{ role = \"output\", type = \"uint\", extent = [\"1\"], accumulates = true },\n]\n");
  const auto &arguments = manifest.programs[0].variants[0].record.arguments;
  CHECK(arguments[0].type == Type::float_);
  CHECK(arguments[0].extent == "width/4 height+6");
  CHECK(arguments[1].accumulates);
  CHECK(Project().argument_error("  { role = \"input\", extent = [\"wide\"] },") ==
        "m.toml:4:31: error: bad term \"wide\" in argument 1 of [program.p]\n"
        "  { role = \"input\", extent = [\"wide\"] },\n"
        "                              ^\n"
        "expected [N*]NAME[/N][+N] with width, height or depth as NAME, or a number\n");
  CHECK(
      Project().argument_error("  { role = \"input\", storage = \"image\", type = \"long\" },") ==
      "m.toml:4:47: error: \"type\" in argument 1 of [program.p] has 64 bits, which no image has\n"
      "  { role = \"input\", storage = \"image\", type = \"long\" },\n"
      "                                              ^\n"
      "expected a type of 8, 16 or 32 bits\n");
}

TEST_CASE(
    "Integers of 8 and 16 bits in an image are normalized unless the manifest says otherwise") {
  const Manifest manifest = Project().good(
      "schema = 1\n[program.p.variant.v]\nkernel = \"k\"\nsource = \"src/a.cl\"\n"
      "arguments = [{ role = \"input\", storage = \"image\", type = \"ushort\" },\n"
      "{ role = \"output\", storage = \"image\", type = \"ushort\", normalized = false "
      "}]\n");
  const auto &arguments = manifest.programs[0].variants[0].record.arguments;
  CHECK(arguments[0].value == 0);
  CHECK(arguments[1].value == kiln::packs::kNotNormalized);
  CHECK(Project().argument_error("  { role = \"input\", normalized = false },") ==
        "m.toml:4:34: error: \"normalized\" in argument 1 of [program.p] has no meaning\n"
        "  { role = \"input\", normalized = false },\n"
        "                                 ^\n"
        "expected only for an image of char, short, uchar or ushort\n");
}

TEST_CASE("A parameter may be a struct of fields") {
  const Manifest manifest = Project().good(
      "schema = 1\n[program.p.variant.v]\nkernel = \"k\"\nsource = \"src/a.cl\"\n"
      "arguments = [{ role = \"parameter\", name = \"cut\", fields = [\"int\", \"float2\"],"
      " value = [-1, 0.5, 2] }, { role = \"parameter\", name = \"c\", type = \"uchar\" },\n"
      "{ role = \"parameter\", name = \"b\", type = \"ulong\", value = 4294967296 }]\n");
  const auto &arguments = manifest.programs[0].variants[0].record.arguments;
  CHECK(arguments[0].fields == "int float2");
  CHECK(arguments[0].values == std::vector<double>{-1, 0.5, 2});
  CHECK(arguments[1].fields == "uchar1");
  CHECK(arguments[2].type == Type::ulong_);
  CHECK(arguments[2].values == std::vector<double>{4294967296.0});
  CHECK(Project().argument_error(
            "{ role = \"parameter\", name = \"t\", type = \"uchar\", channels = 5 },") ==
        "m.toml:4:62: error: \"channels\" in argument 1 of [program.p] is 5, which no vector of "
        "uchar has\n{ role = \"parameter\", name = \"t\", type = \"uchar\", channels = 5 },\n" +
            std::string(61, ' ') + "^\nexpected 1, 2, 3, 4, 8 or 16\n");
  const std::string begin = "{ role = \"parameter\", name = \"t\", fields = [\"int\", \"float\"]";
  CHECK(
      Project().argument_error(begin + ", value = [1.5, 2] },") ==
      "m.toml:4:70: error: a component of \"value\" in argument 1 of [program.p] is a whole number "
      "from -2147483648 to 2147483647, not 1.5\n" +
          begin + ", value = [1.5, 2] },\n" + std::string(69, ' ') +
          "^\nexpected a value of each field's type\n");
  CHECK(Project().argument_error(begin + ", type = \"int\" },") ==
        "m.toml:4:69: error: \"type\" in argument 1 of [program.p] is beside \"fields\"\n" + begin +
            ", type = \"int\" },\n" + std::string(68, ' ') +
            "^\nexpected the types in \"fields\" alone\n");
  CHECK(Project().argument_error("{ role = \"parameter\", name = \"t\", fields = [\"int5\"] },") ==
        "m.toml:4:45: error: unknown type \"int5\" in argument 1 of [program.p]\n"
        "{ role = \"parameter\", name = \"t\", fields = [\"int5\"] },\n"
        "                                            ^\n"
        "expected OpenCL C's name of a scalar or vector, such as int or float4\n");
}

TEST_CASE("Parameters may be vectors of floats") {
  const Manifest manifest = Project().good(
      "schema = 1\n[program.p.variant.v]\nkernel = \"k\"\nsource = \"src/a.cl\"\narguments = [\n"
      "{ role = \"parameter\", name = \"c\", type = \"float\", channels = 2, value = [1.5, -2] "
      "},\n]\n");
  CHECK(manifest.programs[0].variants[0].record.arguments[0].values ==
        std::vector<double>{1.5, -2});
  CHECK(Project().argument_error("  { role = \"parameter\", name = \"c\", type = \"float\", "
                                 "channels = 2, value = [1] },") ==
        "m.toml:4:75: error: \"value\" in argument 1 of [program.p] has 1 items\n"
        "  { role = \"parameter\", name = \"c\", type = \"float\", channels = 2, value = [1] },\n"
        "                                                                          ^\n"
        "expected an array of 2 numbers\n");
}

TEST_CASE("A variant has the program's limits and its own, which replace them") {
  using kiln::packs::Statistic;
  using kiln::packs::StatisticName;
  const Manifest manifest = Project().good(
      "schema = 1\n[program.p]\nsource = \"src/a.cl\"\n"
      "limits = { spills = 0, registers = 64 }\n[program.p.variant.v]\nkernel = \"k\"\n"
      "[program.p.variant.w]\nkernel = \"k\"\nlimits = { waves = 8, registers = 32 }\n");
  const auto &variants = manifest.programs[0].variants;
  CHECK(variants[0].record.limits ==
        std::vector<Statistic>{{0, StatisticName::registers, 64}, {0, StatisticName::spills, 0}});
  CHECK(variants[1].record.limits == std::vector<Statistic>{{0, StatisticName::registers, 32},
                                                            {0, StatisticName::spills, 0},
                                                            {0, StatisticName::waves, 8}});
}

TEST_CASE("The kernels after the first have arguments of their own") {
  const std::string head =
      "schema = 1\n[program.p.variant.v]\nkernel = \"k\"\nsource = \"src/a.cl\"\n";
  const Manifest manifest = Project().good(
      head +
      "arguments = [{ role = \"width\" }]\nstages = [\n  { kernel = \"second\", pixels = [4, 1], "
      "arguments = [{ role = \"height\" }] },\n]\n");
  const auto &variant = manifest.programs[0].variants[0].record;
  REQUIRE(variant.kernels.size() == 2);
  CHECK(variant.kernels[1].name == "second");
  CHECK(variant.kernels[1].range == "width/4 height/1");
  REQUIRE(variant.arguments.size() == 2);
  CHECK(variant.arguments[1].stage == 1);
  CHECK(Project().error(head + "stages = [{ kernel = \"k\" }]\n") ==
        "m.toml:5:11: error: kernel k is in [program.p.variant.v] twice\n"
        "stages = [{ kernel = \"k\" }]\n"
        "          ^\n"
        "expected each kernel once\n");
}

TEST_CASE("A program's hints name variants that it has, and sizes of two or three sides") {
  const std::string variant = "[program.p.variant.v]\nkernel = \"k\"\nsource = \"src/a.cl\"\n";
  const auto with = [&](const std::string &hints) {
    return "schema = 1\n[program.p]\n" + hints + "\n" + variant;
  };
  const auto program =
      Project()
          .good(with("prefer = [\"v\"]\nbaseline = \"v\"\nsizes = [[7, 5], [4, 3, 2]]"))
          .programs[0]
          .record;
  CHECK(program.preferred == std::vector<std::string>{"v"});
  CHECK(program.baseline == "v");
  CHECK(program.sizes == std::vector<std::array<std::uint32_t, 3>>{{7, 5, 1}, {4, 3, 2}});
  CHECK(Project().error(with("prefer = [\"w\"]")) ==
        "m.toml:3:11: error: unknown variant \"w\" in \"prefer\" of [program.p]\n"
        "prefer = [\"w\"]\n"
        "          ^\n"
        "expected one of: v\n");
  CHECK(Project().error(with("sizes = [[0, 5]]")) ==
        "m.toml:3:10: error: bad item of \"sizes\" in [program.p]\n"
        "sizes = [[0, 5]]\n"
        "         ^\n"
        "expected [width, height] or [width, height, depth]\n");
}
