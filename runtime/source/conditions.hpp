// SPDX-License-Identifier: Apache-2.0
// Which groups of #if every compiler of OpenCL C skips, as far as a text shows it. Pure; an object
// belongs to one thread.
//
// Texts for hosts and devices include the host's headers behind #ifndef __OPENCL_VERSION__; no
// driver reads those.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/source/logical_lines.hpp"

namespace kiln::source {

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

}  // namespace kiln::source
