// SPDX-License-Identifier: Apache-2.0
#include "builder/manifest/manifest.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/manifest_project.hpp"

using namespace kiln::builder;
using kiln::test::Project;

namespace {

// Name and options of each program, a line each.
std::string listed(const Manifest &manifest) {
  std::string lines;
  for (const ManifestProgram &program : manifest.programs) {
    REQUIRE(program.variants.size() == 1);
    CHECK(program.variants[0].record.name == "default");
    lines += program.record.name + ": " + program.variants[0].record.options + "\n";
  }
  return lines;
}

std::string program(const std::string &lines) { return "schema = 1\n[program.p]\n" + lines; }

}  // namespace

TEST_CASE("A program of all kernels needs a source alone") {
  const Project project;
  const Manifest manifest = project.good(program("source = \"src/a.cl\"\nkernels = \"all\"\n"));
  CHECK(listed(manifest) == "p: \n");
  const ManifestVariant &variant = manifest.programs[0].variants[0];
  CHECK(variant.source == project.path("src/a.cl"));
  CHECK(variant.record.kernels.empty());
  CHECK(variant.record.arguments.empty());
}

TEST_CASE("A program lists its kernels") {
  const Project project;
  const Manifest manifest = project.good(program(
      "source = \"src/a.cl\"\nkernels = [\"one\", \"other\"]\noptions = [\"-DA\", \"-DB\"]\n"
      "requires = [\"fp16\"]\ninclude_dirs = [\"inc\"]\n"));
  CHECK(listed(manifest) == "p: -DA -DB\n");
  const auto &record = manifest.programs[0].variants[0].record;
  REQUIRE(record.kernels.size() == 2);
  CHECK(record.kernels[1].name == "other");
  CHECK(record.requirements == std::vector<std::string>{"fp16"});
  CHECK(manifest.programs[0].include_dirs.size() == 1);
}

TEST_CASE("Options that are a table make a program of each combination") {
  const Project project;
  const Manifest manifest = project.good(program(R"(source = "src/a.cl"
kernels = "all"
[program.p.options]
TYPE = ["float", "half"]
N = [4, 8]
"-cl-std" = "CL1.2"
FAST = [true, false]
ONCE = true
)"));
  CHECK(listed(manifest) ==
        "p.FAST-4-float: -cl-std=CL1.2 -DFAST -DN=4 -DONCE -DTYPE=float\n"
        "p.FAST-4-half: -cl-std=CL1.2 -DFAST -DN=4 -DONCE -DTYPE=half\n"
        "p.FAST-8-float: -cl-std=CL1.2 -DFAST -DN=8 -DONCE -DTYPE=float\n"
        "p.FAST-8-half: -cl-std=CL1.2 -DFAST -DN=8 -DONCE -DTYPE=half\n"
        "p.no-FAST-4-float: -cl-std=CL1.2 -DN=4 -DONCE -DTYPE=float\n"
        "p.no-FAST-4-half: -cl-std=CL1.2 -DN=4 -DONCE -DTYPE=half\n"
        "p.no-FAST-8-float: -cl-std=CL1.2 -DN=8 -DONCE -DTYPE=float\n"
        "p.no-FAST-8-half: -cl-std=CL1.2 -DN=8 -DONCE -DTYPE=half\n");
}

TEST_CASE("A pattern makes a program of each file that no other program names") {
  const Project project;
  const std::string pattern = "source = \"src/*.cl\"\nkernels = \"all\"\n";
  CHECK(listed(project.good(program(pattern))) == "a: \nb: \n");
  CHECK(listed(project.good(program(pattern) +
                            "[program.own]\nsource = \"src/b.cl\"\nkernels = [\"k\"]\n"
                            "options = [\"-DOWN\"]\n")) == "a: \nown: -DOWN\n");
}

TEST_CASE("Faults of programs as applications have them are placed") {
  const Project project;
  CHECK(project.error(program("source = \"src/a.cl\"\nkernels = \"some\"\n")) ==
        "m.toml:4:11: error: bad \"kernels\" in [program.p]\n"
        "kernels = \"some\"\n"
        "          ^\n"
        "expected kernels = \"all\" or an array of names\n");
  CHECK(project.error(program("source = \"src/a.cl\"\nkernels = [\"k\", \"k\"]\n"))
            .find("m.toml:4:17: error: kernel k is in [program.p] twice\n") == 0);
  CHECK(project.error(program("source = \"src/*.c\"\nkernels = \"all\"\n"))
            .find("m.toml:3:10: error: no file is called \"src/*.c\"\n") == 0);
  CHECK(project.error(program("kernels = \"all\"\n"))
            .find("m.toml:2:1: error: missing key \"source\" in [program.p]\n") == 0);
  CHECK(project.error(program("source = \"src/a.cl\"\nkernels = \"all\"\nkernel = \"k\"\n"))
            .find("m.toml:5:1: error: unknown key \"kernel\" in [program.p]\n") == 0);
  const std::string start = "source = \"src/a.cl\"\nkernels = \"all\"\n[program.p.options]\n";
  CHECK(project.error(program(start + "A = \"x y\"\n"))
            .find("m.toml:6:5: error: bad value of \"A\" in \"options\" of [program.p]\n") == 0);
  CHECK(project.error(program(start + "A = [1, 1.5]\n"))
            .find("m.toml:6:9: error: bad value of \"A\" in \"options\" of [program.p]\n") == 0);
  CHECK(project.error(program(start + "A = []\n"))
            .find("m.toml:6:5: error: \"A\" in \"options\" of [program.p] is empty\n") == 0);
  CHECK(project.error(program(start + "A = [\"+\", \"*\"]\n"))
            .find("two combinations of \"options\" of [program.p] are called \"_\"") !=
        std::string::npos);
  CHECK(project
            .error(program(start + "A = 1\n") +
                   "[program.q]\nsource = \"src/[a]*\"\nkernels = \"all\"\n")
            .find("no file is called") != std::string::npos);
}

TEST_CASE("One name for two programs is a fault") {
  const Project project;
  CHECK(project
            .error("schema = 1\n[program.b]\nsource = \"src/a.cl\"\nkernels = \"all\"\n"
                   "[program.rest]\nsource = \"src/*.cl\"\nkernels = \"all\"\n")
            .find("error: program \"b\" is there twice\n") != std::string::npos);
}

TEST_CASE("The name of a recorded program is a fault") {
  const std::string name = "cl-0123456789abcdef0123456789abcdef";
  const std::string rest = "\nsource = \"src/a.cl\"\nkernels = \"all\"\n";
  CHECK(Project().error("schema = 1\n[program." + name + "]" + rest) ==
        "m.toml:2:1: error: program \"" + name +
            "\" has the name of a recorded program\n[program." + name +
            "]\n^\nexpected another: that name is made of a program's source and options\n");
  CHECK(Project().good("schema = 1\n[program." + name + "0]" + rest).programs.size() == 1);
}
