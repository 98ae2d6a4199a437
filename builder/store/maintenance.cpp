// SPDX-License-Identifier: Apache-2.0
// Statistics, removal and export of a store's jobs.
#include "builder/store/maintenance.hpp"

#include <map>

#include "builder/store/blobs.hpp"

namespace kiln::builder {
namespace {

using nlohmann::json;

std::int64_t file_bytes(Database &database) {
  return database.number("pragma page_count") * database.number("pragma page_size");
}

void add(const DeviceJobs &one, DeviceJobs *all) {
  all->jobs += one.jobs;
  all->refused += one.refused;
  all->failed += one.failed;
  all->deaths += one.deaths;
  all->milliseconds += one.milliseconds;
}

struct OldJob {
  packs::Digest key{};
  std::vector<std::pair<packs::Digest, std::int64_t>> blobs;  // with their stored sizes
};

// Returns the jobs, least recently used first.
std::vector<OldJob> jobs_by_use(Database &database) {
  std::vector<OldJob> jobs;
  Statement rows(database,
                 "select jobs.key, blobs.name, length(blobs.bytes) from jobs "
                 "join outputs using (key) join blobs using (name) order by jobs.used, jobs.key");
  while (rows.step()) {
    const auto key = digest_from(rows.bytes(0));
    const auto blob = digest_from(rows.bytes(1));
    if (!key || !blob) continue;
    if (jobs.empty() || jobs.back().key != *key) jobs.push_back({*key, {}});
    jobs.back().blobs.emplace_back(*blob, rows.number(2));
  }
  return jobs;
}

// Removes the least recently used jobs until the blobs of the others are within the limit.
std::int64_t remove_to_size(Store &store, std::int64_t most) {
  const std::vector<OldJob> jobs = jobs_by_use(store.database());
  std::map<packs::Digest, std::size_t> needed;
  std::int64_t bytes = 0;
  for (const OldJob &job : jobs) {
    for (const auto &[blob, size] : job.blobs) {
      if (needed[blob]++ == 0) bytes += size;
    }
  }
  std::int64_t removed = 0;
  for (const OldJob &job : jobs) {
    if (bytes <= most) break;
    for (const auto &[blob, size] : job.blobs) {
      if (--needed[blob] == 0) bytes -= size;
    }
    store.remove(job.key);
    ++removed;
  }
  return removed;
}

std::int64_t remove_unused(Database &database, std::int64_t since) {
  Statement(database, "delete from outputs where key in (select key from jobs where used < ?)")
      .with(since)
      .run();
  Statement(database, "delete from jobs where used < ?").with(since).run();
  return database.number("select changes()");
}

const char *name_of(JobState state) {
  switch (state) {
    case JobState::done: return "done";
    case JobState::refused: return "refused";
    case JobState::failed: return "failed";
  }
  return "";
}

// Returns the job's outputs, {"path", "digest", "size"} each. Gives the bytes to `on_blob`.
Result<json> outputs_of(Database &database, const packs::Digest &key, const OnBlob &on_blob) {
  json outputs = json::array();
  Statement rows(database,
                 "select path, name, size from outputs join blobs using (name) where key = ? and "
                 "path not in ('action', 'answer') order by path");
  rows.with(view_of(key));
  while (rows.step()) {
    const auto name = digest_from(rows.bytes(1));
    if (!name) continue;
    outputs.push_back(
        {{"path", rows.text(0)}, {"digest", packs::hex(*name)}, {"size", rows.number(2)}});
    if (!on_blob) continue;
    const auto bytes = read_blob(database, *name);
    if (!bytes) continue;
    if (Status s = on_blob(*name, *bytes); !s.ok()) return s;
  }
  return outputs;
}

}  // namespace

Result<StoreStats> store_stats(Store &store) {
  Database &database = store.database();
  StoreStats stats;
  {
    Statement rows(database,
                   "select device, count(*), sum(state = 1), sum(state = 2), sum(deaths), "
                   "sum(milliseconds) from jobs group by device order by device");
    while (rows.step()) {
      stats.devices.push_back({rows.text(0), rows.number(1), rows.number(2), rows.number(3),
                               rows.number(4), rows.number(5)});
      add(stats.devices.back(), &stats.all);
    }
  }
  {
    Statement row(database,
                  "select count(*), coalesce(sum(size), 0), coalesce(sum(length(bytes)), 0) "
                  "from blobs");
    if (row.step()) {
      stats.blobs = row.number(0);
      stats.raw_bytes = row.number(1);
      stats.stored_bytes = row.number(2);
    }
  }
  stats.file_bytes = file_bytes(database);
  if (!database.ok()) return database.status();
  return stats;
}

Result<Collected> collect_garbage(Store &store, const CollectOptions &options) {
  Database &database = store.database();
  Collected collected;
  database.run("pragma wal_checkpoint(truncate)");
  collected.bytes_before = file_bytes(database);
  {
    Transaction all(database);
    if (options.unused_since) collected.jobs += remove_unused(database, *options.unused_since);
    if (options.most_bytes) collected.jobs += remove_to_size(store, *options.most_bytes);
    database.run("delete from blobs where name not in (select name from outputs)");
    collected.blobs = database.number("select changes()");
    all.commit();
  }
  database.run("vacuum");
  database.run("pragma wal_checkpoint(truncate)");
  collected.bytes_after = file_bytes(database);
  if (!database.ok()) return database.status();
  return collected;
}

Status export_jobs(Store &store, const OnJob &on_job, const OnBlob &on_blob) {
  Database &database = store.database();
  Statement rows(
      database, "select key, device, state, milliseconds, finished, deaths from jobs order by key");
  while (rows.step()) {
    const auto key = digest_from(rows.bytes(0));
    const auto action = key ? read_blob(database, *key) : std::nullopt;
    json parsed = json::value_t::discarded;
    if (action) parsed = json::parse(*action, nullptr, false);
    if (parsed.is_discarded()) continue;
    auto outputs = outputs_of(database, *key, on_blob);
    if (!outputs.ok()) return outputs.status();
    on_job({{"schema", 1},
            {"key", packs::hex(*key)},
            {"action", std::move(parsed)},
            {"result",
             {{"device", rows.text(1)},
              {"state", name_of(static_cast<JobState>(rows.number(2)))},
              {"milliseconds", rows.number(3)},
              {"finished", rows.number(4)},
              {"deaths", rows.number(5)},
              {"outputs", *std::move(outputs)}}}});
  }
  return store.status();
}

}  // namespace kiln::builder
