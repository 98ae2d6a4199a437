// SPDX-License-Identifier: Apache-2.0

#include <functional>
#include <set>

#include "builder/jobs/job_store.hpp"
#include "builder/process/child_result.hpp"
#include "tests/support/catch.hpp"

using namespace kiln;
using namespace kiln::builder;
using nlohmann::json;
using runtime::Field;

namespace {

// All that a request refers to.
struct Inputs {
  DeviceInfo device;
  packs::Program program;
  packs::Variant variant;
  bool finish = true;
  TunedSizes tuned{};
  std::vector<std::uint32_t> gpu_archs{};
  packs::Bytes device_entries{};
  std::chrono::milliseconds timeout{1000};

  Inputs() {
    device.identity.set(Field::device_name, "GPU");
    device.identity.set(Field::driver_version, "1");
    device.identity.set(Field::device_uuid, "00");
    device.description = runtime::describe(device.identity);
    device.capabilities.compiler = true;
    program.name = "blur";
    program.sizes = {{64, 64, 1}};
    variant.name = "plain";
    variant.hash = packs::variant_hash("source", "-DA", {"blur"});
    variant.options = "-DA";
    variant.kernels = {{"blur", 1}};
    variant.arguments = {packs::Argument()};
    variant.source.emplace(packs::Bytes{'s'});
    variant.il64.emplace(packs::Bytes{'i'});
  }

  Action action() {
    device.description = runtime::describe(device.identity);
    return action_of(
        {{{timeout}, finish, true, gpu_archs}, device, program, variant, tuned, device_entries},
        platform_of(device));
  }
};

using Change = std::function<void(Inputs *)>;

packs::Digest key_with(const Change &change) {
  Inputs inputs;
  change(&inputs);
  return inputs.action().key;
}

}  // namespace

TEST_CASE("a job's key changes with everything that its answer depends on") {
  const std::vector<Change> changes = {
      [](Inputs *) {},
      [](Inputs *i) { i->device.identity.set(Field::driver_version, "2"); },
      [](Inputs *i) { i->device.identity.set(Field::driver_uuid, ""); },
      [](Inputs *i) { i->device.identity.set(Field::device_name, "GPU \xff"); },
      [](Inputs *i) { i->device.identity.set(Field::device_name, "GPU \xfe"); },
      [](Inputs *i) { i->device.identity.set(Field::device_name, "GPU \xef\xbf\xbd"); },
      [](Inputs *i) { i->variant.hash[0] ^= 1; },
      [](Inputs *i) { i->variant.options = "-DB"; },
      [](Inputs *i) { i->variant.kernels[0].arguments = 2; },
      [](Inputs *i) { i->variant.kernels[0].range = "w"; },
      [](Inputs *i) {
        i->variant.kernels.push_back({"second", 1});
      },
      [](Inputs *i) { i->variant.source.emplace(packs::Bytes{'t'}); },
      [](Inputs *i) { i->variant.source.reset(); },
      [](Inputs *i) {
        i->device.capabilities.compiler = false;
        i->device.capabilities.il_versions = {1};
      },
      [](Inputs *i) { i->variant.launches.emplace(packs::Bytes{'l'}); },
      [](Inputs *i) {
        i->variant.pixels = {4, 1, 1};
      },
      [](Inputs *i) {
        i->variant.local_size = {8, 8, 1};
      },
      [](Inputs *i) {
        i->variant.local_sizes = {{8, 8, 1}};
      },
      [](Inputs *i) { i->variant.arguments[0].value = 3; },
      [](Inputs *i) { i->variant.arguments[0].values = {0.5}; },
      [](Inputs *i) { i->variant.arguments[0].fields = "int float"; },
      [](Inputs *i) { i->variant.arguments[0].fields = "int int"; },
      [](Inputs *i) { i->variant.arguments[0].extent = "w"; },
      [](Inputs *i) { i->variant.tolerance = 0.5; },
      [](Inputs *i) { i->variant.requirements = {"proof"}; },
      [](Inputs *i) {
        i->program.sizes.push_back({1, 1, 1});
      },
      [](Inputs *i) { i->program.reference = "library:a.so:f"; },
      [](Inputs *i) { i->finish = false; },
      [](Inputs *i) {
        i->tuned = {{"blur", {64, 1, 1}}};
      },
      [](Inputs *i) {
        i->tuned = {{"blur", {1, 64, 1}}};
      },
      [](Inputs *i) { i->gpu_archs = {1000}; },
      [](Inputs *i) { i->device_entries = {1}; },
  };
  std::set<packs::Digest> keys;
  for (const Change &change : changes) keys.insert(key_with(change));
  CHECK(keys.size() == changes.size());
}

TEST_CASE("a job's key does not depend on names, on the board, nor on how long it may take") {
  const packs::Digest key = key_with([](Inputs *) {});
  CHECK(key_with([](Inputs *i) { i->program.name = "other"; }) == key);
  CHECK(key_with([](Inputs *i) { i->variant.name = "other"; }) == key);
  CHECK(key_with([](Inputs *i) { i->device.index = 3; }) == key);
  CHECK(key_with([](Inputs *i) { i->device.identity.set(Field::device_uuid, "01"); }) == key);
  CHECK(key_with([](Inputs *i) { i->timeout = std::chrono::milliseconds(5); }) == key);
}

TEST_CASE("an action is canonical JSON with inputs, command, platform and outputs") {
  const Action action = Inputs().action();
  const json parsed = json::parse(action.text);
  CHECK(parsed.dump() == action.text);
  CHECK(parsed["recipe"] == kBuilderVersion);
  CHECK(parsed["command"]["compile"] == "source");
  CHECK(parsed["command"]["options"] == "-DA");
  CHECK(parsed["inputs"]["program"] ==
        packs::hex(packs::blake2b({reinterpret_cast<const std::uint8_t *>("s"), 1})));
  CHECK(parsed["platform"]["identity"]["driver_version"] == "1");
  CHECK_FALSE(parsed["platform"]["identity"].contains("device_uuid"));
  CHECK(parsed["outputs"] == json{"binary", "intermediate", "also"});
  CHECK(action.device == Inputs().device.label());
}

TEST_CASE("an answer is done, refused by the compiler, or failed where a process died") {
  CHECK(state_of({{"binary", 1}}) == JobState::done);
  CHECK(state_of(to_json(Status(Code::opencl, -11, "clBuildProgram"))) == JobState::refused);
  CHECK(state_of(to_json(Status(Code::opencl, -43, "clBuildProgram"))) == JobState::refused);
  CHECK(state_of(to_json(Status(Code::requirement, "no images there"))) == JobState::refused);
  CHECK(state_of(to_json(Status(Code::bad_input, "exit status 1"))) == JobState::refused);
  CHECK(state_of(to_json(Status(Code::failed, "cannot write"))) == JobState::failed);
  CHECK(state_of(to_json(Status(Code::opencl, -6, "out of host memory"))) == JobState::failed);
  CHECK(state_of(to_json(Status(Code::process, "crashed"))) == JobState::failed);
  CHECK(state_of({{"binary", 1}, {"finisher_died", "crashed"}}) == JobState::failed);
  CHECK(state_of({{"binary", 1}, {"died", true}}) == JobState::failed);
  CHECK(state_of({{"binary", 1}, {"died", false}}) == JobState::done);
  const json died = to_json(Status(Code::process, "crashed"));
  const json unknown = to_json(Status(Code::opencl, "no such architecture"));
  CHECK(state_of({{"binary", 1}, {"also", json::array({died})}}) == JobState::failed);
  CHECK(state_of({{"binary", 1}, {"also", json::array({unknown})}}) == JobState::done);
}

TEST_CASE("a refusal is taken from the store, a death is tried again until it was tried enough") {
  const StoreOptions plain{"file"}, fresh{"file", true}, retry{"file", false, true};
  CHECK(serves(plain, JobState::done, 0));
  CHECK(serves(plain, JobState::refused, 0));
  CHECK_FALSE(serves(plain, JobState::failed, kTries - 1));
  CHECK(serves(plain, JobState::failed, kTries));
  CHECK(serves(retry, JobState::done, 0));
  CHECK_FALSE(serves(retry, JobState::refused, 0));
  CHECK_FALSE(serves(retry, JobState::failed, kTries));
  for (const JobState state : {JobState::done, JobState::refused, JobState::failed}) {
    CHECK_FALSE(serves(fresh, state, kTries));
  }
  CHECK_FALSE(serves(plain, static_cast<JobState>(7), 0));
}
