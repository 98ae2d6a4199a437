// SPDX-License-Identifier: Apache-2.0
// Which file a macro names. Pure; an object belongs to one thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kiln::source {

// Macros that may form the names of included files. No preprocessor library serves (simplecpp,
// Boost.Wave, mcpp): they decide conditions, but little is certain without the driver's macros,
// which are not known here.
class IncludeMacros {
 public:
  // Defines the operand of -D: NAME, NAME=BODY or NAME(PARAMETERS)=BODY. Without a body it is 1.
  void define_option(std::string_view definition);
  // Defines the operand of #define.
  void define(std::string_view definition);
  // Undefines the operand of #undef, or of a -D or -U that compilers may read differently.
  void undefine(std::string_view name);

  // Returns `text` with its macros expanded, by # too, if every compiler gets the same result.
  // Returns nothing if a macro was defined in two ways or undefined, uses ## or "...", or has
  // blanks in its body; if a word may be one of the driver's own macros; or after more than
  // kMaxSteps.
  std::optional<std::string> expand(std::string_view text) const;

  // Limit for the words, and for the bytes, of one expansion.
  static constexpr std::size_t kMaxSteps = 4096;

 private:
  struct Macro {
    bool is_function = false;
    std::vector<std::string> parameters;
    std::string body;
    bool is_certain = true;
  };

  void add(std::string_view name_and_parameters, std::string_view body);
  void set(std::string_view name, Macro macro);
  // `steps`: the steps that are left.
  std::optional<std::string> expand(std::string_view text, unsigned depth,
                                    std::size_t *steps) const;
  std::optional<std::string> apply(const Macro &macro, const std::vector<std::string> &arguments,
                                   unsigned depth, std::size_t *steps) const;

  std::map<std::string, Macro, std::less<>> macros_;
};

}  // namespace kiln::source
