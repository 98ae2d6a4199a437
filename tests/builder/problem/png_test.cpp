// SPDX-License-Identifier: Apache-2.0
#include "builder/problem/png.hpp"

#include <filesystem>
#include <fstream>

#include "builder/base/whole_file.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace kiln::builder;

namespace {

std::string read_error(const std::filesystem::path &path) {
  const auto read = read_png(path.string(), 1);
  CHECK_FALSE(read.ok());
  return read.status().message;
}

}  // namespace

TEST_CASE("an image written as PNG is read back the same") {
  const kiln::test::TemporaryFolder folder;
  const std::string path = (folder.path() / "a.png").string();
  Plane image{3, 2, 3, "", {}};
  for (int i = 0; i < 18; ++i) image.pixels.push_back(static_cast<std::uint8_t>(i * 14));
  REQUIRE(write_png(image, path).ok());
  const auto back = read_png(path, 3);
  REQUIRE(back.ok());
  CHECK(back->width == 3);
  CHECK(back->height == 2);
  CHECK(back->pixels == image.pixels);
}

TEST_CASE("what is no PNG is refused by name") {
  const kiln::test::TemporaryFolder folder;
  const std::string path = (folder.path() / "a.png").string();
  CHECK(read_error(path) == path + ": No such file or directory");
  std::ofstream(path) << "not an image";
  CHECK(read_error(path).find(path + ": not a PNG image that can be read") == 0);
  std::ofstream(path, std::ios::trunc).close();
  CHECK(read_error(path).find(path + ": not a PNG image that can be read") == 0);
}

TEST_CASE("an output that cannot be written leaves nothing behind") {
  const kiln::test::TemporaryFolder folder;
  const std::filesystem::path taken = folder.path() / "taken";
  std::filesystem::create_directory(taken);
  CHECK(write_whole_file(taken.string(), "x").message == taken.string() + ": Is a directory");
  CHECK(write_whole_file((folder.path() / "no" / "file").string(), "x")
            .message.find("No such file or directory") != std::string::npos);
  std::size_t entries = 0;
  for (const auto &entry : std::filesystem::directory_iterator(folder.path())) {
    entries += entry.exists() ? 1u : 0u;
  }
  CHECK(entries == 1);
}

TEST_CASE("a picture that PNG cannot hold is refused before it is encoded") {
  const kiln::test::TemporaryFolder folder;
  const std::string path = (folder.path() / "large.png").string();
  // 4 GiB with the bytes between its rows, which an int counts as 65,536; no pixel is read.
  const Plane image{65535, 65537, 1, "", {}};
  const auto status = write_png(image, path);
  CHECK(status.code == kiln::packs::Code::over_limit);
  CHECK_FALSE(std::filesystem::exists(path));
}
