// SPDX-License-Identifier: Apache-2.0
// Which variant a device gets, from packs built in memory.
#include "runtime/load/tuning.hpp"

#include "kiln/packs/bytes.hpp"
#include "tests/runtime/fake/load.hpp"

using namespace kiln::runtime;
using namespace kiln::test;
using kiln::packs::SizeClass;
using kiln::packs::Tuning;

namespace {

Device make_device(const char *profile, const char *family, const char *model, const char *key) {
  Device device;
  device.description.profile = profile;
  device.description.family = family;
  device.description.model = model;
  device.capabilities.profile = profile;
  device.description.key = BinaryKey(Facts{{"name", key}});
  return device;
}

const Device kHere = make_device("mali", "Valhall", "G710", "here");
const Device kUpdated = make_device("mali", "Valhall", "G710", "here, another driver");
const Device kSister = make_device("mali", "Valhall", "G610", "sister");
const Device kCousin = make_device("mali", "Midgard", "T628", "cousin");
const Device kDistant = make_device("mali", "Bifrost", "G31", "distant");
const Device kStranger = make_device("adreno", "7xx", "750", "stranger");

// The time of a whole variant of program p on that device.
Tuning time(const Device &where, const char *variant, std::uint64_t nanoseconds,
            SizeClass size_class = SizeClass::large, std::uint32_t samples = 10) {
  Tuning tuning;
  tuning.program = "p";
  tuning.variant = variant;
  tuning.size_class = size_class;
  tuning.profile = where.description.profile;
  tuning.family = where.description.family;
  tuning.model = where.description.model;
  tuning.key_hash = where.key().hash();
  tuning.nanoseconds = nanoseconds;
  tuning.samples = samples;
  return tuning;
}

Tuning default_time(const char *variant, std::uint64_t nanoseconds) {
  Tuning tuning = time(kHere, variant, nanoseconds);
  tuning.profile.clear();
  tuning.family.clear();
  tuning.model.clear();
  tuning.key_hash = 0;
  return tuning;
}

// Program p with variants a, b and c, of which the last needs half precision.
class PackOfThree {
 public:
  PackOfThree() {
    program().name = "p";
    for (const char *name : {"a", "b", "c"}) {
      kiln::packs::Variant &variant = program().variants.emplace_back();
      variant.name = name;
      variant.hash[0] = static_cast<std::uint8_t>(name[0]);
      variant.kernels = {{"k", 2}};
    }
    program().variants[2].requirements = {"fp16"};
  }
  kiln::packs::Program &program() { return contents_.programs[0]; }
  std::vector<Tuning> &tunings() { return contents_.tunings; }

  kiln::packs::Status choose(const Device &device, const char *variant, SizeClass wanted,
                             Choice *out) {
    bytes_ = written(contents_);
    REQUIRE(kiln::packs::Pack::open_memory({bytes_.data(), bytes_.size()}, &pack_).ok());
    return choose_variant(*pack_, device, "p", variant, wanted, {}, out);
  }
  // The variant and the reason; both live until the next choice.
  Choice choose(const Device &device = kHere, SizeClass wanted = SizeClass::large) {
    Choice choice;
    const kiln::packs::Status error = choose(device, "", wanted, &choice);
    INFO(error.message);
    REQUIRE(error.ok());
    return choice;
  }

 private:
  kiln::packs::Contents contents_{{}, {{}}, {}, {}};
  kiln::packs::Bytes bytes_;
  std::shared_ptr<const kiln::packs::Pack> pack_;
};

// "a: first by name"
std::string text_of(const Choice &choice) {
  return std::string(choice.variant.name()) + ": " + choice.reason;
}

}  // namespace

TEST_CASE("the variant that was measured the fastest on this device is taken", "[choice]") {
  PackOfThree pack;
  pack.program().preferred = {"a"};
  pack.tunings() = {time(kHere, "a", 300'000), time(kHere, "b", 100'000)};
  const Choice choice = pack.choose();
  CHECK(text_of(choice) ==
        "b: measured the fastest of 2 on this device for large problems: 0.100 ms");
  CHECK(choice.by == KILN_CHOICE_MEASUREMENT);
  CHECK(choice.level == TuningLevel::device);
  CHECK(choice.size_class == SizeClass::large);
  CHECK(choice.nanoseconds == 100'000);
}

TEST_CASE("the time of another text chooses no variant", "[choice]") {
  PackOfThree pack;
  pack.tunings() = {time(kHere, "b", 100'000)};
  CHECK(pack.choose().by == KILN_CHOICE_MEASUREMENT);
  pack.tunings()[0].variant_hash[0] = 'x';
  CHECK(text_of(pack.choose()) == "a: first by name");
  pack.tunings()[0].variant_hash[0] = 'b';
  CHECK(pack.choose().by == KILN_CHOICE_MEASUREMENT);
}

TEST_CASE("a variant that nobody measured loses to one that was", "[choice]") {
  PackOfThree pack;
  pack.program().preferred = {"a"};
  pack.tunings() = {time(kHere, "b", 9'000'000'000)};
  CHECK(text_of(pack.choose()) ==
        "b: the only one measured on this device for large problems: 9000.000 ms");
}

TEST_CASE("of equal times the first by name is taken", "[choice]") {
  PackOfThree pack;
  pack.tunings() = {time(kHere, "b", 5'000), time(kHere, "a", 5'000)};
  CHECK(text_of(pack.choose()) ==
        "a: measured the fastest of 2 on this device for large problems: 5.000 us");
}

TEST_CASE("of times within 3% of the fastest the pack's preference decides", "[choice]") {
  PackOfThree pack;
  pack.program().preferred = {"b"};
  pack.tunings() = {time(kHere, "a", 200'000), time(kHere, "b", 206'000)};
  const Choice choice = pack.choose();
  CHECK(text_of(choice) ==
        "b: preferred, and measured as good as the fastest of 2 on this device for large problems: "
        "0.206 ms");
  CHECK(choice.by == KILN_CHOICE_MEASUREMENT);
  CHECK(choice.nanoseconds == 206'000);
  pack.tunings() = {time(kHere, "a", 200'000), time(kHere, "b", 206'001)};
  CHECK(text_of(pack.choose()) ==
        "a: measured the fastest of 2 on this device for large problems: 0.200 ms");
  pack.program().preferred = {"a", "b"};
  pack.tunings() = {time(kHere, "a", 200'000), time(kHere, "b", 199'000)};
  CHECK(text_of(pack.choose()).substr(0, 12) == "a: preferred");
}

TEST_CASE("without a preference the fastest is taken, by however little", "[choice]") {
  PackOfThree pack;
  pack.tunings() = {time(kHere, "a", 200'001), time(kHere, "b", 200'000)};
  CHECK(text_of(pack.choose()) ==
        "b: measured the fastest of 2 on this device for large problems: 0.200 ms");
}

TEST_CASE("a time is text_of in microseconds below a tenth of a millisecond", "[choice]") {
  const auto time_told = [](std::uint64_t nanoseconds) {
    PackOfThree pack;
    pack.tunings() = {time(kHere, "a", nanoseconds)};
    const std::string reason = pack.choose().reason;
    return reason.substr(reason.find(": ") + 2);
  };
  CHECK(time_told(0) == "0.000 us");
  CHECK(time_told(999) == "0.999 us");
  CHECK(time_told(99'999) == "99.999 us");
  CHECK(time_told(100'000) == "0.100 ms");
  CHECK(time_told(812'345) == "0.812 ms");
  CHECK(time_told(1'999'501) == "2.000 ms");
}

TEST_CASE("only the nearest level at which any variant was measured counts", "[choice]") {
  PackOfThree pack;
  // The farther, the faster.
  pack.tunings() = {time(kHere, "b", 600'000),   time(kUpdated, "a", 500'000),
                    time(kSister, "b", 400'000), time(kCousin, "a", 300'000),
                    default_time("b", 200'000),  time(kStranger, "a", 100'000)};
  const auto chosen = [&] { return pack.choose(); };
  const auto drop_first = [&] { pack.tunings().erase(pack.tunings().begin()); };
  CHECK(text_of(chosen()) ==
        "b: the only one measured on this device for large problems: 0.600 ms");
  drop_first();
  CHECK(text_of(chosen()) == "a: the only one measured on this model for large problems: 0.500 ms");
  CHECK(chosen().level == TuningLevel::model);
  drop_first();
  CHECK(text_of(chosen()) ==
        "b: the only one measured on a device of this family for large problems: 0.400 ms");
  drop_first();
  CHECK(text_of(chosen()) ==
        "a: the only one measured on a device of this vendor for large problems: 0.300 ms");
  drop_first();
  CHECK(text_of(chosen()) ==
        "b: the only one measured for any device for large problems: 0.200 ms");
  drop_first();
  CHECK(text_of(chosen()) == "a: first by name");  // a stranger's time says nothing
}

TEST_CASE("times of different devices are not compared", "[choice]") {
  PackOfThree pack;
  Device here = kHere;
  here.capabilities.fp16 = true;
  // One has measured all three, and another, which is faster, one of them.
  pack.tunings() = {time(kSister, "a", 30'000), time(kSister, "b", 20'000),
                    time(kSister, "c", 40'000), time(kUpdated, "a", 1'000)};
  pack.tunings().back().model = "G510";
  CHECK(text_of(pack.choose(here)) ==
        "b: measured the fastest of 3 on a device of this family for large problems: 20.000 us");
}

TEST_CASE("of two devices that measured as many, the one with more samples counts", "[choice]") {
  PackOfThree pack;
  const auto with = [&](std::uint32_t cousins, std::uint32_t distants) {
    pack.tunings() = {time(kCousin, "a", 10, SizeClass::large, cousins),
                      time(kCousin, "b", 20, SizeClass::large, cousins),
                      time(kDistant, "a", 2, SizeClass::large, distants),
                      time(kDistant, "b", 1, SizeClass::large, distants)};
    return std::string(pack.choose().variant.name());
  };
  CHECK(with(11, 10) == "a");
  CHECK(with(10, 11) == "b");
  CHECK(with(10, 10) == "b");  // Bifrost is the pack's first
}

TEST_CASE("what the device cannot run is neither taken nor compared with", "[choice]") {
  PackOfThree pack;
  pack.tunings() = {time(kHere, "c", 10), time(kSister, "b", 20), time(kSister, "c", 30)};
  CHECK(text_of(pack.choose()) ==
        "b: the only one measured on a device of this family for large problems: 0.020 us");
  Device here = kHere;
  here.capabilities.fp16 = true;
  CHECK(text_of(pack.choose(here)) ==
        "c: the only one measured on this device for large problems: 0.010 us");
}

TEST_CASE("without a time of the class asked for, the next smaller counts, then the larger",
          "[choice]") {
  PackOfThree pack;
  using Classes = std::vector<SizeClass>;
  constexpr SizeClass kSmall = SizeClass::small;
  constexpr SizeClass kMedium = SizeClass::medium;
  constexpr SizeClass kLarge = SizeClass::large;
  const auto taken = [&](const Classes &measured, SizeClass wanted) {
    pack.tunings().clear();
    for (const SizeClass one : measured) pack.tunings().push_back(time(kHere, "b", 10, one));
    return pack.choose(kHere, wanted).size_class;
  };
  for (const SizeClass wanted : {kSmall, kMedium, kLarge}) {
    CHECK(taken({kSmall, kMedium, kLarge}, wanted) == wanted);
    for (const SizeClass only : {kSmall, kMedium, kLarge}) CHECK(taken({only}, wanted) == only);
  }
  CHECK(taken({kSmall, kMedium}, kLarge) == kMedium);
  CHECK(taken({kSmall, kLarge}, kMedium) == kSmall);
  CHECK(taken({kMedium, kLarge}, kSmall) == kMedium);
}

TEST_CASE("each class has its own fastest, and its reason names the class", "[choice]") {
  PackOfThree pack;
  pack.tunings() = {time(kHere, "a", 1, SizeClass::small), time(kHere, "b", 2, SizeClass::small),
                    time(kHere, "a", 5, SizeClass::medium), time(kHere, "b", 4, SizeClass::medium)};
  CHECK(text_of(pack.choose(kHere, SizeClass::small)) ==
        "a: measured the fastest of 2 on this device for small problems: 0.001 us");
  CHECK(text_of(pack.choose(kHere, SizeClass::large)) ==
        "b: measured the fastest of 2 on this device for medium problems: 0.004 us");
}

TEST_CASE("a nearer device counts before a nearer class", "[choice]") {
  PackOfThree pack;
  pack.tunings() = {time(kHere, "b", 10, SizeClass::small), time(kSister, "a", 10)};
  CHECK(text_of(pack.choose()) ==
        "b: the only one measured on this device for small problems: 0.010 us");
}

TEST_CASE("times of single kernels do not choose a variant", "[choice]") {
  PackOfThree pack;
  pack.tunings() = {time(kHere, "b", 10)};
  pack.tunings()[0].kernel = "k";
  CHECK(text_of(pack.choose()) == "a: first by name");
}

TEST_CASE(
    "where nothing was measured, the first that the pack prefers and the device runs is taken",
    "[choice]") {
  PackOfThree pack;
  const auto chosen = [&](std::vector<std::string> preferred) {
    pack.program().preferred = std::move(preferred);
    return pack.choose();
  };
  CHECK(text_of(chosen({"b", "a"})) == "b: preferred by the pack");
  CHECK(text_of(chosen({"c", "gone", "b"})) == "b: preferred by the pack");
  CHECK(text_of(chosen({"a"})) == "a: preferred by the pack");
  CHECK(chosen({"a"}).by == KILN_CHOICE_PREFERENCE);
  CHECK(text_of(chosen({"c", "gone"})) == "a: first by name");
  CHECK(text_of(chosen({})) == "a: first by name");
  CHECK(chosen({}).by == KILN_CHOICE_ORDER);
}

TEST_CASE("a variant that is asked for is taken, whatever was measured", "[choice]") {
  PackOfThree pack;
  pack.tunings() = {time(kHere, "b", 10)};
  Choice choice;
  CHECK(pack.choose(kHere, "a", SizeClass::large, &choice).ok());
  CHECK(text_of(choice) == "a: asked for by name");
  CHECK(choice.by == KILN_CHOICE_NAME);
}

TEST_CASE("a variant that is asked for and cannot run is refused with what it needs", "[choice]") {
  PackOfThree pack;
  Choice choice;
  const auto refused = [&](const char *variant) {
    const kiln::packs::Status error = pack.choose(kHere, variant, SizeClass::large, &choice);
    CHECK_FALSE(choice.variant);
    CHECK(error.code == kiln::packs::Code::requirement);
    return error.message;
  };
  CHECK(refused("c") ==
        "program p, variant c needs half-precision arithmetic, which this device lacks");
  pack.program().variants[0].requirements = {"work_group:128"};
  CHECK(refused("a") ==
        "program p, variant a needs work-groups of 128 work-items, which this device lacks");
  pack.program().variants[1].requirements = {"extension:cl_qcom_filter_bicubic"};
  CHECK(refused("") ==
        "program p has no variant that this device can run; a needs work-groups of 128 work-items; "
        "b needs the extension cl_qcom_filter_bicubic; c needs half-precision arithmetic");
}
