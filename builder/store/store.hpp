// SPDX-License-Identifier: Apache-2.0
// The database of finished jobs: what was asked of a driver, and what came of it; and the claims by
// which builders with one store share the jobs. Linux.
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

// A claim is a lock on one byte of a file beside the store, whose place is the first bytes of the
// job's key. The kernel ends it with the process that has it, however that ends: there is no
// claimer that is dead, and none whose process id another has now. Where the file system has no
// such locks everything may be claimed, and two builders may do the same job.
class Claims {
 public:
  // Held until it goes, or its Claims does.
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

  // Opens or makes the file; one that cannot be opened is none that has locks.
  explicit Claims(const std::string &path);

  // Nothing if another builder has it.
  std::optional<Claim> take(const packs::Digest &key) const;
  // Waits for the other.
  Claim await(const packs::Digest &key) const;
  // The one that no key has.
  Claim await_first() const;

 private:
  packs::Descriptor file_;
};

// What decides a job's answer, as the request of a remote execution would have it: the inputs by
// their hashes, the command, the properties of the platform, the outputs. Canonical JSON: equal
// texts mean equal jobs.
struct Action {
  explicit Action(std::string canonical);

  std::string text;
  packs::Digest key{};   // BLAKE2b-256 of the text
  std::string device{};  // for people; not in the key
};

enum class JobState : std::uint8_t {
  done = 0,
  refused = 1,  // by the compiler, which would refuse it again
  failed = 2,   // it died, hung, ran out of memory or was cut short: another try may succeed
};

struct StoredJob {
  JobState state = JobState::done;
  nlohmann::json answer;          // as the job's process gave it
  std::int64_t milliseconds = 0;  // that the job took
  std::int64_t finished = 0;      // when: seconds since 1970, UTC
  std::int64_t deaths = 0;        // how often it has failed; set by the store
};

// One SQLite file, with two of SQLite's own beside it while it is open, and "-claims". Several
// processes may have it open. A connection must not cross a fork: children are forked before.
//
// Each call leaves the file whole, whenever the process is killed. The first failure of the file
// or its disk ends the use of it: from then on nothing is found, put() does nothing, and status()
// says why. Times are those of the system's clock.
class Store {
 public:
  static constexpr std::int64_t kSchema = 1;

  // Opens the file, or makes it; its folder must be there. Fails with Code::newer_version where a
  // later Kiln made it, with Code::bad_magic where it is another program's, and as Database does.
  // A file that it cannot use it leaves as it is.
  static Result<Store> open(const std::string &path);

  // What was put for the key. What is damaged is removed, and not found.
  std::optional<StoredJob> find(const packs::Digest &key);
  // The same without reading the answer: the state alone, and how often it failed.
  struct Known {
    JobState state = JobState::done;
    std::int64_t deaths = 0;
  };
  std::optional<Known> known(const packs::Digest &key);
  // At once and whole. Replaces what was there; counts the deaths of both.
  void put(const Action &action, StoredJob job);

  // The job alone: its blobs may be others', too, and are left to collect_garbage().
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
