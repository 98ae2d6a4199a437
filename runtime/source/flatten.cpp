// SPDX-License-Identifier: Apache-2.0
// Replaces each directive by the text of the file that it includes, between #line directives.
#include "runtime/source/flatten.hpp"

#include <algorithm>
#include <map>
#include <memory>

#include <fcntl.h>
#include <sys/stat.h>

#include "kiln/packs/descriptor.hpp"
#include "kiln/packs/text.hpp"
#include "runtime/source/logical_lines.hpp"
#include "runtime/source/source_error.hpp"

namespace kiln::source {
namespace {

using packs::concat;
using packs::decimal;

constexpr std::size_t kDeepest = 64;
constexpr std::size_t kMaxTextBytes = std::size_t{16} << 20;

struct File {
  std::filesystem::path path;
  std::string text;
  std::vector<LogicalLine> lines;
  bool once = false;      // has #pragma once
  bool guarded = false;   // has an include guard
  bool complete = false;  // has #pragma once and is already in the text under no condition
  std::size_t number = 0;
};

bool is_pragma_once(const LogicalLine &line) {
  const Directive directive = directive_of(line);
  if (directive.name != "pragma") return false;
  std::string_view rest = std::string_view(line.code).substr(directive.operands);
  if (!rest.starts_with("once")) return false;
  return rest.find_first_not_of(" \t\r\v\f", 4) == std::string_view::npos;
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
    File *root = open(request_.source);
    if (root == nullptr) {
      return Status(Code::bad_input, file_error(request_.source.lexically_normal().generic_string(),
                                                "cannot be read"));
    }
    if (Status status = inline_file(*root, true); !status.ok()) return status;
    return std::move(result_);
  }

 private:
  struct Inclusion {
    const File *file;
    std::size_t at;  // offset in the file of the operand that includes the next one
  };

  File *open(const std::filesystem::path &given) {
    const std::filesystem::path path = given.lexically_normal();
    const auto [place, is_new] = files_.try_emplace(path);
    if (!is_new) return place->second.get();
    std::optional<std::string> text = request_.read(path);
    if (!text) return nullptr;
    if (text->starts_with("\xEF\xBB\xBF")) text->erase(0, 3);
    auto file = std::make_unique<File>();
    file->path = path;
    file->text = std::move(*text);
    file->lines = logical_lines(file->text, CodeOf::directives);
    file->once = std::any_of(file->lines.begin(), file->lines.end(), is_pragma_once);
    file->guarded = !include_guard(file->lines).empty();
    result_.files.push_back(path);
    file->number = result_.files.size();
    place->second = std::move(file);
    return place->second.get();
  }

  // Under whichever condition: what is defined in two ways is not certain.
  void note_macro(const LogicalLine &line, const Directive &directive) {
    if (!request_.as_compiled) return;
    const std::string_view operands = std::string_view(line.code).substr(directive.operands);
    if (directive.name == "define") macros_.define(operands);
    if (directive.name == "undef") macros_.undefine(operands);
  }

  struct Name {
    std::string_view text;
    bool in_quotes = false;
  };

  File *search(const File &from, const Name &name) {
    const std::filesystem::path path(name.text);
    if (path.is_absolute()) return open(path);
    if (name.in_quotes) {
      if (File *file = open(from.path.parent_path() / path)) return file;
    }
    for (const std::filesystem::path &folder : request_.include_dirs) {
      if (File *file = open(folder / path)) return file;
    }
    return nullptr;
  }

  // `certain`: no condition stands above this inclusion.
  Status inline_file(File &file, bool certain) {
    const bool wrapped = file.once && !chain_.empty();
    if (wrapped) {
      const std::string macro = concat({"KILN_ONCE_", decimal(file.number), "\n"});
      result_.text += concat({"#ifndef ", macro, "#define ", macro});
    }
    chain_.push_back({&file, 0});
    result_.text += line_directive(1, request_.name(file.path));
    const std::size_t own_guard = file.guarded ? 1 : 0;
    std::size_t depth = 0;
    for (const LogicalLine &line : file.lines) {
      const Directive directive = directive_of(line);
      if (directive.name.starts_with("if")) ++depth;
      if (directive.name == "endif" && depth > 0) --depth;
      if (directive.name == "include") {
        Status status = inline_line(file, line, directive, certain && depth <= own_guard);
        if (!status.ok()) return status;
      } else if (is_pragma_once(line)) {
        result_.text.append(line.line_count, '\n');
      } else {
        note_macro(line, directive);
        copy(file, line);
      }
    }
    if (!result_.text.ends_with('\n')) result_.text += '\n';
    if (wrapped) result_.text += "#endif\n";
    if (file.once && certain) file.complete = true;
    chain_.pop_back();
    return {};
  }

  // "name" or <name> at the start of an operand; of no text if there is none.
  static Name name_in(std::string_view operand) {
    const bool in_quotes = operand.starts_with('"');
    if (!in_quotes && !operand.starts_with('<')) return {};
    const std::size_t close = operand.find(in_quotes ? '"' : '>', 1);
    if (close == std::string_view::npos) return {};
    return {operand.substr(1, close - 1), in_quotes};
  }

  Status inline_line(File &file, const LogicalLine &line, const Directive &directive,
                     bool certain) {
    std::string operand(std::string_view(line.code).substr(directive.operands));
    chain_.back().at =
        directive.operands < line.at.size() ? line.at[directive.operands] : line.begin;
    const bool is_made = request_.as_compiled && name_in(operand).text.empty();
    if (is_made) operand = macros_.expand(operand).value_or("");
    const Name name = name_in(operand);
    if (name.text.empty()) {
      return fail("#include without the name of a file", "expected \"name\" or <name>");
    }
    if (!request_.as_compiled && name.in_quotes && std::filesystem::path(name.text).is_absolute()) {
      return fail(in_quotes(name.text) + " is an absolute path",
                  "expected a path relative to this file's folder or to an include folder");
    }
    File *included = search(file, name);
    if (included == nullptr && !is_made && (request_.as_compiled || !name.in_quotes)) {
      result_.left_includes = true;
      copy(file, line);
      return {};
    }
    if (included == nullptr) {
      return fail("cannot find " + in_quotes(name.text), searched(file, name.text));
    }
    Status status = include(*included, certain);
    return status.ok() ? resume(file, line) : status;
  }

  Status include(File &file, bool certain) {
    const auto on_chain = std::find_if(chain_.begin(), chain_.end(),
                                       [&file](const Inclusion &i) { return i.file == &file; });
    if (on_chain != chain_.end()) {
      if (file.once || file.guarded) return {};
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

  Status resume(const File &file, const LogicalLine &line) {
    if (result_.text.size() > kMaxTextBytes) {
      return fail("the text with its includes is too large",
                  concat({"expected at most ", decimal(kMaxTextBytes), " bytes"}));
    }
    result_.text += line_directive(line.first_line + line.line_count, request_.name(file.path));
    return {};
  }

  void copy(const File &file, const LogicalLine &line) {
    const std::string_view whole = std::string_view(file.text).substr(0, line.end);
    for (std::size_t at = line.begin; at < line.end;) {
      const std::size_t ending = std::min(whole.find("\r\n", at), whole.size());
      result_.text += whole.substr(at, ending - at);
      at = ending + (ending < whole.size() ? 1 : 0);  // the "\n" stays
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
  std::map<std::filesystem::path, std::unique_ptr<File>> files_;  // null: not there
  std::vector<Inclusion> chain_;
  Flattened result_;
};

}  // namespace

ReadFile read_from_disk() {
  return [](const std::filesystem::path &path) -> std::optional<std::string> {
    const packs::Descriptor file(packs::uninterrupted(
        [&] { return open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); }));
    struct stat info {};
    if (!file || fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
    if (static_cast<std::uint64_t>(info.st_size) > kMaxTextBytes) return std::nullopt;
    std::string text(static_cast<std::size_t>(info.st_size), '\0');
    std::size_t size = text.size();
    auto *bytes = reinterpret_cast<std::uint8_t *>(text.data());
    if (packs::read_all(file.get(), 0, bytes, &size) != 0) return std::nullopt;
    text.resize(size);
    return text;
  };
}

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
