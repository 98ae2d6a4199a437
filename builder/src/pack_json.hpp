// A pack as JSON, for `kiln inspect --json` and for people's scripts.
#pragma once

#include <nlohmann/json.hpp>

#include "kiln/packs/contents.hpp"

namespace kiln::builder {

// Schema 1: format and sizes, programs with variants, targets with their raw identity
// strings, binaries with blob sizes and hashes, provenance. Reads no blob.
nlohmann::json describe_pack(const packs::Pack &pack, const packs::Contents &contents);

// The name by which people know a target: device name and driver version.
std::string target_label(const packs::Target &target);

// "laplace/scalar" for the variant with that hash, else the hash.
std::string variant_label(const packs::Contents &contents, const packs::Name &hash);

}  // namespace kiln::builder
