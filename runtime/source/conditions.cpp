// SPDX-License-Identifier: Apache-2.0
// Follows #if in three values: yes, no and unknown, which a driver's macros decide.
#include "runtime/source/conditions.hpp"

#include <algorithm>

namespace kiln::source {
namespace {

// The parts of `text` between `mark`s, of which there are none in parentheses.
std::vector<std::string_view> parts_of(std::string_view text, std::string_view mark) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at = text.find(mark);
    parts.push_back(trimmed(text.substr(0, at)));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + mark.size());
  }
}

// "defined(X)", with ! before.
bool is_defined_term(std::string_view text) {
  constexpr std::string_view kDefined = "defined";
  text = trimmed(text.substr(std::min(text.find_first_not_of("! "), text.size())));
  if (first_word(text) != kDefined) return false;
  text = trimmed(text.substr(kDefined.size()));
  if (!text.starts_with('(') || !text.ends_with(')')) return false;
  text = trimmed(text.substr(1, text.size() - 2));
  return !text.empty() && first_word(text) == text;
}

}  // namespace

Conditions::Conditions() { forget(); }

void Conditions::forget() {
  macros_ = {{"__OPENCL_VERSION__", Truth::yes}, {"__OPENCL_C_VERSION__", Truth::yes}};
}

void Conditions::define_option(std::string_view definition) {
  set(first_word(definition), Truth::yes);
}

void Conditions::end() {
  if (!groups_.empty()) groups_.pop_back();
}

Conditions::Truth Conditions::now() const {
  Truth all = Truth::yes;
  for (const Group &group : groups_) all = std::min(all, group.active);
  return all;
}

Conditions::Truth Conditions::defined(std::string_view name) const {
  const auto found = macros_.find(name);
  return found == macros_.end() ? Truth::unknown : found->second;
}

void Conditions::set(std::string_view name, Truth truth) {
  macros_.insert_or_assign(std::string(name), truth);
}

// defined X, defined(X), 0 or 1, with ! before.
Conditions::Truth Conditions::term(std::string_view text) const {
  constexpr std::string_view kDefined = "defined";
  bool is_negated = false;
  while (text.starts_with('!')) {
    is_negated = !is_negated;
    text = trimmed(text.substr(1));
  }
  Truth truth = Truth::unknown;
  if (text == "0") truth = Truth::no;
  if (text == "1") truth = Truth::yes;
  if (first_word(text) == kDefined) {
    text = trimmed(text.substr(kDefined.size()));
    if (text.starts_with('(') && text.ends_with(')'))
      text = trimmed(text.substr(1, text.size() - 2));
    if (!text.empty() && first_word(text) == text) truth = defined(text);
  }
  if (truth == Truth::unknown || !is_negated) return truth;
  return truth == Truth::yes ? Truth::no : Truth::yes;
}

// Terms with || and &&; anything else is unknown.
Conditions::Truth Conditions::value_of(std::string_view expression) const {
  Truth any = Truth::no;
  for (const std::string_view part : parts_of(expression, "||")) {
    Truth all = Truth::yes;
    for (const std::string_view one : parts_of(part, "&&")) {
      const Truth truth = term(one);
      // Where parentheses are not those of "defined", || and && may stand between them.
      const bool is_odd = one.find_first_of("()?:,'\"") != std::string_view::npos;
      if (truth == Truth::unknown && is_odd && !is_defined_term(one)) return Truth::unknown;
      all = std::min(all, truth);
    }
    any = std::max(any, all);
  }
  return any;
}

void Conditions::meet(const LogicalLine &line, const Directive &directive) {
  const std::string_view name = directive.name;
  const std::string_view operands = trimmed(std::string_view(line.code).substr(directive.operands));
  const auto negated = [](Truth truth) {
    return static_cast<Truth>(static_cast<int>(Truth::yes) - static_cast<int>(truth));
  };
  if (name == "if" || name == "ifdef" || name == "ifndef") {
    Truth truth = name == "if" ? value_of(operands) : defined(first_word(operands));
    if (name == "ifndef") truth = negated(truth);
    groups_.push_back({truth, truth});
  } else if (name == "endif") {
    end();
  } else if (name.starts_with("el") && !groups_.empty()) {
    Group &group = groups_.back();
    Truth truth = Truth::unknown;
    if (name == "else") truth = Truth::yes;
    if (name == "elif") truth = value_of(operands);
    group.active = std::min(truth, negated(group.taken));
    group.taken = std::max(group.taken, truth);
  } else if (name == "define" || name == "undef") {
    const Truth truth = name == "define" ? Truth::yes : Truth::no;
    const std::string_view macro = first_word(operands);
    const Truth active = now();
    if (active == Truth::yes) set(macro, truth);
    if (active == Truth::unknown && defined(macro) != truth) set(macro, Truth::unknown);
  }
}

}  // namespace kiln::source
