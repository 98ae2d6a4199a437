// SPDX-License-Identifier: Apache-2.0
// Programs as people write them: a few headers with guards, settings by options, one or two
// kernels.
#include <algorithm>

#include "tests/source/case.hpp"
#include "tests/source/random.hpp"

namespace kiln::cases {
namespace {

using Texts = std::vector<std::string>;

const Texts kStems = {"common", "types", "math_utils", "config", "reduce", "image"};
const Texts kSettings = {"TILE", "RADIUS", "USE_HALF", "CHANNELS"};

class PlainCase {
 public:
  explicit PlainCase(std::uint64_t seed) : random_(seed ^ 0x706c6e) { case_.seed = seed; }

  Case make() {
    folder_ = pick({"", "include", "kernels", "src/cl", "third_party/lib/include"});
    crlf_ = chance(8);
    pragma_ = chance(35);
    const std::size_t headers = 1 + below(4);
    for (std::size_t i = 0; i < headers; ++i) {
      const std::string sub = i > 0 && chance(30) ? pick({"detail", "core"}) : "";
      paths_.push_back((folder_.empty() ? "" : folder_ + "/") + (sub.empty() ? "" : sub + "/") +
                       kStems[i] + pick({".h", ".h", ".clh", ".cl"}));
    }
    for (std::size_t i = 0; i < headers; ++i) {
      case_.files.push_back({Kind::file, paths_[i], finished(header(i))});
    }
    if (chance(10)) {  // a release that a link names
      case_.files.push_back({Kind::symbolic_link, "current", folder_.empty() ? "." : folder_});
      folder_option_ = "current";
    }
    case_.source = finished(source());
    options();
    edit();
    return std::move(case_);
  }

 private:
  bool chance(std::size_t percent) { return random_.chance(percent); }
  std::size_t below(std::size_t limit) { return random_.below(limit); }
  std::string pick(const Texts &texts) { return random_.pick(texts); }
  std::string number() { return std::to_string(1 + below(64)); }

  std::string finished(const std::string &text) const {
    if (!crlf_) return text;
    std::string lines;
    for (const char c : text) {
      if (c == '\n') lines += '\r';
      lines += c;
    }
    return lines;
  }

  // How a header is named where the folder of -I is searched, or beside a file in `from`.
  std::string name_of(std::size_t header) const {
    return folder_.empty() ? paths_[header] : paths_[header].substr(folder_.size() + 1);
  }

  std::string include(std::size_t header, const std::string &from) {
    std::string name = name_of(header);
    const std::size_t slash = from.rfind('/');
    const std::string folder = slash == std::string::npos ? "" : from.substr(0, slash + 1);
    bool quotes = chance(80);
    if (!folder.empty() && quotes && chance(60)) {
      name = name.starts_with(folder) ? name.substr(folder.size()) : "../" + name;
    }
    const std::string text = "#include " + (quotes ? "\"" + name + "\"" : "<" + name + ">");
    return text + (chance(12)
                       ? pick({"  // for " + kStems[header], " /* " + kStems[header] + " */"})
                       : "");
  }

  std::string licence() {
    switch (below(4)) {
      case 0:
        return "/*\n * Copyright (c) 2019 The Authors. Don't remove this notice.\n *\n * Licensed "
               "under the terms in \"LICENSE\".\n */\n";
      case 1: return "// Copyright 2021 The Authors; see https://example.org/licence/*.txt\n";
      default: return "";
    }
  }

  std::string lines(const std::string &prefix, std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) text += line(prefix + std::to_string(i)) + "\n";
    return text;
  }

  std::string line(const std::string &name) {
    switch (below(15)) {
      case 0:
      case 1: return "#define " + name + "_SIZE " + number();
      case 2: return "#define " + name + "_AT(x, y) ((x) * " + number() + " + (y))";
      case 3:
        return "#define " + name + "_LOOP(n) \\\n  for (int i = 0; i < (n); ++i) \\\n    sum += i;";
      case 4: return "#define " + name + "_NAME(a, b) a##_##b";
      case 5:
        return "typedef struct {\n  float4 lo, hi;  // the box's corners\n} " + name + "_box;";
      case 6:
        return "static inline float " + name +
               "_mix(float a, float b) {\n  return a * 0.5f + b * " + number() +
               ".0f; /* halves */\n}";
      case 7: {
        const std::string setting = pick(kSettings);
        return "#ifndef " + setting + "\n#define " + setting + " " + number() + "\n#endif";
      }
      case 8:
        return "#ifdef USE_HALF\n#pragma OPENCL EXTENSION cl_khr_fp16 : enable\ntypedef half " +
               name + "_real;\n#else\ntypedef float " + name + "_real;\n#endif";
      case 9:
        return "#if defined(TILE) && TILE > " + number() + "\nconstant int " + name +
               "_limit = " + number() + ";\n#elif defined(RADIUS)\nconstant int " + name +
               "_limit = RADIUS;\n#else\nconstant int " + name +
               "_limit = 1; // it's enough\n#endif";
      case 10: return "constant int " + name + "[] = {" + number() + ", " + number() + "};";
      case 11: return "#if __OPENCL_VERSION__ < 100\n#error \"OpenCL 1.0 is needed\"\n#endif";
      case 12: return "constant char " + name + "_text[] = \"a \\\"quoted\\\" text: 50%\";";
      case 13: return "// Don't change: \"" + name + "\" is used by the host, too.";
      default: return "constant int " + name + "_c = 'x' + " + number() + ";";
    }
  }

  std::string header(std::size_t at) {
    std::string text = lines("H" + std::to_string(at) + "_", 1 + below(5));
    for (std::size_t i = paths_.size(); i-- > at + 1;) {
      const std::string from = name_of(at);
      if (chance(40)) text.insert(0, include(i, from) + "\n");
    }
    // A value that the kernel returns.
    text += "#define VALUE_" + std::to_string(at) + " " + number() + "\n";
    const std::string guard = kStems[at] + "_H";
    if (pragma_) return licence() + "#pragma once\n\n" + text;
    return licence() + "#ifndef " + guard + "\n#define " + guard + "\n\n" + text + "\n#endif" +
           pick({"", "  // " + guard, " /* " + guard + " */"}) + "\n";
  }

  std::string source() {
    std::string text = licence(), sum = "0";
    for (std::size_t i = 0; i < paths_.size(); ++i) {
      const std::string here = include(i, "");
      text += i > 0 && chance(15) ? "#ifdef " + pick(kSettings) + "\n" + here + "\n#endif\n"
                                  : here + "\n";
    }
    text += "\n" + lines("K_", below(4));
    for (std::size_t i = 0; i < paths_.size(); ++i) {
      const std::string value = "VALUE_" + std::to_string(i);
      text += "#ifndef " + value + "\n#define " + value + " 0\n#endif\n";
      sum += " * 67 + " + value;
    }
    text += "kernel void k(global int *out) {\n";
    if (chance(40))
      text += "#pragma unroll\n  for (int i = 0; i < 4; ++i) out[0] += i; /* warm */\n";
    if (chance(15)) text += "  // line " + std::string("\n  out[0] = __LINE__;\n");
    return text + "  out[0] = " + sum + ";\n}\n";
  }

  void options() {
    Texts &options = case_.options;
    if (chance(25)) options.push_back(pick({"-cl-std=CL1.2", "-cl-std=CL2.0"}));
    if (folder_option_.empty()) folder_option_ = folder_.empty() ? "." : folder_;
    if (chance(30)) folder_option_ = std::string(kHere) + "/" + folder_option_;
    options.push_back((chance(60) ? "-I" : "-I ") + folder_option_);
    if (chance(30))
      options.push_back("-I" + std::string(chance(50) ? "." : "/nonexistent/include"));
    for (const std::string &setting : kSettings) {
      if (chance(20))
        options.push_back((chance(80) ? "-D" : "-D ") + setting +
                          (chance(30) ? "" : "=" + number()));
    }
    if (chance(25))
      options.push_back(pick({"-cl-fast-relaxed-math", "-cl-mad-enable", "-w", "-Werror"}));
  }

  void edit() {
    const Entry header = case_.files[below(paths_.size())];
    if (chance(10)) {
      case_.edit.push_back({Kind::file, kStems[0] + ".h", header.text});
      return;
    }
    std::string text = header.text;
    const std::size_t at = text.rfind(" VALUE_");
    const std::size_t digits = at + sizeof(" VALUE_0");
    text.replace(digits, 1, text[digits] == '9' ? "8" : "9");
    case_.edit.push_back({Kind::file, header.path, text});
  }

  Random random_;
  std::string folder_, folder_option_;
  bool crlf_ = false, pragma_ = false;
  Texts paths_;
  Case case_;
};

}  // namespace

Case plain_case(std::uint64_t seed) { return PlainCase(seed).make(); }

Sort sort_of(std::uint64_t seed) {
  constexpr Sort kSorts[] = {Sort::plain, Sort::odd, Sort::wild, Sort::plain, Sort::wild};
  return kSorts[seed % 5];
}

Case case_of(std::uint64_t seed) {
  switch (sort_of(seed)) {
    case Sort::plain: return plain_case(seed);
    case Sort::odd: return odd_case(seed, false);
    default: return wild_case(seed, "");
  }
}

std::string options_of(const Case &example) {
  std::string options;
  for (const std::string &option : example.options) {
    if (!options.empty()) options += ' ';
    options += option;
  }
  return options;
}

}  // namespace kiln::cases
