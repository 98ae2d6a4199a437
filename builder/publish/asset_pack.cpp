// SPDX-License-Identifier: Apache-2.0
// What developer.android.com says of asset packs and device targeting, and bundletool checks.
#include "builder/publish/asset_pack.hpp"

#include <algorithm>
#include <filesystem>
#include <map>

#include <fmt/format.h>
#include <unistd.h>

#include "builder/base/whole_file.hpp"
#include "builder/inspect/pack_files.hpp"
#include "builder/inspect/pack_slice.hpp"
#include "kiln/packs/text.hpp"

namespace kiln::builder {
namespace {

namespace fs = std::filesystem;

using packs::Contents;
using packs::Target;

constexpr const char *kGradle =
    R"(// What the application needs, with the Android Gradle Plugin 8.10 or later:
//   settings.gradle.kts:  include(":{0}")
//   gradle.properties:    android.experimental.enableDeviceTargetingConfigApi=true
//   build.gradle.kts:     android {{
//                           assetPacks += ":{0}"
//                           bundle {{
//                             deviceTargetingConfig =
//                                 file("../{0}/device_targeting_config.xml")
//                             deviceGroup {{ enableSplit = true; defaultGroup = "other" }}
//                           }}
//                         }}
plugins {{ id("com.android.asset-pack") }}

assetPack {{
  packName.set("{0}")
  dynamicDelivery {{ deliveryType.set("install-time") }}
}}
)";

std::string in_xml(const std::string &text) {
  std::string out;
  for (const char c : text) {
    if (c == '&' || c == '<' || c == '>' || c == '"') {
      out += fmt::format("&#{};", static_cast<int>(c));
    } else {
      out += c;
    }
  }
  return out;
}

// Play gives a phone the first group that matches, and "other" if none does. A chip is in one group
// at most.
std::string targeting_xml(const AssetPack &pack) {
  std::string text =
      "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
      "<config:device-targeting-config xmlns:config=\"http://schemas.android.com/apk/config\">\n";
  for (const DeviceGroup &group : pack.groups) {
    if (group.chips.empty()) continue;
    text += fmt::format("  <config:device-group name=\"{}\">\n    <config:device-selector>\n",
                        group.name);
    for (const std::string &chip : group.chips) {
      const std::size_t space = chip.find(' ');
      text += fmt::format("      <config:system-on-chip manufacturer=\"{}\" model=\"{}\"/>\n",
                          in_xml(chip.substr(0, space)), in_xml(chip.substr(space + 1)));
    }
    text += "    </config:device-selector>\n  </config:device-group>\n";
  }
  return text + "</config:device-targeting-config>\n";
}

Contents contents_of(const Contents &contents, const DeviceGroup &group) {
  if (group.chips.empty()) return contents;
  Cut cut;
  cut.devices.emplace();
  for (const Target &target : group.targets) {
    cut.devices->keys.insert(target.key);
    cut.devices->profiles.insert(target.profile);
  }
  return cut_contents(contents, cut);
}

// Returns the name of the asset pack that the folder is; empty if no asset pack may have it.
std::string name_of(const fs::path &folder) {
  const std::string name = folder.filename().string();
  const auto is_part = [](char c) {
    const char l = packs::lower(c);
    return (l >= 'a' && l <= 'z') || (c >= '0' && c <= '9') || c == '_';
  };
  const bool is_name = !name.empty() && std::all_of(name.begin(), name.end(), is_part) &&
                       name[0] != '_' && !(name[0] >= '0' && name[0] <= '9');
  return is_name ? name : std::string();
}

Status check_free(const fs::path &folder) {
  std::error_code error;
  if (!fs::exists(folder, error) || fs::is_empty(folder, error)) return {};
  return {Code::bad_argument, folder.string() + ": it exists, and is not an empty folder"};
}

Status write_module(const Contents &contents, const fs::path &folder, const std::string &name,
                    AssetPack *pack) {
  for (DeviceGroup &group : pack->groups) {
    const fs::path assets = folder / "src/main/assets" / (name + "#group_" + group.name);
    std::error_code error;
    fs::create_directories(assets, error);
    if (error) return {Code::failed, assets.string() + ": " + error.message()};
    const fs::path file = assets / "app.kiln";
    if (Status s = write_output(contents_of(contents, group), file.string()); !s.ok()) return s;
    group.size = fs::file_size(file, error);
  }
  Status s = write_whole_file((folder / "build.gradle.kts").string(), fmt::format(kGradle, name));
  if (s.ok()) {
    s = write_whole_file((folder / "device_targeting_config.xml").string(), targeting_xml(*pack));
  }
  return as_failed(s);
}

}  // namespace

Result<AssetPack> plan_asset_pack(const Contents &contents, const DeviceCatalog &catalog) {
  std::map<std::string, DeviceGroup> groups;
  for (const Target &target : contents.targets) {
    const std::string name = device_group(target);
    if (name.empty()) continue;
    groups[name].name = name;
    groups[name].targets.push_back(target);
  }
  AssetPack pack;
  for (const auto &[chip, gpus] : catalog) {
    const auto is_here = [&](const std::string &gpu) { return groups.contains(gpu); };
    if (std::none_of(gpus.begin(), gpus.end(), is_here)) continue;
    if (gpus.size() == 1) {
      groups[*gpus.begin()].chips.push_back(chip);
    } else {
      pack.ambiguous.push_back(chip);
    }
  }
  for (auto &[name, group] : groups) {
    if (group.chips.empty()) {
      pack.no_chips.push_back(name);
    } else {
      pack.groups.push_back(std::move(group));
    }
  }
  if (pack.groups.empty()) {
    return Status(Code::bad_argument,
                  pack.no_chips.empty() ? "the pack has no target of an Adreno, a Mali or a PowerVR"
                                        : "the catalog has none of the pack's GPUs: " +
                                              fmt::format("{}", fmt::join(pack.no_chips, ", ")));
  }
  pack.groups.push_back({"other", {}, contents.targets, 0});
  return pack;
}

Result<AssetPack> write_asset_pack(const Contents &contents, const DeviceCatalog &catalog,
                                   const std::string &folder) {
  fs::path path = fs::path(folder).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  const std::string name = name_of(path);
  if (name.empty()) {
    return Status(Code::bad_argument,
                  folder +
                      ": an asset pack has its folder's name: expected letters, digits and "
                      "_, beginning with a letter");
  }
  if (Status s = check_free(path); !s.ok()) return s;
  auto pack = plan_asset_pack(contents, catalog);
  if (!pack.ok()) return pack;
  std::error_code error;
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), error);
  const fs::path made = fmt::format("{}.{}", path.string(), getpid());
  if (!fs::create_directory(made, error)) {
    return Status(Code::failed,
                  made.string() + ": " + (error ? error.message() : "it exists already"));
  }
  Status s = write_module(contents, made, name, &*pack);
  if (s.ok()) {
    fs::rename(made, path, error);
    if (error) s = {Code::failed, path.string() + ": " + error.message()};
  }
  if (s.ok()) return pack;
  fs::remove_all(made, error);
  return s;
}

}  // namespace kiln::builder
