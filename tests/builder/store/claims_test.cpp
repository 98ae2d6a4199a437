// SPDX-License-Identifier: Apache-2.0
#include "builder/store/store.hpp"

#include <csignal>

#include <sys/wait.h>
#include <unistd.h>

#include "builder/process/child_process.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace kiln;
using builder::Claims;

namespace {

packs::Digest key(std::uint8_t first) {
  packs::Digest digest{};
  digest[0] = first;
  return digest;
}

}  // namespace

TEST_CASE("a job is claimed by one builder until that lets go of it") {
  const test::TemporaryFolder folder;
  const std::string file = (folder.path() / "claims").string();
  const Claims one(file), other(file);
  auto claim = one.take(key(1));
  REQUIRE(claim);
  CHECK_FALSE(other.take(key(1)));
  CHECK(other.take(key(2)));
  CHECK(other.take(key(0)));
  claim.reset();
  CHECK(other.take(key(1)));
}

TEST_CASE("a claim that is moved stays one claim") {
  const test::TemporaryFolder folder;
  const std::string file = (folder.path() / "claims").string();
  const Claims one(file), other(file);
  std::optional<Claims::Claim> kept;
  {
    auto claim = one.take(key(1));
    kept = std::move(claim);
  }
  CHECK_FALSE(other.take(key(1)));
  kept.reset();
  CHECK(other.take(key(1)));
}

TEST_CASE("the claim of a builder that was killed is void, and who waits for it goes on") {
  const test::TemporaryFolder folder;
  const std::string file = (folder.path() / "claims").string();
  builder::Pipe ready;
  REQUIRE(ready.open() == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const Claims theirs(file);
    const auto claim = theirs.take(key(1));
    if (write(ready.write.get(), claim ? "y" : "n", 1) != 1) _exit(1);
    for (;;) pause();
  }
  char taken = 0;
  REQUIRE(read(ready.read.get(), &taken, 1) == 1);
  CHECK(taken == 'y');
  const Claims mine(file);
  CHECK_FALSE(mine.take(key(1)));
  kill(child, SIGKILL);
  (void)mine.await(key(1));  // without a limit: it must come back
  CHECK(waitpid(child, nullptr, 0) == child);
  CHECK(mine.take(key(1)));
}

TEST_CASE("where no file can be made everything may be claimed") {
  const Claims claims("/nowhere/at/all");
  const auto claim = claims.take(key(1));
  CHECK(claim);
  CHECK(claims.take(key(1)));
  (void)claims.await(key(1));
}
