// SPDX-License-Identifier: Apache-2.0
#include "builder/manifest/manifest.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/manifest_project.hpp"

using namespace kiln::builder;
using kiln::test::Project;
using Names = std::vector<std::string>;

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
      "requires = [\"fp16\"]\ninclude_dirs = [\"inc\"]\nlocal_sizes = [[64], [16, 4], [64, 1]]\n"));
  CHECK(listed(manifest) == "p: -DA -DB\n");
  const auto &record = manifest.programs[0].variants[0].record;
  REQUIRE(record.kernels.size() == 2);
  CHECK(record.kernels[1].name == "other");
  CHECK(record.requirements == std::vector<std::string>{"fp16"});
  CHECK(record.local_sizes == std::vector<std::array<std::uint32_t, 3>>{{16, 4, 1}, {64, 1, 1}});
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

TEST_CASE("A set makes a program of each file, with the options that belong together") {
  const Project project;
  const std::string sets =
      "sets = [{ name = \"full\", options = [\"-DT=float\", \"-DC=f\"] },\n"
      "  { name = \"half\", options = { T = \"half\", N = [4, 8] }, requires = [\"fp16\"] }]\n";
  const Manifest manifest =
      project.good(program("source = \"src/*.cl\"\nkernels = \"all\"\noptions = [\"-DA\"]\n"
                           "requires = [\"images\"]\n" +
                           sets));
  CHECK(listed(manifest) ==
        "a.full: -DA -DT=float -DC=f\n"
        "a.half-4: -DA -DN=4 -DT=half\n"
        "a.half-8: -DA -DN=8 -DT=half\n"
        "b.full: -DA -DT=float -DC=f\n"
        "b.half-4: -DA -DN=4 -DT=half\n"
        "b.half-8: -DA -DN=8 -DT=half\n");

  CHECK(manifest.programs[0].variants[0].record.requirements == Names{"images"});
  CHECK(manifest.programs[1].variants[0].record.requirements == Names{"fp16", "images"});
  CHECK(listed(project.good(program("source = \"src/a.cl\"\nkernels = \"all\"\n" + sets +
                                    "options = { M = [1, 2] }\n"))) ==
        "p.full-1: -DM=1 -DT=float -DC=f\n"
        "p.full-2: -DM=2 -DT=float -DC=f\n"
        "p.half-4-1: -DM=1 -DN=4 -DT=half\n"
        "p.half-4-2: -DM=2 -DN=4 -DT=half\n"
        "p.half-8-1: -DM=1 -DN=8 -DT=half\n"
        "p.half-8-2: -DM=2 -DN=8 -DT=half\n");
}

TEST_CASE("Some files of a pattern have options, requirements and sets of their own") {
  const Project project;
  const Manifest manifest = project.good(program(R"(source = "src/*.cl"
kernels = "all"
options = ["-DA"]
sets = [{ name = "full" }, { name = "half", options = ["-DH"], requires = ["fp16"] }]
[program.p.files]
"b*" = { options = ["-DB"], requires = ["images"], sets = ["half", { name = "own" }] }
"*.cl" = { options = ["-DALL"], requires = ["subgroups"] }
"a.cl" = { il = false }
)"));
  CHECK(listed(manifest) ==
        "a.full: -DA -DALL\n"
        "a.half: -DA -DALL -DH\n"
        "b.half: -DA -DB -DALL -DH\n"
        "b.own: -DA -DB -DALL\n");

  CHECK(manifest.programs[0].variants[0].record.requirements == Names{"subgroups"});
  CHECK(manifest.programs[2].variants[0].record.requirements ==
        Names{"fp16", "images", "subgroups"});
  CHECK_FALSE(manifest.programs[0].variants[0].il);
  CHECK(manifest.programs[2].variants[0].il);
  CHECK(listed(project.good(program("source = \"src/*.cl\"\nkernels = \"all\"\n"
                                    "files = { \"b.cl\" = { skip = true } }\n"))) == "a: \n");
}

TEST_CASE("Two tables over the same files have sets of different names") {
  const std::string pattern = "source = \"src/*.cl\"\nkernels = \"all\"\n";
  const std::string second =
      program(pattern + "sets = [{ name = \"x\" }]\n") + "[program.q]\n" + pattern;
  CHECK(listed(Project().good(second + "sets = [{ name = \"y\", options = [\"-DY\"] }]\n")) ==
        "a.x: \na.y: -DY\nb.x: \nb.y: -DY\n");
  CHECK(Project().error(second + "sets = [{ name = \"x\" }]\n") ==
        "m.toml:6:1: error: program \"a.x\" is there twice\n[program.q]\n^\n"
        "expected each name once, those of files and of options included; tables over the same "
        "files differ by the names of sets\n");
}

TEST_CASE("Faults of sets and of files are placed") {
  const Project project;
  const std::string start = "source = \"src/*.cl\"\nkernels = \"all\"\n";
  const auto error = [&](const std::string &lines) {
    return project.error(program(start + lines));
  };
  CHECK(error("sets = [\"half\"]\n") ==
        "m.toml:5:9: error: set 1 of [program.p] is unknown: \"half\"\n"
        "sets = [\"half\"]\n"
        "        ^\n"
        "expected tables such as { name = \"half\", options = [\"-DT=half\"] }\n");
  CHECK(error("sets = []\n").starts_with("m.toml:5:8: error: \"sets\" in [program.p] is empty\n"));
  CHECK(error("sets = [{ options = [\"-DA\"] }]\n")
            .starts_with("m.toml:5:9: error: missing key \"name\" in set 1 of [program.p]\n"));
  CHECK(error("sets = [{ name = \"a\" }, { name = \"a\" }]\n")
            .starts_with("m.toml:5:25: error: set \"a\" of [program.p] is there twice\n"));
  CHECK(error("sets = [{ name = \"a\", require = [] }]\n") ==
        "m.toml:5:23: error: unknown key \"require\" in set 1 of [program.p]\n"
        "sets = [{ name = \"a\", require = [] }]\n"
        "                      ^\n"
        "expected one of: name, options, requires; did you mean \"requires\"?\n");
  const std::string sets = "sets = [{ name = \"full\" }, { name = \"half\" }]\n";
  CHECK(error(sets + "files = { \"a*\" = { sets = [\"hal\"] } }\n") ==
        "m.toml:6:28: error: set 1 of files \"a*\" of [program.p] is unknown: \"hal\"\n"
        "files = { \"a*\" = { sets = [\"hal\"] } }\n"
        "                           ^\n"
        "expected one of: full, half; did you mean \"half\"?\n");
  CHECK(error(sets + "files = { \"a*\" = { sets = [\"half\"] }, \"*\" = { sets = [\"full\"] } }\n")
            .starts_with("m.toml:6:39: error: a.cl has the sets of \"a*\" and of \"*\"\n"));
  CHECK(error("files = { \"x*\" = { skip = true } }\n") ==
        "m.toml:5:11: error: no file of [program.p] is called \"x*\"\n"
        "files = { \"x*\" = { skip = true } }\n"
        "          ^\n"
        "expected the names of some files that its source fits and no other program names\n");
  CHECK(error("files = { \"src/a*\" = {} }\n")
            .starts_with("m.toml:5:11: error: files \"src/a*\" of [program.p] have a folder\n"));
  CHECK(error("files = { \"a*\" = 1 }\n")
            .starts_with("m.toml:5:11: error: files \"a*\" of [program.p] have no table\n"));
  CHECK(project.error(program("source = \"src/a.cl\"\nkernels = \"all\"\nfiles = {}\n"))
            .starts_with("m.toml:5:9: error: \"files\" of [program.p] needs several files\n"));
  std::string many;
  for (int i = 0; i < 65; ++i) many += std::to_string(i) + ", ";
  CHECK(error("options = { A = [" + many + "] }\nsets = [{ name = \"s\", options = { B = [" + many +
              "] } }]\n")
            .starts_with("m.toml:2:1: error: [program.p] has too many combinations\n"));
}
