// SPDX-License-Identifier: Apache-2.0
// kiln store: shows and cleans the database of finished jobs.
#include "builder/store/store.hpp"

#include <cmath>
#include <ctime>
#include <filesystem>

#include <fmt/format.h>

#include "builder/cli/common_options.hpp"
#include "builder/cli/compiling.hpp"
#include "builder/cli/parse.hpp"
#include "builder/store/maintenance.hpp"
#include "kiln/packs/output_file.hpp"

namespace kiln::cli {
namespace {

namespace fs = std::filesystem;

constexpr double kSecondsADay = 86'400;

struct StoreArguments {
  std::string store;
  std::optional<double> older_than;  // days
  std::string max_size;
  std::string blobs;  // folder
  bool json = false;
};

// Parses "1500000" as 1500000 and "1.5K" as 1536; K, M, G and T are powers of 1024.
std::optional<std::int64_t> parse_bytes(const std::string &text) {
  const std::string units = "KMGT";
  std::size_t end = 0;
  double number = -1;
  if (text.empty() || text.find_first_not_of("0123456789.KMGT") != std::string::npos) return {};
  try {
    number = std::stod(text, &end);
  } catch (const std::exception &) {
    return {};
  }
  if (end + 1 < text.size()) return {};
  if (end < text.size()) {
    const std::size_t unit = units.find(text[end]);
    if (unit == std::string::npos) return {};
    number = std::ldexp(number, 10 * (static_cast<int>(unit) + 1));
  }
  if (!(number >= 0 && number < 9e18)) return {};
  return static_cast<std::int64_t>(number);
}

Status check_bytes(const std::string &text) {
  if (parse_bytes(text)) return {};
  return {Code::bad_argument,
          "\"" + text + "\" is no size: expected bytes, or a number with K, M, G or T"};
}

// Opens the store. Fails if the file does not exist, because these commands make no store.
Result<builder::Store> open_store(const StoreArguments &options) {
  const std::string &file = options.store;
  if (file.empty()) return Status(Code::failed, "no store is named: give --store FILE");
  std::error_code error;
  if (!fs::exists(file, error)) return Status(Code::failed, file + ": there is no such file");
  auto store = builder::Store::open(file);
  if (!store.ok()) return as_failed(store.status());
  return store;
}

nlohmann::json to_json(const builder::DeviceJobs &jobs) {
  return {{"jobs", jobs.jobs},
          {"refused", jobs.refused},
          {"failed", jobs.failed},
          {"deaths", jobs.deaths},
          {"milliseconds", jobs.milliseconds}};
}

// The store's counts are SQLite's integers.
std::string counted(std::int64_t n, const std::string &noun) {
  return count(static_cast<std::size_t>(n), noun);
}

std::string to_text(const builder::DeviceJobs &jobs) {
  return fmt::format("{}, {} refused, {} failed, {}, {:.1f} s", counted(jobs.jobs, "job"),
                     jobs.refused, jobs.failed, counted(jobs.deaths, "death"),
                     static_cast<double>(jobs.milliseconds) / 1000);
}

int stats(const StoreArguments &options) {
  auto store = open_store(options);
  if (!store.ok()) return fail(store.status());
  const auto found = builder::store_stats(*store);
  if (!found.ok()) return fail(as_failed(found.status()));
  if (!options.json) {
    std::string text = to_text(found->all) + "\n";
    for (const auto &device : found->devices) {
      text += fmt::format("{}: {}\n", device.device, to_text(device));
    }
    print(text + fmt::format("{} of {} bytes, {} as stored; the file has {}\n",
                             counted(found->blobs, "blob"), found->raw_bytes, found->stored_bytes,
                             found->file_bytes));
    return kDone;
  }
  nlohmann::json devices = nlohmann::json::array();
  for (const auto &device : found->devices) {
    devices.push_back(to_json(device));
    devices.back()["device"] = device.device;
  }
  nlohmann::json all = to_json(found->all);
  all.update({{"schema", 1},
              {"devices", devices},
              {"blobs", found->blobs},
              {"raw_bytes", found->raw_bytes},
              {"stored_bytes", found->stored_bytes},
              {"file_bytes", found->file_bytes}});
  print(all);
  return kDone;
}

int gc(const StoreArguments &options) {
  auto store = open_store(options);
  if (!store.ok()) return fail(store.status());
  builder::CollectOptions collect;
  if (options.older_than) {
    collect.unused_since =
        std::time(nullptr) - static_cast<std::int64_t>(*options.older_than * kSecondsADay);
  }
  if (!options.max_size.empty()) collect.most_bytes = parse_bytes(options.max_size);
  const auto done = builder::collect_garbage(*store, collect);
  if (!done.ok()) return fail(as_failed(done.status()));
  if (options.json) {
    print(nlohmann::json{{"schema", 1},
                         {"jobs", done->jobs},
                         {"blobs", done->blobs},
                         {"bytes_before", done->bytes_before},
                         {"bytes_after", done->bytes_after}});
  } else {
    print(fmt::format("{} and {} removed; {} bytes, before {}\n", counted(done->jobs, "job"),
                      counted(done->blobs, "blob"), done->bytes_after, done->bytes_before));
  }
  return kDone;
}

Status write_blob(const std::string &folder, const packs::Digest &name, const packs::Bytes &bytes) {
  const std::string path = (fs::path(folder) / packs::hex(name)).string();
  std::error_code error;
  if (fs::exists(path, error)) return {};
  packs::OutputFile file;
  Status status = file.open(path);
  if (status.ok()) status = file.append({bytes.data(), bytes.size()});
  return status.ok() ? file.commit() : status;
}

int list_jobs(const StoreArguments &options) {
  auto store = open_store(options);
  if (!store.ok()) return fail(store.status());
  builder::OnBlob on_blob;
  if (!options.blobs.empty()) {
    std::error_code error;
    fs::create_directories(options.blobs, error);
    on_blob = [&](const packs::Digest &name, const packs::Bytes &bytes) {
      return write_blob(options.blobs, name, bytes);
    };
  }
  // With --json, prints one object, but still job by job.
  bool is_first = true;
  const auto print_job = [&](const nlohmann::json &job) {
    const std::string line = one_line(job);
    print_as_is(options.json ? (is_first ? "\n" : ",\n") + line : line + "\n");
    is_first = false;
  };
  if (options.json) print_as_is(std::string("{\"schema\": 1, \"jobs\": ["));
  const Status status = builder::export_jobs(*store, print_job, on_blob);
  if (options.json) print_as_is(std::string("\n]}\n"));
  return status.ok() ? kDone : fail(as_failed(status));
}

}  // namespace

void add_store(CLI::App &app, Command *command) {
  auto options = std::make_shared<StoreArguments>();
  CLI::App *sub = app.add_subcommand("store", "Show or clean the database of finished jobs");
  sub->require_subcommand(1);
  const auto add = [&](const char *name, const char *text, int (*run)(const StoreArguments &)) {
    CLI::App *action = sub->add_subcommand(name, text);
    add_store_option(*action, &options->store, "Database of finished jobs");
    action->callback([=] { *command = [=] { return run(*options); }; });
    return action;
  };
  CLI::App *counted =
      add("stats", "Count its jobs, failures and bytes, by device and driver", stats);
  add_json_flag(*counted, &options->json);
  CLI::App *cleared = add("gc", "Remove jobs, the least recently used first", gc);
  cleared
      ->add_option("--older-than", options->older_than,
                   "Remove jobs that were not used for so many days")
      ->type_name("DAYS")
      ->check(CLI::Range(0.0, 36'500.0).description(""));
  cleared
      ->add_option("--max-size", options->max_size,
                   "Remove jobs until this much is left, compressed")
      ->check(as_validator(check_bytes, ""))
      ->type_name("BYTES[K|M|G|T]");
  add_json_flag(*cleared, &options->json);
  CLI::App *listed =
      add("list", "Print each job as a line of JSON: its inputs and its results", list_jobs);
  listed->add_flag("--json", options->json, "Print one object, schema 1, in place of lines");
  listed->add_option("--blobs", options->blobs, "Write the results here, named by their digest")
      ->type_name("DIR");
}

}  // namespace kiln::cli
