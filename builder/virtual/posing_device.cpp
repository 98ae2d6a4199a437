// SPDX-License-Identifier: Apache-2.0
// Runs the driver in other processes: one that describes the device, and one for its jobs.
#include "builder/virtual/posing_device.hpp"

#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "builder/process/serving_child.hpp"
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

// A process of this program that answers the jobs of one device (builder/jobs/posed_jobs.hpp).
struct Server {
  const void *device;
  ToolFolder folder;
  ServingChild child;
  std::size_t jobs = 0;
};

// The server of the device whose job ran last in this process: each keeps a driver in memory.
std::unique_ptr<Server> last_server;

class PosingDevice final : public VirtualDevice {
 public:
  PosingDevice(Pose pose, std::string key) : pose_(std::move(pose)), key_(std::move(key)) {}

  const std::string &name() const override { return pose_.name; }
  const std::string &finisher() const override { return pose_.finisher; }
  const std::string &driver() const override { return driver_; }

  Result<Made> compile(const packs::Variant &variant, const CallLimits &limits,
                       bool finish) const override {
    if (Status s = start(); !s.ok()) return s;
    Server &server = *last_server;
    ++server.jobs;
    const std::string input = posed_job_input(server.folder.path(), server.jobs);
    const std::string output = posed_job_output(server.folder.path(), server.jobs);
    packs::Contents base;
    base.programs = {{variant.name, "", {variant}}};
    base.programs[0].variants[0].requirements.clear();  // the plan has checked them
    packs::WriteOptions options;
    options.purpose = packs::Purpose::raw;
    if (Status s = packs::write_pack(base, input, options); !s.ok()) return s;
    const auto timeout = pose_.slowness * limits.timeout;
    // The server limits its own steps.
    const CallLimits all{20 * timeout + pose_.slowness * kListTimeout};
    const ChildResult answer = server.child.call({{"job", server.jobs},
                                                  {"finish", finish},
                                                  {"timeout", timeout.count()},
                                                  {"memory", limits.memory}},
                                                 all);
    Result<Made> made = answer.status().ok() ? take(output) : answer.status();
    std::error_code ignored;
    for (const std::string &file : {input, output}) std::filesystem::remove(file, ignored);
    if (!answer.ok() || answer.answer.value("last", false)) last_server.reset();
    if (!made.ok()) return made;
    made->build_microseconds = answer.answer["build_microseconds"];
    made->load_microseconds = answer.answer["load_microseconds"];
    return made;
  }

 private:
  // Makes `last_server` this device's.
  Status start() const {
    if (last_server && last_server->device == this) return {};
    last_server.reset();
    auto folder = ToolFolder::make();
    if (!folder.ok()) return folder.status();
    std::error_code ignored;  // the driver makes its caches anew
    if (!pose_.folder.empty()) {
      std::filesystem::copy(pose_.folder + "/" + kPosedCaches, folder->path(kPosedCaches),
                            std::filesystem::copy_options::recursive, ignored);
    }
    ProcessRequest request = pose_.request({kAnswerJobs, folder->path()}, folder->path());
    last_server.reset(new Server{this, *std::move(folder), ServingChild(std::move(request))});
    return {};
  }

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
    if (binary.cache_entries) {
      if (Status s = binary.cache_entries->read(&made.cache_entries.emplace()); !s.ok()) return s;
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
