// SPDX-License-Identifier: Apache-2.0
// The database of finished jobs: requests to drivers and their results. Also the claims by which
// builders with one store share the jobs. Linux.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "builder/store/database.hpp"
#include "kiln/packs/contents.hpp"
#include "kiln/packs/descriptor.hpp"

namespace kiln::builder {

// A claim is a lock on one byte of a file beside the store; the first bytes of the job's key give
// its place. The kernel releases it when the process that holds it ends, in whatever way: a dead
// builder holds no claim, and neither does another process with its old id. If the file system has
// no such locks, everything may be claimed, and two builders may do the same job.
class Claims {
 public:
  // A held claim, released when it is destroyed or its Claims is.
  class Claim {
   public:
    Claim(int file, long place) : file_(file), place_(place) {}
    static Claim none() { return {-1, 0}; }
    Claim(Claim &&other) noexcept : file_(other.file_), place_(other.place_) { other.file_ = -1; }
    Claim &operator=(Claim &&other) noexcept;
    ~Claim() { release(); }
    void release();

   private:
    int file_;
    long place_;
  };

  // Opens or makes the file. Without a file, everything may be claimed.
  explicit Claims(const std::string &path);

  // Claims the key; nothing if another builder has it.
  std::optional<Claim> take(const packs::Digest &key) const;
  // Claims the key, after waiting for another builder if necessary.
  Claim await(const packs::Digest &key) const;
  // Does the same for byte 0, which belongs to no key.
  Claim await_first() const;

 private:
  packs::Descriptor file_;
};

// Everything that decides a job's answer, as in a request for remote execution: the inputs by their
// hashes, the command, the properties of the platform, the outputs. Canonical JSON: equal texts
// mean equal jobs.
struct Action {
  explicit Action(std::string canonical);

  std::string text;
  packs::Digest key{};   // BLAKE2b-256 of the text
  std::string device{};  // for people; not in the key
};

enum class JobState : std::uint8_t {
  done = 0,
  refused = 1,  // by the compiler, which would refuse it again
  failed = 2,   // died, hung, ran out of memory or was cut short: another try may succeed
};

struct StoredJob {
  JobState state = JobState::done;
  nlohmann::json answer;          // from the job's process
  std::int64_t milliseconds = 0;  // duration of the job
  std::int64_t finished = 0;      // when: seconds since 1970, UTC
  std::int64_t deaths = 0;        // number of failures; set by the store
};

// Returns the store that commands use if none is named: KILN_STORE from the environment, else
// kiln/jobs.sqlite in the user's cache (XDG_CACHE_HOME or ~/.cache). Empty, which means none, if
// KILN_STORE is the word "none", or if none of these is set.
std::string default_store();

// One SQLite file. Beside it are "-claims" and, while it is open, two files of SQLite's own.
// Several processes may have it open. A connection must not cross a fork: children are forked
// before.
//
// Each call leaves the file whole, whenever the process is killed. After the first failure of the
// file or its disk the store is no longer used: nothing is found, put() does nothing, and status()
// says why. Times are from the system's clock.
class Store {
 public:
  static constexpr std::int64_t kSchema = 1;

  // Opens the file, or makes it; its folder must exist. Fails with Code::newer_version if a later
  // Kiln made it, with Code::bad_magic if it belongs to another program, and as Database does. Does
  // not change a file that it cannot use.
  static Result<Store> open(const std::string &path);

  // Returns the job stored for the key. Removes a damaged job and returns nothing.
  std::optional<StoredJob> find(const packs::Digest &key);
  // State of a job and its number of failures, found without reading the answer.
  struct Known {
    JobState state = JobState::done;
    std::int64_t deaths = 0;
  };
  std::optional<Known> known(const packs::Digest &key);
  // Stores the job at once and whole. Replaces an earlier job of that key, and adds up the deaths
  // of both.
  void put(const Action &action, StoredJob job);

  // Removes only the job: other jobs may share its blobs, which are left to collect_garbage().
  void remove(const packs::Digest &key);

  const Claims &claims() const { return claims_; }
  const Status &status() const { return database_.status(); }
  Database &database() { return database_; }

 private:
  Store(Database database, Claims claims)
      : database_(std::move(database)), claims_(std::move(claims)) {}

  Database database_;
  Claims claims_;
};

}  // namespace kiln::builder
