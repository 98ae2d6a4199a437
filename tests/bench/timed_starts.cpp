// SPDX-License-Identifier: Apache-2.0
// Starts programs on memory that was filled as an application fills it: by OpenCL's own calls, and
// by an application's calls of Kiln's C++ interface, from the pack to the first results.
#include "tests/bench/timed_starts.hpp"

#include <cstring>
#include <thread>

#include "builder/base/this_process.hpp"
#include "builder/finish/launch_twice.hpp"
#include "builder/run/pack_on_device.hpp"
#include "builder/run/session.hpp"
#include "runtime/api/api.hpp"
#include "runtime/launch/enqueue.hpp"
#include "runtime/launch/work_group.hpp"
#include "runtime/load/rungs.hpp"
#include "tests/bench/timed_calls.hpp"

namespace kiln::test {
namespace {

using namespace builder;
using builder::Code;
using builder::Status;

// The memory of a workload with its arguments, made before any clock runs.
class StartMemory {
 public:
  // Makes the memory. Fails with Code::opencl.
  Status make(const OpenedDevice &child, const StartItem &item);

  // Returns the value of each parameter of a stage.
  const std::vector<runtime::ArgumentValue> &arguments(std::size_t stage) const {
    return arguments_[stage];
  }

 private:
  Status set(const OpenedDevice &child, const Stage &stage);

  std::vector<MemoryObject> memories_;
  std::vector<runtime::Handle<cl_sampler>> samplers_;
  std::vector<std::vector<runtime::ArgumentValue>> arguments_;
};

// The kernels of a built program, in the order of the stages.
struct Built {
  std::vector<cl_kernel> kernels;
};

Status build(const OpenedDevice &child, const StartItem &item, StartFrom from, Built *out) {
  const runtime::OpenCL &cl = *child.device->cl;
  const cl_device_id id = child.device->id;
  const packs::Bytes &bytes = from == StartFrom::source   ? item.source
                              : from == StartFrom::driver ? item.driver
                                                          : item.binary;
  const unsigned char *data = bytes.data();
  const std::size_t size = bytes.size();
  const char *text = reinterpret_cast<const char *>(data);
  cl_int code = CL_SUCCESS;
  begin_part(Part::load);
  cl_program program =
      from == StartFrom::source
          ? cl.clCreateProgramWithSource(child.context.get(), 1, &text, &size, &code)
          : cl.clCreateProgramWithBinary(child.context.get(), 1, &id, &size, &data, nullptr, &code);
  const char *options = from == StartFrom::source ? item.options.c_str() : nullptr;
  if (code == CL_SUCCESS) code = cl.clBuildProgram(program, 1, &id, options, nullptr, nullptr);
  for (const Stage &stage : item.workload.stages) {
    if (code != CL_SUCCESS) break;
    out->kernels.push_back(cl.clCreateKernel(program, stage.kernel.c_str(), &code));
  }
  if (code == CL_SUCCESS) return {};
  return {Code::opencl, item.program + "/" + item.variant + ": the driver refused it"};
}

Status bind(const runtime::OpenCL &cl, const StartMemory &memory, const Built &built) {
  for (std::size_t s = 0; s < built.kernels.size(); ++s) {
    const auto &arguments = memory.arguments(s);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const cl_int code = cl.clSetKernelArg(built.kernels[s], static_cast<cl_uint>(i),
                                            arguments[i].size(), arguments[i].data());
      if (code != CL_SUCCESS) return runtime::cl_failure("clSetKernelArg", code);
    }
  }
  return {};
}

Status launch(const runtime::OpenCL &cl, cl_command_queue queue, const StartItem &item,
              const Built &built) {
  for (std::size_t s = 0; s < built.kernels.size(); ++s) {
    const Stage &stage = item.workload.stages[s];
    const auto global = runtime::pad_global_size(stage.global, item.local[s]);
    const cl_int code =
        cl.clEnqueueNDRangeKernel(queue, built.kernels[s], stage.dimensions, nullptr, global.data(),
                                  item.local[s].data(), 0, nullptr, nullptr);
    if (code != CL_SUCCESS) return runtime::cl_failure("clEnqueueNDRangeKernel", code);
  }
  const cl_int code = cl.clFinish(queue);
  return code == CL_SUCCESS ? Status() : runtime::cl_failure("clFinish", code);
}

constexpr std::uint8_t kFill = 0x40;  // the content of all memory

// Fills memory by mapping it, as an application does. Some drivers allocate memory and start
// threads only now.
Status fill(const runtime::OpenCL &cl, cl_command_queue queue, const Memory &memory,
            const MemoryObject &made) {
  if (packs::is_image(memory.storage)) {
    return with_image(cl, queue, made.object.get(), made.pixels.get(), image_desc(memory),
                      CL_MAP_WRITE, [&](const MappedRows &rows) {
                        for (std::size_t y = 0; y < memory.rows; ++y) {
                          std::memset(rows.row(y), kFill, memory.row_bytes());
                        }
                      });
  }
  cl_int code = CL_SUCCESS;
  void *mapped = cl.clEnqueueMapBuffer(queue, made.object.get(), CL_TRUE, CL_MAP_WRITE, 0,
                                       memory.bytes(), 0, nullptr, nullptr, &code);
  if (code != CL_SUCCESS) return runtime::cl_failure("clEnqueueMapBuffer", code);
  std::memset(mapped, kFill, memory.bytes());
  code = cl.clEnqueueUnmapMemObject(queue, made.object.get(), mapped, 0, nullptr, nullptr);
  return code == CL_SUCCESS ? Status() : runtime::cl_failure("clEnqueueUnmapMemObject", code);
}

Status StartMemory::make(const OpenedDevice &child, const StartItem &item) {
  const runtime::OpenCL &cl = *child.device->cl;
  const cl_context context = child.context.get();
  cl_int code = CL_SUCCESS;
  const runtime::Handle<cl_command_queue> queue(
      cl.clCreateCommandQueue(context, child.device->id, 0, &code), cl.clReleaseCommandQueue);
  if (code != CL_SUCCESS) return runtime::cl_failure("clCreateCommandQueue", code);
  for (const Memory &memory : item.workload.memories) {
    MemoryObject &made = memories_.emplace_back();
    Status status;
    if (packs::is_image(memory.storage)) {
      status =
          make_image(cl, context, image_format(memory), image_desc(memory), memory.bytes(), &made);
    } else {
      made.object = {cl.clCreateBuffer(context, CL_MEM_READ_WRITE, memory.bytes(), nullptr, &code),
                     cl.clReleaseMemObject};
      if (code != CL_SUCCESS) status = runtime::cl_failure("clCreateBuffer", code);
    }
    if (status.ok()) status = fill(cl, queue.get(), memory, made);
    if (!status.ok()) return status;
  }
  for (const Stage &stage : item.workload.stages) {
    if (Status status = set(child, stage); !status.ok()) return status;
  }
  code = cl.clFinish(queue.get());
  return code == CL_SUCCESS ? Status() : runtime::cl_failure("clFinish", code);
}

template <typename Handle>
std::string handle_bytes(const Handle &handle) {
  const auto object = handle.get();
  return {reinterpret_cast<const char *>(&object), sizeof(object)};
}

// Computes the values of the parameters of the next stage.
Status StartMemory::set(const OpenedDevice &child, const Stage &stage) {
  auto &all = arguments_.emplace_back();
  for (const Binding &binding : stage.bindings) {
    runtime::ArgumentValue value{{binding.bytes.begin(), binding.bytes.end()}, binding.local};
    if (binding.memory != SIZE_MAX) value.bytes = handle_bytes(memories_[binding.memory].object);
    if (binding.sampler) {
      Status made = make_sampler(*child.device->cl, child.context.get(), *binding.sampler,
                                 &samplers_.emplace_back());
      if (!made.ok()) return made;
      value.bytes = handle_bytes(samplers_.back());
    }
    all.push_back(std::move(value));
  }
  return {};
}

Status set_arguments(const StartMemory &memory, const std::vector<kiln::Kernel> &kernels) {
  for (std::size_t s = 0; s < kernels.size(); ++s) {
    const auto &arguments = memory.arguments(s);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const auto index = static_cast<unsigned>(i);
      const kiln::Status status =
          arguments[i].local != 0
              ? kernels[s].set(index, kiln::local(arguments[i].local))
              : kernels[s].set_bytes(index, arguments[i].data(), arguments[i].size());
      if (!status) return status_of(status);
    }
  }
  return {};
}

Status launch(const kiln::Queue &queue, const StartItem &item, std::vector<kiln::Kernel> &kernels) {
  for (std::size_t s = 0; s < kernels.size(); ++s) {
    const Stage &stage = item.workload.stages[s];
    const kiln_ndrange range{
        stage.dimensions, {stage.global[0], stage.global[1], stage.global[2]}, {}, {}};
    const kiln::Status launched = kernels[s].launch_into(nullptr, queue, range);
    if (!launched) return status_of(launched);
  }
  return status_of(queue.finish());
}

// A start of an application that uses Kiln, with one call for each part of the start.
class KilnApplication {
 public:
  KilnApplication(const OpenedDevice &child, const std::vector<StartItem> &items,
                  const KilnStart &how, bool launches)
      : child_(child), items_(items), how_(how), launches_(launches) {}

  Status run(StartTimes *out) {
    opencl_ = kiln::OpenCL(new kiln_opencl{child_.device->cl});
    Status status;
    memories_ = std::vector<StartMemory>(items_.size());
    for (std::size_t i = 0; i < items_.size() && launches_ && status.ok(); ++i) {
      status = memories_[i].make(child_, items_[i]);
    }
    kernels_.resize(items_.size());
    const auto start = Clock::now();
    if (status.ok()) status = open();
    if (status.ok() && how_.threads > 0) status = prefetch();
    for (std::size_t i = 0; i < items_.size() && status.ok(); ++i) {
      status = how_.steps ? step(i) : begin(i, out);
    }
    if (!status.ok() || how_.steps) return status;
    const double all = milliseconds_since(start);
    out->kernels = all;
    for (const double first : out->firsts) out->kernels -= first;
    if (launches_) out->results = all;
    for (std::size_t i = 0; i < items_.size() && launches_ && status.ok(); ++i) {
      const auto second = Clock::now();
      status = launch(queue_, items_[i], kernels_[i]);
      out->seconds.push_back(milliseconds_since(second));
    }
    if (status.ok() && how_.finish) status = status_of(loader_.finish());
    return status;
  }

 private:
  Status open() {
    kiln::LoaderOptions options;
    options.context = child_.context.get();
    if (!how_.overlay.empty()) options.use_overlay(how_.overlay.c_str());
    begin_part(Part::device);
    Status status = take(opencl_.device_from_cl(child_.device->id), &device_);
    begin_part(Part::pack);
    if (status.ok()) status = take(kiln::Pack::open_file(how_.pack_path), &pack_);
    begin_part(Part::loader);
    if (status.ok()) status = take(kiln::Loader::create(device_, pack_, options), &loader_);
    begin_part(Part::queue);
    // As the bare start's queue: without time stamps, and without an event for each launch.
    kiln_queue_options plain{};
    plain.size = sizeof(plain);
    plain.flags = KILN_QUEUE_NO_PROFILING;
    if (status.ok()) status = take(kiln::Queue::create(loader_, &plain), &queue_);
    begin_part(Part::none);
    return status;
  }

  // The programs stay loaded, so begin() finds them.
  Status prefetch() {
    std::vector<const char *> names;
    for (const StartItem &item : items_) names.push_back(item.program.c_str());
    std::vector<kiln::Status> ends(how_.threads);
    const auto work = [&](std::size_t thread) {
      ends[thread] = loader_.prefetch(names, nullptr, nullptr, how_.flags | KILN_LOAD_FOR_SMALL);
    };
    std::vector<std::thread> others;
    for (std::size_t i = 1; i < how_.threads; ++i) others.emplace_back(work, i);
    work(0);
    for (std::thread &other : others) other.join();
    for (const kiln::Status &end : ends) {
      if (!end) return status_of(end);
    }
    return {};
  }

  Status begin(std::size_t index, StartTimes *out) {
    const StartItem &item = items_[index];
    begin_part(Part::load);
    kiln::Loaded loaded = loader_.load(item.program, {}, how_.flags | KILN_LOAD_FOR_SMALL);
    if (!loaded.program) return status_of(loaded.program.error());
    const kiln_rung rung =
        how_.rung == KILN_RUNG_EXACT && item.intermediate ? KILN_RUNG_INTERMEDIATE : how_.rung;
    if (loaded.report.rung() != rung) {
      return {Code::failed, "loaded from another rung: " + loaded.report.json()};
    }
    begin_part(Part::kernels);
    for (const Stage &stage : item.workload.stages) {
      Status status = take(kiln::Kernel::create(*loaded.program, stage.kernel),
                           &kernels_[index].emplace_back());
      if (!status.ok()) return status;
    }
    begin_part(Part::none);
    if (!launches_) return {};
    const std::uintmax_t before = how_.caches.empty() ? 0 : compiled_bytes(how_.caches);
    const auto first = Clock::now();
    begin_part(Part::arguments);
    Status status = set_arguments(memories_[index], kernels_[index]);
    begin_part(Part::launch);
    if (status.ok()) status = launch(queue_, item, kernels_[index]);
    begin_part(Part::none);
    out->firsts.push_back(milliseconds_since(first));
    if (!how_.caches.empty()) out->compiled.push_back(compiled_bytes(how_.caches) > before);
    return status;
  }

  // Loads an item by the steps of a load, one after the other.
  Status step(std::size_t index) {
    const StartItem &item = items_[index];
    const runtime::Loader &loader = *loader_.get()->loader;
    begin_part(Part::choose);
    runtime::Choice choice;
    Status status = runtime::choose_variant(*loader.pack, *loader.device, item.program, {},
                                            packs::SizeClass::small, {}, &choice);
    if (!status.ok()) return status;
    const packs::VariantRef variant = choice.variant;
    begin_part(Part::look_up);
    const runtime::Wanted wanted{loader, item.program, variant, how_.flags | KILN_LOAD_FOR_SMALL,
                                 &scratch_};
    runtime::Offer offer;
    offer.outcome = KILN_OUTCOME_MISSED;
    const runtime::Rung *used = nullptr;
    for (const runtime::Rung &rung : runtime::rungs()) {
      if (!is_listed(rung, *loader.device) || !may_try(rung, wanted).ok()) continue;
      used = &rung;
      offer = std::move(offers_of(rung, wanted).front());
      if (offer) break;
    }
    if (!offer) return {Code::failed, item.program + ": no rung offers it"};
    begin_part(Part::read);
    const bool is_ready = offer.blob && offer.blob.codec() == packs::Codec::raw;
    if (is_ready) status = loader.pack->stored_bytes(offer.blob, &scratch_, &offer.bytes);
    if (offer.blob && !is_ready) {
      status = loader.pack->read_blob(offer.blob, &scratch_, &offer.bytes);
    }
    begin_part(Part::hash);
    if (is_ready && packs::xxh3(offer.bytes.data, offer.bytes.size) != offer.blob.xxh3()) {
      status = {Code::failed, item.program + ": its binary is damaged"};
    }
    if (!status.ok()) return status;
    begin_part(Part::guard);
    const runtime::DriverTask task{offer.id, used->id};
    runtime::Persistence *const persistence = loader.persistence.get();
    if (persistence != nullptr) (void)persistence->check(task, {variant.kernels().size()});
    runtime::Attempt attempt(persistence, task, 0);
    begin_part(Part::build);
    runtime::BuildOutcome outcome =
        build_program(*loader.device, loader.context.get(), used->form, offer.bytes,
                      variant.options(), runtime::expected_kernels(variant));
    begin_part(Part::guard);
    attempt.end(runtime::Event::proven);
    begin_part(Part::none);
    built_.push_back(std::move(outcome.built));
    return outcome.error;
  }

  const OpenedDevice &child_;
  const std::vector<StartItem> &items_;
  const KilnStart &how_;
  bool launches_;
  kiln::OpenCL opencl_;
  kiln::Device device_;
  kiln::Pack pack_;
  kiln::Loader loader_;
  kiln::Queue queue_;
  std::vector<StartMemory> memories_;
  std::vector<std::vector<kiln::Kernel>> kernels_;
  std::vector<runtime::BuiltProgram> built_;  // by steps
  packs::Bytes scratch_;
};

}  // namespace

Status start_bare(const OpenedDevice &child, const std::vector<StartItem> &items, StartFrom from,
                  bool with_launches, StartTimes *out) {
  const runtime::OpenCL &cl = *child.device->cl;
  std::vector<StartMemory> memories(items.size());
  for (std::size_t i = 0; i < items.size() && with_launches; ++i) {
    if (Status s = memories[i].make(child, items[i]); !s.ok()) return s;
  }
  std::vector<Built> built(items.size());
  const auto start = Clock::now();
  cl_int code = CL_SUCCESS;
  begin_part(Part::queue);
  cl_command_queue queue = cl.clCreateCommandQueue(child.context.get(), child.device->id, 0, &code);
  if (code != CL_SUCCESS) return runtime::cl_failure("clCreateCommandQueue", code);
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (Status s = build(child, items[i], from, &built[i]); !s.ok()) return s;
    begin_part(Part::none);
    if (!with_launches) continue;
    const auto first = Clock::now();
    begin_part(Part::arguments);
    if (Status s = bind(cl, memories[i], built[i]); !s.ok()) return s;
    begin_part(Part::launch);
    if (Status s = launch(cl, queue, items[i], built[i]); !s.ok()) return s;
    begin_part(Part::none);
    out->firsts.push_back(milliseconds_since(first));
  }
  const double all = milliseconds_since(start);
  out->kernels = all;
  for (const double first : out->firsts) out->kernels -= first;
  if (!with_launches) return {};
  out->results = all;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto second = Clock::now();
    if (Status s = launch(cl, queue, items[i], built[i]); !s.ok()) return s;
    out->seconds.push_back(milliseconds_since(second));
  }
  return {};
}

Status start_kiln(const OpenedDevice &child, const std::vector<StartItem> &items,
                  const KilnStart &how, bool launches, StartTimes *out) {
  return KilnApplication(child, items, how, launches).run(out);
}

}  // namespace kiln::test
