// SPDX-License-Identifier: Apache-2.0
// Runs the driver in other processes: one that describes the device, and one for each job.
#include "builder/virtual/posing_device.hpp"

#include <filesystem>
#include <sstream>

#include <fmt/format.h>

#include "builder/virtual/tool_files.hpp"
#include "kiln/packs/writer.hpp"

namespace kiln::builder {
namespace {

using nlohmann::json;

constexpr std::chrono::milliseconds kListTimeout{90'000};  // longer than the list takes to give up
const std::string kWithoutHardware = "loaded by its driver without hardware";

// Returns what another process of this program wrote on standard error, without the program's name.
std::string last_words(const ProcessResult &result) {
  std::string text = result.err;
  if (text.starts_with("kiln: ")) text.erase(0, 6);
  text.erase(text.find_last_not_of('\n') + 1);
  return text.empty() ? result.reason : text;
}

Code code_from(const std::string &name) {
  for (int code = 0; code < static_cast<int>(Code::failed); ++code) {
    if (name == packs::code_name(static_cast<Code>(code))) return static_cast<Code>(code);
  }
  return Code::failed;
}

// Returns the end of a build's only job, from the build's events.
Result<json> end_of_job(const ProcessResult &built) {
  std::istringstream lines(built.out);
  for (std::string line; std::getline(lines, line);) {
    json event = json::parse(line, nullptr, false);
    if (!event.is_object()) break;
    const std::string what = event.value("event", "");
    if (what == "done") return event;
    if (what == "failed") {
      return Status(code_from(event.value("code", "")), event.value("cl_error", 0),
                    event.value("reason", ""));
    }
  }
  return Status(Code::process, "its build ended with " + last_words(built));
}

class PosingDevice final : public VirtualDevice {
 public:
  PosingDevice(Pose pose, std::string key) : pose_(std::move(pose)), key_(std::move(key)) {}

  const std::string &name() const override { return pose_.name; }
  const std::string &finisher() const override { return pose_.finisher; }
  const std::string &driver() const override { return driver_; }

  Result<Made> compile(const packs::Variant &variant, const CallLimits &limits,
                       bool finish) const override {
    const auto folder = ToolFolder::make();
    if (!folder.ok()) return folder.status();
    std::error_code ignored;  // the driver makes its caches anew
    if (!pose_.folder.empty()) {
      std::filesystem::copy(pose_.folder + "/" + kPosedCaches, folder->path(kPosedCaches),
                            std::filesystem::copy_options::recursive, ignored);
    }
    packs::Contents base;
    base.programs = {{variant.name, "", {variant}}};
    base.programs[0].variants[0].requirements.clear();  // the plan has checked them
    const auto timeout = pose_.slowness * limits.timeout;
    const std::string input = folder->path("base.kiln"), output = folder->path("made.kiln");
    if (Status s = packs::write_pack(base, input, {}); !s.ok()) return s;
    // No device computes results that could be compared.
    std::vector<std::string> arguments = {
        "build",      input,
        "-o",         output,
        "--events",   "-",
        "--jobs",     "1",
        "--store",    "none",
        "--no-check", "--no-hardware",
        "--memory",   std::to_string(limits.memory),
        "--timeout",  fmt::format("{}", static_cast<double>(timeout.count()) / 1000)};
    if (!finish) arguments.emplace_back("--no-finish");
    ProcessRequest request = pose_.request(std::move(arguments), folder->path());
    request.limits =
        20 * timeout + pose_.slowness * kListTimeout;  // the process limits its own steps
    const auto end = end_of_job(run_tool(request));
    if (!end.ok()) return end.status();
    auto made = take(output);
    if (!made.ok()) return made;
    made->build_microseconds = end->value("build_microseconds", std::uint64_t{0});
    made->load_microseconds = end->value("load_microseconds", std::uint64_t{0});
    return made;
  }

 private:
  // Reads the binary of a pack with one binary.
  Result<Made> take(const std::string &path) const {
    std::shared_ptr<const packs::Pack> pack;
    packs::Contents contents;
    if (Status s = packs::Pack::open_file(path.c_str(), &pack); !s.ok()) return s;
    if (Status s = packs::read_contents(pack, &contents); !s.ok()) return s;
    const auto &targets = contents.targets;
    if (targets.size() != 1 || targets[0].key != key_ || targets[0].binaries.size() != 1) {
      return Status(Code::no_device, "the driver is no longer the one that was listed");
    }
    const packs::Binary &binary = targets[0].binaries[0];
    Made made{{}, binary.build_log, binary.finish, binary.kernels, {}, binary.statistics};
    if (Status s = binary.blob.read(&made.binary); !s.ok()) return s;
    if (binary.auxiliary) {
      if (Status s = binary.auxiliary->read(&made.auxiliary.emplace()); !s.ok()) return s;
    }
    mark(&made.finish);
    return made;
  }

  // Puts the way the binary was made before the finisher, and says that no device launched it.
  void mark(packs::Finish *finish) const {
    const bool alone = finish->finisher.empty() || finish->finisher.starts_with(", ");
    finish->finisher = fmt::format("{} as {}{}{}", pose_.finisher, pose_.model, alone ? "" : ", ",
                                   finish->finisher);
    finish->finality = packs::Finality::not_launched;
    finish->proof.clear();
    finish->unproven.clear();
    const bool died = finish->why_not.starts_with(kLaunchDied);
    finish->why_not = kWithoutHardware + (died ? "; " + finish->why_not : "");
  }

  const Pose pose_;
  const std::string key_;
  const std::string driver_;  // any: its version is in the key
};

}  // namespace

Result<DeviceInfo> posing_device(Pose pose) {
  ProcessRequest request = pose.request({"devices", "--json"}, pose.folder);
  request.limits = pose.slowness * kListTimeout;
  const ProcessResult listed = run_tool(request);
  if (!listed.ok()) return Status(Code::no_device, last_words(listed));
  const json answer = json::parse(listed.out, nullptr, false);
  if (answer.is_discarded() || answer.value("devices", json::array()).size() != 1) {
    return Status(Code::no_device, "the driver does not report one device");
  }
  DeviceInfo info;
  info.identity = identity_from(answer["devices"][0]["identity"]);
  info.description = runtime::describe(info.identity);
  info.capabilities = answer["devices"][0]["capabilities"];
  info.capabilities.profile = info.description.profile;
  info.virtual_device =
      std::make_shared<PosingDevice>(std::move(pose), info.description.key.text());
  return info;
}

}  // namespace kiln::builder
