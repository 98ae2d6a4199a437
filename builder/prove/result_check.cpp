// SPDX-License-Identifier: Apache-2.0
// Binds the proof's problem, launches it, and reads the results. Compares results by the planes'
// tolerance, and finds references beside the input.
#include "builder/prove/result_check.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "builder/finish/launch_twice.hpp"
#include "builder/problem/plane.hpp"
#include "builder/run/repeated_launch.hpp"
#include "builder/run/session.hpp"
#include "kiln/packs/contents.hpp"
#include "kiln/packs/writer.hpp"
#include "runtime/api/api.hpp"

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
  check.identity = "source";
  if (program.reference.empty()) return check;
  ReferenceOptions look = options;
  look.no_check = false;  // what an earlier binary was compared with counts all the same
  Status status = Reference::find(program, pack, look).move_to(&check.reference);
  if (status.ok()) status = check.reference.content().move_to(&check.identity);
  if (!status.ok()) {
    check.reference = {};
    check.identity = "source";
    check.missing = status.message;
  }
  if (check.off) check.reference = {};
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

bool is_filled(const std::vector<Plane> &planes, std::uint8_t value) {
  return std::all_of(planes.begin(), planes.end(), [&](const Plane &plane) {
    return std::all_of(plane.pixels.begin(), plane.pixels.end(),
                       [&](std::uint8_t byte) { return byte == value; });
  });
}

// Launches with outputs that held `value`.
Status launch_filled(const packs::Program &program, std::uint8_t value, Session *session,
                     std::vector<Plane> *outputs) {
  Launched ignored;
  Status status = session->fill_outputs(value);
  if (status.ok()) status = session->launch({}, &ignored);
  return status.ok() ? session->download(program_shape(program), outputs) : status;
}

Status launch_problem(const packs::Program &program, const std::vector<Plane> &inputs,
                      Session *session, Results *out) {
  Status status = session->upload(inputs);
  if (status.ok()) status = launch_filled(program, 0, session, &out->outputs);
  if (!status.ok() || !is_filled(out->outputs, 0)) return status;
  // Zeros may be right, or the launch did nothing: try again with another value.
  constexpr std::uint8_t kOther = 0xa5;
  std::vector<Plane> again;
  status = launch_filled(program, kOther, session, &again);
  if (status.ok() && is_filled(again, kOther)) out->none = "its launch changes no output";
  return status;
}

Results recorded_results(const Job &job, const runtime::Device &device, cl_program program) {
  Results results;
  const auto launches = recorded_launches(job.variant);
  Status status = launches.status();
  FirstLaunch seen;
  if (status.ok()) {
    status = launch_recorded(device, program, *launches, {},
                             longest_launch(job.build_microseconds, job.limits.timeout), &seen,
                             &results.memory);
  }
  if (status.ok() && !seen.executes) status = {Code::failed, kIdle};
  if (!status.ok()) results = {{}, {}, status.message};
  return results;
}

}  // namespace

ProblemSize ResultCheck::size(const packs::Program &program) const {
  return at ? *at : reference.only_size().value_or(small_problem(program));
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

const Results &ExpectedResults::of(const Job &job) {
  const ResultCheck &check = *job.check;
  Parameters parameters = all_parameters(job.variant, {});
  if (program_ == &job.program && device_ == &job.device && parameters == parameters_) {
    return results_;
  }
  program_ = &job.program;
  device_ = &job.device;
  parameters_ = std::move(parameters);
  results_ = {};
  const ProblemSize size = check.size(job.program);
  const auto inputs = check.reference.inputs(job.program, size);
  Status status = inputs.status();
  if (inputs.ok()) {
    status = check.reference.expected({job.variant, size, *inputs, parameters_, &job.device})
                 .move_to(&results_.outputs);
  }
  if (!status.ok()) results_.none = status.message;
  return results_;
}

Expectation expectation_of(const Job &job, const Results &built, ExpectedResults *references) {
  if (job.check == nullptr) return {};
  if (job.check->off) return {{{}, {}, "it was asked not to compare them"}};
  const std::string at = size_text(job.check->size(job.program));
  if (job.check->has_reference(job.program, job.variant)) {
    const Results &right = references->of(job);
    // A device may be unable to run a variant that is the reference.
    const bool broken = right.empty() && !is_variant(job.program);
    return {right, job.program.reference + ", " + at, true, broken};
  }
  const std::string how = job.variant.launches ? "recorded launches on zeros" : at;
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
  return {Code::wrong_results,
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
  return compare_memory(got.memory, expected.memory);
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

Status executes_commands(const PackOnDevice &opened, bool *out) {
  if (opened.cl().clEnqueueFillBuffer == nullptr) {
    return {Code::requirement, "there is no fill command"};
  }
  return ask_executes(*opened.child.device, opened.child.context.get(),
                      opened.queue.get()->queue.handle.get(), out);
}

packs::Program without_code(packs::Program program) {
  for (packs::Variant &variant : program.variants) {
    variant.source.reset();
    variant.il32.reset();
    variant.il64.reset();
  }
  return program;
}

Results launch_results(const PackOnDevice &opened, const kiln::Program &loaded,
                       const packs::Program &program, const packs::Variant &variant,
                       const ProblemSize &size, std::optional<std::vector<Plane>> inputs) {
  const auto workload = plan_workload(program, variant, size, {});
  if (!workload.ok()) return {{}, {}, workload.status().message};
  if (!inputs) inputs = make_inputs(program, size);
  Results results;
  Session session(opened.cl(), opened.loader, opened.queue);
  Status status = over_limits(opened.cl(), opened.child.device->id, *workload);
  if (status.ok()) status = session.load(loaded, variant);
  if (status.ok()) status = session.bind(*workload);
  if (status.ok()) status = launch_problem(program, *inputs, &session, &results);
  if (!status.ok()) results = {{}, {}, status.message};
  return results;
}

Results source_results(const Job &job, PackOnDevice *opened, runtime::BuiltProgram built,
                       const std::string &path) {
  if (job.variant.launches) {
    return recorded_results(job, *opened->child.device, built.program.get());
  }
  packs::Contents contents;
  contents.programs = {without_code(job.program)};
  Status status = packs::write_pack(contents, path, {});
  if (status.ok()) status = opened->open_another(path);
  const auto found = opened->find(job.program.name, job.variant.name);
  if (status.ok()) status = found.status();
  bool executes = false;
  if (status.ok()) status = executes_commands(*opened, &executes);
  if (status.ok() && !executes) status = {Code::failed, kIdle};
  if (!status.ok()) return {{}, {}, status.message};
  const kiln::Program adopted = opened->adopt(job.program.name, job.variant.name, std::move(built));
  return launch_results(*opened, adopted, *found->program, *found->variant,
                        job.check->size(job.program));
}

}  // namespace kiln::builder
