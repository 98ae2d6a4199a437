// SPDX-License-Identifier: Apache-2.0
// Parses the user's requests, and opens the backend of each.
#include "builder/virtual/virtual_devices.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "builder/base/names.hpp"
#include "builder/virtual/described_compiler.hpp"
#include "builder/virtual/mesa.hpp"
#include "builder/virtual/neo.hpp"

namespace kiln::builder {
namespace {

class Finder {
 public:
  Finder(const VirtualTools &tools, const std::vector<DeviceInfo> &present)
      : tools_(tools), present_(present) {}

  void find(const VirtualSpec &spec) {
    if (spec.backend == "neo") {
      find_each(spec, find_neo_drivers(tools_.neo_root), neo_device);
    } else if (spec.backend == "mesa") {
      find_each(spec, find_mesa(tools_.mesa_root, tools_.mesa_program), mesa_device);
    } else if (spec.models.empty()) {
      add(spec.backend, [&] { return described_device(description(spec.backend), ""); });
    } else {
      find_each(spec, Result(description(spec.backend)), described_device);
    }
  }

  VirtualDevices take() { return std::move(found_); }

 private:
  // Returns the path of a description. A name alone means the description shipped with Kiln, unless
  // there is a file of that name here.
  std::filesystem::path description(const std::filesystem::path &named) const {
    std::error_code error;
    if (named.has_parent_path() || std::filesystem::exists(named, error)) return named;
    const std::filesystem::path shipped = tools_.descriptions / named;
    return std::filesystem::exists(shipped, error) ? shipped : named;
  }

  template <typename Tools, typename Open>
  void find_each(const VirtualSpec &spec, const Result<Tools> &tools, Open open) {
    if (!tools.ok()) return fail(spec.backend, tools.status());
    for (const std::string &model : spec.models) {
      add(spec.backend + ":" + model, [&] { return open(*tools, model); });
    }
  }

  template <typename Open>
  void add(const std::string &name, Open open) {
    if (!named_.insert(name).second) {
      found_.notes.push_back(name + ": named twice, built for once");
      return;
    }
    Result<DeviceInfo> device = open();
    if (!device.ok()) return fail(name, device.status());
    using List = const std::vector<DeviceInfo>;
    for (List *list : {&present_, static_cast<List *>(&found_.devices)}) {
      for (const DeviceInfo &one : *list) {
        if (one.description.key.text() != device->description.key.text()) continue;
        found_.notes.push_back(
            fmt::format("{}: has the binary key of {}, whose binaries it gets", name, one.label()));
        return;
      }
    }
    found_.devices.push_back(*std::move(device));
  }

  void fail(const std::string &name, const Status &status) {
    found_.failures.emplace_back(status.code, name + ": " + status.message);
  }

  const VirtualTools &tools_;
  const std::vector<DeviceInfo> &present_;
  std::set<std::string> named_;
  VirtualDevices found_;
};

Status check_models(const VirtualSpec &spec, const std::vector<std::string> &all,
                    const char *what) {
  for (const std::string &model : spec.models) {
    if (std::find(all.begin(), all.end(), model) != all.end()) continue;
    return {Code::bad_argument, fmt::format("\"{}\" is no {} of {}; {}", model, what, spec.backend,
                                            expected_one_of(model, all))};
  }
  return {};
}

}  // namespace

Result<VirtualSpec> parse_virtual_spec(const std::string &text) {
  static const std::vector<std::string> backends = {"neo", "mesa"};
  if (text.ends_with(".toml")) return VirtualSpec{text, {}};
  const std::size_t file = text.find(".toml:");
  const bool is_file = file != std::string::npos;
  std::size_t end = is_file ? text.find(':', file) : text.find(':');
  VirtualSpec spec{text.substr(0, end), {}};
  if (!is_file && std::find(backends.begin(), backends.end(), spec.backend) == backends.end()) {
    return Status(Code::bad_argument,
                  fmt::format("\"{}\" is neither a backend nor FILE.toml; {}", spec.backend,
                              expected_one_of(spec.backend, backends)));
  }
  while (end != std::string::npos) {
    const std::size_t begin = end + 1;
    end = text.find(',', begin);
    spec.models.push_back(text.substr(begin, end - begin));
  }
  const auto &models = spec.models;
  if (models.empty() || std::find(models.begin(), models.end(), "") != models.end()) {
    return Status(Code::bad_argument,
                  fmt::format("\"{}\" lacks a model: expected {}:MODEL,...", text, spec.backend));
  }
  Status known;
  if (spec.backend == "neo") known = check_models(spec, neo_products(), "product");
  if (spec.backend == "mesa") known = check_models(spec, mesa_model_names(), "model");
  if (!known.ok()) return known;
  return spec;
}

VirtualDevices find_virtual_devices(const std::vector<VirtualSpec> &specs,
                                    const VirtualTools &tools,
                                    const std::vector<DeviceInfo> &present) {
  Finder finder(tools, present);
  for (const VirtualSpec &spec : specs) finder.find(spec);
  return finder.take();
}

}  // namespace kiln::builder
