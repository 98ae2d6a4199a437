// SPDX-License-Identifier: Apache-2.0
// Macros, as far as the names of included files are made of them. Pure; an object belongs to one
// thread.
//
// No preprocessor library (simplecpp, Boost.Wave, mcpp): they decide conditions, and a driver's
// macros are not known here. What is certain without them is small.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kiln::source {

class IncludeMacros {
 public:
  // What follows -D: NAME, NAME=BODY or NAME(PARAMETERS)=BODY. Without a body it is 1.
  void define_option(std::string_view definition);
  // What follows #define.
  void define(std::string_view definition);
  // What follows #undef, or -D or -U where it is not certain what a compiler makes of it.
  void undefine(std::string_view name);

  // `text` with its macros expanded, by # too, if every compiler makes the same of it. Nothing if
  // a macro was defined in two ways or undefined, makes use of ## or of "...", has blanks in its
  // body; if a word may be a macro of the driver's own; or if it takes more than kMostSteps.
  std::optional<std::string> expand(std::string_view text) const;

  // Words, and bytes of one expansion.
  static constexpr std::size_t kMostSteps = 4096;

 private:
  struct Macro {
    bool is_function = false;
    std::vector<std::string> parameters;
    std::string body;
    bool is_certain = true;
  };

  void add(std::string_view name_and_parameters, std::string_view body);
  void set(std::string_view name, Macro macro);
  // `steps` are left.
  std::optional<std::string> expand(std::string_view text, unsigned depth,
                                    std::size_t *steps) const;
  std::optional<std::string> apply(const Macro &macro, const std::vector<std::string> &arguments,
                                   unsigned depth, std::size_t *steps) const;

  std::map<std::string, Macro, std::less<>> macros_;
};

}  // namespace kiln::source
