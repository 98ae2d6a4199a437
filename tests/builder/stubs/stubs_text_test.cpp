// SPDX-License-Identifier: Apache-2.0
// Names as identifiers, and what a header says of kernels that it leaves out.
#include "builder/stubs/stubs.hpp"

#include "builder/stubs/identifiers.hpp"
#include "kiln/packs/writer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace kiln;
using namespace kiln::builder;

namespace {

packs::Variant stub_variant(const std::string &name, const std::vector<packs::Kernel> &kernels) {
  packs::Variant variant;
  variant.name = name;
  variant.hash[0] = static_cast<std::uint8_t>(name[0]);
  variant.kernels = kernels;
  return variant;
}

Result<std::string> stubs_of(const std::vector<packs::Program> &programs,
                             StubRequest request = {}) {
  const test::TemporaryFolder folder;
  const std::string path = (folder.path() / "p.kiln").string();
  packs::Contents contents;
  contents.programs = programs;
  REQUIRE(packs::write_pack(contents, path).ok());
  std::shared_ptr<const packs::Pack> pack;
  REQUIRE(packs::Pack::open_file(path.c_str(), &pack).ok());
  packs::Contents read;
  REQUIRE(packs::read_contents(pack, &read).ok());
  return make_stubs(*pack, read, request);
}

bool has(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

const packs::Parameter kInt{"x", "int", 4};
const packs::Parameter kUint{"x", "uint", 4};

}  // namespace

TEST_CASE("a name becomes an identifier that C++ leaves to programs") {
  CHECK(to_identifier("laplace_px4") == "laplace_px4");
  CHECK(to_identifier("a/b-c d") == "a_b_c_d");
  CHECK(to_identifier("2d") == "n2d");
  CHECK(to_identifier("__x__y_") == "x_y");
  CHECK(to_identifier("_Global") == "Global");
  CHECK(to_identifier("\xc3\xa9t\xc3\xa9") == "t");
  CHECK(to_identifier("").size() == 7);
  CHECK(to_identifier("class") == "class_");
  CHECK(to_identifier("kiln") == "kiln_");
  CHECK(to_identifier("cl_uint") == "cl_uint_");
  CHECK(to_identifier("CL_TRUE") == "CL_TRUE_");
  CHECK(is_reserved_word("co_await"));
  CHECK(is_reserved_word("xor_eq"));
  CHECK(is_reserved_word("EOF"));
  CHECK_FALSE(is_reserved_word("kernel"));
  Scope scope({"load"});
  CHECK(scope.add("a") == "a");
  CHECK(scope.add("a") == "a_2");
  CHECK(scope.add("a-") == "a_3");
  CHECK(scope.add("load") == "load_2");
  CHECK(scope.add("int") == "int_");
  CHECK(scope.add("int") == "int_2");
}

TEST_CASE("a kernel that variants declare otherwise is left out, and the comment says why") {
  const packs::Program program{
      "p",
      "",
      {stub_variant("a", {{"same", 1, "", {kInt}}, {"other", 1, "", {kInt}}}),
       stub_variant("b", {{"same", 1, "", {{"y", "int", 4}}}, {"other", 1, "", {kUint}}}),
       stub_variant("c", {{"known", 1, "", {kInt}}, {"unknown", 1}, {"none", 0}})}};
  const auto text = stubs_of({program});
  REQUIRE(text.ok());
  CHECK(has(*text, "// same(int x)\nclass same {"));
  CHECK(has(*text, "// other is left out: variants a and b declare other parameters.\n"));
  CHECK(has(*text, "// unknown is left out: the parameters of variant c are not known.\n"));
  CHECK(has(*text, "class known {"));
  CHECK(has(*text, "class none {"));
  CHECK_FALSE(has(*text, "class other"));
  packs::Program preferred = program;
  preferred.preferred = {"b"};
  CHECK(has(*stubs_of({preferred}), "// same(int y)\nclass same {"));
}

TEST_CASE("variants that name their first kernel differently have one class for it") {
  const auto program = [](const packs::Parameter &other) {
    return packs::Program{"p",
                          "",
                          {stub_variant("a", {{"plain", 1, "", {kInt}}}),
                           stub_variant("b", {{"wide", 1, "", {other}}})}};
  };
  const auto text = stubs_of({program(kInt)});
  REQUIRE(text.ok());
  CHECK(has(*text,
            "// The first kernel of the loaded variant, for example\n// plain(int x)\n"
            "class first {\n public:\n  static constexpr char kName[] = \"\";\n"));
  CHECK(has(*stubs_of({program(kInt)}, {StubLanguage::c, "kernels"}),
            "   plain(int x) */\nenum {\n  KERNELS_P_FIRST_X = 0\n};\n"));
  CHECK_FALSE(has(*stubs_of({program(kUint)}), "class first"));
  CHECK_FALSE(
      has(*stubs_of({{"p", "", {stub_variant("a", {{"same", 1, "", {kInt}}})}}}), "class first"));
}

TEST_CASE("a pack without a kernel whose parameters are known has no header") {
  const auto none = stubs_of({{"p", "", {stub_variant("a", {{"k", 1}})}}});
  CHECK(none.status().code == Code::not_in_pack);
  CHECK(none.status().message ==
        "the pack knows no parameters of its kernels; packs of this version's kiln compile do");
  const auto name = stubs_of({}, {StubLanguage::cpp, "my app"});
  CHECK(name.status().code == Code::bad_argument);
  CHECK(name.status().message == "my app is no name for a namespace; my_app is");
}

TEST_CASE("a pointer's own name says nothing of its elements") {
  const packs::AddressSpace global = packs::AddressSpace::global;
  const packs::Kernel kernel{
      "k", 3, "", {{"T1", "uint2x", 0, global}, {"b", "real", 8}, {"c", "uint2*", 0, global}}};
  const auto text = stubs_of({{"p", "", {stub_variant("a", {kernel})}}});
  REQUIRE(text.ok());
  CHECK(has(*text,
            "template <typename T1>\n  ::kiln::Status set(\n      ::kiln::BufferRef<void> T1_2,\n"
            "      const T1 &b,\n      ::kiln::BufferRef<cl_uint2> c) const"));
}

TEST_CASE("no text of a pack is code in its header") {
  const packs::Parameter odd{"x\n#error", "int\n*/ int y; /*", 4};
  const std::vector<packs::Program> programs = {
      {"p\"\n\\", "", {stub_variant("a", {{"k\"*/", 1, "", {odd}}})}}};
  const auto cpp = stubs_of(programs);
  REQUIRE(cpp.ok());
  CHECK(has(*cpp, "kProgram[] = \"p\\042\\012\\134\";"));
  CHECK(has(*cpp, "// k\"* /(int|x0a* / int y; / * x|x0a#error)\n"));
  CHECK(has(*cpp, "set(\n      const T0 &x_error) const"));
  const auto c = stubs_of(programs, {StubLanguage::c, "kernels"});
  REQUIRE(c.ok());
  CHECK(has(*c, "/* k\"* /(int|x0a* / int y; / * x|x0a#error) */\n"));
  CHECK(has(*c, "#define KERNELS_P_K \"k\\042*/\"\nenum {\n  KERNELS_P_K_X_ERROR = 0\n};\n"));
}
