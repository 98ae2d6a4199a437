// SPDX-License-Identifier: Apache-2.0
#include "builder/inspect/pack_diff.hpp"

#include <functional>
#include <limits>

#include "tests/packs/sample.hpp"

using namespace kiln;
using namespace kiln::test;

namespace {

using Change = std::function<void(Contents *)>;

// The sample after `change`, as it is read from a pack.
Contents changed_sample(const Change &change) {
  static std::vector<std::unique_ptr<Bytes>> packs;  // are read in place
  Contents contents = sample();
  change(&contents);
  packs.push_back(std::make_unique<Bytes>(written(contents)));
  return contents_of(opened(*packs.back()));
}

std::string diff_text(const Change &a, const Change &b) {
  return builder::differences_text(builder::compare_packs(changed_sample(a), changed_sample(b)),
                                   "a", "b");
}

void no_change(Contents *) {}

}  // namespace

TEST_CASE("packs that hold the same have no difference", "[diff]") {
  CHECK(diff_text(no_change, no_change) == "a and b hold the same\n");
  const auto json = builder::differences_json({});
  CHECK(json["equal"] == true);
  CHECK(json["different"].empty());
}

TEST_CASE("how and where a blob is stored is no difference", "[diff]") {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "raw.kiln").string();
  REQUIRE(packs::write_pack(sample(), path, {.purpose = packs::Purpose::raw}).ok());
  const Bytes raw = read_file(path);
  REQUIRE(raw != written(sample()));
  CHECK(builder::compare_packs(changed_sample(no_change), contents_of(opened(raw))).empty());
}

TEST_CASE("numbers that do not compare are the same as themselves", "[diff]") {
  const auto with = [](double value) {
    return [value](Contents *c) { c->programs[0].variants[1].arguments.back().values = {value}; };
  };
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  CHECK(diff_text(with(kNone), with(kNone)) == "a and b hold the same\n");
  CHECK(diff_text(with(0.0), with(-0.0)) ==
        "differs: variant blur/wide: arguments\n0 only in a, 0 only in b, 1 different\n");
}

TEST_CASE("what one pack alone has is named without what lies in it", "[diff]") {
  const Change without = [](Contents *c) {
    c->programs.pop_back();
    c->targets.erase(c->targets.begin());
    c->tunings.pop_back();
  };
  const auto text = [](const char *pack) {
    std::string all =
        "only in PACK: program invert, 1 variant\n"
        "only in PACK: target A100 (driver ) a11d3fba8f6063b5, 4 binaries\n"
        "only in PACK: tuning blur/wide as a whole, large, on A100\n";
    for (std::size_t at = 0; (at = all.find("PACK")) != std::string::npos;) {
      all.replace(at, 4, pack);
    }
    return all;
  };
  CHECK(diff_text(no_change, without) == text("a") + "3 only in a, 0 only in b, 0 different\n");
  CHECK(diff_text(without, no_change) == text("b") + "0 only in a, 3 only in b, 0 different\n");
}

TEST_CASE("a part that differs is listed with the members that do", "[diff]") {
  const Change changed = [](Contents *c) {
    c->producer = "clang 15";
    c->programs[0].baseline = "";
    c->programs[0].variants[0].options = "-O1";
    c->programs[0].variants[0].launches = packs::BlobSource(bytes_of("{}\n"));
    c->targets[0].identity[0].second = "a100";
    c->targets[0].cache_entries.reset();
    c->targets[0].intermediates[1].build_log = std::string(100, 'x');
    c->targets[1].binaries[0].blob = packs::BlobSource(noise(70, 9));
    c->tunings[0].samples = 31;
  };
  const std::string launches = packs::hex(name_of("{}\n")).substr(0, 16);
  const std::string cache_entries =
      packs::hex(sample().targets[0].cache_entries->name()).substr(0, 16);
  CHECK(diff_text(no_change, changed) ==
        "differs: pack: producer clang 14; llvm-spirv 14 | clang 15\n"
        "differs: program blur: baseline scalar | none\n"
        "differs: variant blur/scalar: launches none | " +
            launches +
            "; options -cl-std=CL1.2 | -O1\n"
            "differs: target A100 (driver ) a11d3fba8f6063b5: cache_entries " +
            cache_entries +
            " | none; identity.device_name A100 | a100\n"
            "differs: binary blur/scalar for B200 (driver ): blob bf6febfb8f0a390a | "
            "c90eb56b9cfda541\n"
            "differs: intermediate invert/plain for A100 (driver ): build_log\n"
            "differs: tuning blur/wide scalar, medium, on A100: samples 30 | 31\n"
            "0 only in a, 0 only in b, 7 different\n");
}

TEST_CASE("differences as JSON have the whole values", "[diff]") {
  const auto differences =
      builder::compare_packs(changed_sample(no_change), changed_sample([](Contents *c) {
                               c->targets[1].binaries[0].build_log = std::string(100, 'x');
                               c->programs.pop_back();
                             }));
  const auto json = builder::differences_json(differences);
  CHECK(json["schema"] == 1);
  CHECK(json["equal"] == false);
  CHECK(json["only_in_a"] == nlohmann::json::array({{{"kind", "program"}, {"name", "invert"}}}));
  CHECK(json["only_in_b"].empty());
  REQUIRE(json["different"].size() == 1);
  CHECK(json["different"][0]["kind"] == "binary");
  CHECK(json["different"][0]["name"] == "blur/scalar for B200 (driver )");
  CHECK(json["different"][0]["fields"]["build_log"]["a"] == "log of scalar");
  CHECK(json["different"][0]["fields"]["build_log"]["b"] == std::string(100, 'x'));
}
