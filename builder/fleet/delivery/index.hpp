// SPDX-License-Identifier: Apache-2.0
// The index of a published folder: what one revision has for which devices, until when devices
// believe it, and which keys sign the revisions that follow. minisign signs its JSON. Functions of
// values, except today().
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "kiln/packs/trust.hpp"

namespace kiln::builder {

// A file, named by its contents.
struct Blob {
  std::string sha256;  // 64 lower-case hexadecimal digits
  std::uint64_t size = 0;

  bool operator==(const Blob &) const = default;
};

// The pack for one kind of device.
struct PublishedPack {
  std::string key_hash;  // of the binary key, 16 hexadecimal digits; empty: for any other device
  std::string profile, family, model, compiler;  // as `kiln devices` shows them
  std::string device, driver;                    // the names that the driver reports
  Blob delta;                                    // makes the pack from the programs
  std::string blake2b;                           // of the pack
  std::uint64_t size = 0;                        // of the pack

  // Returns "device (driver version)", or "programs alone" for any other device.
  std::string label() const;
  bool operator==(const PublishedPack &) const = default;
};

inline constexpr std::uint64_t kMaxRevision = 999'999'999'999'999'999;

// Dates are YYYY-MM-DD, by UTC, and compare as texts.
struct PublishedIndex {
  int schema = 1;
  std::uint64_t revision = 0;  // 1 to kMaxRevision
  std::string created;
  std::string expires;            // the first day on which devices refuse it; empty: none
  std::vector<std::string> keys;  // lines of public keys that devices trust from now on, or none
  Blob programs;                  // a pack without targets
  std::vector<PublishedPack> packs;

  bool operator==(const PublishedIndex &) const = default;
  // Whether the two have the same programs and packs.
  bool has_contents_of(const PublishedIndex &other) const {
    return programs == other.programs && packs == other.packs;
  }
};

// Whether the text is `size` lower-case hexadecimal digits, as the names of files are.
bool are_hex_digits(const std::string &text, std::size_t size);

bool is_date(const std::string &text);
std::string today();

std::string index_json(const PublishedIndex &index);
// Fails with Code::root_malformed.
Result<PublishedIndex> read_index_json(const std::string &text);

// Returns the pack for a hash of a key, a glob over labels, or "any". An empty word, and the hash
// of a key that the index lacks, mean "any". Fails with Code::not_in_pack if no pack matches, and
// with Code::bad_argument if several do.
Result<PublishedPack> choose_pack(const PublishedIndex &index, const std::string &word);

// Reads a file of trusted keys: one public key per line. Skips minisign's comment lines. Fails with
// Code::bad_argument for any other line, and if there is no key.
Result<std::vector<packs::PublicKey>> read_trusted_keys(const std::string &text);
// Returns such a file's text.
std::string trusted_keys_text(const std::vector<std::string> &lines);

// Fails with Code::untrusted unless one of `keys` signed the index. If the index names new keys,
// one of these must have signed it as well.
Status check_index_signatures(const std::string &text, const std::vector<std::string> &signatures,
                              const std::vector<packs::PublicKey> &keys);

// Fails with Code::untrusted before the day of creation, and from the day of expiry on.
Status check_index_dates(const PublishedIndex &index, const std::string &today);

}  // namespace kiln::builder
