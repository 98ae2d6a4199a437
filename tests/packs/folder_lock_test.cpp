// SPDX-License-Identifier: Apache-2.0
#include "kiln/packs/pack_folder.hpp"

#include <atomic>
#include <optional>
#include <thread>

#include "kiln/packs/files.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

using kiln::packs::FolderLock;
using kiln::packs::Lock;
using kiln::test::TemporaryFolder;

TEST_CASE("a second writer of a folder waits for the first, whatever its file is called") {
  const TemporaryFolder folder;
  std::optional<FolderLock> first((folder.path() / "a.kiln").string());
  std::atomic<bool> got{false};
  std::thread second([&] {
    const FolderLock lock((folder.path() / "b.kiln").string());
    got = true;
  });
  // A third, which does not wait: it is refused for as long as one of the two holds the lock.
  const kiln::packs::Descriptor third(kiln::packs::open_lock_of(folder.path().string()));
  CHECK_FALSE(try_lock(third.get(), Lock::alone));
  CHECK_FALSE(got);
  first.reset();
  second.join();
  CHECK(got);
  CHECK(try_lock(third.get(), Lock::alone));
}
