// SPDX-License-Identifier: Apache-2.0
// The ladder as a table: each rung with its names, the flags that leave it out, and its offers.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "runtime/load/build.hpp"
#include "runtime/load/loader.hpp"

namespace kiln::runtime {

// The variant of a program to load. `flags` are the KILN_LOAD_* bits; `scratch` takes the bytes
// read from the overlay, and may be null if the overlay's rung is not asked.
struct Wanted {
  const Loader &loader;
  std::string_view program;
  packs::VariantRef variant;
  unsigned flags = 0;
  packs::Bytes *scratch = nullptr;
};

// Bytes to give to the driver: a blob of the pack, or bytes of the overlay. If there are none,
// `outcome` and `reason` say why.
struct Offer {
  packs::BlobRef blob;
  packs::View bytes;     // set once they are read
  std::uint64_t id = 0;  // id of the bytes and the way they are built, in journals
  packs::Finality finality = packs::Finality::no;
  std::string why_not_final;
  kiln_outcome outcome = KILN_OUTCOME_LOADED;
  std::string reason;
  const char *note = nullptr;  // for the report, if the offer is used

  explicit operator bool() const { return outcome == KILN_OUTCOME_LOADED; }
};

// Flags of loads that may compile nothing.
inline constexpr unsigned kRequires = KILN_LOAD_REQUIRE_EXACT | KILN_LOAD_REQUIRE_FINAL;

struct Rung {
  kiln_rung id;
  const char *name;    // in reports' JSON: "il"
  const char *title;   // in sentences: "IL"
  Form form;           // the driver's input; the driver compiles IL and source
  bool compiles;       // the driver compiles when it loads
  const char *word;    // the word of `kiln --without`, and the KILN_LOAD_* bit: leave out all rungs
  unsigned off;        // that have them
  unsigned off_alone;  // other bits, which leave out only this rung, or rungs that compile
  // Returns the rung's offers, best first; never empty.
  std::vector<Offer> (*offers)(const Wanted &wanted);
  // Returns ok if the device takes this form, else what it lacks. Null: every device takes it.
  Status (*takes)(const Capabilities &device);
  bool nvidia_only;  // missing in other vendors' reports
  bool has_proofs;   // a variant that requires a proof may be loaded from this rung
};

inline constexpr std::size_t kRungCount = 5;

// The ladder, best rung first.
struct Rungs {
  const Rung *first;
  const Rung *last;

  const Rung *begin() const { return first; }
  const Rung *end() const { return last; }
};
Rungs rungs();

// Returns the KILN_LOAD_* bits that leave out rungs.
unsigned rung_flags();

// Adds the bits that leave out every rung above the named one, and the overlay, which neither gives
// nor keeps anything then. Returns false if no rung below the overlay has the name.
bool leave_out_above(std::string_view name, unsigned *flags);

// Returns the row; null for KILN_RUNG_ERROR, and for numbers and names that are no rung.
const Rung *find_rung(unsigned id);
const Rung *find_rung(std::string_view name);
// Returns the name, such as "exact"; "error" if there is no row.
const char *rung_name(kiln_rung id);
// Returns whether the named rung gives the driver IL or source. False for other words.
bool is_compiled(std::string_view name);

// requires_proof() returns whether the variant requires a proof; is_proven() whether the pack has a
// binary of the variant with a proof for the device's key.
bool requires_proof(packs::VariantRef variant);
bool is_proven(const packs::Pack &pack, const Device &device, packs::VariantRef variant);

// Returns whether reports of loads on the device list the rung.
bool is_listed(const Rung &rung, const Device &device);
// Returns ok if the rung may be asked for offers, else why it is skipped: it is switched off, the
// variant requires a proof, a driver note forbids binaries, or the device lacks something.
Status may_try(const Rung &rung, const Wanted &wanted);

// Returns the rung's offers, or one without bytes if a known-bad note of the pack leaves it out.
std::vector<Offer> offers_of(const Rung &rung, const Wanted &wanted);

// Returns the lowest rung that offers IL or source, and sets `*offer`; null if there is none.
const Rung *lowest_offering(const Wanted &wanted, Offer *offer);
// Returns whether no rung below `rung` offers IL or source.
bool is_last(const Wanted &wanted, const Rung &rung);

}  // namespace kiln::runtime
