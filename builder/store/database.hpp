// SPDX-License-Identifier: Apache-2.0
// An SQLite database and its statements, with this project's way to fail.
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
// threads. After the first failure nothing more is done: see status().
class Database {
 public:
  // Opens or makes the file for reading and writing. Fails with Code::io_error.
  static Result<Database> open(const std::string &path);

  // The first failure: io_error, no_space, bad_magic where the file is no database, and
  // root_corrupt where it is a damaged one. The message begins with the file's name.
  const Status &status() const { return *status_; }
  bool ok() const { return status_->ok(); }

  // Runs a statement that gives no rows, or several, and returns status().
  const Status &run(const char *sql);
  // The same, where a failure is none of the database.
  void try_to(const char *sql);
  // The one number that a statement gives; 0 after a failure and where it gives no row.
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

  // Whether there is a row; false at the end and after a failure.
  bool step();
  // For a statement without rows.
  void run() { (void)step(); }

  // Of the row, by the place of the column from 0. A view is good until the next step().
  std::int64_t number(int column) const;
  packs::View bytes(int column) const;
  std::string text(int column) const;

 private:
  Database &database_;
  sqlite3_stmt *statement_ = nullptr;
  int values_ = 0;
};

// Several statements as one: all of them are done, or none. Undone on destruction unless commit()
// was called.
class Transaction {
 public:
  explicit Transaction(Database &database) : database_(database) {
    database_.run("begin immediate");
  }
  Transaction(const Transaction &) = delete;
  ~Transaction();
  // The database's status.
  const Status &commit();

 private:
  Database &database_;
  bool over_ = false;
};

}  // namespace kiln::builder
