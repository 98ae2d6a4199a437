#include "bench_startup.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "child_device.hpp"
#include "isolate.hpp"
#include "kiln/kiln.hpp"
#include "kiln/packs/writer.hpp"
#include "measure.hpp"
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

// What Kiln is asked to load, and how.
struct KilnStart {
  std::string pack_path;
  std::string overlay;               // folder; empty: none
  kiln_rung rung = KILN_RUNG_EXACT;  // that everything must come from
  unsigned flags = KILN_LOAD_NO_IL | KILN_LOAD_NO_SOURCE;
};

std::string load_through_kiln(const ChildDevice &child, const std::vector<Item> &items,
                              const KilnStart &how, double *ms) {
  auto opencl = kiln::OpenCL::open();
  if (!opencl) return opencl.error().message;
  std::vector<kiln::Program> programs;
  std::vector<kiln::Kernel> kernels;
  kiln::LoaderOptions options;
  options.context = child.context.get();
  if (!how.overlay.empty()) options.overlay = how.overlay.c_str();
  const auto start = Clock::now();
  auto device = opencl->device_from_cl(child.device->id);
  if (!device) return device.error().message;
  auto pack = kiln::Pack::open_file(how.pack_path);
  if (!pack) return pack.error().message;
  auto loader = kiln::Loader::create(*device, *pack, options);
  if (!loader) return loader.error().message;
  for (const Item &item : items) {
    kiln::Loaded loaded = loader->load(item.program, item.variant, how.flags);
    if (!loaded.program) return loaded.program.error().message;
    if (loaded.report.rung() != how.rung)
      return "loaded from another rung: " + loaded.report.json();
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

// The variants of the program that are measured: those that the device can run (a binary may be
// there for another variant of the same source) and that have a binary, and where the program has
// an order of preference the first of it alone, as an application would load.
std::vector<std::pair<const packs::Variant *, const packs::Binary *>> measured_variants(
    const packs::Contents &contents, const DeviceInfo &device, const std::string &key,
    const packs::Program &program) {
  std::vector<std::pair<const packs::Variant *, const packs::Binary *>> found;
  for (const packs::Variant &variant : program.variants) {
    if (runtime::missing_requirement(variant.requirements, device.capabilities)) continue;
    const packs::Binary *binary = earlier_binary(contents.targets, key, variant.hash);
    if (binary != nullptr && variant.source) found.emplace_back(&variant, binary);
  }
  for (const std::string &name : program.preferred) {
    const auto it = std::find_if(found.begin(), found.end(),
                                 [&](const auto &pair) { return pair.first->name == name; });
    if (it != found.end()) return {*it};
  }
  return found;
}

packs::Status collect_items(const packs::Contents &contents, const DeviceInfo &device,
                            const std::string &program_name, std::vector<Item> *items) {
  const std::string key = runtime::key_text(device.description.key);
  for (const packs::Program &program : contents.programs) {
    if (!program_name.empty() && program.name != program_name) continue;
    for (const auto &[variant, binary] : measured_variants(contents, device, key, program)) {
      Item item{program.name, variant->name, variant->options, {}, {}, {}};
      if (auto s = variant->source->read(&item.source); !s.ok()) return s;
      if (auto s = binary->blob.read(&item.binary); !s.ok()) return s;
      for (const packs::Kernel &kernel : variant->kernels) item.kernels.push_back(kernel.name);
      items->push_back(std::move(item));
    }
  }
  return {};
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

// The overlay that a first start without any binary leaves, and copies of it for second ones.
class SecondStart {
 public:
  std::string prepare(packs::Contents contents, const DeviceInfo &device,
                      const std::vector<Item> &items, std::chrono::milliseconds timeout) {
    contents.targets.clear();
    const auto status = packs::write_pack(contents, folder_.path() + "/base.kiln");
    if (!status.ok()) return status.message;
    const auto first = [&](const ChildDevice &child, double *) {
      return compile_all(child, items);
    };
    std::vector<double> times;
    return measure_once(device, first, timeout, &times);
  }

  // A fresh copy, as the next start finds it.
  KilnStart next() {
    const std::string copy = folder_.path() + "/copy";
    std::filesystem::remove_all(copy);
    std::filesystem::copy(folder_.path() + "/first", copy);
    return {folder_.path() + "/base.kiln", copy, KILN_RUNG_OVERLAY, 0};
  }

 private:
  std::string compile_all(const ChildDevice &child, const std::vector<Item> &items) const {
    KilnStart how{folder_.path() + "/base.kiln", folder_.path() + "/first", KILN_RUNG_SOURCE,
                  KILN_LOAD_NO_IL};
    double ms = 0;
    return load_through_kiln(child, items, how, &ms);
  }

  TemporaryFolder folder_;
};

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
  SecondStart second;
  if (row.error.empty()) row.error = second.prepare(contents, device, items, options.timeout);
  KilnStart how{options.pack_path, "", KILN_RUNG_EXACT, KILN_LOAD_NO_IL | KILN_LOAD_NO_SOURCE};
  KilnStart again;
  const Work works[] = {
      [&](const ChildDevice &c, double *ms) { return load_bare(c, items, true, ms); },
      [&](const ChildDevice &c, double *ms) { return load_bare(c, items, false, ms); },
      [&](const ChildDevice &c, double *ms) { return load_through_kiln(c, items, how, ms); },
      [&](const ChildDevice &c, double *ms) { return load_through_kiln(c, items, again, ms); }};
  std::vector<double> times[4];
  for (std::size_t round = 0; round < options.rounds && row.error.empty(); ++round) {
    if (progress) progress(round, options.rounds);
    again = second.next();
    for (int kind = 0; kind < 4 && row.error.empty(); ++kind) {
      row.error = measure_once(device, works[kind], options.timeout, &times[kind]);
    }
  }
  if (!row.error.empty()) return row;
  row.source = median(times[0]);
  row.floor = median(times[1]);
  row.kiln = median(times[2]);
  row.overlay = median(times[3]);
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
          {"overlay_ms", row.overlay},
          {"overlay_ratio_to_floor", row.overlay_ratio()},
          {"microseconds_above_floor_per_program", row.microseconds_above_floor()}};
}

}  // namespace kiln::builder
