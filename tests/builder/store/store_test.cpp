// SPDX-License-Identifier: Apache-2.0
#include "builder/store/store.hpp"

#include <csignal>
#include <fstream>

#include <sys/resource.h>

#include "builder/process/fork_call.hpp"
#include "builder/process/temporary_folder.hpp"
#include "builder/store/blobs.hpp"
#include "tests/builder/store/jobs.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/plain_user.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace kiln;
using builder::Code;
using builder::Database;
using builder::JobState;
using builder::Statement;
using builder::Status;
using builder::Store;
using builder::StoredJob;
using test::action;
using test::job;

namespace {

namespace fs = std::filesystem;

Store opened(const fs::path &file) {
  auto store = Store::open(file.string());
  if (!store.ok()) FAIL(store.status().message);
  return *std::move(store);
}

void run(const fs::path &file, const char *sql) {
  auto database = Database::open(file.string());
  REQUIRE(database.ok());
  CHECK(database->run(sql).message.empty());
}

std::string read(const fs::path &file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// What opening says; the code and the message.
std::pair<Code, std::string> refusal(const fs::path &file) {
  const auto store = Store::open(file.string());
  return {store.status().code, store.status().message};
}

// The same answer as was put.
void check_found(Store &store, const std::string &name) {
  const auto found = store.find(action(name).key);
  REQUIRE(found);
  CHECK(found->answer == job(name).answer);
}

}  // namespace

TEST_CASE("a job that was put is found with its answer, times and state, also by a later process") {
  const test::TemporaryFolder folder;
  const fs::path file = folder.path() / "jobs.sqlite";
  {
    Store store = opened(file);
    CHECK_FALSE(store.find(action("a").key));
    store.put(action("a"), job("a"));
    store.put(action("b"), job("b", JobState::refused));
    check_found(store, "a");
    CHECK(store.status().ok());
  }
  Store store = opened(file);
  check_found(store, "a");
  const auto b = store.find(action("b").key);
  REQUIRE(b);
  CHECK(b->state == JobState::refused);
  CHECK(b->milliseconds == 12);
  CHECK(b->finished == 1'700'000'000);
  CHECK(b->deaths == 0);
  CHECK_FALSE(store.find(action("c").key));
}

TEST_CASE("bytes that several answers have are stored once") {
  const test::TemporaryFolder folder;
  Store store = opened(folder.path() / "jobs.sqlite");
  store.put(action("a"), job("same"));
  const std::int64_t before = store.database().number("select count(*) from blobs");
  store.put(action("b"), job("same"));
  // Its action; answer, binary and the three bytes are there.
  CHECK(store.database().number("select count(*) from blobs") == before + 1);
}

TEST_CASE("a job that is put again replaces the answer and adds up its deaths") {
  const test::TemporaryFolder folder;
  Store store = opened(folder.path() / "jobs.sqlite");
  store.put(action("a"), job("first", JobState::failed));
  store.put(action("a"), job("second", JobState::failed));
  CHECK(store.known(action("a").key)->deaths == 2);
  store.put(action("a"), job("a"));
  check_found(store, "a");
  CHECK(store.known(action("a").key)->state == JobState::done);
  CHECK(store.known(action("a").key)->deaths == 2);
}

TEST_CASE("two processes may have a store open, and one finds at once what the other put") {
  const test::TemporaryFolder folder;
  const fs::path file = folder.path() / "jobs.sqlite";
  Store one = opened(file), other = opened(file);
  for (const char *name : {"a", "b", "c", "d"}) {
    one.put(action(name), job(name));
    check_found(other, name);
    std::swap(one, other);
  }
}

TEST_CASE("a blob whose bytes are damaged is a miss, is removed, and can be put again") {
  const test::TemporaryFolder folder;
  const fs::path file = folder.path() / "jobs.sqlite";
  opened(file).put(action("a"), job("a"));
  const char *const damage = GENERATE(
      "update blobs set bytes = zeroblob(length(bytes))", "update blobs set bytes = x''",
      "update blobs set size = size + 1", "update blobs set size = -1",
      "update blobs set size = 1 << 60", "update blobs set name = zeroblob(32) where size = 100",
      "update jobs set answer = x'00'", "delete from blobs",
      // Of the right form, and another's.
      "update blobs set bytes = (select bytes from blobs where size = 3), size = 3 "
      "where size = 100");
  INFO(damage);
  run(file, damage);
  Store store = opened(file);
  CHECK_FALSE(store.find(action("a").key));
  CHECK(store.status().ok());
  CHECK_FALSE(store.known(action("a").key));
  store.put(action("a"), job("a"));
  check_found(store, "a");
}

TEST_CASE(
    "a store of a later Kiln, another program's database and other files are refused by name") {
  const test::TemporaryFolder folder;
  const fs::path file = folder.path() / "jobs.sqlite";
  const std::string name = file.string();
  SECTION("later") {
    opened(file).put(action("a"), job("a"));
    run(file, "pragma user_version = 2");
    CHECK(refusal(file) == std::pair(Code::newer_version,
                                     name + ": of a later Kiln: schema 2, and this one knows 1"));
  }
  SECTION("another's") {
    run(file, "create table theirs (x)");
    CHECK(refusal(file) == std::pair(Code::bad_magic, name + ": another program's database"));
  }
  SECTION("no database") {
    folder.write("jobs.sqlite", std::string(5000, 'x'));
    CHECK(refusal(file) == std::pair(Code::bad_magic, name + ": file is not a database"));
    CHECK(read(file) == std::string(5000, 'x'));
  }
  SECTION("no folder") {
    CHECK(refusal(folder.path() / "none/jobs.sqlite") ==
          std::pair(Code::io_error, (folder.path() / "none/jobs.sqlite").string() +
                                        ": unable to open database file"));
  }
}

TEST_CASE("a store with a damaged page answers rightly or not at all, and stays where it is") {
  const test::TemporaryFolder folder;
  const fs::path file = folder.path() / "jobs.sqlite";
  {
    Store store = opened(file);
    for (int i = 0; i < 40; ++i) {
      store.put(action("job " + std::to_string(i)), job(std::to_string(i)));
    }
    store.database().run("pragma wal_checkpoint(truncate)");
  }
  const std::string good = read(file);
  std::size_t failed = 0;
  for (std::size_t page = 0; page * 4096 < good.size(); ++page) {
    std::string bad = good;
    for (std::size_t i = 0; i < 4096; i += 7) bad[page * 4096 + i] ^= 0x55;
    folder.write("jobs.sqlite", bad);
    auto store = Store::open(file.string());
    for (int i = 0; store.ok() && i < 40; ++i) {
      const auto found = store->find(action("job " + std::to_string(i)).key);
      if (found) CHECK(found->answer == job(std::to_string(i)).answer);
    }
    const Status status = store.ok() ? store->status() : store.status();
    if (!status.ok()) ++failed;
    CHECK(fs::file_size(file) == good.size());
  }
  CHECK(failed > 0);
  for (std::size_t size : {std::size_t{1}, std::size_t{100}, std::size_t{4095}, good.size() / 2}) {
    folder.write("jobs.sqlite", good.substr(0, size));
    CHECK_FALSE(Store::open(file.string()).ok());
    CHECK(fs::file_size(file) == size);
  }
}

TEST_CASE("a store that cannot be written is refused, and neither it nor its folder is changed") {
  const test::TemporaryFolder folder;
  const fs::path file = folder.path() / "jobs.sqlite";
  opened(file).put(action("a"), job("a"));
  fs::permissions(folder.path(), fs::perms(0755));
  const std::string said =
      test::as_plain_user([&] { return Store::open(file.string()).status().message; });
  if (geteuid() == 0) CHECK(said == file.string() + ": the file cannot be written");
  Store store = opened(file);
  check_found(store, "a");
}

TEST_CASE("on a full disk nothing is put, status() says so, and what was there is found later") {
  const test::TemporaryFolder folder;
  const fs::path file = folder.path() / "jobs.sqlite";
  opened(file).put(action("a"), job("a"));
  const auto child = builder::fork_call(
      [&]() -> nlohmann::json {
        std::signal(SIGXFSZ, SIG_IGN);
        Store store = opened(file);
        const rlimit limit{20'000, 20'000};  // a write beyond that fails
        setrlimit(RLIMIT_FSIZE, &limit);
        StoredJob large = job("b");
        packs::Bytes noise(200'000);
        std::uint32_t state = 1;
        for (auto &byte : noise)
          byte = static_cast<std::uint8_t>((state = state * 1664525 + 1013904223) >> 24);
        large.answer["noise"] = nlohmann::json::binary(noise);
        store.put(action("b"), large);
        const std::string first = store.status().message;
        store.put(action("c"), job("c"));
        return {first, store.status().message, store.find(action("a").key).has_value()};
      },
      std::chrono::seconds(20));
  REQUIRE(child.ok());
  CHECK(child.answer[0].get<std::string>().find(file.string() + ": ") == 0);
  CHECK(child.answer[1] == child.answer[0]);
  CHECK(child.answer[2] == false);  // the store is not used any more
  Store store = opened(file);
  check_found(store, "a");
  CHECK_FALSE(store.find(action("b").key));
}
