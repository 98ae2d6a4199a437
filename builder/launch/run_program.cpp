#include "builder/launch/run_program.hpp"

#include <algorithm>

#include "builder/launch/workbench.hpp"
#include "builder/process/fork_call.hpp"

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

json failed(kiln_status status, const std::string &text) {
  return {{"status", static_cast<int>(status)}, {"error", text}};
}

json failed(const kiln_error &error) { return failed(error.status, error.message); }

std::string read_program(const RunRequest &request, packs::Program *out) {
  std::shared_ptr<const packs::Pack> pack;
  packs::Contents contents;
  packs::Status status = packs::Pack::open_file(request.pack_path.c_str(), &pack);
  if (status.ok()) status = packs::read_contents(pack, &contents);
  const packs::Program *program = status.ok() ? find_program(contents, request.program) : nullptr;
  if (program == nullptr) return "the pack changed while it was in use";
  *out = *program;
  return {};
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

// Launches what was loaded and puts the results into `answer`.
std::string launch(const RunRequest &request, cl_device_id device, const kiln::Loader &loader,
                   const kiln::Program &loaded, json *answer) {
  packs::Program program;
  std::string error = read_program(request, &program);
  if (!error.empty()) return error;
  const packs::Variant *variant = find_variant(program, (*answer)["variant"].get<std::string>());
  if (variant == nullptr) return "the pack changed while it was in use";
  auto planned = plan_workload(program, *variant, request.size, request.parameters);
  if (const auto *why = std::get_if<std::string>(&planned)) return *why;
  std::shared_ptr<const runtime::OpenCL> cl;
  std::vector<runtime::DeviceId> ids;
  error = load_and_list(&cl, &ids);
  if (error.empty()) error = over_limits(*cl, device, std::get<Workload>(planned));
  kiln::Queue queue;
  if (error.empty()) error = take(kiln::Queue::create(loader), &queue);
  if (!error.empty()) return error;
  Session session(*cl, loader, queue);
  Launched launched;
  error = session.load(loaded, *variant);
  if (error.empty()) error = session.bind(std::get<Workload>(planned));
  if (error.empty()) error = session.upload(request.inputs);
  for (unsigned i = 0; i < std::max(request.launches, 1u) && error.empty(); ++i) {
    error = session.fill_outputs(0);
    if (error.empty()) {
      error =
          session.launch(std::vector<LocalSize>(variant->kernels.size(), request.local), &launched);
    }
  }
  std::vector<Plane> outputs;
  if (error.empty()) error = session.download(program_shape(program), &outputs);
  if (!error.empty()) return error;
  for (const Plane &plane : outputs) (*answer)["outputs"].push_back(plane_json(plane));
  (*answer)["launched"] = launched_json(launched);
  return {};
}

json run_in_child(const RunRequest &request) {
  auto opencl = kiln::OpenCL::open();
  if (!opencl) return failed(opencl.error());
  auto device = opencl->device(request.device.index);
  if (!device) return failed(device.error());
  if (device->info("key") != runtime::key_text(request.device.description.key)) {
    return failed(KILN_ERROR_NO_DEVICE, "the device is not the one that was listed");
  }
  auto pack = kiln::Pack::open_file(request.pack_path);
  if (!pack) return failed(pack.error());
  kiln::LoaderOptions options;
  if (!request.overlay.empty()) options.overlay = request.overlay.c_str();
  options.deadline_milliseconds = static_cast<std::uint32_t>(request.deadline.count());
  auto loader = kiln::Loader::create(*device, *pack, options);
  if (!loader) return failed(loader.error());
  kiln::Loaded loaded = loader->load(request.program, request.variant, request.flags);
  json answer = loaded.program ? json{{"status", 0}} : failed(loaded.program.error());
  answer["report"] = json::parse(loaded.report.json());
  if (loaded.program) answer["variant"] = loaded.program->variant();
  if (!loaded.program || !request.launch) return answer;
  const std::string error = launch(request, device->cl(), *loader, *loaded.program, &answer);
  if (!error.empty()) answer.update(failed(KILN_ERROR_OPENCL, error));
  return answer;
}

}  // namespace

RunResult run_program(const RunRequest &request) {
  RunResult result;
  const ChildResult child = run_isolated([&] { return run_in_child(request); }, request.timeout);
  if (!child.ok()) {
    result.status = KILN_ERROR_OPENCL;
    result.error = request.device.label() + ": " + child.reason();
    return result;
  }
  const json &answer = child.answer;
  result.status = static_cast<kiln_status>(answer["status"].get<int>());
  result.error = answer.value("error", "");
  result.report = answer.value("report", json());
  result.variant = answer.value("variant", "");
  if (result.status != KILN_OK || !request.launch) return result;
  result.launched = launched_from(answer["launched"]);
  for (const json &plane : answer["outputs"]) result.outputs.push_back(plane_from(plane));
  return result;
}

}  // namespace kiln::builder
