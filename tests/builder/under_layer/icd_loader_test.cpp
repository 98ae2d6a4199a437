// SPDX-License-Identifier: Apache-2.0
#include "builder/under_layer/icd_loader.hpp"

#include <cstdlib>
#include <fstream>

#include "builder/process/temporary_folder.hpp"
#include "tests/support/catch.hpp"

namespace kiln::builder {
namespace {

std::string file_with(const TemporaryFolder &folder, const std::string &text) {
  const std::string path = folder.path() + "/libOpenCL.so.1";
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

}  // namespace

TEST_CASE("a loader that cannot be called takes the layer if it knows layers", "[icd_loader]") {
  const auto folder = TemporaryFolder::make();
  REQUIRE(folder.ok());
  const std::string text("\0x\0OPENCL_LAYERS\0", 17);
  const auto takes = icd_loader_at(file_with(*folder, text), "/the/layer");
  REQUIRE(takes.ok());
  CHECK(takes->knows_layers);
  CHECK(takes->takes_layer);
  const auto none = icd_loader_at(file_with(*folder, "OPENCL_LAYER"), "/the/layer");
  REQUIRE(none.ok());
  CHECK_FALSE(none->knows_layers);
  CHECK_FALSE(none->takes_layer);
  CHECK(icd_loader_at(file_with(*folder, ""), "").status().code == Code::io_error);
  CHECK(icd_loader_at(folder->path(), "").status().code == Code::not_found);
  CHECK(icd_loader_at("/nowhere/lib", "").status().message == "/nowhere/lib: no such file");
  CHECK(refusal_of({"/lib", false, false}) == "/lib does not take layers");
  CHECK(refusal_of({"/lib", true, false}) == "/lib does not take Kiln's layer");
}

TEST_CASE("loaders are read from the dynamic linker's list", "[icd_loader]") {
#if defined(__x86_64__)
  CHECK(icd_loaders_listed("3 libs found in cache `/etc/ld.so.cache'\n"
                           "\tlibOpenCL.so.1 (libc6,x86-64) => /a b/libOpenCL.so.1\n"
                           "\tlibOpenCL.so.1 (libc6) => /lib/i386-linux-gnu/libOpenCL.so.1\n"
                           "\tlibOpenCL.so (libc6,x86-64) => /lib/libOpenCL.so\n"
                           "\tlibMesaOpenCL.so.1 (libc6,x86-64) => /lib/libMesaOpenCL.so.1\n"
                           "\tlibOpenCL.so.1 (libc6,x86-64, OS ABI: Linux 3.2.0) => /c\n") ==
        std::vector<std::string>{"/a b/libOpenCL.so.1"});
#endif
  CHECK(icd_loaders_listed("").empty());
}

TEST_CASE("a named loader must take the layer", "[icd_loader]") {
  const auto folder = TemporaryFolder::make();
  REQUIRE(folder.ok());
  const std::string path = file_with(*folder, "nothing");
  setenv("KILN_ICD_LOADER", path.c_str(), 1);
  CHECK(loader_with_layer("").status().message ==
        "KILN_ICD_LOADER: " + path + " does not take layers");
  file_with(*folder, "OPENCL_LAYERS");
  CHECK(loader_with_layer("")->path == path);
  setenv("KILN_ICD_LOADER", "/nowhere/lib", 1);
  CHECK(loader_with_layer("").status().code == Code::bad_argument);
  unsetenv("KILN_ICD_LOADER");
}

}  // namespace kiln::builder
