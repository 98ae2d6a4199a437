// SPDX-License-Identifier: Apache-2.0
#include "kiln/packs/pack_folder.hpp"

#include <atomic>
#include <optional>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>

#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

using kiln::packs::FolderLock;
using kiln::test::TemporaryFolder;

TEST_CASE("a second writer of a folder waits for the first, whatever its file is called") {
  const TemporaryFolder folder;
  std::optional<FolderLock> first(folder.path() / "a.kiln");
  std::atomic<bool> got{false};
  std::thread second([&] {
    const FolderLock lock(folder.path() / "b.kiln");
    got = true;
  });
  // A third, which does not wait: it is refused for as long as one of the two holds the lock.
  const kiln::packs::Descriptor third(open(folder.path().c_str(), O_RDONLY | O_DIRECTORY));
  CHECK(flock(third.get(), LOCK_EX | LOCK_NB) != 0);
  CHECK_FALSE(got);
  first.reset();
  second.join();
  CHECK(got);
  CHECK(flock(third.get(), LOCK_EX | LOCK_NB) == 0);
}

TEST_CASE("a symbolic link is locked where its file is, and a missing folder not at all") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "real");
  folder.write("real/a.kiln", "");
  std::filesystem::create_symlink("real/a.kiln", folder.path() / "link.kiln");
  const FolderLock lock(folder.path() / "link.kiln");
  const kiln::packs::Descriptor real(
      open((folder.path() / "real").c_str(), O_RDONLY | O_DIRECTORY));
  CHECK(flock(real.get(), LOCK_EX | LOCK_NB) != 0);
  const FolderLock nothing(folder.path() / "nowhere" / "a.kiln");
}
