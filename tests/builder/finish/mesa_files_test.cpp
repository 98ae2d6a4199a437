// SPDX-License-Identifier: Apache-2.0
#include "builder/finish/mesa_cache_folder.hpp"

#include <filesystem>
#include <fstream>

#include "runtime/provision/mesa_cache.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace kiln;
using builder::MesaFiles;
namespace fs = std::filesystem;

namespace {

constexpr char kPlace[] = "0123456789abcdef/llvmpipe";

// As Mesa writes it: the form's version, the driver's id and its name, then what was compiled.
std::string payload(const std::string &driver, const std::string &code) {
  return std::string("\x01") + "0123456789abcdef" + '\0' + driver + '\0' + code;
}

struct Cache {
  test::TemporaryFolder folder{};
  MesaFiles files{folder.path()};

  fs::path file(const std::string &name) const {
    return fs::path(folder.path()) / "mesa_shader_cache" / name.substr(0, 2) / name.substr(2);
  }
  void write(const std::string &name, const std::string &bytes) const {
    fs::create_directories(file(name).parent_path());
    std::ofstream(file(name), std::ios::binary) << bytes;
  }
};

packs::View view_of(const packs::Bytes &bytes) { return {bytes.data(), bytes.size()}; }

const std::string kShort(40, 'a');
const std::string kOther = std::string(39, 'b') + "c";
const std::string kLong = std::string(40, 'd') + std::string(24, 'e');

}  // namespace

TEST_CASE("what Mesa writes after a reset is taken as a blob, of one driver alone") {
  const Cache cache;
  MesaFiles files = cache.files;
  cache.write(kOther, payload("llvmpipe", "of the opening"));
  files.keep();
  files.reset();
  CHECK(files.new_names().empty());
  cache.write(kShort, payload("llvmpipe", "code"));
  cache.write(kLong, payload("llvmpipe", "more"));
  cache.write(std::string(40, 'f'), payload("rusticl", "SPIR-V"));
  cache.write("index", "not an entry");
  CHECK(files.new_names() == std::vector<std::string>{kShort, kLong, std::string(40, 'f')});
  const packs::Bytes blob = files.take(kPlace);
  runtime::MesaBlob parsed;
  REQUIRE(parse_mesa_blob(view_of(blob), &parsed).ok());
  CHECK(parsed.place == kPlace);
  REQUIRE(parsed.entries.size() == 2);
  CHECK(parsed.entries[0].key() == kShort);
  CHECK(parsed.entries[1].key() == kLong.substr(0, 40));
  const packs::View first = parsed.entries[0].payload();
  CHECK(std::string(reinterpret_cast<const char *>(first.data), first.size) ==
        payload("llvmpipe", "code"));
}

TEST_CASE("a blob is put under the names that Mesa looks for, and is nothing new then") {
  const Cache from;
  MesaFiles source = from.files;
  from.write(kShort, payload("llvmpipe", "code"));
  from.write(kLong, payload("llvmpipe", "more"));
  const packs::Bytes blob = source.take(kPlace);
  const Cache to;
  MesaFiles files = to.files;
  files.put(view_of(blob), source.new_names());
  CHECK(files.new_names().empty());
  CHECK(fs::file_size(to.file(kShort)) == payload("llvmpipe", "code").size());
  CHECK(fs::file_size(to.file(kLong)) == payload("llvmpipe", "more").size());
  files.reset();
  CHECK_FALSE(fs::exists(to.file(kShort)));
  CHECK_FALSE(fs::exists(to.file(kLong)));
  to.write(kShort, payload("llvmpipe", "compiled again"));
  CHECK(files.new_names() == std::vector<std::string>{kShort});
}

TEST_CASE("a blob that is none is not put, and a place without a name has no entries") {
  const Cache cache;
  MesaFiles files = cache.files;
  const packs::Bytes garbage{'x', '\n', 1, 2, 3};
  files.put(view_of(garbage));
  CHECK(files.new_names().empty());
  cache.write(kShort, payload("llvmpipe", "code"));
  CHECK(files.take("llvmpipe") == packs::Bytes{'l', 'l', 'v', 'm', 'p', 'i', 'p', 'e', '\n'});
}
