// SPDX-License-Identifier: Apache-2.0
#include "builder/store/maintenance.hpp"

#include "tests/builder/store/jobs.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace kiln;
using builder::JobState;
using builder::Store;
using test::action;
using test::job;

namespace {

Store opened(const test::TemporaryFolder &folder) {
  auto store = Store::open((folder.path() / "jobs.sqlite").string());
  if (!store.ok()) FAIL(store.status().message);
  return *std::move(store);
}

void put(Store &store, const std::string &name, std::int64_t finished) {
  builder::StoredJob one = job(name, JobState::done);
  one.finished = finished;
  store.put(action(name), std::move(one));
}

std::int64_t stored_bytes(Store &store) {
  return store.database().number("select coalesce(sum(length(bytes)), 0) from blobs");
}

bool has(Store &store, const std::string &name) {
  return store.known(action(name).key).has_value();
}

}  // namespace

TEST_CASE("collecting to a size removes first what was not used for the longest") {
  const test::TemporaryFolder folder;
  Store store = opened(folder);
  for (int i = 0; i < 10; ++i) put(store, std::to_string(i), 1000 - i);
  CHECK(store.find(action("9").key));  // used now
  REQUIRE(builder::collect_garbage(store, 1 << 30).ok());
  for (int i = 0; i < 10; ++i) CHECK(has(store, std::to_string(i)));
  const std::int64_t bytes = stored_bytes(store);
  REQUIRE(builder::collect_garbage(store, bytes / 2).ok());
  CHECK(stored_bytes(store) <= bytes / 2);
  CHECK(stored_bytes(store) >= bytes / 3);
  CHECK(has(store, "0"));  // the latest
  CHECK(has(store, "9"));
  CHECK_FALSE(has(store, "8"));
  const auto left = store.find(action("0").key);
  REQUIRE(left);
  CHECK(left->answer == job("0").answer);
  REQUIRE(builder::collect_garbage(store, 0).ok());
  CHECK_FALSE(has(store, "0"));
  CHECK(stored_bytes(store) == 0);
}

TEST_CASE("collecting removes what replaced answers left") {
  const test::TemporaryFolder folder;
  Store store = opened(folder);
  put(store, "a", 100);
  const std::int64_t bytes = stored_bytes(store);
  store.put(action("a"), job("another answer"));
  CHECK(stored_bytes(store) > bytes);
  REQUIRE(builder::collect_garbage(store, stored_bytes(store)).ok());
  CHECK(stored_bytes(store) < bytes + 100);
  CHECK(store.find(action("a").key)->answer == job("another answer").answer);
}
