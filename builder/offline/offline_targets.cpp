// SPDX-License-Identifier: Apache-2.0
// Takes the user's words apart, and opens the compiler of each.
#include "builder/offline/offline_targets.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "builder/offline/described_compiler.hpp"
#include "builder/offline/nvptx_compiler.hpp"
#include "builder/offline/ocloc_compiler.hpp"

namespace kiln::builder {
namespace {

constexpr const char *kCompilers[] = {"nvidia", "ocloc"};
constexpr char kFile[] = "file";  // a description of one

class Finder {
 public:
  explicit Finder(const OfflineTools &tools) : tools_(tools) {}

  void find(const OfflineSpec &spec) {
    if (spec.compiler == "nvidia") find_nvidia(spec);
    if (spec.compiler == "ocloc") find_intel(spec);
    if (spec.compiler == kFile) add(spec.devices.front(), described_device(spec.devices.front()));
  }

  OfflineTargets take() { return std::move(targets_); }

 private:
  void find_nvidia(const OfflineSpec &spec) {
    auto tools = find_nvptx_tools({tools_.clang, tools_.libclc, tools_.ptxas});
    if (!tools.ok()) return fail(spec.compiler, tools.status());
    const auto shared = std::make_shared<const NvptxTools>(*std::move(tools));
    for (const std::string &device : spec.devices) {
      add(spec.compiler + ":" + device, nvptx_device(shared, device));
    }
  }

  void find_intel(const OfflineSpec &spec) {
    auto tool = find_ocloc(tools_.ocloc);
    if (!tool.ok()) return fail(spec.compiler, tool.status());
    const auto shared = std::make_shared<const OclocTool>(*std::move(tool));
    for (const std::string &device : spec.devices) {
      add(spec.compiler + ":" + device, ocloc_device(shared, device));
    }
  }

  void add(const std::string &name, Result<DeviceInfo> device) {
    if (!device.ok()) return fail(name, device.status());
    for (const DeviceInfo &one : targets_.devices) {
      if (one.offline->name() == device->offline->name()) return;
      if (one.description.key.text() != device->description.key.text()) continue;
      targets_.notes.push_back(fmt::format("{}: has the binary key of {}, whose binaries it gets",
                                           name, one.offline->name()));
      return;
    }
    targets_.devices.push_back(*std::move(device));
  }

  void fail(const std::string &name, const Status &status) {
    targets_.failures.emplace_back(status.code, name + ": " + status.message);
  }

  const OfflineTools &tools_;
  OfflineTargets targets_;
};

}  // namespace

Result<OfflineSpec> parse_offline_spec(const std::string &text) {
  OfflineSpec spec;
  if (text.ends_with(".toml")) return OfflineSpec{kFile, {text}};
  const std::size_t colon = text.find(':');
  spec.compiler = text.substr(0, colon);
  const bool known = std::find(std::begin(kCompilers), std::end(kCompilers), spec.compiler) !=
                     std::end(kCompilers);
  if (!known) {
    return Status(
        Code::bad_argument,
        fmt::format("\"{}\" names no offline compiler; expected {}:DEVICE,... or FILE.toml", text,
                    fmt::join(kCompilers, ":DEVICE,... or ")));
  }
  std::size_t begin = colon;
  while (begin != std::string::npos) {
    const std::size_t end = text.find(',', begin + 1);
    spec.devices.push_back(text.substr(begin + 1, end - begin - 1));
    begin = end;
  }
  const bool whole = !spec.devices.empty() &&
                     std::find(spec.devices.begin(), spec.devices.end(), "") == spec.devices.end();
  if (whole) return spec;
  return Status(Code::bad_argument,
                fmt::format("\"{}\" lacks a device: expected {}:DEVICE,... or FILE.toml", text,
                            spec.compiler));
}

OfflineTargets find_offline_targets(const std::vector<OfflineSpec> &specs,
                                    const OfflineTools &tools) {
  Finder finder(tools);
  for (const OfflineSpec &spec : specs) finder.find(spec);
  return finder.take();
}

}  // namespace kiln::builder
