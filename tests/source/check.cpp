// SPDX-License-Identifier: Apache-2.0
#include "tests/source/check.hpp"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <functional>
#include <optional>

#include "runtime/source/whole_program.hpp"
#include "tests/source/place.hpp"

namespace kiln::cases {
namespace {

namespace fs = std::filesystem;

// The #error that stands in a flattened text for a file that Kiln did not find.
constexpr char kNoFile[] = "Kiln found no file";
constexpr std::clock_t kSlow = 3 * CLOCKS_PER_SEC;  // of the processor

struct Reading {
  std::optional<source::WholeProgram> whole;
  std::string refused;
};

Reading read(const std::string &source, const std::string &options) {
  auto whole = source::whole_program(source, options);
  if (!whole.ok()) return {std::nullopt, whole.status().message};
  return {*std::move(whole), ""};
}

std::vector<Dialect> dialects_of(const Case &example, const std::string &options) {
  if (options.find_first_of("\"'\t") != std::string::npos) {
    return {Dialect::pocl, Dialect::rusticl, Dialect::quoting};
  }
  return {example.seed % 2 == 0 ? Dialect::pocl : Dialect::rusticl};
}

const char *name_of(Dialect dialect) {
  return dialect == Dialect::pocl ? "PoCL" : dialect == Dialect::rusticl ? "rusticl" : "quoting";
}

// The first line that differs.
std::string difference(const std::string &left, const std::string &right) {
  std::size_t at = 0;
  while (at < left.size() && at < right.size() && left[at] == right[at]) ++at;
  const auto line = [at](const std::string &text) {
    const std::size_t begin = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
    return begin >= text.size()
               ? std::string("(end)")
               : text.substr(begin, std::min<std::size_t>(text.find('\n', at) - begin, 80));
  };
  return line(left) + " against " + line(right);
}

std::string text_of(const Preprocessed &result) {
  return result.ok ? std::to_string(std::count(result.tokens.begin(), result.tokens.end(), '\n')) +
                         " tokens"
                   : "error: " + result.error;
}

}  // namespace

void Checker::make_place(const Case &example) {
  std::error_code error;
  fs::current_path(empty_);
  fs::remove_all(folder_, error);
  fs::create_directories(folder_);
  fs::current_path(folder_);
  put_on_disk(example.files, folder_);
  enter(example);
}

void Checker::enter(const Case &example) const {
  std::error_code error;
  fs::current_path(folder_ / example.current, error);  // stays if an edit has moved it
}

Verdict Checker::check(const Case &example, bool remember) {
  make_place(example);
  const std::string source = placed(example.source, folder_);
  const std::string options = placed(options_of(example), folder_);
  Verdict verdict;
  const auto fault = [&verdict](std::string kind, const std::string &detail,
                                bool is_worse = false) {
    if (verdict.fault.empty() || is_worse) verdict.fault = std::move(kind), verdict.detail = detail;
  };

  // Where the program is accepted, its flattened text means what the files mean.
  std::optional<source::WholeProgram> names[2];
  std::vector<Preprocessed> originals[2];
  for (const std::size_t edited : {0, 1}) {
    if (edited == 1) put_on_disk(example.edit, folder_);
    const std::clock_t begin = std::clock();
    const Reading reading = read(source, options);
    if (std::clock() - begin > kSlow) fault("slow", "the reader took more than 3 s");
    if (edited == 0) verdict.refused = reading.refused;
    names[edited] = reading.whole;
    // An edit cannot make it wrong that a program was refused.
    if (edited == 0 && !reading.whole) break;
    for (const Dialect dialect : dialects_of(example, options)) {
      originals[edited].push_back(preprocess(source, options, dialect));
      const Preprocessed &original = originals[edited].back();
      if (edited == 0) verdict.compiles = verdict.compiles || original.ok;
      if (!reading.whole) continue;
      const source::WholeProgram &whole = *reading.whole;
      if (original.ok && original.uses_time) fault("depends on the time", "");
      fs::current_path(empty_);
      const Preprocessed flat = preprocess(whole.source, whole.options, dialect);
      enter(example);
      if (flat.error.starts_with(kNoFile)) {  // no driver builds it, so it is never served
        names[edited].reset();
        if (edited == 0) verdict.refused = kNoFile;
        continue;
      }
      if (!original.ok) continue;
      if (!(flat == original)) {
        fault("flattened otherwise",
              std::string(edited == 1 ? "after the edit, " : "") + name_of(dialect) +
                  ": the files give " + text_of(original) + ", the flattened text " +
                  text_of(flat) + ": " + difference(original.tokens, flat.tokens) +
                  "\n---- flattened:\n" + whole.source + "\n---- options: " + whole.options);
      }
      if (!remember) continue;
      const auto [known, is_new] = tokens_of_.try_emplace(
          whole.name + name_of(dialect), std::hash<std::string>()(original.tokens));
      if (!is_new && known->second != std::hash<std::string>()(original.tokens)) {
        fault("shares its name with another program", whole.name);
      }
    }
  }
  // The name covers what is read.
  if (names[0] && names[1]) {
    for (std::size_t i = 0; i < originals[0].size(); ++i) {
      if (originals[0][i] == originals[1][i]) continue;
      verdict.edit_seen = true;
      if (names[0]->name == names[1]->name) {
        fault("the edit leaves the name",
              "before the edit " + text_of(originals[0][i]) + ", after it " +
                  text_of(originals[1][i]) + ": " +
                  difference(originals[0][i].tokens, originals[1][i].tokens) +
                  "\n---- flattened:\n" + names[0]->source,
              true);
      }
    }
  }
  return verdict;
}

namespace {

std::vector<std::string> lines_of(const std::string &text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    lines.push_back(text.substr(at, end - at));
    at = end;
  }
  return lines;
}

// Leaves out one element after another, as long as `holds`.
template <typename Items, typename Holds>
void shrink(Items &items, const Holds &holds) {
  for (std::size_t size = std::max<std::size_t>(items.size() / 2, 1); size > 0; size /= 2) {
    for (std::size_t at = 0; at < items.size();) {
      const Items kept = items;
      const auto first = items.begin() + static_cast<std::ptrdiff_t>(at);
      items.erase(first, first + static_cast<std::ptrdiff_t>(std::min(size, items.size() - at)));
      if (!holds()) {
        items = kept;
        at += size;
      }
    }
  }
}

void shrink_text(std::string &text, const std::function<bool()> &holds) {
  std::vector<std::string> lines = lines_of(text);
  const auto joined = [&] {
    text.clear();
    for (const std::string &line : lines) text += line;
    return holds();
  };
  shrink(lines, joined);
  joined();
  if (text.size() < 400) shrink(text, holds);
}

}  // namespace

Case Checker::smallest(const Case &example) {
  const std::string kind = check(example, false).fault;
  Case small = example;
  if (kind.empty()) return small;
  const std::function<bool()> holds = [&] { return check(small, false).fault == kind; };
  for (std::size_t size = 0; size != small.source.size();) {
    size = small.source.size();
    shrink(small.edit, holds);
    shrink(small.files, holds);
    shrink(small.options, holds);
    shrink_text(small.source, holds);
    for (std::size_t i = 0; i < small.files.size(); ++i) {
      if (small.files[i].kind == Kind::file) shrink_text(small.files[i].text, holds);
    }
    for (std::size_t i = 0; i < small.edit.size(); ++i) {
      if (small.edit[i].kind == Kind::file) shrink_text(small.edit[i].text, holds);
    }
  }
  return small;
}

namespace {

// The text without blanks, which are all that -E puts between tokens.
std::string without_blanks(const std::string &text) {
  std::string kept;
  for (const char c : text) {
    if (std::string_view(" \t\n\v\f\r").find(c) == std::string_view::npos) kept += c;
  }
  return kept;
}

std::string in_shell(const std::string &word) {
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace

std::string Checker::against_program(const Case &example, const std::string &clang) {
  make_place(example);
  const std::string source = placed(example.source, folder_);
  const std::string options = placed(options_of(example), folder_);
  const Preprocessed here = preprocess(source, options, Dialect::rusticl);
  if (here.tokens.find("#pragma") != std::string::npos ||
      here.tokens.find('@') != std::string::npos || here.uses_time ||
      source.find("pragma") != std::string::npos) {
    return {};
  }
  put_on_disk({{Kind::file, "program.cl", source}}, folder_ / example.current);
  std::string command = in_shell(clang) + " -cc1 -E -P";
  for (const std::string &word : arguments_of(options, Dialect::rusticl))
    command += " " + in_shell(word);
  FILE *pipe = popen((command + " program.cl 2>/dev/null").c_str(), "r");
  if (pipe == nullptr) return "cannot run " + clang;
  std::string printed;
  char bytes[4096];
  for (std::size_t size; (size = fread(bytes, 1, sizeof(bytes), pipe)) > 0;)
    printed.append(bytes, size);
  const bool ok = pclose(pipe) == 0;
  // -E passes on what the compiler refuses.
  if (here.error.starts_with("unexpected character")) return {};
  if (ok != here.ok) return clang + (ok ? " succeeds, " : " fails, ") + "here " + text_of(here);
  if (!ok || printed.find("#pragma") != std::string::npos ||
      printed.find("#ident") != std::string::npos)
    return {};
  const std::string left = without_blanks(printed), right = without_blanks(here.tokens);
  return left == right ? "" : clang + " prints " + difference(left, right);
}

}  // namespace kiln::cases
