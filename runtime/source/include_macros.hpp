// SPDX-License-Identifier: Apache-2.0
// Macros, as far as the names of included files are made of them. Pure; an object belongs to one
// thread.
//
// No preprocessor library: those decide conditions, and a driver's macros are not known here.
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
  // What follows #undef.
  void undefine(std::string_view name);

  // `text` with its macros expanded, by # too; nothing if one of them was defined in two ways or
  // undefined, since only a compiler knows which holds, or makes use of ##.
  std::optional<std::string> expand(std::string_view text) const;

 private:
  struct Macro {
    bool is_function = false;
    std::vector<std::string> parameters;
    std::string body;
    bool is_certain = true;
  };

  void add(std::string_view name_and_parameters, std::string_view body);
  void set(std::string_view name, Macro macro);
  std::optional<std::string> expand(std::string_view text, unsigned depth) const;
  std::optional<std::string> apply(const Macro &macro, const std::vector<std::string> &arguments,
                                   unsigned depth) const;

  std::map<std::string, Macro, std::less<>> macros_;
};

}  // namespace kiln::source
