// SPDX-License-Identifier: Apache-2.0
#include "builder/finish/launch_twice.hpp"

#include <filesystem>
#include <fstream>

#include "builder/finish/mesa_cache_folder.hpp"
#include "builder/process/temporary_folder.hpp"
#include "runtime/provision/mesa_cache.hpp"
#include "tests/support/catch.hpp"

using namespace kiln::builder;

namespace {

namespace fs = std::filesystem;

void write(const fs::path &path, std::size_t size) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << std::string(size, 'x');
}

}  // namespace

TEST_CASE("what was compiled is the bytes of PoCL's folder and of Mesa's entries") {
  const auto folder = TemporaryFolder::make();
  REQUIRE(folder.ok());
  const fs::path caches = folder->path();
  CHECK(compiled_bytes(caches / "none") == 0);
  CHECK(compiled_bytes(caches) == 0);
  write(caches / "tempfile_a", 0);
  write(caches / "AB" / "CD" / "blur" / "8-8-1" / "blur.so", 100);
  CHECK(compiled_bytes(caches) == 100);
  const fs::path mesa = caches / kMesaRoot / "device";
  write(mesa / "foz_cache.foz", kiln::runtime::kFozMagicSize);
  write(mesa / "kiln.foz", 1000);  // the pack's own entries
  write(caches / kMesaRoot / "rusticl" / "foz_cache.foz", 1000);
  CHECK(compiled_bytes(caches) == 100);
  write(mesa / "foz_cache.foz", kiln::runtime::kFozMagicSize + 7);
  CHECK(compiled_bytes(caches) == 107);
}

TEST_CASE("a driver whose cache is not looked into is judged by the clock") {
  using kiln::runtime::Finishing;
  CHECK(keeps_compiled(Finishing::launches));
  CHECK(keeps_compiled(Finishing::shader_cache));
  CHECK_FALSE(keeps_compiled(Finishing::not_needed));
  CHECK_FALSE(keeps_compiled(Finishing::linker));
}
