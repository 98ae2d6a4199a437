// SPDX-License-Identifier: Apache-2.0
// Removes a store's jobs by their last use.
#include "builder/store/maintenance.hpp"

#include <map>

#include "builder/store/blobs.hpp"

namespace kiln::builder {
namespace {

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
void remove_to_size(Store &store, std::int64_t most) {
  const std::vector<OldJob> jobs = jobs_by_use(store.database());
  std::map<packs::Digest, std::size_t> needed;
  std::int64_t bytes = 0;
  for (const OldJob &job : jobs) {
    for (const auto &[blob, size] : job.blobs) {
      if (needed[blob]++ == 0) bytes += size;
    }
  }
  for (const OldJob &job : jobs) {
    if (bytes <= most) break;
    for (const auto &[blob, size] : job.blobs) {
      if (--needed[blob] == 0) bytes -= size;
    }
    store.remove(job.key);
  }
}

}  // namespace

Status collect_garbage(Store &store, std::int64_t most) {
  Database &database = store.database();
  database.run("pragma wal_checkpoint(truncate)");
  if (database.number("pragma page_count") * database.number("pragma page_size") > most) {
    Transaction all(database);
    remove_to_size(store, most);
    database.run("delete from blobs where name not in (select name from outputs)");
    all.commit();
    database.run("vacuum");
    database.run("pragma wal_checkpoint(truncate)");
  }
  return database.ok() ? Status() : database.status();
}

}  // namespace kiln::builder
