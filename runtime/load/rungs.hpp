// SPDX-License-Identifier: Apache-2.0
// The ladder as a table: each rung with its names, the flags that leave it out, and what it offers.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "runtime/load/build.hpp"
#include "runtime/load/loader.hpp"

namespace kiln::runtime {

// What is to be loaded. `flags` are the KILN_LOAD_* bits; `scratch` takes what is read from the
// overlay, and may be null where that rung is not asked.
struct Wanted {
  const Loader &loader;
  packs::VariantRef variant;
  unsigned flags = 0;
  packs::Bytes *scratch = nullptr;
};

// Something to give to the driver: a blob of the pack, or bytes of the overlay; or neither, and
// then `outcome` and `reason` say why.
struct Offer {
  packs::BlobRef blob;
  packs::View bytes;     // once they are read
  std::uint64_t id = 0;  // of the bytes as they are built, in journals
  packs::Finality finality = packs::Finality::no;
  std::string why_not_final;
  kiln_outcome outcome = KILN_OUTCOME_LOADED;
  std::string reason;
  VendorRule rule{};  // of the compatible rung

  explicit operator bool() const { return outcome == KILN_OUTCOME_LOADED; }
};

struct Rung {
  kiln_rung id;
  const char *name;   // in reports' JSON: "il"
  const char *title;  // in sentences: "IL"
  Form form;          // what the driver is given; whatever is no binary it compiles
  bool compiles;      // the driver compiles when it loads
  unsigned off;       // the KILN_LOAD_* bits, any of which leaves it out
  // What it has to offer, best first; never empty.
  std::vector<Offer> (*offers)(const Wanted &wanted);
  bool foreign;      // another target's binaries: used only if they are not recompiled and proven
  bool nvidia_only;  // no rung of other vendors' reports
};

inline constexpr std::size_t kRungs = 6;
extern const Rung kLadder[kRungs];  // best first

// The row; null for KILN_RUNG_ERROR and for what is no rung.
const Rung *find_rung(kiln_rung id);
// "exact"; "error" where there is no row.
const char *rung_name(kiln_rung id);

// Whether the variant requires a proof, and whether the pack has a binary of it for the device's
// key that has one.
bool requires_proof(packs::VariantRef variant);
bool is_proven(const packs::Pack &pack, const Device &device, packs::VariantRef variant);

// SPIR-V or source of the pack, as the ladder's rungs offer them.
std::vector<Offer> offer_il(const Wanted &wanted);
std::vector<Offer> offer_source(const Wanted &wanted);

// Whether the pack has nothing that is compiled here for a rung below.
bool is_last(const Wanted &wanted, kiln_rung id);

}  // namespace kiln::runtime
