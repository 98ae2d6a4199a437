// What every operation on packs returns.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "kiln/packs/text.hpp"

namespace kiln::packs {

// The exact fault. `absent` is not `broken`: a missing pack is not_found, a damaged one
// has the fault of the first check that failed, in the order that FORMAT.md gives.
enum class Fault {
  none = 0,
  not_found,          // no such file
  io_error,           // the operating system refused; the message has its words
  no_space,           // the disk is full
  empty,              // zero bytes
  truncated,          // fewer bytes than the superblock or the recorded pack size needs
  bad_magic,          // not a pack
  bad_superblock,     // a pack's magic, but the superblock's hash does not agree
  newer_version,      // written in a format version that this reader does not know
  unknown_feature,    // an incompat bit or codec that this reader does not know
  reserved_not_zero,  // a reserved field is used
  out_of_bounds,      // an offset, size or index points outside of what it indexes
  over_limit,         // larger than a limit of FORMAT.md
  root_corrupt,       // the root's bytes do not have the recorded hash
  root_malformed,     // hash agrees, but the contents break a rule of FORMAT.md
  section_corrupt,
  section_malformed,
  blob_corrupt,  // a blob cannot be decoded or its raw bytes do not have the recorded hash
  bad_argument,  // the caller broke a rule of the function
  conflict,      // inputs to merge contradict each other
};

// A short stable word for a fault ("truncated"), for messages and JSON.
const char *fault_name(Fault fault);

// Made, moved and destroyed out of line: that happens in nearly every function.
struct [[nodiscard]] Status {
  Status();
  Status(Fault what, std::string text);
  Status(const Status &other);
  Status(Status &&other) noexcept;
  Status &operator=(Status &&other) noexcept;
  ~Status();

  Fault fault = Fault::none;
  std::string message;  // one sentence with the context: which file, which place, which sizes

  bool ok() const { return fault == Fault::none; }
  static Status error(Fault fault, std::string_view message);
  static Status error(Fault fault, std::initializer_list<std::string_view> parts);
};

}  // namespace kiln::packs
