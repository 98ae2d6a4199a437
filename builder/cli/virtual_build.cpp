// SPDX-License-Identifier: Apache-2.0
// Asks the driver what it is as each GPU, runs the builds, and takes their packs together.
#include "builder/cli/virtual_build.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "builder/build/earlier.hpp"
#include "builder/cli/parse.hpp"
#include "builder/device/virtual_device.hpp"
#include "builder/offline/virtual_driver.hpp"
#include "builder/process/run_attached.hpp"

namespace kiln::cli {
namespace {

using builder::VirtualDriver;
using builder::VirtualPlace;
using nlohmann::json;

Status check_virtual_spec(const std::string &text) {
  return builder::parse_virtual_spec(text).status();
}

Status check_root(const std::string &text) {
  std::error_code error;
  if (std::filesystem::is_directory(text, error)) return {};
  return {Code::bad_argument, text + ": no such folder"};
}

// The products of all specs, each once.
std::vector<std::string> wanted_products(const VirtualOptions &options) {
  std::vector<std::string> wanted;
  for (const std::string &text : options.specs) {
    const auto products = builder::parse_virtual_spec(text);
    for (const std::string &product : *products) {
      if (std::find(wanted.begin(), wanted.end(), product) == wanted.end()) {
        wanted.push_back(product);
      } else {
        complain(fmt::format("neo:{}: named twice, built for once", product));
      }
    }
  }
  return wanted;
}

bool knows(const VirtualDriver &driver, const std::string &product) {
  return std::find(driver.products.begin(), driver.products.end(), product) !=
         driver.products.end();
}

// What another process of this program wrote on standard error, without this program's name.
std::string last_words(std::string text) {
  const std::string name = std::string(kToolName) + ": ";
  if (text.starts_with(name)) text.erase(0, name.size());
  return text.substr(0, text.find_last_not_of('\n') + 1);
}

packs::Target *find_target(packs::Contents *contents, const std::string &key) {
  const auto found = std::find_if(contents->targets.begin(), contents->targets.end(),
                                  [&](const packs::Target &target) { return target.key == key; });
  return found == contents->targets.end() ? nullptr : &*found;
}

// Of the pack at the output's place what a build for that key looks at.
packs::Contents of_target(packs::Contents contents, const std::string &key) {
  std::erase_if(contents.targets, [&](const packs::Target &target) { return target.key != key; });
  for (packs::Target &target : contents.targets) {
    for (packs::Binary &binary : target.binaries) builder::unmark_virtual(&binary.finish);
  }
  return contents;
}

// In place of a target of its key, of which it keeps what it has no binary for.
void put_target(packs::Target target, packs::Contents *contents) {
  packs::Contents before;
  if (packs::Target *old = find_target(contents, target.key)) {
    before.targets.push_back(std::move(*old));
    *old = std::move(target);
  } else {
    contents->targets.push_back(std::move(target));
  }
  builder::keep_earlier(before, contents);
}

class VirtualBuilds {
 public:
  VirtualBuilds(const VirtualRequest &request, std::vector<VirtualDriver> drivers,
                const std::string &folder, builder::BuildResult *result)
      : request_(request), drivers_(std::move(drivers)), folder_(folder), result_(*result) {}

  // Whether the device was built for, or has no need of it.
  Status build(const std::string &product) {
    const auto driver = std::find_if(drivers_.begin(), drivers_.end(),
                                     [&](const VirtualDriver &d) { return knows(d, product); });
    if (driver == drivers_.end()) return unknown_product();
    const auto place = VirtualPlace::make(*driver);
    if (!place.ok()) return place.status();
    std::string key;
    if (Status s = key_of(*place, product).move_to(&key); !s.ok()) return s;
    if (const auto [other, is_new] = devices_.emplace(key, product); !is_new) {
      complain(fmt::format("neo:{}: has the binary key of neo:{}, whose binaries it gets", product,
                           other->second));
      return {};
    }
    return build_pack(*place, product, key);
  }

 private:
  Status unknown_product() const {
    std::vector<std::string> texts;
    for (const VirtualDriver &driver : drivers_) {
      texts.push_back(fmt::format("{} knows {}", driver.library.string(),
                                  driver.products.empty()
                                      ? "no product that Kiln knows"
                                      : fmt::format("{}", fmt::join(driver.products, ", "))));
    }
    return {Code::no_device,
            fmt::format("this driver does not know it: {}", fmt::join(texts, "; "))};
  }

  // Of the one device that the driver reports.
  static Result<std::string> key_of(const VirtualPlace &place, const std::string &product) {
    builder::ProcessRequest request = place.request(product, {"devices", "--json"});
    request.limits = std::chrono::milliseconds(90'000);  // longer than the list takes to give up
    const builder::ProcessResult listed = builder::run_tool(request);
    if (!listed.ok()) {
      return Status(Code::no_device, listed.err.empty() ? "asking the driver: " + listed.reason
                                                        : last_words(listed.err));
    }
    const json answer = json::parse(listed.out, nullptr, false);
    if (answer.is_discarded() || answer.value("devices", json::array()).size() != 1) {
      return Status(Code::no_device, "the driver does not report one device");
    }
    return answer["devices"][0]["key"].get<std::string>();
  }

  Status build_pack(const VirtualPlace &place, const std::string &product, const std::string &key) {
    const std::string base = folder_ + "/base.kiln", output = folder_ + "/" + product + ".kiln";
    std::error_code error;
    if (!std::filesystem::exists(base, error)) {
      if (Status s = packs::write_pack(request_.base, base, {}); !s.ok()) return as_failed(s);
    }
    if (!request_.earlier.programs.empty()) {
      const Status s = packs::write_pack(of_target(request_.earlier, key), output, {});
      if (!s.ok()) return as_failed(s);
    }
    std::vector<std::string> arguments = {"build", base, "-o", output, "--json"};
    arguments.insert(arguments.end(), request_.build_flags.begin(), request_.build_flags.end());
    const builder::ProcessResult built =
        builder::run_attached(place.request(product, std::move(arguments)));
    const json summary = json::parse(built.out, nullptr, false);
    if (built.end != builder::ProcessEnd::exited || built.code > kSomeFailed ||
        !summary.is_object()) {
      return {Code::failed, "its build ended with " + built.reason};
    }
    count_in(summary, "neo:" + product);
    return take_pack(output, product, key);
  }

  void count_in(const json &summary, const std::string &device) {
    result_.compiled += summary.at("compiled").get<std::size_t>();
    result_.stored += summary.at("stored").get<std::size_t>();
    result_.reused += summary.at("reused").get<std::size_t>();
    result_.skipped += summary.at("skipped").get<std::size_t>();
    result_.other_shards += summary.at("other_shards").get<std::size_t>();
    for (const json &one : summary.at("failures")) {
      result_.failures.push_back(
          {device + ": " + one.at("job").get<std::string>(), one.at("error")});
    }
    const std::size_t failed = summary.at("failures").size();
    if (failed != 0) complain(fmt::format("{}: {} failed", device, count(failed, "job")));
    for (const json &one : summary.at("unfinished")) {
      result_.unfinished.push_back(
          {device + ": " + one.at("job").get<std::string>(), one.at("reason")});
    }
  }

  Status take_pack(const std::string &path, const std::string &product, const std::string &key) {
    auto made = open_pack(path);
    if (!made.ok()) return {Code::failed, made.status().message};
    packs::Target *target = find_target(&made->contents, key);
    if (target == nullptr) return {};  // every job failed or is of another shard
    for (packs::Binary &binary : target->binaries) {
      builder::mark_virtual("neo:" + product, &binary.finish);
    }
    put_target(std::move(*target), &result_.contents);
    return {};
  }

  const VirtualRequest &request_;
  const std::vector<VirtualDriver> drivers_;
  const std::string folder_;
  builder::BuildResult &result_;
  std::map<std::string, std::string> devices_;  // products by binary key
};

}  // namespace

void add_virtual_options(CLI::App &command, VirtualOptions *options) {
  CLI::Option *specs =
      command
          .add_option("--virtual", options->specs,
                      "Make binaries with Intel's driver as GPUs that are not here, such as "
                      "neo:skl,tgllp; without --device for these alone; repeatable")
          ->expected(1)
          ->take_all()
          ->check(as_validator(check_virtual_spec, "SPEC"));
  command
      .add_option("--root", options->root,
                  "--virtual: folder with an unpacked root of the driver's packages; default: the "
                  "driver of this machine")
      ->check(as_validator(check_root, "FOLDER"))
      ->needs(specs);
}

Result<std::size_t> build_virtual_devices(const VirtualRequest &request,
                                          builder::BuildResult *result, int *exit_code) {
  auto drivers = builder::find_virtual_drivers(request.options.root);
  if (!drivers.ok()) return drivers.status();
  const auto folder = builder::TemporaryFolder::make();
  if (!folder.ok()) return folder.status();
  VirtualBuilds builds(request, *std::move(drivers), folder->path(), result);
  std::size_t built = 0;
  for (const std::string &product : wanted_products(request.options)) {
    const Status status = builds.build(product);
    if (status.ok()) {
      ++built;
      continue;
    }
    complain(fmt::format("neo:{}: {}", product, status.message));
    *exit_code = kSomeFailed;
  }
  return built;
}

}  // namespace kiln::cli
