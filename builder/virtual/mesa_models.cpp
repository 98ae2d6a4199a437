// SPDX-License-Identifier: Apache-2.0
// The table, by GPU vendor.
#include "builder/virtual/mesa_models.hpp"

#include <algorithm>

namespace kiln::builder {
namespace {

constexpr MesaDriver kRadeonsi{"radeonsi", "libamdgpu_noop_drm_shim.so", "AMDGPU_GPU_ID",
                               "Debian's mesa-drm-shim has it", true};
constexpr MesaDriver kNouveau{"nouveau", "libnouveau_noop_drm_shim.so", "NOUVEAU_CHIPSET",
                              "Debian's mesa-drm-shim has it", false};
constexpr MesaDriver kFreedreno{"freedreno", "libfreedreno_noop_drm_shim.so", "FD_GPU_ID",
                                "Debian's mesa-drm-shim has it for arm64, and for x86-64 from "
                                "Mesa 26 on",
                                false};
constexpr MesaDriver kPanfrost{"panfrost", "libpanfrost_noop_drm_shim.so", "PAN_GPU_ID",
                               "it needs arm64's Mesa: Debian's mesa-drm-shim has it for arm64 "
                               "alone",
                               false};

}  // namespace

const std::vector<MesaModel> &mesa_models() {
  static const std::vector<MesaModel> models = {
      // AMD. Which of them a Mesa knows depends on its version.
      {"pitcairn", &kRadeonsi, "pitcairn", "Radeon HD 7800"},
      {"bonaire", &kRadeonsi, "bonaire", "Radeon HD 7790, R7 260"},
      {"stoney", &kRadeonsi, "stoney", "Stoney Ridge: A4 to A9 of 2016"},
      {"polaris10", &kRadeonsi, "polaris10", "Radeon RX 470 to 590"},
      {"polaris12", &kRadeonsi, "polaris12", "Radeon RX 540 to 550"},
      {"vega10", &kRadeonsi, "vega10", "Radeon RX Vega 56 and 64"},
      {"vega20", &kRadeonsi, "vega20", "Radeon VII"},
      {"raven", &kRadeonsi, "raven", "Ryzen 2000 with graphics"},
      {"raven2", &kRadeonsi, "raven2", "Athlon 3000 with graphics"},
      {"renoir", &kRadeonsi, "renoir", "Ryzen 4000 and 5000 with graphics"},
      {"navi10", &kRadeonsi, "navi10", "Radeon RX 5600 and 5700"},
      {"navi21", &kRadeonsi, "navi21", "Radeon RX 6800 and 6900"},
      {"vangogh", &kRadeonsi, "vangogh", "Steam Deck"},
      {"rembrandt", &kRadeonsi, "rembrandt", "Radeon 680M: Ryzen 6000 with graphics"},
      {"raphael_mendocino", &kRadeonsi, "raphael_mendocino", "Ryzen 7000, Ryzen 7020"},
      {"navi31", &kRadeonsi, "navi31", "Radeon RX 7900"},
      {"navi33", &kRadeonsi, "navi33", "Radeon RX 7600"},
      {"phoenix", &kRadeonsi, "phoenix", "Radeon 780M: Ryzen 7040, ROG Ally"},
      {"gfx1150", &kRadeonsi, "gfx1150", "Radeon 890M: Ryzen AI 300; Mesa 25's name"},
      {"strix1", &kRadeonsi, "strix1", "Radeon 890M: Ryzen AI 300; Mesa 26's name"},
      {"gfx1201", &kRadeonsi, "gfx1201", "Radeon RX 9070"},
      // NVIDIA, by Nouveau's numbers of chips.
      {"nvc0", &kNouveau, "c0", "GeForce GTX 480 (GF100)"},
      {"nvc4", &kNouveau, "c4", "GeForce GTX 460 (GF104)"},
      {"nve4", &kNouveau, "e4", "GeForce GTX 680 (GK104)"},
      {"nve6", &kNouveau, "e6", "GeForce GTX 660 (GK106)"},
      {"nve7", &kNouveau, "e7", "GeForce GTX 650 (GK107)"},
      {"nvf0", &kNouveau, "f0", "GeForce GTX 780 (GK110)"},
      {"nvf1", &kNouveau, "f1", "GeForce GTX 780 Ti (GK110B)"},
      {"nv106", &kNouveau, "106", "GeForce GT 710 (GK208B)"},
      {"nv108", &kNouveau, "108", "GeForce GT 730 (GK208)"},
      {"nv117", &kNouveau, "117", "GeForce GTX 750 (GM107)"},
      {"nv118", &kNouveau, "118", "GeForce 830M (GM108)"},
      {"nv120", &kNouveau, "120", "GeForce GTX 980 Ti (GM200)"},
      {"nv124", &kNouveau, "124", "GeForce GTX 980 (GM204)"},
      {"nv126", &kNouveau, "126", "GeForce GTX 960 (GM206)"},
      {"nv12b", &kNouveau, "12b", "Tegra X1 (GM20B)"},
      {"nv130", &kNouveau, "130", "Tesla P100 (GP100)"},
      {"nv132", &kNouveau, "132", "GeForce GTX 1080 Ti (GP102)"},
      {"nv134", &kNouveau, "134", "GeForce GTX 1080 (GP104)"},
      {"nv136", &kNouveau, "136", "GeForce GTX 1060 (GP106)"},
      {"nv137", &kNouveau, "137", "GeForce GTX 1050 (GP107)"},
      {"nv138", &kNouveau, "138", "GeForce GT 1030 (GP108)"},
      {"nv140", &kNouveau, "140", "Titan V (GV100)"},
      {"nv164", &kNouveau, "164", "GeForce RTX 2070 (TU104)"},
      // Qualcomm's Adreno.
      {"fd610", &kFreedreno, "610", "Adreno 610: Snapdragon 665"},
      {"fd618", &kFreedreno, "618", "Adreno 618: Snapdragon 730, 7c"},
      {"fd630", &kFreedreno, "630", "Adreno 630: Snapdragon 845"},
      {"fd660", &kFreedreno, "660", "Adreno 660: Snapdragon 888"},
      {"fd702", &kFreedreno, "702", "Adreno 702: QRB2210"},
      {"fd730", &kFreedreno, "730", "Adreno 730: Snapdragon 8 Gen 1"},
      {"fd740", &kFreedreno, "740", "Adreno 740: Snapdragon 8 Gen 2"},
      {"fd750", &kFreedreno, "750", "Adreno 750: Snapdragon 8 Gen 3"},
      {"fd810", &kFreedreno, "810", "Adreno 810: Snapdragon 7s Gen 3"},
      {"fd830", &kFreedreno, "830", "Adreno 830: Snapdragon 8 Elite"},
      // Arm's Mali.
      {"g52", &kPanfrost, "7212", "Mali-G52: Amlogic S922X"},
      {"g57", &kPanfrost, "9093", "Mali-G57: MediaTek MT8192"},
  };
  return models;
}

const MesaModel *find_mesa_model(std::string_view name) {
  const auto &models = mesa_models();
  const auto found = std::find_if(models.begin(), models.end(),
                                  [&](const MesaModel &model) { return model.name == name; });
  return found == models.end() ? nullptr : &*found;
}

std::vector<std::string> mesa_model_names() {
  std::vector<std::string> names;
  for (const MesaModel &model : mesa_models()) names.emplace_back(model.name);
  return names;
}

}  // namespace kiln::builder
