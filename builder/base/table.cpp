// SPDX-License-Identifier: Apache-2.0
// Measures the columns, and pads the cells.
#include "builder/base/table.hpp"

#include <algorithm>
#include <sstream>
#include <vector>

namespace kiln::builder {
namespace {

using Row = std::vector<std::string>;  // its cells

std::size_t characters_of(const std::string &utf8) {
  const auto begins_one = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; };
  return static_cast<std::size_t>(std::count_if(utf8.begin(), utf8.end(), begins_one));
}

}  // namespace

std::string table_text(const std::string &text, std::string_view sides) {
  std::vector<Row> rows;
  std::size_t columns = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream cells(line + '\t');
    rows.emplace_back();
    for (std::string cell; std::getline(cells, cell, '\t');) rows.back().push_back(cell);
    columns = std::max(columns, rows.back().size());
  }
  const auto is_aligned = [&](const Row &row, std::size_t i) {
    return i + 1 < row.size() || row.size() == columns;
  };
  std::vector<std::size_t> widths(columns);
  for (const Row &row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (is_aligned(row, i)) widths[i] = std::max(widths[i], characters_of(row[i]));
    }
  }
  std::string out;
  for (const Row &row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool is_right = i < sides.size() && sides[i] == '>';
      const std::string blanks(is_aligned(row, i) ? widths[i] - characters_of(row[i]) : 0, ' ');
      out += (i == 0 ? "" : "  ") + (is_right ? blanks + row[i] : row[i] + blanks);
    }
    out.erase(out.find_last_not_of(' ') + 1);
    out += '\n';
  }
  return out;
}

}  // namespace kiln::builder
