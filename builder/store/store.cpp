// SPDX-License-Identifier: Apache-2.0
// The store's tables, and how jobs are stored and found. Claims are locks of open file
// descriptions, so two stores of one process exclude each other, too.
#include "builder/store/store.hpp"

#include <cerrno>
#include <ctime>
#include <filesystem>
#include <utility>

#include <fcntl.h>

#include <fmt/format.h>

#include "builder/base/this_process.hpp"
#include "builder/store/blobs.hpp"
#include "kiln/packs/files.hpp"

namespace kiln::builder {

namespace {

namespace fs = std::filesystem;

struct flock one_byte(short type, long place) {
  struct flock range {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = place;
  range.l_len = 1;
  return range;
}

int lock(int file, int how, short type, long place) {
  struct flock range = one_byte(type, place);
  return packs::uninterrupted([&] { return fcntl(file, how, &range); });
}

// Returns the place of the byte to lock for a key: 1 or more, and valid as a file offset.
long place_of(const packs::Digest &key) {
  unsigned long place = 0;
  for (std::size_t i = 0; i < sizeof(place); ++i) place = place << 8 | key[i];
  return static_cast<long>(place >> 2) + 1;
}

using nlohmann::json;

constexpr std::int64_t kApplication = 0x4b696c6e;  // "Kiln", in the database's header
constexpr std::int64_t kUsedAgain = 3600;          // seconds after which a use is noted again

// `answer` is the name of a blob: the answer as CBOR, with names in place of its bytes. `outputs`
// has a row for each blob that a job needs, with its place in the answer; "action" is the action's
// text, whose name is the key, and "answer" is the answer itself.
constexpr const char *kTables = R"(
create table jobs (
  key blob primary key, device text not null, state integer not null, answer blob not null,
  milliseconds integer not null, finished integer not null, used integer not null,
  deaths integer not null) without rowid;
create table blobs (name blob primary key, size integer not null, bytes blob not null);
create table outputs (
  key blob not null, path text not null, name blob not null,
  primary key (key, path)) without rowid;
create index needed on outputs (name);
create index by_use on jobs (used);
)";

bool is_empty(Database &database) {
  return database.number("pragma application_id") == 0 &&
         database.number("select count(*) from sqlite_schema") == 0;
}

// Makes the tables, unless another process just did.
void make_tables(Database &database) {
  Transaction all(database);
  if (!is_empty(database)) return;
  database.run(kTables);
  database.run(fmt::format("pragma application_id = {}", kApplication).c_str());
  database.run(fmt::format("pragma user_version = {}", Store::kSchema).c_str());
  all.commit();
}

// Fails if the database is not a store of this Kiln. Makes an empty database one.
Status recognise(Database &database, const std::string &path) {
  if (is_empty(database)) make_tables(database);
  const std::int64_t schema = database.number("pragma user_version");
  const std::int64_t application = database.number("pragma application_id");
  if (!database.ok()) return database.status();
  if (application != kApplication) return {Code::bad_magic, path + ": another program's database"};
  if (schema == Store::kSchema) return {};
  return {Code::newer_version, fmt::format("{}: of a later Kiln: schema {}, and this one knows {}",
                                           path, schema, Store::kSchema)};
}

void put_output(Database &database, const packs::Digest &key, std::string_view path,
                const packs::Digest &name, packs::View bytes) {
  put_blob(database, name, bytes);
  Statement(database, "insert or replace into outputs (key, path, name) values (?, ?, ?)")
      .with(view_of(key))
      .with(path)
      .with(view_of(name))
      .run();
}

packs::View view_of(const packs::Bytes &bytes) { return {bytes.data(), bytes.size()}; }

packs::View view_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t *>(text.data()), text.size()};
}

// Returns the answer of that name; discarded if a part of it is missing.
json read_answer(Database &database, const packs::Digest &name) {
  const auto bytes = read_blob(database, name);
  if (!bytes) return json::value_t::discarded;
  json answer = json::from_cbor(*bytes, true, false);
  const auto read = [&](const packs::Digest &blob) { return read_blob(database, blob); };
  if (!answer.is_discarded() && !put_blobs(read, &answer)) return json::value_t::discarded;
  return answer;
}

// Returns the store in the user's cache; empty if the environment names no home.
std::string store_in_cache() {
  const std::string cache = variable("XDG_CACHE_HOME");
  if (fs::path(cache).is_absolute()) return cache + "/kiln/jobs.sqlite";  // as XDG demands
  const std::string home = variable("HOME");
  return home.empty() ? "" : home + "/.cache/kiln/jobs.sqlite";
}

}  // namespace

std::string default_store() {
  const std::string file = variable("KILN_STORE");
  if (file.empty()) return store_in_cache();
  return file == "none" ? "" : file;
}

Claims::Claim &Claims::Claim::operator=(Claim &&other) noexcept {
  std::swap(file_, other.file_);
  std::swap(place_, other.place_);
  return *this;
}

void Claims::Claim::release() {
  if (file_ >= 0) (void)lock(file_, F_OFD_SETLK, F_UNLCK, place_);
  file_ = -1;
}

Claims::Claims(const std::string &path)
    : file_(packs::open_at(packs::kWorkingFolder, path.c_str(), O_RDWR | O_CREAT, 0666)) {}

std::optional<Claims::Claim> Claims::take(const packs::Digest &key) const {
  const long place = place_of(key);
  if (file_ && lock(file_.get(), F_OFD_SETLK, F_WRLCK, place) != 0 &&
      (errno == EAGAIN || errno == EACCES)) {
    return std::nullopt;
  }
  return Claim(file_.get(), place);
}

Claims::Claim Claims::await(const packs::Digest &key) const {
  const long place = place_of(key);
  if (file_) (void)lock(file_.get(), F_OFD_SETLKW, F_WRLCK, place);
  return {file_.get(), place};
}

Claims::Claim Claims::await_first() const {
  if (file_) (void)lock(file_.get(), F_OFD_SETLKW, F_WRLCK, 0);
  return {file_.get(), 0};
}

Action::Action(std::string canonical)
    : text(std::move(canonical)), key(packs::blake2b(view_of(std::string_view(text)))) {}

Result<Store> Store::open(const std::string &path) {
  if (path == store_in_cache()) {
    std::error_code ignored;  // opening the file gives a better message
    fs::create_directories(fs::path(path).parent_path(), ignored);
  }
  auto database = Database::open(path);
  if (!database.ok()) return database.status();
  const Status status = recognise(*database, path);
  if (!status.ok()) return status;
  // With a write-ahead log a commit does not wait for the disk: a crash of the system may lose the
  // last jobs, but never the file.
  Claims claims(path + "-claims");
  {
    const Claims::Claim alone = claims.await_first();
    database->try_to("pragma journal_mode = wal");
  }
  if (!database->run("pragma synchronous = normal").ok()) return database->status();
  return Store(*std::move(database), std::move(claims));
}

std::optional<Store::Known> Store::known(const packs::Digest &key) {
  Statement row(database_, "select state, deaths from jobs where key = ?");
  if (!row.with(view_of(key)).step()) return std::nullopt;
  return Known{static_cast<JobState>(row.number(0)), row.number(1)};
}

std::optional<StoredJob> Store::find(const packs::Digest &key) {
  StoredJob job;
  std::optional<packs::Digest> answer;
  std::int64_t used = 0;
  {
    Statement row(
        database_,
        "select state, answer, milliseconds, finished, deaths, used from jobs where key = ?");
    if (!row.with(view_of(key)).step()) return std::nullopt;
    job.state = static_cast<JobState>(row.number(0));
    answer = digest_from(row.bytes(1));
    job.milliseconds = row.number(2);
    job.finished = row.number(3);
    job.deaths = row.number(4);
    used = row.number(5);
  }
  job.answer = answer ? read_answer(database_, *answer) : json(json::value_t::discarded);
  if (job.answer.is_discarded()) {
    remove(key);
    return std::nullopt;
  }
  const std::int64_t now = std::time(nullptr);
  if (now - used > kUsedAgain) {
    Statement(database_, "update jobs set used = ? where key = ?")
        .with(now)
        .with(view_of(key))
        .run();
  }
  return job;
}

void Store::put(const Action &action, StoredJob job) {
  const std::vector<NamedBlob> blobs = take_blobs(&job.answer);
  const packs::Bytes answer = json::to_cbor(job.answer);
  const packs::Digest answer_name = packs::blake2b(view_of(answer));
  Transaction all(database_);
  std::int64_t deaths = job.state == JobState::failed ? 1 : 0;
  if (const auto before = known(action.key)) deaths += before->deaths;
  remove(action.key);
  Statement(database_,
            "insert into jobs (key, device, state, answer, milliseconds, finished, used, deaths) "
            "values (?, ?, ?, ?, ?, ?, ?, ?)")
      .with(view_of(action.key))
      .with(action.device)
      .with(static_cast<std::int64_t>(job.state))
      .with(view_of(answer_name))
      .with(job.milliseconds)
      .with(job.finished)
      .with(job.finished)
      .with(deaths)
      .run();
  put_output(database_, action.key, "action", action.key, view_of(std::string_view(action.text)));
  put_output(database_, action.key, "answer", answer_name, view_of(answer));
  for (const NamedBlob &blob : blobs) {
    put_output(database_, action.key, blob.path, blob.name, view_of(blob.bytes));
  }
  all.commit();
}

void Store::remove(const packs::Digest &key) {
  Statement(database_, "delete from outputs where key = ?").with(view_of(key)).run();
  Statement(database_, "delete from jobs where key = ?").with(view_of(key)).run();
}

}  // namespace kiln::builder
