// SPDX-License-Identifier: Apache-2.0
#include "builder/launch/run_program.hpp"

#include <algorithm>

#include "builder/launch/opened_pack.hpp"
#include "builder/process/fork_call.hpp"
#include "builder/process/status_json.hpp"

namespace kiln::builder {
namespace {

using nlohmann::json;

json plane_json(const Plane &plane) {
  return {{"width", plane.width},
          {"height", plane.height},
          {"channels", plane.channels},
          {"name", plane.name},
          {"type", static_cast<int>(plane.type)},
          {"pixels", json::binary(plane.pixels)}};
}

Plane plane_from(const json &in) {
  return {in["width"],
          in["height"],
          in["channels"],
          in["name"],
          in["pixels"].get_binary(),
          static_cast<Type>(in["type"].get<int>())};
}

Result<packs::Program> read_program(const RunRequest &request) {
  std::shared_ptr<const packs::Pack> pack;
  packs::Contents contents;
  Status status = packs::Pack::open_file(request.pack_path.c_str(), &pack);
  if (status.ok()) status = packs::read_contents(pack, &contents);
  const packs::Program *program = status.ok() ? find_program(contents, request.program) : nullptr;
  if (program == nullptr) return pack_changed();
  return *program;
}

json launched_json(const Launched &launched) {
  json stages = json::array();
  for (std::size_t i = 0; i < launched.times.size(); ++i) {
    const kiln_times &t = launched.times[i];
    const kiln_ndrange &range = launched.ranges[i];
    stages.push_back({{"times", {t.queued, t.submit, t.start, t.end}},
                      {"dimensions", range.dimensions},
                      {"global", range.global},
                      {"local", range.local}});
  }
  return {{"stages", stages}, {"host_nanoseconds", launched.host_nanoseconds}};
}

Launched launched_from(const json &in) {
  Launched launched;
  launched.host_nanoseconds = in["host_nanoseconds"];
  for (const json &stage : in["stages"]) {
    const json &t = stage["times"];
    launched.times.push_back({t[0], t[1], t[2], t[3]});
    kiln_ndrange range{stage["dimensions"], {}, {}};
    for (std::size_t i = 0; i < 3; ++i) {
      range.global[i] = stage["global"][i];
      range.local[i] = stage["local"][i];
    }
    launched.ranges.push_back(range);
  }
  return launched;
}

// What the program is launched with, once it is loaded.
struct Opened {
  kiln::OpenCL opencl;
  kiln::Device device;
  kiln::Pack pack;
  kiln::Loader loader;
};

Status open(const RunRequest &request, Opened *out) {
  Status status = take(kiln::OpenCL::open(), &out->opencl);
  if (status.ok()) status = take(out->opencl.device(request.device.index), &out->device);
  if (!status.ok()) return status;
  if (out->device.info("key") != request.device.description.key.text()) {
    return {Code::no_device, "the device is not the one that was listed"};
  }
  kiln::LoaderOptions options;
  if (!request.overlay.empty()) options.overlay = request.overlay.c_str();
  options.deadline_milliseconds = static_cast<std::uint32_t>(request.deadline.count());
  status = take(kiln::Pack::open_file(request.pack_path), &out->pack);
  if (!status.ok()) return status;
  return take(kiln::Loader::create(out->device, out->pack, options), &out->loader);
}

Status launch(const RunRequest &request, const packs::Variant &variant, Session *session,
              Launched *launched) {
  const std::vector<NDSize> local(variant.kernels.size(), request.local);
  Status status = session->upload(request.inputs);
  for (unsigned i = 0; i < std::max(request.launches, 1u) && status.ok(); ++i) {
    status = session->fill_outputs(0);
    if (status.ok()) status = session->launch(local, launched);
  }
  return status;
}

// Launches what was loaded and puts the results into `answer`.
Status launch(const RunRequest &request, const Opened &opened, const kiln::Program &loaded,
              json *answer) {
  const auto program = read_program(request);
  if (!program.ok()) return program.status();
  const packs::Variant *variant = find_variant(*program, (*answer)["variant"].get<std::string>());
  if (variant == nullptr) return pack_changed();
  const auto workload = plan_workload(*program, *variant, request.size, request.parameters);
  if (!workload.ok()) return workload.status();
  std::shared_ptr<const runtime::OpenCL> cl;
  std::vector<runtime::DeviceId> ids;
  Status status = load_and_list(&cl, &ids);
  if (status.ok()) status = over_limits(*cl, opened.device.cl(), *workload);
  kiln::Queue queue;
  if (status.ok()) status = take(kiln::Queue::create(opened.loader), &queue);
  if (!status.ok()) return status;
  Session session(*cl, opened.loader, queue);
  Launched launched;
  std::vector<Plane> outputs;
  status = session.load(loaded, *variant);
  if (status.ok()) status = session.bind(*workload);
  if (status.ok()) status = launch(request, *variant, &session, &launched);
  if (status.ok()) status = session.download(program_shape(*program), &outputs);
  if (!status.ok()) return status;
  for (const Plane &plane : outputs) (*answer)["outputs"].push_back(plane_json(plane));
  (*answer)["launched"] = launched_json(launched);
  return {};
}

json run_in_child(const RunRequest &request) {
  Opened opened;
  if (Status s = open(request, &opened); !s.ok()) return to_json(s);
  kiln::Loaded loaded = opened.loader.load(request.program, request.variant, request.flags);
  json answer = to_json(status_of(loaded.program.error()));
  answer["report"] = json::parse(loaded.report.json());
  if (loaded.program) answer["variant"] = loaded.program->variant();
  if (!loaded.program || !request.launch) return answer;
  if (Status status = launch(request, opened, *loaded.program, &answer); !status.ok()) {
    status.code = Code::opencl;  // what was loaded cannot be launched, whatever the reason
    answer.update(to_json(status));
  }
  return answer;
}

}  // namespace

RunResult run_program(const RunRequest &request) {
  RunResult result;
  const ChildResult child = fork_call([&] { return run_in_child(request); }, request.timeout);
  result.status = child.status();
  if (!child.ok()) {
    result.status = {Code::opencl, request.device.label() + ": " + child.reason()};
    return result;
  }
  const json &answer = child.answer;
  result.report = answer.value("report", json());
  result.variant = answer.value("variant", "");
  if (!result.status.ok() || !request.launch) return result;
  result.launched = launched_from(answer["launched"]);
  for (const json &plane : answer["outputs"]) result.outputs.push_back(plane_from(plane));
  return result;
}

}  // namespace kiln::builder
