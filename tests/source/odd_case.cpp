// SPDX-License-Identifier: Apache-2.0
// The grammar of odd programs. Each production is a way to write something that compilers accept
// and that a reader of includes may see otherwise.
#include <algorithm>
#include <filesystem>

#include "tests/source/case.hpp"
#include "tests/source/random.hpp"

namespace kiln::cases {
namespace {

using namespace std::string_literals;
using Texts = std::vector<std::string>;

const Texts kFolders = {"", "a", "b", "a/s", "rel/5", "rel/5/include", "include"};
const Texts kNames = {"x.h", "y.h", "z.h", "w.h", "v.h", "u.h", "x 1.h", "*y.h", "x.cl"};
const Texts kMacros = {"A", "B", "G0", "G1", "VALUE", "NAME"};
const Texts kWords = {"__TIME__",          "__DATE__",      "__TIMESTAMP__",
                      "__FILE__",          "__has_include", "__COUNTER__",
                      "__INCLUDE_LEVEL__", "__BASE_FILE__", "__FILE_NAME__"};

// A case has some of them and is plain otherwise: one oddity for which a reader gives up would hide
// all others beside it.
enum Theme : unsigned {
  kLinks,
  kGuards,
  kOnce,
  kConditions,
  kExpansions,
  kSplices,
  kComments,
  kLiterals,
  kBlanks,
  kMutations,
  kOften,  // the end of these
  kQuotes = kOften,
  kOptions,
  kBytes,
  kDigraphs,
  kPlaces,
  kTime,
  kSearch,
  kThemes
};

struct Spelling {
  Theme theme;
  std::string text;
};

std::string join(const std::string &folder, const std::string &name) {
  return folder.empty() ? name : folder + "/" + name;
}

std::string folder_of(const std::string &path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

class OddCase {
 public:
  OddCase(std::uint64_t seed, bool compiles) : random_(seed ^ 0x6f6464), compiles_(compiles) {
    case_.seed = seed;
    // Mostly themes of which much is accepted.
    for (std::size_t i = 1 + below(3); i > 0; --i) {
      themes_ |= 1U << (chance(85) ? below(kOften) : kOften + below(kThemes - kOften));
    }
  }

  Case make() {
    make_tree();
    make_options();
    for (std::size_t i = case_.files.size(); i-- > 0;) {
      if (case_.files[i].kind != Kind::file) continue;
      from_ = i;
      case_.files[i].text = header_text();
    }
    from_ = case_.files.size();
    in_source_ = true;
    case_.source = source_text();
    make_edit();
    return std::move(case_);
  }

 private:
  bool chance(std::size_t percent) { return random_.chance(percent); }
  std::size_t below(std::size_t limit) { return random_.below(limit); }
  std::string pick(const Texts &texts) { return random_.pick(texts); }
  std::string number() { return std::to_string(2 + below(998)); }

  bool has_theme(Theme theme) const { return (themes_ >> theme & 1) != 0; }

  // Mostly the usual spelling, else one of the case's themes.
  std::string spelled(const std::string &usual, std::initializer_list<Spelling> others,
                      std::size_t percent = 30) {
    Texts texts;
    for (const Spelling &other : others) {
      if (has_theme(other.theme)) texts.push_back(other.text);
    }
    return texts.empty() || !chance(percent) ? usual : pick(texts);
  }

  // ---- Files, links and options.

  bool has(const std::string &path) const {
    return std::any_of(case_.files.begin(), case_.files.end(),
                       [&path](const Entry &entry) { return entry.path == path; });
  }

  void add(Kind kind, const std::string &path, const std::string &text) {
    if (!has(path)) case_.files.push_back({kind, path, text});
  }

  std::string some_name() { return chance(96) ? kNames[below(6)] : pick(kNames); }

  std::string some_folder() {
    return has_theme(kQuotes) && chance(30) ? "with blank" : pick(kFolders);
  }

  void make_tree() {
    const std::size_t files = 1 + below(5);
    for (std::size_t i = 0; i < files; ++i) add(Kind::file, join(some_folder(), some_name()), "");
    const std::size_t count = case_.files.size();
    if (has_theme(kExpansions) && chance(30)) {  // for one who knows the compiler's macro, and else
      for (const char *name : {"x 1.h", "x __ENDIAN_LITTLE__.h"}) add(Kind::file, name, "");
    }
    if (has_theme(kOptions)) {  // what an unusual option may find in place of the first file
      add(Kind::file, join("other", std::filesystem::path(case_.files[0].path).filename()), "");
    }
    if (has_theme(kLinks) || chance(5)) {  // a folder by another name, at another depth
      const std::string path = pick({"current", "l", "a/l", "b/deep/l"});
      const std::string up = path.rfind('/') == std::string::npos ? ""
                             : path == "a/l"                      ? "../"
                                                                  : "../../";
      add(Kind::symbolic_link, path, up + pick({"rel/5", "a/s", "a", "rel/5/include"}));
      if (chance(60)) {  // what lies behind its `..`, and what only looks so
        add(Kind::file, "rel/" + some_name(), "");
        add(Kind::file, some_name(), "");
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      const Entry entry = case_.files[i];
      if (chance(has_theme(kLinks) || has_theme(kOnce) ? 15 : 2)) {
        const std::string path = join(pick({"", "a", "b"}), pick({"x.h", "y.h", "alias.h"}));
        const std::string up = folder_of(path).empty() ? "" : "../";
        add(Kind::symbolic_link, path, up + entry.path);
      } else if (chance(has_theme(kLinks) || has_theme(kOnce) ? 10 : 2)) {
        add(Kind::hard_link, join(pick({"", "a", "b"}), pick({"x.h", "hard.h"})), entry.path);
      }
    }
  }

  Texts folders_of_files() const {
    Texts folders;
    for (const Entry &entry : case_.files) {
      if (entry.kind != Kind::symbolic_link || entry.path.ends_with(".h")) {
        folders.push_back(folder_of(entry.path));
      } else {
        folders.push_back(entry.path);
        folders.push_back(entry.path + "/..");
        folders.push_back(entry.path + "/../include");
      }
    }
    return folders;
  }

  std::string folder_option() {
    std::string folder = chance(90) ? pick(folders_of_files()) : pick(kFolders);
    searched_.push_back(folder);
    if (folder.empty()) folder = ".";
    if (chance(12)) folder = std::string(kHere) + "/" + folder;
    if (chance(6)) folder += "/";
    if (has_theme(kLinks) && chance(15)) folder = "a/../" + folder;
    if (folder.find(' ') != std::string::npos) {
      return chance(50) ? "-I\"" + folder + "\"" : "\"-I" + folder + "\"";
    }
    switch (has_theme(kQuotes) ? below(10) : 10) {
      case 0: return "-I\"" + folder + "\"";
      case 1: return "-I \"" + folder + "\"";
      case 2: return "\"-I" + folder + "\"";
      case 3: return "-I'" + folder + "'";
      case 4: return "-I\t" + folder;
      default: return chance(50) ? "-I" + folder : "-I " + folder;
    }
  }

  std::string definition_option() {
    const std::string d = chance(80) ? "-D" : "-D ";
    const std::string name = some_name();
    return spelled(
        chance(10) ? "-U" + pick(kMacros) : d + pick(kMacros) + (chance(50) ? "" : "=" + number()),
        {{kExpansions, d + "NAME=\\\"" + name + "\\\""},
         {kExpansions, d + "NAME=<" + name + ">"},
         {kExpansions, d + "NAME=\"" + name + "\""},
         {kExpansions, d + "P(a,b)=a##b"},
         {kExpansions, d + "S(a)=#a"},
         {kTime, d + "P(a,b)=a##b"},
         {kGuards, d + "GUARD_0"},
         {kGuards, d + "GUARD_1"},
         {kQuotes, d + "\"A=1 + 2\""},
         {kTime, d + "A=" + pick(kWords)}},
        60);
  }

  std::string unusual_option() {
    const std::string found = chance(60) ? "other" : pick(folders_of_files());
    const std::string folder = found.empty() || found.find(' ') != std::string::npos ? "a" : found;
    const std::string name = some_name();
    switch (below(16)) {
      case 0:
      case 1: return "-iquote " + folder;
      case 2: return "-iquote" + folder;
      case 3: return "-isystem " + folder;
      case 4: return "-idirafter " + folder;
      case 5:
      case 6: return "-working-directory " + folder;
      case 7: return "-working-directory=" + folder;
      case 8: return "-include " + name;
      case 9: return "-imacros " + name;
      case 10: return "-c-isystem " + folder;
      case 11: return "-cxx-isystem " + folder;
      case 12: return "-traditional-cpp";
      case 13: return "-fms-extensions";
      case 14: return "-fno-dollars-in-identifiers";
      default: return "-internal-isystem " + folder;
    }
  }

  void make_options() {
    Texts &options = case_.options;
    const std::size_t folders = 1 + below(3);
    for (std::size_t i = 0; i < folders; ++i) options.push_back(folder_option());
    while (chance(25)) options.push_back(definition_option());
    if (has_theme(kOptions)) options.push_back(unusual_option());
    if (has_theme(kLiterals) && chance(50)) {
      options.push_back("-cl-std=CLC++");
    } else if (chance(10)) {
      options.push_back(pick({"-cl-std=CL1.2", "-cl-std=CL2.0", "-cl-std=CL3.0", "-cl-std=CLC++"}));
    }
    if (chance(10)) {
      options.push_back(pick({"-cl-fast-relaxed-math", "-w", "-Wall", "-Werror", "-cl-mad-enable",
                              "-cl-kernel-arg-info"}));
    }
    if (options.size() > 1 && chance(50)) std::swap(options[below(options.size())], options.back());
  }

  // ---- Names of files in directives.

  // The folder that a path names, where links stand for folders.
  std::string resolved(std::string folder) const {
    for (const Entry &entry : case_.files) {
      if (entry.kind != Kind::symbolic_link || !folder.starts_with(entry.path)) continue;
      std::string target = entry.text;
      while (target.starts_with("../")) target.erase(0, 3);
      folder.replace(0, entry.path.size(), target);
    }
    std::filesystem::path path = std::filesystem::path(folder).lexically_normal();
    return path == "." ? "" : path.generic_string();
  }

  // The text at hand includes a file; mostly one behind it in the tree, so that most inclusions
  // end.
  std::size_t some_file() {
    const std::size_t at = below(case_.files.size());
    const std::size_t behind = case_.files.size() - from_ - 1;
    if (in_source_ || at > from_ || behind == 0 || chance(has_theme(kGuards) ? 15 : 3)) return at;
    return from_ + 1 + below(behind);
  }

  // Below a folder, or "" if the path is not there.
  static std::string below_folder(const std::string &path, const std::string &folder) {
    if (folder.empty()) return path;
    return path.starts_with(folder + "/") ? path.substr(folder.size() + 1) : "";
  }

  static std::string quoted(const std::string &name) { return "\"" + name + "\""; }
  static std::string angled(const std::string &name) { return "<" + name + ">"; }

  // "name" or <name>.
  std::string operand() {
    if (chance(4)) return chance(50) ? quoted(some_name()) : angled(some_name());
    const Entry &entry = case_.files[some_file()];
    std::string path = entry.path;
    const bool folder = entry.kind == Kind::symbolic_link && !path.ends_with(".h");
    if (folder) path += chance(50) ? "/../" + some_name() : "/" + some_name();
    if (chance(3)) return quoted(std::string(kHere) + "/" + path);
    Texts operands;
    const auto offer = [&](const std::string &name, bool beside) {
      if (name.empty()) return;
      operands.push_back(quoted(varied(name)));
      if (!beside) operands.push_back(angled(varied(name)));
    };
    for (const std::string &searched : searched_)
      offer(below_folder(path, resolved(searched)), false);
    if (in_source_) {
      offer(path, true);
    } else {
      const std::string own = folder_of(case_.files[from_].path);
      offer(below_folder(path, own), true);
      std::string up = path;
      if (!own.empty()) {
        for (std::ptrdiff_t i = 1 + std::count(own.begin(), own.end(), '/'); i > 0; --i)
          up.insert(0, "../");
      }
      if (operands.empty() || chance(30)) offer(up, true);
    }
    if (chance(3)) offer(path, false);
    return pick(operands);
  }

  std::string varied(std::string name) {
    if (has_theme(kLinks) && chance(8)) name = "./" + name;
    if (has_theme(kLinks) && chance(8)) name = "s/../" + name;
    if (const std::size_t slash = name.find('/');
        has_theme(kComments) && slash != std::string::npos && chance(10)) {
      name.insert(slash, "/");
    }
    return name;
  }

  // A name without its quotes.
  std::string some_path() {
    const std::string text = operand();
    return text.substr(1, text.size() - 2);
  }

  std::string hash() {
    return spelled("#", {{kDigraphs, "%:"},
                         {kDigraphs, "\?\?="},
                         {kDigraphs, "#\?\?/\n"},
                         {kBlanks, "# "},
                         {kBlanks, " #"},
                         {kBlanks, "#\f"},
                         {kBlanks, "\v#\t"},
                         {kComments, "/* c */ #"},
                         {kComments, "# /* c */ "},
                         {kComments, "/* c\n */#"},
                         {kSplices, "#\\\n"},
                         {kSplices, "\\\n#"},
                         {kBytes, "#\0"s},
                         {kBytes, "\0#"s}});
  }

  std::string include_word() {
    return spelled("include", {{kSplices, "inc\\\nlude"},
                               {kSplices, "inc\\ \nlude"},
                               {kSplices, "inc\\\r\nlude"},
                               {kSplices, "include\\\n"},
                               {kSplices, "inc\\\t\nlude"},
                               {kDigraphs, "inc\?\?/\nlude"},
                               {kSearch, "include_next"},
                               {kSearch, "import"},
                               {kComments, "include/**/"},
                               {kBytes, "includ\\u0065"},
                               {kBytes, "include\0"s}});
  }

  std::string include_line() {
    if (has_theme(kExpansions) && chance(60)) return made_include();
    const std::string line = hash() + include_word() + (chance(97) ? " " : "") + operand();
    return line + spelled(chance(6) ? " // see below" : "", {{kComments, " /* see\n below */"},
                                                             {kComments, "// \\"},
                                                             {kComments, " /*"},
                                                             {kBlanks, " junk"},
                                                             {kBlanks, ";"},
                                                             {kBlanks, "\t\f "},
                                                             {kSplices, " \\\n"},
                                                             {kSplices, "\\"},
                                                             {kBytes, "\r"},
                                                             {kTime, " __TIME__"}});
  }

  // An include of a name that macros make.
  std::string made_include() {
    const std::string path = some_path();
    switch (has("x 1.h") && chance(20) ? 8 : below(12)) {
      case 0: return "#undef NAME\n#define NAME \"" + path + "\"\n#include NAME";
      case 1: return "#undef NAME\n#define NAME <" + path + ">\n#include NAME";
      case 2: return "#define S(a) #a\n#include S(" + path + ")";
      case 3: return "#define S(a) #a\n#define T(a) S(a)\n#include T(" + path + ")";
      case 4: return "#define L <\n#include L" + path + ">";
      case 5:
        return "#define P(a, b) a##b\n#undef NAME\n#define NAME \"" + path +
               "\"\n#include P(NA, ME)";
      case 6: return "#define F() <" + path + ">\n#include F()";
      case 7: return "#define F() \"" + path + "\"\n#define E\n#include F E ()";
      case 8: return "#define S(a) #a\n#define T(a) S(a)\n#include T(x __ENDIAN_LITTLE__.h)";
      case 9: return chance(30) ? "#include NAME" : "#include \"" + path + "\"";
      case 10:
        return "#define N1 \"" + path + "\"\n#define N0 N1\n#undef N1\n#define N1 \"" +
               some_path() + "\"\n#include N0";
      default: return "#ifndef NAME\n#define NAME \"" + path + "\"\n#endif\n#include NAME";
    }
  }

  // ---- Lines.

  std::string statement() { return "r = r * 31 + " + number() + ";"; }

  std::string use() {
    const std::size_t kind = below(12);
    const bool fits = kind < 5                              ? has_theme(kPlaces)
                      : kind == 7 || kind == 8 || kind == 9 ? has_theme(kTime)
                                                            : kind < 10 || has_theme(kPlaces);
    switch (fits ? kind : 12) {
      case 0: return "r += sizeof(__FILE__);";
      case 1: return "r += __INCLUDE_LEVEL__;";
      case 2: return "r += sizeof(__BASE_FILE__);";
      case 3: return "r += __builtin_FILE()[0];";
      case 4: return "r += __builtin_LINE();";
      case 5: return "r = r * 3 + __COUNTER__;";
      case 6: return "#ifdef VALUE\nr = r * 7 + VALUE + 0;\n#endif";
      case 7: return "r += sizeof(" + pick({"__TIME__", "__DATE__", "__TIMESTAMP__"}) + ");";
      case 8:
        return "#define P(a, b) a##b\nr += sizeof(" +
               pick({"P(__TI, ME__)", "P(__DA, TE__)", "P(__FI, LE__)"}) + ");";
      case 9:
        return "r += sizeof(" + pick({"__TI\\\nME__", "__TI\?\?/\nME__", "__FI\\ \nLE__"}) + ");";
      case 10: return "#line " + number() + (chance(50) ? "" : " \"f.h\"") + "\nr += __LINE__;";
      case 11: return "# " + number() + " \"f.h\"" + (chance(50) ? "" : " 1") + "\nr += __LINE__;";
      default: return "r = r * 5 + __LINE__;";
    }
  }

  std::string definition() {
    const std::string macro = pick(kMacros);
    switch (has_theme(kExpansions) ? below(10) : chance(10) ? 0 : 9) {
      case 0: return "#undef " + macro;
      case 1: return "#pragma push_macro(\"" + macro + "\")";
      case 2: return "#pragma pop_macro(\"" + macro + "\")";
      case 3: return "_Pragma(\"" + pick({"push", "pop"}) + "_macro(\\\"" + macro + "\\\")\")";
      case 4: return "#undef " + macro + "\n#define " + macro + " " + number() + " /* \n */";
      default: return "#undef " + macro + "\n#define " + macro + " " + number();
    }
  }

  // Spellings after which a reader and a compiler may go on in different states.
  std::string oddity() {
    const std::string end = statement();
    return spelled(
        end,
        {{kComments, "#warning see src/*.cl"},
         {kComments, "#warning don't"},
         {kComments, "#if 0\ndon't /* \"\n*/\n#endif"},
         {kComments, "#if 0\n#error src/*.cl\n#endif\n/**/"},
         {kComments, "#define Q /* open\n" + include_line() + "\n*/"},
         {kComments, "/* /* */ " + end},
         {kComments, "/*/ */ " + end},
         {kComments, "#pragma message(\"/*\")"},
         {kComments, "#pragma x /*\n*/"},
         {kComments, "#ident \"/*\""},
         {kComments, "#pragma GCC warning \"/*\""},
         {kSplices, "// art: \\"},
         {kSplices, "// art: \\ "},
         {kSplices, "// art: \\\t"},
         {kSplices, "/* *\\\n/ " + end},
         {kSplices, "/\\\n* " + end + "\n*/"},
         {kSplices, "/\\\n/ " + end},
         {kDigraphs, "// art: \?\?/"},
         {kDigraphs, "r += sizeof(\"\?\?/\"/*\");"},
         {kLiterals, "r += sizeof(\"/*\");"},
         {kLiterals, "r += sizeof(\"//\");"},
         {kLiterals, "r += '\"';"},
         {kLiterals, "r += sizeof(\"\\\"/*\");"},
         {kLiterals, "r += sizeof(\"\\\\\"); // \""},
         {kLiterals, "r += sizeof(R\"(/*)\");"},
         {kLiterals, "r += sizeof(R\"x(\n" + include_line() + "\n)x\");"},
         {kLiterals, "#define Q '\n" + end},
         {kLiterals, "#define Q \"\n" + end},
         {kLiterals, "#define Q R\"(\n" + include_line() + "\n#define Q2 )\""},
         {kLiterals, "r += 1'0; // '\n"},
         {kLiterals, "#if 'x' == '/*'\n#endif\n" + end},
         {kLiterals, "#if 0\ndon't \"x\n#endif"},
         {kExpansions, "#define I include\n# I \"x.h\""},
         {kExpansions, "#define E\nE " + include_line()},
         {kExpansions, "#define include " + end + "\ninclude"},
         {kSearch, "#if __has_include(" + operand() + ")\n" + end + "\n#endif"},
         {kSearch, "#define H __has_include\n#if H(" + operand() + ")\n" + end + "\n#endif"},
         {kSearch,
          "#define P(a, b) a##b\n#if P(__has_in, clude)(" + operand() + ")\n" + end + "\n#endif"},
         {kSearch, "#ifdef __has_include\n" + end + "\n#endif"},
         {kSearch, "#pragma " + pick({"GCC system_header", "clang system_header",
                                      "GCC dependency \"x.h\"", "include_alias(\"x.h\", \"y.h\")",
                                      "unroll 4", "OPENCL EXTENSION all : disable"})}},
        80);
  }

  std::string condition() {
    const std::string macro = pick(kMacros);
    switch (below(14)) {
      case 0:
      case 1: return "#if 0";
      case 2: return "#if 1";
      case 3:
      case 4: return "#ifdef " + macro;
      case 5:
      case 6: return "#ifndef " + macro;
      case 7: return "#if defined " + macro;
      case 8: return "#if !defined(" + macro + ")";
      case 9: return "#if " + macro + " > 1";
      case 10: return "#if defined(" + macro + ") && \\\n  " + macro;
      case 11: return hash() + "if" + spelled(" ", {{kComments, "/**/"}}) + "0";
      case 12: return "#if __OPENCL_VERSION__ >= 120";
      default:
        return spelled("#if 0", {{kComments, "#if 0 // \\"},
                                 {kSplices,
                                  "#i\
f 0"}});
    }
  }

  std::string block(std::size_t depth) {
    std::string text = condition() + "\n";
    const auto items = [&] {
      for (std::size_t i = 1 + below(2); i > 0; --i) text += item(depth + 1) + "\n";
    };
    items();
    if (chance(40)) {
      text +=
          pick({"#else", "#else", "#elif 1", "#elif defined A", "#elifdef B", "#else junk"}) + "\n";
      items();
    }
    return text + spelled("#endif", {{kComments, "# endif /*\n*/"},
                                     {kComments, "#endif // \\"},
                                     {kDigraphs, "%:endif"},
                                     {kConditions, "#endif G0"},
                                     {kSplices, "#end\\\nif"}});
  }

  std::string item(std::size_t depth) {
    const std::size_t kind = below(100);
    if (kind < 22) return statement();
    if (kind < 30) return use();
    if (kind < 38) return definition();
    if (kind < 62) return include_line();
    if (kind < 76 && depth < 3) return block(depth);
    if (kind < 77 && has_theme(kExpansions)) return bomb();
    if (kind < 80 && has_theme(kConditions)) {
      return pick({"#endif", "#else", "#if 1", "#if 0", "#elif 1"});
    }
    if (kind < 82 && has_theme(kOnce)) return once();
    if (kind < 84 && has_theme(kGuards) && !in_source_) return own_inclusion();
    if (kind < 92) return oddity();
    return statement();
  }

  // A file that includes itself once.
  std::string own_inclusion() {
    const std::string macro = "AGAIN_" + std::to_string(from_);
    const std::string &path = case_.files[from_].path;
    return "#undef GUARD_" + std::to_string(from_) + "\n#ifndef " + macro + "\n#define " + macro +
           "\n#include \"" + path.substr(path.rfind('/') + 1) + "\"\n#endif";
  }

  // Macros that double, which no compiler expands here.
  std::string bomb() {
    std::string text = "#if 0\n";
    const std::size_t levels = 3 + below(chance(3) ? 40 : 6);
    for (std::size_t i = 0; i < levels; ++i) {
      const std::string next = "D" + std::to_string(i + 1);
      text += "#define D" + std::to_string(i) + " " + next + " " + next + "\n";
    }
    return text + "#include D0\n#endif";
  }

  std::string once() {
    return spelled("#pragma once", {{kOnce, "#pragma once x"},
                                    {kOnce, "_Pragma(\"once\")"},
                                    {kOnce, "#ifdef A\n#pragma once\n#endif"},
                                    {kOnce, "#if 0\n#pragma once\n#endif"},
                                    {kComments, "#pragma once // only"},
                                    {kComments, "#pragma once /*\n*/"},
                                    {kSplices, "#pragma\\\nonce"},
                                    {kSplices, "# pragma on\\\nce"},
                                    {kExpansions, "#define ONCE once\n#pragma ONCE"},
                                    {kDigraphs, "%:pragma once"}});
  }

  std::string body(std::size_t items) {
    std::string text;
    for (std::size_t i = 0; i < items; ++i) text += item(0) + "\n";
    return text;
  }

  std::string odd_guard(const std::string &guard, const std::string &text) {
    const std::string begin = "#ifndef " + guard + "\n", define = "#define " + guard + "\n",
                      end = "#endif\n";
    switch (below(9)) {
      case 0: return begin + "#define OTHER\n" + text + end;
      case 1: return "#if !defined(" + guard + ")\n" + define + text + end;
      case 2: return begin + define + text + end + statement() + "\n";
      case 3: return statement() + "\n" + begin + define + text + end;
      case 4: return begin + define + text + "#undef " + guard + "\n" + end;
      case 5: return begin + define + text + "#else\n" + statement() + "\n" + end;
      case 6: return begin + text + define + end;
      case 7: return begin + define + end + begin + text + end;
      default: return "#ifdef " + guard + "\n" + text + end + define;
    }
  }

  std::string header_text() {
    if (chance(3)) return "";
    std::string text = body(1 + below(4));
    const std::string guard =
        has_theme(kGuards) && chance(50) ? pick({"G0", "G1"}) : "GUARD_" + std::to_string(from_);
    const std::string begin = "#ifndef " + guard + "\n", define = "#define " + guard + "\n",
                      end = "#endif\n";
    const std::size_t kind = below(10);
    if (kind < 4)
      return finished(has_theme(kGuards) && chance(50) ? odd_guard(guard, text)
                                                       : begin + define + text + end);
    if (kind < 7) return finished(once() + "\n" + text);
    if (kind < 8 && has_theme(kOnce)) return finished(begin + define + once() + "\n" + text + end);
    return finished(text);
  }

  std::string source_text() {
    std::string text = body(1 + below(5));
    for (std::size_t i = 1 + below(4); i > 0; --i) text += include_line() + "\n";
    if (chance(60)) text += chance(80) ? statement() + "\n" : "r += __LINE__;\n";
    if (compiles_ || chance(30)) {
      text =
          "kernel void k(global int *out) {\nint r = 1;\n" + finished(text) + "\nout[0] = r;\n}\n";
      return text;
    }
    return finished(text);
  }

  // ---- Bytes.

  static void replace_all(std::string &text, std::string_view old, std::string_view with) {
    for (std::size_t at = 0; (at = text.find(old, at)) != std::string::npos; at += with.size()) {
      text.replace(at, old.size(), with);
    }
  }

  std::string finished(std::string text) {
    if (has_theme(kMutations) && chance(50)) {
      for (std::size_t i = 1 + below(3); i > 0; --i) mutate(text);
    }
    switch (has_theme(kBytes) ? below(14) : 30) {
      case 0:
      case 1: replace_all(text, "\n", "\r\n"); break;
      case 2: replace_all(text, "\n", "\r"); break;
      case 3: text.insert(0, "\xef\xbb\xbf"); break;
      case 4:
        if (!text.empty()) text.pop_back();
        break;
      case 5: text += "\\"; break;
      case 6: text.insert(0, "\n\f"); break;
      default: break;
    }
    return text;
  }

  void mutate(std::string &text) {
    static const Texts pieces = {"#",
                                 "##",
                                 "/*",
                                 "*/",
                                 "//",
                                 "\"",
                                 "'",
                                 "\\\n",
                                 "\\ \n",
                                 "\\\r\n",
                                 "\\\r",
                                 "\?\?/",
                                 "\?\?/\n",
                                 "\?\?=",
                                 "%:",
                                 "%:%:",
                                 "\r",
                                 "\0"s,
                                 "\f",
                                 "\v",
                                 "\xef\xbb\xbf",
                                 "\n",
                                 "\n#if 0\n",
                                 "\n#endif\n",
                                 "\n#else\n",
                                 "\n#if 1\n",
                                 "_Pragma(\"once\")",
                                 "R\"(",
                                 ")\"",
                                 "u8\"",
                                 "L'",
                                 "<",
                                 ">",
                                 "(",
                                 ")",
                                 ",",
                                 "include",
                                 "defined",
                                 "__has_include",
                                 "__TIME__",
                                 "__FILE__",
                                 "__COUNTER__",
                                 "__LINE__",
                                 "\\u0041",
                                 "$",
                                 "1'0",
                                 "__VA_ARGS__",
                                 "__VA_OPT__",
                                 " ",
                                 "\t",
                                 "\\",
                                 "\n#include \"x.h\"\n",
                                 "A",
                                 "G0",
                                 "NAME",
                                 "once",
                                 "pragma",
                                 "\x1a",
                                 "\x80",
                                 "\xc3\xa9",
                                 "<:",
                                 ":>",
                                 "`",
                                 "@"};
    const std::size_t at = below(text.size() + 1);
    const std::size_t rest = text.size() - at;
    switch (below(6)) {
      case 0:
      case 1:
      case 2: text.insert(at, pick(pieces)); break;
      case 3: text.erase(at, std::min<std::size_t>(rest, 1 + below(3))); break;
      case 4: {  // a line again, elsewhere
        const std::size_t end = std::min(text.find('\n', at), text.size());
        text.insert(below(text.size() + 1), text.substr(at, end - at) + "\n");
        break;
      }
      default:  // a line end of another kind
        if (const std::size_t end = text.find('\n', at); end != std::string::npos) {
          text.replace(end, 1, pick({"\r", "\r\n", "\\\n", "\\ \n", "\n\r", " ", "\?\?/\n", ""}));
        }
    }
  }

  // ---- The edit.

  std::string other_text(const std::string &text) {
    std::string other = text;
    const std::size_t at = other.find_first_of("0123456789", below(other.size() + 1));
    if (at != std::string::npos && chance(60)) {
      other[at] = other[at] == '7' ? '3' : '7';
      return other;
    }
    switch (below(4)) {
      case 0: return other + statement() + "\n";
      case 1: return statement() + "\n" + other;
      case 2: return "";
      default: mutate(other); return other;
    }
  }

  void make_edit() {
    const std::size_t steps = chance(85) ? 1 : 2;
    for (std::size_t i = 0; i < steps; ++i) {
      const Entry entry = random_.pick(case_.files);
      const bool folder = entry.kind == Kind::symbolic_link && !entry.path.ends_with(".h");
      const std::size_t kind = below(100);
      if (folder) {
        const std::size_t up =
            static_cast<std::size_t>(std::count(entry.path.begin(), entry.path.end(), '/'));
        std::string target = pick({"rel/5", "a/s", "a", "b", "rel/5/include", "include"});
        for (std::size_t j = 0; j < up; ++j) target.insert(0, "../");
        case_.edit.push_back({Kind::symbolic_link, entry.path, target});
      } else if (kind < 60 && entry.kind == Kind::file) {
        case_.edit.push_back({Kind::file, entry.path, other_text(entry.text)});
      } else if (kind < 66) {
        case_.edit.push_back({Kind::removed, entry.path, ""});
      } else if (kind < 70) {
        case_.edit.push_back({Kind::removed, entry.path, ""});
        case_.edit.push_back({Kind::file, entry.path, statement() + "\n"});
      } else if (kind < 76) {
        case_.edit.push_back({Kind::hard_link, entry.path, random_.pick(case_.files).path});
      } else {  // a file that is found earlier, or at last
        const std::string name =
            chance(70) ? entry.path.substr(entry.path.rfind('/') + 1) : some_name();
        const std::string folder_of_new = chance(50) ? pick(kFolders) : pick(folders_of_files());
        case_.edit.push_back({Kind::file, join(folder_of_new, name), statement() + "\n"});
      }
    }
  }

  Random random_;
  bool compiles_;
  unsigned themes_ = 0;  // a bit for each Theme
  bool in_source_ = false;
  std::size_t from_ = 0;  // the file whose text is made
  Texts searched_;
  Case case_;
};

}  // namespace

Case odd_case(std::uint64_t seed, bool compiles) { return OddCase(seed, compiles).make(); }

}  // namespace kiln::cases
