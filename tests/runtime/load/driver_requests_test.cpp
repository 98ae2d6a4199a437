// SPDX-License-Identifier: Apache-2.0
// What a driver is asked besides loading and launching, against the fake one: to unload its
// compiler, its performance, its clocks, the end of a command.
#include <sys/wait.h>
#include <unistd.h>

#include "kiln/driver.hpp"
#include "kiln/overlay.h"
#include "tests/runtime/fake/launch_ready.hpp"

using namespace kiln;
using namespace kiln::test;

namespace {

kiln_unload unload(kiln_loader *loader, kiln_status expected = KILN_OK) {
  kiln_unload done{};
  kiln_error error{};
  CHECK(kiln_loader_unload_compiler(loader, &done, &error) == expected);
  return done;
}

// Notices of unloading, with what became of it.
std::vector<std::pair<kiln_outcome, std::string>> notices;
void listen(const kiln_notice *notice, void *) {
  if (notice->kind == KILN_NOTICE_UNLOADED) notices.emplace_back(notice->outcome, notice->text);
}

kiln_loader_options listening(const char *overlay = nullptr) {
  kiln_loader_options options = {};
  options.size = sizeof(options);
  options.notice = listen;
  kiln_loader_use_overlay(&options, overlay, 0);
  notices.clear();
  return options;
}

constexpr unsigned kSource = KILN_LOAD_NO_BINARY | KILN_LOAD_NO_IL;

}  // namespace

TEST_CASE("the compiler is unloaded where something was compiled, and only when asked",
          "[unload]") {
  const kiln_loader_options options = listening();
  for (const unsigned flags : {kSource, unsigned{KILN_LOAD_NO_BINARY}}) {
    reset_fake();
    const FakeLoad load(written(fake_contents()), flags, "p", nullptr, &options);
    CHECK(fake().unloads == 0);
    CHECK(unload(load.loader) == KILN_UNLOAD_CALLED);
    CHECK(fake().unloads == 1);
  }
  reset_fake();
  packs::Contents contents = fake_contents();
  contents.targets[0].binaries[0].finish.finality = packs::Finality::yes;
  const FakeLoad binary(written(contents), 0, "p", nullptr, &options);
  CHECK(binary.rung() == KILN_RUNG_EXACT);
  CHECK(unload(binary.loader) == KILN_UNLOAD_NOT_NEEDED);
  CHECK(fake().unloads == 0);
}

TEST_CASE("a load that failed on source, or that the driver recompiled, has used the compiler",
          "[unload]") {
  reset_fake();
  fake().source.build_code = CL_BUILD_PROGRAM_FAILURE;
  const FakeLoad failed(written(fake_contents()), kSource);
  CHECK(failed.status == KILN_ERROR_NO_RUNG);
  CHECK(unload(failed.loader) == KILN_UNLOAD_CALLED);
  reset_fake();
  packs::Contents contents = fake_contents();
  contents.targets[0].binaries[0].finish.finality = packs::Finality::yes;
  fake().binary.binary = "another";
  const FakeLoad recompiled(written(contents), KILN_LOAD_CHECK_RECOMPILED);
  CHECK(unload(recompiled.loader) == KILN_UNLOAD_CALLED);
}

TEST_CASE("a call is reported by a notice, and in the reports of later loads", "[unload]") {
  reset_fake();
  const kiln_loader_options options = listening();
  packs::Contents contents = fake_contents();
  contents.programs.push_back(contents.programs[0]);
  contents.programs[1].name = "q";
  const FakeLoad load(written(contents), kSource, "p", nullptr, &options);
  const std::string note = "the driver was asked to unload its compiler before";
  CHECK(load.json().find(note) == std::string::npos);
  CHECK(unload(load.loader) == KILN_UNLOAD_CALLED);
  REQUIRE(notices.size() == 1);
  CHECK(notices[0].first == KILN_OUTCOME_LOADED);
  CHECK(notices[0].second == "clUnloadPlatformCompiler was called");
  kiln_program *program = nullptr;
  kiln_report *report = nullptr;
  CHECK(kiln_load(load.loader, "q", nullptr, kSource, &program, &report, nullptr) == KILN_OK);
  CHECK(std::string(kiln_report_json(report)).find(note) != std::string::npos);
  kiln_report_release(report);
  kiln_program_release(program);
  fake().unload_code = CL_OUT_OF_RESOURCES;
  CHECK(unload(load.loader, KILN_ERROR_OPENCL) == KILN_UNLOAD_CALLED);
  REQUIRE(notices.size() == 2);
  CHECK(notices[1].first == KILN_OUTCOME_FAILED);
  CHECK(notices[1].second == "clUnloadPlatformCompiler returned CL_OUT_OF_RESOURCES (-5)");
}

TEST_CASE("the compiler is not unloaded under a load, of this loader or of another", "[unload]") {
  reset_fake();
  const FakeLoad idle(written(fake_contents()), kSource);
  kiln_unload during = KILN_UNLOAD_CALLED;
  fake().source.on_build = [&] { during = unload(idle.loader); };
  const FakeLoad other(written(fake_contents()), kSource);
  CHECK(during == KILN_UNLOAD_BUSY);
  CHECK(fake().unloads == 0);
  fake().source.on_build = nullptr;
  CHECK(unload(idle.loader) == KILN_UNLOAD_CALLED);
}

TEST_CASE("a driver older than OpenCL 1.2 has no such call", "[unload]") {
  reset_fake();
  fake().device_version = "OpenCL 1.1 fake";
  packs::Contents contents = fake_contents();
  const FakeLoad load(written(contents), kSource);
  CHECK(unload(load.loader) == KILN_UNLOAD_NO_CALL);
  CHECK(fake().unloads == 0);
}

TEST_CASE("a driver that died of unloading is not asked again", "[unload]") {
  reset_fake();
  const TemporaryFolder folder;
  const std::string overlay = (folder.path() / "overlay").string();
  const kiln_loader_options options = listening(overlay.c_str());
  const auto unload_in_child = [&] {
    const pid_t child = fork();
    if (child == 0) {
      fake().on_unload = [] { _exit(7); };
      const FakeLoad load(written(fake_contents()), kSource, "p", nullptr, &options);
      unload(load.loader);
      _exit(0);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    return WEXITSTATUS(status);
  };
  CHECK(unload_in_child() == 7);
  {
    const FakeLoad load(written(fake_contents()), kSource, "p", nullptr, &options);
    CHECK(load.status == KILN_OK);
    CHECK(unload(load.loader) == KILN_UNLOAD_QUARANTINED);
    CHECK(fake().unloads == 0);
  }
  CHECK(kiln_overlay_clear(overlay.c_str(), nullptr) == KILN_OK);
  const FakeLoad load(written(fake_contents()), kSource, "p", nullptr, &options);
  CHECK(unload(load.loader) == KILN_UNLOAD_CALLED);
  CHECK(unload(load.loader) == KILN_UNLOAD_CALLED);
  CHECK(fake().unloads == 2);
}

TEST_CASE("the performance of a context is changed where the device can", "[performance]") {
  reset_fake();
  {
    Ready r;
    CHECK(kiln_loader_set_performance(r.load.loader, KILN_LEVEL_LOW, &r.error) ==
          KILN_ERROR_REQUIREMENT);
    CHECK(r.message() == "the device has no cl_qcom_perf_hint");
  }
  fake().extensions = "cl_qcom_perf_hint";
  Ready r;
  const auto set = [&](int level) {
    return kiln_loader_set_performance(r.load.loader, static_cast<kiln_level>(level), &r.error);
  };
  CHECK(set(KILN_LEVEL_HIGH) == KILN_OK);
  CHECK(fake().performance == 0x40C3);
  CHECK(set(KILN_LEVEL_MEDIUM) == KILN_OK);
  CHECK(fake().performance == 0x40C4);
  CHECK(set(KILN_LEVEL_LOW) == KILN_OK);
  CHECK(fake().performance == 0x40C5);
  CHECK(set(KILN_LEVEL_DEFAULT) == KILN_ERROR_ARGUMENT);
  CHECK(r.message() == "a level is low, medium or high");
  CHECK(fake().performance == 0x40C5);
  fake().performance_code = CL_INVALID_CONTEXT;
  CHECK(set(KILN_LEVEL_LOW) == KILN_ERROR_OPENCL);
  CHECK(r.message() == "clSetPerfHintQCOM returned CL_INVALID_CONTEXT (-34)");
  fake().recording_functions = false;
  CHECK(set(KILN_LEVEL_LOW) == KILN_ERROR_REQUIREMENT);
  CHECK(r.message() == "the driver has no clSetPerfHintQCOM");
}

TEST_CASE("both clocks are read where the platform has a host timer", "[timers]") {
  reset_fake();
  kiln_timers now{};
  kiln_error error{};
  const auto read = [&] {
    const Device device(fake_device());
    return kiln_device_timers(device.get(), &now, &error);
  };
  CHECK(read() == KILN_OK);
  CHECK(now.device == 1000);
  CHECK(now.host == 2000);
  fake().timer_code = CL_OUT_OF_RESOURCES;
  CHECK(read() == KILN_ERROR_OPENCL);
  fake().timer_resolution = 0;
  CHECK(read() == KILN_ERROR_REQUIREMENT);
  CHECK(error.message == std::string("the device has no clGetDeviceAndHostTimer"));
  reset_fake();
  fake().device_version = "OpenCL 2.0 fake";
  CHECK(read() == KILN_ERROR_REQUIREMENT);
}

TEST_CASE("an event tells when its command was complete, or else when it ended", "[times]") {
  reset_fake();
  Ready r;
  const kiln_ndrange range{1, {4, 0, 0}, {}, {}};
  kiln_event *event = nullptr;
  CHECK(kiln_launch(r.queue, r.kernel, &range, nullptr, 0, &event, &r.error) == KILN_OK);
  const auto complete = [&] {
    kiln_times times{};
    CHECK(kiln_event_times(event, &times, &r.error) == KILN_OK);
    CHECK(times.queued == 1);
    CHECK(times.submit == 2);
    CHECK(times.start == 3);
    CHECK(times.end == 4);
    return times.complete;
  };
  CHECK(complete() == 5);
  fake().profiling[4] = 3;  // complete before its end
  CHECK(complete() == 4);
  fake().profiling.resize(4);  // OpenCL 1.2 does not know it
  CHECK(complete() == 4);
  fake().profiling.resize(3);
  kiln_times times{};
  CHECK(kiln_event_times(event, &times, &r.error) == KILN_ERROR_OPENCL);
  kiln_event_release(event);
}

TEST_CASE("a function is called when an event's command is done", "[callback]") {
  reset_fake();
  Ready r;
  const kiln_ndrange range{1, {4, 0, 0}, {}, {}};
  kiln_event *event = nullptr;
  CHECK(kiln_launch(r.queue, r.kernel, &range, nullptr, 0, &event, &r.error) == KILN_OK);
  std::pair<cl_event, cl_int> seen{nullptr, 1};
  const auto note = [](cl_event of, cl_int status, void *user) {
    *static_cast<std::pair<cl_event, cl_int> *>(user) = {of, status};
  };
  CHECK(kiln_event_set_callback(event, note, &seen, &r.error) == KILN_OK);
  CHECK(seen.first == kiln_event_cl(event));
  CHECK(seen.second == CL_COMPLETE);
  fake().callback_code = CL_OUT_OF_RESOURCES;
  CHECK(kiln_event_set_callback(event, note, &seen, &r.error) == KILN_ERROR_OPENCL);
  CHECK(r.message() == "clSetEventCallback returned CL_OUT_OF_RESOURCES (-5)");
  kiln_event_release(event);
}
