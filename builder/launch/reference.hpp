// SPDX-License-Identifier: Apache-2.0
// What a program must compute, from the reference that its manifest names: another variant of it, a
// file, or a function of a shared object. Nothing else knows what a program computes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "builder/device/device_info.hpp"
#include "builder/problem/program_shape.hpp"
#include "builder/problem/reference_spec.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

// Whether results are compared at all, and where the files lie that references name.
struct ReferenceOptions {
  bool no_check = false;
  std::string folder;  // looked at first; empty: none
};

// One problem, as a variant is to solve it.
struct CheckedLaunch {
  const packs::Variant &variant;
  ProblemSize size;
  const std::vector<Plane> &inputs;
  const Parameters &parameters;  // as all_parameters() gives them
  const DeviceInfo *device;      // for a reference that is a variant
};

class Reference {
 public:
  // Nothing to compare with.
  Reference() = default;

  // That of the program, which outlives it: none if the program names none, or if nothing is to be
  // checked. Fails with Code::failed if it names one that is not there. A file is
  // looked for in the options' folder, then in the pack's. A library is looked for in the options'
  // folder, then in that of this executable: never beside the pack, since a pack may come from
  // strangers and a library is code of this machine.
  static Result<Reference> find(const packs::Program &program, const std::string &pack_path,
                                const ReferenceOptions &options);

  bool exists() const { return spec_.has_value(); }

  // Names what it says by its content: of files and libraries a hash of their bytes. Fails with
  // Code::failed if a file cannot be read.
  Result<std::string> content() const;

  // Whether it can tell what that variant must give for problems of that size: a variant does not
  // check itself, and a file is of one size.
  bool covers(const packs::Variant &variant, const ProblemSize &size) const;

  // The one size that it covers, if there is only one.
  std::optional<ProblemSize> only_size() const;

  // The inputs to check with, in the order of program_shape(): those of make_inputs(), unless the
  // reference names a file of them. Fails with Code::failed if that cannot be read.
  Result<std::vector<Plane>> inputs(const packs::Program &program, const ProblemSize &size) const;

  // The outputs that are right, in the order of program_shape(); none where the launch is not
  // covered. A device and a function are used in a process of their own. Fails with Code::failed
  // where the reference gives no result.
  Result<std::vector<Plane>> expected(const CheckedLaunch &launch) const;

  // The same in this process, which may die of it: of a library alone.
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
