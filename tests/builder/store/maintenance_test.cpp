// SPDX-License-Identifier: Apache-2.0
#include "builder/store/maintenance.hpp"

#include <map>

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

void put(Store &store, const std::string &name, std::int64_t finished,
         JobState state = JobState::done) {
  builder::StoredJob one = job(name, state);
  one.finished = finished;
  store.put(action(name), std::move(one));
}

bool has(Store &store, const std::string &name) {
  return store.known(action(name).key).has_value();
}

}  // namespace

TEST_CASE("statistics count jobs by device, failures, deaths and bytes") {
  const test::TemporaryFolder folder;
  Store store = opened(folder);
  put(store, "a", 1);
  put(store, "b", 2, JobState::refused);
  put(store, "c", 3, JobState::failed);
  put(store, "c", 4, JobState::failed);
  builder::Action elsewhere = action("d");
  elsewhere.device = "CPU (driver 2)";
  store.put(elsewhere, job("d"));
  const auto stats = builder::store_stats(store);
  REQUIRE(stats.ok());
  REQUIRE(stats->devices.size() == 2);
  CHECK(stats->devices[0].device == "CPU (driver 2)");
  CHECK(stats->devices[0].jobs == 1);
  const builder::DeviceJobs &gpu = stats->devices[1];
  CHECK(gpu.device == "GPU (driver 1)");
  CHECK(gpu.jobs == 3);
  CHECK(gpu.refused == 1);
  CHECK(gpu.failed == 1);
  CHECK(gpu.deaths == 2);
  CHECK(gpu.milliseconds == 36);
  CHECK(stats->all.jobs == 4);
  CHECK(stats->blobs == 4 + 4 + 4 + 1);  // actions, answers, binaries, the same three bytes
  CHECK(stats->raw_bytes > stats->stored_bytes - 1000);
  CHECK(stats->file_bytes >= stats->stored_bytes);
}

TEST_CASE("collecting removes what was not used since, and the blobs that nothing else needs") {
  const test::TemporaryFolder folder;
  Store store = opened(folder);
  put(store, "old", 100);
  put(store, "new", 300);
  const auto done = builder::collect_garbage(store, {200, std::nullopt});
  REQUIRE(done.ok());
  CHECK(done->jobs == 1);
  CHECK(done->blobs == 3);
  CHECK_FALSE(has(store, "old"));
  const auto left = store.find(action("new").key);
  REQUIRE(left);
  CHECK(left->answer == job("new").answer);
}

TEST_CASE("a use counts from when the job was last taken") {
  const test::TemporaryFolder folder;
  Store store = opened(folder);
  put(store, "old", 100);
  put(store, "new", 300);
  CHECK(store.find(action("old").key));  // now
  REQUIRE(builder::collect_garbage(store, {400, std::nullopt}).ok());
  CHECK(has(store, "old"));
  CHECK_FALSE(has(store, "new"));
}

TEST_CASE("collecting to a size removes first what was not used for the longest") {
  const test::TemporaryFolder folder;
  Store store = opened(folder);
  for (int i = 0; i < 10; ++i) put(store, std::to_string(i), 1000 - i);
  const std::int64_t bytes = builder::store_stats(store)->stored_bytes;
  const auto done = builder::collect_garbage(store, {std::nullopt, bytes / 2});
  REQUIRE(done.ok());
  CHECK(done->jobs >= 4);
  CHECK(done->jobs <= 6);
  CHECK(builder::store_stats(store)->stored_bytes <= bytes / 2);
  CHECK(has(store, "0"));  // the latest
  CHECK_FALSE(has(store, "9"));
  CHECK(done->bytes_after <= done->bytes_before);
  const auto all = builder::collect_garbage(store, {std::nullopt, 0});
  CHECK(all->jobs == 10 - done->jobs);
  CHECK(builder::store_stats(store)->blobs == 0);
}

TEST_CASE("collecting removes what replaced answers left, and nothing else without a limit") {
  const test::TemporaryFolder folder;
  Store store = opened(folder);
  put(store, "a", 100);
  store.put(action("a"), job("another answer"));
  const auto done = builder::collect_garbage(store, {});
  CHECK(done->jobs == 0);
  CHECK(done->blobs == 2);
  CHECK(store.find(action("a").key)->answer == job("another answer").answer);
}

TEST_CASE("an export tells each job's action and outputs, and gives their bytes") {
  const test::TemporaryFolder folder;
  Store store = opened(folder);
  put(store, "a", 5);
  std::vector<nlohmann::json> exported;
  std::map<std::string, packs::Bytes> blobs;
  const builder::Status status = builder::export_jobs(
      store, [&](const nlohmann::json &one) { exported.push_back(one); },
      [&](const packs::Digest &name, const packs::Bytes &bytes) {
        blobs[packs::hex(name)] = bytes;
        return builder::Status();
      });
  CHECK(status.ok());
  REQUIRE(exported.size() == 1);
  CHECK(exported[0]["schema"] == 1);
  CHECK(exported[0]["key"] == packs::hex(action("a").key));
  CHECK(exported[0]["action"] == nlohmann::json{{"name", "a"}});
  CHECK(exported[0]["result"]["state"] == "done");
  CHECK(exported[0]["result"]["device"] == "GPU (driver 1)");
  CHECK(exported[0]["result"]["finished"] == 5);
  const nlohmann::json outputs = exported[0]["result"]["outputs"];
  REQUIRE(outputs.size() == 2);
  CHECK(outputs[0]["path"] == "also/1/bytes");
  CHECK(outputs[1]["path"] == "binary/bytes");
  CHECK(outputs[1]["size"] == 100);
  CHECK(blobs.at(outputs[1]["digest"]) == packs::Bytes(100, 'a'));
  CHECK(blobs.size() == 2);

  const auto refuse = [](const packs::Digest &, const packs::Bytes &) {
    return builder::Status(builder::Code::no_space, "full");
  };
  CHECK(builder::export_jobs(
            store, [](const nlohmann::json &) {}, refuse)
            .message == "full");
}
