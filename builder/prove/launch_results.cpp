// SPDX-License-Identifier: Apache-2.0
// Binds the proof's problem, launches it, and reads the results.
#include "builder/prove/launch_results.hpp"

#include <algorithm>

#include "builder/finish/launch_twice.hpp"
#include "builder/launch/repeated_launch.hpp"
#include "builder/launch/session.hpp"
#include "builder/prove/result_check.hpp"
#include "kiln/packs/writer.hpp"
#include "runtime/api/api.hpp"

namespace kiln::builder {
namespace {

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

Results recorded_results(const JobRequest &request, const runtime::Device &device,
                         cl_program program) {
  Results results;
  const auto launches = recorded_launches(request.variant);
  Status status = launches.status();
  FirstLaunch seen;
  if (status.ok()) status = launch_recorded(device, program, *launches, {}, &seen, &results.memory);
  if (status.ok() && !seen.executes) status = {Code::failed, kIdle};
  if (!status.ok()) results = {{}, {}, status.message};
  return results;
}

}  // namespace

Status executes_commands(const OpenedPack &opened, bool *out) {
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

Results launch_results(const OpenedPack &opened, const kiln::Program &loaded,
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

Results source_results(const JobRequest &request, OpenedPack *opened, runtime::BuiltProgram built,
                       const std::string &path) {
  if (request.variant.launches) {
    return recorded_results(request, *opened->child.device, built.program.get());
  }
  packs::Contents contents;
  contents.programs = {without_code(request.program)};
  Status status = packs::write_pack(contents, path, {});
  if (status.ok()) status = opened->open_another(path);
  const auto found = opened->find(request.program.name, request.variant.name);
  if (status.ok()) status = found.status();
  bool executes = false;
  if (status.ok()) status = executes_commands(*opened, &executes);
  if (status.ok() && !executes) status = {Code::failed, kIdle};
  if (!status.ok()) return {{}, {}, status.message};
  const kiln::Program adopted =
      opened->adopt(request.program.name, request.variant.name, std::move(built));
  return launch_results(*opened, adopted, *found->program, *found->variant,
                        request.check->size(request.program));
}

}  // namespace kiln::builder
