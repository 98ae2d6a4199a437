// SPDX-License-Identifier: Apache-2.0
// Status, which tells success or failure, and Result, a value or a failed status.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "kiln/packs/text.hpp"

namespace kiln::packs {

// The kind of failure. A missing pack is not_found; a damaged pack has the code of the first check
// that failed, in the order of FORMAT.md.
enum class Code {
  ok = 0,

  // Packs and files.
  not_found,          // no such file
  io_error,           // I/O error; the message has the operating system's words
  no_space,           // the disk is full
  empty,              // zero bytes
  truncated,          // fewer bytes than the superblock or the recorded pack size needs
  bad_magic,          // not a pack
  bad_superblock,     // a pack's magic, but the superblock's hash does not match
  newer_version,      // written in a format version that this reader does not know
  unknown_feature,    // an incompat bit or codec that this reader does not know
  reserved_not_zero,  // a reserved field is used
  out_of_bounds,      // an offset, size or index points outside its range
  over_limit,         // larger than a limit of FORMAT.md
  root_corrupt,       // the root's bytes do not have the recorded hash
  root_malformed,     // the hash matches, but the contents break a rule of FORMAT.md
  section_corrupt,
  section_malformed,
  blob_corrupt,       // a blob cannot be decoded or its raw bytes do not have the recorded hash
  signature_corrupt,  // the pack's signatures break a rule of FORMAT.md
  untrusted,          // not signed, signed by other keys only, for other contents, or too old
  bad_argument,       // the caller broke a rule of the function
  conflict,           // inputs to merge contradict each other

  // Devices and loading.
  no_opencl,    // no OpenCL library; the message lists what was tried
  no_device,    // no platform, or no device at that index
  opencl,       // an OpenCL call failed
  not_in_pack,  // no such program, variant or kernel
  requirement,  // the device lacks what the variant needs
  no_rung,      // every rung was skipped or failed

  // Building.
  bad_input,      // a manifest, a source or a build option is wrong; the message shows the place
  process,        // a child process ended, hung or wrote what it should not
  wrong_results,  // a binary does not compute what it should
  failed,         // anything else; the message says what
};

// Returns a short stable word for a code ("truncated"), for messages and JSON.
const char *code_name(Code code);

// Whether a call worked, and if not, why. Packs, runtime and builder fail in this way only. Made,
// moved and destroyed out of line, since that happens in nearly every function.
struct [[nodiscard]] Status {
  Status();
  Status(Code what, std::string text);
  Status(Code what, int cl_code, std::string text);
  Status(const Status &other);
  Status(Status &&other) noexcept;
  Status &operator=(const Status &other);
  Status &operator=(Status &&other) noexcept;
  ~Status();

  Code code = Code::ok;
  int cl_error = 0;     // OpenCL's code, if an OpenCL call failed
  std::string message;  // one sentence with the context: which file, which place, which sizes

  bool ok() const { return code == Code::ok; }
  static Status error(Code code, std::string_view message);
  static Status error(Code code, std::initializer_list<std::string_view> parts);
};

// A value, or a failed status. Reading the value of a failed result is undefined, as with
// std::optional. A result made from a status must be made from a failed one.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(Status status) : status_(std::move(status)) {}

  bool ok() const { return value_.has_value(); }
  const Status &status() const { return status_; }

  T &operator*() & { return *value_; }
  const T &operator*() const & { return *value_; }
  T &&operator*() && { return *std::move(value_); }
  T *operator->() { return &*value_; }
  const T *operator->() const { return &*value_; }

  // Moves the value to `*out`, if there is one.
  Status move_to(T *out) && {
    if (ok()) *out = *std::move(value_);
    return std::move(status_);
  }

 private:
  std::optional<T> value_;
  Status status_;
};

}  // namespace kiln::packs
