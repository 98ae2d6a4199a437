// SPDX-License-Identifier: Apache-2.0
// Runs kiln, and reads the JSON that it prints.
#include "builder/fleet/watch/kiln_program.hpp"

#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "builder/base/this_process.hpp"
#include "builder/process/run_tool.hpp"

namespace kiln::builder {
namespace {

using nlohmann::json;

constexpr int kDone = 0, kSomeFailed = 1;

Code code_of(int exit_code) {
  switch (exit_code) {
    case 2: return Code::bad_argument;
    case 3: return Code::bad_input;
    case 4: return Code::io_error;
    case 5: return Code::no_device;
    default: return Code::failed;
  }
}

// Runs `kiln WORDS --json` with that store, a file or "none", and returns what it prints. With
// `may_fail_in_part`, exit code 1 is a result, if there is one.
Result<json> call_kiln(std::vector<std::string> words, const std::string &store = "none",
                       bool may_fail_in_part = false) {
  ProcessRequest request;
  request.program = executable_folder() / "kiln";
  if (std::error_code error; !std::filesystem::exists(request.program, error)) {
    return Status(Code::no_device, "there is no kiln beside kiln-fleet, which starts it");
  }
  request.arguments = std::move(words);
  request.arguments.emplace_back("--json");
  request.environment.emplace_back("KILN_STORE", store);
  const ProcessResult ended = run_attached(request);
  const bool exited = ended.end == ProcessEnd::exited;
  if (exited && (ended.code == kDone || (may_fail_in_part && ended.code == kSomeFailed))) {
    json printed = json::parse(ended.out, nullptr, false);
    if (printed.is_object()) return printed;
  }
  if (exited && ended.code != kDone) return Status(code_of(ended.code), "");
  return Status(Code::failed,
                fmt::format("kiln {}: {}, and no JSON", request.arguments.front(), ended.reason));
}

std::vector<std::string> build_words(const BuildCall &call) {
  std::vector<std::string> words{"build", call.pack, "-o", call.pack, "--fresh=none"};
  if (!call.references.empty()) words.insert(words.end(), {"--references", call.references});
  if (!call.selector.empty()) words.insert(words.end(), {"--device", call.selector});
  words.insert(words.end(), call.options.begin(), call.options.end());
  return words;
}

}  // namespace

Result<KnownDevices> ask_devices(const std::string &selector) {
  std::vector<std::string> words{"devices"};
  if (!selector.empty()) words.insert(words.end(), {"--device", selector});
  const auto printed = call_kiln(std::move(words));
  if (!printed.ok()) return printed.status();
  KnownDevices all;
  printed->at("libraries").get_to(all.libraries);
  for (const json &one : printed->at("devices")) {
    all.devices.push_back({one.at("label"), one.at("profile"), one.at("key"), one.at("key_hash")});
  }
  return all;
}

Result<std::vector<LackingJob>> lacking_jobs(const BuildCall &call) {
  std::vector<std::string> words = build_words(call);
  words.emplace_back("--dry-run");
  const auto printed = call_kiln(std::move(words));
  if (!printed.ok()) return printed.status();
  std::vector<LackingJob> jobs;
  for (const json &one : printed->at("jobs")) {
    if (one.at("need") != "compile") continue;
    const std::string program = one.at("program"), variant = one.at("variant");
    jobs.push_back({one.at("job"), program + "/" + variant, one.at("key_hash"), one.at("reason")});
  }
  return jobs;
}

Result<std::vector<FailedJob>> build_lacking(const BuildCall &call) {
  const auto printed = call_kiln(build_words(call), call.store, true);
  if (!printed.ok()) return printed.status();
  std::vector<FailedJob> failed;
  for (const auto &[list, text] : {std::pair("failures", "error"), std::pair("left_out", "reason"),
                                   std::pair("unfinished", "reason")}) {
    for (const json &one : printed->at(list)) failed.push_back({one.at("job"), one.at(text)});
  }
  return failed;
}

Result<std::size_t> provision_mesa(const std::string &pack, const std::string &folder) {
  std::vector<std::string> words{"provision", pack};
  if (!folder.empty()) words.insert(words.end(), {"--folder", folder});
  const auto printed = call_kiln(std::move(words));
  if (!printed.ok()) return printed.status();
  return printed->at("entries").get<std::size_t>();
}

}  // namespace kiln::builder
