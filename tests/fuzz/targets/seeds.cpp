// SPDX-License-Identifier: Apache-2.0
// kiln_fuzz_seeds FOLDER: first inputs whose formats no file of the tree has, and the bad packs.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "builder/fleet/delivery/published_folder.hpp"
#include "kiln/packs/bytes.hpp"
#include "kiln/packs/signatures.hpp"
#include "runtime/overlay/entry.hpp"
#include "runtime/overlay/journal.hpp"
#include "tests/packs/bad_packs.hpp"

using namespace kiln;
using namespace kiln::runtime;

namespace {

std::filesystem::path folder;

void seed(const std::string &target, const std::string &name, const std::string &bytes) {
  std::filesystem::create_directories(folder / target);
  std::ofstream(folder / target / name, std::ios::binary) << bytes;
}

std::string number(std::uint64_t value, unsigned bytes) {
  std::string text;
  for (unsigned i = 0; i < bytes; ++i) text.push_back(static_cast<char>(value >> (8 * i)));
  return text;
}

std::string text_of(const std::vector<std::uint8_t> &bytes) { return {bytes.begin(), bytes.end()}; }

void seed_overlay() {
  const std::string key = "profile=test\nmodel=A100\n";
  const std::string facts = "profile=test\nfamily=a\nfinal=yes\nprogram=blur\n";
  const std::string binary = "the binary";
  OverlayEntry entry;
  entry.key = key;
  entry.facts = facts;
  entry.binary = {reinterpret_cast<const std::uint8_t *>(binary.data()), binary.size()};
  entry.binary_xxh3 = packs::xxh3(binary.data(), binary.size());
  std::vector<std::uint8_t> header(kEntryHeaderSize);
  encode_entry_header(entry, header.data());
  seed("entry", "file", text_of(header) + key + facts + binary);
  seed("entry", "forged",
       number(key.size(), 1) + number(facts.size(), 1) + "\xff" + key + facts + binary);

  std::vector<std::uint8_t> journal(kJournalHeaderSize + 3 * kRecordSize);
  encode_journal_header("a device", journal.data());
  for (std::size_t i = 0; i < 3; ++i) {
    encode_record({i, static_cast<Event>(i + 1), KILN_RUNG_IL, 7},
                  journal.data() + kJournalHeaderSize + i * kRecordSize);
  }
  seed("journal", "file", text_of(journal));
}

void seed_mesa() {
  const std::string entry = std::string(40, 'a') + number(9, 4) + number(1, 4) +
                            number(~0xcbf43926u, 4) + number(9, 4) + "123456789";
  seed("mesa", "blob", "0123/llvmpipe\n" + entry);
  seed("mesa", "database",
       std::string("\x81"
                   "FOSSILIZEDB\0\0\0\6",
                   16) +
           entry);
}

void seed_spirv() {
  std::string module;
  for (const std::uint32_t word :
       {0x07230203u,   0x00010000u, 0u,  100u,         0u,      // header
        3u << 16 | 14, 2u,          2u,                         // memory model
        6u << 16 | 15, 6u,          10u, 0x646461u,    1u, 2u,  // entry point "add"
        5u << 16 | 54, 1u,          10u, 0u,           2u,      // function
        3u << 16 | 55, 3u,          11u, 1u << 16 | 56}) {
    module += number(word, 4);
  }
  seed("spirv", "module", module);
}

}  // namespace

void seed_signature() {
  packs::Signature one;
  one.revision = 3;
  packs::Signature two = one;
  two.key[0] = 1;
  seed("signature", "block", text_of(packs::encode_signatures({one, two})));
  const std::string title = "untrusted comment: a key\n";
  seed("signature", "public", title + "RWTNLFi7" + std::string(48, 'A') + "\n");
  seed("signature", "detached",
       "kiln pack 1\nversion 1\nincompat 0\nroot " + std::string(64, '0') + "\nrevision 3\n" +
           std::string(1, '\0') + title + "RUTNLFi7" + std::string(90, 'A') +
           "=\ntrusted comment: kiln pack, revision 3\n" + std::string(86, 'A') + "==\n");
}

void seed_published() {
  builder::PublishedManifest manifest;
  manifest.index = {std::string(64, 'a'), 2};
  manifest.signatures = manifest.parts = {manifest.index};
  seed("published", "manifest", builder::manifest_json(manifest));
  builder::PublishedIndex index;
  index.revision = 7;
  index.created = "2026-11-29";
  index.programs = manifest.index;
  index.packs.emplace_back().delta = manifest.index;
  index.packs[0].blake2b = std::string(64, 'b');
  seed("published", "index", builder::index_json(index));
}

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 2;
  }
  folder = argv[1];
  seed_overlay();
  seed_mesa();
  seed_spirv();
  seed_signature();
  seed_published();
  for (const test::BadPack &bad : test::bad_packs(KILN_SOURCE_DIR "/packs/golden")) {
    seed(bad.name.rfind("bad-delta", 0) == 0 ? "delta" : "pack", bad.name, text_of(bad.bytes));
  }
  seed("key", "text", "profile=test\nmodel=A100\n");
  return 0;
}
