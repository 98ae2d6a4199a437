// SPDX-License-Identifier: Apache-2.0
#include "builder/caches/opencv.hpp"

#include <filesystem>

#include "tests/builder/caches/cache_samples.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace kiln;
using namespace kiln::builder;
using packs::Code;

namespace {

constexpr char kSourceHash[] = "24efcb2109749c496118ca8bb46cd4f9";  // of the sample's source
constexpr char kDeviceFolder[] =
    "QUALCOMM--QUALCOMM_Adreno_TM_--OpenCL_3_0_QUALCOMM_build__0800_40_Compiler_E031_45_02_06";

OpencvEntry opencv_entry(const std::string &options, const std::string &binary) {
  return {options, {binary.begin(), binary.end()}};
}

// A name is enough: of what is in the file nothing is asked.
std::string with_name(const test::TemporaryFolder &folder, const std::string &name) {
  folder.write("Vendor--device--1/" + name, "");
  return folder.path();
}

}  // namespace

TEST_CASE("OpenCV's folder of a device has letters, digits and two more characters") {
  CHECK(*opencv_folder(test::adreno()) == kDeviceFolder);
  runtime::Facts device = test::without(test::adreno(), "address_bits");
  device.emplace_back("address_bits", "32");
  CHECK(*opencv_folder(device) == std::string("32-bit--") + kDeviceFolder);
}

TEST_CASE("OpenCV's own sources are named by the digest of their C string literals") {
  const auto hashes = opencv_source_hashes(test::cached_sample().source);
  CHECK(hashes == std::vector<std::string>{kSourceHash, "5048cab405158cf6"});
  CHECK(opencv_source_hashes("#define A \"x\\y\"\nkernel void k() {}\n")[0] ==
        "f987cebefb6d9ec7da06c0134aecb9d9");
}

TEST_CASE("The hash is what stands behind the last underscore of a file's name") {
  CHECK(hash_in_opencv_name("imgproc--filter_2_24efcb2109749c496118ca8bb46cd4f9.bin") ==
        kSourceHash);
  CHECK(hash_in_opencv_name("mine--k_5048cab405158cf6.bin") == "5048cab405158cf6");
  for (const char *name :
       {"", "x", "imgproc--k.bin", "imgproc--k_24efcb.bin", "--k_5048cab405158cf6.bin",
        "k_5048cab405158cf6.bin", "imgproc--k_5048cab405158cf6.bim", "a_5048cab405158cf6--k.bin",
        "imgproc--k_5048CAB405158CF6.bin"}) {
    CHECK(hash_in_opencv_name(name).empty());
  }
}

TEST_CASE("A file of OpenCV's cache has a table of chains behind the hash, and then the entries") {
  // Options whose CRCs end with the same 6 bits, 15, by which they are one chain.
  const auto file =
      opencv_file({opencv_entry("-D N=1", "one"), opencv_entry("-D N=25", "second")}, kSourceHash);
  REQUIRE(file.ok());
  std::string table(256, '\0');
  table[4 * 15] = 0x28;  // 4 + 32 + 4 + 256 = 296
  table[4 * 15 + 1] = 0x01;
  const std::string first = std::string("\x3d\x01\0\0\x06\0\0\0\x03\0\0\0", 12) + "-D N=1one";
  const std::string second = std::string("\0\0\0\0\x07\0\0\0\x06\0\0\0", 12) + "-D N=25second";
  CHECK(*file == std::string("\x20\0\0\0", 4) + kSourceHash + std::string("\x40\0\0\0", 4) + table +
                     first + second);
}

TEST_CASE("What was written to a file of OpenCV's is read from it") {
  std::vector<OpencvEntry> entries;
  for (int i = 0; i < 200; ++i) {
    entries.push_back(opencv_entry("-D N=" + std::to_string(i), "binary " + std::to_string(i)));
  }
  const auto file = opencv_file(entries, kSourceHash);
  REQUIRE(file.ok());
  const auto read = read_opencv_file(test::view_of(*file), kSourceHash);
  REQUIRE(read.ok());
  CHECK(read->size() == 200);
  std::size_t equal = 0;
  for (const OpencvEntry &one : *read) {
    const auto number = static_cast<std::size_t>(std::stoul(one.options.substr(5)));
    if (one.binary == entries[number].binary) ++equal;
  }
  CHECK(equal == 200);
}

TEST_CASE("A file of OpenCV's that is cut short, damaged or of another source is refused") {
  const std::string file =
      *opencv_file({opencv_entry("-D N=1", "one"), opencv_entry("-D N=25", "two")}, kSourceHash);
  const auto code_of = [](const std::string &text, const char *hash) {
    return read_opencv_file(test::view_of(text), hash).status().code;
  };
  CHECK(code_of(file, "f987cebefb6d9ec7da06c0134aecb9d9") == Code::bad_input);
  for (std::size_t size = 0; size < file.size(); ++size) {
    CHECK(code_of(file.substr(0, size), kSourceHash) == Code::bad_input);
  }
  std::string changed = file;
  changed[36] = 65;  // the number of chains
  CHECK(code_of(changed, kSourceHash) == Code::bad_input);
  changed = file;
  changed[296 + 12 + 3] = 'M';  // options of another chain
  CHECK(code_of(changed, kSourceHash) == Code::bad_input);
  changed = file;
  changed[296] = 0x28;  // an entry that follows itself
  CHECK(code_of(changed, kSourceHash) == Code::bad_input);
}

TEST_CASE("OpenCV's cache is written under the names that an OpenCV gave to its sources") {
  const test::TemporaryFolder names, folder;
  const std::string file = std::string("imgproc--k_") + kSourceHash + ".bin";
  const auto cache = open_opencv_cache(folder.path(), with_name(names, file));
  test::check_round_trip(cache.get());
  const auto stored =
      cache->store(test::cached_sample(), test::adreno(), test::view_of("again"), "");
  REQUIRE(stored.ok());
  CHECK(*stored == std::string(kDeviceFolder) + "/" + file);
}

TEST_CASE("Other options stay in a file of OpenCV's to which some are added") {
  const test::TemporaryFolder names, folder;
  with_name(names, std::string("imgproc--k_") + kSourceHash + ".bin");
  CachedProgram other = test::cached_sample();
  other.options = "-D OTHER";
  REQUIRE(open_opencv_cache(folder.path(), names.path())
              ->store(other, test::adreno(), test::view_of("other"), "")
              .ok());
  // The name is now in the folder itself.
  const auto cache = open_opencv_cache(folder.path(), "");
  REQUIRE(cache->store(test::cached_sample(), test::adreno(), test::view_of("binary"), "").ok());
  CHECK(test::text_of(*cache->find(other, test::adreno())) == "other");
}

TEST_CASE("A file in OpenCV's cache that is none of OpenCV's stays as it is") {
  const test::TemporaryFolder folder;
  const auto path = folder.write(std::string(kDeviceFolder) + "/imgproc--k_" + kSourceHash + ".bin",
                                 "something else");
  const auto cache = open_opencv_cache(folder.path(), "");
  CHECK(cache->store(test::cached_sample(), test::adreno(), test::view_of("b"), "").status().code ==
        Code::bad_input);
  CHECK(cache->find(test::cached_sample(), test::adreno()).status().code == Code::bad_input);
  CHECK(std::filesystem::file_size(path) == 14);
}

TEST_CASE("A source that no OpenCV was seen to name is left out of its cache") {
  const test::TemporaryFolder folder;
  const auto cache = open_opencv_cache(folder.path(), "");
  CHECK(cache->store(test::cached_sample(), test::adreno(), test::view_of("b"), "").status().code ==
        Code::requirement);
}
