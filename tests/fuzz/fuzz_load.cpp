// SPDX-License-Identifier: Apache-2.0
// Loads from mutated packs and overlays on the first device; README.md says what must hold.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <new>

#include <sys/mman.h>

#include "builder/base/whole_file.hpp"
#include "builder/jobs/device_build.hpp"
#include "builder/machine/opened_device.hpp"
#include "builder/process/fork_call.hpp"
#include "builder/process/temporary_folder.hpp"
#include "builder/run/pack_on_device.hpp"
#include "builder/run/reference.hpp"
#include "builder/run/session.hpp"
#include "kiln/packs/writer.hpp"
#include "tests/fuzz/mutate.hpp"
#include "tests/fuzz/rehash.hpp"

using namespace kiln;
using namespace kiln::builder;
using nlohmann::json;
using test::Random;
namespace fs = std::filesystem;

namespace {

using packs::Status;

constexpr char kProgram[] = "laplace";
constexpr char kVariant[] = "scalar";
constexpr unsigned kBinaryOnly = KILN_LOAD_NO_IL | KILN_LOAD_NO_SOURCE;
constexpr unsigned kLaunchEvery = 50;  // loaded programs

struct Options {
  bool overlays = false;
  unsigned count = 0;
  unsigned seed = 1;
};

// What the rounds came to.
struct Counts {
  unsigned refused = 0;  // at opening the pack
  unsigned missed = 0;   // no rung
  unsigned loaded = 0;
  unsigned launched = 0;
};

packs::Bytes read_file(const fs::path &path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void write_file(const fs::path &path, const packs::Bytes &bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(reinterpret_cast<const char *>(bytes.data()),
            static_cast<std::streamsize>(bytes.size()));
}

// One device and context for all rounds, in the child.
class Fuzzer {
 public:
  Fuzzer(const DeviceInfo &info, packs::Contents contents, std::string folder, Options options,
         std::atomic<unsigned> *round)
      : info_(info),
        program_(contents.programs.at(0)),
        variant_(program_.variants.at(0)),
        folder_(std::move(folder)),
        options_(options),
        round_(round),
        random_(options.seed) {}

  Status run(Counts *counts) {
    if (Status s = child_.open(info_); !s.ok()) return s;
    auto opencl = kiln::OpenCL::open();
    if (!opencl) return status_of(opencl.error());
    if (Status s = take(opencl->device_from_cl(child_.device->id), &device_); !s.ok()) return s;
    pack_ = read_file(folder_ + "/good.kiln");
    if (options_.overlays) {
      if (Status s = prepare_overlay(); !s.ok()) return s;
    }
    for (*round_ = 0; *round_ < options_.count; ++*round_) {
      const Status s = options_.overlays ? overlay_round(counts) : pack_round(counts);
      if (!s.ok()) return s;
    }
    return {};
  }

 private:
  Status pack_round(Counts *counts) {
    packs::Bytes bytes = pack_;
    test::mutate(random_, &bytes);
    if (random_() % 2 == 0) test::repair({bytes.data(), bytes.size()});
    kiln_pack *pack = nullptr;
    if (bytes.empty() || kiln_pack_open_memory(bytes.data(), bytes.size(), &pack, nullptr) != 0) {
      ++counts->refused;
      return {};
    }
    const kiln::Pack owner(pack);
    return load(owner, kiln::LoaderOptions(), counts, nullptr);
  }

  // An overlay with an entry and a journal, as the first start leaves it; and a marker.
  Status prepare_overlay() {
    overlay_ = folder_ + "/overlay";
    auto pack = kiln::Pack::open_file(folder_ + "/base.kiln");
    if (!pack) return status_of(pack.error());
    auto loader = kiln::Loader::create(device_, *pack, overlay_options());
    if (!loader) return status_of(loader.error());
    auto loaded = loader->load(kProgram, kVariant);
    if (!loaded.program) return status_of(loaded.program.error());
    if (const kiln::Status stored = loader->finish(); !stored) return status_of(stored);
    for (const auto &entry : fs::directory_iterator(overlay_)) {
      originals_.emplace_back(entry.path(), read_file(entry.path()));
    }
    if (originals_.size() == 3) return {};
    return {Code::failed, "the overlay does not hold entry, journal and marker"};
  }

  // The hash of an entry's header; its texts and its binary have hashes of their own.
  static void repair_entry(packs::Bytes *bytes) {
    constexpr std::size_t kHeaderHashAt = 88;  // OVERLAY.md
    if (bytes->size() < kHeaderHashAt + 8 || (*bytes)[3] != 'O') return;
    const std::uint64_t hash = packs::xxh3(bytes->data(), kHeaderHashAt);
    std::memcpy(bytes->data() + kHeaderHashAt, &hash, sizeof(hash));
  }

  Status overlay_round(Counts *counts) {
    for (const auto &[path, bytes] : originals_) {
      packs::Bytes mutated = bytes;
      if (random_() % 2 == 0) test::mutate(random_, &mutated);
      if (random_() % 2 == 0) repair_entry(&mutated);
      write_file(path, mutated);
    }
    auto pack = kiln::Pack::open_file(folder_ + "/good.kiln");
    if (!pack) return status_of(pack.error());
    kiln_rung rung = KILN_RUNG_ERROR;
    if (Status s = load(*pack, overlay_options(), counts, &rung); !s.ok()) return s;
    // The pack is sound: whatever the overlay looks like, there is a binary.
    if (rung == KILN_RUNG_OVERLAY || rung == KILN_RUNG_EXACT) return {};
    return {Code::failed, "no binary was loaded"};
  }

  kiln::LoaderOptions overlay_options() const {
    kiln::LoaderOptions options;
    options.use_overlay(overlay_.c_str());
    return options;
  }

  Status load(const kiln::Pack &pack, kiln::LoaderOptions options, Counts *counts,
              kiln_rung *rung) {
    options.context = child_.context.get();
    auto loader = kiln::Loader::create(device_, pack, options);
    if (!loader) return status_of(loader.error());
    auto loaded = loader->load(kProgram, kVariant, kBinaryOnly);
    if (loaded.report.json().empty()) return {Code::failed, "no report"};
    if (rung != nullptr) *rung = loaded.report.rung();
    if (!loaded.program) {
      ++counts->missed;
      return {};
    }
    if (counts->loaded++ % kLaunchEvery != 0) return {};
    ++counts->launched;
    return launch(*loader, *loaded.program);
  }

  Status launch(const kiln::Loader &loader, const kiln::Program &program) {
    const ProblemSize size{19, 7, 1};
    const PlaneShape shape = program_shape(program_).inputs.front();
    const std::vector<Plane> inputs = {
        make_input(shape, size, static_cast<std::uint32_t>(random_()))};
    const auto workload = plan_workload(program_, variant_, size, {});
    if (!workload.ok()) return workload.status();
    kiln::Queue queue;
    Status status = take(kiln::Queue::create(loader), &queue);
    if (!status.ok()) return status;
    Session session(*child_.device->cl, loader, queue);
    Launched launched;
    std::vector<Plane> outputs;
    status = session.load(program, variant_);
    if (status.ok()) status = session.bind(*workload);
    if (status.ok()) status = session.upload(inputs);
    if (status.ok()) status = session.launch({}, &launched);
    if (status.ok()) status = session.download(program_shape(program_), &outputs);
    if (!status.ok()) return status;
    const auto reference = Reference::find(program_, folder_ + "/good.kiln", {});
    if (!reference.ok()) return reference.status();
    const Parameters parameters = all_parameters(variant_, {});
    const auto expected = reference->expected_here({variant_, size, inputs, parameters, nullptr});
    if (!expected.ok()) return expected.status();
    if (outputs.at(0).pixels == expected->at(0).pixels) return {};
    return {Code::failed, "the pixels are wrong"};
  }

  const DeviceInfo &info_;
  packs::Program program_;
  packs::Variant variant_;
  std::string folder_;
  std::string overlay_;
  Options options_;
  std::atomic<unsigned> *round_;
  Random random_;
  OpenedDevice child_;
  kiln::Device device_;
  packs::Bytes pack_;
  std::vector<std::pair<fs::path, packs::Bytes>> originals_;
};

// One variant, for the first device, as base pack and with its binary.
Status make_packs(const char *base_path, const std::string &folder, DeviceInfo *device,
                  packs::Contents *contents) {
  const auto listed = list_devices();
  if (!listed.ok()) return listed.status();
  *device = listed->front();
  std::shared_ptr<const packs::Pack> pack;
  Status status = packs::Pack::open_file(base_path, &pack);
  if (status.ok()) status = packs::read_contents(pack, contents);
  if (!status.ok()) return status;
  std::erase_if(contents->programs, [](const auto &p) { return p.name != kProgram; });
  std::erase_if(contents->programs.at(0).variants,
                [](const auto &v) { return v.name != kVariant; });
  status = packs::write_pack(*contents, folder + "/base.kiln");
  if (!status.ok()) return status;
  const BuildResult built = build_on_devices(*contents, {*device}, {}, {}, nullptr);
  if (!built.failures.empty()) return {Code::failed, built.failures[0].text};
  return packs::write_pack(built.contents, folder + "/good.kiln");
}

int fuzz(const char *base_path, const Options &options) {
  const auto folder = TemporaryFolder::make();
  if (!folder.ok()) {
    std::fprintf(stderr, "%s\n", folder.status().message.c_str());
    return 1;
  }
  DeviceInfo device;
  packs::Contents contents;
  if (Status s = make_packs(base_path, folder->path(), &device, &contents); !s.ok()) {
    std::fprintf(stderr, "%s\n", s.message.c_str());
    return 5;
  }
  void *shared = mmap(nullptr, sizeof(std::atomic<unsigned>), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return 1;
  auto *round = new (shared) std::atomic<unsigned>(0);
  const ChildResult result = fork_call(
      [&] {
        Counts counts;
        json answer =
            to_json(Fuzzer(device, contents, folder->path(), options, round).run(&counts));
        answer.update({{"refused", counts.refused},
                       {"missed", counts.missed},
                       {"loaded", counts.loaded},
                       {"launched", counts.launched}});
        return answer;
      },
      std::chrono::minutes(2 + options.count / 1000));
  const std::string what = options.overlays ? "overlays" : "packs";
  if (const Status s = result.status(); !s.ok()) {
    std::printf("%s on %s, seed %u, round %u: %s\n", what.c_str(), device.label().c_str(),
                options.seed, round->load(), s.message.c_str());
    return 1;
  }
  std::printf(
      "%u mutated %s on %s, no death: %u refused at opening, %u without a rung, %u "
      "loaded, %u of those launched with the right pixels\n",
      options.count, what.c_str(), device.label().c_str(), result.answer["refused"].get<unsigned>(),
      result.answer["missed"].get<unsigned>(), result.answer["loaded"].get<unsigned>(),
      result.answer["launched"].get<unsigned>());
  const bool meant = result.answer["loaded"] > 0 && result.answer["launched"] > 0;
  if (!meant) std::printf("but nothing was loaded: this shows nothing\n");
  return meant ? 0 : 1;
}

}  // namespace

int main(int argc, char **argv) {
  Options options;
  if (argc == 4 || argc == 5) {
    options.overlays = std::strcmp(argv[2], "overlays") == 0;
    options.count = static_cast<unsigned>(std::strtoul(argv[3], nullptr, 10));
    if (argc == 5) options.seed = static_cast<unsigned>(std::strtoul(argv[4], nullptr, 10));
  }
  const bool known = options.overlays || (argc > 2 && std::strcmp(argv[2], "packs") == 0);
  if (!known || options.count == 0) {
    std::fprintf(stderr, "usage: kiln_fuzz_load BASE.kiln packs|overlays COUNT [SEED]\n");
    return 2;
  }
  return fuzz(argv[1], options);
}
