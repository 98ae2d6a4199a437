// SPDX-License-Identifier: Apache-2.0
// Device groups from the Play Console's device catalog.
#include "builder/publish/asset_pack.hpp"

#include "tests/support/catch.hpp"

using namespace kiln;
using namespace kiln::builder;

namespace {

packs::Contents contents_with(const std::vector<std::pair<std::string, std::string>> &gpus) {
  packs::Contents contents;
  for (const auto &[profile, model] : gpus) {
    packs::Target target;
    target.key = profile + model + std::to_string(contents.targets.size());
    target.profile = profile;
    target.model = model;
    contents.targets.push_back(target);
  }
  return contents;
}

}  // namespace

TEST_CASE("a GPU has one device group, however the catalog and its driver name it", "[publish]") {
  const struct {
    const char *in_catalog;
    const char *profile;
    const char *model;
    const char *group;
  } kRows[] = {
      {"Qualcomm Adreno 740 (818 MHz)", "adreno", "740", "adreno_740"},
      {"Qualcomm Adreno 642L (550 MHz)", "adreno", "642L", "adreno_642l"},
      {"ARM Mali G710 (848 MHz)", "mali", "Mali-G710", "mali_g710"},
      {"ARM Mali G710 MC10", "mali", "Mali-G710", "mali_g710"},
      {"ARM Immortalis G720 (1300 MHz)", "mali", "Mali-G720", "mali_g720"},
      {"ARM Mali T628", "mali", "Mali-T628", "mali_t628"},
      {"Imagination Tech PowerVR GE8322 (550 MHz)", "powervr", "GE8322", "powervr_ge8322"},
      {"Imagination Tech PowerVR Rogue GE8320", "powervr", "GE8320", "powervr_ge8320"},
      {"Imagination Tech PowerVR B-Series BXM-8-256", "powervr", "BXM-8-256", "powervr_bxm_8_256"}};
  for (const auto &row : kRows) {
    CHECK(device_group(row.in_catalog) == row.group);
    CHECK(device_group(contents_with({{row.profile, row.model}}).targets[0]) == row.group);
  }
}

TEST_CASE("a GPU that no phone's profile names has no device group", "[publish]") {
  for (const char *gpu : {"", "Samsung Xclipse 940", "Adreno", "Mali ", " (", "Adreno (818 MHz)"}) {
    CHECK(device_group(gpu).empty());
  }
  const packs::Contents contents =
      contents_with({{"nvidia", "NVIDIA H200"}, {"adreno", ""}, {"rusticl", "FD740"}});
  for (const packs::Target &target : contents.targets) CHECK(device_group(target).empty());
}

TEST_CASE("a device catalog is CSV with quotes, any order of columns and any line ends",
          "[publish]") {
  const auto catalog = parse_device_catalog(
      "\xef\xbb\xbfGPU,\"Model, \"\"Name\"\"\nin two lines\",System on Chip\r\n"
      "ARM Mali G710 (848 MHz),\"a, b\",Google Tensor G2\r\n"
      "\r\n"
      ",no GPU,QTI SM1\n"
      "Qualcomm Adreno 740,no manufacturer,SM8550\n"
      "Qualcomm Adreno 740,no model,QTI \n"
      "Qualcomm Adreno 740,no ASCII,QTI SM\x01\n"
      "Samsung Xclipse 940,no group,Samsung s5e9945\n"
      "Qualcomm Adreno 740,last line,QTI SM8550",
      "devices.csv");
  REQUIRE(catalog.ok());
  CHECK(*catalog == DeviceCatalog{{"Google Tensor G2", {"mali_g710"}},
                                  {"QTI SM8550", {"adreno_740"}},
                                  {"Samsung s5e9945", {""}}});
}

TEST_CASE("a chip with several GPUs is in no group, and a group has all targets of its GPU",
          "[publish]") {
  const packs::Contents contents = contents_with({{"adreno", "740"},
                                                  {"adreno", "740"},
                                                  {"adreno", "750"},
                                                  {"mali", "Mali-G710"},
                                                  {"generic", "Desk"}});
  const auto plan = plan_asset_pack(contents, {{"QTI SM1", {"adreno_740"}},
                                               {"QTI SM2", {"adreno_740"}},
                                               {"QTI SM3", {"adreno_750", ""}},
                                               {"QTI SM4", {"adreno_830"}},
                                               {"QTI SM5", {"mali_g57", ""}},
                                               {"Google Tensor", {"mali_g710"}}});
  REQUIRE(plan.ok());
  REQUIRE(plan->groups.size() == 3);
  CHECK(plan->groups[0].name == "adreno_740");
  CHECK(plan->groups[0].chips == std::vector<std::string>{"QTI SM1", "QTI SM2"});
  CHECK(plan->groups[0].targets.size() == 2);
  CHECK(plan->groups[1].name == "mali_g710");
  CHECK(plan->groups[1].targets.size() == 1);
  CHECK(plan->groups[2].name == "other");
  CHECK(plan->groups[2].targets == contents.targets);
  CHECK(plan->no_chips == std::vector<std::string>{"adreno_750"});
  CHECK(plan->ambiguous == std::vector<std::string>{"QTI SM3"});
}
