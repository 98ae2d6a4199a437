// SPDX-License-Identifier: Apache-2.0
// Expected results of a program, from the reference that its manifest names: another variant, a
// file, or a function of a shared object. No other code knows what a program computes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "builder/machine/device_info.hpp"
#include "builder/problem/program_shape.hpp"
#include "builder/problem/reference_spec.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

// Whether results are compared at all, and where to find the files that references name.
struct ReferenceOptions {
  bool no_check = false;
  std::string folder;  // searched first; empty: none
};

// One problem for a variant to solve.
struct CheckedLaunch {
  const packs::Variant &variant;
  ProblemSize size;
  const std::vector<Plane> &inputs;
  const Parameters &parameters;  // as all_parameters() gives them
  const DeviceInfo *device;      // for a reference that is a variant
};

class Reference {
 public:
  // Makes an empty reference: there is nothing to compare with.
  Reference() = default;

  // Finds the program's reference; the program must outlive the result. Returns an empty reference
  // if the program names none or nothing is to be checked. Fails with Code::failed if the named
  // reference does not exist. Searches for a file in the options' folder, then in the pack's
  // folder. Searches for a library in the options' folder, then in the folder of this executable,
  // but never beside the pack: a pack may come from strangers, and a library is code that this
  // machine runs.
  static Result<Reference> find(const packs::Program &program, const std::string &pack_path,
                                const ReferenceOptions &options);

  bool exists() const { return spec_.has_value(); }

  // Returns text that identifies the reference by its content, for files and libraries by a hash of
  // their bytes. Fails with Code::failed if a file cannot be read.
  Result<std::string> content() const;

  // Returns whether the reference has results for that variant and size: a variant does not check
  // itself, and a file has results for one size.
  bool covers(const packs::Variant &variant, const ProblemSize &size) const;

  // Returns the only size that the reference covers; nothing if it covers several.
  std::optional<ProblemSize> only_size() const;

  // Returns the inputs to check with, in the order of program_shape(): from make_inputs(), unless
  // the reference names a file with inputs. Fails with Code::failed if that file cannot be read.
  Result<std::vector<Plane>> inputs(const packs::Program &program, const ProblemSize &size) const;

  // Returns the correct outputs, in the order of program_shape(); none if the launch is not
  // covered. Uses a device or calls a function in a separate process. Fails with Code::failed if
  // the reference gives no result.
  Result<std::vector<Plane>> expected(const CheckedLaunch &launch) const;

  // Does the same in this process, which may die. Only for libraries.
  Result<std::vector<Plane>> expected_here(const CheckedLaunch &launch) const;

 private:
  Result<std::vector<Plane>> run_variant(const CheckedLaunch &launch) const;
  Result<std::vector<Plane>> read_file(const ProblemSize &size) const;
  Result<std::vector<Plane>> run_library(const CheckedLaunch &launch) const;
  Status failure(const std::string &why) const;

  std::optional<ReferenceSpec> spec_;
  const packs::Program *program_ = nullptr;
  std::string pack_path_;
  std::string path_;   // of the file or the library
  std::string input_;  // of the file with inputs
};

}  // namespace kiln::builder
