// SPDX-License-Identifier: Apache-2.0
// Putting a pack's entries of Mesa's cache in place, and taking them out.
#include "runtime/provision/mesa_provision.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <sys/stat.h>
#include <unistd.h>

#include "kiln/packs/contents.hpp"
#include "kiln/packs/writer.hpp"
#include "kiln/provision.h"
#include "runtime/provision/mesa_cache.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/plain_user.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace kiln;
using namespace kiln::runtime;
namespace fs = std::filesystem;

namespace {

using PackPointer = std::shared_ptr<const packs::Pack>;

const std::string kPlace = "0123abcd/llvmpipe";

packs::Bytes bytes_of(const std::string &text) { return {text.begin(), text.end()}; }

std::string text_of(const fs::path &path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// An entry without a payload: its checksum is known.
std::string entry(char key) {
  const std::string one("\1\0\0\0", 4);
  return std::string(40, key) + std::string(4, '\0') + one + "\xff\xff\xff\xff" +
         std::string(4, '\0');
}

// A pack whose target has these blobs, one per variant.
PackPointer pack_of(const test::TemporaryFolder &folder, const std::vector<std::string> &blobs,
                    const std::string &profile = "rusticl") {
  packs::Contents contents;
  packs::Program program{"p", "", {}};
  packs::Target target;
  target.key = "k=v\n";
  target.profile = profile;
  for (std::size_t i = 0; i < blobs.size(); ++i) {
    packs::Variant variant;
    variant.name = "v" + std::to_string(i);
    variant.hash[0] = static_cast<std::uint8_t>(i + 1);
    variant.kernels = {{"k", 1}};
    packs::Binary binary{variant.hash, packs::BlobSource(bytes_of("x")), "", {{64, 1, 0, 0}}};
    binary.cache_entries = packs::BlobSource(bytes_of(blobs[i]));
    program.variants.push_back(variant);
    target.binaries.push_back(binary);
  }
  contents.programs = {program};
  contents.targets = {target};
  const std::string path = (folder.path() / "p.kiln").string();
  const packs::Status written = packs::write_pack(contents, path);
  INFO(written.message);
  REQUIRE(written.ok());
  PackPointer pack;
  REQUIRE(packs::Pack::open_file(path.c_str(), &pack).ok());
  return pack;
}

kiln::packs::Status provision(const std::vector<PackPointer> &packs, const char *folder,
                              ProvisionResult *result) {
  MesaEntries entries;
  for (const PackPointer &pack : packs) {
    if (kiln::packs::Status s = entries.add(pack); !s.ok()) return s;
  }
  return entries.provision(folder, result);
}

// A folder with nothing in it, and what a call on it gives.
struct Cache {
  test::TemporaryFolder outside;
  fs::path root = outside.path() / "cache";
  fs::path place = root / "mesa_shader_cache_sf" / kPlace;
  ProvisionResult result;

  kiln::packs::Status put(const std::vector<std::string> &blobs) {
    return provision({pack_of(outside, blobs)}, root.c_str(), &result);
  }
  std::string fault(const std::vector<std::string> &blobs) { return put(blobs).message; }
  std::string foz() const { return text_of(place / "kiln.foz"); }
  std::string index() const { return text_of(place / "kiln_idx.foz"); }
  std::vector<ino_t> files() const {
    std::vector<ino_t> all;
    for (const char *name : {"kiln.foz", "kiln_idx.foz", "kiln.marker"}) {
      struct stat info {};
      REQUIRE(stat((place / name).c_str(), &info) == 0);
      all.push_back(info.st_ino);
    }
    return all;
  }
  std::size_t count() const {
    const fs::directory_iterator all(place);
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }
};

const std::string kHead = kPlace + "\n";

}  // namespace

TEST_CASE("a pack's entries become one database per place", "[provision]") {
  Cache cache;
  REQUIRE(cache
              .put({kHead + entry('b') + entry('c'), kHead + entry('a') + entry('b'),
                    "ff/llvmpipe\n" + entry('d')})
              .ok());
  CHECK(cache.result.places == 2);
  CHECK(cache.result.written == 2);
  CHECK(cache.result.entries == 4);
  CHECK(cache.foz().substr(16) == entry('a') + entry('b') + entry('c'));
  CHECK(cache.index().size() == 16 + 3 * kFozIndexEntrySize);
  CHECK(text_of(cache.root / "mesa_shader_cache_sf/ff/llvmpipe/kiln.foz").substr(16) == entry('d'));
  CHECK(cache.count() == 3);
  CHECK(text_of(cache.place / "kiln.marker").substr(0, 43) ==
        "kiln provisioned 1\nplace 0123abcd/llvmpipe\n");
  struct stat info {};
  REQUIRE(stat(cache.place.c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0700);
}

TEST_CASE("a second call writes nothing", "[provision]") {
  Cache cache;
  REQUIRE(cache.put({kHead + entry('a')}).ok());
  const std::vector<ino_t> files = cache.files();
  REQUIRE(cache.put({kHead + entry('a')}).ok());
  CHECK(cache.result.places == 1);
  CHECK(cache.result.written == 0);
  CHECK(cache.files() == files);
}

TEST_CASE("several packs are written at once", "[provision]") {
  Cache cache;
  const PackPointer first = pack_of(cache.outside, {kHead + entry('b')});
  const PackPointer other = pack_of(cache.outside, {"anything"}, "pocl");
  const PackPointer second = pack_of(cache.outside, {kHead + entry('a') + entry('b')});
  REQUIRE(provision({first, other, second}, cache.root.c_str(), &cache.result).ok());
  CHECK(cache.result.places == 1);
  CHECK(cache.foz().substr(16) == entry('a') + entry('b'));
}

TEST_CASE("a damaged pack takes nothing from the packs before it", "[provision]") {
  Cache cache;
  MesaEntries entries;
  REQUIRE(entries.add(pack_of(cache.outside, {kHead + entry('a')})).ok());
  CHECK_FALSE(entries.add(pack_of(cache.outside, {kHead + entry('b').substr(1)})).ok());
  CHECK_FALSE(entries.empty());
  REQUIRE(entries.provision(cache.root.c_str(), &cache.result).ok());
  CHECK(cache.foz().substr(16) == entry('a'));
}

TEST_CASE("another pack's entries come behind what is there", "[provision]") {
  Cache cache;
  REQUIRE(cache.put({kHead + entry('b')}).ok());
  const std::string foz = cache.foz();
  const std::string index = cache.index();
  REQUIRE(cache.put({kHead + entry('a')}).ok());
  CHECK(cache.foz() == foz + entry('a'));
  CHECK(cache.index().substr(0, index.size()) == index);
  CHECK(cache.result.entries == 2);
}

TEST_CASE("damage is repaired", "[provision]") {
  Cache cache;
  REQUIRE(cache.put({kHead + entry('a') + entry('b')}).ok());
  const std::string foz = cache.foz();
  const std::string index = cache.index();
  const auto heals = [&](const char *name, const std::string &text) {
    CAPTURE(name, text.size());
    std::ofstream(cache.place / name, std::ios::binary) << text;
    REQUIRE(cache.put({kHead + entry('a') + entry('b')}).ok());
    CHECK(cache.result.written == 1);
    CHECK(cache.foz() == foz);
    CHECK(cache.index() == index);
    CHECK(cache.count() == 3);
  };
  for (std::size_t size = 0; size < foz.size(); ++size) heals("kiln.foz", foz.substr(0, size));
  for (std::size_t size = 0; size < index.size(); size += 5) {
    heals("kiln_idx.foz", index.substr(0, size));
  }
  heals("kiln_idx.foz", index + "x");
  heals("kiln.foz", foz + "x");
  heals("kiln.foz", std::string(100, 'x'));
  fs::remove(cache.place / "kiln_idx.foz");
  REQUIRE(cache.put({kHead + entry('a') + entry('b')}).ok());
  CHECK(cache.index() == index);
}

TEST_CASE("what is in the way is named", "[provision]") {
  Cache cache;
  const std::vector<std::string> blobs = {kHead + entry('a')};
  SECTION("a file that is not Kiln's") {
    fs::create_directories(cache.place);
    std::ofstream(cache.place / "kiln.foz") << "theirs";
    CHECK(cache.fault(blobs) == (cache.place / "kiln.foz").string() + ": it is not Kiln's");
    CHECK(cache.foz() == "theirs");
  }
  SECTION("a link where a file should be") {
    fs::create_directories(cache.place);
    fs::create_symlink("elsewhere", cache.place / "kiln.marker");
    CHECK(cache.fault(blobs) == (cache.place / "kiln.marker").string() + ": it is a symbolic link");
  }
  SECTION("a link where a folder should be") {
    fs::create_directories(cache.root / "mesa_shader_cache_sf");
    fs::create_directories(cache.outside.path() / "elsewhere");
    fs::create_symlink(cache.outside.path() / "elsewhere",
                       cache.root / "mesa_shader_cache_sf/0123abcd");
    CHECK(cache.fault(blobs) ==
          (cache.root / "mesa_shader_cache_sf/0123abcd").string() + ": it is a symbolic link");
    CHECK(fs::is_empty(cache.outside.path() / "elsewhere"));
  }
  SECTION("a folder that any user may write to") {
    fs::create_directories(cache.place);
    REQUIRE(chmod(cache.place.c_str(), 0777) == 0);
    CHECK(cache.fault(blobs) == cache.place.string() + ": another user owns it or may write to it");
  }
  SECTION("a missing folder above the folder") {
    ProvisionResult result;
    const PackPointer pack = pack_of(cache.outside, blobs);
    const std::string path = (cache.root / "below").string();
    CHECK(provision({pack}, path.c_str(), &result).message == path + ": No such file or directory");
  }
  SECTION("no permission to write") {
    CHECK(test::as_plain_user([&] {
            Cache closed;
            fs::create_directories(closed.root);
            chmod(closed.root.c_str(), 0500);
            const std::string fault = closed.fault(blobs);
            const std::string folder = closed.outside.path().string();
            return fault.rfind(folder, 0) == 0 ? fault.substr(folder.size()) : fault;
          }) == "/cache/mesa_shader_cache_sf: Permission denied");
  }
}

TEST_CASE("a bad blob is the pack's fault, and nothing is written", "[provision]") {
  Cache cache;
  const kiln::packs::Status error = cache.put({kHead + entry('a'), kHead + entry('a').substr(1)});
  CHECK(kiln::runtime::status_of(error.code) == KILN_ERROR_PACK_BAD);
  CHECK(error.message == "Mesa's cache entry at byte 18 is cut off");
  CHECK(cache.put({"../x\n" + entry('a')}).code == kiln::packs::Code::bad_argument);
  CHECK_FALSE(fs::exists(cache.root));
}

TEST_CASE("other profiles' blobs are left alone", "[provision]") {
  Cache cache;
  MesaEntries entries;
  REQUIRE(entries.add(pack_of(cache.outside, {"anything"}, "pocl")).ok());
  CHECK(entries.empty());
  REQUIRE(entries.provision(cache.root.c_str(), &cache.result).ok());
  CHECK(cache.result.places == 0);
  CHECK_FALSE(fs::exists(cache.root));
}

TEST_CASE("a place without entries counts as empty", "[provision]") {
  Cache cache;
  MesaEntries entries;
  REQUIRE(entries.add(pack_of(cache.outside, {kHead})).ok());
  CHECK(entries.empty());
}

TEST_CASE("removing takes out what was put there and nothing else", "[provision]") {
  Cache cache;
  std::size_t removed = 1;
  REQUIRE(remove_provisioned(cache.root.c_str(), &removed).ok());
  CHECK(removed == 0);
  CHECK_FALSE(fs::exists(cache.root));

  REQUIRE(cache.put({kHead + entry('a'), "ff/llvmpipe\n" + entry('d')}).ok());
  std::ofstream(cache.place / "foz_cache.foz") << "Mesa's";
  std::ofstream(cache.place / "temporary-0123456789abcdef") << "left behind";
  const fs::path theirs = cache.root / "mesa_shader_cache_sf/ee/llvmpipe";
  fs::create_directories(theirs);
  std::ofstream(theirs / "kiln.foz") << "theirs";
  std::ofstream(theirs / "kiln.marker") << "kiln provisioned 1\nplace ff/llvmpipe\n";
  fs::create_directory_symlink(cache.place, cache.root / "mesa_shader_cache_sf/link");

  REQUIRE(remove_provisioned(cache.root.c_str(), &removed).ok());
  CHECK(removed == 2);
  CHECK(cache.count() == 1);
  CHECK(text_of(cache.place / "foz_cache.foz") == "Mesa's");
  CHECK(fs::is_empty(cache.root / "mesa_shader_cache_sf/ff/llvmpipe"));
  CHECK(text_of(theirs / "kiln.foz") == "theirs");

  REQUIRE(cache.put({kHead + entry('a')}).ok());
  CHECK(cache.result.written == 1);
}

TEST_CASE("the environment points Mesa at the folder", "[provision]") {
  const char *names[] = {"MESA_SHADER_CACHE_DIR", "MESA_DISK_CACHE_READ_ONLY_FOZ_DBS",
                         "MESA_DISK_CACHE_SINGLE_FILE", "MESA_DISK_CACHE_COMBINE_RW_WITH_RO_FOZ"};
  for (const char *name : names) unsetenv(name);
  point_mesa_at("/x");
  CHECK(std::string(getenv(names[0])) == "/x");
  CHECK(std::string(getenv(names[1])) == "kiln");
  CHECK(std::string(getenv(names[2])) == "1");
  CHECK(std::string(getenv(names[3])) == "1");
  setenv(names[1], "kilns,mine", 1);
  setenv(names[2], "0", 1);
  point_mesa_at("/y");
  point_mesa_at("/y");
  CHECK(std::string(getenv(names[0])) == "/y");
  CHECK(std::string(getenv(names[1])) == "kilns,mine,kiln");
  CHECK(std::string(getenv(names[2])) == "0");
  for (const char *name : names) unsetenv(name);
}

TEST_CASE("the C interface puts in place, points Mesa there, and takes out", "[provision]") {
  const char *variable = "MESA_SHADER_CACHE_DIR";
  unsetenv(variable);
  Cache cache;
  REQUIRE(pack_of(cache.outside, {kHead + entry('a')}));
  const std::string pack = (cache.outside.path() / "p.kiln").string();
  kiln_error error{};
  for (const auto &[path, folder] : {std::pair{static_cast<const char *>(nullptr), "x"},
                                     {pack.c_str(), static_cast<const char *>(nullptr)}}) {
    CHECK(kiln_provision(path, folder, &error) == KILN_ERROR_ARGUMENT);
  }
  CHECK(kiln_provision("/nowhere", cache.root.c_str(), &error) == KILN_ERROR_PACK_NOT_FOUND);
  CHECK(kiln_provision(pack.c_str(), (cache.root / "below").c_str(), &error) == KILN_ERROR_PACK_IO);
  CHECK(getenv(variable) == nullptr);
  REQUIRE(kiln_provision(pack.c_str(), cache.root.c_str(), &error) == KILN_OK);
  CHECK(getenv(variable) == cache.root.string());
  CHECK(cache.foz().substr(16) == entry('a'));
  CHECK(kiln_provision_remove(nullptr, &error) == KILN_ERROR_ARGUMENT);
  CHECK(kiln_provision_remove(cache.root.c_str(), nullptr) == KILN_OK);
  CHECK_FALSE(fs::exists(cache.place / "kiln.foz"));
  for (const char *name :
       {variable, "MESA_DISK_CACHE_READ_ONLY_FOZ_DBS", "MESA_DISK_CACHE_SINGLE_FILE",
        "MESA_DISK_CACHE_COMBINE_RW_WITH_RO_FOZ"}) {
    unsetenv(name);
  }
}

TEST_CASE("an index of other entries is replaced, and one that can go on is kept", "[provision]") {
  Cache cache;
  REQUIRE(cache.put({kHead + entry('b')}).ok());
  const std::string index = cache.index();
  for (const std::string &other :
       {index + index.substr(16), std::string("x"), "y" + index.substr(1), std::string()}) {
    CAPTURE(other.size());
    std::ofstream(cache.place / "kiln_idx.foz", std::ios::binary) << other;
    REQUIRE(cache.put({kHead + entry('b')}).ok());
    CHECK(cache.index() == index);
  }
  // What stands in its place is not removed.
  fs::remove(cache.place / "kiln_idx.foz");
  fs::create_directory(cache.place / "kiln_idx.foz");
  CHECK(cache.fault({kHead + entry('b')}) ==
        (cache.place / "kiln_idx.foz").string() + ": Is a directory");
}

TEST_CASE("a marker that is cut off or of another place is not Kiln's", "[provision]") {
  for (const std::string &marker :
       {std::string("kiln provisioned 1\nplace 0123abcd/llvmpipe"), std::string("kiln"),
        std::string("kiln provisioned 1\nplace ff/llvmpipe\n"), std::string()}) {
    CAPTURE(marker);
    Cache cache;
    fs::create_directories(cache.place);
    std::ofstream(cache.place / "kiln.marker") << marker;
    CHECK(cache.fault({kHead + entry('a')}) ==
          (cache.place / "kiln.marker").string() + ": it is not Kiln's");
    std::size_t removed = 1;
    REQUIRE(remove_provisioned(cache.root.c_str(), &removed).ok());
    CHECK(removed == 0);
  }
}

TEST_CASE("removing passes over folders that others may write to, and goes on", "[provision]") {
  Cache cache;
  std::vector<std::string> blobs;
  for (const char *id : {"aa", "bb", "cc", "dd"}) {
    blobs.push_back(std::string(id) + "/llvmpipe\n" + entry('a'));
  }
  REQUIRE(cache.put(blobs).ok());
  const fs::path all = cache.root / "mesa_shader_cache_sf";
  REQUIRE(chmod((all / "bb").c_str(), 0777) == 0);
  fs::create_directories(all / "a b");
  std::ofstream(all / "file") << "x";
  std::size_t removed = 0;
  REQUIRE(remove_provisioned(cache.root.c_str(), &removed).ok());
  CHECK(removed == 3);
  CHECK(fs::exists(all / "bb/llvmpipe/kiln.foz"));
  CHECK_FALSE(fs::exists(all / "dd/llvmpipe/kiln.foz"));
}
