// SPDX-License-Identifier: Apache-2.0
// Tables of TOML, read strictly: what has the wrong type, and what nobody asks for, ends the
// process with a message that says where it stands.
#pragma once

#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <toml++/toml.h>

#include "tests/support/driver/script.hpp"

namespace kiln::driver {

template <typename T>
struct Word {
  const char *word;
  T value;
};

// A table of the script whose keys are taken one by one; those left over are mistakes.
class Reader {
 public:
  Reader(const toml::table &table, std::string where) : table_(table), where_(std::move(where)) {}
  Reader(const Reader &) = delete;
  Reader &operator=(const Reader &) = delete;

  const toml::node *take(std::string_view key) {
    const toml::node *node = table_.get(key);
    if (node != nullptr) taken_.insert(std::string(key));
    return node;
  }

  [[noreturn]] void fail(std::string_view key, const char *expected) const {
    stop(where_ + "." + std::string(key) + " must be " + expected);
  }

  // A string, or { hex = "..." } for bytes that are not UTF-8.
  bool text(std::string_view key, std::string *out) {
    const toml::node *node = take(key);
    if (node == nullptr) return false;
    if (const auto *value = node->as_string()) {
      *out = value->get();
      return true;
    }
    const toml::table *table = node->as_table();
    const auto hex = table == nullptr ? std::nullopt : (*table)["hex"].value<std::string>();
    if (!hex || !parse_hex(*hex, out)) fail(key, "a string or { hex = \"...\" }");
    return true;
  }

  template <typename T>
  bool number(std::string_view key, T *out) {
    const toml::node *node = take(key);
    if (node == nullptr) return false;
    const auto *value = node->as_integer();
    if (value == nullptr || value->get() < static_cast<long long>(std::numeric_limits<T>::min()) ||
        (value->get() > 0 && static_cast<unsigned long long>(value->get()) >
                                 static_cast<unsigned long long>(std::numeric_limits<T>::max()))) {
      fail(key, "an integer in range");
    }
    *out = static_cast<T>(value->get());
    return true;
  }

  bool flag(std::string_view key, bool *out) {
    const toml::node *node = take(key);
    if (node == nullptr) return false;
    const auto *value = node->as_boolean();
    if (value == nullptr) fail(key, "true or false");
    *out = value->get();
    return true;
  }

  bool texts(std::string_view key, std::vector<std::string> *out) {
    const toml::node *node = take(key);
    if (node == nullptr) return false;
    const toml::array *array = node->as_array();
    if (array == nullptr) fail(key, "an array of strings");
    for (const toml::node &item : *array) {
      const auto *value = item.as_string();
      if (value == nullptr) fail(key, "an array of strings");
      out->push_back(value->get());
    }
    return true;
  }

  template <typename T, std::size_t kCount>
  bool word(std::string_view key, const Word<T> (&words)[kCount], T *out) {
    std::string text;
    if (!this->text(key, &text)) return false;
    for (const Word<T> &word : words) {
      if (text != word.word) continue;
      *out = word.value;
      return true;
    }
    stop(where_ + "." + std::string(key) + ": unknown word " + text);
  }

  // Calls `function(Reader &)` for each table of an array of tables.
  template <typename Function>
  void each(std::string_view key, Function function) {
    const toml::node *node = take(key);
    if (node == nullptr) return;
    const toml::array *array = node->as_array();
    if (array == nullptr) fail(key, "an array of tables");
    for (std::size_t i = 0; i < array->size(); ++i) {
      const toml::table *table = array->get(i)->as_table();
      if (table == nullptr) fail(key, "an array of tables");
      Reader reader(*table, where_ + "." + std::string(key) + "[" + std::to_string(i) + "]");
      function(reader);
      reader.finish();
    }
  }

  template <typename Function>
  void table(std::string_view key, Function function) {
    const toml::node *node = take(key);
    if (node == nullptr) return;
    const toml::table *table = node->as_table();
    if (table == nullptr) fail(key, "a table");
    Reader reader(*table, where_ + "." + std::string(key));
    function(reader);
    reader.finish();
  }

  void finish() const {
    for (const auto &[key, value] : table_) {
      if (taken_.count(std::string(key.str())) == 0) {
        stop(where_ + ": unknown key " + std::string(key.str()));
      }
    }
  }

  const std::string &where() const { return where_; }

  static bool parse_hex(const std::string &text, std::string *out) {
    out->clear();
    if (text.size() % 2 != 0) return false;
    for (std::size_t i = 0; i < text.size(); i += 2) {
      const std::string pair = text.substr(i, 2);
      if (pair.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos) return false;
      out->push_back(static_cast<char>(std::stoi(pair, nullptr, 16)));
    }
    return true;
  }

 private:
  const toml::table &table_;
  std::string where_;
  std::set<std::string> taken_;
};

}  // namespace kiln::driver
