// SPDX-License-Identifier: Apache-2.0
// Merging: any order gives the same pack, byte for byte; contradictions are named.
#include <algorithm>
#include <functional>
#include <limits>

#include "kiln/packs/text.hpp"
#include "tests/packs/forge.hpp"
#include "tests/packs/merging.hpp"

using namespace kiln::packs;
using namespace kiln::test;

namespace {

// The sample after `change`.
Bytes sample_with(const std::function<void(Contents *)> &change) {
  Contents contents = sample();
  change(&contents);
  return written(contents);
}

// A pack whose only blob, a source, is stored as `level` of zstd makes it; 0 is raw.
Bytes stored_as(int level) {
  const Bytes raw(2000, 's');
  Forge forge;
  ForgedRoot root;
  root.programs[0].variants[0].source = 1;
  root.blobs = {level == 0 ? forge.raw_blob(raw)
                           : forge.blob(raw, zstd_frame(raw, level), 1, raw.size())};
  return forge.finish(root);
}

}  // namespace

TEST_CASE("merging a pack with itself changes nothing", "[merge]") {
  const Bytes pack = written(sample());
  CHECK(merged({pack}) == pack);
  CHECK(merged({pack, pack}) == pack);
}

TEST_CASE("merging with an empty pack changes nothing but an empty producer", "[merge]") {
  const Bytes pack = written(sample());
  const Bytes empty = written({});
  CHECK(merged({pack, empty}) == pack);
  CHECK(merged({empty, pack}) == pack);
  CHECK(merged({empty, empty}) == empty);
}

TEST_CASE("merging contents with themselves in place changes nothing", "[merge]") {
  Contents contents = sample();
  REQUIRE(merge(contents, &contents).ok());
  CHECK(written(contents) == written(sample()));
}

TEST_CASE("a merged pack has the targets, programs and binaries of both", "[merge]") {
  Contents left = sample();
  Contents right = sample();
  left.targets.pop_back();
  right.targets.erase(right.targets.begin());
  left.programs.pop_back();
  right.programs.erase(right.programs.begin());
  REQUIRE(merge(right, &left).ok());
  CHECK(written(left) == written(sample()));
}

TEST_CASE("binaries of one target are united", "[merge]") {
  Contents left = sample();
  Contents right = sample();
  left.targets[0].binaries.pop_back();
  right.targets[0].binaries.erase(right.targets[0].binaries.begin());
  REQUIRE(merge(right, &left).ok());
  CHECK(written(left) == written(sample()));
}

TEST_CASE("parts of a build merge to one pack in any order", "[merge]") {
  check_any_order(sample_with([](Contents *c) { c->targets.pop_back(); }),
                  sample_with([](Contents *c) { c->targets.erase(c->targets.begin()); }),
                  sample_with([](Contents *c) {
                    c->targets = {target("C300")};
                    c->programs.pop_back();
                    c->producer = "clang 15";
                  }));
}

TEST_CASE("two binaries for one variant and target merge to one in any order", "[merge]") {
  const auto with = [](std::uint32_t seed) {
    return sample_with(
        [=](Contents *c) { c->targets[0].binaries[0].blob = BlobSource(noise(70, seed)); });
  };
  check_any_order(with(11), with(12), with(13));
}

TEST_CASE("of two binaries the final one is kept, then the older driver's", "[merge]") {
  const auto with = [](Finality finality, const char *driver, std::uint32_t seed) {
    return sample_with([=](Contents *c) {
      Binary &binary = c->targets[0].binaries[0];
      binary.blob = BlobSource(noise(70, seed));
      binary.finish.finality = finality;
      binary.finish.driver = driver;
    });
  };
  const Bytes plain = with(Finality::no, "550.54", 21);
  const Bytes newer = with(Finality::yes, "580.65.06", 22);
  const Bytes older = with(Finality::yes, "580.9", 23);
  check_any_order(plain, newer, older);
  CHECK(merged({plain, newer, older}) == older);
}

TEST_CASE("versions compare by their numbers", "[merge]") {
  CHECK(compare_versions("580.65.06", "580.65.6") == 0);
  CHECK(compare_versions("580.9", "580.65.06") < 0);
  CHECK(compare_versions("1000", "999.9") > 0);
  CHECK(compare_versions("", "0") == 0);
  CHECK(compare_versions("580", "580.1") < 0);
  CHECK(compare_versions("99999999999999999999999", "1") > 0);
}

TEST_CASE("one binary with several logs and facts merges to one in any order", "[merge]") {
  const auto with = [](const char *log, std::uint64_t size) {
    return sample_with([=](Contents *c) {
      c->targets[0].binaries[0].build_log = log;
      c->targets[0].binaries[0].kernels[0].max_work_group_size = size;
    });
  };
  check_any_order(with("a", 1), with("b", 1), with("a", 2));
}

TEST_CASE("two devices with one key merge to one target in any order", "[merge]") {
  const auto with = [](const char *model, const char *name) {
    return sample_with([=](Contents *c) {
      c->targets[0].model = model;
      c->targets[0].identity = {{"device_name", name}};
    });
  };
  check_any_order(with("a", "x"), with("b", "x"), with("a", "y"));
}

TEST_CASE("one variant with IL of several compilers merges to one in any order", "[merge]") {
  const auto with = [](std::uint32_t seed, std::uint32_t version) {
    return sample_with([=](Contents *c) {
      c->programs[0].variants[0].il64 = BlobSource(noise(48, seed));
      c->programs[0].variants[0].il_version = version;
    });
  };
  check_any_order(with(21, 0x00010000), with(22, 0x00010000), with(21, 0x00010200));
}

TEST_CASE("a variant's IL outlives a merge with a pack that has neither source nor IL", "[merge]") {
  const Bytes with = written(sample());
  const Bytes without = sample_with([](Contents *c) {
    for (Variant &variant : c->programs[0].variants) {
      variant.source.reset();
      variant.il32.reset();
      variant.il64.reset();
      variant.il_version = 0;
    }
  });
  CHECK(merged({with, without}) == with);
  CHECK(merged({without, with}) == with);
}

TEST_CASE("a text that one pack has without IL gets none from another", "[merge]") {
  const Bytes with = written(sample());
  const Bytes source_only = sample_with([](Contents *c) {
    Variant &scalar = c->programs[0].variants[0];
    scalar.il32.reset();
    scalar.il64.reset();
    scalar.il_version = 0;
  });
  const Bytes stripped = sample_with([](Contents *c) {
    Variant &scalar = c->programs[0].variants[0];
    scalar.source.reset();
    scalar.il32.reset();
    scalar.il64.reset();
    scalar.il_version = 0;
  });
  CHECK(merged({with, source_only}) == source_only);
  check_any_order(with, source_only, stripped);
  CHECK(merged({with, source_only, stripped}) == source_only);
}

TEST_CASE("a kernel's parameters outlive a merge with a pack that has none", "[merge]") {
  // Since a pack with IL comes first, its variant is kept, and gets the other's parameters.
  Contents with = parameters_sample();
  for (Program &program : with.programs) {
    for (Variant &variant : program.variants) {
      variant.source = variant.il32 = variant.il64 = std::nullopt;
    }
  }
  Contents without = sample();
  const Contents both = contents_of(opened(merged({written(with), written(without)})));
  CHECK(both.programs[0].variants[0].kernels == with.programs[0].variants[0].kernels);
  CHECK(both.programs[0].variants[0].il32);
  CHECK(both.programs[0].variants[1].kernels == with.programs[0].variants[1].kernels);
  CHECK(both.programs[1].variants[0].kernels[0].parameters.empty());
  Contents other = with;  // as another compiler names a type
  other.programs[0].variants[0].kernels[0].parameters[1].type = "pixel*";
  other.programs[0].variants[1].kernels[1].parameters.clear();
  check_any_order(written(with), written(without), written(other));
}

TEST_CASE("a binary's statistics outlive a merge with a pack that has none", "[merge]") {
  const Bytes with = written(statistics_sample());
  const Bytes without = written(parameters_sample());
  CHECK(merged({with, without}) == with);
  CHECK(merged({without, with}) == with);
  Contents other = statistics_sample();  // as another version's output was read
  other.targets[0].binaries[0].statistics[0].value = 25;
  check_any_order(with, without, written(other));
}

TEST_CASE("a member that a pack sets outlives a merge with a pack that does not know it",
          "[merge]") {
  const Bytes without = written(sample());
  const auto check_kept = [&](const std::function<void(Contents *)> &set) {
    const Bytes with = sample_with(set);
    REQUIRE(with != without);
    CHECK(merged({with, without}) == with);
    CHECK(merged({without, with}) == with);
  };
  const auto check_argument = [&](const std::function<void(Argument *)> &set) {
    check_kept([&](Contents *c) { set(&c->programs[0].variants[1].arguments[2]); });
  };
  check_argument([](Argument *a) { a->accumulates = true; });
  check_argument([](Argument *a) { a->extent = "width"; });
  check_argument([](Argument *a) { a->values = {0.5}; });
  check_argument([](Argument *a) { a->fields = "int float"; });
  const auto check_finish = [&](const std::function<void(Finish *)> &set) {
    check_kept([&](Contents *c) { set(&c->targets[0].binaries[0].finish); });
  };
  check_finish([](Finish *f) { f->made_from = "0123"; });
  check_finish([](Finish *f) { f->workaround = "-cl-opt-disable"; });
}

TEST_CASE("a variant's recorded launches are united line by line, in any order", "[merge]") {
  const auto with = [](const char *lines) {
    return sample_with([=](Contents *c) {
      const std::string text = lines;
      c->programs[0].variants[0].launches = BlobSource(Bytes(text.begin(), text.end()));
    });
  };
  check_any_order(with("a\nc\n"), with("b\nc\n"), written(sample()));
  CHECK(merged({with("a\nc\n"), with("b\nc\n"), written(sample())}) == with("a\nb\nc\n"));
  CHECK(merged({with("a\n"), with("a\n")}) == with("a\n"));
}

TEST_CASE("of launches of one kind the smallest line is kept, and not too many", "[merge]") {
  const auto line = [](const char *local, const char *global, int value) {
    return std::string(R"({"kernel":"k","dimensions":1,"local":)") + local +
           R"(,"wide":false,"moved":false,"global":)" + global +
           R"(,"offset":[0,0,0],"arguments":[{"value":[)" + std::to_string(value) + "]}]}\n";
  };
  const std::string five = line("[8,1,1]", "[64,1,1]", 5);
  CHECK(united_launches(five, line("[8,1,1]", "[64,1,1]", 7)) == five);
  CHECK(united_launches(line("[8,1,1]", "[72,1,1]", 5), five) == five);
  // Where the driver chooses the size the range is a part of the kind.
  const std::string narrow = line("[0,0,0]", "[64,1,1]", 5);
  const std::string other = line("[0,0,0]", "[72,1,1]", 5);
  CHECK(united_launches(other, narrow) == narrow + other);
  std::string many;
  for (int i = 100; i < 300; ++i) many += std::to_string(i) + "\n";
  CHECK(united_launches(many, "099\n") == "099\n" + many.substr(0, 4 * (kMaxLaunches - 1)));
}

TEST_CASE("a program's hints outlive a merge with a pack that has none", "[merge]") {
  const Bytes with = written(sample());
  const Bytes without = sample_with([](Contents *c) {
    c->programs[0].preferred.clear();
    c->programs[0].baseline.clear();
    c->programs[0].sizes.clear();
  });
  CHECK(merged({with, without}) == with);
  CHECK(merged({without, with}) == with);
}

TEST_CASE("several hints for one program merge to those of one side in any order", "[merge]") {
  const auto with = [](std::vector<std::string> preferred, const char *baseline,
                       std::uint32_t width) {
    return sample_with([&](Contents *c) {
      c->programs[0].preferred = preferred;
      c->programs[0].baseline = baseline;
      c->programs[0].sizes.clear();
      if (width != 0) c->programs[0].sizes = {{width, 1, 1}};
    });
  };
  check_any_order(with({"wide"}, "", 0), with({}, "wide", 5), with({}, "", 7));
  check_any_order(with({"wide"}, "scalar", 5), with({"scalar", "wide"}, "a", 5),
                  with({"scalar"}, "scalar", 5));
  check_any_order(with({"wide"}, "a", 5), with({"wide"}, "b", 5), with({"wide"}, "a", 6));
  const Contents one = contents_of(opened(merged({with({"wide"}, "", 0), with({}, "wide", 5)})));
  CHECK(one.programs[0].preferred == std::vector<std::string>{"wide"});
  CHECK(one.programs[0].baseline.empty());
  CHECK(one.programs[0].sizes.empty());
}

namespace {

using ChangeVariant = std::function<void(Variant *)>;

Bytes variant_with(const ChangeVariant &change) {
  return sample_with([&](Contents *c) { change(&c->programs[0].variants[1]); });
}

// What a merge of three packs makes of the changed variant, in any order and grouping.
Variant united(const ChangeVariant &a, const ChangeVariant &b, const ChangeVariant &c = {}) {
  const auto with = [](const ChangeVariant &change) {
    return change ? variant_with(change) : written(sample());
  };
  check_any_order(with(a), with(b), with(c));
  return contents_of(opened(merged({with(a), with(b), with(c)}))).programs[0].variants[1];
}

// Checks that both orders are refused for this member, and that neither changes anything.
void check_refused(const char *member, const ChangeVariant &a, const ChangeVariant &b) {
  CAPTURE(member);
  const Bytes sides[] = {variant_with(a), variant_with(b)};
  for (const int first : {0, 1}) {
    Contents into = contents_of(opened(sides[first]));
    const Status status = merge(contents_of(opened(sides[1 - first])), &into);
    CHECK(status.code == Code::conflict);
    CHECK(status.message == std::string("program blur, variant wide: the packs differ in ") +
                                member + ", and neither is the stricter");
    CHECK(written(into) == sides[first]);
  }
}

ChangeVariant argument(const std::function<void(Argument *)> &change) {
  return [change](Variant *v) { change(&v->arguments[4]); };
}

}  // namespace

TEST_CASE("a merged variant requires what each pack says that it requires", "[merge]") {
  using Words = std::vector<std::string>;
  const auto words = [](Words all) { return [all](Variant *v) { v->requirements = all; }; };
  CHECK(united(words({"proof"}), words({})).requirements == Words{"cl_khr_fp16", "image", "proof"});
  CHECK(united(words({"no_global_offset", "proof"}), words({"fp16"}), words({})).requirements ==
        Words{"fp16", "no_global_offset", "proof"});
  CHECK(united(words({"range_multiple:16x1"}), words({"range_multiple:8x2"}), words({}))
            .requirements == Words{"range_multiple:16x1", "range_multiple:8x2"});
  CHECK(united(words({}), words({}), words({})).requirements.empty());
}

TEST_CASE("of two tolerances the smaller, and of two limits the stricter are kept", "[merge]") {
  const auto tolerance = [](double value) { return [value](Variant *v) { v->tolerance = value; }; };
  CHECK(united(tolerance(2), tolerance(0.5), tolerance(1)).tolerance == 0.5);
  CHECK(united(tolerance(2), tolerance(0), tolerance(1)).tolerance == 0);
  using enum StatisticName;
  const auto limits = [](std::vector<Statistic> all) {
    return [all](Variant *v) { v->limits = all; };
  };
  CHECK(united(limits({{0, registers, 64}, {0, waves, 8}}), limits({{0, registers, 32}}),
               limits({{0, spills, 0}, {0, waves, 4}}))
            .limits == std::vector<Statistic>{{0, registers, 32}, {0, spills, 0}, {0, waves, 8}});
}

TEST_CASE("a merged variant has the work-group sizes and workarounds of each pack", "[merge]") {
  using Sizes = std::vector<std::array<std::uint32_t, 3>>;
  const auto sizes = [](Sizes all) { return [all](Variant *v) { v->local_sizes = all; }; };
  CHECK(united(sizes({{64, 1, 1}, {8, 8, 1}}), sizes({{16, 1, 1}})).local_sizes ==
        Sizes{{8, 8, 1}, {16, 1, 1}, {64, 1, 1}});
  CHECK(united(sizes({{64, 1, 1}, {8, 8, 1}}), sizes({})).local_sizes ==
        Sizes{{64, 1, 1}, {8, 8, 1}});
  using Words = std::vector<std::string>;
  const auto workarounds = [](Words all) { return [all](Variant *v) { v->workarounds = all; }; };
  CHECK(united(workarounds({"-DB -DA", "-DZ"}), workarounds({"-DA -DA"})).workarounds ==
        Words{"-DZ", "-DA -DA", "-DB -DA"});
  CHECK(united(workarounds({"-DZ", "-DA"}), workarounds({})).workarounds == Words{"-DZ", "-DA"});
}

TEST_CASE("a launch that one pack alone describes is kept", "[merge]") {
  const Variant wide = sample().programs[0].variants[1];
  CHECK(united([](Variant *v) { v->arguments.clear(); }, {}).arguments == wide.arguments);
  CHECK(united([](Variant *v) { v->local_size = {0, 0, 0}; }, {}).local_size == wide.local_size);
  CHECK(united([](Variant *v) { v->kernels[1].range = "1"; }, {}).kernels[1].range == "1");
  CHECK(united(argument([](Argument *a) { a->accumulates = false; }), {}).arguments[3].accumulates);
  CHECK(united(argument([](Argument *a) { a->extent = "1"; }), {}).arguments[4].extent == "1");
}

TEST_CASE("members of which neither side is the stricter are refused by name", "[merge]") {
  const ChangeVariant none = [](Variant *) {};
  check_refused("options", none, [](Variant *v) { v->options = "-cl-std=CL2.0"; });
  check_refused("pixels", none, [](Variant *v) { v->pixels = {1, 1, 1}; });
  check_refused("local_size", none, [](Variant *v) { v->local_size = {8, 8, 1}; });
  check_refused("range", none, [](Variant *v) { v->kernels[0].range = "width"; });
  check_refused("arguments", none, [](Variant *v) { v->arguments.pop_back(); });
  check_refused("arguments", none, [](Variant *v) { std::swap(v->arguments[0], v->arguments[1]); });
  check_refused("arguments", none, argument([](Argument *a) { a->type = ElementType::int_; }));
  check_refused("arguments", none, argument([](Argument *a) { a->stage = 0; }));
  check_refused("arguments", none, argument([](Argument *a) { a->role = Role::scratch; }));
  check_refused("arguments", none, argument([](Argument *a) { a->value = 9; }));
  check_refused("arguments", none, argument([](Argument *a) { a->channels = 2; }));
  check_refused("arguments", none, argument([](Argument *a) { a->name = "other"; }));
  check_refused("arguments", argument([](Argument *a) { a->extent = "1"; }),
                argument([](Argument *a) { a->extent = "2"; }));
  check_refused("arguments", argument([](Argument *a) { a->fields = "int"; }),
                argument([](Argument *a) { a->fields = "float"; }));
  // Numbers that do not compare are told apart all the same.
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  check_refused("arguments", argument([](Argument *a) { a->values = {0.0}; }),
                argument([](Argument *a) { a->values = {-0.0}; }));
  check_refused("arguments", argument([](Argument *a) { a->values = {0.0}; }),
                argument([](Argument *a) { a->values = {kNone}; }));
  const Bytes bytes = variant_with(argument([](Argument *a) { a->values = {kNone}; }));
  CHECK(merged({bytes, bytes}) == bytes);
}

TEST_CASE("a merge names the members in which two packs differ", "[merge]") {
  Contents from = sample(), into = sample();
  Variant &wide = from.programs[0].variants[1];
  wide.requirements.push_back("proof");
  wide.tolerance = 7;
  wide.limits = {{0, StatisticName::registers, 64}};
  from.programs[0].variants[0].il64.reset();
  from.programs[0].variants[0].il32.reset();
  from.programs[0].preferred = {"scalar"};
  std::vector<MergeChoice> choices;
  REQUIRE(merge(from, &into, &choices).ok());
  REQUIRE(choices.size() == 3);
  for (const MergeChoice &choice : choices) CHECK(choice.part == MergeChoice::Part::members);
  CHECK(choices[0].place == "blur");
  CHECK(choices[0].members == "preferred");
  CHECK(choices[0].rule == MergeRule::hints);
  CHECK(choices[1].place == "blur/scalar");
  CHECK(choices[1].members == "il");
  CHECK(choices[2].place == "blur/wide");
  CHECK(choices[2].members == "requirements, tolerance, limits");
  CHECK(choices[2].rule == MergeRule::stricter);
  // A side that says nothing of them, as of an earlier version, is no difference in hints.
  from.programs[0].preferred.clear();
  from.programs[0].baseline.clear();
  choices.clear();
  REQUIRE(merge(from, &into, &choices).ok());
  REQUIRE(choices.size() == 1);
  CHECK(choices[0].place == "blur/wide");
}

TEST_CASE("one blob that was stored in several ways merges to one in any order", "[merge]") {
  REQUIRE(zstd_frame(Bytes(2000, 's'), -7) != zstd_frame(Bytes(2000, 's'), 19));
  check_any_order(stored_as(0), stored_as(-7), stored_as(19));
}

TEST_CASE("a variant with another hash is a conflict that names both", "[merge]") {
  Contents left = sample();
  Contents right = sample();
  right.programs[0].variants[1].hash = name_of("changed");
  const Status status = merge(right, &left);
  CHECK(status.code == Code::conflict);
  CHECK(mentions(status.message, "blur"));
  CHECK(mentions(status.message, "wide"));
  CHECK(mentions(status.message, hex(name_of("changed"))));
  CHECK(mentions(status.message, hex(sample().programs[0].variants[1].hash)));
  CHECK(written(left) == written(sample()));  // as it was
}

TEST_CASE("a program with another reference is a conflict that names both", "[merge]") {
  Contents left = sample();
  Contents right = sample();
  right.programs[0].reference = "other_reference";
  right.targets.push_back(target("C300"));
  const Status status = merge(right, &left);
  CHECK(status.code == Code::conflict);
  CHECK(mentions(status.message, "other_reference"));
  CHECK(mentions(status.message, "blur_reference"));
  CHECK(written(left) == written(sample()));
}

TEST_CASE("a damaged blob is not merged into a pack", "[merge]") {
  Bytes bytes = written(sample());
  bytes[opened(bytes)->schema().blobs()->Get(0)->offset() + 5] ^= 1;
  Contents contents = contents_of(opened(bytes));
  REQUIRE(merge(Contents{}, &contents).ok());
  const kiln::test::TemporaryFolder folder;
  const std::string path = (folder.path() / "out.kiln").string();
  CHECK(write_pack(contents, path).code == Code::blob_corrupt);
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("a merge drops the proof of a larger tolerance than the smaller that counts", "[merge]") {
  const auto with = [](double tolerance, const char *proof, std::uint64_t microseconds = 0) {
    return sample_with([=](Contents *c) {
      c->programs[0].variants[0].tolerance = tolerance;
      Finish &finish = c->targets[0].binaries[0].finish;
      finish.proof = proof;
      finish.proved_by = finish.proof.empty() ? "" : "0123";
      finish.microseconds = microseconds;
    });
  };
  const auto proof_in = [](const Bytes &bytes) {
    std::string proofs;
    const Contents contents = contents_of(opened(bytes));
    for (const Target &target : contents.targets) {
      for (const Binary &binary : target.binaries) proofs += binary.finish.proof;
    }
    return proofs;
  };
  const Bytes lax = with(5, "reference"), strict = with(0, ""), proven = with(0, "reference");
  CHECK(proof_in(merged({lax, strict})).empty());
  CHECK(proof_in(merged({lax, proven})) == "reference");
  CHECK(proof_in(merged({lax, with(5, "")})) == "reference");
  check_any_order(lax, strict, proven);
  check_any_order(with(5, "reference", 7), with(5, "", 6), strict);
  // The base's tolerance counts for what a device adds.
  Contents device = contents_of(opened(lax));
  (void)remove_all_but_additions(contents_of(opened(strict)), &device);
  CHECK(proof_in(written(device)).empty());
  device = contents_of(opened(proven));
  (void)remove_all_but_additions(contents_of(opened(lax)), &device);
  CHECK(proof_in(written(device)) == "reference");
}

TEST_CASE("a contribution adds targets and records for the base's variants, and nothing else",
          "[merge]") {
  const Contents base = sample();
  REQUIRE(base.targets.size() > 0);
  Contents same = base;
  CHECK(remove_all_but_additions(base, &same) == 0);
  CHECK(same.programs.empty());
  CHECK(same.producer.empty());
  CHECK_FALSE(same.tunings.empty());
  for (const Tuning &row : same.tunings) CHECK_FALSE(row.profile.empty());
  CHECK(written([&] {
          Contents merged = base;
          REQUIRE(merge(same, &merged).ok());
          return merged;
        }()) == written(base));

  Contents other = base;
  for (Tuning &row : other.tunings) row.variant_hash[0] ^= 1;
  other.programs[0].variants[0].hash[0] ^= 1;  // a source of its own
  std::size_t binaries = 0;
  for (Target &target : other.targets) {
    for (auto *list : {&target.binaries, &target.intermediates}) {
      for (Binary &binary : *list) {
        binary.variant[0] ^= 1;
        ++binaries;
      }
    }
  }
  CHECK(remove_all_but_additions(base, &other) == binaries);
  CHECK(other.tunings.empty());
  CHECK(other.targets.empty());  // none is left with nothing in it
}

TEST_CASE("what has no proof is held apart, and a claim of a proof is not handed on", "[merge]") {
  const Contents base = sample();
  REQUIRE(base.targets[0].binaries.size() > 0);
  Contents proven = base;
  for (Target &target : proven.targets) {
    for (auto *list : {&target.binaries, &target.intermediates}) {
      for (Binary &binary : *list) binary.finish.proof = "the reference, 64x64";
    }
  }
  Contents mixed = proven;
  mixed.targets[0].binaries[0].finish.proof.clear();
  const Digest variant = mixed.targets[0].binaries[0].variant;

  Contents held = take_out_unproven(false, &mixed);
  REQUIRE(held.targets.size() == 1);
  CHECK(held.programs.empty());
  CHECK(held.targets[0].key == base.targets[0].key);
  REQUIRE(held.targets[0].binaries.size() == 1);
  CHECK(held.targets[0].binaries[0].variant == variant);
  CHECK_FALSE(held.targets[0].cache_entries);
  for (const Target &target : mixed.targets) {
    for (const Binary &binary : target.binaries) CHECK_FALSE(binary.finish.proof.empty());
  }
  drop_proven(mixed, &held);
  CHECK(held.targets.size() == 1);  // nobody has proven it
  drop_proven(proven, &held);
  CHECK(held.targets.empty());

  Contents forged = proven;
  const Contents all = take_out_unproven(true, &forged);
  CHECK(forged.targets.empty());
  CHECK(all.targets.size() == base.targets.size());
  for (const Target &target : all.targets) {
    for (const auto *list : {&target.binaries, &target.intermediates}) {
      for (const Binary &binary : *list) CHECK(binary.finish.proof.empty());
    }
  }
}

namespace {

// Two binaries for one place, and what is said of the one that is kept.
struct Merged {
  bool kept_from = false;
  MergeChoice choice{};
};

Merged merged_binaries(const Binary &from, const Binary &into, MergeChoice::Part part) {
  const auto list = part == MergeChoice::Part::binary ? &Target::binaries : &Target::intermediates;
  Contents a, b;
  a.targets = b.targets = {target("A100")};
  (a.targets[0].*list) = {from};
  (b.targets[0].*list) = {into};
  std::vector<MergeChoice> choices;
  REQUIRE(merge(a, &b, &choices).ok());
  REQUIRE(choices.size() == 1);
  CHECK(choices[0].part == part);
  CHECK(choices[0].target == target("A100").key);
  const std::vector<Binary> &kept = b.targets.at(0).*list;
  REQUIRE(kept.size() == 1);
  CHECK(kept[0].blob.name() == choices[0].kept);
  return {kept[0].blob.name() == from.blob.name(), choices[0]};
}

}  // namespace

TEST_CASE("each rule for two binaries decides before the next, whichever side has which",
          "[merge]") {
  struct Row {
    Finish kept, left_out;
    MergeRule rule;
  };
  const auto made = [](Finality finality, const char *driver, const char *finisher) {
    Finish finish;
    finish.finality = finality;
    finish.driver = driver;
    finish.finisher = finisher;
    return finish;
  };
  constexpr Finality kYes = Finality::yes, kNo = Finality::no, kNever = Finality::not_launched;
  Finish smaller = made(kNever, "1", "virtual-neo 1 as skl, intel-without-spirv 1");
  smaller.unfinished_size = 100;
  const Row rows[] = {
      {made(kYes, "9", "l 1"), made(kNo, "1", "l 2"), MergeRule::finality},
      {made(kYes, "9", "l 1"), made(kNever, "1", "l 2"), MergeRule::finality},
      {made(kNo, "9", "l 1"), made(kNever, "1", "l 2"), MergeRule::finality},
      {made(kYes, "580.9", "l 1"), made(kYes, "580.65", "l 2"), MergeRule::driver},
      {made(kNo, "580.9", ""), made(kNo, "580.10", "l 2"), MergeRule::driver},
      {made(kYes, "1", "the linker 3"), made(kYes, "1", "the linker 2"), MergeRule::finisher},
      {made(kYes, "1", "l 10"), made(kYes, "1", "l 9, launches 99"), MergeRule::finisher},
      {made(kYes, "1", "l 1"), made(kYes, "1", ""), MergeRule::finisher},
      {made(kYes, "1", "l 1"), made(kYes, "1", "l9"), MergeRule::finisher},
      {smaller, made(kNever, "1", "virtual-neo 1 as skl"), MergeRule::finisher},
  };
  const Variant of = variant("blur", "source");
  for (const Row &row : rows) {
    // The hashes, of which either may be the smaller one, decide nothing.
    for (const auto &[one, two] : {std::pair(1u, 2u), std::pair(2u, 1u)}) {
      for (const auto part : {MergeChoice::Part::binary, MergeChoice::Part::intermediate}) {
        CAPTURE(row.kept.finisher, row.left_out.finisher, row.left_out.driver, one);
        Binary kept = binary(of, noise(70, one));
        Binary left_out = binary(of, noise(70, two));
        kept.finish = row.kept;
        left_out.finish = row.left_out;
        const Merged taken = merged_binaries(kept, left_out, part);
        CHECK(taken.kept_from);
        CHECK(taken.choice.from_kept);
        CHECK(taken.choice.rule == row.rule);
        CHECK(taken.choice.left_out == left_out.blob.name());
        const Merged stays = merged_binaries(left_out, kept, part);
        CHECK_FALSE(stays.kept_from);
        CHECK_FALSE(stays.choice.from_kept);
        CHECK(stays.choice.rule == row.rule);
        CHECK(stays.choice.left_out == left_out.blob.name());
      }
    }
  }
}

TEST_CASE("of two binaries that no rule tells apart the smaller name is kept", "[merge]") {
  const Variant of = variant("blur", "source");
  const Binary one = binary(of, noise(70, 1)), two = binary(of, noise(70, 2));
  const bool is_smaller = one.blob.name() < two.blob.name();
  const Merged merged = merged_binaries(one, two, MergeChoice::Part::binary);
  CHECK(merged.choice.rule == MergeRule::hash);
  CHECK(merged.kept_from == is_smaller);
  CHECK(merged_binaries(two, one, MergeChoice::Part::binary).kept_from != is_smaller);
  Contents same;
  same.targets = {target("A100")};
  same.targets[0].binaries = {one};
  Contents into = same;
  std::vector<MergeChoice> choices;
  REQUIRE(merge(same, &into, &choices).ok());
  CHECK(choices.empty());  // no choice between the same bytes
}

TEST_CASE("of two variants the one with more source and IL gives all of its own", "[merge]") {
  const auto with = [](bool source, std::uint32_t il32, std::uint32_t il64) {
    Variant made = variant("blur", "source");
    if (!source) made.source.reset();
    if (il32 != 0) made.il32 = BlobSource(noise(70, il32));
    if (il64 != 0) made.il64 = BlobSource(noise(70, il64));
    Contents contents;
    contents.programs = {{"p", "", {made}}};
    return contents;
  };
  struct Row {
    Contents more, less;
    std::vector<MergeChoice::Part> choices;
  };
  using Part = MergeChoice::Part;
  for (const auto &[one, two] : {std::pair(1u, 2u), std::pair(2u, 1u)}) {
    const Row rows[] = {
        {with(true, 0, one), with(false, 0, two), {Part::il64}},
        {with(true, one, one), with(false, two, two), {Part::il32, Part::il64}},
        {with(true, 0, one), with(false, two, two), {Part::il64}},
        {with(true, one, 0), with(true, 0, two), {}},
        {with(true, one, one), with(true, one, 0), {}},
        {with(true, one, one), with(true, two, 0), {Part::il32}},
    };
    for (const Row &row : rows) {
      for (const bool is_from : {true, false}) {
        CAPTURE(one, is_from, &row - rows);
        Contents into = is_from ? row.less : row.more;
        std::vector<MergeChoice> choices;
        REQUIRE(merge(is_from ? row.more : row.less, &into, &choices).ok());
        CHECK(into == row.more);
        REQUIRE(choices.size() == row.choices.size());
        for (std::size_t i = 0; i < choices.size(); ++i) {
          CHECK(choices[i].part == row.choices[i]);
          CHECK(choices[i].rule == MergeRule::variant);
          CHECK(choices[i].from_kept == is_from);
        }
      }
    }
  }
}

TEST_CASE("a target's blob of cache entries outlives a merge with a target that has none",
          "[merge]") {
  Contents with, without;
  with.targets = without.targets = {target("A100")};
  with.targets[0].cache_entries = BlobSource(noise(70, 1));
  for (const bool is_from : {true, false}) {
    Contents into = is_from ? without : with;
    REQUIRE(merge(is_from ? with : without, &into).ok());
    CHECK(into == with);
  }
}

TEST_CASE("a contribution keeps a target for either kind of binary", "[merge]") {
  Contents base;
  const Variant known = variant("blur", "source");
  base.programs = {{"p", "", {known}}};
  for (const auto list : {&Target::binaries, &Target::intermediates}) {
    Contents more;
    more.targets = {target("A100"), target("none")};
    (more.targets[0].*list) = {binary(known, noise(70, 1))};
    CHECK(remove_all_but_additions(base, &more) == 0);
    REQUIRE(more.targets.size() == 1);
    CHECK(more.targets[0].model == "A100");
  }
}

TEST_CASE("merging unites what builds found, whatever the version of the notes", "[merge]") {
  const auto found = [](const char *from, const char *below, const char *reason,
                        std::uint32_t version = 0, const char *variant = "v") {
    Contents contents;
    contents.known_bad_version = version;
    KnownBad note{{"p", variant}, kFoundByBuild | 16};
    note[NoteText::driver_from] = from;
    note[NoteText::driver_below] = below;
    note[NoteText::reason] = reason;
    contents.known_bad = {note};
    return written(contents);
  };
  const auto all = [](const std::vector<Bytes> &sides) {
    std::vector<std::string> ranges;
    for (const KnownBad &note : contents_of(opened(merged(sides))).known_bad) {
      ranges.push_back(note[NoteText::variant] + ": " + note[NoteText::driver_from] + " to " +
                       note[NoteText::driver_below] + ", " + note[NoteText::reason]);
    }
    return ranges;
  };
  const Bytes nine = found("9", "9.1", "b"), forty = found("41", "41.1", "a", 1);
  const Bytes between = found("38", "38.1", "c"), other = found("9", "9.1", "b", 2, "w");
  CHECK(all({nine, forty}) == std::vector<std::string>{"v: 9 to 41.1, a"});
  CHECK(all({nine, other}) == std::vector<std::string>{"v: 9 to 9.1, b", "w: 9 to 9.1, b"});
  Contents withdrawn;
  withdrawn.known_bad_version = 5;
  CHECK(all({nine, written(withdrawn)}) == std::vector<std::string>{"v: 9 to 9.1, b"});
  check_any_order(nine, forty, between);
  check_any_order(nine, other, forty);
}

TEST_CASE("merging keeps the known-bad notes of the later version, of equal ones all", "[merge]") {
  const auto notes = [](std::uint32_t version, std::vector<std::string> programs) {
    Contents contents;
    contents.known_bad_version = version;
    for (const std::string &program : programs) {
      contents.known_bad.push_back({{program}, kAllRungs});
    }
    return written(contents);
  };
  const auto all = [](const std::vector<Bytes> &sides) {
    std::string text;
    for (const KnownBad &note : contents_of(opened(merged(sides))).known_bad) {
      text += note.texts[0];
    }
    return text;
  };
  const Bytes plain = written(bare_sample());
  CHECK(all({notes(1, {"a"}), plain}) == "a");
  CHECK(all({notes(1, {"a", "b"}), notes(2, {"c"})}) == "c");
  CHECK(all({notes(1, {"b", "a"}), notes(1, {"c", "a"})}) == "abc");
  CHECK(all({notes(1, {"a"}), notes(2, {})}).empty());
  check_any_order(notes(1, {"a", "b"}), notes(1, {"c"}), notes(2, {"d"}));
  check_any_order(notes(2, {"a", "b"}), notes(2, {"c"}), plain);
  Contents device = contents_of(opened(notes(3, {"a"})));
  (void)remove_all_but_additions(bare_sample(), &device);
  CHECK(device.known_bad.empty());
  CHECK(device.known_bad_version == 0);
}
