// SPDX-License-Identifier: Apache-2.0
// The same program from many threads is loaded once, and a prefetch is shared.
#include <thread>

#include "tests/runtime/fake/load.hpp"

using namespace kiln;
using namespace kiln::test;

namespace {

struct ManyPrograms {
  ManyPrograms() {
    reset_fake();
    kiln_device *device = fake_device();
    kiln_pack *pack = nullptr;
    REQUIRE(kiln_pack_open_memory(bytes.data(), bytes.size(), &pack, nullptr) == KILN_OK);
    REQUIRE(kiln_loader_create(device, pack, nullptr, &loader, nullptr) == KILN_OK);
    kiln_device_release(device);
    kiln_pack_release(pack);
  }
  ~ManyPrograms() {
    kiln_loader_release(loader);
    CHECK(fake().live == 0);
  }

  static packs::Bytes many_programs() {
    packs::Contents contents = fake_contents();
    for (std::uint8_t i = 0; i < 20; ++i) {
      packs::Program program = contents.programs[0];
      program.name = "program " + std::to_string(i);
      program.variants[0].hash[1] = i + 1;
      contents.programs.push_back(program);
    }
    contents.targets.clear();
    return written(contents);
  }

  packs::Bytes bytes = many_programs();
  kiln_loader *loader = nullptr;
};

template <typename Work>
void on_threads(unsigned count, Work work) {
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < count; ++i) threads.emplace_back(work, i);
  for (std::thread &thread : threads) thread.join();
}

struct Seen {
  std::mutex mutex;
  std::vector<std::string> programs;
  std::size_t last_total = 0;
  unsigned failed = 0;
  unsigned without_report = 0;
  std::size_t stop_after = 1000;

  static int add(const kiln_progress *progress, void *user) {
    Seen &seen = *static_cast<Seen *>(user);
    const std::lock_guard<std::mutex> lock(seen.mutex);
    seen.programs.push_back(progress->program);
    seen.last_total = progress->total;
    if (progress->status != KILN_OK) ++seen.failed;
    if (kiln_report_json(progress->report) == nullptr) ++seen.without_report;
    return seen.programs.size() >= seen.stop_after;
  }
};

}  // namespace

TEST_CASE_METHOD(ManyPrograms, "many threads that ask for one program load it once", "[load]") {
  std::vector<cl_program> programs(8);
  on_threads(8, [&](unsigned i) {
    kiln_program *program = nullptr;
    kiln_report *report = nullptr;
    if (kiln_load(loader, "p", nullptr, 0, &program, &report, nullptr) == KILN_OK) {
      programs[i] = kiln_program_cl(program);
    }
    kiln_program_release(program);
    kiln_report_release(report);
  });
  CHECK(fake().il.builds == 1);
  CHECK(programs[0] != nullptr);
  CHECK(programs == std::vector<cl_program>(8, programs[0]));
}

TEST_CASE_METHOD(ManyPrograms, "other flags are another load", "[load]") {
  kiln_program *il = nullptr;
  kiln_program *source = nullptr;
  CHECK(kiln_load(loader, "p", nullptr, 0, &il, nullptr, nullptr) == KILN_OK);
  CHECK(kiln_load(loader, "p", "v", KILN_LOAD_NO_IL, &source, nullptr, nullptr) == KILN_OK);
  CHECK(kiln_program_cl(il) != kiln_program_cl(source));
  kiln_program_release(il);
  kiln_program_release(source);
  kiln_error error{};
  CHECK(kiln_load(loader, "p", nullptr, 1u << 20, &il, nullptr, &error) == KILN_ERROR_ARGUMENT);
  CHECK(std::string(error.message) == "kiln_load: unknown bits in flags");
}

TEST_CASE_METHOD(ManyPrograms, "a load that failed is tried again", "[load]") {
  fake().il.build_code = fake().source.build_code = -11;
  kiln_program *program = nullptr;
  CHECK(kiln_load(loader, "p", nullptr, 0, &program, nullptr, nullptr) == KILN_ERROR_NO_RUNG);
  fake().il.build_code = 0;
  CHECK(kiln_load(loader, "p", nullptr, 0, &program, nullptr, nullptr) == KILN_OK);
  kiln_program_release(program);
}

TEST_CASE_METHOD(ManyPrograms, "threads share a prefetch, and each program is reported once",
                 "[load]") {
  Seen seen;
  std::vector<kiln_status> statuses(4, KILN_ERROR_ARGUMENT);
  on_threads(4, [&](unsigned i) {  // no checks here: Catch2's are for one thread
    statuses[i] = kiln_prefetch(loader, nullptr, 0, 0, Seen::add, &seen, nullptr);
  });
  CHECK(statuses == std::vector<kiln_status>(4, KILN_OK));
  CHECK(seen.without_report == 0);
  CHECK(fake().il.builds == 21);
  CHECK(seen.programs.size() == 21);
  CHECK(seen.last_total == 21);
  kiln_program *program = nullptr;
  CHECK(kiln_load(loader, "program 7", nullptr, 0, &program, nullptr, nullptr) == KILN_OK);
  CHECK(fake().il.builds == 21);
  kiln_program_release(program);
}

TEST_CASE_METHOD(ManyPrograms, "a prefetch goes on after what cannot be loaded, and can be stopped",
                 "[load]") {
  Seen seen;
  const char *const names[] = {"program 1", "unknown", "program 2"};
  CHECK(kiln_prefetch(loader, names, 3, 0, Seen::add, &seen, nullptr) == KILN_OK);
  CHECK(seen.programs.size() == 3);
  CHECK(seen.failed == 1);
  Seen stopped;
  stopped.stop_after = 2;
  CHECK(kiln_prefetch(loader, nullptr, 0, 0, Seen::add, &stopped, nullptr) == KILN_OK);
  CHECK(stopped.programs.size() == 2);
  CHECK(kiln_prefetch(loader, nullptr, 0, 1u << 29, nullptr, nullptr, nullptr) ==
        KILN_ERROR_ARGUMENT);
  CHECK(kiln_prefetch(loader, nullptr, 1, 0, nullptr, nullptr, nullptr) == KILN_ERROR_ARGUMENT);
}
