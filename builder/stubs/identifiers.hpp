// SPDX-License-Identifier: Apache-2.0
// Names of programs, kernels and parameters as identifiers of C and C++. Pure.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace kiln::builder {

// Whether a text is a keyword of C++20 or C11, or a word that common headers define as a macro.
bool is_reserved_word(std::string_view text);

// Returns a name with each character that an identifier cannot have replaced by one underscore. The
// result neither begins nor ends with an underscore, has no two of them in a row, and is no
// reserved word; an empty one is "unnamed".
std::string to_identifier(std::string_view name);

// The identifiers of one scope, each once.
class Scope {
 public:
  // `taken` cannot be given out.
  explicit Scope(std::set<std::string> taken) : taken_(std::move(taken)) {}
  // Returns to_identifier(name), with _2, _3, ... behind it if it is taken.
  std::string add(std::string_view name);

 private:
  std::set<std::string> taken_;
};

}  // namespace kiln::builder
