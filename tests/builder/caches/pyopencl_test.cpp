// SPDX-License-Identifier: Apache-2.0
#include "builder/caches/pyopencl.hpp"

#include <filesystem>

#include "runtime/source/whole_program.hpp"
#include "tests/builder/caches/cache_samples.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace kiln;
using namespace kiln::builder;
using packs::Code;

namespace {

runtime::Facts pocl_facts() {
  return {{"platform_vendor", "The pocl project"},
          {"platform_name", "Portable Computing Language"},
          {"platform_version", "OpenCL 3.0 PoCL 3.1+debian"},
          {"device_vendor", "GenuineIntel"},
          {"device_name", "pthread-skylake-avx512-Intel(R) Xeon(R) Processor"},
          {"device_version", "OpenCL 3.0 PoCL HSTR: x"},
          {"driver_version", "3.1+debian"}};
}

constexpr char kAddedText[] =
    "\n\n__constant int pyopencl_defeat_cache_0123456789abcdef0123456789abcdef = 0;";

}  // namespace

TEST_CASE("A folder of PyOpenCL's cache is named by source, options and the device's tuple") {
  CachedProgram program = test::cached_sample();
  program.options = "-DA=1 ";
  CHECK(*pyopencl_key(program, pocl_facts(), kPyopenclInclude) ==
        "5bd7602b715d0944026d032833b5765e");
}

TEST_CASE("PyOpenCL's folder of headers stands behind the options") {
  CHECK(pyopencl_options("", "/cl") == "-I /cl");
  CHECK(pyopencl_options("-DA ", "/cl") == "-DA -I /cl");
  CHECK(pyopencl_options("-DA", "/cl") == "-DA -I /cl");
  CHECK(pyopencl_options("", "/a b") == "-I \"/a b\"");
}

TEST_CASE("Only the constant that PyOpenCL adds is taken from a source") {
  const std::string source = test::cached_sample().source;
  CHECK(pyopencl_source(source + kAddedText) == source);
  CHECK(pyopencl_source(kAddedText).empty());
  for (const std::string &other :
       {source, std::string(), source + kAddedText + "\n", source + std::string(kAddedText + 2),
        source +
            "\n\n__constant int pyopencl_defeat_cache_0123456789ABCDEF0123456789abcdef = 0;"}) {
    CHECK(pyopencl_source(other) == other);
  }
}

TEST_CASE("A string is written as Python writes it") {
  CHECK(python_literal("").value() == "''");
  CHECK(python_literal("it's").value() == "\"it's\"");
  CHECK(python_literal("a \"b\"").value() == "'a \"b\"'");
  CHECK(python_literal("it's \\ \"x\"").value() == "'it\\'s \\\\ \"x\"'");
  CHECK(python_literal("\t\n\r\x01\x7f").value() == "'\\t\\n\\r\\x01\\x7f'");
  CHECK_FALSE(python_literal("\xc2\xae").has_value());
}

TEST_CASE("PyOpenCL's info is a pickle of protocol 2") {
  CHECK(pyopencl_info("l\xc3") ==
        std::string("\x80\x02") + "cpyopencl.cache\n_SourceInfo\n)\x81}(" +
            std::string("X\x0c\0\0\0dependencies]X\x03\0\0\0logX\x02\0\0\0l?ub.", 36));
}

TEST_CASE("What was written to PyOpenCL's cache is found there") {
  const test::TemporaryFolder folder;
  const auto cache = open_pyopencl_cache(folder.path(), "/cl", "");
  const CachedProgram program = test::cached_sample();
  CHECK(cache->find(program, pocl_facts()).status().code == Code::not_found);
  const auto stored = cache->store(program, pocl_facts(), test::view_of("first"), "a log");
  REQUIRE(stored.ok());
  REQUIRE(cache->store(program, pocl_facts(), test::view_of("binary"), "").ok());
  CHECK(test::text_of(*cache->find(program, pocl_facts())) == "binary");
  const std::string key = stored->substr(0, 32);
  const auto size_of = [&](const char *name) {
    return std::filesystem::file_size(folder.path() / key / name);
  };
  CHECK(size_of("info") == pyopencl_info("a log").size());
  CHECK(size_of("source.cl") == program.source.size());
  // Nothing else is left behind.
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
  folder.write(key + "/source.cl", "another");
  CHECK(cache->find(program, pocl_facts()).status().code == Code::bad_input);
}

TEST_CASE("The text of a program that includes files is learnt from PyOpenCL's cache") {
  const test::TemporaryFolder headers, learn, folder;
  headers.write("one.h", "#define ONE 1\n");
  const std::string own = "  #include <one.h>\nkernel void k(global int *p) { *p = ONE; }";
  const std::string known(32, 'a');
  learn.write(known + "/source.cl", own + kAddedText);
  learn.write(known + "/info", "what PyOpenCL knows of one.h");
  // As the layer records it.
  const auto whole = source::whole_program(own, "-I " + headers.path().string());
  REQUIRE(whole.ok());
  const CachedProgram program{whole->source, whole->options};
  const std::string include = headers.path();
  CHECK(open_pyopencl_cache(folder.path(), include, "")
            ->store(program, pocl_facts(), test::view_of("b"), "")
            .status()
            .code == Code::requirement);
  const auto cache = open_pyopencl_cache(folder.path(), include, learn.path());
  const auto stored = cache->store(program, pocl_facts(), test::view_of("binary"), "");
  REQUIRE(stored.ok());
  const std::string key = *pyopencl_key({own, ""}, pocl_facts(), include);
  CHECK(*stored == key + "/binary");
  CHECK(std::filesystem::file_size(folder.path() / key / "info") == 28);
  CHECK(test::text_of(*cache->find(program, pocl_facts())) == "binary");
  headers.write("one.h", "#define ONE 2\n");  // it is another program now
  CHECK(cache->find(program, pocl_facts()).status().code == Code::requirement);
}

TEST_CASE("A device whose name Python may write in several ways has no key") {
  runtime::Facts device = test::without(pocl_facts(), "device_name");
  const Status status = pyopencl_key(test::cached_sample(), device, "/cl").status();
  CHECK(status.code == Code::requirement);
  CHECK(status.message ==
        "the device's device_name is not known, and the application's key is made of it");
  device.emplace_back("device_name", "Caf\xc3\xa9");
  CHECK(pyopencl_key(test::cached_sample(), device, "/cl").status().code == Code::requirement);
}
