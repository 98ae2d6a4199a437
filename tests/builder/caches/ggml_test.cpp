// SPDX-License-Identifier: Apache-2.0
#include "builder/caches/ggml.hpp"

#include "tests/builder/caches/cache_samples.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace kiln;
using namespace kiln::builder;
using packs::Code;

TEST_CASE(
    "A file of llama.cpp's cache is named by source, options and four of the device's strings") {
  const auto name = ggml_file_name(test::cached_sample(), test::adreno());
  REQUIRE(name.ok());
  CHECK(*name == "19e88fea11b4375aeb758a328605a3f7952f38eef1d5d4b2b423d31506735e26.clbin");
}

TEST_CASE("llama.cpp's sources are C strings") {
  CachedProgram program = test::cached_sample();
  program.source += std::string("\0more", 5);
  CHECK(*ggml_file_name(program, test::adreno()) ==
        *ggml_file_name(test::cached_sample(), test::adreno()));
}

TEST_CASE("A device that does not tell its version has no file of llama.cpp's") {
  const auto name =
      ggml_file_name(test::cached_sample(), test::without(test::adreno(), "device_version"));
  CHECK(name.status().code == Code::requirement);
  CHECK(name.status().message ==
        "the device's device_version is not known, of which the application makes its key");
}

TEST_CASE("A file of llama.cpp's cache has 16 bytes before the binary") {
  const std::string file = ggml_file(test::view_of("binary"));
  CHECK(file == std::string("GGMLCLBC\x01\0\0\0\0\0\0\0binary", 22));
  const auto binary = read_ggml_file(test::view_of(file));
  REQUIRE(binary.ok());
  CHECK(test::text_of(*binary) == "binary");
}

TEST_CASE("What is no file of llama.cpp's, of another version or cut short is refused") {
  const std::string file = ggml_file(test::view_of("b"));
  for (std::size_t size = 0; size < file.size(); ++size) {
    CHECK(read_ggml_file(test::view_of(file.substr(0, size))).status().code == Code::bad_input);
  }
  for (std::size_t at = 0; at < 16; ++at) {
    std::string changed = file;
    ++changed[at];
    CHECK(read_ggml_file(test::view_of(changed)).status().code == Code::bad_input);
  }
}

TEST_CASE("What was written to llama.cpp's cache is found there") {
  const test::TemporaryFolder folder;
  test::check_round_trip(open_ggml_cache(folder.path() / "made").get());
}
