// SPDX-License-Identifier: Apache-2.0

#include <functional>
#include <set>

#include "builder/jobs/earlier_binaries.hpp"
#include "builder/jobs/job_store.hpp"
#include "builder/jobs/origin.hpp"
#include "builder/process/child_result.hpp"
#include "builder/prove/result_check.hpp"
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
  std::string reference = "source";
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

  // What the origin, and the key with it, are made of.
  struct Digests {
    Origin origin;
    Action action;
  };
  Digests digests() {
    device.description = runtime::describe(device.identity);
    const Job request{
        {{timeout}, finish, true, gpu_archs}, device, program, variant, tuned, device_entries};
    packs::Contents base;
    base.programs = {program};
    base.programs[0].variants = {variant};
    ResultCheck check;
    check.identity = reference;
    const ProofOrigins proofs(base, {check});
    Origin origin{made_from(request), proofs.of(base.programs[0].variants[0])};
    Action action = action_of(request, origin, platform_of(device));
    return {std::move(origin), std::move(action)};
  }
  Action action() { return digests().action; }
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
      [](Inputs *i) { i->reference = "file 01"; },
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

TEST_CASE("an action is canonical JSON with inputs, command and platform") {
  const Action action = Inputs().action();
  const json parsed = json::parse(action.text);
  CHECK(parsed.dump() == action.text);
  CHECK(parsed["made"]["recipe"] == kBuilderVersion);
  CHECK(parsed["made"]["compile"] == "source");
  CHECK(parsed["made"]["options"] == "-DA");
  CHECK(parsed["made"]["inputs"]["program"] ==
        packs::hex(packs::blake2b({reinterpret_cast<const std::uint8_t *>("s"), 1})));
  CHECK(parsed["platform"]["identity"]["driver_version"] == "1");
  CHECK_FALSE(parsed["platform"]["identity"].contains("device_uuid"));
  CHECK(action.device == Inputs().device.label());
}

TEST_CASE("an origin tells what changes a binary's bytes from what changes its proof") {
  const auto origin_with = [](const Change &change) {
    Inputs inputs;
    change(&inputs);
    return inputs.digests().origin;
  };
  const Origin plain = origin_with([](Inputs *) {});
  CHECK(plain.made_from.size() == 16);
  CHECK(plain.proved_by.size() == 16);
  const std::vector<Change> of_the_proof = {
      [](Inputs *i) { i->reference = "file 01"; }, [](Inputs *i) { i->variant.tolerance = 0.5; },
      [](Inputs *i) { i->program.reference = "variant:plain"; },
      [](Inputs *i) { i->variant.requirements = {"proof"}; }};
  for (const Change &change : of_the_proof) {
    CHECK(origin_with(change).made_from == plain.made_from);
    CHECK(origin_with(change).proved_by != plain.proved_by);
  }
  const std::vector<Change> of_the_bytes = {[](Inputs *i) { i->finish = false; },
                                            [](Inputs *i) { i->variant.options = "-DB"; },
                                            [](Inputs *i) {
                                              i->tuned = {{"blur", {64, 1, 1}}};
                                            }};
  for (const Change &change : of_the_bytes) {
    CHECK(origin_with(change).made_from != plain.made_from);
    CHECK(origin_with(change).proved_by == plain.proved_by);
  }
  const Origin launched = origin_with([](Inputs *i) { i->variant.arguments[0].value = 3; });
  CHECK(launched.made_from != plain.made_from);
  CHECK(launched.proved_by != plain.proved_by);
  // A driver version that the key leaves out accepts the same binaries, but is another platform.
  const auto nvidia = [](const char *version) {
    return [version](Inputs *i) {
      i->device.identity.set(Field::device_vendor, "NVIDIA Corporation");
      i->device.identity.set(Field::platform_name, "NVIDIA CUDA");
      i->device.identity.set(Field::compute_capability, "9.0");
      i->device.identity.set(Field::driver_version, version);
    };
  };
  CHECK(origin_with(nvidia("1")).made_from == origin_with(nvidia("2")).made_from);
  CHECK(key_with(nvidia("1")) != key_with(nvidia("2")));
}

TEST_CASE("a proof is stale when its reference has changed, for each variant with its hash") {
  packs::Contents base;
  const Inputs inputs;
  base.programs = {inputs.program, inputs.program};
  base.programs[1].name = "twin";
  for (packs::Program &program : base.programs) program.variants = {inputs.variant};
  base.programs[1].variants[0].tolerance = 0.5;
  ResultCheck first, second;
  first.identity = "source";
  second.identity = "file 01";
  packs::Binary binary{inputs.variant.hash, packs::BlobSource(packs::Bytes{'b'}), ""};
  binary.finish.proof = "variant:plain, 64x64";
  const auto is_stale = [&] { return ProofOrigins(base, {first, second}).is_stale(binary); };
  CHECK(is_stale());  // of an earlier Kiln
  const ProofOrigins proofs(base, {first, second});
  for (const packs::Program &program : base.programs) {
    binary.finish.proved_by = proofs.of(program.variants[0]);
    CHECK_FALSE(is_stale());
  }
  CHECK_FALSE(proofs.needs_proof(binary.variant));
  second.identity = "file 02";
  CHECK(is_stale());
  second.missing = "file 02 is not here";  // nobody can tell
  CHECK_FALSE(is_stale());
  second.missing.clear();
  binary.finish.proof.clear();
  CHECK_FALSE(is_stale());
  binary.finish.proof = "variant:plain, 64x64";
  base.programs[0].variants[0].requirements = {"proof"};
  CHECK(ProofOrigins(base, {first, second}).needs_proof(binary.variant));
  packs::Contents earlier;
  earlier.targets.emplace_back().key = "name=A\n";
  earlier.targets[0].binaries = {binary};
  packs::Contents kept = base;
  CHECK(keep_earlier(earlier, ProofOrigins(base, {first, second}), &kept).stale == 1);
  CHECK(kept.targets.empty());  // it may be packed only with a proof
  base.programs[0].variants[0].requirements.clear();
  kept = base;
  CHECK(keep_earlier(earlier, ProofOrigins(base, {first, second}), &kept).stale == 1);
  REQUIRE(kept.targets.size() == 1);
  CHECK(kept.targets[0].binaries[0].finish.proof.empty());
  CHECK(kept.targets[0].binaries[0].finish.unproven ==
        "the arguments, sizes, tolerance or reference of its proof have changed");
  CHECK(keep_earlier(earlier, {}, &(kept = base)).stale == 0);
  CHECK(kept.targets == earlier.targets);
}

TEST_CASE("an earlier binary beyond a limit of any variant of its text is not kept") {
  const Inputs inputs;
  packs::Contents base;
  base.programs = {inputs.program, inputs.program};
  base.programs[1].name = "twin";
  for (packs::Program &program : base.programs) program.variants = {inputs.variant};
  packs::Binary binary{inputs.variant.hash, packs::BlobSource(packs::Bytes{'b'}), ""};
  binary.statistics = {{0, packs::StatisticName::registers, 24}};
  packs::Contents earlier;
  earlier.targets.emplace_back().key = "name=A\n";
  earlier.targets[0].binaries = earlier.targets[0].intermediates = {binary};
  const auto beyond = [&](std::uint64_t limit) {
    base.programs[1].variants[0].limits = {{0, packs::StatisticName::registers, limit}};
    packs::Contents kept = base;
    const std::size_t left_out = keep_earlier(earlier, {}, &kept).beyond;
    CHECK(kept.targets.empty() == (left_out == 2));
    return left_out;
  };
  CHECK(beyond(24) == 0);
  CHECK(beyond(23) == 2);
}

TEST_CASE("an answer is done, refused by the compiler, or failed where a process died") {
  CHECK(state_of({{"binary", 1}}) == JobState::done);
  CHECK(state_of(to_json(builder::Status(Code::opencl, -11, "clBuildProgram"))) ==
        JobState::refused);
  CHECK(state_of(to_json(builder::Status(Code::opencl, -43, "clBuildProgram"))) ==
        JobState::refused);
  CHECK(state_of(to_json(builder::Status(Code::requirement, "no images there"))) ==
        JobState::refused);
  CHECK(state_of(to_json(builder::Status(Code::bad_input, "exit status 1"))) == JobState::refused);
  CHECK(state_of(to_json(builder::Status(Code::failed, "cannot write"))) == JobState::failed);
  CHECK(state_of(to_json(builder::Status(Code::opencl, -6, "out of host memory"))) ==
        JobState::failed);
  CHECK(state_of(to_json(builder::Status(Code::process, "crashed"))) == JobState::failed);
  CHECK(state_of({{"binary", 1}, {"finisher_died", "crashed"}}) == JobState::failed);
  CHECK(state_of({{"binary", 1}, {"died", true}}) == JobState::failed);
  CHECK(state_of({{"binary", 1}, {"died", false}}) == JobState::done);
  const json died = to_json(builder::Status(Code::process, "crashed"));
  const json unknown = to_json(builder::Status(Code::opencl, "no such architecture"));
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
