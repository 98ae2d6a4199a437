// SPDX-License-Identifier: Apache-2.0
// Flattens from the application's disk, refuses what depends on place or time, and makes the name.
#include "runtime/source/whole_program.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <iterator>

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
constexpr char kHeaders[] = "<headers>";  // a folder that no disk has

// Directives that take files in by rules of their own, and what asks for files or the time.
constexpr std::string_view kDirectives[] = {"include_next", "import", "embed"};
constexpr std::string_view kWords[] = {"__has_include", "__has_include_next", "__has_embed",
                                       "__DATE__",      "__TIME__",           "__TIMESTAMP__"};
constexpr std::string_view kPlaces[] = {"__FILE__", "__BASE_FILE__", "__INCLUDE_LEVEL__"};
constexpr std::string_view kOptions[] = {"-include", "-imacros"};
// What a text is gone through for: after a #, where a comment may go on in the next line; and
// anywhere, of which some stand for #, or between the letters of a word. None begins with what
// kernels are full of, as they are of _.
constexpr std::string_view kLineTraces[] = {"include", "import", "embed", "/*"};
constexpr std::string_view kTraces[] = {
    "\\\n", "\\\r", "%:", "\?\?=", "DATE__", "TIME__", "TIMESTAMP__"};

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

template <std::size_t kCount>
bool has_any(std::string_view text, const std::string_view (&traces)[kCount]) {
  return std::any_of(std::begin(traces), std::end(traces), [text](std::string_view trace) {
    return text.find(trace) != std::string_view::npos;
  });
}

// Most texts have none.
bool has_traces(std::string_view text) {
  for (std::size_t at = 0; (at = text.find('#', at)) != std::string_view::npos; ++at) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (has_any(text.substr(at, end - at), kLineTraces)) return true;
  }
  return has_any(text, kTraces);
}

bool has_word(std::string_view text, std::string_view word) {
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string_view::npos; ++at) {
    const std::size_t end = at + word.size();
    const bool begins = at == 0 || !is_word_character(text[at - 1]);
    if (begins && (end == text.size() || !is_word_character(text[end]))) return true;
  }
  return false;
}

// `what`: its first line counts.
Status depends_on(std::string_view what) {
  what = what.substr(0, what.find('\n'));
  return Status::error(Code::bad_input, {"it may depend on more than its text: ", what});
}

// Whether a backslash at the end of a line stands within a word.
bool has_spliced_word(std::string_view text) {
  for (std::size_t at = 0; (at = text.find('\\', at)) != std::string_view::npos; ++at) {
    const std::size_t end = text.find('\n', at);
    const bool splices =
        end != std::string_view::npos && end - at <= 2 && (end == at + 1 || text[at + 1] == '\r');
    const bool begins = at > 0 && is_word_character(text[at - 1]);
    if (splices && begins && end + 1 < text.size() && is_word_character(text[end + 1])) return true;
  }
  return false;
}

// Of a text whose includes are in it.
Status check_source(std::string_view text) {
  if (!has_traces(text)) return {};
  for (const LogicalLine &line : logical_lines(text, CodeOf::all_lines)) {
    const std::string_view directive = directive_of(line).name;
    for (const std::string_view name : kDirectives) {
      if (directive == name) return depends_on(name);
    }
    for (const std::string_view word : kWords) {
      if (has_word(line.code, word)) return depends_on(word);
    }
  }
  return {};
}

Status check_options(std::string_view options) {
  for (const std::string_view option : kOptions) {
    if (options.find(option) != std::string_view::npos) return depends_on(option);
  }
  for (const std::string_view word : kWords) {
    if (has_word(options, word)) return depends_on(word);
  }
  return {};
}

// A compiler looks for what the source itself includes in the current folder. `*unreadable` tells
// of files that are there and cannot be had.
ReadFile reader(std::string_view text, const Headers &headers, bool *unreadable) {
  return [text, &headers, unreadable,
          disk = read_from_disk()](const fs::path &path) -> std::optional<std::string> {
    std::string name = path.generic_string();
    if (name == kRoot) return std::string(text);
    const bool in_headers = *path.begin() == kHeaders;
    if (in_headers) name = path.lexically_relative(kHeaders).generic_string();
    const auto header = headers.find(name);
    if (header != headers.end()) return header->second;
    if (in_headers) return std::nullopt;
    auto read = disk(path);
    std::error_code error;
    if (!read && fs::is_regular_file(path, error)) *unreadable = true;
    return read;
  };
}

// Whether the options are of those that name no file but by -I, in a way that every driver reads
// alike.
bool are_plain(std::string_view options) {
  constexpr std::string_view kPlain[] = {"-D", "-U", "-I", "-cl-", "-w", "-W", "-g", "-O"};
  if (options.find_first_of("'\\@") != std::string_view::npos) return false;
  const auto words = option_words(options);
  if (!words) return false;
  bool is_operand = false;
  for (const OptionWord &word : *words) {
    const std::string_view text = word.text;
    const bool known = std::any_of(std::begin(kPlain), std::end(kPlain), [text](auto option) {
      return text.substr(0, option.size()) == option;
    });
    if (!is_operand && !known) return false;
    is_operand = !is_operand && (text == "-D" || text == "-U" || text == "-I");
  }
  return true;
}

Result<std::string> whole_source(std::string_view text, const IncludeOptions &options,
                                 std::string_view options_text, const Headers &headers) {
  if (!has_traces(text)) return std::string(text);
  const bool includes = text.find("include") != std::string_view::npos || has_spliced_word(text);
  if (!includes) {
    Status s = check_source(text);
    return s.ok() ? Result<std::string>(std::string(text)) : Result<std::string>(std::move(s));
  }
  // A compiler reads it as #, and the flattener does not.
  if (text.find("%:") != std::string_view::npos) return depends_on("%:");
  FlattenRequest request;
  request.source = kRoot;
  if (!headers.empty()) request.include_dirs.emplace_back(kHeaders);
  request.include_dirs.insert(request.include_dirs.end(), options.folders.begin(),
                              options.folders.end());
  bool unreadable = false;
  request.read = reader(text, headers, &unreadable);
  // Where the folders are must not matter.
  request.name = [](const fs::path &path) { return path.filename().string(); };
  request.as_compiled = true;
  for (const std::string &definition : options.definitions) {
    request.macros.define_option(definition);
  }
  auto flat = flatten(request);
  if (!flat.ok()) return depends_on(flat.status().message);
  if (unreadable) return depends_on("a file that cannot be read");
  if (flat->left_includes && !are_plain(options_text)) {
    return depends_on("a file that was not found, for which its options may name a place");
  }
  // What these say is not the same in one text.
  if (flat->files.size() > 1 && has_any(flat->text, kPlaces)) return depends_on("__FILE__");
  if (Status s = check_source(flat->text); !s.ok()) return s;
  return flat->files.size() == 1 ? std::string(text) : std::move(flat->text);
}

}  // namespace

std::string program_name(std::string_view source, std::string_view options) {
  const std::uint64_t size = source.size();  // so that nothing can move from one to the other
  packs::Bytes text(sizeof(size) + source.size() + options.size());
  for (unsigned i = 0; i < sizeof(size); ++i) {
    text[i] = static_cast<std::uint8_t>(size >> (8 * i));
  }
  source.copy(reinterpret_cast<char *>(text.data() + sizeof(size)), source.size());
  options.copy(reinterpret_cast<char *>(text.data() + sizeof(size) + source.size()),
               options.size());
  return "cl-" + packs::hex(packs::blake2b({text.data(), text.size()})).substr(0, kDigits);
}

Result<WholeProgram> whole_program(std::string_view source, std::string_view options,
                                   const Headers &headers) {
  const auto parts = include_options(options);
  if (!parts) return depends_on("its options, which have an open quote or -I without a folder");
  if (Status s = check_options(parts->others); !s.ok()) return s;
  auto text = whole_source(source, *parts, options, headers);
  if (!text.ok()) return text.status();
  WholeProgram whole{"", *std::move(text), parts->others};
  whole.name = program_name(whole.source, whole.options);
  return whole;
}

Result<WholeProgram> whole_module(std::string_view module, std::string_view options) {
  constexpr std::uint32_t kMagic = 0x07230203;
  std::uint32_t magic = 0;
  if (module.size() >= kModuleHeader) std::memcpy(&magic, module.data(), sizeof(magic));
  if (magic != kMagic) return Status::error(Code::bad_input, "it is of no SPIR-V module");
  return WholeProgram{program_name(module, options), std::string(module), std::string(options),
                      true};
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
  if (program.source == source) return {};  // it includes nothing
  const auto now = whole_program(source, options, headers);
  if (now.ok() && now->name == program.name) return {};
  return Status::error(Code::failed, "a file that it includes was changed while it was built");
}

}  // namespace kiln::source
