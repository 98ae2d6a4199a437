// SPDX-License-Identifier: Apache-2.0
// Typed values out of the TOML tables of a manifest, or of the description of a compiler. Inside
// such a reading a fault is thrown as a ManifestFault, which parse_manifest() or
// parse_description() catches; nothing else is to use this.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <toml++/toml.h>

#include "runtime/source/source_error.hpp"

namespace kiln::builder {

using source::file_error;
using source::in_quotes;
using source::Position;
using source::source_error;

struct ManifestFault {
  std::string text;  // whole and ready to print
};

// The text that is read and how it is called. Must outlive every reader made from it.
struct ManifestText {
  std::string file;  // as errors name it
  std::string_view text;
  std::filesystem::path folder;  // what paths in the manifest are relative to

  [[noreturn]] void fail(Position position, const std::string &message,
                         const std::string &expected) const;
};

template <typename Value>
struct Located {
  Value value;
  Position at;
};

Position position_of(const toml::node &node);
Position position_of(const toml::key &key);

// One table of the manifest. `label` names it in errors: "[program.laplace]". Readers of
// optional values return nothing when the key is absent and throw when it is malformed.
class TableReader {
 public:
  TableReader(const ManifestText &document, const toml::table &table, std::string label)
      : document_(document), table_(table), label_(std::move(label)) {}

  const std::string &label() const { return label_; }
  Position position() const { return position_of(table_); }

  // Throws for a key that is not in `keys`, with the nearest of them.
  void allow_only(const std::vector<std::string> &keys) const;

  const toml::node *find(const std::string &key) const { return table_.get(key); }
  std::optional<Located<std::string>> string(const std::string &key) const;
  // One of `words`, which the error lists; `what` names the kind of word.
  std::optional<std::string> word(const std::string &key, const std::string &what,
                                  const std::vector<std::string> &words) const;
  // A string that satisfies is_name().
  std::optional<Located<std::string>> name(const std::string &key) const;
  std::optional<std::int64_t> integer(const std::string &key, std::int64_t low,
                                      std::int64_t high) const;
  // Empty when the key is absent.
  std::vector<Located<std::string>> strings(const std::string &key) const;
  // Two integers, each from 1 to `high`.
  std::optional<std::array<std::uint32_t, 2>> pair(const std::string &key, std::int64_t high) const;
  std::optional<bool> boolean(const std::string &key) const;
  // A number, or with `count` over 1 an array of that many; empty when the key is absent.
  struct Bounds {
    double low;
    double high;
    bool whole;
  };
  std::vector<double> numbers(const std::string &key, std::size_t count,
                              const Bounds &bounds) const;
  // An array of one to `most` terms of the problem's size, joined by spaces; empty when absent.
  std::string terms(const std::string &key, std::size_t most) const;
  const toml::array *array(const std::string &key, const std::string &expected) const;
  const toml::table *table(const std::string &key, const std::string &expected) const;

  // A path in the manifest's folder, normalised. Throws for an absolute path (packs are not
  // to depend on the machine), or when it is not a file (not a folder).
  std::optional<std::filesystem::path> file(const std::string &key) const;
  std::filesystem::path folder(const Located<std::string> &path) const;
  // A relative path in the manifest's folder, normalised.
  std::filesystem::path below_manifest(const std::filesystem::path &path) const {
    return (document_.folder / path).lexically_normal();
  }

  [[noreturn]] void missing(const std::string &key, const std::string &expected) const;
  [[noreturn]] void fail(Position position, const std::string &message,
                         const std::string &expected) const {
    document_.fail(position, message, expected);
  }

 private:
  double number(const std::string &what, const toml::node &node, const Bounds &bounds) const;
  [[noreturn]] void wrong_type(const std::string &what, const toml::node &node,
                               const std::string &expected) const;
  std::uint32_t bounded(const std::string &what, const toml::node &node, std::int64_t low,
                        std::int64_t high) const;
  std::filesystem::path resolve(const Located<std::string> &path) const;

  const ManifestText &document_;
  const toml::table &table_;
  std::string label_;
};

// Letters, digits and '_'; '-' and '.' after the first character.
bool is_name(std::string_view name);
inline constexpr const char *kNameRule =
    "expected letters, digits and '_', with '-' and '.' allowed after the first character";

}  // namespace kiln::builder
