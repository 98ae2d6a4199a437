// SPDX-License-Identifier: Apache-2.0
// Takes runs of parts away, and reads just enough of C to find its statements.
#include "builder/bisect/reduce_text.hpp"

#include <algorithm>
#include <string_view>

namespace kiln::builder {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

std::string trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return std::string(text);
}

// Returns the place behind the string, the character or the comment that begins at `at`, or behind
// the one character there. A comment is no part of the statement.
std::size_t token_end(const std::string &text, std::size_t at, bool *is_comment) {
  *is_comment = false;
  if (text[at] == '"' || text[at] == '\'') {
    const char quote = text[at];
    std::size_t end = at + 1;
    while (end < text.size() && text[end] != quote) end += text[end] == '\\' ? 2 : 1;
    return std::min(end + 1, text.size());
  }
  *is_comment = true;
  if (text.compare(at, 2, "//") == 0) return std::min(text.find('\n', at), text.size());
  if (text.compare(at, 2, "/*") == 0) {
    const std::size_t end = text.find("*/", at + 2);
    return end == std::string::npos ? text.size() : end + 2;
  }
  *is_comment = false;
  return at + 1;
}

// Returns the place behind a preprocessor line and its continuations.
std::size_t directive_end(const std::string &text, std::size_t at) {
  for (;;) {
    const std::size_t end = text.find('\n', at);
    if (end == std::string::npos) return text.size();
    if (end == 0 || text[end - 1] != '\\') return end;
    at = end + 1;
  }
}

std::string directive_of(const std::string &line) {
  return line.front() == '#' ? trimmed(std::string_view(line).substr(1)) : std::string();
}

// Returns the line that closes the block or the condition which line `first` opens; `first` if it
// opens none.
std::size_t closing_line(const std::vector<std::string> &lines, std::size_t first) {
  const bool is_condition = directive_of(lines[first]).starts_with("if");
  if (!is_condition && lines[first].back() != '{') return first;
  int depth = 0;
  for (std::size_t at = first; at < lines.size(); ++at) {
    const std::string directive = directive_of(lines[at]);
    if (is_condition) {
      depth += directive.starts_with("if") ? 1 : directive.starts_with("endif") ? -1 : 0;
    } else if (directive.empty()) {
      depth += (lines[at].back() == '{' ? 1 : 0) - (lines[at].front() == '}' ? 1 : 0);
    }
    if (depth == 0) return at;
  }
  return first;
}

}  // namespace

std::vector<std::string> reduce_blocks(std::vector<std::string> lines, const Shows &shows) {
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t end = closing_line(lines, at);
    if (end == at) {
      ++at;
      continue;
    }
    const auto first = static_cast<std::ptrdiff_t>(at), last = static_cast<std::ptrdiff_t>(end);
    std::vector<std::string> without = lines, unwrapped = lines;
    without.erase(without.begin() + first, without.begin() + last + 1);
    unwrapped.erase(unwrapped.begin() + last);
    unwrapped.erase(unwrapped.begin() + first);
    if (shows(without)) {
      lines = std::move(without);
    } else if (shows(unwrapped)) {
      lines = std::move(unwrapped);
    } else {
      ++at;
    }
  }
  return lines;
}

std::vector<std::string> reduce_parts(std::vector<std::string> parts, std::size_t most,
                                      const Shows &shows) {
  std::size_t asked = 0;
  std::size_t run = std::max<std::size_t>(parts.size() / 2, 1);
  while (!parts.empty()) {
    bool is_smaller = false;
    for (std::size_t at = 0; at < parts.size();) {
      if (asked == most) return parts;
      std::vector<std::string> fewer(parts.begin(),
                                     parts.begin() + static_cast<std::ptrdiff_t>(at));
      const std::size_t after = std::min(at + run, parts.size());
      fewer.insert(fewer.end(), parts.begin() + static_cast<std::ptrdiff_t>(after), parts.end());
      ++asked;
      if (shows(fewer)) {
        parts = std::move(fewer);
        is_smaller = true;
      } else {
        at += run;
      }
    }
    if (run == 1 && !is_smaller) break;
    run = std::max<std::size_t>(run / 2, 1);
  }
  return parts;
}

std::vector<std::string> statement_lines(const std::string &text) {
  std::vector<std::string> lines;
  std::string line;
  int parentheses = 0;
  const auto end_line = [&] {
    if (std::string whole = trimmed(line); !whole.empty()) lines.push_back(std::move(whole));
    line.clear();
  };
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '#' && trimmed(line).empty()) {
      const std::size_t end = directive_end(text, at);
      line = text.substr(at, end - at);
      end_line();
      at = end;
      continue;
    }
    bool is_comment = false;
    const std::size_t end = token_end(text, at, &is_comment);
    const char c = text[at];
    if (is_comment) {
      line += ' ';
    } else if (end - at > 1) {
      line.append(text, at, end - at);
    } else if (c == '\n') {
      // A directive may follow; else a statement goes on.
      const std::size_t next = text.find_first_not_of(" \t\r\n", at);
      if (next != std::string::npos && text[next] == '#') {
        end_line();
      } else {
        line += ' ';
      }
    } else {
      if (c == '(') ++parentheses;
      if (c == ')') --parentheses;
      if (c == '}' && parentheses <= 0) end_line();
      line += c;
      if (parentheses <= 0 && (c == ';' || c == '{' || c == '}')) end_line();
    }
    at = end;
  }
  end_line();
  return lines;
}

bool is_balanced(const std::vector<std::string> &lines) {
  std::string open;
  int conditions = 0;
  for (const std::string &line : lines) {
    if (line.front() == '#') {
      const std::string word = trimmed(std::string_view(line).substr(1));
      if (word.starts_with("if")) ++conditions;
      if (word.starts_with("endif") && --conditions < 0) return false;
      if (word.starts_with("el") && conditions == 0) return false;
      continue;
    }
    for (std::size_t at = 0; at < line.size();) {
      bool is_comment = false;
      const std::size_t end = token_end(line, at, &is_comment);
      if (end - at == 1) {
        const char c = line[at];
        if (c == '(' || c == '{' || c == '[') open += c;
        if (c == ')' || c == '}' || c == ']') {
          const char opener = c == ')' ? '(' : c == '}' ? '{' : '[';
          if (open.empty() || open.back() != opener) return false;
          open.pop_back();
        }
      }
      at = end;
    }
  }
  return open.empty() && conditions == 0;
}

std::string joined_lines(const std::vector<std::string> &lines) {
  std::string text;
  std::size_t depth = 0;
  for (const std::string &line : lines) {
    if (line.front() == '}' && depth > 0) --depth;
    text += (line.front() == '#' ? "" : std::string(2 * depth, ' ')) + line + "\n";
    if (line.back() == '{') ++depth;
  }
  return text;
}

}  // namespace kiln::builder
