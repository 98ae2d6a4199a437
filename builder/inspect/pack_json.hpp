// SPDX-License-Identifier: Apache-2.0
// A pack as JSON, for `kiln inspect --json` and for people's scripts.
#pragma once

#include <map>

#include <nlohmann/json.hpp>

#include "kiln/packs/contents.hpp"

namespace kiln::builder {

// Schema 1: format and sizes, programs with variants, targets with their raw identity
// strings, binaries with blob sizes and hashes, provenance, cross-checks, tunings. Key hashes
// are 16 hexadecimal digits. Reads no blob but launches.
nlohmann::json describe_pack(const packs::Pack &pack, const packs::Contents &contents);
// The same without format and size.
nlohmann::json describe_contents(const packs::Contents &contents);

// The name by which people know a target: device name and driver version.
std::string target_label(const packs::Target &target);

// The labels of targets by the hash of their keys, for records; a hash that no target of the
// pack has is "0x" and 16 hexadecimal digits.
class KeyLabels {
 public:
  explicit KeyLabels(const packs::Contents &contents);
  std::string operator()(std::uint64_t key_hash) const;

 private:
  std::map<std::uint64_t, std::string> labels_;
};

// "yes", "no", "not launched".
const char *finality_name(packs::Finality finality);

// "native", "recompiled", "refused", "crashed", "wrong"; "unknown" for a later builder's.
const char *cross_result_name(std::uint32_t result);

// "small", "medium", "large".
const char *size_class_name(packs::SizeClass size_class);

// Where a tuning was measured: "Mali-G710", "mali, family Mali Valhall", "any device".
std::string tuning_place(const packs::Tuning &tuning);

// "final", "not final: its first launch compiles", "not launched: ...".
std::string finish_text(const packs::Finish &finish);

// "laplace/scalar" for the variant with that hash, else the hash.
std::string variant_label(const packs::Contents &contents, const packs::Digest &hash);

}  // namespace kiln::builder
