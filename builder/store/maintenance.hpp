// SPDX-License-Identifier: Apache-2.0
// Maintenance of a store: statistics, garbage collection, export.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "builder/store/store.hpp"

namespace kiln::builder {

struct DeviceJobs {
  std::string device;  // as the store's jobs name it: with its driver's version
  std::int64_t jobs = 0;
  std::int64_t refused = 0;
  std::int64_t failed = 0;
  std::int64_t deaths = 0;
  std::int64_t milliseconds = 0;
};

struct StoreStats {
  std::vector<DeviceJobs> devices;  // sorted by name
  DeviceJobs all;
  std::int64_t blobs = 0;
  std::int64_t raw_bytes = 0;
  std::int64_t stored_bytes = 0;  // of the blobs, compressed
  std::int64_t file_bytes = 0;    // of the database, without its log
};

Result<StoreStats> store_stats(Store &store);

struct CollectOptions {
  std::optional<std::int64_t> unused_since;  // seconds since 1970; removes jobs last used before
  std::optional<std::int64_t> most_bytes;    // limit for the blobs, compressed
};

struct Collected {
  std::int64_t jobs = 0;
  std::int64_t blobs = 0;
  std::int64_t bytes_before = 0;  // size of the database
  std::int64_t bytes_after = 0;
};

// Removes jobs, least recently used first, then the blobs that no job needs, and makes the file
// smaller. Other processes may use the store meanwhile.
Result<Collected> collect_garbage(Store &store, const CollectOptions &options);

// Calls `on_job` for each job, by key, with {"schema", "key", "action", "result"}. Leaves out jobs
// whose action is damaged. `on_blob`, if not null, is called first with each blob of the job's
// outputs; if it fails, the export ends with its status.
using OnJob = std::function<void(const nlohmann::json &job)>;
using OnBlob = std::function<Status(const packs::Digest &name, const packs::Bytes &bytes)>;
Status export_jobs(Store &store, const OnJob &on_job, const OnBlob &on_blob);

}  // namespace kiln::builder
