// SPDX-License-Identifier: Apache-2.0
// A pack as values: what the builder fills, what merge works on, what the writer writes.
// Blobs stay where they are (in memory, or in the pack they came from) until written.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kiln/packs/argument.hpp"
#include "kiln/packs/pack.hpp"

namespace kiln::packs {

Digest blake2b(View bytes);
std::string hex(const Digest &name);

// The hash of a variant, as FORMAT.md has it: what a binary belongs to.
Digest variant_hash(std::string_view source, std::string_view options,
                    const std::vector<std::string> &kernels);

// Bytes to be stored: owned raw bytes, a blob of an open pack, which is copied as stored, or bytes
// that are read from elsewhere whenever they are needed.
class BlobSource {
 public:
  explicit BlobSource(Bytes raw);
  BlobSource(std::shared_ptr<const Pack> pack, BlobRef blob);
  using Read = std::function<Status(Bytes *out)>;
  BlobSource(const Digest &name, std::uint64_t size, Read read);

  const Digest &name() const { return name_; }
  const std::shared_ptr<const Bytes> &raw() const { return raw_; }   // null if not owned
  const std::shared_ptr<const Pack> &pack() const { return pack_; }  // null if in none
  BlobRef blob() const { return blob_; }                             // null if in none
  std::uint64_t raw_size() const;
  // The raw bytes; those of a pack are decoded and checked. Fails as reading them does.
  Status read(Bytes *out) const;
  bool operator==(const BlobSource &other) const { return name_ == other.name_; }

 private:
  std::shared_ptr<const Bytes> raw_;
  std::shared_ptr<const Pack> pack_;
  BlobRef blob_;
  struct Elsewhere {
    std::uint64_t size;
    Read read;
  };
  std::shared_ptr<const Elsewhere> elsewhere_;
  Digest name_{};
};

struct Kernel {
  std::string name;
  std::uint32_t arguments = 0;
  std::string range{};  // of the NDRange, in terms of the problem's size; empty: by Variant::pixels
  bool operator==(const Kernel &) const = default;
};

// Arguments stand in the order of the kernel's parameters.
struct Argument {
  Role role = Role::input;
  ArgumentStorage storage = ArgumentStorage::buffer;  // of memory
  std::uint8_t channels = 1;  // elements of a pixel, 1 to 4; components of a parameter, to 16
  std::string name;           // of a parameter; of memory which one, may be empty
  std::int64_t value = 0;     // of a parameter: the default
  ElementType type = ElementType::uchar_;  // of a parameter uchar means uint
  bool accumulates = false;                // an output that is zero before the launch
  std::uint8_t stage = 0;                  // index of the kernel that takes it
  std::string extent{};          // of memory, in terms of the problem's size; empty: the whole
  std::vector<double> values{};  // of a parameter that one integer cannot hold
  bool operator==(const Argument &) const = default;
};

// One way to compute; its kernels run one after the other.
struct Variant {
  std::string name;
  Digest hash{};
  std::string options;                    // for the driver, joined by spaces
  std::vector<std::string> requirements;  // sorted, no duplicates; the runtime knows their meaning
  std::vector<Kernel> kernels;            // at least one
  std::optional<BlobSource> source;
  std::optional<BlobSource> il32;
  std::optional<BlobSource> il64;
  std::uint32_t il_version = 0;
  std::array<std::uint32_t, 3> pixels{1, 1, 1};      // a work-item of the first kernel computes
  std::array<std::uint32_t, 3> local_size{0, 0, 0};  // work-group size to start from; 0: not given
  std::vector<Argument> arguments;                   // in the order of the kernels' parameters
  double tolerance = 0;                              // largest difference from the reference
  std::optional<BlobSource> launches{};  // an application's, recorded: lines as FORMAT.md has them
  bool operator==(const Variant &) const = default;
};

// Lines of launches of two sides as one: of each kind the smallest, the smallest kMaxLaunches of
// those, rising.
inline constexpr std::size_t kMaxLaunches = 64;
std::string united_launches(std::string_view a, std::string_view b);

struct Program {
  std::string name;
  std::string reference;  // what checks it, in the manifest's words; may be empty
  std::vector<Variant> variants;
  std::vector<std::string> preferred{};               // variants, the best guess first
  std::string baseline{};                             // the variant that speed-ups are against
  std::vector<std::array<std::uint32_t, 3>> sizes{};  // of the problem, for measuring
  bool operator==(const Program &) const = default;
};

// The variant's place among the program's preferred ones; their number if it is none of them.
std::size_t preference(const Program &program, const Variant &variant);

struct KernelFacts {
  std::uint64_t max_work_group_size = 0;
  std::uint64_t preferred_multiple = 0;
  std::uint64_t private_bytes = 0;
  std::uint64_t local_bytes = 0;
  bool operator==(const KernelFacts &) const = default;
};

// How a binary was made final, or why it is not, and what its results were compared with.
struct Finish {
  Finality finality = Finality::not_launched;
  std::string why_not{};              // a sentence, unless it is final
  std::string finisher{};             // its name and version; empty: none ran
  std::uint64_t microseconds = 0;     // that the finisher took
  std::uint64_t unfinished_size = 0;  // bytes of what the driver gave before it
  std::string driver{};               // the driver's version that made it
  // Work-group sizes that were launched to make it final, ascending, each once; empty if the
  // driver's code does not depend on them.
  std::vector<std::array<std::uint32_t, 3>> local_sizes{};
  std::string proof{};     // what the results of a launch were equal to; empty: nothing
  std::string unproven{};  // then why, if it was launched: a sentence
  bool operator==(const Finish &) const = default;
};

struct Binary {
  Digest variant{};
  BlobSource blob;
  std::string build_log;
  std::vector<KernelFacts> kernels{};  // in the variant's order
  Finish finish{};
  std::optional<BlobSource> auxiliary{};  // what the driver's own cache needs for it to be final
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
  // Forms that the driver still compiles when it loads them, and that later GPUs take, too
  // (NVIDIA's PTX).
  std::vector<Binary> intermediates{};
  std::optional<BlobSource> auxiliary{};  // what the driver's cache needs for any program at all
  bool operator==(const Target &) const = default;
};

// How a device took the binaries of another target, both named by the XXH3-64 of their keys.
// Neither needs to be a target of the pack.
struct CrossCheck {
  std::uint64_t device = 0;
  std::uint64_t target = 0;
  std::uint32_t result = 0;  // CrossResult, or a greater number
  bool operator==(const CrossCheck &) const = default;
};

// A measured work-group size, or with an empty kernel the time of a whole variant with its best
// sizes, from which the runtime chooses. The program need not be one of the pack's.
struct Tuning {
  std::string program;
  std::string variant;
  std::string kernel;
  SizeClass size_class = SizeClass::small;
  // Where it was measured; all empty and 0 is a default for any device.
  std::string profile;
  std::string family;
  std::string model;
  std::uint64_t key_hash = 0;  // XXH3-64 of the device's key
  std::array<std::uint32_t, 3> local_size{1, 1, 1};
  std::uint64_t nanoseconds = 0;          // median of a launch
  std::uint64_t default_nanoseconds = 0;  // the same with the size left to the driver
  std::uint32_t samples = 0;
  std::uint32_t spread = 0;  // of the samples, in thousandths of the median
  std::string conditions;    // for people
  bool operator==(const Tuning &) const = default;
};

struct Contents {
  std::string producer;
  std::vector<Program> programs;
  std::vector<Target> targets;
  std::vector<CrossCheck> cross_checks;
  std::vector<Tuning> tunings;
  bool operator==(const Contents &) const = default;
};

// Reads everything but the blobs' bytes. Each section is checked.
Status read_contents(const std::shared_ptr<const Pack> &pack, Contents *out);

// What decided which of two binaries with other bytes is kept, as FORMAT.md has it.
enum class MergeRule : std::uint8_t {
  finality,  // the final one before the one that is not, and this before one that was not launched
  driver,    // what the older driver made
  finisher,  // what the newer version of a finisher made
  hash,      // the one with the smaller name
  variant,   // of IL: the modules of the side whose variant comes first
};

// Two blobs with other bytes that were in one place, of which one was kept.
struct MergeChoice {
  enum class Part : std::uint8_t { binary, intermediate, il32, il64 };
  Part part = Part::binary;
  MergeRule rule = MergeRule::hash;
  Digest variant{};
  std::string target{};  // its key; of IL empty
  Digest kept{};
  Digest left_out{};
  bool from_kept = false;  // whether what was merged into the other is kept
};

// The union of two contents: programs by name, variants by name, targets by key, binaries
// by variant; a variant's launches as united_launches(). Associative, commutative and idempotent up
// to order. The same variant with another hash is a conflict that names both, and leaves `into` as
// it was. If both have a binary for one variant and target, MergeRule says which is kept; if they
// differ in anything else (a target's facts, a variant's IL, a log), one side is kept by a total
// order, so that any order of merging gives the same pack, byte for byte, where each blob is stored
// in one form in all packs; a program's hints (preferred, baseline, sizes) come from one side, from
// that which has more of them. Records are merged as merge_records does. What was chosen is added
// to `choices`, if that is not null.
Status merge(const Contents &from, Contents *into, std::vector<MergeChoice> *choices = nullptr);

// Leaves of `contents` what a device may add to `base`: cross-checks, tunings of the base's
// variants (not those for any device), and of its targets the binaries of such variants. Gives the
// number of binaries that were left out.
std::size_t keep_contribution(const Contents &base, Contents *contents);

// Unites the cross-checks and tunings alone. Of two results for one device and target the worse
// is kept; of two tunings of one kernel, size class and device the one with more samples, then
// that with the smaller spread, then the one that a total order puts first.
void merge_records(const Contents &from, Contents *into);

}  // namespace kiln::packs
