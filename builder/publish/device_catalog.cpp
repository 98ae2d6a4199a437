// SPDX-License-Identifier: Apache-2.0
// CSV as in RFC 4180, and the names of GPUs.
#include "builder/publish/device_catalog.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "builder/base/whole_file.hpp"
#include "kiln/packs/text.hpp"

namespace kiln::builder {
namespace {

bool is_letter_or_digit(char c) {
  const char l = packs::lower(c);
  return (l >= 'a' && l <= 'z') || (c >= '0' && c <= '9');
}

// Takes the next record from the front of `csv`. Returns nothing if a quote does not end.
std::optional<std::vector<std::string>> take_record(std::string_view *csv) {
  std::vector<std::string> fields(1);
  bool is_quoted = false;
  while (!csv->empty()) {
    const char c = csv->front();
    csv->remove_prefix(1);
    if (c == '"' && is_quoted && csv->starts_with('"')) {
      fields.back() += c;
      csv->remove_prefix(1);
    } else if (c == '"') {
      is_quoted = !is_quoted;
    } else if (is_quoted || (c != ',' && c != '\n' && c != '\r')) {
      fields.back() += c;
    } else if (c == ',') {
      fields.emplace_back();
    } else if (c == '\n') {
      break;
    }
  }
  if (is_quoted) return std::nullopt;
  return fields;
}

// Whether it has two words and can stand in XML as it is, but for & < > and quotes.
bool is_chip(const std::string &text) {
  const std::size_t space = text.find(' ');
  return space != 0 && space < text.size() - 1 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

}  // namespace

std::string device_group(std::string_view gpu) {
  constexpr std::string_view kBrands[] = {"Adreno", "Mali", "Immortalis", "PowerVR"};
  gpu = gpu.substr(0, gpu.find(" ("));
  for (const std::string_view brand : kBrands) {
    const std::size_t at = gpu.find(brand);
    if (at == std::string_view::npos || gpu.size() < at + brand.size() + 2) continue;
    std::string_view model = gpu.substr(at + brand.size() + 1);
    // "PowerVR Rogue GE8320" and "PowerVR GE8320" are one GPU; so are "Mali G710 MC10" and "G710".
    model =
        brand == "PowerVR" ? model.substr(model.rfind(' ') + 1) : model.substr(0, model.find(' '));
    std::string name(brand == "Immortalis" ? "Mali" : brand);
    name += '_';
    for (const char c : model) name += is_letter_or_digit(c) ? c : '_';
    std::transform(name.begin(), name.end(), name.begin(), packs::lower);
    return name;
  }
  return {};
}

std::string device_group(const packs::Target &target) {
  if (target.model.empty()) return {};
  if (target.profile == "adreno") return device_group("Adreno " + target.model);
  if (target.profile == "powervr") return device_group("PowerVR " + target.model);
  return target.profile == "mali" ? device_group(target.model) : std::string();
}

Result<DeviceCatalog> parse_device_catalog(std::string_view csv, const std::string &file) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (csv.starts_with(kByteOrderMark)) csv.remove_prefix(kByteOrderMark.size());
  const auto header = take_record(&csv);
  std::size_t columns[2];
  constexpr const char *kNames[] = {"System on Chip", "GPU"};
  for (std::size_t i = 0; i < 2; ++i) {
    const std::vector<std::string> &names = header.value_or(std::vector<std::string>());
    const auto found = std::find(names.begin(), names.end(), kNames[i]);
    if (found == names.end()) {
      return Status(Code::bad_input,
                    fmt::format("{}: no device list in English of the Play Console: it has no "
                                "column \"{}\"",
                                file, kNames[i]));
    }
    columns[i] = static_cast<std::size_t>(found - names.begin());
  }
  DeviceCatalog catalog;
  while (!csv.empty()) {
    const auto record = take_record(&csv);
    if (!record) {
      return Status(Code::bad_input, file + ": a quote in its last record does not end");
    }
    if (record->size() <= std::max(columns[0], columns[1])) continue;
    const std::string &chip = (*record)[columns[0]];
    const std::string &gpu = (*record)[columns[1]];
    if (is_chip(chip) && !gpu.empty()) catalog[chip].insert(device_group(gpu));
  }
  return catalog;
}

Result<DeviceCatalog> read_device_catalog(const std::string &path) {
  const auto csv = read_whole_file(path);
  if (!csv) return Status(Code::failed, fmt::format("{}: {}", path, std::strerror(errno)));
  return parse_device_catalog(*csv, path);
}

}  // namespace kiln::builder
