// SPDX-License-Identifier: Apache-2.0
// Calls SQLite and keeps the first failure.
#include "builder/store/database.hpp"

#include <array>

#include <fcntl.h>
#include <sqlite3.h>

#include "kiln/packs/files.hpp"

namespace kiln::builder {
namespace {

constexpr int kPatience = 30'000;  // milliseconds to wait for another connection

Code code_of(int code) {
  switch (code & 0xff) {
    case SQLITE_FULL: return Code::no_space;
    case SQLITE_NOTADB: return Code::bad_magic;
    case SQLITE_CORRUPT: return Code::root_corrupt;
    default: return Code::io_error;
  }
}

// Fails if the file is none or has other contents than a database. SQLite itself would turn a file
// of a few bytes into one.
Status check_file(const std::string &path) {
  constexpr std::string_view kMagic("SQLite format 3\0", 16);
  std::array<std::uint8_t, kMagic.size()> start{};
  std::size_t size = start.size();
  const packs::Descriptor file(packs::open_at(packs::kWorkingFolder, path.c_str(), O_RDONLY));
  if (!file && errno == EINVAL) return {Code::io_error, path + ": " + packs::open_fault(errno)};
  if (!file || packs::read_all(file.get(), 0, start.data(), &size) != 0 || size == 0) return {};
  if (std::string_view(reinterpret_cast<const char *>(start.data()), size) == kMagic) return {};
  return {Code::bad_magic, path + ": file is not a database"};
}

}  // namespace

void Database::Close::operator()(sqlite3 *connection) const { sqlite3_close_v2(connection); }

Result<Database> Database::open(const std::string &path) {
  if (Status s = check_file(path); !s.ok()) return s;
  sqlite3 *connection = nullptr;
  // SQLite takes a name with a folder always as a file's, never as a special name.
  const std::string name = path.find('/') == std::string::npos ? "./" + path : path;
  const int code =
      sqlite3_open_v2(name.c_str(), &connection,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
  Database database(connection, path);
  if (code != SQLITE_OK) {
    database.fail(code);
    return database.status();
  }
  sqlite3_extended_result_codes(connection, 1);
  sqlite3_busy_timeout(connection, kPatience);
  if (sqlite3_db_readonly(connection, "main") == 1) {
    return Status(Code::io_error, path + ": the file cannot be written");
  }
  return database;
}

void Database::fail(int code) {
  if (!ok()) return;
  const char *text = connection_ != nullptr && sqlite3_errcode(connection_.get()) != SQLITE_OK
                         ? sqlite3_errmsg(connection_.get())
                         : sqlite3_errstr(code);
  *status_ = {code_of(code), path_ + ": " + text};
}

const Status &Database::run(const char *sql) {
  if (!ok()) return status();
  const int code = sqlite3_exec(connection_.get(), sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(code);
  return status();
}

void Database::try_to(const char *sql) {
  if (ok()) sqlite3_exec(connection_.get(), sql, nullptr, nullptr, nullptr);
}

std::int64_t Database::number(const char *sql) {
  Statement statement(*this, sql);
  return statement.step() ? statement.number(0) : 0;
}

Statement::Statement(Database &database, const char *sql) : database_(database) {
  if (!database.ok()) return;
  const int code = sqlite3_prepare_v2(database.connection_.get(), sql, -1, &statement_, nullptr);
  if (code != SQLITE_OK) database.fail(code);
}

Statement::~Statement() { sqlite3_finalize(statement_); }

Statement &Statement::with(std::int64_t value) {
  if (statement_ != nullptr) sqlite3_bind_int64(statement_, ++values_, value);
  return *this;
}

Statement &Statement::with(packs::View bytes) {
  if (statement_ == nullptr) return *this;
  // A null pointer would be SQL's NULL.
  const void *data = bytes.data != nullptr ? static_cast<const void *>(bytes.data) : "";
  sqlite3_bind_blob64(statement_, ++values_, data, bytes.size, SQLITE_STATIC);
  return *this;
}

Statement &Statement::with(std::string_view text) {
  if (statement_ == nullptr) return *this;
  sqlite3_bind_text64(statement_, ++values_, text.data() != nullptr ? text.data() : "", text.size(),
                      SQLITE_STATIC, SQLITE_UTF8);
  return *this;
}

bool Statement::step() {
  if (statement_ == nullptr || !database_.ok()) return false;
  const int code = sqlite3_step(statement_);
  if (code != SQLITE_ROW && code != SQLITE_DONE) database_.fail(code);
  return code == SQLITE_ROW;
}

std::int64_t Statement::number(int column) const {
  return sqlite3_column_int64(statement_, column);
}

packs::View Statement::bytes(int column) const {
  const void *data = sqlite3_column_blob(statement_, column);
  return {static_cast<const std::uint8_t *>(data),
          static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

std::string Statement::text(int column) const {
  const packs::View all = bytes(column);
  return {reinterpret_cast<const char *>(all.data), all.size};
}

Transaction::~Transaction() {
  // Roll back after a failure, too: others wait for the end of the transaction.
  if (!over_) sqlite3_exec(database_.connection_.get(), "rollback", nullptr, nullptr, nullptr);
}

const Status &Transaction::commit() {
  over_ = database_.run("commit").ok();
  return database_.status();
}

}  // namespace kiln::builder
