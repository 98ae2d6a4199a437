// SPDX-License-Identifier: Apache-2.0
// Escapes texts code point by code point.
#include "builder/inspect/printable.hpp"

#include <fmt/format.h>

#include "runtime/text/json.hpp"

namespace kiln::builder {
namespace {

std::uint32_t code_point(std::string_view sequence) {
  const auto first = static_cast<unsigned char>(sequence[0]);
  std::uint32_t value = sequence.size() == 1 ? first : first & (0x7fu >> sequence.size());
  for (const char next : sequence.substr(1)) {
    value = value << 6u | (static_cast<unsigned char>(next) & 0x3fu);
  }
  return value;
}

// Whether `c` is a control character, ends a line, or sets the direction of text.
bool is_unseen(std::uint32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f ||
         (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

std::string escaped(std::string_view text, std::string_view allowed) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = runtime::utf8_length(text);
    const std::string_view sequence = text.substr(0, length == 0 ? 1 : length);
    const std::uint32_t c =
        length == 0 ? static_cast<unsigned char>(text[0]) : code_point(sequence);
    if (length > 0 && (!is_unseen(c) || allowed.find(text[0]) != std::string_view::npos)) {
      out += sequence;
    } else {
      out += length < 2 ? fmt::format("\\x{:02x}", c) : fmt::format("\\u{:04x}", c);
    }
    text.remove_prefix(sequence.size());
  }
  return out;
}

void escape(std::string *text) { *text = printable_line(*text); }

void escape(packs::Finish *finish) {
  for (std::string *text : {&finish->why_not, &finish->finisher, &finish->driver, &finish->proof,
                            &finish->unproven, &finish->made_from, &finish->proved_by}) {
    escape(text);
  }
}

void escape(packs::Variant *variant) {
  escape(&variant->name);
  escape(&variant->options);
  for (std::string &word : variant->requirements) escape(&word);
  for (packs::Kernel &kernel : variant->kernels) {
    escape(&kernel.name);
    for (packs::Parameter &parameter : kernel.parameters) {
      escape(&parameter.name);
      escape(&parameter.type);
    }
  }
}

void escape(packs::Target *target) {
  for (std::string *text : {&target->profile, &target->family, &target->model, &target->compiler}) {
    escape(text);
  }
  for (auto &[fact, value] : target->identity) escape(&value);
  for (auto *binaries : {&target->binaries, &target->intermediates}) {
    for (packs::Binary &binary : *binaries) escape(&binary.finish);
  }
}

}  // namespace

std::string printable(std::string_view text) { return escaped(text, "\n\t"); }

std::string printable_line(std::string_view text) { return escaped(text, ""); }

packs::Contents printable_contents(packs::Contents contents) {
  escape(&contents.producer);
  for (packs::Program &program : contents.programs) {
    escape(&program.name);
    for (packs::Variant &variant : program.variants) escape(&variant);
  }
  for (packs::Target &target : contents.targets) escape(&target);
  for (packs::Tuning &row : contents.tunings) {
    for (std::string *text : {&row.program, &row.variant, &row.kernel, &row.profile, &row.family,
                              &row.model, &row.conditions}) {
      escape(text);
    }
  }
  for (packs::KnownBad &note : contents.known_bad) {
    for (std::string &text : note.texts) escape(&text);
  }
  return contents;
}

}  // namespace kiln::builder
