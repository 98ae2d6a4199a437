// SPDX-License-Identifier: Apache-2.0
// Runs clang's preprocessor over virtual files and compares the tokens, for several programs of a
// spool at once.
#include "builder/compile/check_text.hpp"

#include <algorithm>
#include <atomic>
#include <fstream>
#include <future>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "builder/base/this_process.hpp"
#include "builder/base/whole_file.hpp"
#include "builder/compile/same_tokens.hpp"
#include "builder/compile/toolchain.hpp"
#include "builder/process/child_result.hpp"
#include "builder/process/temporary_folder.hpp"
#include "kiln/packs/linked_source.hpp"
#include "runtime/source/build_options.hpp"
#include "runtime/source/logical_lines.hpp"
#include "runtime/source/recorded_files.hpp"

namespace kiln::builder {
namespace {

namespace fs = std::filesystem;
using Strings = std::vector<std::string>;

constexpr std::chrono::milliseconds kTimeout{60'000};
constexpr char kMain[] = "<program>";

// Files that only clang sees, while it sees no others: a folder with the files, and an overlay of
// clang's virtual file system that lists their paths (-ivfsoverlay). Not thread-safe.
class VirtualFiles {
 public:
  // `folder` must stay while the files are in use.
  VirtualFiles(std::string folder, std::string name)
      : folder_(std::move(folder)), name_(std::move(name)) {}

  // Adds a file by an absolute path. Clang treats all paths with one identity as the same file.
  // Fails if clang would take the path for another file's.
  Status add(const std::string &path, const std::string &identity, const std::string &text) {
    const auto [file, is_first] = files_.try_emplace(identity, File{files_.size(), &text});
    if (!is_first && *file->second.text != text) {
      return {Code::failed, fmt::format("{} was read twice, and changed in between", path)};
    }
    const std::string clean = fs::path(path).lexically_normal().generic_string();
    const auto [place, is_new] = paths_.try_emplace(clean, identity);
    if (!is_new && place->second == identity) return {};
    if (!is_new) {
      return {Code::failed, fmt::format("it includes two files that clang takes for one, {}: a "
                                        "symbolic link stands before '..'",
                                        clean)};
    }
    const std::string real = fmt::format("{}/{}{}", folder_, name_, file->second.number);
    roots_.push_back({{"type", "file"}, {"name", clean}, {"external-contents", real}});
    return is_first ? write(real, text) : Status();
  }

  // Writes the overlay to path().
  Status finish() {
    // LLVM's YAML reader needs these settings before the files.
    nlohmann::ordered_json overlay;
    overlay["version"] = "0";
    overlay["case-sensitive"] = "true";
    overlay["fallthrough"] = "false";
    overlay["use-external-names"] = "false";
    overlay["roots"] = roots_;
    return write(path(),
                 overlay.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  }
  std::string path() const { return fmt::format("{}/{}.yaml", folder_, name_); }

 private:
  struct File {
    std::size_t number;
    const std::string *text;
  };

  static Status write(const std::string &path, const std::string &text) {
    std::ofstream file(path, std::ios::binary);
    file << text;
    return file.flush() ? Status() : Status(Code::failed, path + ": cannot be written");
  }

  std::string folder_, name_;
  std::map<std::string, std::string> paths_;  // each with its identity
  std::map<std::string, File> files_;         // by identity
  nlohmann::json roots_ = nlohmann::json::array();
};

// Macros as some driver may define them.
struct MacroSet {
  std::string name;
  Strings arguments;
};

// Returns the options that affect a preprocessor, without those for folders.
Strings macro_options(std::string_view options) {
  Strings kept;
  const auto words = source::option_words(options);
  for (std::size_t i = 0; words && i < words->size(); ++i) {
    std::string word = (*words)[i].text;
    const bool has_operand = word.starts_with("-D") || word.starts_with("-U");
    if (has_operand && word.size() == 2 && i + 1 < words->size()) word += (*words)[++i].text;
    if (has_operand || word.starts_with("-cl-std=") || word == "-cl-fast-relaxed-math" ||
        word == "-cl-finite-math-only") {
      kept.push_back(std::move(word));
    }
  }
  return kept;
}

void add_words(std::string_view code, std::set<std::string> *words) {
  const auto is_letter = [](char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  for (std::size_t at = 0; at < code.size();) {
    const bool is_word = is_letter(code[at]);
    const std::size_t begin = at++;
    const bool is_text = is_word || (code[begin] >= '0' && code[begin] <= '9');
    while (is_text && at < code.size() &&
           (is_letter(code[at]) || (code[at] >= '0' && code[at] <= '9'))) {
      ++at;
    }
    if (is_word) words->emplace(code.substr(begin, at - begin));
  }
}

// The includes that the flattener left, and the macros that conditions ask for.
struct Directives {
  std::set<std::string> includes;  // operands, with quotes or angle brackets
  std::set<std::string> macros;    // macros that the text does not define
};

Directives directives_in(const std::string &text) {
  Directives found;
  std::set<std::string> defined{"defined"};
  const source::ScannedText scanned = source::scan(text);
  for (const source::LogicalLine &line : scanned.lines) {
    const source::Directive directive = source::directive_of(line);
    const std::string_view operands = std::string_view(line.code).substr(directive.operands);
    if (directive.name.starts_with("if") || directive.name.starts_with("elif")) {
      add_words(operands, &found.macros);
    } else if (directive.name == "define") {
      std::set<std::string> word;
      add_words(operands.substr(0, operands.find_first_of(" \t(")), &word);
      defined.merge(word);
    } else if (directive.name == "include" && !operands.empty()) {
      const std::size_t close = operands.find(operands[0] == '<' ? '>' : operands[0], 1);
      found.includes.emplace(operands.substr(0, close == operands.npos ? close : close + 1));
    }
  }
  std::erase_if(found.macros, [&](const std::string &macro) {
    return defined.count(macro) != 0 || macro.starts_with("__has_");
  });
  return found;
}

// The input of clang.
struct Reading {
  std::string main;   // the path of the main file
  Strings arguments;  // overlay and folders
};

struct Preprocessed {
  std::string text;
  Strings diagnostics;  // without file names and line numbers, up to a missing file
  bool is_cut = false;  // a file is missing
  // The first error that is neither an #error nor a missing file.
  std::string grave;
};

// Reads lines of the form "FILE:1:2: error: TEXT", each followed by the source line.
void read_errors(std::string_view text, Preprocessed *read) {
  constexpr std::string_view kError = "error: ";
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t at = line.find(kError);
    const bool is_error =
        at == 0 || line.substr(0, at).ends_with(": ") || line.substr(0, at).ends_with(": fatal ");
    if (at == line.npos || !is_error) continue;
    std::string_view message = line.substr(at + kError.size());
    std::string_view source = text.substr(0, text.find('\n'));
    const auto skip = [&source](char c) {
      const bool has = source.starts_with(c);
      if (has) source.remove_prefix(1);
      while (source.starts_with(' ') || source.starts_with('\t')) source.remove_prefix(1);
      return has;
    };
    (void)skip(' ');
    const bool is_directive = skip('#') && source.starts_with("error");
    constexpr std::string_view kMissing = source::kMissingFile;
    const bool is_missing = line.ends_with("' file not found");
    if (is_missing) message = kMissing.substr(sizeof("#error ") - 1);
    if (!read->is_cut) read->diagnostics.emplace_back(message);
    // Behind a missing file clang reports no more errors, but it does behind the #error for one.
    read->is_cut = read->is_cut || kMissing.ends_with(message);
    if (!is_directive && !is_missing && read->grave.empty()) read->grave = line;
  }
}

class TextCheck {
 public:
  // Without `original` there is nothing to compare, and only the flattened text is checked.
  TextCheck(const fs::path &clang, std::optional<Reading> original, Reading flattened,
            const std::string &text, std::string_view options)
      : clang_(clang),
        original_(std::move(original)),
        flattened_(std::move(flattened)),
        options_(macro_options(options)),
        directives_(directives_in(text)) {}

  // False for a manifest's source: it may include the compilers' own files, and its pack has file
  // names of its own.
  bool is_recorded = true;

  Status run() {
    const std::vector<MacroSet> sets = macro_sets();
    std::string grave;
    bool is_proven = false;
    for (const MacroSet &set : sets) {
      Preprocessed flattened;
      if (Status s = preprocess(flattened_, set, &flattened); !s.ok()) return s;
      if (original_) {
        Preprocessed original;
        if (Status s = preprocess(*original_, set, &original); !s.ok()) return s;
        if (Status s = compare(set, original, flattened); !s.ok()) return s;
      }
      if (Status s = check_includes(set, flattened); !s.ok()) return s;
      is_proven = is_proven || flattened.grave.empty();
      if (grave.empty()) grave = flattened.grave;
    }
    if (is_proven) return {};
    return {Code::failed, "clang cannot preprocess it to compare it: " + grave};
  }

 private:
  std::vector<MacroSet> macro_sets() const {
    std::vector<MacroSet> sets = {
        {"OpenCL C 1.2", {"-triple", "spir64", "-cl-std=CL1.2", "-D__OPENCL_VERSION__=120"}}};
    if (is_recorded)
      sets.push_back(
          {"OpenCL C 2.0", {"-triple", "spir", "-cl-std=CL2.0", "-D__OPENCL_VERSION__=200"}});
    if (directives_.macros.empty()) return sets;
    MacroSet asked{"all macros that conditions ask for", sets[0].arguments};
    for (const std::string &macro : directives_.macros) asked.arguments.push_back("-D" + macro);
    sets.push_back(std::move(asked));
    return sets;
  }

  // Runs the compiler itself (-cc1), because clang's driver looks for its input on the disk.
  Status preprocess(const Reading &reading, const MacroSet &set, Preprocessed *read) const {
    Strings arguments = {"-cc1", "-E", "-dI", "-w", "-x", "cl", "-nostdsysteminc", "-nobuiltininc"};
    arguments.insert(arguments.end(), set.arguments.begin(), set.arguments.end());
    arguments.insert(arguments.end(), options_.begin(), options_.end());
    arguments.insert(arguments.end(), reading.arguments.begin(), reading.arguments.end());
    arguments.insert(arguments.end(), {"-o", "-", reading.main});
    ProcessResult result = run_compiler(clang_, std::move(arguments), "", kTimeout);
    if (result.end != ProcessEnd::exited) {
      return {Code::process, fmt::format("clang: {}\n{}", result.reason, compiler_message(result))};
    }
    read->text = std::move(result.out);
    read_errors(result.err, read);
    if (result.code != 0 && read->diagnostics.empty()) read->grave = result.reason;
    return {};
  }

  static Status refused(const MacroSet &set, const std::string &what) {
    return {Code::failed, fmt::format("with {} {}", set.name, what)};
  }

  Status compare(const MacroSet &set, const Preprocessed &original,
                 const Preprocessed &flattened) const {
    TokenReader files(original.text), text(flattened.text);
    if (const auto different = first_difference(&files, &text)) {
      const auto name = [](const PlacedToken &token) {
        if (token.text.empty()) return std::string("the end");
        return token.text == "\n" ? "the end of a #pragma" : fmt::format("'{}'", token.text);
      };
      return refused(set, fmt::format("clang reads {} at {}, but {} at {} of the flattened text",
                                      name(different->one), different->one.place(),
                                      name(different->other), different->other.place()));
    }
    if (original.diagnostics != flattened.diagnostics) {
      const auto first = [](const Strings &diagnostics) {
        return diagnostics.empty() ? std::string("none") : "\"" + diagnostics[0] + "\"";
      };
      return refused(set, fmt::format("clang's errors differ: {}, but {} of the flattened text",
                                      first(original.diagnostics), first(flattened.diagnostics)));
    }
    return {};
  }

  // Fails if clang would read files beyond the text.
  Status check_includes(const MacroSet &set, const Preprocessed &flattened) const {
    TokenReader text(flattened.text);
    while (!text.next().text.empty()) {
    }
    for (const PlacedToken &include : text.includes()) {
      const std::string name(include.text);
      if (directives_.includes.count(name) == 0) {
        return refused(set, fmt::format("clang includes {} at {} of the flattened text, where Kiln "
                                        "sees no #include",
                                        name, include.place()));
      }
      if (is_recorded) {
        return {Code::failed, fmt::format("it includes {} at {}, a file that Kiln does not know",
                                          name, include.place())};
      }
    }
    if (is_recorded && original_ && flattened.text.find("__builtin_FILE") != std::string::npos) {
      return refused(set, "it has __builtin_FILE, which is the name of another file in one text");
    }
    return {};
  }

  const fs::path &clang_;
  std::optional<Reading> original_;
  Reading flattened_;
  Strings options_;
  Directives directives_;
};

// Lays out the flattened text as a file that includes nothing, at `path`.
Status lay_out(const std::string &folder, const std::string &path, const std::string &text,
               Reading *reading) {
  VirtualFiles files(folder, "flattened");
  if (Status s = files.add(path, path, text); !s.ok()) return s;
  *reading = {path, {"-ivfsoverlay", files.path()}};
  return files.finish();
}

// Lays out the application's text and files as on the application's machine.
Status lay_out(const std::string &folder, const source::WholeProgram &program, Reading *reading) {
  VirtualFiles files(folder, "original");
  const std::string main = fmt::format("{}/{}", program.folder, kMain);
  if (Status s = files.add(main, kMain, program.own_source); !s.ok()) return s;
  *reading = {main, {"-ivfsoverlay", files.path()}};
  const auto whole = [&program](const std::string &path) {
    if (path.starts_with(source::kHeadersFolder)) return "/" + path;
    return path.starts_with('/') ? path : program.folder + "/" + path;
  };
  std::vector<fs::path> folders{source::kHeadersFolder};
  const auto options = source::include_options(program.own_options);
  if (!options.ok() || options->others != program.options) {
    return {Code::failed, "its recorded files are of other options"};
  }
  folders.insert(folders.end(), options->folders.begin(), options->folders.end());
  for (const fs::path &one : folders) {
    reading->arguments.insert(reading->arguments.end(), {"-I", whole(one.generic_string())});
  }
  for (const source::IncludedFile &file : program.files) {
    if (Status s = files.add(whole(file.path), file.identity, file.text); !s.ok()) return s;
  }
  return files.finish();
}

Status named(const std::string &name, Code code, Status status) {
  if (status.ok()) return status;
  return {status.code == Code::failed ? code : status.code, name + status.message};
}

Status check_recorded_in(const std::string &folder, const fs::path &clang,
                         const source::WholeProgram &program) {
  std::optional<Reading> original;
  Reading flattened;
  if (!program.own_source.empty()) {
    if (Status s = lay_out(folder, program, &original.emplace()); !s.ok()) return s;
  }
  const std::string main = original ? original->main : std::string("/") + kMain;
  if (Status s = lay_out(folder, main, program.source, &flattened); !s.ok()) return s;
  TextCheck check(clang, std::move(original), std::move(flattened), program.source,
                  program.options);
  return check.run();
}

// A text of a spool's program that includes files or may include some.
struct TextToCheck {
  std::size_t program;  // its index in the contents
  source::WholeProgram text;
  std::vector<fs::path> files;
  Status status{};
};

// Returns the spool's files of recorded includes, by the program's name.
std::map<std::string, std::vector<fs::path>> recorded_files_in(const std::string &folder) {
  std::map<std::string, std::vector<fs::path>> found;
  std::error_code error;
  for (fs::directory_iterator i(folder, error), end; !error && i != end; i.increment(error)) {
    const std::string stem = i->path().stem().string();
    const bool is_one = i->path().extension() == source::kRecordedFiles;
    if (is_one) found[stem.substr(0, stem.rfind('-'))].push_back(i->path());
  }
  for (auto &[name, paths] : found) std::sort(paths.begin(), paths.end());
  return found;
}

// Adds the program, or the parts of a linked program that are compiled from source.
void add_texts(source::WholeProgram program, std::vector<source::WholeProgram> *texts) {
  std::vector<packs::LinkedPart> parts;
  if (!packs::read_linked_source(program.source, &parts)) {
    texts->push_back(std::move(program));
    return;
  }
  for (const packs::LinkedPart &part : parts) {
    if (part.is_il) continue;
    add_texts({source::program_name(part.source, part.options), std::string(part.source),
               std::string(part.options)},
              texts);
  }
}

// Returns the texts of a recorded program; its variants may differ only in their kernels.
Result<std::vector<source::WholeProgram>> texts_of(const packs::Program &program) {
  std::vector<source::WholeProgram> texts;
  packs::Bytes before;
  for (const packs::Variant &variant : program.variants) {
    packs::Bytes bytes;
    if (variant.source) {
      if (Status s = variant.source->read(&bytes); !s.ok()) return s;
    }
    if (bytes == before) continue;
    add_texts({program.name, std::string(bytes.begin(), bytes.end()), variant.options}, &texts);
    before = std::move(bytes);
  }
  return texts;
}

Status check_with(const fs::path &clang, const fs::path &path, source::WholeProgram *program) {
  const std::string bytes = read_whole_file(path).value_or("");
  if (Status s = source::read_recorded_files(bytes, program); !s.ok()) {
    return {Code::failed, program->name + ": " + path.string() + ": " + s.message};
  }
  return check_recorded_text(clang, *program);
}

Status check_one(const fs::path &clang, TextToCheck *job) {
  source::WholeProgram &text = job->text;
  if (job->files.empty() && source::is_flattened(text.source)) {
    return {Code::failed,
            text.name +
                ": it includes files that the spool does not have: record it again with "
                "this Kiln"};
  }
  if (job->files.empty()) return check_recorded_text(clang, text);
  for (const fs::path &path : job->files) {
    if (Status s = check_with(clang, path, &text); !s.ok()) return s;
  }
  return {};
}

Result<std::vector<TextToCheck>> texts_to_check(const std::string &folder,
                                                const packs::Contents &contents) {
  auto recorded = recorded_files_in(folder);
  std::vector<TextToCheck> jobs;
  for (std::size_t i = 0; i < contents.programs.size(); ++i) {
    auto texts = texts_of(contents.programs[i]);
    if (!texts.ok()) return texts.status();
    for (source::WholeProgram &text : *texts) {
      const auto &files = recorded[text.name];
      if (!files.empty() || source::is_flattened(text.source) || may_include(text.source)) {
        jobs.push_back({i, std::move(text), files});
      }
    }
  }
  return jobs;
}

}  // namespace

bool may_include(const std::string &text) {
  constexpr std::string_view kTraces[] = {"\?\?=", "\?\?/", "%:", std::string_view("\0", 1)};
  for (std::size_t at = 0; (at = text.find('\r', at)) != text.npos; ++at) {
    if (text.compare(at + 1, 1, "\n") != 0) return true;
  }
  const auto is_in = [&text](std::string_view trace) { return text.find(trace) != text.npos; };
  return std::any_of(std::begin(kTraces), std::end(kTraces), is_in) ||
         (is_in("include") && !directives_in(text).includes.empty());
}

Status check_recorded_text(const fs::path &clang, const source::WholeProgram &program) {
  const auto folder = TemporaryFolder::make();
  if (!folder.ok()) return folder.status();
  return named(program.name + ": it is not proven to be what the application compiles: ",
               Code::failed, check_recorded_in(folder->path(), clang, program));
}

Status check_source_text(const fs::path &clang, const SourceToCheck &source) {
  const auto folder = TemporaryFolder::make();
  if (!folder.ok()) return folder.status();
  Reading original{source.source.string(), {"-D__FILE__=__FILE__"}}, flattened;
  for (const fs::path &one : source.include_dirs) {
    original.arguments.insert(original.arguments.end(), {"-I", one.string()});
  }
  Status status = lay_out(folder->path(), fmt::format("/{}", kMain), source.flattened, &flattened);
  flattened.arguments.emplace_back("-D__FILE__=__FILE__");
  if (status.ok()) {
    TextCheck check(clang, std::move(original), std::move(flattened), source.flattened,
                    source.options);
    check.is_recorded = false;
    status = check.run();
  }
  return named(fmt::format("{}: error: the packed text would not be what the files are: ",
                           source.source.string()),
               Code::bad_input, std::move(status));
}

Result<std::vector<Status>> check_spool_texts(const std::string &folder, const std::string &clang,
                                              packs::Contents *contents) {
  std::vector<Status> failures;
  auto jobs = texts_to_check(folder, *contents);
  if (!jobs.ok()) return jobs.status();
  if (jobs->empty()) return failures;
  const auto tool = find_clang(clang);
  if (!tool.ok()) return tool.status();
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = 0; (i = next++) < jobs->size();) {
      TextToCheck &job = (*jobs)[i];
      job.status = check_one(tool->path, &job);
    }
  };
  std::vector<std::future<void>> others;
  for (std::size_t i = 1; i < std::min(usable_cpus(), jobs->size()); ++i) {
    others.push_back(std::async(std::launch::async, work));
  }
  work();
  for (auto &other : others) other.get();
  for (const TextToCheck &job : *jobs) {
    if (job.status.ok()) continue;
    const std::string &name = contents->programs[job.program].name;
    failures.push_back(job.text.name == name ? job.status
                                             : named(name + ": ", job.status.code, job.status));
  }
  std::size_t erased = contents->programs.size();
  for (auto job = jobs->rbegin(); job != jobs->rend(); ++job) {
    if (job->status.ok() || job->program == erased) continue;
    erased = job->program;
    contents->programs.erase(contents->programs.begin() + static_cast<std::ptrdiff_t>(erased));
  }
  return failures;
}

}  // namespace kiln::builder
