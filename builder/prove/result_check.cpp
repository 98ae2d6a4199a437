// SPDX-License-Identifier: Apache-2.0
// Finds references, gets their results, and compares a binary's results with them.
#include "builder/prove/result_check.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "builder/finish/launch_twice.hpp"
#include "builder/problem/plane.hpp"
#include "kiln/packs/contents.hpp"
#include "kiln/packs/writer.hpp"

namespace kiln::builder {

using nlohmann::json;

namespace {

using Kind = ReferenceSpec::Kind;

bool is_variant(const packs::Program &program) {
  const auto spec = parse_reference(program.reference);
  return spec && spec->kind == Kind::variant;
}

ResultCheck find_check(const packs::Program &program, const ReferenceOptions &options,
                       const std::string &pack) {
  ResultCheck check;
  check.off = options.no_check;
  check.identity = check.off ? "nothing" : "source";
  if (check.off || program.reference.empty()) return check;
  Status status = Reference::find(program, pack, options).move_to(&check.reference);
  if (status.ok()) status = check.reference.content().move_to(&check.identity);
  if (!status.ok()) {
    check.reference = {};
    check.identity = "source";
    check.missing = status.message;
  }
  return check;
}

// "5 of 4096 elements differ, the worst by 3".
std::string difference_text(const Comparison &comparison, const Results &got) {
  if (!got.memory.empty()) {
    return fmt::format("the memory of {} of {} recorded launches differs", comparison.different,
                       got.memory.size());
  }
  std::size_t elements = 0;
  for (const Plane &plane : got.outputs) {
    elements += std::size_t{plane.width} * plane.height * plane.channels;
  }
  return fmt::format("{} of {} elements differ, the worst by {:.6g}", comparison.different,
                     elements, comparison.worst);
}

}  // namespace

ProblemSize ResultCheck::size(const packs::Program &program) const {
  return reference.only_size().value_or(small_problem(program));
}

bool ResultCheck::has_reference(const packs::Program &program,
                                const packs::Variant &variant) const {
  return !off && !variant.launches && reference.covers(variant, size(program));
}

std::vector<ResultCheck> find_checks(const std::vector<packs::Program> &programs,
                                     const ReferenceOptions &options, const std::string &input,
                                     const std::string &sources) {
  std::vector<ResultCheck> checks;
  for (const packs::Program &program : programs) {
    checks.push_back(find_check(program, options, is_variant(program) ? sources : input));
  }
  return checks;
}

Status write_sources(const std::vector<packs::Program> &programs, const std::string &path) {
  packs::Contents contents;
  std::copy_if(programs.begin(), programs.end(), std::back_inserter(contents.programs), is_variant);
  return contents.programs.empty() ? Status() : packs::write_pack(contents, path, {});
}

const Results &ExpectedResults::of(const JobRequest &request) {
  const ResultCheck &check = *request.check;
  Parameters parameters = all_parameters(request.variant, {});
  if (program_ == &request.program && device_ == &request.device && parameters == parameters_) {
    return results_;
  }
  program_ = &request.program;
  device_ = &request.device;
  parameters_ = std::move(parameters);
  results_ = {};
  const ProblemSize size = check.size(request.program);
  const auto inputs = check.reference.inputs(request.program, size);
  Status status = inputs.status();
  if (inputs.ok()) {
    status =
        check.reference.expected({request.variant, size, *inputs, parameters_, &request.device})
            .move_to(&results_.outputs);
  }
  if (!status.ok()) results_.none = status.message;
  return results_;
}

Expectation expectation_of(const JobRequest &request, const Results &built,
                           ExpectedResults *references) {
  if (request.check == nullptr) return {};
  if (request.check->off) return {{{}, {}, "it was asked not to compare them"}};
  const std::string at = size_text(request.check->size(request.program));
  if (request.check->has_reference(request.program, request.variant)) {
    const Results &right = references->of(request);
    // A device may be unable to run a variant that is the reference.
    const bool broken = right.empty() && !is_variant(request.program);
    return {right, request.program.reference + ", " + at, true, broken};
  }
  const std::string how = request.variant.launches ? "recorded launches on zeros" : at;
  return {built, std::string(packs::kProofBySource) + how};
}

Status judge(const Results &got, const Expectation &expected, double tolerance,
             packs::Finish *finish) {
  if (expected.broken) return {Code::failed, expected.results.none};
  if (expected.results.empty() || !expected.results.none.empty()) {
    finish->unproven = expected.results.none;
    return {};
  }
  if (got.empty()) {
    finish->unproven = got.none;
    return {};
  }
  const Comparison comparison = compare_results(got, expected.results, tolerance);
  if (comparison.check != Check::wrong) {
    finish->proof = expected.by;
    return {};
  }
  return {Code::failed,
          fmt::format("its results are wrong: {} instead of {}, which {} gives; {}", name_of(got),
                      name_of(expected.results), expected.by, difference_text(comparison, got))};
}

json to_json(const Results &results) {
  return {
      {"outputs", to_json(results.outputs)}, {"memory", results.memory}, {"none", results.none}};
}

Results results_from(const json &in) {
  return {planes_from(in["outputs"]), in["memory"], in["none"]};
}

Comparison compare_results(const Results &got, const Results &expected, double tolerance) {
  if (expected.memory.empty()) return compare_outputs(got.outputs, expected.outputs, tolerance);
  Comparison result;
  result.check = got.memory.size() == expected.memory.size() ? Check::exact : Check::wrong;
  for (std::size_t i = 0; i < got.memory.size() && i < expected.memory.size(); ++i) {
    if (got.memory[i] == expected.memory[i]) continue;
    if (result.different++ == 0) result.first_wrong = i;
    result.check = Check::wrong;
  }
  return result;
}

std::string name_of(const Results &results) {
  packs::Bytes bytes;
  for (const Plane &plane : results.outputs) {
    bytes.insert(bytes.end(), plane.pixels.begin(), plane.pixels.end());
  }
  const auto *memory = reinterpret_cast<const std::uint8_t *>(results.memory.data());
  bytes.insert(bytes.end(), memory, memory + results.memory.size() * sizeof(results.memory[0]));
  return packs::hex(packs::blake2b({bytes.data(), bytes.size()})).substr(0, 16);
}

}  // namespace kiln::builder
