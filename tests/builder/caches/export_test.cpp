// SPDX-License-Identifier: Apache-2.0
#include "builder/caches/harvest.hpp"

#include <filesystem>

#include "builder/caches/cache_formats.hpp"
#include "builder/caches/pyopencl.hpp"
#include "tests/builder/caches/cache_samples.hpp"
#include "tests/packs/sample.hpp"

using namespace kiln;
using namespace kiln::builder;
using packs::Code;

namespace {

// A program with a variant for each source, of which the target has a binary each.
packs::Contents with_sources(const std::vector<std::string> &sources) {
  packs::Contents contents;
  contents.programs.emplace_back().name = "p";
  contents.targets = {test::target("first")};
  for (const std::string &source : sources) {
    const std::string name = "v" + std::to_string(contents.targets[0].binaries.size());
    contents.programs[0].variants.push_back(test::variant(name, source));
    contents.targets[0].binaries.push_back(
        test::binary(contents.programs[0].variants.back(), test::bytes_of("binary of " + name)));
  }
  return contents;
}

}  // namespace

TEST_CASE("Each binary of a target is written for the device that it is exact for") {
  const test::TemporaryFolder folder;
  const auto cache = open_pyopencl_cache(folder.path(), "/cl", "");
  const packs::Contents contents = with_sources({"kernel void a() {}", "kernel void b() {}"});
  const std::vector<ExportDevice> devices{{"phone", test::adreno(), &contents.targets[0]}};
  const auto outcomes = export_binaries(contents, devices, "", cache.get());
  REQUIRE(outcomes.size() == 2);
  CHECK(outcomes[1].status.ok());
  CHECK(outcomes[1].device == "phone");
  const CachedProgram program{"kernel void b() {}", "-cl-std=CL1.2"};
  CHECK(outcomes[1].file == *pyopencl_key(program, test::adreno(), "/cl") + "/binary");
  CHECK(test::text_of(*cache->find(program, test::adreno())) == "binary of v1");
  CHECK(export_binaries(contents, devices, "other", cache.get()).empty());
}

TEST_CASE("Where a target has only an intermediate, that is written") {
  const test::TemporaryFolder folder;
  const auto cache = open_pyopencl_cache(folder.path(), "/cl", "");
  packs::Contents contents = with_sources({"kernel void a() {}"});
  std::swap(contents.targets[0].binaries, contents.targets[0].intermediates);
  const auto outcomes = export_binaries(
      contents, {{"device", test::adreno(), &contents.targets[0]}}, "", cache.get());
  REQUIRE(outcomes.size() == 1);
  CHECK(outcomes[0].status.ok());
}

TEST_CASE("Programs whose own text is not in the pack are left out") {
  const test::TemporaryFolder folder;
  const auto cache = open_pyopencl_cache(folder.path(), "/cl", "");
  packs::Contents contents =
      with_sources({"#line 1 \"a.h\"\nint a;\n#line 2 \"<program>\"\nkernel void a() {}", "",
                    "#line 7\nkernel void c() {} // #line 1 \"x\""});
  contents.programs[0].variants[1].source.reset();
  const auto outcomes = export_binaries(
      contents, {{"device", test::adreno(), &contents.targets[0]}}, "", cache.get());
  REQUIRE(outcomes.size() == 3);
  CHECK(outcomes[0].status.code == Code::requirement);
  CHECK(outcomes[0].status.message ==
        "it includes files, and the pack does not hold its original text");
  CHECK(outcomes[1].status.message == "it is SPIR-V, which no cache here holds");
  CHECK(outcomes[2].status.ok());
}

TEST_CASE("An application's own text is that of one file") {
  const std::string text = "// #line 1 \"x\"\n#line 7\nkernel void k() {}\n";
  CHECK(*own_text(text) == text);
  CHECK(*own_text("#line 1 \"k.cl\"\n" + text) == text);
  CHECK(own_text("#line 1 \"k.cl\"").status().code == Code::requirement);
  CHECK(own_text("int a;\n#line 1 \"k.cl\"\n" + text).status().code == Code::requirement);
  CHECK(own_text("#line 1 \"a\"\n#line 1 \"b\"\n" + text).status().code == Code::requirement);
}

TEST_CASE("A cache is recognised by its files' names") {
  const test::TemporaryFolder folder;
  CHECK(recognise_cache(folder.path()).status().code == Code::failed);
  folder.write(std::string(32, 'a') + "/info", "");
  CHECK(*recognise_cache(folder.path()) == "pyopencl");
  folder.write("Vendor--device--1/mine--k_5048cab405158cf6.bin", "");
  CHECK(recognise_cache(folder.path()).status().message ==
        folder.path().string() + ": it has files of opencv's cache and of pyopencl's");
  std::filesystem::remove_all(folder.path() / std::string(32, 'a'));
  CHECK(*recognise_cache(folder.path()) == "opencv");
}

TEST_CASE("A format that is not known is refused") {
  CHECK(open_cache({"opncv", "folder"}).status().message ==
        "unknown format opncv: expected one of: opencv, pyopencl; did you mean \"opencv\"?");
}

TEST_CASE("The digests of caches are those of their standards") {
  CHECK(md5_hex("abc") == "900150983cd24fb0d6963f7d28e17f72");
  CHECK(md5_hex("") == "d41d8cd98f00b204e9800998ecf8427e");
  CHECK(crc64("123456789") == 0x995dc9bbdf1939fa);
  CHECK(crc64("") == 0);
}
