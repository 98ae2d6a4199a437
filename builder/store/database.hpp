// SPDX-License-Identifier: Apache-2.0
// An SQLite database and its statements, with errors as Status.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "builder/base/builder_status.hpp"
#include "kiln/packs/bytes.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace kiln::builder {

// A connection. It must not be used in a process that was forked after it was opened, nor by two
// threads. After the first failure it does nothing more: see status().
class Database {
 public:
  // Opens or makes the file for reading and writing. Fails with Code::io_error, or with
  // Code::bad_magic if the file is no database.
  static Result<Database> open(const std::string &path);

  // Returns the first failure: io_error, no_space, bad_magic if the file is no database, or
  // root_corrupt if the database is damaged. The message begins with the file's name.
  const Status &status() const { return *status_; }
  bool ok() const { return status_->ok(); }

  // Runs one statement or several, without rows, and returns status().
  const Status &run(const char *sql);
  // Does the same, but a failure does not count as the database's.
  void try_to(const char *sql);
  // Returns the number that a statement gives; 0 after a failure and if there is no row.
  std::int64_t number(const char *sql);

 private:
  friend class Statement;
  friend class Transaction;
  struct Close {
    void operator()(sqlite3 *connection) const;
  };

  explicit Database(sqlite3 *connection, std::string path)
      : connection_(connection), path_(std::move(path)) {}
  void fail(int code);

  std::unique_ptr<sqlite3, Close> connection_;
  std::string path_;
  std::unique_ptr<Status> status_ = std::make_unique<Status>();
};

// A statement with its values, run row by row. Its database must outlive it.
class Statement {
 public:
  Statement(Database &database, const char *sql);
  Statement(const Statement &) = delete;
  ~Statement();

  // Sets the next value. Bytes and texts must stay where they are until the last step().
  Statement &with(std::int64_t value);
  Statement &with(packs::View bytes);
  Statement &with(std::string_view text);

  // Steps to the next row and returns whether there is one; false at the end and after a failure.
  bool step();
  // Runs a statement without rows.
  void run() { (void)step(); }

  // Return a value of the row; columns count from 0. A view is valid until the next step().
  std::int64_t number(int column) const;
  packs::View bytes(int column) const;
  std::string text(int column) const;

 private:
  Database &database_;
  sqlite3_stmt *statement_ = nullptr;
  int values_ = 0;
};

// Several statements as one: all of them take effect, or none. Rolled back on destruction unless
// commit() was called.
class Transaction {
 public:
  explicit Transaction(Database &database) : database_(database) {
    database_.run("begin immediate");
  }
  Transaction(const Transaction &) = delete;
  ~Transaction();
  // Commits, and returns the database's status.
  const Status &commit();

 private:
  Database &database_;
  bool over_ = false;
};

}  // namespace kiln::builder
