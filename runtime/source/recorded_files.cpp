// SPDX-License-Identifier: Apache-2.0
// Writes and reads blocks of bytes, each after a line with its word and its size.
#include "runtime/source/recorded_files.hpp"

#include <charconv>

#include "kiln/packs/bytes.hpp"
#include "kiln/packs/text.hpp"

namespace kiln::source {
namespace {

constexpr std::string_view kFirstLine = "kiln files 1\n";

void append(std::string_view word, std::string_view bytes, std::string *to) {
  *to += packs::concat({word, " ", packs::decimal(bytes.size()), "\n", bytes, "\n"});
}

// Takes a block off the front; returns false if the block has another word.
bool take(std::string_view word, std::string_view *from, std::string *bytes) {
  std::string_view text = *from;
  const std::string head = packs::concat({word, " "});
  if (!text.starts_with(head)) return false;
  std::size_t size = 0;
  const char *const last = text.data() + text.size();
  const auto number = std::from_chars(text.data() + head.size(), last, size);
  if (number.ec != std::errc() || number.ptr == last || *number.ptr != '\n') return false;
  text.remove_prefix(static_cast<std::size_t>(number.ptr - text.data()) + 1);
  if (size >= text.size() || text[size] != '\n') return false;
  *bytes = text.substr(0, size);
  *from = text.substr(size + 1);
  return true;
}

}  // namespace

std::string recorded_files_name(const WholeProgram &program) {
  std::string text;
  append("source", program.own_source, &text);
  for (const IncludedFile &file : program.files) {
    std::size_t first = 0;  // the first path that leads to this file
    while (program.files[first].identity != file.identity) ++first;
    append(packs::decimal(first), file.text, &text);
  }
  const std::string digits = packs::hex64(packs::xxh3(text));
  return packs::concat({program.name, "-", digits, kRecordedFiles});
}

std::string recorded_files(const WholeProgram &program) {
  std::string text(kFirstLine);
  append("options", program.own_options, &text);
  append("folder", program.folder, &text);
  append("source", program.own_source, &text);
  for (const IncludedFile &file : program.files) {
    append("path", file.path, &text);
    append("identity", file.identity, &text);
    append("text", file.text, &text);
  }
  append("end", "", &text);
  return text;
}

packs::Status read_recorded_files(std::string_view bytes, WholeProgram *program) {
  bool whole = bytes.starts_with(kFirstLine);
  if (whole) bytes.remove_prefix(kFirstLine.size());
  whole = whole && take("options", &bytes, &program->own_options) &&
          take("folder", &bytes, &program->folder) && take("source", &bytes, &program->own_source);
  program->files.clear();
  while (whole && bytes.starts_with("path ")) {
    IncludedFile &file = program->files.emplace_back();
    whole = take("path", &bytes, &file.path) && take("identity", &bytes, &file.identity) &&
            take("text", &bytes, &file.text);
  }
  std::string end;
  if (whole && take("end", &bytes, &end) && bytes.empty()) return {};
  return packs::Status::error(Code::bad_input, "damaged: it is not a file of recorded includes");
}

}  // namespace kiln::source
