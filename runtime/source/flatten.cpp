// SPDX-License-Identifier: Apache-2.0
// Replaces each #include by the text of its file, between #line directives.
#include "runtime/source/flatten.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "kiln/packs/text.hpp"
#include "runtime/source/logical_lines.hpp"
#include "runtime/source/source_error.hpp"

namespace kiln::source {
namespace {

using packs::concat;
using packs::decimal;

constexpr std::size_t kDeepest = 64;

// Prefix of the flattener's own macros; a text with such a name is refused.
constexpr char kOnce[] = "KILN_ONCE_";

struct File {
  std::filesystem::path path;
  std::string text;
  std::string place;  // OpenedFile::place
  std::vector<LogicalLine> lines;
  std::string guard;  // macro of its include guard
  // The line with the first #pragma once that is under no condition; null: there is none.
  const LogicalLine *once = nullptr;
  bool complete = false;  // has `once`, and the text already has it under no condition
  std::size_t number = 0;
};

bool is_pragma_once(const LogicalLine &line) {
  const Directive directive = directive_of(line);
  return directive.name == "pragma" &&
         first_word(std::string_view(line.code).substr(directive.operands)) == "once";
}

bool is_if(std::string_view name) { return name == "if" || name == "ifdef" || name == "ifndef"; }

// Returns whether the name has only characters that every compiler makes from the same macros.
bool is_plain_name(std::string_view name) {
  return std::all_of(name.begin(), name.end(), [](char c) {
    return is_word_character(c) || std::string_view("./+-~=@,").find(c) != std::string_view::npos;
  });
}

std::string line_directive(std::size_t line, std::string_view name) {
  std::string escaped;
  for (const char c : name) {
    if (c == '\\' || c == '"') escaped += '\\';
    escaped += c;
  }
  return concat({"#line ", decimal(line), " \"", escaped, "\"\n"});
}

class Flattener {
 public:
  explicit Flattener(const FlattenRequest &request) : request_(request), macros_(request.macros) {}

  Result<Flattened> run() {
    auto root = open(request_.source);
    if (!root.ok()) return root.status();
    if (*root == nullptr) {
      return Status(Code::bad_input, file_error(request_.source.lexically_normal().generic_string(),
                                                "cannot be read"));
    }
    (*root)->once = nullptr;  // compilers ignore it in the main file
    if (Status status = inline_file(**root, true); !status.ok()) return status;
    for (const std::string &guard : cut_guards_) {
      if (undefined_.count(guard) == 0) continue;
      return Status(Code::bad_input,
                    concat({"the include guard ", guard, " of a file is undefined later"}));
    }
    // A text without other files keeps its meaning.
    if (!odd_in_one_text_.ok() && files_.size() > 1) return odd_in_one_text_;
    return std::move(result_);
  }

 private:
  struct Inclusion {
    const File *file;
    std::size_t at;  // offset of the operand that includes the next file
  };

  const OpenedFile &read(const std::filesystem::path &path) {
    const auto [place, is_new] = read_.try_emplace(path.generic_string());
    if (is_new) place->second = request_.read(path);
    return place->second;
  }

  bool is_absent(const std::filesystem::path &path) {
    return read(path).outcome == OpenedFile::Outcome::absent;
  }

  // Returns null if the file is absent.
  Result<File *> open(const std::filesystem::path &path) {
    const OpenedFile &opened = read(path);
    if (opened.outcome == OpenedFile::Outcome::absent) return static_cast<File *>(nullptr);
    if (opened.outcome == OpenedFile::Outcome::refused) {
      return fail(in_quotes(path.generic_string()) + " cannot be read", "");
    }
    if (!chain_.empty() && listed_.insert(path.generic_string()).second) {
      result_.files.push_back({path.generic_string(), opened.text, opened.identity});
    }
    const auto [place, is_new] = files_.try_emplace(opened.identity);
    if (is_new) {
      place->second = std::make_unique<File>();
      return take_in(path, opened, place->second.get());
    }
    File *file = place->second.get();
    if (file->place == opened.place) return file;
    // Compilers differ on the file's folder, and on whether #pragma once takes both for one file.
    return fail(concat({"one file by two names: ", in_quotes(file->path.generic_string()), " and ",
                        in_quotes(path.generic_string())}),
                "");
  }

  Result<File *> take_in(const std::filesystem::path &path, const OpenedFile &opened, File *file) {
    file->path = path;
    file->text = opened.text;
    file->place = opened.place;
    if (file->text.starts_with("\xEF\xBB\xBF")) file->text.erase(0, 3);
    file->number = files_.size();
    ScannedText scanned = scan(file->text);
    auto doubt = std::move(scanned.doubt);
    file->lines = std::move(scanned.lines);
    file->guard = include_guard(file->lines);
    if (!doubt) doubt = check_lines(file);
    if (!doubt) return file;
    return Status(Code::bad_input,
                  source_error(name_of(*file), file->text, position_at(file->text, doubt->at),
                               doubt->what, "expected what every compiler reads alike"));
  }

  // Finds #pragma once, and notes oddities in one text; a doubt holds however the file is used.
  std::optional<Doubt> check_lines(File *file) {
    std::vector<bool> has_else;  // for each #if around the line
    const bool is_root = chain_.empty();
    if (const std::size_t at = file->text.find(kOnce); at != std::string::npos) {
      return Doubt{at, concat({"a name that begins with ", kOnce})};
    }
    for (const LogicalLine &line : file->lines) {
      const Directive directive = directive_of(line);
      const bool is_else = directive.name.starts_with("el");
      if (is_if(directive.name)) has_else.push_back(false);
      if ((is_else || directive.name == "endif") && has_else.empty()) {
        note_odd(*file, line, "a conditional that no #if begins");
      } else if (directive.name == "endif") {
        has_else.pop_back();
      } else if (is_else) {
        if (has_else.back()) note_odd(*file, line, "a conditional behind #else");
        has_else.back() = directive.name == "else";
      }
      const std::size_t depth = has_else.size();
      if (is_pragma_once(line) && !is_root) {
        const bool is_guarded = depth == 1 && !file->guard.empty();
        if (depth > 0 && !is_guarded) return Doubt{line.begin, "#pragma once under a condition"};
        if (is_guarded) cut_guards_.insert(file->guard);  // the guard has the same effect
        if (depth == 0 && file->once == nullptr) file->once = &line;
      }
      const std::string_view operands = std::string_view(line.code).substr(directive.operands);
      if (directive.name == "undef") undefined_.emplace(first_word(operands));
      if (!is_listed(line)) {
        note_odd(*file, line,
                 concat({"#", directive.name, ", which is not certain where files are included"}));
      }
    }
    if (!has_else.empty())
      note_odd(*file, file->lines.back(), "a conditional that the file does not end");
    return std::nullopt;
  }

  // Notes only the first oddity.
  void note_odd(const File &file, const LogicalLine &line, const std::string &what) {
    if (!odd_in_one_text_.ok()) return;
    odd_in_one_text_ = Status(
        Code::bad_input, source_error(name_of(file), file.text, position_at(file.text, line.begin),
                                      what, "expected what means the same in one text"));
  }

  // Notes a macro under any condition: one that is defined in two ways is not certain.
  void note_directive(const LogicalLine &line, const Directive &directive) {
    const std::string_view operands = std::string_view(line.code).substr(directive.operands);
    if (directive.name == "define") macros_.define(operands);
    if (directive.name == "undef") macros_.undefine(operands);
  }

  struct Name {
    std::string_view text;
    bool in_quotes = false;
  };

  // Returns null if no folder has the file.
  Result<File *> search_dirs(const std::vector<std::filesystem::path> &dirs, const Name &name) {
    for (const std::filesystem::path &folder : dirs) {
      auto file = open(folder / name.text);
      if (!file.ok() || *file != nullptr) return file;
    }
    return static_cast<File *>(nullptr);
  }

  // Returns the file that every compiler finds for the name; null: none does.
  Result<File *> search(const File &from, const Name &name) {
    const std::filesystem::path path(name.text);
    const std::filesystem::path folder = from.path.parent_path();
    if (path.is_absolute()) return open(path);
    if (name.in_quotes) {
      if (chain_.size() == 1 && is_found_first(path)) return ambiguous(path);
      auto file = open(folder / path);
      if (!file.ok()) return file;
      if (*file != nullptr) return is_header_too(folder, path) ? ambiguous(path) : file;
    }
    if (!request_.as_compiled) return search_dirs(request_.include_dirs, name);
    return search_as_compiled(name);
  }

  // Returns whether some compiler would take another file for what the source itself includes.
  bool is_found_first(const std::filesystem::path &name) {
    if (!request_.as_compiled) return false;
    const auto &dirs = request_.as_compiled->first_dirs;
    return std::any_of(dirs.begin(), dirs.end(),
                       [&](const auto &dir) { return !is_absent(dir / name); });
  }

  // Returns whether a file outside clCompileProgram's headers has the name of one of them.
  bool is_header_too(const std::filesystem::path &folder, const std::filesystem::path &name) {
    if (!request_.as_compiled || request_.as_compiled->headers_dir.empty()) return false;
    const std::filesystem::path &headers = request_.as_compiled->headers_dir;
    return *folder.begin() != headers && !is_absent(headers / name);
  }

  // Returns the identity of the first such file in the folders; empty if there is none.
  std::string first_identity(const std::vector<std::filesystem::path> &dirs,
                             std::string_view name) {
    for (const std::filesystem::path &dir : dirs) {
      const OpenedFile &opened = read(dir / name);
      if (opened.outcome == OpenedFile::Outcome::refused) return "refused";
      if (opened.outcome == OpenedFile::Outcome::read) return opened.identity;
    }
    return {};
  }

  // Drivers search the current folder before or after the others, or not at all, and they read
  // quotes in options in two ways.
  Result<File *> search_as_compiled(const Name &name) {
    const AsCompiled &other = *request_.as_compiled;
    for (const auto &dirs : other.other_include_dirs) {
      const std::string found = first_identity(dirs, name.text);
      if (!found.empty() && found != first_identity(request_.include_dirs, name.text)) {
        return ambiguous(name.text);
      }
    }
    if (!other.headers_dir.empty() && !is_absent(other.headers_dir / name.text)) {
      for (const auto &dir : request_.include_dirs) {
        if (!is_absent(dir / name.text)) return ambiguous(dir / name.text);
      }
      return is_absent(name.text) ? open(other.headers_dir / name.text) : ambiguous(name.text);
    }
    for (const auto &dir : request_.include_dirs) {
      if (is_absent(dir / name.text)) continue;
      const OpenedFile &here = read(name.text);
      const bool is_other = here.outcome != OpenedFile::Outcome::absent &&
                            here.identity != read(dir / name.text).identity;
      return is_other ? ambiguous(name.text) : open(dir / name.text);
    }
    return static_cast<File *>(nullptr);
  }

  Status ambiguous(const std::filesystem::path &path) const {
    return fail(in_quotes(path.generic_string()) + " is read by some compilers and not by others",
                "");
  }

  // `certain`: this inclusion is under no condition.
  Status inline_file(File &file, bool certain) {
    const bool wrapped = file.once != nullptr;
    if (wrapped) {
      const std::string macro = concat({kOnce, decimal(file.number), "\n"});
      result_.text += concat({"#ifndef ", macro, "#define ", macro});
    }
    chain_.push_back({&file, 0});
    result_.text += line_directive(1, request_.name(file.path));
    // For each #if around the line, whether an include in one of its groups was replaced: if the
    // group is skipped, so is the #line after the include.
    std::vector<bool> replaced;
    for (const LogicalLine &line : file.lines) {
      const Directive directive = directive_of(line);
      if (is_if(directive.name)) replaced.push_back(false);
      if (directive.name == "include") {
        auto is_replaced = inline_line(file, line, directive, certain && replaced.empty());
        if (!is_replaced.ok()) return is_replaced.status();
        if (*is_replaced && !replaced.empty()) replaced.back() = true;
        continue;
      }
      if (is_pragma_once(line)) {
        result_.text.append(line.line_count, '\n');
      } else {
        note_directive(line, directive);
        copy(file, line);
      }
      const bool is_end = directive.name == "endif";
      if (replaced.empty() || !(is_end || directive.name.starts_with("el"))) continue;
      const bool needs_line = replaced.back();
      if (needs_line) say_next_line(file, line);
      if (is_end) replaced.pop_back();
      if (is_end && needs_line && !replaced.empty()) replaced.back() = true;
    }
    if (!result_.text.ends_with('\n')) result_.text += '\n';
    if (wrapped) result_.text += "#endif\n";
    if (wrapped && certain) file.complete = true;
    chain_.pop_back();
    return {};
  }

  // Returns the "name" or <name> at the start of an operand; an empty one if there is none.
  static Name name_in(std::string_view operand) {
    const bool in_quotes = operand.starts_with('"');
    if (!in_quotes && !operand.starts_with('<')) return {};
    const std::size_t close = operand.find(in_quotes ? '"' : '>', 1);
    if (close == std::string_view::npos) return {};
    return {operand.substr(1, close - 1), in_quotes};
  }

  // Returns whether the line was replaced by a file, or left out.
  Result<bool> inline_line(File &file, const LogicalLine &line, const Directive &directive,
                           bool certain) {
    result_.has_includes = true;
    std::string operand(std::string_view(line.code).substr(directive.operands));
    chain_.back().at =
        directive.operands < line.at.size() ? line.at[directive.operands] : line.begin;
    const bool is_made = name_in(operand).text.empty() && !first_word(operand).empty();
    if (is_made) operand = macros_.expand(operand).value_or("");
    const Name name = name_in(operand);
    if (name.text.empty() && is_made) {
      return fail("#include of a file whose name is not certain",
                  "expected \"name\", <name>, or macros that the options or the lines above define "
                  "once, without ## and blanks");
    }
    if (name.text.empty()) {
      return fail("#include without the name of a file", "expected \"name\" or <name>");
    }
    // A compiler may report an error here, which the one text would not have.
    if (name.text.size() + 2 != operand.find_last_not_of(kBlanks) + 1) {
      return fail("something behind the name of a file", "expected nothing but a comment");
    }
    if (name.text.find('\\') != std::string_view::npos || (is_made && !is_plain_name(name.text))) {
      return fail("the name of a file that compilers may read in different ways", "");
    }
    if (!request_.as_compiled && name.in_quotes && std::filesystem::path(name.text).is_absolute()) {
      return fail(in_quotes(name.text) + " is an absolute path",
                  "expected a path relative to this file's folder or to an include folder");
    }
    const auto included = search(file, name);
    if (!included.ok()) return included.status();
    if (*included == nullptr && !is_made && !request_.as_compiled && !name.in_quotes) {
      copy(file, line);
      return false;
    }
    if (*included == nullptr && !is_made && request_.as_compiled && !certain) {
      result_.text += kMissingFile + std::string(line.line_count, '\n');
      return false;
    }
    if (*included == nullptr) {
      return fail("cannot find " + in_quotes(name.text), searched(file, name.text));
    }
    if (Status s = include(**included, certain); !s.ok()) return s;
    if (result_.text.size() > kMaxTextBytes) {
      return fail("the text with its includes is too large",
                  concat({"expected at most ", decimal(kMaxTextBytes), " bytes"}));
    }
    say_next_line(file, line);
    return true;
  }

  Status include(File &file, bool certain) {
    const auto on_chain = std::find_if(chain_.begin(), chain_.end(),
                                       [&file](const Inclusion &i) { return i.file == &file; });
    if (on_chain != chain_.end()) {
      if (file.once != nullptr && file.once->begin < on_chain->at) return {};
      if (!file.guard.empty()) {
        cut_guards_.insert(file.guard);
        return {};
      }
      return fail(concat({in_quotes(name_of(file)), " includes itself: ", cycle(on_chain)}),
                  "expected #pragma once or an include guard");
    }
    if (file.complete) return {};
    if (chain_.size() >= kDeepest) {
      return fail("includes are nested too deeply",
                  concat({"expected at most ", decimal(kDeepest), " levels"}));
    }
    return inline_file(file, certain);
  }

  void say_next_line(const File &file, const LogicalLine &line) {
    if (!result_.text.ends_with('\n')) result_.text += '\n';
    result_.text += line_directive(line.first_line + line.line_count, request_.name(file.path));
  }

  void copy(const File &file, const LogicalLine &line) {
    const std::string_view whole = std::string_view(file.text).substr(0, line.end);
    for (std::size_t at = line.begin; at < line.end;) {
      const std::size_t ending = std::min(whole.find("\r\n", at), whole.size());
      result_.text += whole.substr(at, ending - at);
      at = ending + 1;  // the "\n" stays
    }
  }

  static std::string name_of(const File &file) { return file.path.generic_string(); }

  std::string cycle(std::vector<Inclusion>::const_iterator from) const {
    std::string text;
    for (auto i = from; i != chain_.end(); ++i) text += name_of(*i->file) + " -> ";
    return text + name_of(*from->file);
  }

  std::string searched(const File &file, std::string_view name) const {
    std::string text =
        "expected one of: " + (file.path.parent_path() / name).lexically_normal().generic_string();
    for (const std::filesystem::path &folder : request_.include_dirs) {
      text += ", " + (folder / name).lexically_normal().generic_string();
    }
    return text;
  }

  Status fail(const std::string &message, const std::string &expected) const {
    if (chain_.empty()) return {Code::bad_input, message};
    const Inclusion &last = chain_.back();
    std::string text = source_error(name_of(*last.file), last.file->text,
                                    position_at(last.file->text, last.at), message, expected);
    for (std::size_t i = chain_.size() - 1; i > 0; --i) {
      const Inclusion &above = chain_[i - 1];
      text += concat({"included from ", name_of(*above.file), ":",
                      decimal(position_at(above.file->text, above.at).line), "\n"});
    }
    return {Code::bad_input, std::move(text)};
  }

  const FlattenRequest &request_;
  IncludeMacros macros_;
  std::map<std::string, OpenedFile> read_;              // by path
  std::map<std::string, std::unique_ptr<File>> files_;  // by identity
  std::set<std::string> listed_;                        // paths in the result
  std::vector<Inclusion> chain_;
  // Guards that replace #pragma once, or stop a file from including itself, while they are defined.
  std::set<std::string> cut_guards_;
  std::set<std::string> undefined_;  // operands of #undef, under any condition
  Status odd_in_one_text_;
  Flattened result_;
};

}  // namespace

NameFile names_below(const std::filesystem::path &manifest_folder) {
  const auto folder = manifest_folder.empty() ? "." : manifest_folder.lexically_normal();
  return [folder](const std::filesystem::path &path) {
    return path.lexically_normal().lexically_relative(folder).generic_string();
  };
}

NameFile names_as_opened() {
  return [](const std::filesystem::path &path) { return path.lexically_normal().generic_string(); };
}

Result<Flattened> flatten(const FlattenRequest &request) {
  try {
    return Flattener(request).run();
  } catch (const std::exception &error) {
    return Status(Code::bad_input, file_error(request.source.generic_string(), error.what()));
  }
}

}  // namespace kiln::source
