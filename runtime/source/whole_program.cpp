// SPDX-License-Identifier: Apache-2.0
// Flattens with files from the application's disk, refuses texts that depend on place or time, and
// makes the name.
#include "runtime/source/whole_program.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <unordered_set>

#include "kiln/packs/contents.hpp"
#include "kiln/packs/linked_source.hpp"
#include "kiln/packs/text.hpp"
#include "runtime/source/build_options.hpp"
#include "runtime/source/flatten.hpp"
#include "runtime/source/logical_lines.hpp"
#include "runtime/source/source_error.hpp"

namespace kiln::source {
namespace {

namespace fs = std::filesystem;
using packs::concat;

constexpr std::size_t kModuleHeader = 20;
constexpr std::size_t kDigits = 32;
constexpr char kRoot[] = "<program>";
// The flattener's text of kRoot begins with this line.
constexpr std::string_view kMark = "#line 1 \"<program>\"\n";

// Words that a program must not have. They ask for files, for the time, for any pragma, or for the
// place of the text: drivers write it to a file of their own, such as one in PoCL's cache.
constexpr std::string_view kOddWords[] = {"__has_include",
                                          "__has_include_next",
                                          "__has_embed",
                                          "__DATE__",
                                          "__TIME__",
                                          "__TIMESTAMP__",
                                          "_Pragma",
                                          "__FILE__",
                                          "__BASE_FILE__",
                                          "__FILE_NAME__",
                                          "__INCLUDE_LEVEL__",
                                          "__builtin_FILE",
                                          "__builtin_source_location"};
// Words that begin inline assembly.
constexpr std::string_view kAssembly[] = {"asm", "__asm", "__asm__"};
// Folders in which some drivers look for headers, such as rusticl's and Intel's.
constexpr const char *kSystemDirs[] = {"/usr/local/include", "/usr/include"};
// Headers that compilers include unasked, also from the current folder and the folders of -I.
constexpr const char *kUnasked[] = {"opencl-c.h", "opencl-c-base.h"};

// Environment variables that name header folders for some compilers.
constexpr const char *kFolderVariables[] = {"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH"};

using Pieces = std::unordered_set<std::string_view>;

// Returns whether ## can make `word` from words that are all in `pieces`.
bool is_made_of(std::string_view word, const Pieces &pieces) {
  std::vector<bool> reached(word.size() + 1);
  reached[0] = true;
  for (std::size_t begin = 0; begin < word.size(); ++begin) {
    for (std::size_t size = 1; reached[begin] && size <= word.size() - begin; ++size) {
      if (pieces.count(word.substr(begin, size)) > 0) reached[begin + size] = true;
    }
  }
  return reached[word.size()];
}

// Returns all words from which ## could make an odd word or one of kAssembly. Never
// destroyed, since an application's statics may build programs.
const Pieces &all_parts() {
  static const Pieces &parts = *[] {
    auto *made = new Pieces;
    std::vector<std::string_view> words(std::begin(kOddWords), std::end(kOddWords));
    words.insert(words.end(), std::begin(kAssembly), std::end(kAssembly));
    for (const std::string_view word : words) {
      for (std::size_t begin = 0; begin < word.size(); ++begin) {
        const std::size_t longest = word.size() - begin;
        for (std::size_t size = 1; size <= longest; ++size) made->insert(word.substr(begin, size));
      }
    }
    return made;
  }();
  return parts;
}

// Calls `take` with each word of the options, within quotes, too.
void each_word(std::string_view options, const TakeWord &take) {
  for (std::size_t at = 0; at < options.size(); ++at) {
    if (!is_word_character(options[at])) continue;
    const std::string_view word = first_word(options.substr(at));
    take(word);
    at += word.size();
  }
}

bool has_bare_dot(std::string_view options) {
  for (std::size_t at = 0; (at = options.find('.', at)) != std::string_view::npos; ++at) {
    const bool is_number =
        at + 1 < options.size() && options[at + 1] >= '0' && options[at + 1] <= '9';
    if (!is_number && (at == 0 || !is_word_character(options[at - 1]))) return true;
  }
  return false;
}

// What a ## joins: a parameter of its macro, or a token as it stands.
struct Operand {
  std::string_view token;
  bool is_parameter = false;
};
using Chain = std::vector<Operand>;  // a##b##c

// Returns the token at `at` of the code of a directive: a word or a number, a literal, ##, or one
// character.
std::string_view directive_token(std::string_view code, std::size_t at) {
  if (is_word_character(code[at])) return first_word(code.substr(at));
  if (code.substr(at, 2) == "##") return code.substr(at, 2);
  if (code[at] != '"' && code[at] != '\'') return code.substr(at, 1);
  std::size_t end = at + 1;
  while (end < code.size() && code[end] != code[at]) end += code[end] == '\\' ? 2 : 1;
  return code.substr(at, end + 1 - at);
}

// Adds the chains of a macro's definition, from behind `define`.
void add_chains(std::string_view code, std::vector<Chain> *chains) {
  code.remove_prefix(first_word(code).size());  // the macro's name
  std::unordered_set<std::string_view> parameters;
  if (!code.empty() && code[0] == '(') {
    const std::string_view list = code.substr(0, code.find(')'));
    each_word(list, [&](std::string_view word) { parameters.insert(word); });
    parameters.insert("__VA_ARGS__");
    code.remove_prefix(list.size());
  }
  Chain chain;
  bool joins = false;
  for (std::size_t at = 0; at < code.size();) {
    const std::string_view token = directive_token(code, at);
    at += token.size();
    if (trimmed(token).empty()) continue;
    if (token == "##") {
      joins = true;
      continue;
    }
    if (!joins) chain.clear();
    chain.push_back({token, parameters.count(token) > 0});
    if (joins) chains->push_back(chain);
    joins = false;
  }
}

// Returns whether the operands from `first` on can make the word, with `pieces` for parameters,
// which may also be empty.
bool makes(const Chain &chain, std::size_t first, std::string_view word, const Pieces &pieces) {
  if (first == chain.size()) return word.empty();
  const Operand &operand = chain[first];
  if (!operand.is_parameter) {
    return word.starts_with(operand.token) &&
           makes(chain, first + 1, word.substr(operand.token.size()), pieces);
  }
  for (std::size_t size = 0; size <= word.size(); ++size) {
    const bool is_piece = size == 0 || pieces.count(word.substr(0, size)) > 0;
    if (is_piece && makes(chain, first + 1, word.substr(size), pieces)) return true;
  }
  return false;
}

// Returns whether the macros can make a word of kAssembly from `pieces` and from what they make.
bool make_assembly(const std::vector<Chain> &chains, Pieces pieces) {
  for (bool grows = true; grows;) {
    grows = false;
    for (const std::string_view word : kAssembly) {
      for (std::size_t begin = 0; begin < word.size(); ++begin) {
        for (std::size_t size = 1; size <= word.size() - begin; ++size) {
          const std::string_view part = word.substr(begin, size);
          if (pieces.count(part) > 0) continue;
          const bool is_made = std::any_of(chains.begin(), chains.end(), [&](const Chain &chain) {
            return makes(chain, 0, part, pieces);
          });
          if (is_made) pieces.insert(part);
          grows = grows || is_made;
        }
      }
    }
  }
  return std::any_of(std::begin(kAssembly), std::end(kAssembly),
                     [&](std::string_view word) { return pieces.count(word) > 0; });
}

// Finds words by which a program depends on more than its text. `text` and `options` must stay.
class WordCheck {
 public:
  WordCheck(std::string_view text, std::string_view options) : text_(text), options_(options) {}

  ScannedText run() {
    const TakeWord see = [this](std::string_view word) { take(word); };
    ScannedText scanned = scan(text_, see);
    each_word(options_, see);
    const bool has_dot = scanned.has_bare_dot || has_bare_dot(options_);
    if (begins_ || has_dot) take_pieces(scanned);
    reads_files_ = has_dot && has_assembly_;
    return scanned;
  }

  // Returns whether inline assembly may read a file.
  bool reads_files() const { return reads_files_; }

  // Returns the first word that the program must not have, which ## may make; empty if there is
  // none.
  std::string_view found() const { return found_; }

 private:
  void take(std::string_view word) {
    has_assembly_ =
        has_assembly_ || ((word[0] == '_' || word[0] == 'a') && packs::is_among(word, kAssembly));
    if (word[0] != '_') return;
    for (const std::string_view odd : kOddWords) {
      if (word == odd && found_.empty()) found_ = odd;
      begins_ = begins_ || odd.starts_with(word);
    }
  }

  // A driver's headers may have a macro with ##, by which odd words are made of any words.
  void take_pieces(const ScannedText &scanned) {
    const Pieces &parts = all_parts();
    Pieces pieces;
    const TakeWord see = [&](std::string_view word) {
      if (const auto part = parts.find(word); part != parts.end()) pieces.insert(*part);
    };
    (void)scan(text_, see);
    each_word(options_, see);
    const auto is_made = [&pieces](std::string_view word) { return is_made_of(word, pieces); };
    const auto *odd = std::find_if(std::begin(kOddWords), std::end(kOddWords), is_made);
    if (found_.empty() && odd != std::end(kOddWords)) found_ = *odd;
    std::vector<Chain> chains;
    if (options_.find("##") != options_.npos) chains = {{{"", true}, {"", true}}};
    for (const LogicalLine &line : scanned.lines) {
      const Directive directive = directive_of(line);
      if (directive.name != "define" || line.code.find("##") == std::string::npos) continue;
      add_chains(std::string_view(line.code).substr(directive.operands), &chains);
    }
    has_assembly_ = has_assembly_ || make_assembly(chains, std::move(pieces));
  }

  std::string_view text_, options_, found_;
  bool begins_ = false;  // a word with which an odd one begins
  bool has_assembly_ = false;
  bool reads_files_ = false;
};

enum class Whose { application, flattener };  // who wrote a text

// Fails with the first line of `what`.
Status depends_on(std::string_view what) {
  what = what.substr(0, what.find('\n'));
  return Status::error(Code::bad_input, {"it may depend on more than its text: ", what});
}

// Fails with the line of the application's text, if `whose` is that.
Status depends_on(const Doubt &doubt, std::string_view text, Whose whose) {
  std::string reason = doubt.what;
  if (whose == Whose::application) {
    reason += concat({" in line ", packs::decimal(position_at(text, doubt.at).line)});
  }
  if (!doubt.cure.empty()) reason += "; " + doubt.cure;
  return depends_on(reason);
}

// Fails if a variable names folders that a compiler searches.
Status check_folder_variables() {
  for (const char *variable : kFolderVariables) {
    if (std::getenv(variable) != nullptr) return depends_on(std::string(variable) + " is set");
  }
  return {};
}

// Fails if the text may depend on more than itself and the options, apart from its includes.
// Returns whether it has any.
Result<bool> check_text(std::string_view text, std::string_view options, Whose whose) {
  WordCheck check(text, options);
  const ScannedText scanned = check.run();
  if (scanned.doubt) return depends_on(*scanned.doubt, text, whose);
  if (!check.found().empty()) return depends_on(check.found());
  if (check.reads_files()) {
    const Doubt doubt{scanned.bare_dot_at, "inline assembly with a dot that may begin .incbin",
                      "begin no name with a dot there, except those of PTX, such as .reg"};
    return depends_on(doubt, text, scanned.has_bare_dot ? whose : Whose::flattener);
  }
  bool has_includes = false;
  for (const LogicalLine &line : scanned.lines) {
    const std::string_view name = directive_of(line).name;
    // flatten() refuses #line if there is more than one file.
    if (name != "line" && !is_listed(line)) return depends_on(line.code);
    has_includes = has_includes || name == "include";
  }
  return has_includes;
}

Status check_options(std::string_view options) {
  if (const auto doubt = odd_bytes(options)) return depends_on(doubt->what + " in its options");
  const bool is_plain = std::all_of(options.begin(), options.end(), [](char c) {
    return (c >= ' ' && c <= '~' && c != '$') || c == '\t' || c == '\n' || c == '\r';
  });
  return is_plain ? Status() : depends_on("a character in its options that is not known");
}

// Reads the source, the headers of clCompileProgram and the disk. Compilers look for the source's
// own includes in the current folder.
ReadFile reader(std::string_view text, const Headers &headers) {
  return [text, &headers](const fs::path &path) {
    const std::string name = path.generic_string();
    OpenedFile opened{OpenedFile::Outcome::read, "", name, name};
    if (name == kRoot) {
      opened.text = text;
      return opened;
    }
    if (*path.begin() != kHeadersFolder) return read_from_disk()(path);
    const auto header = headers.find(name.substr(sizeof(kHeadersFolder)));
    if (header == headers.end()) return OpenedFile{};
    opened.text = header->second;
    return opened;
  };
}

// Fails for -I with a file or a system folder, which compilers search at different times, and if a
// folder has a header that compilers include unasked.
Status check_folders(const std::vector<fs::path> &folders) {
  std::error_code error;
  for (const char *header : kUnasked) {
    if (fs::exists(header, error)) return depends_on(header);
  }
  for (const fs::path &folder : folders) {
    if (fs::is_regular_file(folder, error)) return depends_on("-I with a file");
    for (const char *header : kUnasked) {
      if (fs::exists(folder / header, error)) return depends_on((folder / header).string());
    }
    for (const char *system : kSystemDirs) {
      if (fs::equivalent(folder, system, error))
        return depends_on("-I with a folder of the system");
    }
  }
  return {};
}

// Returns the folders in which PoCL keeps the source while it compiles it, and looks first for the
// names in quotes that the source includes.
std::vector<fs::path> pocl_folders() {
  const auto value = [](const char *variable) {
    const char *found = std::getenv(variable);
    return fs::path(found == nullptr ? "" : found);
  };
  if (const fs::path cache = value("POCL_CACHE_DIR"); !cache.empty()) return {cache};
  const fs::path home = value("HOME"), cache = value("XDG_CACHE_HOME");
  return {(cache.empty() ? home / ".cache" : cache) / "pocl" / "kcache"};
}

// Some applications count the zero that ends their text.
std::string_view without_zeros(std::string_view text) {
  return text.substr(0, text.find_last_not_of('\0') + 1);
}

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// Compilers skip a byte-order mark at the start of a text.
std::string_view without_mark(std::string_view text) {
  return text.starts_with(kByteOrderMark) ? text.substr(kByteOrderMark.size()) : text;
}

Result<Flattened> flatten_source(std::string_view text, const IncludeOptions &options,
                                 const Headers &headers) {
  FlattenRequest request;
  request.source = kRoot;
  request.include_dirs = options.folders;
  request.read = reader(text, headers);
  // The location of the folders must not matter.
  request.name = [](const fs::path &path) { return path.filename().string(); };
  AsCompiled &as = request.as_compiled.emplace();
  if (!headers.empty()) as.headers_dir = kHeadersFolder;
  as.first_dirs = pocl_folders();
  as.other_include_dirs = {options.quoted_folders, options.cut_folders};
  for (const std::string &definition : options.definitions) {
    request.macros.define_option(definition);
  }
  for (const std::string &name : options.uncertain) request.macros.undefine(name);
  auto flat = flatten(request);
  if (!flat.ok()) return depends_on(flat.status().message);
  return flat;
}

// Returns a text that compilers take only if they find a file in each folder that is written in
// quotes; empty if no file is in one.
std::string finding_source(const IncludeOptions &options, const std::vector<IncludedFile> &files) {
  std::string text;
  for (std::size_t i = 0; i < options.quoted_folders.size(); ++i) {
    const std::string folder = options.folders[i].generic_string();
    if (options.quoted_folders[i] == options.folders[i]) continue;
    const auto file = std::find_if(files.begin(), files.end(), [&folder](const IncludedFile &f) {
      return f.path.starts_with(folder + (folder.ends_with('/') ? "" : "/"));
    });
    if (file == files.end()) continue;
    const std::size_t name = file->path.find_first_not_of('/', folder.size());
    text += concat({"#if !__has_include(<", file->path.substr(name), ">)\n#error\n#endif\n"});
  }
  return text;
}

// Replaces the source by one with its files in it.
Status take_files(const IncludeOptions &options, const Headers &headers, WholeProgram *whole) {
  if (!options.doubt.ok()) return depends_on(options.doubt.message);
  if (Status s = check_folder_variables(); !s.ok()) return s;
  whole->own_source = whole->source;
  const std::string_view text = without_zeros(whole->own_source);
  auto flat = flatten_source(text, options, headers);
  if (!flat.ok()) return flat.status();
  whole->source = std::move(flat->text);
  const auto checked = check_text(whole->source, whole->options, Whose::flattener);
  if (!checked.ok()) return checked.status();
  whole->finding_source = finding_source(options, flat->files);
  if (!whole->finding_source.empty()) whole->include_options = options.only_folders;
  std::error_code error;
  whole->folder = fs::current_path(error).generic_string();
  for (IncludedFile &file : flat->files) {
    const bool is_header = *fs::path(file.path).begin() == kHeadersFolder;
    if (!file.path.starts_with('/') && !is_header) file.path.insert(0, whole->folder + "/");
  }
  whole->files = std::move(flat->files);
  whole->may_be_missing = !options.quoted_folders.empty() || !headers.empty() ||
                          whole->own_source.starts_with(kByteOrderMark);
  return {};
}

}  // namespace

bool is_flattened(std::string_view source) { return source.starts_with(kMark); }

std::string program_name(std::string_view source, std::string_view options) {
  const std::uint64_t size = source.size();  // keeps bytes from moving between source and options
  packs::Bytes text(sizeof(size) + source.size() + options.size());
  for (unsigned i = 0; i < sizeof(size); ++i) {
    text[i] = static_cast<std::uint8_t>(size >> (8 * i));
  }
  source.copy(reinterpret_cast<char *>(text.data() + sizeof(size)), source.size());
  options.copy(reinterpret_cast<char *>(text.data() + sizeof(size) + source.size()),
               options.size());
  return "cl-" + packs::hex(packs::blake2b({text.data(), text.size()})).substr(0, kDigits);
}

bool is_program_name(std::string_view name) {
  return name.size() == 3 + kDigits && name.substr(0, 3) == "cl-" &&
         name.find_first_not_of("0123456789abcdef", 3) == std::string_view::npos;
}

Result<WholeProgram> whole_program(std::string_view source, std::string_view options,
                                   const Headers &headers) {
  const auto parts = include_options(options);
  if (!parts.ok()) return depends_on(parts.status().message);
  if (Status s = check_options(parts->others); !s.ok()) return s;
  if (Status s = check_folders(parts->folders); !s.ok()) return s;
  for (const auto &[name, text] : headers) {
    const fs::path path(name);
    const bool is_plain = path.is_relative() && path.has_filename() && *path.begin() != ".." &&
                          path.lexically_normal().generic_string() == name;
    if (!is_plain) return depends_on(concat({"a header called ", in_quotes(name)}));
  }
  WholeProgram whole{"", std::string(source), parts->others};
  const auto includes =
      check_text(without_mark(without_zeros(source)), whole.options, Whose::application);
  if (!includes.ok()) return includes.status();
  if (*includes) {
    if (Status s = take_files(*parts, headers, &whole); !s.ok()) return s;
    whole.own_options = options;
  }
  whole.name = program_name(whole.source, whole.options);
  return whole;
}

Result<WholeProgram> whole_module(std::string_view module, std::string_view options) {
  constexpr std::uint32_t kMagic = 0x07230203;
  std::uint32_t magic = 0;
  if (module.size() >= kModuleHeader) std::memcpy(&magic, module.data(), sizeof(magic));
  if (magic != kMagic) return Status::error(Code::bad_input, "it is of no SPIR-V module");
  WholeProgram whole{program_name(module, options), std::string(module), std::string(options)};
  whole.is_il = true;
  return whole;
}

WholeProgram whole_link(std::vector<WholeProgram> parts, std::string_view options) {
  std::vector<packs::LinkedPart> texts;
  for (const WholeProgram &part : parts) texts.push_back({part.source, part.options, part.is_il});
  WholeProgram whole{"", packs::linked_source(texts), std::string(options)};
  whole.name = program_name(whole.source, options);
  whole.parts = std::move(parts);
  return whole;
}

}  // namespace kiln::source
