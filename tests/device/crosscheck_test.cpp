// PoCL given binaries that claim to be other targets', with a layer that makes it misbehave.
#include "crosscheck.hpp"

#include <iostream>

#include "base_pack.hpp"
#include "catch.hpp"
#include "device_build.hpp"
#include "kiln/packs/hash.hpp"

using namespace kiln;
using namespace kiln::builder;
using packs::CrossResult;

namespace {

packs::Variant variant(const std::string &name, const std::string &kernel) {
  packs::Variant v;
  v.name = name;
  const std::string source = "__kernel void " + kernel + "(__global uint *out) { out[0] = 1; }\n";
  v.hash = variant_hash(source, "", {kernel});
  v.kernels = {{kernel, 1}};
  v.source.emplace(packs::Bytes{source.begin(), source.end()});
  return v;
}

std::optional<DeviceInfo> pocl() {
  const auto listed = list_devices();
  if (const auto *error = std::get_if<DeviceError>(&listed)) {
    std::cout << "SKIP: " << error->text << "\n";
    return std::nullopt;
  }
  auto selected = select_devices(std::get<0>(listed), "Portable*");
  if (selected.empty()) {
    std::cout << "SKIP: no PoCL here\n";
    return std::nullopt;
  }
  return selected.front();
}

// Two variants with PoCL's own binaries of them.
struct Workshop {
  explicit Workshop(const DeviceInfo &info) : device(info) {
    contents.programs = {{"p", "", {variant("one", "fill"), variant("two", "copy")}}};
    const BuildResult built = build_on_devices(contents, {device}, {}, {}, nullptr);
    REQUIRE(built.compiled == 2);
    for (const packs::Variant &v : contents.programs[0].variants) {
      const auto &binaries = built.contents.targets[0].binaries;
      const auto own = std::find_if(binaries.begin(), binaries.end(),
                                    [&](const auto &b) { return b.variant == v.hash; });
      REQUIRE(own->blob.read(&bytes.emplace_back()).ok());
    }
  }

  // The binary of variant `which`, with `word` at its end.
  packs::Binary ending_with(std::size_t which, const std::string &word) const {
    packs::Bytes changed = bytes[which];
    changed.insert(changed.end(), word.begin(), word.end());
    return given(which, std::move(changed));
  }
  packs::Binary given(std::size_t which, packs::Bytes raw) const {
    return {contents.programs[0].variants[which].hash, packs::BlobSource(std::move(raw)), "", {}};
  }
  void add_target(const std::string &name, std::vector<packs::Binary> binaries,
                  const std::string &profile = "pocl") {
    packs::Target target;
    target.key = "profile=" + profile + "\nname=" + name + "\n";
    target.profile = profile;
    target.binaries = std::move(binaries);
    contents.targets.push_back(std::move(target));
  }
  std::vector<CrossCheckOutcome> outcomes(bool all = false) const {
    CrossCheckOptions options;
    options.timeout = std::chrono::seconds(5);
    options.all = all;
    std::vector<CrossCheckOutcome> result;
    const packs::Status status = cross_check(contents, {device, device}, options, nullptr, &result);
    INFO(status.message);
    REQUIRE(status.ok());
    return result;
  }

  DeviceInfo device;
  packs::Contents contents;
  std::vector<packs::Bytes> bytes;
};

bool starts_with(const std::string &text, const std::string &start) {
  return text.compare(0, start.size(), start) == 0;
}

}  // namespace

TEST_CASE("every way in which a driver takes a foreign binary is told apart") {
  const auto device = pocl();
  if (!device) return;
  Workshop shop(*device);
  struct Expected {
    CrossResult result;
    const char *reason;
  };
  const auto add = [&](const packs::Binary &binary) { shop.add_target("x", {binary}); };
  add(shop.ending_with(0, ""));
  add(shop.ending_with(0, "kiln_test_lie"));
  add(shop.given(0, packs::Bytes(1000, 1)));
  add(shop.given(0, {}));
  add(shop.ending_with(0, "kiln_test_segv"));
  add(shop.ending_with(0, "kiln_test_abort"));
  add(shop.ending_with(0, "kiln_test_exit"));
  add(shop.ending_with(0, "kiln_test_hang"));
  add(shop.given(0, shop.bytes[1]));
  const Expected expected[] = {
      {CrossResult::native, ""},
      {CrossResult::recompiled, "the driver's binary afterwards is another"},
      {CrossResult::refused, "clCreateProgramWithBinary returned CL_INVALID_BINARY"},
      {CrossResult::refused, "the pack's blob is empty"},
      {CrossResult::crashed, "crashed with signal 11"},
      {CrossResult::crashed, "crashed with signal 6"},
      {CrossResult::crashed, "the driver ended the process with code 1"},
      {CrossResult::crashed, "gave no answer in time"},
      {CrossResult::wrong, "kernel fill: clCreateKernel"},
  };
  const auto outcomes = shop.outcomes();
  REQUIRE(outcomes.size() == std::size(expected));
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    CAPTURE(i, outcomes[i].reason);
    CHECK(outcomes[i].target == i);
    CHECK(outcomes[i].device == 0);  // the second device is the first once more
    CHECK(outcomes[i].binaries == 1);
    CHECK(outcomes[i].result == expected[i].result);
    CHECK(starts_with(outcomes[i].reason, expected[i].reason));
    CHECK(outcomes[i].reason.empty() == (outcomes[i].result == CrossResult::native));
  }
}

TEST_CASE("the worst of a target's binaries counts, and none is tried after a crash") {
  const auto device = pocl();
  if (!device) return;
  Workshop shop(*device);
  shop.add_target("x", {shop.ending_with(0, "kiln_test_lie"), shop.ending_with(1, "")});
  shop.add_target("y", {shop.ending_with(0, ""), shop.given(1, packs::Bytes(1000, 1))});
  shop.add_target("z", {shop.ending_with(0, "kiln_test_exit"), shop.ending_with(1, "")});
  const auto outcomes = shop.outcomes();
  REQUIRE(outcomes.size() == 3);
  CHECK(outcomes[0].result == CrossResult::recompiled);
  CHECK(outcomes[0].binaries == 2);
  CHECK(outcomes[1].result == CrossResult::refused);
  CHECK(outcomes[1].binaries == 2);
  CHECK(outcomes[2].result == CrossResult::crashed);
  CHECK(outcomes[2].binaries == 1);
  const packs::Contents records = records_of(shop.contents, {*device}, outcomes);
  REQUIRE(records.cross_checks.size() == 3);
  const std::string key = runtime::key_text(device->description.key);
  const std::string &target = shop.contents.targets[1].key;
  const packs::CrossCheck second{packs::xxh3(key.data(), key.size()),
                                 packs::xxh3(target.data(), target.size()), 2};
  CHECK(records.cross_checks[1] == second);
}

TEST_CASE(
    "only what can be tried is tried: other keys, the profile, known variants, what the "
    "device can run") {
  const auto device = pocl();
  if (!device) return;
  Workshop shop(*device);
  packs::Variant &demanding = shop.contents.programs[0].variants[1];
  demanding.requirements = {"extension:cl_no_such_extension"};
  packs::Binary unknown = shop.ending_with(0, "");
  unknown.variant = {};
  shop.add_target("exact", {shop.ending_with(0, "")});
  shop.contents.targets[0].key = runtime::key_text(device->description.key);
  shop.add_target("foreign", {shop.ending_with(0, "")}, "intel");
  shop.add_target("unknown", {unknown});
  shop.add_target("demanding", {shop.ending_with(1, "")});
  shop.add_target("empty", {});
  CHECK(shop.outcomes().empty());
  const auto all = shop.outcomes(true);
  REQUIRE(all.size() == 1);
  CHECK(all[0].target == 1);
  CHECK(all[0].result == CrossResult::native);
}
