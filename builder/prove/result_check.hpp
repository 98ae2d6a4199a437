// SPDX-License-Identifier: Apache-2.0
// Results of a binary before it is packed: launching it for them, and comparing them with the
// manifest's reference, or with the same kernels built from source.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "builder/base/builder_status.hpp"
#include "builder/finish/job.hpp"
#include "builder/problem/plane.hpp"
#include "builder/problem/program_shape.hpp"
#include "builder/run/pack_on_device.hpp"
#include "builder/run/reference.hpp"

namespace kiln::builder {

// Results of a program that was launched once for a proof.
struct Results {
  std::vector<Plane> outputs{};  // outputs of the proof's problem
  // A hash for each recorded launch: of all memory that the launch was given.
  std::vector<std::uint64_t> memory{};
  std::string none{};  // a sentence: why there are no results, or why they prove nothing

  bool empty() const { return outputs.empty() && memory.empty(); }
};

nlohmann::json to_json(const Results &results);
Results results_from(const nlohmann::json &in);

// Compares outputs within the tolerance, and memory for equality. Unchecked if nothing is expected.
Comparison compare_results(const Results &got, const Results &expected, double tolerance);

// Returns the first 16 digits of the results' BLAKE2b-256, by which messages name them.
std::string name_of(const Results &results);

struct ResultCheck {
  bool off = false;                 // nothing is compared
  Reference reference{};            // may be empty
  std::string missing{};            // why the program's reference is not found
  std::string identity{};           // identifies the reference by its content, also if `off`
  std::optional<ProblemSize> at{};  // in place of the size that is right for the program

  // Return the size of the problem to compare, and whether the reference has results of that size
  // for the variant.
  ProblemSize size(const packs::Program &program) const;
  bool has_reference(const packs::Program &program, const packs::Variant &variant) const;
};

// Returns the check of each program, in their order. Searches for files of references in the
// options' folder, then beside `input`, which is a manifest or a pack; a reference that is not
// found is `missing`. `sources` is the path at which write_sources() puts variants that are
// references. Programs must outlive the checks.
std::vector<ResultCheck> find_checks(const std::vector<packs::Program> &programs,
                                     const ReferenceOptions &options, const std::string &input,
                                     const std::string &sources);

// Writes a pack, without binaries, of the programs whose reference is a variant; nothing if there
// are none. Fails as write_pack() does.
Status write_sources(const std::vector<packs::Program> &programs, const std::string &path);

// Results of references. Each reference is asked once while jobs of one program follow one another.
class ExpectedResults {
 public:
  // Returns the results for the job's variant, whose check must have a reference for it. A
  // reference that is a variant gives results that depend on the device. Returns no results if the
  // reference fails.
  const Results &of(const Job &job);

 private:
  const packs::Program *program_ = nullptr;
  const DeviceInfo *device_ = nullptr;
  Parameters parameters_;
  Results results_;
};

// Expected results of a job's binaries.
struct Expectation {
  Results results{};
  std::string by{};           // source of the results, in the words of packs::Finish::proof
  bool by_reference = false;  // not by the program built from source
  bool broken = false;        // the reference was found but fails
};

// Returns the expected results for the job. `built` has the results of the program built from
// source, if it was launched.
Expectation expectation_of(const Job &job, const Results &built, ExpectedResults *references);

// Compares the results and sets `proof`, or sets `unproven` if either is missing. Fails with
// Code::wrong_results if they differ, with a message that names both, and with Code::failed if a
// reference is broken.
Status judge(const Results &got, const Expectation &expected, double tolerance,
             packs::Finish *finish);

inline constexpr char kIdle[] = "this device cannot execute kernels here";

// Does the same as ask_executes(). Fails with Code::requirement if the device cannot be asked.
Status executes_commands(const PackOnDevice &opened, bool *out);

// Returns the program without source and IL. Keeps all variants, since they determine its planes.
packs::Program without_code(packs::Program program);

// Launches a problem of that size, with outputs that were zeros, and returns its results. Without
// `inputs` uses make_inputs(). If the launch fails, `none` says why.
Results launch_results(const PackOnDevice &opened, const kiln::Program &loaded,
                       const packs::Program &program, const packs::Variant &variant,
                       const ProblemSize &size, std::optional<std::vector<Plane>> inputs = {});

// Returns the results of a program just built from source: of its recorded launches, or of the
// problem of the job's check. Writes the pack for the launch to `path`. `opened` must have its
// device open.
Results source_results(const Job &job, PackOnDevice *opened, runtime::BuiltProgram built,
                       const std::string &path);

}  // namespace kiln::builder
