// SPDX-License-Identifier: Apache-2.0
// Variants by combinations of build options, and what Mali's options demand of launches.
#include "builder/manifest/manifest.hpp"

#include "builder/manifest/variant.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/manifest_project.hpp"

using namespace kiln::builder;
using kiln::test::Project;
using Names = std::vector<std::string>;

namespace {

std::string manifest_with(const std::string &variants, const std::string &program = "") {
  return "schema = 1\n[program.a]\nsource = \"src/a.cl\"\noptions = [\"-DA\"]\n" + program +
         "[program.a.variant.plain]\nkernel = \"k\"\n" + variants;
}

const char *const kMali =
    "[program.a.variant.mali]\nkernel = \"k\"\nrequires = [\"vendor:mali\"]\n";

}  // namespace

TEST_CASE("a table of options gives a variant for each combination") {
  const Project project;
  const Manifest manifest = project.good(manifest_with(
      std::string(kMali) +
          "[program.a.variant.mali.options]\n\"-fkernel-vectorizer\" = [\"x2\", \"x4\"]\n"
          "\"-fno-dim-interchange\" = [true, false]\n",
      "prefer = [\"mali.x4-no-fno_dim_interchange\", \"plain\"]\n"));
  const auto &variants = manifest.programs[0].variants;
  Names names;
  Names options;
  for (const auto &variant : variants) {
    names.push_back(variant.record.name);
    options.push_back(variant.record.options);
  }
  CHECK(names == Names{"mali.x2-fno_dim_interchange", "mali.x2-no-fno_dim_interchange",
                       "mali.x4-fno_dim_interchange", "mali.x4-no-fno_dim_interchange", "plain"});
  CHECK(options == Names{"-DA -fkernel-vectorizer=x2 -fno-dim-interchange",
                         "-DA -fkernel-vectorizer=x2",
                         "-DA -fkernel-vectorizer=x4 -fno-dim-interchange",
                         "-DA -fkernel-vectorizer=x4", "-DA"});
  CHECK(variants[3].record.requirements ==
        Names{"no_global_offset", "range_multiple:4", "vendor:mali"});
  CHECK(variants[4].record.requirements.empty());
}

TEST_CASE("a set of options that belong together gives a variant") {
  const Project project;
  const Manifest manifest = project.good(
      manifest_with("sets = [{ name = \"full\" }, { name = \"half\", options = [\"-DT=half\", "
                    "\"-DC=h\"], requires = [\"fp16\"] }]\n"));
  const auto &variants = manifest.programs[0].variants;
  REQUIRE(variants.size() == 2);
  CHECK(variants[0].record.name == "plain.full");
  CHECK(variants[1].record.name == "plain.half");
  CHECK(variants[1].record.options == "-DA -DT=half -DC=h");
  CHECK(variants[1].record.requirements == Names{"fp16"});
}

TEST_CASE("what is merged along several dimensions is multiplied") {
  const auto merged =
      merged_items("-DA -fkernel-vectorizer=x4 -fkernel-unroller=y2 -fkernel-unroller=x2");
  REQUIRE(merged.ok());
  CHECK(merged->option == "-fkernel-vectorizer=x4");
  CHECK(multiple_text(merged->factor) == "8x2");
  CHECK(multiple_text({1, 1, 4}) == "1x1x4");
  CHECK(merged_items("-fno-kernel-vectorizer -fno-kernel-unroller -DA=1")->option.empty());
}

TEST_CASE("a factor that no compiler of Mali's takes is named") {
  const Project project;
  for (const char *value : {"x3", "4", "w2", "x", "x32"}) {
    CAPTURE(value);
    const std::string option = std::string("-fkernel-unroller=") + value;
    const std::string text =
        project.error(manifest_with(std::string(kMali) + "options = [\"" + option + "\"]\n"));
    CHECK(text.find("mali: " + option + " names no dimension and factor") != std::string::npos);
    CHECK(text.find("such as \"-fkernel-unroller=x4\"") != std::string::npos);
  }
  // The compiler would choose.
  CHECK_FALSE(merged_items("-fkernel-vectorizer").ok());
}

TEST_CASE("such options are for Mali, and a work-group is a multiple") {
  const Project project;
  const std::string options = "options = [\"-fkernel-vectorizer=x4\"]\n";
  CHECK(project.error(manifest_with("[program.a.variant.b]\nkernel = \"k\"\n" + options))
            .find("b: -fkernel-vectorizer=x4 is an option of Mali's compiler") !=
        std::string::npos);
  CHECK(project.error(manifest_with(kMali + options + "local_size = [6, 4]\n"))
            .find("mali: local_size is no multiple of 4, which -fkernel-vectorizer=x4 demands") !=
        std::string::npos);
  CHECK(project.good(manifest_with(kMali + options + "local_size = [8, 3]\n"))
            .programs[0]
            .variants.size() == 2);
}

TEST_CASE("two variants of one name are refused, combinations included") {
  const Project project;
  CHECK(project
            .error(manifest_with(std::string(kMali) +
                                 "options = { B = [1, 2] }\n[program.a.variant.\"mali.2\"]\n"
                                 "kernel = \"k\"\n"))
            .find("variant \"mali.2\" of [program.a] is there twice") != std::string::npos);
}

TEST_CASE("a proof is against a reference") {
  const Project project;
  const std::string fast = "[program.a.variant.fast]\nkernel = \"k\"\nrequires = [\"proof\"]\n";
  CHECK(project.error(manifest_with(fast))
            .find("variant \"fast\" requires a proof, and [program.a] has no reference") !=
        std::string::npos);
  const std::string arguments =
      "reference = \"variant:plain\"\narguments = [{ role = \"output\" }]\n";
  CHECK(project.good(manifest_with(fast, arguments)).programs[0].variants.size() == 2);
}
