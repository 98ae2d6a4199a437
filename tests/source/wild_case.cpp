// SPDX-License-Identifier: Apache-2.0
// Cases of dimensions: where a program can change, and what can stand there, with words that
// vocabulary.py found. README.md has the table of dimensions.
#include <algorithm>
#include <cctype>
#include <iterator>
#include <utility>

#include "tests/source/case.hpp"
#include "tests/source/random.hpp"
#include "tests/source/vocabulary.hpp"

namespace kiln::cases {
namespace {

using Texts = std::vector<std::string>;

// Work-groups of all drivers are this large, so that VALUE can be the size of one.
constexpr std::size_t kLargestValue = 8;

std::string joined(const std::string &folder, const std::string &name) {
  return folder.empty() ? name : folder + "/" + name;
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

class WildCase {
 public:
  WildCase(std::uint64_t seed, std::string driver)
      : random_(seed ^ 0x77696c64), driver_(std::move(driver)) {
    case_.seed = seed;
  }

  Case make() {
    make_program();
    make_edit();
    for (std::size_t i = chance(60) ? 1 : 2 + below(2); i > 0; --i) draw();
    finish();
    return std::move(case_);
  }

 private:
  bool chance(std::size_t percent) { return random_.chance(percent); }
  std::size_t below(std::size_t limit) { return random_.below(limit); }
  std::string pick(const Texts &texts) { return random_.pick(texts); }
  std::string word(const std::string &section) {
    return words(section).empty() ? "A" : random_.pick(words(section));
  }
  bool has_driver() const { return !driver_.empty(); }

  std::string value() { return std::to_string(1 + below(kLargestValue)); }
  std::string define_value() { return "#define VALUE " + value(); }

  // ---- The small program.

  void make_program() {
    folder_ = pick({"d", "d", "", "d/s", "e"});
    header_ = joined(folder_, pick({"x.h", "x.h", "y.h", "x.cl"}));
    const std::string name = header_.substr(header_.rfind('/') + 1);
    const bool by_option = chance(80);
    if (by_option)
      case_.options.push_back("-I" + std::string(chance(50) ? " " : "") + option_path());
    const std::string operand = by_option && chance(40)   ? "<" + name + ">"
                                : by_option && chance(60) ? "\"" + name + "\""
                                : chance(75)              ? "\"" + header_ + "\""
                                                          : "<" + header_ + ">";
    Texts text;
    switch (below(8)) {
      case 0:
      case 1: text = {"#include " + operand}; break;
      case 2: text = {"#define NAME " + operand, "#include NAME"}; break;
      case 3:
      case 4: {
        const bool defined = chance(60);
        text = {pick({"#ifdef A", "#ifndef A", "#if defined(A)", "#if !defined A", "#if A == 1",
                      "#if A + B", "#if defined A || defined B"}),
                "#include " + operand, "#endif"};
        if (defined) text.insert(text.begin(), "#define A " + pick({"1", "", "0"}));
        if (chance(20)) text.insert(text.begin(), "#undef B");
        if (chance(20)) case_.options.push_back("-D" + pick({"A", "B", "A=1", "B=0"}));
        if (chance(30)) text.insert(text.end() - 1, {"#else", define_value()});
        break;
      }
      case 5: text = {"#if 0", "#include " + operand, "#else", define_value(), "#endif"}; break;
      default: break;  // no directive includes a file
    }
    const Texts harmless = {"// A note: it's \"here\".", "/* Two lines,\n   <x.h> */",
                            "constant char text[] = \"a text\";", "typedef float real;", ""};
    for (std::size_t i = below(3); i > 0; --i) {
      text.insert(text.begin() + static_cast<std::ptrdiff_t>(below(text.size() + 1)),
                  pick(harmless));
    }
    for (std::string &line : Texts{"#ifndef VALUE", define_value(), "#endif"})
      text.push_back(std::move(line));
    lines_ = std::move(text);
    Texts header = {define_value()};
    if (chance(20)) header = {"#ifndef X_H", "#define X_H", define_value(), "#endif"};
    if (chance(30)) header.insert(header.begin(), pick(harmless));
    std::string of_header;
    for (const std::string &line : header) of_header += line + "\n";
    case_.files.push_back({Kind::file, header_, of_header});
  }

  std::string option_path() {
    const std::string folder = folder_.empty() ? "." : folder_;
    return chance(20) ? std::string(kHere) + "/" + folder : folder;
  }

  // Another value in a text of a header.
  static std::string with_other_value(std::string text) {
    const std::size_t at = text.rfind("VALUE ");
    if (at == std::string::npos || at + 6 >= text.size()) return text + "#define VALUE 6\n";
    char &digit = text[at + 6];
    digit = digit == '3' ? '2' : '3';
    return text;
  }

  void make_edit() {
    const Entry header = case_.files[0];
    switch (below(10)) {
      case 0:
      case 1: case_.edit = {{Kind::removed, header.path, ""}}; break;
      case 2: {  // a header in another place
        const std::string name = header.path.substr(header.path.rfind('/') + 1);
        case_.edit = {
            {Kind::file, joined(pick({"", "d", "e", "d/s"}), name), with_other_value(header.text)}};
        break;
      }
      case 3: make_link(); break;
      case 4: appears_ = true; break;
      default: case_.edit = {{Kind::file, header.path, with_other_value(header.text)}}; break;
    }
  }

  // The folder of the header is a link, which the edit turns; or two folders change places.
  void make_link() {
    if (folder_.empty()) return;
    Entry &header = case_.files[0];
    const std::string name = header.path.substr(header.path.rfind('/') + 1);
    const std::string up = folder_.find('/') == std::string::npos ? "" : "../";
    const std::string other = with_other_value(header.text);
    header.path = "one/" + name;
    case_.files.push_back({Kind::file, "two/" + name, other});
    if (chance(70)) {
      case_.files.push_back({Kind::symbolic_link, folder_, up + "one"});
      case_.edit = {{Kind::symbolic_link, folder_, up + "two"}};
      case_.back = {{Kind::symbolic_link, folder_, up + "one"}};
    } else {
      case_.files.push_back({Kind::renamed, "one", folder_});
      case_.edit = {{Kind::renamed, folder_, "one"}, {Kind::renamed, "two", folder_}};
      case_.back = {{Kind::renamed, folder_, "two"}, {Kind::renamed, "one", folder_}};
    }
  }

  // ---- The draws.

  void draw() {
    switch (below(has_driver() ? 29 : 18)) {
      case 0:
      case 1:
      case 2:
      case 3: insert(some_character(random_)); break;
      case 4:
      case 5: rename_macro(); break;
      case 6: add_line(directive()); break;
      case 7:
      case 8: add_pragma(); break;
      case 9: add_line(around_assembler()); break;
      case 10: case_.options.push_back(option()); break;
      case 11: use_macro(); break;
      case 12: add_unasked(); break;
      case 13: case_.current = pick({"d", "w", "w/w"}); break;
      case 14: respell_path(); break;
      case 15: add_line(literals()); break;
      case 16:
        insert(pick({word("macros"), word("directives"), "\\\n", "/*", "*/", "\"", "'", "\f"}));
        break;
      case 17:
        insert(in_group(pick({"$", "a$b", "x$'a'", "$\"", ".incbin", "\f", "\f#else"})));
        break;
      case 18:
      case 19:
      case 20:
      case 21: add_variables(); break;
      case 22:
      case 23: add_headers(); break;
      case 24:
      case 25: add_unasked(); break;
      case 26: add_line(around_assembler()); break;
      default: move_during_builds(); break;
    }
  }

  std::size_t some_line() { return below(lines_.size() + 1); }

  void add_line(const std::string &line) {
    lines_.insert(lines_.begin() + static_cast<std::ptrdiff_t>(some_line()), line);
  }

  // A place in a line: between two tokens, or anywhere.
  std::size_t some_place(const std::string &text) {
    if (chance(30)) return below(text.size() + 1);
    std::vector<std::size_t> places = {0, text.size()};
    for (std::size_t at = 1; at < text.size(); ++at) {
      if (is_word(text[at - 1]) != is_word(text[at]) || !is_word(text[at])) places.push_back(at);
    }
    return random_.pick(places);
  }

  void insert(const std::string &what) {
    if (chance(20)) {
      Entry &entry = case_.files[0];
      return void(entry.text.insert(some_place(entry.text), what));
    }
    std::vector<std::size_t> directives, others;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      (lines_[i].starts_with('#') ? directives : others).push_back(i);
    }
    if (others.empty()) {
      add_line("// " + what);
      return;
    }
    std::string &line = lines_[random_.pick(chance(50) ? directives : others)];
    line.insert(some_place(line), what);
  }

  // Another name at one of the places of a macro: a character longer, or with one in its middle.
  void rename_macro() {
    std::vector<std::pair<std::string *, std::size_t>> ends;
    const auto look = [&ends](std::string &text) {
      for (const std::string name : {"A", "B", "NAME", "VALUE", "X_H"}) {
        for (std::size_t at = 0; (at = text.find(name, at)) != std::string::npos; ++at) {
          const std::size_t end = at + name.size();
          if ((at > 0 && is_word(text[at - 1])) || (end < text.size() && is_word(text[end])))
            continue;
          ends.emplace_back(&text, at);
          ends.emplace_back(&text, end);
        }
      }
    };
    for (std::string &line : lines_) {
      if (line.starts_with('#')) look(line);
    }
    if (ends.empty() || chance(20)) {
      for (std::string &option : case_.options) {
        if (option.starts_with("-D")) ends.emplace_back(&option, chance(50) ? 3 : 2);
      }
    }
    if (ends.empty()) return;
    const auto [text, at] = random_.pick(ends);
    text->insert(at, some_identifier_character(random_));
  }

  std::string file_operand() {
    const std::string name = header_.substr(header_.rfind('/') + 1);
    return pick({"\"" + header_ + "\"", "\"" + name + "\"", "<" + name + ">"});
  }

  std::string directive() {
    return "#" + word("directives") + " " +
           pick({file_operand(), "A", "VALUE", "1", "VALUE " + value(), "(A)", ""});
  }

  // One of words, with `@` for a file.
  static std::string with_file(std::string text, const std::string &path) {
    const std::size_t at = text.find('@');
    return at == std::string::npos ? text : text.replace(at, 1, path);
  }

  std::string pragma_line(const std::string &text) {
    if (chance(60)) return "#pragma " + text;
    std::string quoted;
    for (const char c : text) {
      if (c == '"' || c == '\\') quoted += '\\';
      quoted += c;
    }
    return "_Pragma(\"" + quoted + "\")";
  }

  void add_pragma() {
    if (chance(30)) {  // a macro that is gone, and perhaps comes back, around its condition
      const std::string macro = pick({"A", "A", "B", "VALUE"});
      const std::string pair = chance(50) || words("pragmas").empty()
                                   ? word("pragmas of a macro")
                                   : word("pragmas") + " " + word("pragmas");
      const std::size_t blank = pair.find(' ');
      if (blank == std::string::npos) return;
      const std::string operand = "(\"" + macro + "\")";
      const Texts added = {"#define " + macro + " 1", pragma_line(pair.substr(0, blank) + operand),
                           "#undef " + macro, pragma_line(pair.substr(blank + 1) + operand)};
      lines_.insert(lines_.begin() + static_cast<std::ptrdiff_t>(below(2)), added.begin(),
                    added.end());
      return;
    }
    if (chance(30)) return add_line(pragma_line(with_file(word("pragmas of a file"), header_)));
    add_line(
        pragma_line(word("pragmas") + " " +
                    pick({"", file_operand(), "(" + file_operand() + ")", "A", "(A)", "(\"A\")",
                          "on", "push", "pop", "VALUE", "(VALUE)", word("pragmas")})));
  }

  // A word of the assembler with a file, which may hold instructions as text or as bytes.
  std::string around_assembler() {
    const std::string directive = chance(70) ? word("assembler of a file") : word("assembler");
    const std::string keyword = word("keywords of a string");
    std::string path = header_;
    if (chance(60)) {
      path = "code";
      // mov eax, VALUE
      const bool as_text = chance(50);
      const auto code = [&](int value) {
        return as_text ? "movl $" + std::to_string(value) + ", %eax\n"
                       : "\xb8" + std::string(1, static_cast<char>(value)) + std::string(3, '\0');
      };
      case_.files.push_back({Kind::file, path, code(2)});
      case_.edit = {{Kind::file, path, code(5)}};
      if (chance(20)) case_.edit = {{Kind::removed, path, ""}};
    }
    std::string text =
        directive + " \\\"" + (chance(60) ? std::string(kHere) + "/" : "") + path + "\\\"";
    if (chance(25)) text.insert(1 + below(directive.size() - 1), chance(50) ? "\" \"" : "\"\\\n\"");
    if (text[0] == '.' && chance(15))
      text.replace(0, 1, pick({"\\056", "\\x2e", "\\x2E", "\\u002e"}));
    if (chance(15)) text.insert(0, pick({".reg .b32 x; ", ".reg", ".b32 ", ".reg.", ".reg \" \""}));
    if (chance(25)) {
      add_line(in_group(keyword + "(\"" + text + "\");"));
    } else {
      statement_ = in_group(keyword + pick({"", " volatile"}) + "(\"" + text +
                            "\" : \"=a\"(v) : \"0\"(v));");
    }
    return "";
  }

  // The line alone, or in a group that compilers skip, or do not.
  std::string in_group(const std::string &line) {
    if (chance(60)) return line;
    const std::string begin =
        pick({"#if 0", "#if 1", "#if 00", "#ifdef A", "#if 0 // $", "#if !1"});
    const std::string other = pick({"#else", "#elif 0", "#elif 1", "#elif A", "#else // $"});
    const std::string inner = pick({line, "#if 1\n" + line + "\n#endif"});
    return "\n" + begin + "\n" + (chance(50) ? other + "\n" + inner : inner + "\n" + other) +
           "\n#endif\n";
  }

  std::string option() {
    std::string text = word("options");
    const char kind = text.back();
    if (kind != '=' && kind != '%' && kind != '&') return text;
    text.pop_back();
    const std::string operand =
        pick({folder_.empty() ? "." : folder_, header_, "VALUE=7", "1", "e", "A"});
    return text + (kind == '=' ? "=" : kind == '%' ? " " : "") + operand;
  }

  void use_macro() {
    const std::string name = word("macros");
    switch (below(6)) {
      case 0: case_.options.push_back(pick({"-D", "-U"}) + name); break;
      case 1: lines_.insert(lines_.begin(), pick({"#undef ", "#define "}) + name); break;
      case 2: add_line("#define VALUE (1 + (" + name + ") % 3)"); break;
      default:
        for (std::string &line : lines_) {
          if (const std::size_t at = line.find('A'); line.starts_with("#if") && at < line.size()) {
            return void(line.replace(at, 1, name));
          }
        }
        lines_.insert(lines_.begin(), {"#ifdef " + name, define_value(), "#endif"});
    }
  }

  // A file that compilers may open although the program does not name it.
  void add_unasked() {
    Texts names = words("files of " + (has_driver() ? driver_ : std::string("rusticl")));
    if (names.empty() || chance(30)) names = words("headers");
    if (names.empty()) return;
    if (chance(50)) include_nothing();
    std::string folder = folder_;
    if (chance(50)) folder = pick({"", "e"});
    std::string path = joined(folder, pick(names));
    if (path.find('.') == std::string::npos) {  // a folder that is searched
      path += header_.substr(std::min(header_.rfind('/'), header_.size() - 1));
      if (chance(50)) path = joined(folder, pick(names)) + "/" + header_;
    }
    const std::string text = unasked_text();
    if (chance(70) && (folder != folder_ || case_.options.empty())) {
      case_.options.push_back("-I" + (folder.empty() ? "." : folder));
    }
    case_.files.push_back({Kind::file, path, text});
    case_.edit = {{Kind::file, path, with_other_value(text)}};
    if (chance(25)) case_.edit = {{Kind::removed, path, ""}};
    if (chance(25)) {  // it appears
      std::swap(case_.edit[0], case_.files.back());
      if (case_.files.back().kind == Kind::removed) case_.files.pop_back();
    }
  }

  // C, or settings by the names of the driver's variables.
  std::string unasked_text() {
    const std::string section = "variables of " + driver_;
    if (words(section).empty() || chance(50)) return define_value() + "\n";
    std::string text;
    for (std::size_t i = 1 + below(48); i > 0; --i) {
      const std::string name = word(section);
      if (!is_of_the_harness(name)) text += name + " = " + value_for(name) + "\n";
    }
    return text;
  }

  void respell_path() {
    const auto respelled = [this](const std::string &path) {
      std::string other = path;
      switch (below(6)) {
        case 0: return "../" + path;
        case 1: return "./" + path;
        case 2: return "d/../" + path;
        case 3: return std::string(kHere) + "/" + path;
        case 4: return "../../" + path;
        default:
          other.insert(below(other.size() + 1), pick({"/", "\\", " ", some_character(random_)}));
      }
      return other;
    };
    for (std::string &line : lines_) {
      const std::size_t begin = line.find_first_of("\"<");
      const std::size_t end = line.find_last_of("\">");
      if (!line.starts_with("#") || begin >= end || end == std::string::npos) continue;
      line.replace(begin + 1, end - begin - 1, respelled(line.substr(begin + 1, end - begin - 1)));
      return;
    }
    if (!case_.options.empty() && case_.options[0].starts_with("-I")) {
      case_.options[0] = "-I" + respelled(folder_);
    }
  }

  // Numbers and texts of all kinds of quotes and marks.
  std::string literals() {
    if (chance(50)) case_.options.push_back("-cl-std=CL" + pick({"1.2", "2.0", "3.0", "C++"}));
    std::string line = "constant int literals = 0";
    for (std::size_t i = 1 + below(3); i > 0; --i) {
      if (chance(50)) {
        const std::string mark = pick({"'", "\"", ".", "_", "\\", "#", "$", "e+", "p-"});
        line += " + " + value() + mark + value();
      } else {
        const std::string prefix = pick({"", "", "L", "u8", "R", "u", "$"});
        const std::string quote = pick({"\"", "'"});
        std::string inside;
        for (std::size_t j = 1 + below(4); j > 0; --j)
          inside += pick({"a", "'", "\\'", "\\\"", "/*", "*/", "//", " ", "(", ")", "\\\\"});
        line += " + sizeof(" + prefix + quote + inside + quote + ")";
      }
    }
    return line + ";";
  }

  // Some of the driver's variables at once: one of hundreds is seldom the one that counts.
  void add_variables() {
    const std::string section = "variables of " + driver_;
    const Texts &names = words(section);
    if (names.empty()) return;
    // Mostly a program that a definition from elsewhere changes.
    if (chance(60)) {
      include_nothing();
      search_nothing();
    }
    // Few enough that one of them seldom leaves the application without a device.
    const std::size_t most = 1 + std::min<std::size_t>(names.size() / 16, 30);
    for (std::size_t i = chance(40) ? 1 : 1 + below(most); i > 0; --i) {
      const std::string name = name_of_a_kind(names);
      if (!is_of_the_harness(name)) case_.variables[name] = value_for(name);
    }
  }

  enum class ValueKind : std::uint8_t { options, folder, other };

  // Whether one of these words is a word of the name, as in CACHE_DIR, CacheDir and cache_dir; DIR
  // is no word of DirectSubmission.
  static bool has_word(const std::string &name, std::initializer_list<const char *> list) {
    std::string upper = name;
    for (char &c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    const auto is_upper = [&](std::size_t at) { return name[at] >= 'A' && name[at] <= 'Z'; };
    for (const std::string word : list) {
      for (std::size_t at = 0; (at = upper.find(word, at)) != std::string::npos; ++at) {
        const std::size_t end = at + word.size();
        const bool is_mixed = is_upper(at) && !is_upper(at + 1);
        const bool begins = at == 0 || is_upper(at) || name[at - 1] == '_';
        const bool ends = end == name.size() || name[end] == '_' || (is_mixed && is_upper(end));
        if (begins && ends) return true;
      }
    }
    return false;
  }

  // Returns the kind of value that a name of a variable suggests. Several options have a name in
  // the plural.
  static ValueKind suggested_kind(const std::string &name) {
    if (has_word(name, {"OPTIONS", "FLAGS", "ARGS"})) return ValueKind::options;
    if (has_word(name, {"DIR", "PATH", "FOLDER", "FILE", "FILES", "ROOT"}))
      return ValueKind::folder;
    return ValueKind::other;
  }

  // All kinds are equally likely, since few names are of the first two.
  std::string name_of_a_kind(const Texts &names) {
    const auto kind = static_cast<ValueKind>(below(3));
    Texts of_kind;
    std::copy_if(names.begin(), names.end(), std::back_inserter(of_kind),
                 [kind](const std::string &name) { return suggested_kind(name) == kind; });
    return pick(of_kind.empty() ? names : of_kind);
  }

  std::string value_for(const std::string &name) {
    const bool is_likely = chance(80);
    if (is_likely && suggested_kind(name) == ValueKind::options) return option_value();
    if (is_likely && suggested_kind(name) == ValueKind::folder) return folder_value();
    switch (below(8)) {
      case 0:
      case 1: return option_value();
      case 2: return folder_value();
      case 3: return "0";
      case 4: return value();
      default: return "1";
    }
  }

  std::string option_value() {
    return pick({"-DVALUE=7", "-D VALUE=7", "-I " + std::string(kHere) + "/e", "-w"});
  }

  // A compiler that works in this folder finds the header; others may not.
  std::string folder_value() {
    const std::string folder = chance(60) ? folder_ : pick({"", "e", "e/s", "d"});
    if (!std::exchange(has_climbed_, true) && chance(70)) {
      if (chance(70)) {
        search_nothing();
        include_nothing();
      }
      const std::string name = header_.substr(header_.find_last_of('/') + 1);
      lines_.insert(lines_.begin(),
                    "#include \"" + pick({"", "../", "../", "../../"}) + name + "\"");
    }
    return joined(kHere, joined(folder, kWho));
  }

  void search_nothing() {
    std::erase_if(case_.options,
                  [](const std::string &option) { return option.starts_with("-I"); });
  }

  void include_nothing() { lines_ = {"#ifndef VALUE", define_value(), "#endif"}; }

  // Without these there is no device, or no second process.
  static bool is_of_the_harness(const std::string &name) {
    static const Texts own = {"NEOReadDebugKeys",      "SetCommandStreamReceiver",
                              "ProductFamilyOverride", "RUSTICL_ENABLE",
                              "OCL_ICD_VENDORS",       "OPENCL_LAYERS",
                              "OPENCL_VENDOR_PATH",    "HardwareInfoOverride"};
    return std::find(own.begin(), own.end(), name) != own.end() || name.starts_with("KILN_");
  }

  void add_headers() {
    const std::string name =
        pick({"", "/", "../", "./", "d/", "d/../", "//", some_character(random_)}) +
        pick({"x.h", "y.h", "d/x.h"}) + pick({"", "", "", some_character(random_)});
    if (name.find_first_of(std::string("\n\r\"\0", 4)) != std::string::npos) return;
    // Mostly the header alone decides the value.
    if (chance(60)) include_nothing();
    if (chance(40)) search_nothing();
    const std::string text = define_value() + "\n";
    case_.headers.emplace_back(name, text);
    case_.edited_headers.emplace_back(name, with_other_value(text));
    if (chance(30)) {
      case_.headers.emplace_back("y/" + name, define_value() + "\n");
      case_.edited_headers.push_back(case_.headers.back());
    }
    lines_.insert(lines_.begin(), "#include " + pick({"\"" + name + "\"", "<" + name + ">"}));
  }

  // The edit comes and goes while programs are built.
  void move_during_builds() {
    const Entry header = case_.files[0];
    if (case_.back.empty() && chance(60)) make_link();
    if (case_.back.empty()) {
      const std::string name = header.path.substr(header.path.rfind('/') + 1);
      const std::string other = with_other_value(header.text);
      if (chance(60)) {  // a header that appears where it is looked for earlier, and goes
        case_.options.insert(case_.options.begin(), "-Iearly");
        case_.files.push_back({Kind::file, "early/other.h", ""});
        case_.edit = {{Kind::file, "early/" + name, other}};
        case_.back = {{Kind::removed, "early/" + name, ""}};
      } else {
        case_.edit = {{Kind::file, header.path, other}};
        case_.back = {{Kind::file, header.path, header.text}};
      }
    }
    case_.pause = static_cast<unsigned>(500 + below(30000));
  }

  // ---- The end.

  void finish() {
    if (appears_ && case_.back.empty()) {
      case_.edit.push_back(case_.files[0]);
      case_.files.erase(case_.files.begin());
    }
    if (!case_.current.empty()) {
      case_.files.push_back({Kind::file, case_.current + "/empty", ""});
      std::string up;
      for (std::ptrdiff_t i = 1 + std::count(case_.current.begin(), case_.current.end(), '/');
           i > 0; --i)
        up += "../";
      if (chance(70)) case_.options.push_back("-I" + up + folder_);
    }
    if (chance(3)) case_.source += "\xEF\xBB\xBF";
    for (const std::string &line : lines_) case_.source += line + "\n";
    // A fault must not reach other cases by a shared name.
    case_.source += "// " + std::to_string(case_.seed) + "\n";
    case_.source +=
        "kernel __attribute__((reqd_work_group_size(VALUE, 1, 1))) void k(global int *out) {\n"
        "  int v = VALUE;\n";
    if (!statement_.empty()) case_.source += "  " + statement_ + "\n";
    case_.source += "  out[0] = v;\n}\n";
  }

  Random random_;
  std::string driver_, folder_, header_, statement_;
  bool has_climbed_ = false;  // folder_value() has had its choice of an include
  bool appears_ = false;      // the header is there only after the edit
  Texts lines_;
  Case case_;
};

}  // namespace

Case wild_case(std::uint64_t seed, const std::string &driver) {
  return WildCase(seed, driver).make();
}

}  // namespace kiln::cases
