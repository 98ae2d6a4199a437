#include "bench_startup.hpp"

#include <algorithm>
#include <cstdlib>

#include "child_device.hpp"
#include "isolate.hpp"
#include "kiln/kiln.hpp"
#include "plan.hpp"

namespace kiln::builder {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

// A variant to load and what loading it needs, read before any clock runs.
struct Item {
  std::string program;
  std::string variant;
  std::string options;
  packs::Bytes source;
  packs::Bytes binary;
  std::vector<std::string> kernels;
};

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// Empty caches of every driver that has one, for this process.
void empty_driver_caches(const std::string &folder) {
  setenv("POCL_CACHE_DIR", folder.c_str(), 1);
  setenv("MESA_SHADER_CACHE_DIR", folder.c_str(), 1);
  setenv("CUDA_CACHE_DISABLE", "1", 1);
  setenv("NEO_CACHE_PERSISTENT", "0", 1);
}

// Runs `work` in a fresh process; it gives an error or leaves its milliseconds in `ms`.
using Work = std::function<std::string(const ChildDevice &, double *ms)>;

json measure_in_child(const DeviceInfo &info, const Work &work) {
  ChildDevice child;
  if (std::string error = child.open(info); !error.empty()) return {{"error", error}};
  double ms = 0;
  const std::string error = work(child, &ms);
  if (!error.empty()) return {{"error", error}};
  return {{"ms", ms}};
}

// The bare calls, without any of Kiln's checks.
bool bare_load(const ChildDevice &child, const Item &item, bool from_source) {
  const runtime::OpenCL &cl = *child.device->cl;
  const cl_device_id id = child.device->id;
  const packs::Bytes &bytes = from_source ? item.source : item.binary;
  const unsigned char *data = bytes.data();
  const std::size_t size = bytes.size();
  const char *text = reinterpret_cast<const char *>(data);
  cl_int code = CL_SUCCESS;
  cl_program program =
      from_source
          ? cl.clCreateProgramWithSource(child.context.get(), 1, &text, &size, &code)
          : cl.clCreateProgramWithBinary(child.context.get(), 1, &id, &size, &data, nullptr, &code);
  if (code != CL_SUCCESS) return false;
  const char *options = from_source ? item.options.c_str() : nullptr;
  if (cl.clBuildProgram(program, 1, &id, options, nullptr, nullptr) != CL_SUCCESS) return false;
  for (const std::string &kernel : item.kernels) {
    if (cl.clCreateKernel(program, kernel.c_str(), &code) == nullptr) return false;
  }
  return true;
}

std::string load_bare(const ChildDevice &child, const std::vector<Item> &items, bool from_source,
                      double *ms) {
  const auto start = Clock::now();
  for (const Item &item : items) {
    if (!bare_load(child, item, from_source)) {
      return item.program + "/" + item.variant + ": the driver refused it";
    }
  }
  *ms = milliseconds_since(start);
  return {};
}

std::string load_through_kiln(const ChildDevice &child, const std::vector<Item> &items,
                              const std::string &pack_path, double *ms) {
  auto opencl = kiln::OpenCL::open();
  if (!opencl) return opencl.error().message;
  std::vector<kiln::Program> programs;
  std::vector<kiln::Kernel> kernels;
  const auto start = Clock::now();
  auto device = opencl->device_from_cl(child.device->id);
  if (!device) return device.error().message;
  auto pack = kiln::Pack::open_file(pack_path);
  if (!pack) return pack.error().message;
  kiln::LoaderOptions options;
  options.context = child.context.get();
  auto loader = kiln::Loader::create(*device, *pack, options);
  if (!loader) return loader.error().message;
  for (const Item &item : items) {
    kiln::Loaded loaded =
        loader->load(item.program, item.variant, KILN_LOAD_NO_IL | KILN_LOAD_NO_SOURCE);
    if (!loaded.program) return loaded.program.error().message;
    for (const std::string &name : item.kernels) {
      auto kernel = kiln::Kernel::create(*loaded.program, name);
      if (!kernel) return kernel.error().message;
      kernels.push_back(std::move(*kernel));
    }
    programs.push_back(std::move(*loaded.program));
  }
  *ms = milliseconds_since(start);
  return {};
}

packs::Status collect_items(const packs::Contents &contents, const DeviceInfo &device,
                            const std::string &program_name, std::vector<Item> *items) {
  const std::string key = runtime::key_text(device.description.key);
  for (const packs::Program &program : contents.programs) {
    if (!program_name.empty() && program.name != program_name) continue;
    for (const packs::Variant &variant : program.variants) {
      const packs::Binary *binary = earlier_binary(contents.targets, key, variant.hash);
      if (binary == nullptr || !variant.source) continue;
      Item item{program.name, variant.name, variant.options, {}, {}, {}};
      if (auto s = variant.source->read(&item.source); !s.ok()) return s;
      if (auto s = binary->blob.read(&item.binary); !s.ok()) return s;
      for (const packs::Kernel &kernel : variant.kernels) item.kernels.push_back(kernel.name);
      items->push_back(std::move(item));
    }
  }
  return {};
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  if (values.empty()) return 0;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

// One fresh process with empty caches; the error's text, or empty with the time appended.
std::string measure_once(const DeviceInfo &device, const Work &work,
                         std::chrono::milliseconds timeout, std::vector<double> *times) {
  const TemporaryFolder cache;
  const ChildResult result = run_isolated(
      [&] {
        empty_driver_caches(cache.path());
        return measure_in_child(device, work);
      },
      timeout);
  if (!result.ok()) return result.reason();
  if (result.answer.contains("error")) return result.answer["error"];
  times->push_back(result.answer["ms"]);
  return {};
}

}  // namespace

StartupRow bench_startup(const packs::Contents &contents, const DeviceInfo &device,
                         const StartupOptions &options,
                         const std::function<void(std::size_t, std::size_t)> &progress) {
  StartupRow row;
  row.device = device.label();
  std::vector<Item> items;
  const packs::Status status = collect_items(contents, device, options.program, &items);
  if (!status.ok()) row.error = status.message;
  if (row.error.empty() && items.empty()) row.error = "the pack has no binary for this device";
  row.programs = items.size();
  const Work works[3] = {
      [&](const ChildDevice &c, double *ms) { return load_bare(c, items, true, ms); },
      [&](const ChildDevice &c, double *ms) { return load_bare(c, items, false, ms); },
      [&](const ChildDevice &c, double *ms) {
        return load_through_kiln(c, items, options.pack_path, ms);
      }};
  std::vector<double> times[3];
  for (std::size_t round = 0; round < options.rounds && row.error.empty(); ++round) {
    if (progress) progress(round, options.rounds);
    for (int kind = 0; kind < 3 && row.error.empty(); ++kind) {
      row.error = measure_once(device, works[kind], options.timeout, &times[kind]);
    }
  }
  if (!row.error.empty()) return row;
  row.source = median(times[0]);
  row.floor = median(times[1]);
  row.kiln = median(times[2]);
  return row;
}

json to_json(const StartupRow &row) {
  if (!row.error.empty()) return {{"device", row.device}, {"error", row.error}};
  return {{"device", row.device},
          {"programs", row.programs},
          {"source_ms", row.source},
          {"floor_ms", row.floor},
          {"kiln_ms", row.kiln},
          {"ratio_to_floor", row.ratio()},
          {"microseconds_above_floor_per_program", row.microseconds_above_floor()}};
}

}  // namespace kiln::builder
