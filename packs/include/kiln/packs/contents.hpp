// SPDX-License-Identifier: Apache-2.0
// A pack as values, which the builder fills, merge combines and the writer writes. Blobs stay where
// they are (in memory, or in their pack) until they are written.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kiln/packs/argument_words.hpp"
#include "kiln/packs/known_bad.hpp"
#include "kiln/packs/pack.hpp"

namespace kiln::packs {

Digest blake2b(View bytes);
std::string hex(const Digest &name);

// Returns the hash of a variant, as in FORMAT.md. A binary belongs to this hash.
Digest variant_hash(std::string_view source, std::string_view options,
                    const std::vector<std::string> &kernels);

// Bytes to be stored: owned raw bytes, a blob of an open pack, which is copied as stored, or bytes
// that a function reads when they are needed.
class BlobSource {
 public:
  explicit BlobSource(Bytes raw);
  BlobSource(std::shared_ptr<const Pack> pack, BlobRef blob);
  using Read = std::function<Status(Bytes *out)>;
  BlobSource(const Digest &name, std::uint64_t size, Read read);

  const Digest &name() const { return name_; }
  const std::shared_ptr<const Bytes> &raw() const { return raw_; }   // null if not owned
  const std::shared_ptr<const Pack> &pack() const { return pack_; }  // null if not in a pack
  BlobRef blob() const { return blob_; }                             // null if not in a pack
  std::uint64_t raw_size() const;
  // Reads the raw bytes; decodes and checks bytes from a pack. Fails as reading the bytes does.
  Status read(Bytes *out) const;
  bool operator==(const BlobSource &other) const { return name_ == other.name_; }

 private:
  std::shared_ptr<const Bytes> raw_;
  std::shared_ptr<const Pack> pack_;
  BlobRef blob_;
  struct OnDemand {
    std::uint64_t size;
    Read read;
  };
  std::shared_ptr<const OnDemand> on_demand_;
  Digest name_{};
};

// A parameter of a kernel, as its source declares it.
struct Parameter {
  std::string name;  // empty: not known
  std::string
      type;  // in OpenCL C, without address space and qualifiers: "float4*"; empty: not known
  std::uint32_t size = 0;  // bytes of a value; 0: not known, or a pointer, an image, a sampler
  AddressSpace address_space = AddressSpace::private_;
  ImageAccess access = ImageAccess::none;
  std::uint8_t qualifiers = 0;  // bits: kConst, ...
  bool operator==(const Parameter &) const = default;
};

struct Kernel {
  std::string name;
  std::uint32_t arguments = 0;
  std::string range{};  // NDRange in terms of the problem size; empty: by Variant::pixels
  std::vector<Parameter> parameters{};  // one for each argument; empty: not known
  bool operator==(const Kernel &) const = default;
};

// An argument of a kernel. Arguments are in the order of the kernel's parameters.
struct Argument {
  Role role = Role::input;
  ArgumentStorage storage = ArgumentStorage::buffer;  // of memory
  std::uint8_t channels = 1;  // elements of a pixel, 1 to 4; components of a parameter, to 16
  std::string name;           // of a parameter; for memory which one, may be empty
  std::int64_t value = 0;     // a parameter's default; a sampler; of an image kNotNormalized
  ElementType type = ElementType::uchar_;  // for a parameter, uchar means uint
  bool accumulates = false;                // an output that is zero before the launch
  std::uint8_t stage = 0;                  // index of the kernel that takes it
  std::string extent{};          // of memory, in terms of the problem size; empty: all of it
  std::vector<double> values{};  // a parameter's, if one integer cannot hold it
  std::string fields{};  // of a struct: OpenCL C's types, separated by spaces; empty: no struct
  bool operator==(const Argument &) const = default;
};

// A figure that the compiler gives for a kernel's code.
struct Statistic {
  std::uint32_t kernel = 0;                       // index among the variant's kernels
  StatisticName name = StatisticName::registers;  // others than the known ones are of later Kilns
  std::uint64_t value = 0;
  bool operator==(const Statistic &) const = default;
};

// One way to compute a result; its kernels run one after the other.
struct Variant {
  std::string name;
  Digest hash{};
  std::string options;                    // build options for the driver, joined by spaces
  std::vector<std::string> requirements;  // sorted, unique; the runtime knows their meaning
  std::vector<Kernel> kernels;            // at least one
  std::optional<BlobSource> source;
  std::optional<BlobSource> il32;
  std::optional<BlobSource> il64;
  std::uint32_t il_version = 0;
  std::array<std::uint32_t, 3> pixels{1, 1, 1};      // computed by a work-item of the first kernel
  std::array<std::uint32_t, 3> local_size{0, 0, 0};  // work-group size to start from; 0: none
  std::vector<Argument> arguments;                   // in the order of the kernels' parameters
  double tolerance = 0;                  // largest allowed difference from the reference
  std::optional<BlobSource> launches{};  // an application's, recorded: lines as in FORMAT.md
  // What the statistics of each kernel may be; ascending by name, `kernel` is 0.
  std::vector<Statistic> limits{};
  // Work-group sizes, in work-items, with which an application launches the kernels, for finishers;
  // empty: none are stated.
  std::vector<std::array<std::uint32_t, 3>> local_sizes{};
  // Build options, each to be tried in addition where a driver builds the variant wrongly, the best
  // guess first.
  std::vector<std::string> workarounds{};
  bool operator==(const Variant &) const = default;
};

// Unites the launch lines of two sides: for each kind the smallest line, then the smallest
// kMaxLaunches of these, rising.
inline constexpr std::size_t kMaxLaunches = 64;
std::string united_launches(std::string_view a, std::string_view b);

struct Program {
  std::string name;
  std::string reference;  // checks the program, in the manifest's words; may be empty
  std::vector<Variant> variants;
  std::vector<std::string> preferred{};               // variants, the best guess first
  std::string baseline{};                             // the variant that speed-ups are relative to
  std::vector<std::array<std::uint32_t, 3>> sizes{};  // problem sizes, for measuring
  bool operator==(const Program &) const = default;
};

// Returns the variant's index among the program's preferred ones, or their number if it is not
// there.
std::size_t preference(const Program &program, const Variant &variant);

struct KernelFacts {
  std::uint64_t max_work_group_size = 0;
  std::uint64_t preferred_multiple = 0;
  std::uint64_t private_bytes = 0;
  std::uint64_t local_bytes = 0;
  bool operator==(const KernelFacts &) const = default;
};

// How a binary was made final, or why it is not final, and what its results were compared with.
struct Finish {
  Finality finality = Finality::not_launched;
  std::string why_not{};              // the reason as a sentence, unless final
  std::string finisher{};             // the finisher's name and version; empty: none ran
  std::uint64_t microseconds = 0;     // time that the finisher took
  std::uint64_t unfinished_size = 0;  // bytes of the driver's binary before the finisher
  std::string driver{};               // version of the driver that made it
  // Work-group sizes that were launched to make the binary final, ascending and unique; empty if
  // the driver's code does not depend on them.
  std::vector<std::array<std::uint32_t, 3>> local_sizes{};
  std::string proof{};     // what the results of a launch were equal to; empty: no proof
  std::string unproven{};  // the reason as a sentence, if launched without proof
  // Digests, in hexadecimal, of what decided the bytes and of what the results had to equal. A
  // builder makes the binary again if it would make it from other inputs; empty: not known.
  std::string made_from{};
  std::string proved_by{};
  // How the binary was built otherwise than the variant says, since the driver builds that wrongly:
  // "-cl-opt-disable", "SPIR-V instead of source"; empty: as it says.
  std::string workaround{};
  bool operator==(const Finish &) const = default;
};

struct Binary {
  Digest variant{};
  BlobSource blob;
  std::string build_log;
  std::vector<KernelFacts> kernels{};  // in the variant's order
  Finish finish{};
  std::optional<BlobSource>
      cache_entries{};                  // entries in the driver's own cache that make it final
  std::vector<Statistic> statistics{};  // ascending by kernel and name, which are unique
  bool operator==(const Binary &) const = default;
};

struct Target {
  std::string key;  // canonical text of the binary key
  std::string profile;
  std::string family;
  std::string model;
  std::string compiler;
  std::vector<std::pair<std::string, std::string>> identity;
  std::vector<Binary> binaries;
  // Forms that the driver still compiles when it loads them, and that later GPUs accept, too
  // (NVIDIA's PTX).
  std::vector<Binary> intermediates{};
  std::optional<BlobSource>
      cache_entries{};  // entries in the driver's cache for any program at all
  bool operator==(const Target &) const = default;
};

// A measured work-group size; or, with an empty kernel, the time of a whole variant with its best
// sizes, by which the runtime chooses. The program need not be in the pack.
struct Tuning {
  std::string program;
  std::string variant;
  std::string kernel;
  SizeClass size_class = SizeClass::small;
  // The device of the measurement; if all are empty and 0, a default for any device.
  std::string profile;
  std::string family;
  std::string model;
  std::uint64_t key_hash = 0;  // XXH3-64 of the device's key
  std::array<std::uint32_t, 3> local_size{1, 1, 1};
  std::uint64_t nanoseconds = 0;          // median of a launch
  std::uint64_t default_nanoseconds = 0;  // the same with the size left to the driver
  std::uint32_t samples = 0;
  std::uint32_t spread = 0;  // of the samples, in thousandths of the median
  std::string conditions;    // text for people
  Digest variant_hash{};     // of the variant that was measured; zeros: not known
  bool operator==(const Tuning &) const = default;
};

// A known-bad note: what leaves out some rungs for some programs and drivers.
struct KnownBad {
  std::array<std::string, kNoteTexts> texts;  // by NoteText
  std::uint32_t rungs = kAllRungs;
  auto operator<=>(const KnownBad &) const = default;

  const std::string &operator[](NoteText which) const {
    return texts[static_cast<std::size_t>(which)];
  }
  std::string &operator[](NoteText which) { return texts[static_cast<std::size_t>(which)]; }

  NoteView view() const;
};

struct Contents {
  std::string producer;
  std::vector<Program> programs;
  std::vector<Target> targets;
  std::vector<Tuning> tunings;
  std::vector<KnownBad> known_bad{};
  std::uint32_t known_bad_version = 0;  // of the file of notes; 0: there is none
  bool operator==(const Contents &) const = default;
};

// Reads everything except the blobs' bytes. Checks each section.
Status read_contents(const std::shared_ptr<const Pack> &pack, Contents *out);

// The rule that decided which of two binaries with different bytes is kept, as in FORMAT.md.
enum class MergeRule : std::uint8_t {
  finality,    // final before not final, and not final before never launched
  driver,      // the older driver's binary
  finisher,    // the newer finisher's result
  hash,        // the binary with the smaller name
  variant,     // for IL: the modules of the side whose variant comes first
  workaround,  // one that was built with a workaround before one without
  known_bad,   // none is kept: a build found the variant wrong, and this one compared less
  stricter,    // for members of a variant: the stricter of both sides
  hints,       // for hints of a program: those of the side with more of them
};

// Two blobs with different bytes in one place, of which one was kept; one that was left out; or
// members in which two packs differ.
struct MergeChoice {
  enum class Part : std::uint8_t { binary, intermediate, il32, il64, members };
  Part part = Part::binary;
  MergeRule rule = MergeRule::hash;
  Digest variant{};
  std::string target{};  // its key; empty for IL and members
  Digest kept{};         // zeros by MergeRule::known_bad
  Digest left_out{};
  bool from_kept = false;  // whether the blob, or the hints, of `from` are kept
  // Of members alone: the program, or program/variant, and their names, separated by ", ".
  std::string place{};
  std::string members{};
};

// Merges two contents: programs by name, variants by name, targets by key, binaries by variant,
// and a variant's launches by united_launches(). Associative, commutative and idempotent up to
// order. Of what both say of one variant the stricter counts, as FORMAT.md says of each member;
// binaries of the side with the larger tolerance lose their proofs. Fails if a variant has two
// different hashes, or members of which neither is the stricter: the conflict names them, and
// `into` stays as it was. If both have a binary for one variant and target, MergeRule says which
// is kept. If they differ in anything else (a target's facts, a variant's IL, a log), one side
// is kept by a total order, so that any order of merging gives the same pack, byte for byte, if
// each blob is stored in one form in all packs. A program's hints (preferred, baseline, sizes)
// come from one side, the one with more of them. Tunings are united, also of
// variants that neither has; those of other texts than the merged variants' are removed. Of two for
// one place the one whose variant's hash is known is kept, then as merge_tunings() does. Of the
// files' known-bad notes, only the later version's are kept, or all of equal versions. What builds
// found is united, and settled by settle_found(). Adds the choices to `choices`, if that is not
// null.
Status merge(const Contents &from, Contents *into, std::vector<MergeChoice> *choices = nullptr);

// Removes from `contents` everything but what a device may add to `base`: tunings of the base's
// variants, by hash and under the base's names (but no tunings for any device, and no known-bad
// notes), and the targets with binaries of such variants, without proofs within a larger
// tolerance than the base's. Returns the number of removed binaries.
std::size_t remove_all_but_additions(const Contents &base, Contents *contents);

// Takes the binaries and intermediates without a proof out of `contents`, with `all` every one, and
// returns them as targets. Those with a claim of a proof lose it, and no entries of a driver's
// cache for any program are taken along.
Contents take_out_unproven(bool all, Contents *contents);
// Removes from `held` what `contents` has with a proof.
void drop_proven(const Contents &contents, Contents *held);

// Unites the tunings of both that are of variants of `into`, by hash, under the variants' names
// there. Removes all others, and returns their number. Of two for one kernel, size class and
// device, keeps the one with more samples, then the one with the smaller spread, then the first in
// a total order.
std::size_t merge_tunings(const std::vector<Tuning> &from, Contents *into);

}  // namespace kiln::packs
