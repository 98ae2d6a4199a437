#include "bench_launch.hpp"

#include <algorithm>
#include <list>
#include <optional>

#include "child_device.hpp"
#include "isolate.hpp"
#include "kiln/kiln.hpp"
#include "kiln/packs/contents.hpp"
#include "manifest.hpp"

namespace kiln::builder {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kSide = 8;  // of the images and buffers that the kernel gets
constexpr kiln_ndrange kRange{2, {1, 1, 1}, {}};

// A loaded kernel with arguments, and what they name.
struct Subject {
  kiln::Loader loader;
  kiln::Queue queue;
  kiln::Kernel kernel;
  std::list<kiln::Buffer> buffers;
  std::list<kiln::Image> images;
  std::shared_ptr<const runtime::OpenCL> cl;
  std::string program;
  std::string variant;
};

template <typename T>
std::string take(kiln::Result<T> made, T *out) {
  if (!made) return made.error().message;
  *out = std::move(*made);
  return {};
}

std::string text_of(const kiln::Outcome &outcome) {
  return outcome ? std::string() : outcome.message;
}

std::string bind(Subject *s, unsigned index, const packs::Argument &argument) {
  switch (static_cast<Role>(argument.role)) {
    case Role::width:
    case Role::height: return text_of(s->kernel.set(index, kSide));
    case Role::parameter:
      return text_of(s->kernel.set(index, static_cast<cl_uint>(argument.value)));
    case Role::input:
    case Role::output: break;
  }
  if (static_cast<Storage>(argument.storage) == Storage::image) {
    std::string error =
        take(kiln::Image::create(s->loader, kSide, kSide, argument.channels, KILN_ACCESS_BOTH),
             &s->images.emplace_back());
    return error.empty() ? text_of(s->kernel.set(index, s->images.back())) : error;
  }
  std::string error =
      take(kiln::Buffer::create(s->loader, kSide * kSide * argument.channels, KILN_ACCESS_BOTH),
           &s->buffers.emplace_back());
  return error.empty() ? text_of(s->kernel.set(index, s->buffers.back())) : error;
}

const packs::Variant *find_variant(const packs::Contents &contents, const std::string &program,
                                   const std::string &name) {
  for (const packs::Program &p : contents.programs) {
    for (const packs::Variant &v : p.variants) {
      if (p.name == program && v.name == name) return &v;
    }
  }
  return nullptr;
}

// Loads the program's first variant and gives its kernel what the manifest says.
std::string load_program(Subject *s, const packs::Contents &contents, const std::string &program) {
  kiln::Loaded loaded = s->loader.load(program);
  if (!loaded.program) return loaded.program.error().message;
  s->program = program;
  s->variant = json::parse(loaded.report.json())["variant"];
  const packs::Variant *variant = find_variant(contents, program, s->variant);
  if (variant == nullptr || variant->arguments.empty()) {
    return "variant " + s->variant + " of " + program + " has no arguments in its manifest";
  }
  std::string error = take(kiln::Kernel::create(*loaded.program), &s->kernel);
  unsigned index = 0;
  for (const packs::Argument &argument : variant->arguments) {
    if (error.empty()) error = bind(s, index++, argument);
  }
  return error;
}

std::string prepare(const DeviceInfo &info, const LaunchBenchOptions &options, Subject *s) {
  ChildDevice child;
  if (std::string error = child.open(info); !error.empty()) return error;
  s->cl = child.device->cl;
  kiln::OpenCL opencl;
  kiln::Device device;
  kiln::Pack pack;
  std::string error = take(kiln::OpenCL::open(), &opencl);
  if (error.empty()) error = take(opencl.device_from_cl(child.device->id), &device);
  if (error.empty()) error = take(kiln::Pack::open_file(options.pack_path), &pack);
  if (error.empty()) error = take(kiln::Loader::create(device, pack), &s->loader);
  if (error.empty()) error = take(kiln::Queue::create(s->loader), &s->queue);
  std::shared_ptr<const packs::Pack> file;
  packs::Contents contents;
  if (error.empty() && (!packs::Pack::open_file(options.pack_path.c_str(), &file).ok() ||
                        !packs::read_contents(file, &contents).ok())) {
    error = "the pack changed while it was in use";
  }
  if (!error.empty()) return error;
  if (!options.program.empty()) return load_program(s, contents, options.program);
  error = "the pack has no programs";
  for (const packs::Program &program : contents.programs) {
    error = load_program(s, contents, program.name);
    if (error.empty()) return {};
  }
  return error;
}

// One way of launching: runs `launches` of them, and says what failed.
struct Way {
  std::function<std::string()> run;
  std::vector<double> nanoseconds;  // of each launch, by round
};

std::string bare_launches(const Subject &s, const kiln_ndrange &range, std::size_t launches,
                          cl_event *event) {
  const cl_command_queue queue = s.queue.cl();
  const cl_kernel kernel = s.kernel.cl();
  for (std::size_t i = 0; i < launches; ++i) {
    cl_event next = nullptr;
    const cl_int code = s.cl->clEnqueueNDRangeKernel(queue, kernel, range.dimensions, nullptr,
                                                     range.global, range.local, 0, nullptr, &next);
    if (code != CL_SUCCESS) return runtime::cl_failure("clEnqueueNDRangeKernel", code).message;
    if (*event != nullptr) s.cl->clReleaseEvent(*event);
    *event = next;
  }
  return {};
}

std::string kiln_launches(const Subject &s, std::size_t launches, kiln_event **event) {
  kiln_error error{};
  for (std::size_t i = 0; i < launches; ++i) {
    if (kiln_launch(s.queue.get(), s.kernel.get(), &kRange, nullptr, 0, event, &error) != KILN_OK) {
      return error.message;
    }
  }
  return {};
}

std::string measure(const Subject &s, const LaunchBenchOptions &options, Way (&ways)[3]) {
  for (std::size_t round = 0; round <= options.rounds; ++round) {
    for (std::size_t turn = 0; turn < 3; ++turn) {
      Way &way = ways[(round + turn) % 3];  // so that none is always first after the wait
      const auto start = Clock::now();
      std::string error = way.run();
      const std::chrono::duration<double, std::nano> taken = Clock::now() - start;
      if (error.empty()) error = text_of(s.queue.finish());
      if (!error.empty()) return error;
      // The first round makes what later ones use again.
      if (round > 0) {
        way.nanoseconds.push_back(taken.count() / static_cast<double>(options.launches));
      }
    }
  }
  return {};
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

const char *recording_name(kiln_recording kind) {
  switch (kind) {
    case KILN_RECORDING_COMMAND_BUFFER: return "command buffer";
    case KILN_RECORDING_RECORDABLE_QUEUE: return "recordable queue";
    case KILN_RECORDING_NONE: break;
  }
  return "none";
}

json measure_in_child(const DeviceInfo &info, const LaunchBenchOptions &options) {
  Subject s;
  std::string error = prepare(info, options, &s);
  if (!error.empty()) return {{"error", error}};
  auto planned = s.kernel.plan(kRange);
  kiln::Sequence sequence;
  error = take(kiln::Sequence::begin(s.queue), &sequence);
  for (std::size_t i = 0; i < options.launches && error.empty(); ++i) {
    error = text_of(sequence.add(s.kernel, kRange));
  }
  if (error.empty()) error = text_of(sequence.end());
  if (!error.empty()) return {{"error", error}};
  cl_event bare = nullptr;
  kiln_event *event = nullptr;
  kiln::Event whole;
  Way ways[3] = {{[&] { return bare_launches(s, *planned, options.launches, &bare); }, {}},
                 {[&] { return kiln_launches(s, options.launches, &event); }, {}},
                 {[&] { return text_of(sequence.run(&whole)); }, {}}};
  error = measure(s, options, ways);
  kiln_event_release(event);
  if (bare != nullptr) s.cl->clReleaseEvent(bare);
  if (!error.empty()) return {{"error", error}};
  return {{"program", s.program},
          {"variant", s.variant},
          {"recording", recording_name(sequence.kind())},
          {"bare", median(ways[0].nanoseconds)},
          {"kiln", median(ways[1].nanoseconds)},
          {"sequence", median(ways[2].nanoseconds)}};
}

}  // namespace

LaunchRow bench_launch(const DeviceInfo &device, const LaunchBenchOptions &options) {
  LaunchRow row;
  row.device = device.label();
  const ChildResult child =
      run_isolated([&] { return measure_in_child(device, options); }, options.timeout);
  if (!child.ok()) row.error = child.reason();
  if (child.ok()) row.error = child.answer.value("error", "");
  if (!row.error.empty()) return row;
  row.program = child.answer["program"];
  row.variant = child.answer["variant"];
  row.recording = child.answer["recording"];
  row.bare = child.answer["bare"];
  row.kiln = child.answer["kiln"];
  row.sequence = child.answer["sequence"];
  return row;
}

json to_json(const LaunchRow &row) {
  if (!row.error.empty()) return {{"device", row.device}, {"error", row.error}};
  return {{"device", row.device},        {"program", row.program},
          {"variant", row.variant},      {"recording", row.recording},
          {"bare_ns", row.bare},         {"kiln_ns", row.kiln},
          {"sequence_ns", row.sequence}, {"ns_above_bare", row.above_bare()},
          {"ratio_to_bare", row.ratio()}};
}

}  // namespace kiln::builder
