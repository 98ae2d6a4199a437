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
#include "runtime/source/build_options.hpp"
#include "runtime/source/flatten.hpp"
#include "runtime/source/logical_lines.hpp"

namespace kiln::source {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kModuleHeader = 20;
constexpr std::size_t kDigits = 32;
constexpr char kRoot[] = "<program>";
// The flattener's text of kRoot begins with this line.
constexpr std::string_view kMark = "#line 1 \"<program>\"\n";

// Directives that include files by other rules, and words that ask for files or the time.
constexpr std::string_view kDirectives[] = {"include_next", "import", "embed"};
constexpr std::string_view kWords[] = {"__has_include", "__has_include_next", "__has_embed",
                                       "__DATE__",      "__TIME__",           "__TIMESTAMP__"};
// Words that differ between a file and the text that includes it. _Pragma may be any pragma.
constexpr std::string_view kPlaces[] = {"__FILE__",       "__BASE_FILE__",
                                        "__FILE_NAME__",  "__INCLUDE_LEVEL__",
                                        "__builtin_FILE", "__builtin_source_location",
                                        "_Pragma"};
// Words after a # that includes files; a comment may go on in the next line.
constexpr std::string_view kLineTraces[] = {"include", "import", "embed"};
// Folders in which some drivers look for headers, such as rusticl and Intel's.
constexpr const char *kSystemDirs[] = {"/usr/local/include", "/usr/include"};

// Environment variables with which drivers extend the application's options.
constexpr const char *kOptionVariables[] = {"POCL_EXTRA_BUILD_FLAGS", "AMD_OCL_BUILD_OPTIONS",
                                            "AMD_OCL_BUILD_OPTIONS_APPEND"};
// Environment variables that name header folders for some compilers.
constexpr const char *kFolderVariables[] = {"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH"};

template <std::size_t kCount>
bool has_any(std::string_view text, const std::string_view (&traces)[kCount]) {
  return std::any_of(std::begin(traces), std::end(traces), [text](std::string_view trace) {
    return text.find(trace) != std::string_view::npos;
  });
}

// Returns whether a backslash continues a line; `within_words`: in the middle of a word.
bool has_splice(std::string_view text, bool within_words) {
  for (std::size_t at = 0; (at = text.find('\\', at)) != std::string_view::npos; ++at) {
    const std::size_t end = text.find_first_not_of('\r', at + 1);
    if (end == std::string_view::npos) return false;
    if (text[end] != '\n') continue;
    const bool begins = at > 0 && is_word_character(text[at - 1]);
    // A word may go on after several splices, too.
    const bool goes_on =
        end + 1 < text.size() && (is_word_character(text[end + 1]) || text[end + 1] == '\\');
    if (!within_words || (begins && goes_on)) return true;
  }
  return false;
}

// Returns whether the text may have kWords or include directives; most texts have neither.
bool has_traces(std::string_view text) {
  for (std::size_t at = 0; (at = text.find('#', at)) != std::string_view::npos; ++at) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    if (has_any(line, kLineTraces) || line.find("/*") != std::string_view::npos) return true;
  }
  // Looks for DATE__, TIME__, TIMESTAMP__.
  for (std::size_t at = 0; (at = text.find("__", at)) != std::string_view::npos; ++at) {
    if (at > 0 && (text[at - 1] == 'E' || text[at - 1] == 'P')) return true;
  }
  // A # and its word may be in two lines.
  const bool is_split = has_any(text, kLineTraces) && has_splice(text, /*within_words=*/false);
  return is_split || has_splice(text, /*within_words=*/true);
}

using Words = std::vector<std::string_view>;

// Returns the words that a program must not have, all of which begin with '_'.
Words odd_words(bool has_files) {
  Words words(std::begin(kWords), std::end(kWords));
  if (has_files) words.insert(words.end(), std::begin(kPlaces), std::end(kPlaces));
  return words;
}

// Calls `take` with each word of the text that begins with '_', until it returns true.
template <typename Take>
void each_underscore(std::string_view text, const Take &take) {
  for (std::size_t at = 0; (at = text.find('_', at)) != std::string_view::npos; ++at) {
    if (at > 0 && is_word_character(text[at - 1])) continue;
    const std::string_view word = first_word(text.substr(at));
    if (take(word)) return;
    at += word.size() - 1;
  }
}

// Returns the first of `words` in the text; empty if there is none.
std::string_view find_word(std::string_view text, const Words &words) {
  std::string_view found;
  each_underscore(text, [&](std::string_view word) {
    const auto place = std::find(words.begin(), words.end(), word);
    if (place != words.end()) found = *place;
    return !found.empty();
  });
  return found;
}

using Pieces = std::unordered_set<std::string_view>;

// Returns whether ## can make `word` from shorter words that are all in `pieces`.
bool is_made_of(std::string_view word, const Pieces &pieces) {
  std::vector<bool> reached(word.size() + 1);
  reached[0] = true;
  for (std::size_t begin = 0; begin < word.size(); ++begin) {
    for (std::size_t size = 1; reached[begin] && size <= word.size() - begin; ++size) {
      const bool is_piece = size < word.size() && pieces.count(word.substr(begin, size)) > 0;
      if (is_piece) reached[begin + size] = true;
    }
  }
  return reached[word.size()];
}

// Returns all shorter words from which ## could make one of odd_words(). Never destroyed, since an
// application's statics may build programs.
const Pieces &all_parts() {
  static const Pieces &parts = *[] {
    auto *made = new Pieces;
    for (const std::string_view word : odd_words(/*has_files=*/true)) {
      for (std::size_t begin = 0; begin < word.size(); ++begin) {
        const std::size_t longest = word.size() - (begin == 0 ? 1 : begin);
        for (std::size_t size = 1; size <= longest; ++size) made->insert(word.substr(begin, size));
      }
    }
    return made;
  }();
  return parts;
}

// Returns the first of `words` that ## may make in a program of these texts, whichever macro has
// the ##: a driver's headers may have one. Empty if there is none.
std::string_view word_by_pasting(std::initializer_list<std::string_view> texts,
                                 const Words &words) {
  bool begins = false;
  for (const std::string_view text : texts) {
    each_underscore(text, [&](std::string_view piece) {
      begins = std::any_of(words.begin(), words.end(), [piece](std::string_view word) {
        return piece.size() < word.size() && word.starts_with(piece);
      });
      return begins;
    });
    if (begins) break;
  }
  if (!begins) return {};
  const Pieces &parts = all_parts();
  Pieces pieces;
  for (const std::string_view text : texts) {
    const ScannedText scanned = scan(text, CodeOf::all_lines);  // leaves out words in comments
    for (const LogicalLine &line : scanned.lines) {
      const std::string_view code = line.code;
      for (std::size_t at = 0; at < code.size(); ++at) {
        if (!is_word_character(code[at])) continue;
        const std::string_view word = first_word(code.substr(at));
        if (const auto part = parts.find(word); part != parts.end()) pieces.insert(*part);
        at += word.size();
      }
    }
  }
  const auto found = std::find_if(words.begin(), words.end(), [&pieces](std::string_view word) {
    return is_made_of(word, pieces);
  });
  return found == words.end() ? std::string_view() : *found;
}

// Fails with the first line of `what`.
Status depends_on(std::string_view what) {
  what = what.substr(0, what.find('\n'));
  return Status::error(Code::bad_input, {"it may depend on more than its text: ", what});
}

// Returns whether the options change no result.
bool are_harmless(std::string_view options) {
  const auto words = option_words(options);
  return words && std::all_of(words->begin(), words->end(), [](const OptionWord &word) {
           return word.text == "-cl-opt-disable" || word.text == "-w" || word.text == "-g";
         });
}

template <std::size_t kCount>
Status check_variables(const char *const (&variables)[kCount]) {
  for (const char *variable : variables) {
    const char *value = std::getenv(variable);
    if (value != nullptr && !are_harmless(value)) {
      return depends_on(std::string(variable) + " is set");
    }
  }
  return {};
}

// Checks a text that has traces, and has its includes in place.
Status check_source(std::string_view text, bool has_files) {
  const Words words = odd_words(has_files);
  const ScannedText scanned = scan(text, CodeOf::all_lines);
  if (scanned.doubt) return depends_on(scanned.doubt->what);
  for (const LogicalLine &line : scanned.lines) {
    const std::string_view directive = directive_of(line).name;
    for (const std::string_view name : kDirectives) {
      if (directive == name) return depends_on(name);
    }
    if (const std::string_view word = find_word(line.code, words); !word.empty()) {
      return depends_on(word);
    }
  }
  return {};
}

Status check_options(std::string_view options) {
  if (const auto doubt = odd_bytes(options)) return depends_on(doubt->what + " in its options");
  return {};
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

// Fails for -I with a file or a system folder, which compilers search at different times.
Status check_folders(const std::vector<fs::path> &folders) {
  for (const fs::path &folder : folders) {
    std::error_code error;
    if (fs::is_regular_file(folder, error)) return depends_on("-I with a file");
    for (const char *system : kSystemDirs) {
      if (fs::equivalent(folder, system, error))
        return depends_on("-I with a folder of the system");
    }
  }
  return {};
}

Result<Flattened> flatten_source(std::string_view text, const IncludeOptions &options,
                                 const Headers &headers) {
  if (Status s = check_folders(options.folders); !s.ok()) return s;
  FlattenRequest request;
  request.source = kRoot;
  request.include_dirs = options.folders;
  request.read = reader(text, headers);
  // The location of the folders must not matter.
  request.name = [](const fs::path &path) { return path.filename().string(); };
  AsCompiled &as = request.as_compiled.emplace();
  if (!headers.empty()) as.headers_dir = kHeadersFolder;
  as.other_dirs.assign(std::begin(kSystemDirs), std::end(kSystemDirs));
  as.other_include_dirs = options.quoted_folders;
  for (const std::string &definition : options.definitions) {
    as.macros.define_option(definition);
    if (options.uncertain.empty()) as.conditions.define_option(definition);
  }
  for (const std::string &name : options.uncertain) as.macros.undefine(name);
  auto flat = flatten(request);
  if (!flat.ok()) return depends_on(flat.status().message);
  return flat;
}

// Fills in the source and the files.
Status take_files(std::string_view text, const IncludeOptions &options, const Headers &headers,
                  WholeProgram *whole) {
  auto flat = flatten_source(text, options, headers);
  if (!flat.ok()) return flat.status();
  const bool has_files = !flat->files.empty();
  whole->includes = has_files || flat->left_includes;
  if (whole->includes) {
    if (!options.doubt.ok()) return depends_on(options.doubt.message);
    if (Status s = check_variables(kFolderVariables); !s.ok()) return s;
  }
  if (Status s = check_source(flat->text, has_files); !s.ok()) return s;
  if (has_files) {
    whole->source = std::move(flat->text);
    std::error_code error;
    whole->folder = fs::current_path(error).generic_string();
  }
  for (IncludedFile &file : flat->files) {
    const bool is_header = *fs::path(file.path).begin() == kHeadersFolder;
    if (!file.path.starts_with('/') && !is_header) file.path.insert(0, whole->folder + "/");
  }
  whole->files = std::move(flat->files);
  whole->state = std::move(flat->state);
  return {};
}

}  // namespace

bool is_put_together(std::string_view source) { return source.starts_with(kMark); }

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
  if (Status s = check_variables(kOptionVariables); !s.ok()) return s;
  const auto parts = include_options(options);
  if (!parts.ok()) return depends_on(parts.status().message);
  if (Status s = check_options(parts->others); !s.ok()) return s;
  // Some applications count the zero that ends their text.
  const std::string_view text = source.substr(0, source.find_last_not_of('\0') + 1);
  if (const auto doubt = odd_bytes(text)) return depends_on(doubt->what);
  WholeProgram whole{"", std::string(source), parts->others};
  if (has_traces(text)) {
    const bool may_include =
        text.find("include") != std::string_view::npos || has_splice(text, /*within_words=*/true);
    Status s = may_include ? take_files(text, *parts, headers, &whole)
                           : check_source(text, /*has_files=*/false);
    if (!s.ok()) return s;
  }
  const Words words = odd_words(!whole.files.empty());
  std::string_view word = find_word(whole.options, words);
  if (word.empty()) word = word_by_pasting({whole.source, whole.options}, words);
  if (!word.empty()) return depends_on(word);
  whole.name = program_name(whole.source, whole.options);
  if (!whole.files.empty()) {
    whole.own_source = source;
    whole.own_options = options;
  }
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

WholeProgram whole_link(const std::vector<std::string> &parts, std::string_view options) {
  WholeProgram whole{"", "#error this is linked of several programs:", std::string(options)};
  for (const std::string &part : parts) whole.source += " " + part;
  whole.source += "\n";
  whole.name = program_name(whole.source, options);
  return whole;
}

Status check_unchanged(const WholeProgram &program, std::string_view source,
                       std::string_view options, const Headers &headers) {
  if (!program.includes) return {};
  const auto now = whole_program(source, options, headers);
  if (now.ok() && now->name == program.name && now->state == program.state) return {};
  return Status::error(Code::failed, "a file that it includes was changed while it was built");
}

}  // namespace kiln::source
