// SPDX-License-Identifier: Apache-2.0
// A file of MNN's OpenCL cache: for each device the binaries of its programs, and what MNN has
// measured. What is not asked for here stays as it is.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>

#include "builder/caches/flat_tables.hpp"

namespace kiln::builder {

// The device of an entry, in MNN's words.
struct MnnDevice {
  std::string name;
  std::string driver;
};

struct MnnProgram {
  std::string name;  // of MNN's kernel file, without ".cl"
  std::string options;
  std::string source_md5;
};

// Not thread-safe.
class MnnFile {
 public:
  MnnFile();  // without an entry
  // Fails with Code::bad_input for a file that is not as MNN writes it.
  static Result<MnnFile> read(packs::Bytes bytes);
  MnnFile(MnnFile &&) = default;  // not copied, as the tables refer to the bytes
  MnnFile &operator=(MnnFile &&) = default;

  // The names of all devices' programs, by the digests of their sources.
  std::map<std::string, std::set<std::string>> names() const;
  bool has_entries() const;
  // Whether an entry has its device's driver: earlier versions of MNN have no such field.
  bool has_drivers() const;

  // A program's binary, from an entry of the device whose driver is this one or not known.
  std::optional<packs::View> find(const MnnDevice &device, const std::string &source_md5,
                                  const std::string &options) const;

  // Makes the device's entries one, or adds one. What was measured stays, and the binaries where
  // the driver is the same. `with_driver`: whether the entry is to have a driver.
  void begin(const MnnDevice &device, bool with_driver);
  // Sets a program's binary in the entry that was begun last for the device.
  void set(const MnnDevice &device, const MnnProgram &program, packs::View binary);

  // Fails with Code::bad_input if it would be too large.
  Result<std::string> bytes() const;

 private:
  std::vector<FlatTable> &entries();
  const std::vector<FlatTable> &entries() const;
  FlatValue own(std::string bytes);

  packs::Bytes file_;
  std::deque<std::string> added_;
  FlatTable root_;
};

}  // namespace kiln::builder
