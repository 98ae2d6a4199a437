// SPDX-License-Identifier: Apache-2.0
// Many threads on one device through the C API, as an application uses it: the same and
// different programs at once, loaders, queues, programs and reports shared, packs from a
// file, a descriptor and memory, handles released in every order. Run as it is, under the
// sanitizers and under valgrind; what it checks itself is that every number is right.
//   stress_test runtime.kiln [threads [rounds]]
// Exit code 77, with the reason, where there is no device.
#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "kiln/overlay.h"
#include "kiln/packs/contents.hpp"
#include "kiln/packs/writer.hpp"
#include "kiln/prefetch.h"
#include "runtime/api/api.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace kiln;

namespace {

template <auto release>
struct Release {
  template <typename T>
  void operator()(T *handle) const {
    release(handle);
  }
};
using OpenCL = std::unique_ptr<kiln_opencl, Release<kiln_opencl_release>>;
using Device = std::unique_ptr<kiln_device, Release<kiln_device_release>>;
using Pack = std::unique_ptr<kiln_pack, Release<kiln_pack_release>>;
using Loader = std::unique_ptr<kiln_loader, Release<kiln_loader_release>>;
using Program = std::unique_ptr<kiln_program, Release<kiln_program_release>>;
using Report = std::unique_ptr<kiln_report, Release<kiln_report_release>>;
using Kernel = std::unique_ptr<kiln_kernel, Release<kiln_kernel_release>>;
using Queue = std::unique_ptr<kiln_queue, Release<kiln_queue_release>>;
using Buffer = std::unique_ptr<kiln_buffer, Release<kiln_buffer_release>>;
using Event = std::unique_ptr<kiln_event, Release<kiln_event_release>>;

constexpr std::uint32_t kCount = 64;
constexpr std::uint32_t kFactor = 3;
constexpr std::size_t kPageOffset = 3 * 4096;  // where the pack begins in a file of its own

// What the threads load; the first two are launched too.
struct Choice {
  const char *program;
  const char *variant;
  bool launched;
};
constexpr Choice kChoices[] = {{"scale", "required", true},
                               {"scale", "stored", true},
                               {"scale", "a_plain", false},
                               {"invert", "image", false}};
constexpr std::size_t kChoiceCount = std::size(kChoices);

[[noreturn]] void give_up(const char *what, const char *message) {
  std::fprintf(stderr, "failed: %s: %s\n", what, message);
  std::exit(1);
}

void require(bool holds, const char *what, const char *message = "") {
  if (!holds) give_up(what, message);
}

// Calls a function of the C API whose last but one parameter is `out`.
template <typename Handle, typename Function, typename... Arguments>
Handle make(const char *what, Function function, Arguments... arguments) {
  kiln_error error = {KILN_OK, 0, ""};
  typename Handle::pointer made = nullptr;
  require(function(arguments..., &made, &error) == KILN_OK, what, error.message);
  return Handle(made);
}
#define MAKE(Handle, function, ...) make<Handle>(#function, function, __VA_ARGS__)

// The same for one without.
#define DO(function, ...)                                                              \
  do {                                                                                 \
    kiln_error do_error = {KILN_OK, 0, ""};                                            \
    require(function(__VA_ARGS__, &do_error) == KILN_OK, #function, do_error.message); \
  } while (0)

// Runs `work(thread)` on so many threads, which begin together.
void on_threads(std::size_t count, const std::function<void(std::size_t)> &work) {
  std::barrier together(static_cast<std::ptrdiff_t>(count));
  std::vector<std::thread> running;
  for (std::size_t thread = 0; thread < count; ++thread) {
    running.emplace_back([&, thread] {
      together.arrive_and_wait();
      work(thread);
    });
  }
  for (std::thread &thread : running) thread.join();
}

Device first_device(kiln_error *error) {
  kiln_opencl *opencl = nullptr;
  kiln_device *device = nullptr;
  if (kiln_opencl_open(nullptr, 0, &opencl, error) != KILN_OK) return nullptr;
  const OpenCL owner(opencl);
  kiln_device_open(opencl, 0, &device, error);
  return Device(device);
}

// The first device, opened once by each thread, none before another.
std::vector<Device> open_devices(std::size_t threads) {
  std::vector<Device> devices(threads);
  std::vector<kiln_error> errors(threads);
  on_threads(threads, [&](std::size_t thread) { devices[thread] = first_device(&errors[thread]); });
  for (std::size_t thread = 0; thread < threads; ++thread) {
    if (devices[thread] != nullptr) continue;
    require(devices[0] == nullptr, "every thread finds the device", errors[thread].message);
    const kiln_status status = errors[thread].status;
    const bool none = status == KILN_ERROR_NO_OPENCL || status == KILN_ERROR_NO_DEVICE;
    std::printf("%s: %s\n", none ? "SKIP" : "FAIL", errors[thread].message);
    std::exit(none ? 77 : 1);
  }
  return devices;
}

Program load(kiln_loader *loader, const Choice &choice, unsigned flags, Report *report) {
  kiln_error error = {KILN_OK, 0, ""};
  kiln_program *program = nullptr;
  kiln_report *made = nullptr;
  const kiln_status status =
      kiln_load(loader, choice.program, choice.variant, flags, &program, &made, &error);
  report->reset(made);
  require(made != nullptr, "kiln_load gives a report", error.message);
  require(status == KILN_OK, choice.variant, kiln_report_json(made));
  return Program(program);
}

// The pack at `base` with this device's own binaries added, so that the exact rung is used.
packs::Bytes exact_pack(kiln_device *device, const char *base) {
  packs::Contents contents;
  std::shared_ptr<const packs::Pack> opened;
  require(packs::Pack::open_file(base, &opened).ok(), base);
  require(packs::read_contents(opened, &contents).ok(), base);
  const Pack pack = MAKE(Pack, kiln_pack_open_file, base);
  const Loader loader = MAKE(Loader, kiln_loader_create, device, pack.get(), nullptr);
  packs::Target target;
  target.key = kiln_device_info(device, "key");
  for (const Choice &choice : kChoices) {
    Report report;
    const Program program = load(loader.get(), choice, KILN_LOAD_NO_IL, &report);
    packs::Bytes binary;
    require(runtime::program_binary(*device->device, kiln_program_cl(program.get()), &binary).ok(),
            "the driver's binary");
    packs::VariantRef variant;
    require(opened->find_variant(choice.program, choice.variant, &variant).ok(), "the variant");
    const packs::Digest hash = variant.hash();
    const auto same = [&](const packs::Binary &other) { return other.variant == hash; };
    if (std::any_of(target.binaries.begin(), target.binaries.end(), same)) continue;
    target.binaries.push_back(
        {hash, packs::BlobSource(std::move(binary)), "", {packs::KernelFacts{}}});
  }
  contents.targets = {target};
  const test::TemporaryFolder folder;
  const std::string path = folder.path() / "exact.kiln";
  const packs::Status written = packs::write_pack(contents, path);
  require(written.ok(), "write the exact pack", written.message.c_str());
  std::ifstream file(path, std::ios::binary);
  return packs::Bytes(std::istreambuf_iterator<char>(file), {});
}

// One pack in each way in which it can be opened; the file and the descriptor are gone after.
std::vector<Pack> open_packs(const packs::Bytes &bytes) {
  const test::TemporaryFolder folder;
  const std::string text(bytes.begin(), bytes.end());
  const std::string alone = folder.write("alone.kiln", text);
  const std::string within = folder.write("within", std::string(kPageOffset, '\0') + text + "end");
  std::vector<Pack> packs;
  packs.push_back(MAKE(Pack, kiln_pack_open_file, alone.c_str()));
  const int fd = open(within.c_str(), O_RDONLY | O_CLOEXEC);
  packs.push_back(MAKE(Pack, kiln_pack_open_descriptor, fd, kPageOffset, bytes.size()));
  close(fd);
  packs.push_back(MAKE(Pack, kiln_pack_open_memory, bytes.data(), bytes.size()));
  return packs;
}

// What threads share. Programs and reports are those of the choices.
struct Shared {
  std::vector<Device> devices;  // one for each thread
  std::vector<Pack> packs;
  std::vector<Loader> loaders;  // one for each pack
  Queue queue;
  std::vector<Program> programs;
  std::vector<Report> reports;
  Pack base;  // without binaries
  std::string overlay;
  mutable std::atomic<unsigned> notices{0};
};

// What one launch uses.
struct Launch {
  Program program;
  Report report;
  Kernel kernel;
  Queue queue;  // empty: the shared one
  Buffer values;
  Buffer sizes;
  Event event;

  // Releases everything, beginning with the handle `first`.
  void release(std::size_t first) {
    std::function<void()> releases[] = {[&] { program.reset(); }, [&] { report.reset(); },
                                        [&] { kernel.reset(); },  [&] { queue.reset(); },
                                        [&] { values.reset(); },  [&] { sizes.reset(); },
                                        [&] { event.reset(); }};
    std::rotate(releases, releases + first % std::size(releases), std::end(releases));
    for (const auto &one : releases) one();
  }
};

void fill(kiln_queue *queue, kiln_buffer *buffer) {
  void *address = nullptr;
  DO(kiln_buffer_map, queue, buffer, &address);
  auto *values = static_cast<std::uint32_t *>(address);
  for (std::uint32_t i = 0; i < kCount; ++i) values[i] = i;
  DO(kiln_buffer_unmap, queue, buffer);
}

void check(kiln_queue *queue, kiln_buffer *buffer) {
  void *address = nullptr;
  DO(kiln_buffer_map, queue, buffer, &address);
  const auto *values = static_cast<const std::uint32_t *>(address);
  for (std::uint32_t i = 0; i < kCount; ++i) {
    require(values[i] == kFactor * i, "a kernel computes the right numbers");
  }
  DO(kiln_buffer_unmap, queue, buffer);
}

// Loads, launches and checks in a queue; the handles stay in `out`.
void launch(kiln_loader *loader, kiln_queue *queue, Launch *out) {
  out->kernel = MAKE(Kernel, kiln_kernel_create, out->program.get(), nullptr);
  out->values = MAKE(Buffer, kiln_buffer_create, loader, kCount * 4, KILN_ACCESS_BOTH);
  out->sizes = MAKE(Buffer, kiln_buffer_create, loader, std::size_t{16}, KILN_ACCESS_WRITE);
  fill(queue, out->values.get());
  kiln_kernel *kernel = out->kernel.get();
  DO(kiln_kernel_set_buffer, kernel, 0, out->values.get());
  DO(kiln_kernel_set_value, kernel, 1, &kFactor, sizeof(kFactor));
  DO(kiln_kernel_set_value, kernel, 2, &kCount, sizeof(kCount));
  DO(kiln_kernel_set_buffer, kernel, 3, out->sizes.get());
  const kiln_ndrange range = {2, {8, kCount / 8, 0}, {0, 0, 0}, {0, 0, 0}};
  out->event = MAKE(Event, kiln_launch, queue, kernel, &range, nullptr, std::size_t{0});
  kiln_times times;
  DO(kiln_event_times, out->event.get(), &times);
  require(times.start <= times.end, "a launch ends after its start");
  check(queue, out->values.get());
}

// A loader of the pack without binaries, which takes them from the overlay that all threads fill.
Loader overlay_loader(const Shared &shared, std::size_t thread) {
  kiln_loader_options options = {};
  options.size = sizeof(options);
  kiln_loader_use_overlay(&options, shared.overlay.c_str(), 0);
  options.notice = [](const kiln_notice *notice, void *user) {
    require(notice->text != nullptr, "a notice has a text");
    ++*static_cast<std::atomic<unsigned> *>(user);
  };
  options.notice_user = &shared.notices;
  return MAKE(Loader, kiln_loader_create, shared.devices[thread].get(), shared.base.get(),
              &options);
}

// All threads load all programs of one loader together.
void prefetch(const Shared &shared, std::size_t thread) {
  const char *const names[] = {"scale", "invert"};
  std::size_t seen = 0;
  const auto count = [](const kiln_progress *progress, void *user) {
    require(progress->status == KILN_OK, progress->program, kiln_report_json(progress->report));
    ++*static_cast<std::size_t *>(user);
    return 0;
  };
  kiln_loader *loader = shared.loaders[thread % shared.loaders.size()].get();
  DO(kiln_prefetch, loader, names, std::size(names), 0, count, &seen);
  require(seen <= std::size(names), "a program is reported once");
}

void one_round(const Shared &shared, std::size_t thread, std::size_t round) {
  const std::size_t turn = thread + round;
  const Choice &choice = kChoices[(round % 2 == 0 ? round : turn) % kChoiceCount];
  Loader own;
  kiln_loader *loader = shared.loaders[turn % shared.loaders.size()].get();
  const bool overlay = turn % 3 == 2;
  if (overlay) {
    own = overlay_loader(shared, thread);
    loader = own.get();
  }
  Launch mine;
  mine.program = load(loader, choice, 0, &mine.report);
  const kiln_rung rung = kiln_report_rung(mine.report.get());
  require(rung == KILN_RUNG_EXACT || (overlay && rung != KILN_RUNG_ERROR), "the exact rung is used",
          kiln_report_json(mine.report.get()));
  if (choice.launched) {
    mine.queue = MAKE(Queue, kiln_queue_create, loader, nullptr);
    launch(loader, mine.queue.get(), &mine);
  }
  own.reset();
  mine.release(turn);

  Launch common;  // on what all threads have in their hands
  for (std::size_t i = 0; i < kChoiceCount; ++i) {
    const std::string json = kiln_report_json(shared.reports[i].get());
    require(json.find(kChoices[i].variant) != std::string::npos, "a report names the variant");
    const Kernel kernel = MAKE(Kernel, kiln_kernel_create, shared.programs[i].get(), nullptr);
    require(kiln_kernel_cl(kernel.get()) != nullptr, "a kernel has its OpenCL handle");
  }
  kiln_loader *first = shared.loaders[0].get();
  common.program = load(first, kChoices[0], 0, &common.report);
  launch(first, shared.queue.get(), &common);
  common.release(turn);
}

// Programs loaded without a binary, so that each report has a nearest target to look for.
void share(kiln_device *device, const packs::Bytes &bytes, Shared *out) {
  out->packs = open_packs(bytes);
  for (const Pack &pack : out->packs) {
    out->loaders.push_back(MAKE(Loader, kiln_loader_create, device, pack.get(), nullptr));
  }
  out->queue = MAKE(Queue, kiln_queue_create, out->loaders[0].get(), nullptr);
  for (const Choice &choice : kChoices) {
    Report report;
    out->programs.push_back(load(out->loaders[0].get(), choice, KILN_LOAD_NO_BINARY, &report));
    out->reports.push_back(std::move(report));
  }
}

}  // namespace

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  const auto threads = static_cast<std::size_t>(argc > 2 ? std::atoi(argv[2]) : 4);
  const auto rounds = static_cast<std::size_t>(argc > 3 ? std::atoi(argv[3]) : 12);
  Shared shared;
  shared.devices = open_devices(threads);
  const packs::Bytes bytes = exact_pack(shared.devices[0].get(), argv[1]);
  share(shared.devices[0].get(), bytes, &shared);
  const test::TemporaryFolder folder;
  shared.overlay = folder.path() / "overlay";
  shared.base = MAKE(Pack, kiln_pack_open_file, argv[1]);
  on_threads(threads, [&](std::size_t thread) { prefetch(shared, thread); });
  for (std::size_t round = 0; round < rounds; ++round) {
    on_threads(threads, [&](std::size_t thread) { one_round(shared, thread, round); });
  }
  Report report;
  load(overlay_loader(shared, 0).get(), kChoices[0], 0, &report);
  require(kiln_report_rung(report.get()) == KILN_RUNG_OVERLAY, "the overlay was filled",
          kiln_report_json(report.get()));
  require(shared.notices > 0, "loads are noticed");
  shared.devices.clear();  // before everything that was made from them
  shared.packs.clear();
  std::printf("%zu threads, %zu rounds\n", threads, rounds);
  return 0;
}
