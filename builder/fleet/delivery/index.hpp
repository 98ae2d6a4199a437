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

  // Returns "device (driver version)".
  std::string label() const;
  bool operator==(const PublishedPack &) const = default;
};

// Dates are YYYY-MM-DD, by UTC, and compare as texts.
struct PublishedIndex {
  int schema = 1;
  std::uint64_t revision = 0;  // 1 to 999,999,999,999,999,999
  std::string created;
  std::string expires;            // the first day on which devices refuse it; empty: none
  std::vector<std::string> keys;  // lines of public keys that devices trust from now on, or none
  Blob programs;                  // a pack without targets
  std::vector<PublishedPack> packs;

  // Whether the two have the same programs and packs.
  bool has_contents_of(const PublishedIndex &other) const {
    return programs == other.programs && packs == other.packs;
  }
};

bool is_date(const std::string &text);
std::string today();

std::string index_json(const PublishedIndex &index);
// Fails with Code::root_malformed.
Result<PublishedIndex> read_index_json(const std::string &text);

// Returns the pack for a hash of a key, a glob over labels, or "any". An empty word, and the hash
// of a key that the index lacks, mean "any". Fails with Code::not_in_pack if no pack matches, and
// with Code::bad_argument if several do.
Result<PublishedPack> choose_pack(const PublishedIndex &index, const std::string &word);

// Reads a device's trusted keys: lines of public keys, of which minisign's comments are left out.
// Fails with Code::bad_argument for another line, and if there is no key.
Result<std::vector<packs::PublicKey>> read_trusted_keys(const std::string &text);

// Checks that one of `keys` signed the index, and, if the index names other keys, that one of those
// did, too. Fails with Code::untrusted.
Status check_index_signatures(const std::string &text, const std::vector<std::string> &signatures,
                              const std::vector<packs::PublicKey> &keys);

// Checks that the day is one between creation and expiry. Fails with Code::untrusted.
Status check_index_dates(const PublishedIndex &index, const std::string &today);

}  // namespace kiln::builder
