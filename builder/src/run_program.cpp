#include "run_program.hpp"

#include <algorithm>

#include "isolate.hpp"

namespace kiln::builder {
namespace {

using nlohmann::json;

json image_json(const Image &image) {
  return {{"width", image.width},
          {"height", image.height},
          {"channels", image.channels},
          {"name", image.name},
          {"pixels", json::binary(image.pixels)}};
}

Image image_from(const json &in) {
  return {in["width"], in["height"], in["channels"], in["name"], in["pixels"].get_binary()};
}

json failed(kiln_status status, const std::string &text) {
  return {{"status", static_cast<int>(status)}, {"error", text}};
}

json failed(const kiln_error &error) { return failed(error.status, error.message); }

std::optional<packs::Variant> read_variant(const RunRequest &request, const std::string &name) {
  std::shared_ptr<const packs::Pack> pack;
  packs::Contents contents;
  if (!packs::Pack::open_file(request.pack_path.c_str(), &pack).ok() ||
      !packs::read_contents(pack, &contents).ok()) {
    return std::nullopt;
  }
  for (const packs::Program &program : contents.programs) {
    if (program.name != request.program) continue;
    for (const packs::Variant &variant : program.variants) {
      if (variant.name == name) return variant;
    }
  }
  return std::nullopt;
}

// Launches what was loaded and puts the results into `answer`.
std::string launch(const RunRequest &request, const kiln::Loader &loader,
                   const kiln::Program &program, json *answer) {
  const auto variant = read_variant(request, (*answer)["variant"]);
  if (!variant) return "the pack changed while it was in use";
  const std::uint32_t channels = input_channels(*variant);
  if (channels == 0) return "variant " + variant->name + " has no input argument in its manifest";
  std::string error;
  const auto input = read_png(*request.image_path, channels, &error);
  if (!input) return error;
  auto kernel = kiln::Kernel::create(program);
  if (!kernel) return kernel.error().message;
  auto queue = kiln::Queue::create(loader);
  if (!queue) return queue.error().message;
  Execution execution;
  for (unsigned i = 0; i < std::max(request.launches, 1u); ++i) {
    execution = {};
    error = execute(loader, *queue, *kernel, *variant, *input, request.parameters, request.local,
                    &execution);
    if (!error.empty()) return error;
  }
  for (const Image &plane : execution.outputs) (*answer)["outputs"].push_back(image_json(plane));
  const kiln_times &t = execution.times;
  (*answer)["times"] = {t.queued, t.submit, t.start, t.end};
  (*answer)["global"] = execution.range.global;
  (*answer)["local"] = execution.range.local;
  (*answer)["input"] = image_json(*input);
  return {};
}

json run_in_child(const RunRequest &request) {
  auto opencl = kiln::OpenCL::open();
  if (!opencl) return failed(opencl.error());
  auto device = opencl->device(request.device.index);
  if (!device) return failed(device.error());
  if (device->fact("key") != runtime::key_text(request.device.description.key)) {
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
  answer["variant"] = answer["report"]["variant"];
  if (!loaded.program || !request.image_path) return answer;
  const std::string error = launch(request, *loader, *loaded.program, &answer);
  if (!error.empty()) answer.update(failed(KILN_ERROR_OPENCL, error));
  return answer;
}

void read_execution(const json &answer, RunResult *result) {
  for (const json &plane : answer["outputs"]) {
    result->execution.outputs.push_back(image_from(plane));
  }
  const json &t = answer["times"];
  result->execution.times = {t[0], t[1], t[2], t[3]};
  result->execution.range.dimensions = 2;
  for (std::size_t i = 0; i < 3; ++i) {
    result->execution.range.global[i] = answer["global"][i];
    result->execution.range.local[i] = answer["local"][i];
  }
  result->input = image_from(answer["input"]);
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
  if (result.status == KILN_OK && request.image_path) read_execution(answer, &result);
  return result;
}

}  // namespace kiln::builder
