// SPDX-License-Identifier: Apache-2.0
#include "builder/jobs/plan.hpp"

#include "builder/compile/base_pack.hpp"
#include "builder/finish/launch_sizes.hpp"
#include "builder/jobs/device_build.hpp"
#include "builder/jobs/earlier_binaries.hpp"
#include "builder/jobs/job_runner.hpp"
#include "builder/jobs/workarounds.hpp"
#include "tests/support/catch.hpp"

using namespace kiln;
using builder::DeviceInfo;
using builder::Need;

namespace {

packs::Bytes bytes(const std::string &text) { return {text.begin(), text.end()}; }

packs::Variant variant(const std::string &name, std::vector<std::string> requirements = {}) {
  packs::Variant v;
  v.name = name;
  v.hash = packs::variant_hash("source of " + name, "-cl-std=CL1.2", {name});
  v.requirements = std::move(requirements);
  return v;
}

packs::Contents two_variants() {
  packs::Contents base;
  base.programs = {{"blur", "", {variant("fast", {"images"}), variant("plain")}}};
  return base;
}

DeviceInfo device(const char *driver, bool images) {
  DeviceInfo info;
  info.identity.set(runtime::Field::device_name, "GPU");
  info.identity.set(runtime::Field::driver_version, driver);
  info.description = runtime::describe(info.identity);
  info.capabilities.images = images;
  return info;
}

// A device whose binaries have that finisher, by its profile.
DeviceInfo device_of(const char *vendor, const char *platform, const char *driver) {
  using runtime::Field;
  DeviceInfo info;
  info.identity.set(Field::platform_name, platform);
  info.identity.set(Field::device_vendor, vendor);
  info.identity.set(Field::device_name, "GPU");
  info.identity.set(Field::device_version, "OpenCL 3.0");
  info.identity.set(Field::driver_version, driver);
  info.identity.set(Field::address_bits, "64");
  info.identity.set(Field::compute_capability, "9.0");
  info.description = runtime::describe(info.identity);
  info.capabilities.images = true;
  return info;
}

DeviceInfo nvidia(const char *driver) {
  return device_of("NVIDIA Corporation", "NVIDIA CUDA", driver);
}

// What an earlier pack has of the device for the variant "plain".
packs::Target target_of(const DeviceInfo &info) {
  packs::Target target;
  target.key = info.description.key.text();
  return target;
}

packs::Binary earlier_of(const packs::Contents &base, const char *finisher,
                         const char *driver = "") {
  packs::Binary binary{
      base.programs[0].variants[1].hash, packs::BlobSource(bytes("binary")), "", {}};
  binary.finish.finisher = finisher;
  binary.finish.driver = driver;
  return binary;
}

// What is to be done for the variant "plain" on one device.
builder::PlannedJob plain_job(const packs::Contents &base, const DeviceInfo &info,
                              const std::vector<packs::Target> &earlier,
                              const builder::PlanOptions &options = {}) {
  return builder::make_plan(base, {info}, earlier, options).at(1);
}

}  // namespace

TEST_CASE("a plan has a job for each device and variant, with its reason") {
  const auto base = two_variants();
  const std::vector<DeviceInfo> devices = {device("1", true), device("2", false)};
  const auto plan = builder::make_plan(base, devices, {});
  REQUIRE(plan.size() == 4);
  CHECK(plan[0].need == Need::compile);
  CHECK(plan[0].reason == "no binary for this source, these options and this driver yet");
  CHECK(plan[2].need == Need::skip);
  CHECK(plan[2].reason.find("the variant needs") == 0);
  CHECK(plan[3].need == Need::compile);
  CHECK(builder::job_name(base, devices, plan[3]) == "blur/plain for : GPU (driver 2)");
}

TEST_CASE("a plan skips IL that declares what the device does not report") {
  auto base = two_variants();
  packs::Variant &plain = base.programs[0].variants[1];
  const std::vector<std::uint32_t> head = {
      0x07230203,    0x00010000, 0,   1, 0,  // magic, version, generator, bound, schema
      2u << 16 | 17, 6,                      // OpCapability Kernel
      2u << 16 | 17, 18,                     // OpCapability Groups
      3u << 16 | 10, 0x4f465053, 0x4f};      // OpExtension "SPFOO"
  const std::vector<std::uint32_t> standard = {5u << 16 | 11, 1, 0x6e65704f, 0x732e4c43, 0x6474};
  const std::vector<std::uint32_t> other = {4u << 16 | 11, 2, 0x6e65704f, 0x00464f};  // "OpenOF"
  const std::vector<std::uint32_t> tail = {3u << 16 | 14, 2, 2,  // OpMemoryModel
                                           2u << 16 | 17, 99};   // too late to count
  packs::Bytes il;
  for (const auto *part : {&head, &standard, &other, &tail}) {
    for (const std::uint32_t word : *part) {
      for (unsigned shift = 0; shift < 32; shift += 8) il.push_back(word >> shift & 0xff);
    }
  }
  plain.il64.emplace(il);
  plain.il_version = 0x00010000;
  DeviceInfo info = device("1", true);
  info.capabilities.address_bits = 64;
  info.capabilities.il_versions = {0x00010000};
  const auto job_of = [&](const char *il_support) {
    info.capabilities.il_support = il_support;
    return plain_job(base, info, {});
  };
  const auto reason = [&](const char *il_support) {
    const builder::PlannedJob job = job_of(il_support);
    CHECK(job.need == Need::skip);
    return job.reason;
  };
  CHECK(job_of("").need == Need::compile);  // it does not answer
  CHECK(job_of(" 6 18 SPFOO OpenOF ").need == Need::compile);
  CHECK(reason(" 6 118 SPFOO OpenOF ") ==
        "the variant needs the SPIR-V capability Groups, which the device lacks");
  CHECK(reason(" 6 18 OpenOF ") ==
        "the variant needs the SPIR-V extension SPFOO, which the device lacks");
  CHECK(reason(" 6 18 SPFOO OpenCL.std ") ==
        "the variant needs the SPIR-V instruction set OpenOF, which the device lacks");
  il.resize(9 * sizeof(std::uint32_t));  // the last instruction is the last that counts
  plain.il64.emplace(il);
  CHECK(reason(" 6 118 SPFOO OpenOF ") ==
        "the variant needs the SPIR-V capability Groups, which the device lacks");
  plain.source.emplace(bytes("source"));
  info.capabilities.compiler = true;  // the source is compiled, not the IL
  CHECK(plain_job(base, info, {}).need == Need::compile);
}

TEST_CASE("a job of a recorded program is named with the first kernels") {
  auto base = two_variants();
  packs::Program &program = base.programs[0];
  const std::vector<DeviceInfo> devices = {device("2", false)};
  const builder::PlannedJob job = builder::make_plan(base, devices, {})[0];
  packs::Variant &variant = program.variants[job.variant];
  variant.name = "recorded-1";
  variant.kernels = {{"Iq", 1}, {"Iqxy", 1}, {"Imagnetic", 1}};
  program.name = "cl-0123456789abcdef0123456789abcdef";
  const std::string name = program.name + "/recorded-1";
  CHECK(builder::job_name(base, devices, job) == name + " (Iq, Iqxy, ...) for : GPU (driver 2)");
  variant.kernels.pop_back();
  CHECK(builder::job_name(base, devices, job) == name + " (Iq, Iqxy) for : GPU (driver 2)");
  variant.kernels.clear();
  CHECK(builder::job_name(base, devices, job) == name + " for : GPU (driver 2)");
  program.name = "cl-blur";  // of a manifest
  variant.kernels = {{"Iq", 1}};
  CHECK(builder::job_name(base, devices, job) == "cl-blur/recorded-1 for : GPU (driver 2)");
}

TEST_CASE("the shards of a plan are all of it, each job once, whatever was built before") {
  const auto base = two_variants();
  const std::vector<DeviceInfo> devices = {device("1", true), device("2", true)};
  packs::Target built = target_of(devices[0]);
  built.binaries = {earlier_of(base, "")};
  for (const auto &earlier : {std::vector<packs::Target>{}, {built}}) {
    const auto whole = builder::make_plan(base, devices, earlier);
    std::size_t mine = 0;
    for (std::uint32_t index = 1; index <= 3; ++index) {
      builder::PlanOptions options;
      options.shard = {index, 3};
      const auto part = builder::make_plan(base, devices, earlier, options);
      REQUIRE(part.size() == whole.size());
      for (std::size_t i = 0; i < part.size(); ++i) {
        if (part[i].need == Need::other_shard) continue;
        ++mine;
        CHECK(part[i].need == whole[i].need);
        CHECK(part[i].reason == whole[i].reason);
        CHECK(builder::has_job(options.shard, devices[part[i].device].description.key.text(),
                               base.programs[0].variants[part[i].variant].hash));
      }
    }
    CHECK(mine == whole.size());
  }
}

TEST_CASE("devices with one binary key are built for once") {
  const auto plan = builder::make_plan(two_variants(), {device("1", true), device("1", true)}, {});
  CHECK(plan.size() == 2);
}

TEST_CASE(
    "a variant that cannot run does not keep its duplicate, which needs less, from its binary") {
  auto base = two_variants();
  base.programs[0].variants[0].hash = base.programs[0].variants[1].hash;
  const auto plan = builder::make_plan(base, {device("1", false)}, {});
  REQUIRE(plan.size() == 2);
  CHECK(plan[0].need == Need::skip);
  CHECK(plan[1].need == Need::compile);
}

TEST_CASE("a variant equal to another in source, options and kernel is compiled once") {
  auto base = two_variants();
  base.programs[0].variants[0].hash = base.programs[0].variants[1].hash;
  const auto plan = builder::make_plan(base, {device("1", true)}, {});
  CHECK(plan[1].need == Need::skip);
  CHECK(plan[1].reason == "another variant has the same source and options");
}

TEST_CASE("a binary that an earlier pack has is reused, for that driver alone") {
  const auto base = two_variants();
  const DeviceInfo here = device("1", true);
  packs::Target target;
  target.key = here.description.key.text();
  target.binaries.push_back(
      {base.programs[0].variants[1].hash, packs::BlobSource(bytes("binary")), "", {}});
  const auto plan = builder::make_plan(base, {here, device("2", true)}, {target});
  CHECK(plan[0].need == Need::compile);
  CHECK(plan[1].need == Need::reuse);
  CHECK(plan[3].need == Need::compile);
}

TEST_CASE("an earlier binary that was not finished is, where its driver has a finisher") {
  const auto base = two_variants();
  const struct {
    DeviceInfo info;
    Need need;
  } rows[] = {
      {nvidia("580"), Need::compile},
      {device_of("", "Portable Computing Language", "3.1"), Need::compile},
      {device_of("Mesa", "rusticl", "25.0"), Need::compile},
      {device_of("Intel(R) Corporation", "Intel(R) OpenCL HD Graphics", "24.35"), Need::reuse}};
  for (const auto &row : rows) {
    packs::Target target = target_of(row.info);
    target.binaries = {earlier_of(base, "")};
    INFO(target.key);
    const builder::PlannedJob job = plain_job(base, row.info, {target});
    CHECK(job.need == row.need);
    if (row.need == Need::compile) CHECK(job.reason == "the earlier binary was not finished");
    builder::PlanOptions plainly;
    plainly.finish = false;
    CHECK(plain_job(base, row.info, {target}, plainly).need == Need::reuse);
    target.binaries = {earlier_of(base, "any 1")};
    CHECK(plain_job(base, row.info, {target}).need == Need::reuse);
  }
}

TEST_CASE("an earlier binary is finished if a launch of its variant is known, not else") {
  const auto known = two_variants();
  auto unknown = known;
  unknown.programs[0].variants[1].kernels = {{"plain", 2}};  // without arguments
  for (const DeviceInfo &info : {device_of("", "Portable Computing Language", "3.1"),
                                 device_of("Mesa", "rusticl", "25.0")}) {
    packs::Target target = target_of(info);
    target.binaries = {earlier_of(known, "")};
    INFO(target.key);
    CHECK(plain_job(known, info, {target}).need == Need::compile);
    CHECK(plain_job(unknown, info, {target}).need == Need::reuse);
  }
  auto stated = unknown;
  stated.programs[0].variants[1].local_size = {8, 8, 1};
  const DeviceInfo pocl = device_of("", "Portable Computing Language", "3.1");
  packs::Target target = target_of(pocl);
  target.binaries = {earlier_of(stated, "")};
  CHECK(plain_job(stated, pocl, {target}).reason == "the earlier binary was not finished");
}

TEST_CASE("PTX alone is finished once, and what the linker refused is not tried again") {
  const auto base = two_variants();
  packs::Target target = target_of(nvidia("580"));
  target.intermediates = {earlier_of(base, "", "580")};
  builder::PlanOptions plainly;
  plainly.finish = false;
  CHECK(plain_job(base, nvidia("580"), {target}).need == Need::compile);
  CHECK(plain_job(base, nvidia("580"), {target}, plainly).need == Need::reuse);
  target.intermediates = {earlier_of(base, "nvidia-linker 1", "580")};
  CHECK(plain_job(base, nvidia("580"), {target}).need == Need::reuse);
}

TEST_CASE("a cubin serves later drivers, and is made anew for an earlier one") {
  const auto base = two_variants();
  packs::Target target = target_of(nvidia("580.65.06"));
  target.binaries = {earlier_of(base, "nvidia-linker 1", "580.65.06")};
  CHECK(plain_job(base, nvidia("580.65.06"), {target}).need == Need::reuse);
  CHECK(plain_job(base, nvidia("580.126"), {target}).need == Need::reuse);
  const builder::PlannedJob job = plain_job(base, nvidia("580.9"), {target});
  CHECK(job.need == Need::compile);
  CHECK(job.reason == "the earlier binary was made by a later driver");
}

TEST_CASE("code for another compute capability is made where there is none yet") {
  const auto base = two_variants();
  packs::Target target = target_of(nvidia("580"));
  target.binaries = {earlier_of(base, "nvidia-linker 1", "580")};
  builder::PlanOptions other_gpus;
  other_gpus.gpu_archs = {1000, 1201};
  const builder::PlannedJob job = plain_job(base, nvidia("580"), {target}, other_gpus);
  CHECK(job.need == Need::compile);
  CHECK(job.reason == "no code for compute capability 10.0 yet");
  std::vector<packs::Target> all{target};
  for (const std::uint32_t compute_capability : other_gpus.gpu_archs) {
    all.push_back(target_of(builder::describe_other_gpu(nvidia("580"), compute_capability)));
    all.back().binaries = {earlier_of(base, "nvidia-linker 1", "580")};
  }
  CHECK(all[1].key == "profile=nvidia\ncompute_capability=10.0\naddress_bits=64\n");
  CHECK(all[2].key == "profile=nvidia\ncompute_capability=12.1\naddress_bits=64\n");
  CHECK(plain_job(base, nvidia("580"), all, other_gpus).need == Need::reuse);
  all.pop_back();
  CHECK(plain_job(base, nvidia("580"), all, other_gpus).reason ==
        "no code for compute capability 12.1 yet");
  // It is NVIDIA's linker that makes it.
  const DeviceInfo intel = device_of("Intel(R) Corporation", "Intel(R) OpenCL", "24.35");
  packs::Target other = target_of(intel);
  other.binaries = {earlier_of(base, "")};
  CHECK(plain_job(base, intel, {other}, other_gpus).need == Need::reuse);
}

TEST_CASE("an earlier binary serves if it is of the origin that is wanted") {
  const auto base = two_variants();
  const DeviceInfo info = device("1", true);
  packs::Target target = target_of(info);
  target.binaries = {earlier_of(base, "")};
  const auto reason = [&](const builder::Origin &wanted) {
    const auto plan = builder::make_plan(
        base, {info}, {target}, {}, [&](const builder::PlannedJob & /*job*/) { return wanted; });
    CHECK(plan[0].reason == "no binary for this source, these options and this driver yet");
    CHECK((plan[1].need == Need::reuse) ==
          (plan[1].reason == "the output has this binary already"));
    return plan[1].reason;
  };
  CHECK(reason({"a", "b"}) == "the earlier binary does not tell what it was made from");
  target.binaries[0].finish.made_from = "a";
  target.binaries[0].finish.proved_by = "b";
  CHECK(reason({"a", "b"}) == "the output has this binary already");
  CHECK(reason({}) == "the output has this binary already");
  CHECK(reason({"a", "c"}) ==
        "the reference or the tolerance of the earlier binary's proof has changed");
  CHECK(reason({"a", "c", false}) ==
        "the reference or the tolerance of the earlier binary's proof has changed");
  CHECK(reason({"a", "b", false}) == "the output has this binary already");
  target.intermediates = target.binaries;
  CHECK(reason({"a", "b"}) == "the output has this binary already");
  target.intermediates[0].finish.made_from = "d";  // merged from another pack
  CHECK(reason({"a", "b"}) ==
        "the earlier binary was made from other options, arguments, launches, sizes or tools");
  target.intermediates.clear();
  target.binaries[0].finish.proved_by.clear();  // by a build that compared nothing
  CHECK(reason({"a", "b", false}) == "the output has this binary already");
  CHECK(reason({"a", "b"}) ==
        "the reference or the tolerance of the earlier binary's proof has changed");
  CHECK(reason({"c", "b"}) ==
        "the earlier binary was made from other options, arguments, launches, sizes or tools");
}

TEST_CASE("only the proof of an earlier binary is made again if a reference can give it") {
  const auto base = two_variants();
  const DeviceInfo info = device("1", true);
  packs::Target target = target_of(info);
  target.binaries = {earlier_of(base, "")};
  target.binaries[0].finish.made_from = "a";
  target.binaries[0].finish.proved_by = "b";
  builder::PlanOptions options;
  const auto need = [&](const builder::Origin &wanted) {
    return builder::make_plan(base, {info}, {target}, options,
                              [&](const builder::PlannedJob & /*job*/) { return wanted; })[1]
        .need;
  };
  const builder::Origin by_reference{"a", "c", true, true};
  CHECK(need(by_reference) == Need::prove);
  CHECK(need({"a", "c", true, false}) == Need::compile);  // with the program built from source
  CHECK(need({"d", "c", true, true}) == Need::compile);   // other bytes
  CHECK(need({"a", "b", true, true}) == Need::reuse);
  options.require_proof = true;
  CHECK(need({"a", "b", true, true}) == Need::prove);
  target.binaries[0].finish.proof = "file right.raw";
  CHECK(need({"a", "b", true, true}) == Need::reuse);
  target.binaries[0].finish.finisher = "any 1";  // which did not make it final
  CHECK(need(by_reference) == Need::compile);
  target.binaries[0].finish.finality = packs::Finality::yes;
  CHECK(need(by_reference) == Need::prove);
  options.gpu_archs = {1000};  // whose binaries lie elsewhere
  CHECK(need(by_reference) == Need::compile);
  options.gpu_archs.clear();
  target.binaries[0].finish.workaround = "-cl-opt-disable";
  CHECK(need({"a", "c", true, true, "a"}) == Need::compile);  // as it is it may be right
  CHECK(need({"d", "b", true, true, "a"}) == Need::reuse);
  CHECK(need({"a", "b", true, true, "d"}) == Need::compile);
}

TEST_CASE("a virtual device's binary is made anew by other tools, and by a device that is there") {
  class Backend final : public builder::VirtualDevice {
   public:
    const std::string &name() const override { return name_; }
    const std::string &finisher() const override { return name_; }
    const std::string &driver() const override { return name_; }
    builder::Result<Made> compile(const packs::Variant & /*variant*/,
                                  const builder::CallLimits & /*limits*/,
                                  bool /*finish*/) const override {
      return Made{};
    }

    std::string name_ = "nvidia:sm_90";
  };
  const packs::Contents base = two_variants();
  const DeviceInfo present = nvidia("580");
  DeviceInfo absent = present;
  absent.capabilities.images = false;
  absent.virtual_device = std::make_shared<Backend>();
  packs::Target target = target_of(absent);
  const auto plan_for = [&](const DeviceInfo &device) {
    return builder::make_plan(base, {device}, {target}, {},
                              [](const builder::PlannedJob & /*job*/) {
                                return builder::Origin{"tools 13", ""};
                              });
  };
  CHECK(plan_for(absent)[0].reason == "the variant needs images, which the virtual device lacks");
  CHECK(plan_for(absent)[1].reason == "no binary for this source and these options yet");
  CHECK(job_name(base, {absent}, plan_for(absent)[1]) == "blur/plain for nvidia:sm_90");
  for (auto *made : {&target.binaries, &target.intermediates}) {
    target.binaries.clear();
    *made = {earlier_of(base, "virtual-described 1", "525")};
    (*made)[0].finish.made_from = "tools 12";
    CHECK(plan_for(absent)[1].need == Need::compile);
    CHECK(plan_for(present)[1].reason == "no device of this kind has launched the earlier binary");
    (*made)[0].finish.made_from = "tools 13";
    CHECK(plan_for(absent)[1].need == Need::reuse);
    CHECK(plan_for(present)[1].reason == "no device of this kind has launched the earlier binary");
  }
  target.intermediates.clear();
  target.binaries = {earlier_of(base, "nvidia-linker 1", "580")};  // loaded by a driver
  CHECK(plan_for(absent)[1].need == Need::reuse);
}

TEST_CASE("an architecture's name is its compute capability") {
  CHECK(builder::parse_architecture("sm_75") == 705);
  CHECK(builder::parse_architecture("sm_90") == 900);
  CHECK(builder::parse_architecture("sm_121") == 1201);
  for (const char *text : {"", "sm_", "sm_9", "sm_090", "sm_90a", "sm_1000", "90", "compute_90"}) {
    CAPTURE(text);
    CHECK(!builder::parse_architecture(text));
  }
}

TEST_CASE("the preferred variant is the first of the order that the device can run") {
  packs::Contents base = two_variants();
  packs::Program &program = base.programs[0];
  builder::PlanOptions options;
  options.preferred = true;
  const auto built = [&](bool images) {
    std::vector<std::string> names;
    for (const builder::PlannedJob &job :
         builder::make_plan(base, {device("1", images)}, {}, options)) {
      if (job.need == Need::compile) names.push_back(program.variants[job.variant].name);
    }
    return names;
  };
  CHECK(built(true) == std::vector<std::string>{program.variants[0].name});  // no order: by name
  program.preferred = {"nosuch", "plain", program.variants[0].name};
  CHECK(built(true) == std::vector<std::string>{"plain"});
  program.preferred = {program.variants[0].name, "plain"};
  program.variants[0].requirements = {"images"};
  CHECK(built(true) == std::vector<std::string>{program.variants[0].name});
  CHECK(built(false) == std::vector<std::string>{"plain"});
  program.variants[1].requirements = {"images"};
  CHECK(built(false).empty());
  const auto plan = builder::make_plan(base, {device("1", true)}, {}, options);
  CHECK(plan.at(1).reason == "--preferred: " + program.variants[0].name +
                                 " comes first among the variants that the device can run");
}

TEST_CASE("what another build wrote meanwhile is added, and replaces nothing that was made now") {
  const packs::Variant plain = variant("plain");
  const auto target = [&](const char *key, const char *binary) {
    packs::Target made;
    made.key = key;
    made.binaries.push_back({plain.hash, packs::BlobSource(bytes(binary)), "", {}});
    return made;
  };
  packs::Contents now;
  now.programs = {{"blur", "", {plain}}};
  now.targets = {target("name=A\n", "new")};
  packs::Contents theirs = now;
  theirs.targets = {target("name=A\n", "old"), target("name=B\n", "theirs")};
  theirs.targets[1].binaries.push_back(
      {variant("gone").hash, packs::BlobSource(bytes("of no variant")), "", {}});
  for (int again = 0; again < 2; ++again) {
    CHECK(builder::keep_earlier(theirs, {}, &now).stale == 0);
    REQUIRE(now.targets.size() == 2);
    REQUIRE(now.targets[0].binaries.size() == 1);
    CHECK(*now.targets[0].binaries[0].blob.raw() == bytes("new"));
    CHECK(now.targets[1].key == "name=B\n");
    CHECK(now.targets[1].binaries.size() == 1);
  }
}

TEST_CASE("a known-bad note leaves out the job of its variant and driver", "[plan]") {
  packs::Contents base = two_variants();
  base.programs[0].preferred = {"fast"};
  packs::KnownBad note;
  note.texts[static_cast<std::size_t>(packs::NoteText::variant)] = "fast";
  note.texts[static_cast<std::size_t>(packs::NoteText::driver_from)] = "2";
  note.texts[static_cast<std::size_t>(packs::NoteText::reason)] = "it is blurred";
  base.known_bad = {note};
  const std::vector<DeviceInfo> devices{device("1", true), device("2", true)};
  const auto plan = builder::make_plan(base, devices, {});
  REQUIRE(plan.size() == 4);
  CHECK(plan[0].need == Need::compile);
  CHECK(plan[1].need == Need::compile);
  CHECK(plan[2].need == Need::skip);
  CHECK(plan[2].reason == "known to be wrong: it is blurred");
  CHECK(plan[3].need == Need::compile);
  builder::PlanOptions options;
  options.preferred = true;
  const auto preferred = builder::make_plan(base, devices, {}, options);
  CHECK(preferred[0].need == Need::compile);
  CHECK(preferred[1].need == Need::skip);
  CHECK(preferred[2].need == Need::skip);
  CHECK(preferred[3].need == Need::compile);
  base.known_bad[0].rungs = 1u << KILN_RUNG_IL;  // the binary is right
  CHECK(builder::make_plan(base, devices, {})[2].need == Need::compile);
}

TEST_CASE("what a build found is heeded by a build that compares less", "[plan]") {
  packs::Contents base = two_variants();
  base.programs[0].reference = "library:libr.so:f";
  for (packs::Variant &one : base.programs[0].variants) one.source.emplace(bytes("text"));
  DeviceInfo here = device("2", true);
  here.capabilities.compiler = true;
  builder::PlanOptions options;
  options.finish = false;
  options.found = {
      builder::found_note(base.programs[0], base.programs[0].variants[1], here, false)};
  options.found[0][packs::NoteText::reason] = "wrong sums";
  const auto job = [&](const char *proof, const char *workaround, bool by_reference) {
    packs::Target target = target_of(here);
    if (proof != nullptr) {
      target.binaries = {earlier_of(base, "")};
      target.binaries[0].finish.made_from = target.binaries[0].finish.proved_by = "1";
      target.binaries[0].finish.proof = proof;
      target.binaries[0].finish.workaround = workaround;
    }
    const builder::Origin origin{"1", "1", true, by_reference, "1"};
    return builder::make_plan(base, {here}, {target}, options, [&](const auto &) { return origin; })
        .at(1);
  };
  const std::string less = "known to be wrong: wrong sums; this build compares less";
  CHECK(job(nullptr, "", true).need == Need::compile);
  CHECK(job(nullptr, "", false).need == Need::skip);
  CHECK(job(nullptr, "", false).reason == less);
  constexpr char kBySource[] = "the program built from source, 64x64";
  CHECK(job(kBySource, "", false).need == Need::skip);
  CHECK(job(kBySource, "", true).need == Need::compile);
  CHECK(job(kBySource, "", true).reason == "known to be wrong: wrong sums");
  for (const bool by_reference : {false, true}) {
    CHECK(job(kBySource, "-cl-opt-disable", by_reference).need == Need::reuse);
    CHECK(job("library:libr.so:f, 64x64", "", by_reference).need == Need::reuse);
  }
  here = device("3", true);  // the note is about version 2
  here.capabilities.compiler = true;
  CHECK(job(kBySource, "", false).need == Need::reuse);
}
