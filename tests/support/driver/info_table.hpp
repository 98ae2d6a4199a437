// SPDX-License-Identifier: Apache-2.0
// The queries that a script can answer: key, number, form of the answer, and the answer of a
// device that forwards to no real driver.
#pragma once

#include <string>

#include "tests/support/driver/opencl.hpp"

namespace kiln::driver {

enum class Kind { text, u32, u64, size, sizes, numbers, texts, flag, uuid };

struct InfoRow {
  const char *key;
  cl_uint query;
  Kind kind;
  const char *fallback;  // null: the query fails
};

struct InfoTable {
  const InfoRow *rows;
  std::size_t count;
  const InfoRow *begin() const { return rows; }
  const InfoRow *end() const { return rows + count; }
};

InfoTable platform_table();
InfoTable device_table();

// The row's fallback as the bytes that the query returns.
std::string fallback_bytes(const InfoRow &row);

// Numbers as the bytes that a query of that kind returns.
std::string number_bytes(Kind kind, unsigned long long value);

// The number of a query by its OpenCL name, of those that a fault can name; 0 if unknown.
cl_uint query_by_name(const std::string &name);

}  // namespace kiln::driver
