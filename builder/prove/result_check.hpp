// SPDX-License-Identifier: Apache-2.0
// What the results of a program's binaries are compared with before they are packed: the manifest's
// reference, or the same kernels built from source.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "builder/base/builder_status.hpp"
#include "builder/finish/job_request.hpp"
#include "builder/launch/reference.hpp"
#include "builder/problem/plane.hpp"

namespace kiln::builder {

// What a program computed when it was launched once for a proof.
struct Results {
  std::vector<Plane> outputs{};  // of the problem that the proof poses
  // After each recorded launch: a hash of all memory that it was given.
  std::vector<std::uint64_t> memory{};
  std::string none{};  // a sentence: why there is neither, or what is tells nothing

  bool empty() const { return outputs.empty() && memory.empty(); }
};

nlohmann::json to_json(const Results &results);
Results results_from(const nlohmann::json &in);

// Outputs within the tolerance, memory only if it is equal. Unchecked where nothing is expected.
Comparison compare_results(const Results &got, const Results &expected, double tolerance);

// The first 16 digits of the results' BLAKE2b-256, by which messages name them.
std::string name_of(const Results &results);

struct ResultCheck {
  bool off = false;        // nothing is compared
  Reference reference{};   // may be none
  std::string missing{};   // why the reference that the program names is not used
  std::string identity{};  // of what is compared with, by its content

  // The problem to compare with, and whether the reference tells what it gives for that variant.
  ProblemSize size(const packs::Program &program) const;
  bool has_reference(const packs::Program &program, const packs::Variant &variant) const;
};

// Of each program in its order. Files of references are looked for in the options' folder, then
// beside `input`, which is a manifest or a pack; a reference that is not found is `missing`.
// `sources` is where write_sources() puts variants that are references. Programs outlive the
// checks.
std::vector<ResultCheck> find_checks(const std::vector<packs::Program> &programs,
                                     const ReferenceOptions &options, const std::string &input,
                                     const std::string &sources);

// A pack of those programs of which a variant is the reference, without binaries. Fails as
// write_pack() does.
Status write_sources(const std::vector<packs::Program> &programs, const std::string &path);

// What references say, each asked once while jobs of one program follow one another.
class ExpectedResults {
 public:
  // Of the job's variant, whose check has a reference for it; what a variant gives depends on the
  // device. None where the reference fails.
  const Results &of(const JobRequest &request);

 private:
  const packs::Program *program_ = nullptr;
  const DeviceInfo *device_ = nullptr;
  Parameters parameters_;
  Results results_;
};

// What a job's binaries are to compute.
struct Expectation {
  Results results{};
  std::string by{};           // whose results they are, as packs::Finish::proof says it
  bool by_reference = false;  // rather than by the program built from source
  bool broken = false;        // the reference was found and fails
};

// `built`: what the program gave that was built from source, where it was launched.
Expectation expectation_of(const JobRequest &request, const Results &built,
                           ExpectedResults *references);

// Compares the results and sets `proof`, or sets `unproven` where one of both is missing. Fails
// with Code::failed where they differ, in a message that names both, and where a reference is
// broken.
Status judge(const Results &got, const Expectation &expected, double tolerance,
             packs::Finish *finish);

}  // namespace kiln::builder
