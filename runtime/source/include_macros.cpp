// SPDX-License-Identifier: Apache-2.0
// Expands macros only if every compiler gets the same result.
#include "runtime/source/include_macros.hpp"

#include <algorithm>

#include "runtime/source/logical_lines.hpp"

namespace kiln::source {

namespace {

constexpr unsigned kDeepestMacro = 32;

// Returns whether drivers may define a macro of this name; Kiln does not know which ones they do.
bool may_be_a_drivers(std::string_view word) {
  constexpr std::string_view kOfSystems[] = {"linux", "unix", "i386", "arm", "vax"};
  if (word[0] == '_' || word.substr(0, 3) == "cl_") return true;
  const bool has_lower =
      std::any_of(word.begin(), word.end(), [](char c) { return c >= 'a' && c <= 'z'; });
  return !has_lower ||
         std::find(std::begin(kOfSystems), std::end(kOfSystems), word) != std::end(kOfSystems);
}

bool begins_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

// Returns the word, number or string literal at `at`, or the one character there.
std::string_view token_at(std::string_view text, std::size_t at) {
  std::size_t end = at + 1;
  const auto is_digit = [&](std::size_t i) {
    return i < text.size() && text[i] >= '0' && text[i] <= '9';
  };
  if (is_digit(at) || (text[at] == '.' && is_digit(at + 1))) {  // such as "2.h", where h is no word
    const auto goes_on = [&](std::size_t i) {
      const bool is_sign = text[i] == '+' || text[i] == '-';
      return is_word_character(text[i]) || text[i] == '.' ||
             (is_sign && std::string_view("eEpP").find(text[i - 1]) != std::string_view::npos);
    };
    while (end < text.size() && goes_on(end)) ++end;
  } else if (is_word_character(text[at])) {
    end = at + first_word(text.substr(at)).size();
  } else if (text[at] == '"') {
    const std::size_t close = text.find('"', end);
    end = close == std::string_view::npos ? text.size() : close + 1;
  }
  return text.substr(at, end - at);
}

// Returns the arguments in the parentheses at *at, and moves *at past them; nothing if the
// parentheses are not closed.
std::optional<std::vector<std::string>> arguments_at(std::string_view text, std::size_t *at) {
  std::vector<std::string> found(1);
  unsigned depth = 0;
  for (std::size_t i = *at; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '(' && ++depth == 1) continue;
    if (c == ')' && --depth == 0) {
      for (std::string &argument : found) argument = trimmed(argument);
      *at = i + 1;
      return found;
    }
    if (c == ',' && depth == 1) {
      found.emplace_back();
    } else {
      found.back() += c;
    }
  }
  return std::nullopt;
}

std::vector<std::string> parameters_in(std::string_view list) {
  std::vector<std::string> found;
  while (!trimmed(list).empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    found.emplace_back(trimmed(list.substr(0, comma)));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return found;
}

}  // namespace

void IncludeMacros::define_option(std::string_view definition) {
  const std::size_t equals = definition.find('=');
  const bool has_body = equals != std::string_view::npos;
  add(definition.substr(0, equals), has_body ? definition.substr(equals + 1) : "1");
}

void IncludeMacros::define(std::string_view definition) {
  std::size_t end = first_word(definition).size();
  if (definition.substr(end).starts_with('(')) {
    const std::size_t close = definition.find(')', end);
    end = close == std::string_view::npos ? definition.size() : close + 1;
  }
  add(definition.substr(0, end), definition.substr(end));
}

void IncludeMacros::undefine(std::string_view name) {
  name = trimmed(name.substr(0, name.find_first_of("=( ")));
  macros_[std::string(name)].is_certain = false;
}

void IncludeMacros::add(std::string_view head, std::string_view body) {
  const std::size_t open = head.find('(');
  Macro macro;
  macro.is_function = open != std::string_view::npos;
  if (macro.is_function) {
    macro.parameters = parameters_in(head.substr(open + 1, head.find(')') - open - 1));
  }
  macro.body = trimmed(body);
  macro.is_certain = head.find("...") == std::string_view::npos;
  set(trimmed(head.substr(0, open)), std::move(macro));
}

void IncludeMacros::set(std::string_view name, Macro macro) {
  const auto [place, is_new] = macros_.try_emplace(std::string(name), macro);
  Macro &known = place->second;
  const bool same = known.is_function == macro.is_function && known.body == macro.body &&
                    known.parameters == macro.parameters;
  if (!is_new && !same) known.is_certain = false;
}

std::optional<std::string> IncludeMacros::expand(std::string_view text) const {
  std::size_t steps = kMaxSteps;
  return expand(text, 0, &steps);
}

std::optional<std::string> IncludeMacros::expand(std::string_view text, unsigned depth,
                                                 std::size_t *steps) const {
  if (depth > kDeepestMacro || text.size() > kMaxSteps) return std::nullopt;
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (*steps == 0 || out.size() > kMaxSteps) return std::nullopt;
    --*steps;
    const std::string_view token = token_at(text, at);
    at += token.size();
    const auto found = begins_word(token[0]) ? macros_.find(token) : macros_.end();
    if (found == macros_.end()) {
      if (begins_word(token[0]) && may_be_a_drivers(token)) return std::nullopt;
      out += token;
      continue;
    }
    const Macro &macro = found->second;
    const std::size_t open = text.find_first_not_of(kBlanks, at);
    const bool is_called = open != std::string_view::npos && text[open] == '(';
    if (macro.is_function != is_called) return std::nullopt;
    std::vector<std::string> arguments;
    if (macro.is_function) {
      at = open;
      auto given = arguments_at(text, &at);
      if (!given) return std::nullopt;
      arguments = *std::move(given);
    }
    const auto part = apply(macro, arguments, depth, steps);
    if (!part) return std::nullopt;
    out += *part;
  }
  if (out.size() > kMaxSteps) return std::nullopt;
  return out;
}

std::optional<std::string> IncludeMacros::apply(const Macro &macro,
                                                const std::vector<std::string> &arguments,
                                                unsigned depth, std::size_t *steps) const {
  // "//" begins a comment, also in an operand of -D.
  constexpr std::string_view kHardParts[] = {"##", "//", "/*", " ", "\t", "\v", "\f", "\r"};
  const bool is_hard = std::any_of(
      std::begin(kHardParts), std::end(kHardParts),
      [&](std::string_view part) { return macro.body.find(part) != std::string::npos; });
  const bool fits = !macro.is_function || arguments.size() == macro.parameters.size();
  if (!macro.is_certain || !fits || is_hard) return std::nullopt;
  std::string replaced;
  bool quote = false;  // whether a # precedes the token
  for (std::size_t at = 0; at < macro.body.size();) {
    const std::string_view token = token_at(macro.body, at);
    at += token.size();
    if (macro.is_function && token == "#") {
      quote = true;
      continue;
    }
    const auto place = std::find(macro.parameters.begin(), macro.parameters.end(), token);
    if (place == macro.parameters.end()) {
      if (quote) return std::nullopt;
      replaced += token;
      continue;
    }
    const std::string &argument =
        arguments[static_cast<std::size_t>(place - macro.parameters.begin())];
    // Blanks and escaped characters may change when they go into a string.
    if (argument.find_first_of(" \t\v\f\"'\\") != std::string::npos) return std::nullopt;
    const auto part = quote ? "\"" + argument + "\"" : expand(argument, depth + 1, steps);
    if (!part) return std::nullopt;
    replaced += *part;
    if (replaced.size() > kMaxSteps) return std::nullopt;
    quote = false;
  }
  return expand(replaced, depth + 1, steps);
}

}  // namespace kiln::source
