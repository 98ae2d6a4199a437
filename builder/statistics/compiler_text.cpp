// SPDX-License-Identifier: Apache-2.0
// Reads the texts of compilers line by line.
#include "builder/statistics/compiler_text.hpp"

#include <charconv>
#include <optional>

namespace kiln::builder {
namespace {

using packs::StatisticName;

// Removes the first line from `*text` and returns it.
std::string_view next_line(std::string_view *text) {
  const std::string_view line = text->substr(0, text->find('\n'));
  text->remove_prefix(std::min(line.size() + 1, text->size()));
  return line;
}

// Returns the number that `text` begins with, and removes it.
std::optional<std::uint64_t> take_number(std::string_view *text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc()) return std::nullopt;
  text->remove_prefix(static_cast<std::size_t>(end - text->data()));
  return number;
}

// Returns the number behind `name` at the beginning of the line.
std::optional<std::uint64_t> number_behind(std::string_view line, std::string_view name) {
  if (!line.starts_with(name)) return std::nullopt;
  line.remove_prefix(name.size());
  return take_number(&line);
}

// Returns the number before `words`, which may stand anywhere in the line.
std::optional<std::uint64_t> number_before(std::string_view line, std::string_view words) {
  const std::size_t end = line.find(words);
  if (end == line.npos) return std::nullopt;
  std::size_t start = end;
  while (start > 0 && line[start - 1] >= '0' && line[start - 1] <= '9') --start;
  line = line.substr(start, end - start);
  return take_number(&line);
}

// Reads what three compilers of Mesa print. Those of freedreno and radeonsi print a kernel as Mesa
// gives it to them, with its name, then its code, then the figures; panfrost's only the figures.
class MesaText {
 public:
  void read(std::string_view line) {
    constexpr std::string_view kLog = "MESA: info: ";
    if (line.starts_with(kLog)) line.remove_prefix(kLog.size());
    if (read_name(line)) return;
    if (line.starts_with("stp.") || line.starts_with("ldp.")) ++private_accesses_;
    if (line.starts_with("; CL prog ")) return read_freedreno(line);
    if (line.starts_with("SHADER-DB: ")) return read_panfrost(line);
    if (line.starts_with("***")) {
      in_radeonsi_ = line == "*** SHADER STATS ***";
      spilled_scalars_.reset();
    }
    if (in_radeonsi_) read_radeonsi(line);
  }

  Figures take() { return std::move(figures_); }

 private:
  // "decl_function __wrapped_blur () (entrypoint)"
  bool read_name(std::string_view line) {
    constexpr std::string_view kBegin = "decl_function ", kWrapped = "__wrapped_";
    if (!line.starts_with(kBegin) || line.find("(entrypoint)") == line.npos) return false;
    line.remove_prefix(kBegin.size());
    if (line.starts_with(kWrapped)) line.remove_prefix(kWrapped.size());
    kernel_ = line.substr(0, line.find(' '));
    private_accesses_ = 0;
    return true;
  }

  // "; CL prog 17/1: 0 last-baryf, 0 last-helper, 0 half, 2 full, 12 constlen"
  void read_freedreno(std::string_view line) {
    constexpr std::pair<std::string_view, StatisticName> kNames[] = {
        {"instr", StatisticName::instructions},
        {"full", StatisticName::registers},
        {"max_waves", StatisticName::waves},
        {"dwords", StatisticName::code_bytes}};
    for (std::size_t at = line.find(": "); at != line.npos; at = line.find(", ")) {
      line.remove_prefix(at + 2);
      const auto number = take_number(&line);
      if (!number || line.empty()) continue;
      const std::string_view word = line.substr(1, line.find(',') - 1);
      for (const auto &[known, name] : kNames) {
        if (word == known) add(name, *number * (name == StatisticName::code_bytes ? 4 : 1));
      }
      if (word == "instr") add(StatisticName::spills, private_accesses_);
    }
  }

  // "SHADER-DB: MESA_SHADER_KERNEL shader: 134 inst, 0.9 sfu, 72 quadwords, 2:1 spills:fills"
  void read_panfrost(std::string_view line) {
    if (line.find("MESA_SHADER_KERNEL") == line.npos) return;
    const auto instructions = number_before(line, " inst,");
    if (instructions) figures_.push_back({{}, StatisticName::instructions, *instructions});
    const auto quadwords = number_before(line, " quadwords,");
    if (quadwords) figures_.push_back({{}, StatisticName::code_bytes, *quadwords * 16});
    line.remove_prefix(line.rfind(' ', line.find(" spills:fills") - 1) + 1);
    const auto spilled = take_number(&line);
    if (!spilled || !line.starts_with(':')) return;
    line.remove_prefix(1);
    const auto filled = take_number(&line);
    if (filled) figures_.push_back({{}, StatisticName::spills, *spilled + *filled});
  }

  // "VGPRS: 8"
  void read_radeonsi(std::string_view line) {
    constexpr std::pair<std::string_view, StatisticName> kNames[] = {
        {"VGPRS: ", StatisticName::registers},
        {"Code Size: ", StatisticName::code_bytes},
        {"LDS: ", StatisticName::local_bytes},
        {"Scratch: ", StatisticName::scratch_bytes},
        {"Max Waves: ", StatisticName::waves}};
    for (const auto &[known, name] : kNames) {
      if (const auto number = number_behind(line, known)) add(name, *number);
    }
    if (const auto number = number_behind(line, "Spilled SGPRs: ")) spilled_scalars_ = number;
    const auto number = number_behind(line, "Spilled VGPRs: ");
    if (number && spilled_scalars_) add(StatisticName::spills, *number + *spilled_scalars_);
  }

  void add(StatisticName name, std::uint64_t value) {
    if (!kernel_.empty()) figures_.push_back({std::string(kernel_), name, value});
  }

  Figures figures_;
  std::string_view kernel_;
  std::uint64_t private_accesses_ = 0;
  bool in_radeonsi_ = false;
  std::optional<std::uint64_t> spilled_scalars_;
};

}  // namespace

Figures figures_in_mesa_text(std::string_view text) {
  MesaText reader;
  while (!text.empty()) reader.read(next_line(&text));
  return reader.take();
}

// "Compiling entry function 'blur' for 'sm_90'", then
// "    0 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads", then
// "Used 24 registers, used 1 barriers, 256 bytes smem".
Figures figures_in_ptxas_text(std::string_view text) {
  constexpr std::string_view kCompiling = "Compiling entry function '";
  Figures figures;
  std::string kernel;
  const auto add = [&](StatisticName name, std::optional<std::uint64_t> value) {
    if (value && !kernel.empty()) figures.push_back({kernel, name, *value});
  };
  while (!text.empty()) {
    const std::string_view line = next_line(&text);
    if (const std::size_t at = line.find(kCompiling); at != line.npos) {
      const std::string_view name = line.substr(at + kCompiling.size());
      kernel = name.substr(0, name.find('\''));
    }
    add(StatisticName::scratch_bytes, number_before(line, " bytes stack frame"));
    const auto stored = number_before(line, " bytes spill stores");
    const auto loaded = number_before(line, " bytes spill loads");
    if (stored && loaded) add(StatisticName::spills, *stored + *loaded);
    const auto registers = number_before(line, " registers, ");
    add(StatisticName::registers, registers);
    if (registers) {
      add(StatisticName::local_bytes, number_before(line, " bytes smem").value_or(0));
      kernel.clear();  // what follows is about functions that it calls
    }
  }
  return figures;
}

const std::vector<std::pair<const char *, const char *>> &mesa_print_variables() {
  static const std::vector<std::pair<const char *, const char *>> variables = {
      {"AMD_DEBUG", "cs,initnir,asm,stats"},  // no stats without asm
      {"BIFROST_MESA_DEBUG", "shaderdb"},
      {"IR3_SHADER_DEBUG", "cs,nocache"},
      {"FD_MESA_DEBUG", "serialc"}};
  return variables;
}

}  // namespace kiln::builder
