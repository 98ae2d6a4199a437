// SPDX-License-Identifier: Apache-2.0
// Asks ocloc what it is and what devices it knows, and runs it.
#include "builder/virtual/ocloc_compiler.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "builder/compile/run_compiler.hpp"
#include "builder/virtual/ocloc_devices.hpp"
#include "builder/virtual/tool_files.hpp"
#include "ocloc_22_43.h"

namespace kiln::builder {
namespace {

constexpr std::chrono::milliseconds kOclocTimeout{20'000};

std::string_view ocloc_table() {
  return {reinterpret_cast<const char *>(ocloc_22_43_data), ocloc_22_43_size};
}

// What ocloc writes to the file of a query's name, without spaces around it.
Result<std::string> query_ocloc(const std::filesystem::path &ocloc, const std::string &what,
                                const std::vector<std::string> &more = {}) {
  const auto folder = ToolFolder::make();
  if (!folder.ok()) return folder.status();
  std::vector<std::string> arguments = {"query", what};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const ProcessResult result =
      run_compiler(ocloc, std::move(arguments), "", kOclocTimeout, folder->path());
  auto text = folder->read(what);
  if (!result.ok() || !text.ok()) {
    return Status(Code::not_found, fmt::format("{} does not answer a query of {} ({})",
                                               ocloc.string(), what, result.reason));
  }
  const std::size_t end = text->find_last_not_of(std::string_view(" \n\0", 3));
  return text->substr(0, end == std::string::npos ? 0 : end + 1);
}

// By the queries that later versions have.
Result<OclocDevice> ask_device(const OclocTool &tool, const std::string &name) {
  const auto extensions = query_ocloc(tool.path, "CL_DEVICE_EXTENSIONS", {"-device", name});
  const auto features = query_ocloc(tool.path, "CL_DEVICE_OPENCL_C_FEATURES", {"-device", name});
  if (!extensions.ok() || !features.ok()) {
    return Status(Code::bad_argument,
                  fmt::format("{} of version {} knows no device \"{}\"; `ocloc compile --help` "
                              "lists those that it knows",
                              tool.path.string(), tool.driver_version, name));
  }
  const ProcessResult ids = run_compiler(tool.path, {"ids", name}, "", kOclocTimeout);
  return ocloc_device_of_query(name, tool.driver_version, ids.out, *extensions, *features);
}

Result<OclocDevice> find_device(const OclocTool &tool, const std::string &name) {
  if (auto device = ocloc_device_of_table(ocloc_table(), tool.driver_version, name)) {
    return *std::move(device);
  }
  const std::vector<std::string> known = ocloc_table_names(ocloc_table());
  if (ocloc_device_of_table(ocloc_table(), tool.driver_version, known.front())) {
    return Status(
        Code::bad_argument,
        fmt::format("{} of version {} has no device \"{}\" that is known; known are {}",
                    tool.path.string(), tool.driver_version, name, fmt::join(known, ", ")));
  }
  return ask_device(tool, name);
}

class OclocCompiler final : public VirtualDevice {
 public:
  OclocCompiler(std::shared_ptr<const OclocTool> tool, const std::string &name, OclocDevice device)
      : tool_(std::move(tool)), name_("ocloc:" + name), device_(std::move(device)) {}

  const std::string &name() const override { return name_; }
  const std::string &recipe() const override { return tool_->recipe; }
  const std::string &driver() const override { return tool_->driver_version; }

  Result<Made> compile(const packs::Variant &variant, const CallLimits &limits,
                       bool) const override {
    if (!variant.source) return Status(Code::requirement, "the pack has no source of it");
    packs::Bytes source;
    if (Status s = variant.source->read(&source); !s.ok()) return s;
    const auto folder = ToolFolder::make();
    if (!folder.ok()) return folder.status();
    const std::string_view text(reinterpret_cast<const char *>(source.data()), source.size());
    if (Status s = folder->write("program.cl", text); !s.ok()) return s;
    const ProcessResult ocloc =
        run_compiler(tool_->path, arguments(variant), "", limits, folder->path());
    std::string said = ocloc.out + compiler_message(ocloc);
    if (!ocloc.ok()) {
      const Code code = ocloc.end == ProcessEnd::exited ? Code::bad_input : Code::process;
      return Status(code, fmt::format("ocloc: {}\n{}", ocloc.reason, said));
    }
    std::error_code ignored;  // later versions add ".bin" all the same
    const bool with_suffix = std::filesystem::exists(folder->path("program.bin"), ignored);
    auto binary = folder->read(with_suffix ? "program.bin" : "program");
    if (!binary.ok()) {
      return Status(Code::process, fmt::format("ocloc: {}\n{}", binary.status().message, said));
    }
    for (const packs::Kernel &kernel : variant.kernels) {
      if (binary->find(kernel.name) != std::string::npos) continue;
      return Status(Code::process, fmt::format("ocloc wrote no kernel {}", kernel.name));
    }
    return Made{packs::Bytes(binary->begin(), binary->end()), std::move(said)};
  }

 private:
  std::vector<std::string> arguments(const packs::Variant &variant) const {
    std::vector<std::string> all = {"compile",           "-q",      "-file",
                                    "program.cl",        "-output", "program",
                                    "-output_no_suffix", "-device", device_.name};
    if (!variant.options.empty()) all.insert(all.end(), {"-options", variant.options});
    if (device_.info.capabilities.address_bits == 32) all.emplace_back("-32");
    if (device_.stepping != 0) {
      all.insert(all.end(), {"-revision_id", std::to_string(device_.stepping)});
    }
    return all;
  }

  std::shared_ptr<const OclocTool> tool_;
  std::string name_;
  OclocDevice device_;
};

}  // namespace

Result<OclocTool> find_ocloc(const std::string &named) {
  const std::string name = named.empty() ? "ocloc" : named;
  const auto path = find_executable({name});
  if (!path) {
    return Status(Code::not_found,
                  fmt::format("no {}; it is in a package such as intel-opencl-icd of Debian 12 or "
                              "intel-ocloc of later ones; --ocloc names it",
                              name));
  }
  OclocTool tool{*path, {}, {}};
  Status s = query_ocloc(*path, "OCL_DRIVER_VERSION").move_to(&tool.driver_version);
  if (!s.ok()) return s;
  tool.recipe = "virtual-ocloc 1, ocloc " + tool.driver_version;
  const auto igc = query_ocloc(*path, "IGC_REVISION");
  if (igc.ok()) tool.recipe += ", IGC " + igc->substr(0, 8);
  return tool;
}

Result<DeviceInfo> ocloc_device(std::shared_ptr<const OclocTool> tool, const std::string &name) {
  auto device = find_device(*tool, name);
  if (!device.ok()) return device.status();
  DeviceInfo info = device->info;
  info.virtual_device = std::make_shared<OclocCompiler>(std::move(tool), name, *std::move(device));
  return info;
}

}  // namespace kiln::builder
