// SPDX-License-Identifier: Apache-2.0
// Finds a device's model in the tables of builder/virtual.
#include "builder/fleet/report/fill_command.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "builder/virtual/mesa_models.hpp"
#include "kiln/packs/text.hpp"
#include "runtime/identity/requirements.hpp"

namespace kiln::builder {
namespace {

// Returns the words of a name, in lower case, between blanks: " mali g52 panfrost ".
std::string words_of(const std::string &name) {
  std::string words = " ";
  for (const char c : name) {
    const bool is_word = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    words += is_word ? packs::lower(c) : ' ';
  }
  return words + " ";
}

bool has_word(const std::string &words, std::string_view word) {
  return words.find(fmt::format(" {} ", word)) != std::string::npos;
}

// Mesa's devices name their model (fd740); Qualcomm's driver has Adreno's number, and Arm's the
// name in the table.
bool is_model(const MesaModel &model, const std::string &words, const std::string &profile) {
  if (has_word(words, model.name)) return true;
  return profile == "adreno" && model.name.starts_with("fd") &&
         has_word(words, model.name.substr(2));
}

std::string for_shell(const std::string &text) {
  std::string safe = text;
  std::replace(safe.begin(), safe.end(), '\'', '?');  // a glob of --device
  return "'" + safe + "'";
}

std::string output_of(const FleetDevice &device) { return packs::hex64(device.key_hash) + ".kiln"; }

}  // namespace

VirtualWord virtual_word_of(const FleetDevice &device) {
  VirtualWord found;
  const std::string words = words_of(device.name + " " + device.model);
  const auto &models = mesa_models();
  const auto model = std::find_if(models.begin(), models.end(), [&](const MesaModel &each) {
    return is_model(each, words, device.profile);
  });
  if (model != models.end()) {
    found.products = model->marketing;
    if (device.profile == "rusticl") {
      found.word = fmt::format("mesa:{}", model->name);
      found.needs = "Mesa " + device.driver;
    }
  }
  if (!device.described || device.profile != "nvidia") return found;
  const auto capability = runtime::compute_capability_of(device.described->device.key().facts());
  if (capability != 0) {
    found.word = fmt::format("nvidia.toml:sm_{}{}", capability / 100, capability % 100);
  }
  return found;
}

std::string device_command(const std::string &pack, const FleetDevice &device) {
  std::string name = device.name.empty() ? "*" : device.name;
  if (device.described) {  // an application may call the model something else
    const auto &own = device.described->device.identity.text(runtime::Field::device_name);
    if (!own.empty()) name = own;
  }
  // Mesa's names end in the kernel's release, which does not count.
  if (device.profile == "rusticl") name = name.substr(0, name.find(" (")) + "*";
  return fmt::format("kiln build {} --device {} -o {}", for_shell(pack), for_shell(name),
                     output_of(device));
}

std::string virtual_command(const std::string &pack, const FleetDevice &device,
                            const std::string &word) {
  return fmt::format("kiln build {} --virtual {} -o {}", for_shell(pack), word, output_of(device));
}

}  // namespace kiln::builder
