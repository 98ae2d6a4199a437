// SPDX-License-Identifier: Apache-2.0
// Reads entries and journals without a device, and turns the entries into targets of a pack.
#include "builder/under_layer/overlay_folder.hpp"

#include <algorithm>
#include <cerrno>
#include <set>

#include <sys/stat.h>

#include <fmt/format.h>

#include "builder/base/build_log.hpp"
#include "builder/inspect/pack_json.hpp"
#include "runtime/device/device.hpp"
#include "runtime/overlay/cuda_linker.hpp"
#include "runtime/overlay/overlay.hpp"

namespace kiln::builder {
namespace {

using nlohmann::json;
using runtime::Event;

std::string fact(const runtime::Facts &facts, const char *name) {
  const std::string *value = runtime::find_fact(facts, name);
  return value == nullptr ? std::string() : *value;
}

// Returns what the entry's driver reported. The entry's other facts are about the entry and the
// machine.
runtime::Identity identity_of(const runtime::Facts &facts) {
  runtime::Identity identity;
  for (const auto &[name, value] : facts) {
    if (const auto field = runtime::field_from_name(name)) identity.set(*field, value);
  }
  return identity;
}

// Returns the finality of an overlay's entry as a pack states it. No fresh process proved it: a
// final entry of PoCL holds code for the work-group sizes of one start only, and these sizes are
// not recorded.
packs::Finish finish_of(const runtime::OverlayEntry &entry, const runtime::Identity &identity) {
  const runtime::Finishing finishing = runtime::describe(identity).finishing;
  packs::Finish finish;
  finish.finality = entry.finality();
  if (finish.finality == packs::Finality::yes && finishing == runtime::Finishing::launches) {
    finish.finality = packs::Finality::not_launched;
    finish.why_not = "it has code for the launches of one application's start";
  } else if (finish.finality == packs::Finality::no) {
    finish.why_not = "it was taken before it was finished";
  }
  if (finishing == runtime::Finishing::linker) {
    finish.driver = identity.text(runtime::Field::driver_version);
  }
  return finish;
}

OverlayBinary read_binary(const runtime::Folder &folder, const std::string &name,
                          std::uint64_t *id) {
  OverlayBinary binary;
  binary.file = name;
  packs::Bytes bytes;
  struct stat info {};
  runtime::Descriptor file;
  const int error = folder.read_file(name, runtime::kMaxEntrySize, &bytes, &info, &file);
  runtime::OverlayEntry entry;
  if (error != 0) {
    binary.status = {Code::io_error, runtime::system_error_text(error)};
    return binary;
  }
  binary.status = runtime::parse_entry({bytes.data(), bytes.size()}, &entry);
  if (!binary.status.ok()) return binary;
  const auto facts = runtime::parse_facts(entry.facts);
  if (!facts) {
    binary.status = {Code::blob_corrupt, "its facts are not what Kiln writes"};
    return binary;
  }
  *id = entry.binary_xxh3;
  binary.last_used = info.st_mtime;
  binary.program = fact(*facts, "program");
  binary.variant = fact(*facts, "variant");
  const runtime::Identity identity = identity_of(*facts);
  packs::Target &target = binary.target;
  target.key = std::string(entry.key);
  target.profile = fact(*facts, "profile");
  target.family = fact(*facts, "family");
  target.model = fact(*facts, "model");
  target.compiler = fact(*facts, "compiler");
  target.identity = identity.facts();
  const packs::Bytes raw(entry.binary.data, entry.binary.data + entry.binary.size);
  packs::Binary stored{entry.variant, packs::BlobSource(raw), ""};
  stored.finish = finish_of(entry, identity);
  const bool ptx = runtime::is_ptx(entry.binary);
  (ptx ? target.intermediates : target.binaries).push_back(std::move(stored));
  binary.device = runtime::device_label(identity.text(runtime::Field::device_name),
                                        identity.text(runtime::Field::driver_version));
  return binary;
}

OverlayDriver read_driver(const runtime::Folder &folder, const std::string &name,
                          std::set<std::uint64_t> *dead) {
  packs::Bytes bytes;
  struct stat info {};
  runtime::Descriptor file;
  OverlayDriver driver;
  if (folder.read_file(name, 2 * runtime::kMaxJournalSize, &bytes, &info, &file) != 0) {
    return driver;
  }
  const runtime::Journal journal({bytes.data(), bytes.size()});
  driver.device = journal.label();
  std::set<std::uint64_t> seen;
  for (const runtime::Record &record : journal.records()) {
    if (!seen.insert(record.id).second) continue;
    const Event last = journal.history({record.id}).last;
    driver.proven += last == Event::proven ? 1 : 0;
    driver.recompiled += last == Event::recompiled ? 1 : 0;
    if (last != Event::died) continue;
    ++driver.deaths;
    dead->insert(record.id);
  }
  return driver;
}

}  // namespace

Result<OverlayFolder> read_overlay(const std::string &path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return runtime::file_failure(path, errno);
  runtime::Folder folder;
  int error = runtime::Folder::open(path.c_str(), &folder);
  std::vector<std::string> names;
  if (error == 0) error = folder.list(&names);
  if (error != 0) return runtime::file_failure(path, error);
  OverlayFolder result;
  if (Status s = cached::count_programs(path).move_to(&result.programs); !s.ok()) return s;
  std::sort(names.begin(), names.end());
  std::set<std::uint64_t> dead;
  for (const std::string &name : names) {
    if (!runtime::is_name(name, runtime::kJournalPrefix, 1)) continue;
    result.drivers.push_back(read_driver(folder, name, &dead));
  }
  for (const std::string &name : names) {
    if (!runtime::is_name(name, runtime::kEntryPrefix, 2)) continue;
    std::uint64_t id = 0;
    result.binaries.push_back(read_binary(folder, name, &id));
    result.binaries.back().quarantined = dead.count(id) != 0;
  }
  if (Status s = cached::read_all_cached(path).move_to(&result.cached); !s.ok()) return s;
  std::erase_if(result.cached, [&](const packs::Contents &contents) {
    packs::Bytes bytes;
    return !contents.targets[0].binaries[0].blob.read(&bytes).ok() ||
           dead.count(packs::xxh3(bytes.data(), bytes.size())) != 0;
  });
  return result;
}

packs::Contents overlay_contents(const OverlayFolder &folder) {
  packs::Contents contents;
  contents.producer = "overlay";
  for (const OverlayBinary &binary : folder.binaries) {
    if (!binary.status.ok() || binary.quarantined) continue;
    const auto known =
        std::find_if(contents.targets.begin(), contents.targets.end(),
                     [&](const packs::Target &target) { return target.key == binary.target.key; });
    if (known == contents.targets.end()) {
      contents.targets.push_back(binary.target);
    } else {
      for (const packs::Binary &b : binary.target.binaries) known->binaries.push_back(b);
      for (const packs::Binary &b : binary.target.intermediates) known->intermediates.push_back(b);
    }
  }
  for (packs::Contents cached : folder.cached) {
    cached.producer.clear();  // names the driver's number
    for (packs::Target &target : cached.targets) {
      for (packs::Binary &binary : target.binaries) {
        binary.build_log = without_paths(binary.build_log);
      }
    }
    (void)packs::merge(cached, &contents);  // a program's name is the hash of its source
  }
  return contents;
}

std::string varying_text(const cached::Counts &programs) {
  return fmt::format(
      "{} not built: each start has another text for them; 'kiln pack inspect' names "
      "them in what 'kiln record' has of three starts",
      programs.varying == 1 ? "1 set of kernels is"
                            : fmt::format("{} sets of kernels are", programs.varying));
}

json to_json(const OverlayFolder &folder) {
  json out = {{"schema", 1},
              {"binaries", json::array()},
              {"drivers", json::array()},
              {"programs", folder.programs.cached},
              {"noted", folder.programs.all_noted()},
              {"varying", folder.programs.varying}};
  for (const OverlayBinary &binary : folder.binaries) {
    json row = {{"file", binary.file}};
    if (!binary.status.ok()) {
      row["fault"] = binary.status.message;
    } else {
      row.update({{"program", binary.program},
                  {"variant", binary.variant},
                  {"device", binary.device},
                  {"bytes", binary.binary().blob.raw_size()},
                  {"last_used", binary.last_used},
                  {"final", finish_text(binary.binary().finish)},
                  {"quarantined", binary.quarantined}});
    }
    out["binaries"].push_back(row);
  }
  for (const OverlayDriver &driver : folder.drivers) {
    out["drivers"].push_back({{"device", driver.device},
                              {"proven", driver.proven},
                              {"recompiled", driver.recompiled},
                              {"deaths", driver.deaths}});
  }
  return out;
}

}  // namespace kiln::builder
