// SPDX-License-Identifier: Apache-2.0
// Splits options into words, finds macros and header folders among them, and refuses options that
// it does not know.
#include "runtime/source/build_options.hpp"

#include <algorithm>

#include "kiln/packs/text.hpp"

namespace kiln::source {
namespace {

using packs::Code;
using packs::Result;
using packs::Status;

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// Quotes, escapes and response files, for which drivers have different rules.
constexpr std::string_view kHard = "'\\@\t\n\r\v\f";

// Options that name no file and do not change how a text is divided into tokens and files.
constexpr std::string_view kKnown[] = {"-w",
                                       "-Werror",
                                       "-Wall",
                                       "-Wextra",
                                       "-pedantic",
                                       "-g",
                                       "-O",
                                       "-O0",
                                       "-O1",
                                       "-O2",
                                       "-O3",
                                       "-Os",
                                       "-ffast-math",
                                       "-fno-math-errno",
                                       "-funsafe-math-optimizations",
                                       "-ffinite-math-only",
                                       "-funroll-loops",
                                       "-create-library",
                                       "-enable-link-options"};
// Beginnings of such options, of OpenCL and of vendors. Letters, digits and "=.,+_-" may follow.
constexpr std::string_view kFamilies[] = {"-cl-std=",
                                          "-cl-single-precision-constant",
                                          "-cl-denorms-are-zero",
                                          "-cl-fp32-correctly-rounded-divide-sqrt",
                                          "-cl-opt-disable",
                                          "-cl-strict-aliasing",
                                          "-cl-mad-enable",
                                          "-cl-no-signed-zeros",
                                          "-cl-unsafe-math-optimizations",
                                          "-cl-finite-math-only",
                                          "-cl-fast-relaxed-math",
                                          "-cl-kernel-arg-info",
                                          "-cl-uniform-work-group-size",
                                          "-cl-no-subgroup-ifp",
                                          "-spir-std=",
                                          "-cl-nv-",
                                          "-cl-intel-",
                                          "-cl-amd-",
                                          "-cl-arm-",
                                          "-qcom-",
                                          "-Wno-"};
// The languages of -x.
constexpr std::string_view kLanguages[] = {"cl", "clc++", "spir"};

// Characters at the start of a folder's name that compilers replace, or read as another option.
constexpr std::string_view kFolderMarks = "-=$";

bool is_plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("=.,+_-").find(c) != std::string_view::npos;
  });
}

bool is_understood(std::string_view option) {
  const auto begins = [option](std::string_view family) { return option.starts_with(family); };
  return packs::is_among(option, kKnown) ||
         (is_plain(option) && std::any_of(std::begin(kFamilies), std::end(kFamilies), begins));
}

Status refused(std::string_view what) { return Status::error(Code::bad_input, {what}); }

// Returns whether quotes keep a blank in a word; drivers differ in how they read this.
bool has_quoted_blank(std::string_view options) {
  bool is_quoted = false;
  for (const char c : options) {
    if (c == '"') is_quoted = !is_quoted;
    if (is_quoted && is_space(c)) return true;
  }
  return false;
}

// Fails if a driver may find another option in a word with quotes. Drivers divide words at each
// blank, at each quote, or as a shell does. What is left of a name or a macro where it is divided
// is no option, and a driver that divides there refuses it.
Status doubt_of(std::string_view options) {
  if (options.find_first_of(kHard) != std::string_view::npos) {
    return refused("its options have quotes, escapes or line ends, which drivers read otherwise");
  }
  bool is_quoted = false;
  for (std::size_t i = 0; i < options.size(); ++i) {
    const char next = i + 1 < options.size() ? options[i + 1] : ' ';
    const bool is_word_begin = i == 0 || options[i - 1] == ' ';
    if (options[i] == '"') {
      is_quoted = !is_quoted;
      if (is_quoted ? next == '-' && !is_word_begin : next != ' ') {
        return refused("its options have quotes within a word, which drivers read otherwise");
      }
    } else if (is_quoted && options[i] == ' ' && next == '-') {
      return refused("its options have a quoted blank before a dash, which drivers read otherwise");
    }
  }
  return {};
}

// Returns the operand of -D, -U or -I: the rest of the word, or the next word. Nothing if there is
// none.
std::optional<OptionWord> operand_of(const std::vector<OptionWord> &words, std::size_t *at) {
  OptionWord word = words[*at];
  if (word.text.size() > 2) {
    word.text.erase(0, 2);
  } else if (++*at < words.size() && !words[*at].text.starts_with('-')) {
    word.text = words[*at].text;
    word.end = words[*at].end;
  } else {
    return std::nullopt;
  }
  if (word.text.empty()) return std::nullopt;
  return word;
}

// Returns whether drivers that divide words at quotes or as a shell find the same name with blanks:
// it has no blank in front, and its quotes enclose all of it.
bool is_whole_in_quotes(std::string_view option, std::string_view folder) {
  return folder[0] != ' ' && std::count(option.begin(), option.end(), '"') == 2 &&
         option.ends_with('"');
}

// Returns the folder as written in the options, with its quotes.
std::string quoted_folder(std::string_view option) {
  const std::size_t begin = option.find_first_not_of(" \t\n\r", option.find("-I") + 2);
  return std::string(option.substr(std::min(begin, option.size())));
}

}  // namespace

std::optional<std::vector<OptionWord>> option_words(std::string_view options) {
  std::vector<OptionWord> words;
  bool in_word = false, is_quoted = false;
  for (std::size_t i = 0; i < options.size(); ++i) {
    const char c = options[i];
    if (is_space(c) && !is_quoted) {
      in_word = false;
      continue;
    }
    if (!in_word) words.push_back({"", i, i});
    in_word = true;
    if (c == '"') {
      is_quoted = !is_quoted;
    } else {
      words.back().text += c;
    }
    words.back().end = i + 1;
  }
  if (is_quoted) return std::nullopt;
  return words;
}

Result<IncludeOptions> include_options(std::string_view options) {
  const auto words = option_words(options);
  if (!words) return refused("its options, which have an open quote");
  IncludeOptions found;
  found.doubt = doubt_of(options);
  bool has_quotes = false;
  std::size_t copied = 0;
  for (std::size_t i = 0; i < words->size(); ++i) {
    const OptionWord &word = (*words)[i];
    const std::string kind = word.text.substr(0, 2);
    if (word.text == "-x") {
      if (++i < words->size() && packs::is_among((*words)[i].text, kLanguages)) continue;
      return refused("its option -x, without a language that is known");
    }
    if (kind != "-D" && kind != "-U" && kind != "-I") {
      if (is_understood(word.text)) continue;
      return refused("its option " + word.text + ", which is not known");
    }
    const auto operand = operand_of(*words, &i);
    if (!operand) return refused("its options: " + kind + " without an operand");
    const std::string_view option = options.substr(word.begin, operand->end - word.begin);
    const bool is_quoted = option.find('"') != std::string_view::npos;
    if (kind == "-D") found.definitions.push_back(operand->text);
    if (kind == "-U" || (kind == "-D" && is_quoted)) found.uncertain.push_back(operand->text);
    if (kind != "-I") continue;
    if (kFolderMarks.find(operand->text[0]) != std::string_view::npos) {
      return refused("its option " + word.text + ", which compilers may read in another way");
    }
    has_quotes = has_quotes || is_quoted;
    const std::string written = quoted_folder(option);
    const bool has_blank = operand->text.find(' ') != std::string::npos;
    if (has_blank &&
        (!is_whole_in_quotes(option, operand->text) || (written[0] != '"' && option[0] != '"'))) {
      return refused("its option " + word.text + ", which drivers divide in different ways");
    }
    found.folders.emplace_back(operand->text);
    found.quoted_folders.emplace_back(written);
    found.cut_folders.emplace_back(written.substr(0, written.find(' ')));
    if (!found.only_folders.empty()) found.only_folders += ' ';
    found.only_folders += option;
    found.others += options.substr(copied, word.begin - copied);
    copied = operand->end;
    while (copied < options.size() && is_space(options[copied])) ++copied;
  }
  found.others += options.substr(copied);
  if (!has_quotes) {
    found.quoted_folders.clear();
    found.cut_folders.clear();
  }
  // One driver's folder, which the name does not cover, may be part of a macro for another driver.
  const bool has_folder = options.find("-I") != std::string_view::npos;
  if (has_folder && !found.doubt.ok()) return found.doubt;
  return found;
}

bool are_macros(std::string_view options) {
  const auto words = option_words(options);
  if (!words || !doubt_of(options).ok() || has_quoted_blank(options)) return false;
  for (std::size_t i = 0; i < words->size(); ++i) {
    const std::string kind = (*words)[i].text.substr(0, 2);
    if ((kind != "-D" && kind != "-U") || !operand_of(*words, &i)) return false;
  }
  return true;
}

}  // namespace kiln::source
