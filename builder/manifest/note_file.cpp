// SPDX-License-Identifier: Apache-2.0
// Reads notes through TableReader.
#include "builder/manifest/note_file.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "builder/base/names.hpp"
#include "builder/base/whole_file.hpp"
#include "builder/manifest/toml_reader.hpp"
#include "runtime/load/rungs.hpp"

namespace kiln::builder {
namespace {

std::uint32_t read_rungs(const TableReader &table) {
  std::vector<std::string> words;
  for (const runtime::Rung &rung : runtime::rungs()) words.emplace_back(rung.name);
  std::uint32_t bits = 0;
  for (const Located<std::string> &word : table.strings("rungs")) {
    const auto *rung = std::find_if(runtime::rungs().begin(), runtime::rungs().end(),
                                    [&](const runtime::Rung &r) { return word.value == r.name; });
    if (rung == runtime::rungs().end()) {
      table.fail(word.at, fmt::format("unknown rung {}", in_quotes(word.value)),
                 expected_one_of(word.value, words));
    }
    bits |= 1u << rung->id;
  }
  return bits == 0 ? packs::kAllRungs : bits;
}

packs::KnownBad read_note(const TableReader &table) {
  std::vector<std::string> keys(std::begin(packs::kNoteTextNames), std::end(packs::kNoteTextNames));
  keys.emplace_back("rungs");
  table.allow_only(keys);
  packs::KnownBad note;
  for (std::size_t i = 0; i < packs::kNoteTexts; ++i) {
    if (auto text = table.string(keys[i])) note.texts[i] = std::move(text->value);
  }
  if (note.view()[packs::NoteText::reason].empty()) {
    table.missing("reason", "expected a sentence: what is wrong");
  }
  note.rungs = read_rungs(table);
  return note;
}

packs::Contents read_notes(const ManifestText &document, const toml::table &root) {
  const TableReader table(document, root, "the file");
  table.allow_only({"note", "version"});
  const auto version = table.integer("version", 1, 0xffffffff);
  if (!version) table.missing("version", "expected a number that rises with each change");
  packs::Contents contents;
  contents.known_bad_version = static_cast<std::uint32_t>(*version);
  constexpr char kTables[] = "tables [[note]]";
  const toml::array *notes = table.array("note", kTables);
  for (std::size_t i = 0; notes != nullptr && i < notes->size(); ++i) {
    const toml::table *note = notes->get(i)->as_table();
    if (note == nullptr) {
      table.fail(position_of(*notes->get(i)), "note is not a table",
                 fmt::format("expected {}", kTables));
    }
    contents.known_bad.push_back(read_note(TableReader(document, *note, "[[note]]")));
  }
  return contents;
}

}  // namespace

Result<packs::Contents> parse_known_bad(std::string_view text, const std::filesystem::path &path) {
  const ManifestText document{path.generic_string(), text, path.parent_path()};
  try {
    return read_notes(document, parse_toml(document));
  } catch (const ManifestFault &fault) {
    return Status(Code::bad_input, fault.text);
  }
}

Result<packs::Contents> read_known_bad(const std::filesystem::path &path) {
  const auto text = read_whole_file(path);
  if (!text) return Status(Code::bad_input, file_error(path.generic_string(), "cannot be read"));
  return parse_known_bad(*text, path);
}

}  // namespace kiln::builder
