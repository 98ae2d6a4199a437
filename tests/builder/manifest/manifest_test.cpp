// SPDX-License-Identifier: Apache-2.0
#include "builder/manifest/manifest.hpp"

#include "builder/manifest/sources.hpp"
#include "builder/problem/program_shape.hpp"
#include "runtime/identity/requirements.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/manifest_project.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace kiln::builder;
using kiln::test::Project;

TEST_CASE("A manifest gives programs and variants, sorted, with inherited values") {
  const Project project;
  const Manifest manifest = project.good(R"(schema = 1
[spirv]
version = "1.2"
address_bits = [64, 32, 64]

[program.sobel]
source = "src/a.cl"
options = ["-cl-std=CL1.2", "-DA=1"]
include_dirs = ["inc", "."]
arguments = [
  { role = "input" },
  { role = "output", name = "x", channels = 4, storage = "image" },
  { role = "width" },
  { role = "height" },
  { role = "parameter", name = "threshold", value = 4294967295 },
]

[program.sobel.variant.px16x1]
kernel = "sobel_px16x1"
pixels = [16, 1]
local_size = [8, 4]
options = ["-DB"]
requires = ["images", "extension:cl_khr_fp16", "fp16", "images", "vendor:mali"]

[program.sobel.variant."half-1.0"]
kernel = "sobel_px16x1"
source = "src/../src/b.cl"
arguments = [{ role = "width" }]

[program.add.variant.scalar]
kernel = "add"
source = "src/b.cl"
)");
  CHECK(manifest.spirv_version == 0x00010200);
  CHECK(manifest.address_bits == std::vector<std::uint32_t>{32, 64});
  REQUIRE(manifest.programs.size() == 2);

  const ManifestProgram &add = manifest.programs[0];
  CHECK(add.record.name == "add");
  CHECK(add.record.reference.empty());
  REQUIRE(add.variants.size() == 1);
  CHECK(add.variants[0].record.options.empty());
  CHECK(add.variants[0].record.arguments.empty());
  CHECK(add.variants[0].record.pixels == std::array<std::uint32_t, 3>{1, 1, 1});
  CHECK(add.variants[0].record.local_size == std::array<std::uint32_t, 3>{0, 0, 0});

  const ManifestProgram &sobel = manifest.programs[1];
  CHECK(sobel.record.reference.empty());
  REQUIRE(sobel.include_dirs.size() == 2);
  CHECK(sobel.include_dirs[0] == project.path("inc"));
  REQUIRE(sobel.variants.size() == 2);
  CHECK(sobel.variants[0].record.name == "half-1.0");
  CHECK(sobel.variants[0].source == project.path("src/b.cl"));
  CHECK(sobel.variants[0].record.options == "-cl-std=CL1.2 -DA=1");
  CHECK(sobel.variants[0].record.arguments.size() == 1);

  CHECK(sobel.variants[1].source == project.path("src/a.cl"));
  const auto &variant = sobel.variants[1].record;
  CHECK(variant.name == "px16x1");
  CHECK(variant.kernels.at(0).name == "sobel_px16x1");
  CHECK(variant.options == "-cl-std=CL1.2 -DA=1 -DB");
  CHECK(variant.requirements ==
        std::vector<std::string>{"extension:cl_khr_fp16", "fp16", "images", "vendor:mali"});
  CHECK(variant.pixels == std::array<std::uint32_t, 3>{16, 1, 1});
  CHECK(variant.local_size == std::array<std::uint32_t, 3>{8, 4, 1});
  REQUIRE(variant.arguments.size() == 5);
  CHECK(variant.arguments[0].role == Role::input);
  CHECK(variant.arguments[0].storage == Storage::buffer);
  CHECK(variant.arguments[0].channels == 1);
  CHECK(variant.arguments[1].role == Role::output);
  CHECK(variant.arguments[1].storage == Storage::image);
  CHECK(variant.arguments[1].channels == 4);
  CHECK(variant.arguments[1].name == "x");
  CHECK(variant.arguments[2].role == Role::width);
  CHECK(variant.arguments[3].role == Role::height);
  CHECK(variant.arguments[4].role == Role::parameter);
  CHECK(variant.arguments[4].name == "threshold");
  CHECK(variant.arguments[4].value == 4294967295);
}

TEST_CASE("A manifest that says nothing of SPIR-V gets version 1.0 and 64 bits") {
  const Manifest manifest =
      Project().good("schema = 1\n[program.p.variant.v]\nkernel = \"k\"\nsource = \"src/a.cl\"\n");
  CHECK(manifest.spirv_version == 0x00010000);
  CHECK(manifest.address_bits == std::vector<std::uint32_t>{64});
}

TEST_CASE("A manifest with CRLF and no final newline is read") {
  Project().good("schema = 1\r\n[program.p.variant.v]\r\nkernel = \"k\"\r\nsource = \"src/a.cl\"");
}

TEST_CASE("A misspelt key gets the line, a caret and the nearest key") {
  CHECK(Project().program_error("optoins = []") ==
        "m.toml:3:1: error: unknown key \"optoins\" in [program.p]\n"
        "optoins = []\n"
        "^\n"
        "expected one of: arguments, baseline, include_dirs, limits, options, prefer, reference, "
        "sizes, "
        "source, variant, workarounds; "
        "did you mean \"options\"?\n");
  CHECK(Project().variant_error("  kernal = \"k\"") ==
        "m.toml:3:3: error: unknown key \"kernal\" in [program.p.variant.v]\n"
        "  kernal = \"k\"\n"
        "  ^\n"
        "expected one of: arguments, il, kernel, limits, local_size, local_sizes, options, pixels, "
        "prelude, range, "
        "requires, sets, source, stages, tolerance, workarounds; "
        "did you mean \"kernel\"?\n");
  CHECK(Project().error("schema = 1\n[zzzzzz]\n") ==
        "m.toml:2:2: error: unknown key \"zzzzzz\" in the manifest\n"
        "[zzzzzz]\n"
        " ^\n"
        "expected one of: program, roots, schema, spirv\n");
  CHECK(Project().error("schema = 1\nspirv.versoin = \"1.0\"\n") ==
        "m.toml:2:7: error: unknown key \"versoin\" in [spirv]\n"
        "spirv.versoin = \"1.0\"\n"
        "      ^\n"
        "expected one of: address_bits, version; did you mean \"version\"?\n");
}

TEST_CASE("The first of several unknown keys is reported") {
  CHECK(Project().program_error("zebra = 1\naardvark = 1") ==
        "m.toml:3:1: error: unknown key \"zebra\" in [program.p]\n"
        "zebra = 1\n"
        "^\n"
        "expected one of: arguments, baseline, include_dirs, limits, options, prefer, reference, "
        "sizes, "
        "source, variant, workarounds\n");
}

TEST_CASE("The caret stands under the column, behind tabs and behind non-ASCII letters") {
  CHECK(Project().program_error("\toptions\t= [\"-D\xC3\xA9\", 1]") ==
        "m.toml:3:20: error: item 2 of \"options\" in [program.p] is an integer\n"
        "\toptions\t= [\"-D\xC3\xA9\", 1]\n"
        "\t       \t          ^\n"
        "expected a string\n");
}

TEST_CASE("Faults of TOML are placed") {
  CHECK(Project().error("schema = 1\n[program.p]\noptions = \n") ==
        "m.toml:3:11: error: not valid TOML\n"
        "options = \n"
        "          ^\n"
        "Error while parsing key-value pair: expected value, saw '\\n'\n");
  CHECK(Project().error("schema = \"1") ==
        "m.toml:1:12: error: not valid TOML\n"
        "schema = \"1\n"
        "           ^\n"
        "Error while parsing string: encountered end-of-file\n");
}

TEST_CASE("A manifest is UTF-8, and beyond ASCII only in strings and comments") {
  CHECK(Project().error("schema = 1\n# \xc3\xa9 \xe9") ==
        "m.toml:2:5: error: not valid TOML\n# \xc3\xa9 \xe9\n    ^\nexpected UTF-8\n");
  CHECK(Project().error("\xed\xa0\x80").find("m.toml:1:1: error: not valid TOML\n") == 0);
  // Characters that toml++ calls unreachable where a blank may be.
  for (const std::string character : {"\xef\xb1\xbf", "\xc3\xa9", "\xe2\xba\x80"}) {
    CHECK(Project().error(character).find("m.toml:1:1: error: not valid TOML\n") == 0);
    CHECK(Project().error("schema = 1 " + character).find("m.toml:1:12: error: not valid") == 0);
    CHECK(Project()
              .error("schema = \"\"\"\\\n " + character + "\"\"\"\n")
              .find("m.toml:1:10: error: \"schema\" in the manifest is a string\n") == 0);
  }
}

TEST_CASE("A name that is there twice is a fault of TOML") {
  CHECK(Project().error("schema = 1\n[program.p.variant.v]\n[program.p.variant.v]\n") ==
        "m.toml:3:1: error: not valid TOML\n"
        "[program.p.variant.v]\n"
        "^\n"
        "Error while parsing table header: cannot redefine existing table "
        "'program.p.variant.v'\n");
}

TEST_CASE("The schema is demanded and checked before all else") {
  CHECK(Project().error("schema = 2\nunknown = 1\n") ==
        "m.toml:1:10: error: \"schema\" in the manifest is 2\n"
        "schema = 2\n"
        "         ^\n"
        "expected 1\n");
  CHECK(Project().error("[program.p]\n") ==
        "m.toml:1:1: error: missing key \"schema\" in the manifest\n"
        "[program.p]\n"
        "^\n"
        "expected schema = 1\n");
  CHECK(Project().error("") ==
        "m.toml:1:1: error: missing key \"schema\" in the manifest\n"
        "\n"
        "^\n"
        "expected schema = 1\n");
}

TEST_CASE("Programs, variants, kernels and sources are demanded") {
  CHECK(Project().error("schema = 1\n") ==
        "m.toml:1:1: error: missing key \"program\" in the manifest\n"
        "schema = 1\n"
        "^\n"
        "expected a table such as [program.NAME]\n");
  CHECK(Project().error("schema = 1\n[program.p]\nsource = \"src/a.cl\"\n") ==
        "m.toml:2:1: error: missing key \"variant\" in [program.p]\n"
        "[program.p]\n"
        "^\n"
        "expected a table such as [program.p.variant.NAME]\n");
  CHECK(Project().variant_error("source = \"src/a.cl\"") ==
        "m.toml:2:1: error: missing key \"kernel\" in [program.p.variant.v]\n"
        "[program.p.variant.v]\n"
        "^\n"
        "expected kernel = \"the entry point's name\"\n");
  CHECK(Project().variant_error("kernel = \"k\"") ==
        "m.toml:2:1: error: missing key \"source\" in [program.p.variant.v]\n"
        "[program.p.variant.v]\n"
        "^\n"
        "expected source = \"a file\" here or in [program.p]\n");
}

TEST_CASE("Errors name the type of a value of the wrong type") {
  CHECK(Project().program_error("source = 5") ==
        "m.toml:3:10: error: \"source\" in [program.p] is an integer\n"
        "source = 5\n"
        "         ^\n"
        "expected a string\n");
  CHECK(Project().program_error("options = \"-w\"") ==
        "m.toml:3:11: error: \"options\" in [program.p] is a string\n"
        "options = \"-w\"\n"
        "          ^\n"
        "expected an array of strings\n");
  CHECK(Project().program_error("arguments = 1979-05-27") ==
        "m.toml:3:13: error: \"arguments\" in [program.p] is a date\n"
        "arguments = 1979-05-27\n"
        "            ^\n"
        "expected an array of tables\n");
  CHECK(Project().error("schema = 1.0\n") ==
        "m.toml:1:10: error: \"schema\" in the manifest is a floating-point number\n"
        "schema = 1.0\n"
        "         ^\n"
        "expected an integer\n");
  CHECK(Project().error("schema = 1\nspirv = true\n") ==
        "m.toml:2:9: error: \"spirv\" in the manifest is a boolean\n"
        "spirv = true\n"
        "        ^\n"
        "expected a table\n");
  CHECK(Project().error("schema = 1\nprogram = []\n") ==
        "m.toml:2:11: error: \"program\" in the manifest is an array\n"
        "program = []\n"
        "          ^\n"
        "expected tables such as [program.NAME]\n");
  CHECK(Project().error("schema = 1\nprogram.p = 3\n") ==
        "m.toml:2:13: error: program.p is not a table\n"
        "program.p = 3\n"
        "            ^\n"
        "expected a table such as [program.NAME]\n");
}

TEST_CASE("A manifest is read from the disk, and one that is not there is an error") {
  const kiln::test::TemporaryFolder folder;
  folder.write("a.cl", "");
  const auto path = folder.write(
      "m.toml", "schema = 1\n[program.p.variant.v]\nkernel = \"k\"\nsource = \"a.cl\"\n");
  CHECK(read_manifest(path).ok());
  const auto missing = read_manifest(folder.path() / "n.toml");
  REQUIRE_FALSE(missing.ok());
  CHECK(missing.status().message == (folder.path() / "n.toml").string() +
                                        ": error: cannot be read: No such file or directory\n");
}

TEST_CASE("'..' behind a symbolic link is what the file system makes of it") {
  const kiln::test::TemporaryFolder folder;
  const auto wanted = folder.write("far/a.cl", "");
  std::filesystem::create_directory(folder.path() / "far/kernels");
  std::filesystem::create_directory_symlink("far/kernels", folder.path() / "near");
  const auto source_in = [](const std::filesystem::path &path) {
    const auto manifest = read_manifest(path);
    INFO(manifest.status().message);
    REQUIRE(manifest.ok());
    return manifest->programs[0].variants[0].source;
  };
  folder.write("far/kernels/m.toml",
               "schema = 1\n[program.p.variant.v]\nkernel = \"k\"\nsource = \"../a.cl\"\n");
  const auto linked = folder.path() / "near/m.toml";
  CHECK(std::filesystem::equivalent(source_in(linked), wanted));
  folder.write("a.cl", "of another folder");
  CHECK(std::filesystem::equivalent(source_in(linked), wanted));
  CHECK(source_in(folder.path() / "far/kernels/m.toml") == wanted);

  Sources sources;
  sources.files = {folder.path() / "near/../a.cl"};
  const auto manifest = manifest_of(sources);
  REQUIRE(manifest.ok());
  CHECK(std::filesystem::equivalent(manifest->programs[0].variants[0].source, wanted));
}

TEST_CASE("No truncation of a manifest makes the reading throw") {
  const Project project;
  const std::string text =
      "schema = 1\n[spirv]\nversion = \"1.2\"\naddress_bits = [64]\n[program.p]\n"
      "source = \"src/a.cl\"\narguments = [{ role = \"input\", channels = 3 }]\n"
      "[program.p.variant.v]\nkernel = \"k\"\npixels = [4, 1]\nrequires = [\"fp16\"]\n";
  for (std::size_t size = 0; size <= text.size(); ++size) {
    CHECK_NOTHROW((void)project.parse(text.substr(0, size)));
  }
}

TEST_CASE("A path may begin with a named root, which the command line overrides") {
  const Project project;
  const std::string text =
      "schema = 1\n[roots]\nours = \"src\"\n[program.p]\nsource = \"ours:a.cl\"\nkernels = "
      "\"all\"\ninclude_dirs = [\"theirs:\"]\n[program.q]\nsource = \"ours:b*\"\nkernels = "
      "\"all\"\n";
  const auto read = [&](const Roots &roots) {
    return parse_manifest(text, project.path("m.toml"), roots);
  };
  const auto manifest = read({{"theirs", project.path("inc")}});
  REQUIRE(manifest.ok());
  CHECK(manifest->programs[0].variants[0].source == project.path("src/b.cl"));
  CHECK(manifest->programs[1].variants[0].source == project.path("src/a.cl"));
  CHECK(manifest->programs[1].include_dirs[0] == project.path("inc") + "/");
  CHECK(manifest->roots.size() == 2);
  CHECK(read({{"theirs", project.path("inc")}, {"ours", "/nosuch"}})
            .status()
            .message.find("expected a file at /nosuch/a.cl") != std::string::npos);
  const std::string unused =
      read({{"theirs", project.path("inc")}, {"our", "/x"}}).status().message;
  CHECK(unused == project.path("m.toml") +
                      ": error: no path begins with \"our:\", the name of a --root\n"
                      "expected one of: ours, theirs; did you mean \"ours\"?\n");
  CHECK(project.error(text) ==
        "m.toml:7:17: error: path \"theirs:\" in [program.p] has an unknown root\n"
        "include_dirs = [\"theirs:\"]\n"
        "                ^\n"
        "expected one of: ours\n");
  CHECK(project.error("schema = 1\n[program.p]\nsource = \"theirs:a.cl\"\nkernels = \"all\"\n") ==
        "m.toml:3:10: error: path \"theirs:a.cl\" in [program.p] has an unknown root\n"
        "source = \"theirs:a.cl\"\n"
        "         ^\n"
        "expected --root theirs=DIR, or theirs in [roots]\n");
  CHECK(project.error("schema = 1\n[roots]\n\"a b\" = \"src\"\n")
            .starts_with("m.toml:3:1: error: bad root \"a b\"\n"));
  CHECK(project.error("schema = 1\n[roots]\na = 1\n")
            .starts_with("m.toml:3:5: error: \"a\" in [roots] is an integer\n"));
}
