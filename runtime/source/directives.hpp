// SPDX-License-Identifier: Apache-2.0
// What directives decide without a compiler: which groups of #if every compiler of OpenCL C skips,
// and which file a macro names. Pure; an object belongs to one thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/source/logical_lines.hpp"

namespace kiln::source {

// The groups of #if that are skipped, as far as a text shows it. Texts for hosts and devices
// include the host's headers behind #ifndef __OPENCL_VERSION__; no driver reads those.
class Conditions {
 public:
  Conditions();  // knows the macros that OpenCL C demands

  // What follows -D.
  void define_option(std::string_view definition);
  // A directive of the text, in the order in which a compiler meets it.
  void meet(const LogicalLine &line, const Directive &directive);
  // Text of which it is not certain that a compiler reads it, up to end().
  void begin_unknown() { groups_.push_back({Truth::unknown, Truth::unknown}); }
  void end();
  // A file that may define anything.
  void forget();

  bool is_skipped() const { return now() == Truth::no; }

 private:
  enum class Truth { no, unknown, yes };
  struct Group {
    Truth active;
    Truth taken;  // of this group and those of its #if before
  };

  Truth now() const;
  Truth defined(std::string_view name) const;
  Truth value_of(std::string_view expression) const;
  Truth term(std::string_view text) const;
  void set(std::string_view name, Truth truth);

  std::map<std::string, Truth, std::less<>> macros_;  // others: unknown
  std::vector<Group> groups_;
};

// Macros, as far as the names of included files are made of them. No preprocessor library serves
// (simplecpp, Boost.Wave, mcpp): they decide conditions, and a driver's macros are not known here.
// Little is certain without them.
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
