// SPDX-License-Identifier: Apache-2.0
// One run of kiln fleet watch, step by step.
#include "builder/fleet/watch/watch.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "builder/base/progress_text.hpp"
#include "builder/fleet/delivery/fetch.hpp"
#include "builder/fleet/watch/kiln_program.hpp"
#include "builder/fleet/watch/watch_state.hpp"
#include "builder/inspect/pack_files.hpp"
#include "builder/inspect/pack_slice.hpp"
#include "builder/inspect/printable.hpp"
#include "builder/sign/public_keys.hpp"
#include "kiln/packs/pack_folder.hpp"
#include "kiln/packs/text.hpp"
#include "kiln/version.h"

namespace kiln::builder {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Targets of this many keys that the machine's devices had before stay in the pack, since a driver
// may be rolled back.
constexpr std::size_t kOldKeys = 4;

// Has the pack on which kiln build works. A folder of its own: watch holds the lock of the state's.
constexpr char kWorkFolder[] = "work";

// Programs that applications wait for run first.
void take_lowest_priority() {
  constexpr int kLowest = 19, kProcess = 1, kIdle = 3 << 13;
  setpriority(PRIO_PROCESS, 0, kLowest);
  syscall(SYS_ioprio_set, kProcess, 0, kIdle);
}

// A variant that a device lacks, or has no final binary of.
struct Lack {
  std::string variant;  // "program/variant"
  std::string reason;
};

// What was done for one device.
struct Outcome {
  // Or "fetched", "built", "fetched and built", "not served"; "not fetched": with --signed, the
  // pack that stays serves the device.
  std::string how = "served";
  std::string why_not_fetched{};
  std::vector<Lack> missing{};
  std::vector<Lack> not_final{};  // binaries whose first launch may compile
};

// Adds what another pack has for the programs of `contents`: binaries and measurements.
void add_of_same_programs(packs::Contents pack, packs::Contents *contents) {
  (void)packs::merge_tunings(pack.tunings, contents);
  (void)packs::remove_all_but_additions(*contents, &pack);
  (void)packs::merge(pack, contents);  // targets alone: cannot fail
}

// One run. The members follow one another as run() fills them.
class Watch {
 public:
  Watch(const WatchOptions &options, const Complain &complain)
      : options_(options), complain_(complain) {}

  std::optional<json> settled();
  Result<WatchEnd> run();

 private:
  Facts facts() const;
  bool is_settled(std::string *why) const;
  json repeated_report() const;
  Status prepare();
  bool is_of_several_kinds() const;
  Status read_packs();
  BuildCall build_call() const;
  Status look_for_lacking();
  bool lacks(const KnownDevice &device) const;
  Status fetch_all();
  Status fetch(const KnownDevice &device, std::shared_ptr<const packs::Pack> *pack);
  Status fetch_published(const KnownDevice &device, std::shared_ptr<const packs::Pack> *pack);
  Status fetch_from_packs(const KnownDevice &device,
                          std::shared_ptr<const packs::Pack> *pack) const;
  std::uint64_t smallest_revision() const;
  Status no_target(const KnownDevice &device) const;
  Status demand(const std::string &name, std::shared_ptr<const packs::Pack> *pack) const;
  Status replace(const packs::Pack &pack);
  Status take(const packs::Pack &pack, const packs::Contents &contents, const KnownDevice &device);
  Status build();
  bool has_programs_of(const packs::Contents &pack) const;
  Status write();
  void forget_old_keys();
  void provision();
  void list_missing();
  void list_not_final();
  std::size_t report();
  void remove_work(bool is_done) const;
  std::string in_state(const char *name) const {
    return (fs::path(options_.state) / name).string();
  }
  packs::FolderLock lock(const std::string &path) const;

  const WatchOptions &options_;
  const Complain &complain_;
  WatchState state_;
  std::string why_;  // the devices are asked
  std::vector<KnownDevice> devices_;
  std::vector<Outcome> outcomes_;        // of devices_
  std::optional<packs::Contents> base_;  // programs without targets; nothing: none known yet
  packs::Contents contents_;             // to write
  std::vector<LackingJob> lacking_;      // that the contents have no binary of
  std::map<std::string, std::string> failures_;  // by the job's name
  Facts known_;                                  // what this run's work follows from
  bool built_ = false;
  bool is_in_release_ = true;  // with --signed: each device
  bool is_provisioned_ = true;
  bool written_ = false;
  std::size_t mesa_entries_ = 0;
};

Facts Watch::facts() const {
  Facts facts = system_facts();
  for (const std::string &file : state_.libraries) add_file(file, &facts);
  add_file(options_.pack, &facts);
  if (!options_.base.empty()) add_file(options_.base, &facts);
  facts["version of Kiln"] = std::to_string(KILN_VERSION);
  facts["options"] = fmt::format("{} {} {} {} {}", options_.from, options_.smallest_revision,
                                 options_.keys, options_.selector, options_.no_build);
  return facts;
}

// Whether nothing has changed since a run that did all it could; else says why the devices must be
// asked.
bool Watch::is_settled(std::string *why) const {
  if (options_.ask)
    *why = "--ask is given";
  else if (state_.facts.empty())
    *why = "this is the first run";
  else if (!state_.settled)
    *why = "the last run left something to do";
  else
    *why = first_difference(state_.facts, facts());
  return why->empty();
}

json Watch::repeated_report() const {
  json again = state_.report;
  again.update({{"changed", ""}, {"written", false}, {"mesa_entries", 0}});
  return again;
}

std::optional<json> Watch::settled() {
  const bool is_read = read_watch_state(options_.state).move_to(&state_).ok();
  return is_read && is_settled(&why_) ? std::optional(repeated_report()) : std::nullopt;
}

packs::FolderLock Watch::lock(const std::string &path) const {
  return packs::FolderLock(path, [this](const std::string &folder) {
    complain_("waiting for another command that writes to " + folder);
  });
}

// Makes the folder of the state, before any work is done for it.
Status Watch::prepare() {
  std::error_code error;
  fs::create_directories(in_state(kWorkFolder), error);
  if (error) return {Code::failed, options_.state + ": " + error.message()};
  if (Status s = check_output(in_state("state.json"), {}); !s.ok()) return s;
  return check_output(options_.pack, {});
}

BuildCall Watch::build_call() const {
  const fs::path programs = options_.base.empty() ? options_.pack : options_.base;
  const fs::path folder = programs.has_parent_path() ? programs.parent_path() : ".";
  return {in_state(kWorkFolder) + "/work.kiln", options_.selector,
          options_.references.empty() ? folder.string() : options_.references,
          in_state("jobs.sqlite"), options_.build};
}

// Looks for the devices' jobs that have no binary.
Status Watch::look_for_lacking() {
  lacking_.clear();
  if (!base_) return {};
  const BuildCall call = build_call();
  if (Status s = write_output(contents_, call.pack); !s.ok()) return s;
  return lacking_jobs(call).move_to(&lacking_);
}

bool Watch::lacks(const KnownDevice &device) const {
  return std::any_of(lacking_.begin(), lacking_.end(),
                     [&](const LackingJob &job) { return job.key_hash == device.key_hash; });
}

bool Watch::is_of_several_kinds() const {
  std::set<std::string> keys;
  for (const KnownDevice &device : devices_) keys.insert(device.key_hash);
  return keys.size() > 1;
}

// Reads the pack and the base.
Status Watch::read_packs() {
  std::error_code ignored;
  packs::Contents pack;
  if (fs::exists(options_.pack, ignored)) {
    auto open = read_checked_pack(options_.pack);
    if (!open.ok()) {
      return {open.status().code, open.status().message + "\nkiln: it is not replaced"};
    }
    pack = std::move(open->contents);
    base_ = pack;
  }
  if (!options_.base.empty()) {
    auto open = read_checked_pack(options_.base);
    if (!open.ok()) return open.status();
    base_ = std::move(open->contents);
  }
  if (!base_) return {};
  base_->targets.clear();
  contents_ = *base_;
  add_of_same_programs(std::move(pack), &contents_);
  return {};
}

std::uint64_t Watch::smallest_revision() const {
  return std::max(options_.smallest_revision, state_.revision);
}

// Checks the pack's own signatures.
Status Watch::demand(const std::string &name, std::shared_ptr<const packs::Pack> *pack) const {
  if (options_.keys.empty()) return {};
  const auto text = read_small_file(options_.keys);
  if (!text.ok()) return as_failed(text.status());
  auto keys = read_trusted_keys(*text);
  if (!keys.ok()) return {Code::failed, options_.keys + ": " + keys.status().message};
  const packs::Demand demand{*std::move(keys), smallest_revision()};
  const Status status = packs::open_trusted(**pack, demand, pack);
  return status.ok() ? status : in_pack(name, status);
}

Status Watch::no_target(const KnownDevice &device) const {
  return {Code::not_in_pack, fmt::format("{}: the release has no target {} for this device",
                                         options_.from, device.key_hash)};
}

Status Watch::fetch_published(const KnownDevice &device, std::shared_ptr<const packs::Pack> *pack) {
  const FetchRequest request{options_.from,       in_state("published"), device.key_hash,
                             smallest_revision(), options_.keys,         today()};
  const std::string path = in_state("fetched.kiln");
  const auto fetched = fetch_pack(request, path);
  if (!fetched.ok()) return fetched.status();
  if (fetched->fell_back && base_) return no_target(device);
  Status status = packs::Pack::open_file(path.c_str(), pack);
  std::error_code ignored;
  fs::remove(path, ignored);  // the pack keeps it open
  if (status.ok() && options_.is_signed) status = demand(options_.from, pack);
  if (status.ok()) state_.revision = std::max(state_.revision, fetched->revision);
  return status;
}

Status Watch::fetch_from_packs(const KnownDevice &device,
                               std::shared_ptr<const packs::Pack> *pack) const {
  std::vector<std::string> paths;
  if (Status s = packs::packs_in(options_.from, &paths); !s.ok()) return as_failed(s);
  Status why = no_target(device);
  for (const std::string &path : paths) {
    std::shared_ptr<const packs::Pack> open;
    packs::TargetRef target;
    Status status = packs::Pack::open_file(path.c_str(), &open);
    if (status.ok()) status = open->find_target(device.key, &target);
    if (status.ok() && !target) continue;
    if (status.ok()) status = demand(path, &open);
    if (status.ok()) {
      *pack = std::move(open);
      return {};
    }
    why = status;
  }
  return why;
}

Status Watch::fetch(const KnownDevice &device, std::shared_ptr<const packs::Pack> *pack) {
  std::error_code ignored;
  const bool is_published =
      is_url(options_.from) || fs::exists(fs::path(options_.from) / kManifestName, ignored);
  return is_published ? fetch_published(device, pack) : fetch_from_packs(device, pack);
}

// Replaces the pack by a fetched one with its signatures, unless they are equal.
Status Watch::replace(const packs::Pack &pack) {
  std::vector<packs::Signature> signatures, signatures_now;
  if (Status s = packs::read_signatures(pack, &signatures); !s.ok()) return as_failed(s);
  const packs::FolderLock held = lock(options_.pack);
  std::shared_ptr<const packs::Pack> now;
  if (packs::Pack::open_file(options_.pack.c_str(), &now).ok() &&
      packs::root_name(*now) == packs::root_name(pack) &&  // names all that a pack holds
      packs::read_signatures(*now, &signatures_now).ok() &&
      packs::encode_signatures(signatures_now) == packs::encode_signatures(signatures)) {
    return {};
  }
  if (Status s = packs::write_signed(pack, signatures, options_.pack); !s.ok()) return as_failed(s);
  written_ = true;
  add_file(options_.pack, &known_);
  return {};
}

// Adds the device's target of a fetched pack to the contents; with --signed, takes the whole pack.
Status Watch::take(const packs::Pack &pack, const packs::Contents &contents,
                   const KnownDevice &device) {
  if (options_.is_signed) {
    if (Status s = replace(pack); !s.ok()) return s;
    contents_ = contents;
    base_ = contents;
    base_->targets.clear();
    return {};
  }
  if (!base_) {
    base_ = contents;
    base_->targets.clear();
    contents_ = *base_;
  }
  const Cut::Devices own{{device.key}, {device.profile}};
  packs::Contents slice = cut_contents(contents, {own});
  const std::vector<packs::KnownBad> notes = slice.known_bad;  // the publisher's, not a device's
  const std::uint32_t version = slice.known_bad_version;
  const std::size_t left_out = packs::remove_all_but_additions(*base_, &slice);
  slice.known_bad = notes;
  slice.known_bad_version = version;
  if (left_out != 0) {
    complain_(fmt::format("{}: left out {}, of variants that {} does not have", options_.from,
                          count(left_out, "binary"),
                          options_.base.empty() ? options_.pack : options_.base));
  }
  return packs::merge(slice, &contents_);
}

// Fetches for each device whose key lacks binaries; with --ask for each device, for newer notes.
Status Watch::fetch_all() {
  std::vector<bool> is_lacking;
  for (const KnownDevice &device : devices_) is_lacking.push_back(!base_ || lacks(device));
  bool is_new = false;
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    if (!is_lacking[i] && !options_.ask) continue;
    std::shared_ptr<const packs::Pack> pack;
    packs::Contents contents;
    Status status = fetch(devices_[i], &pack);
    if (status.ok()) status = packs::read_contents(pack, &contents);
    if (status.ok()) status = take(*pack, contents, devices_[i]);
    if (status.ok()) {
      is_new = true;
      if (is_lacking[i] || (options_.is_signed && written_)) outcomes_[i].how = "fetched";
    } else {
      is_in_release_ = is_in_release_ && !(options_.is_signed && status.code == Code::not_in_pack);
      if (options_.is_signed && !is_lacking[i]) outcomes_[i].how = "not fetched";
      outcomes_[i].why_not_fetched = status.message;
      complain_(printable_line(devices_[i].label) + ": not fetched: " + status.message +
                (options_.is_signed && base_ ? "; " + options_.pack + " stays as it is" : ""));
    }
  }
  return is_new ? look_for_lacking() : Status();
}

// Builds what is still missing, at the lowest priority. The store is the state's own, so that a
// repeated command resumes whoever calls it.
Status Watch::build() {
  if (lacking_.empty()) return {};
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    if (!lacks(devices_[i])) continue;
    outcomes_[i].how = outcomes_[i].how == "fetched" ? "fetched and built" : "built";
  }
  if (!options_.full_speed) take_lowest_priority();
  const BuildCall call = build_call();
  const auto failed = build_lacking(call);
  if (!failed.ok()) return failed.status();
  for (const FailedJob &one : *failed) failures_[one.job] = one.text;
  auto made = read_pack(call.pack);
  if (!made.ok()) return made.status();
  contents_ = std::move(made->contents);
  built_ = true;
  lacking_.clear();
  return failures_.empty() ? Status() : lacking_jobs(call).move_to(&lacking_);
}

// Puts the devices' keys first in the list of keys, and removes the targets of keys that fall out
// of it.
void Watch::forget_old_keys() {
  std::vector<std::string> keys;
  const auto add = [&](const std::string &key) {
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
  };
  for (const KnownDevice &device : devices_) add(device.key_hash);
  const std::size_t kept = keys.size() + kOldKeys;
  for (const std::string &key : state_.keys) add(key);
  const std::set<std::string> dropped(
      keys.begin() + static_cast<std::ptrdiff_t>(std::min(kept, keys.size())), keys.end());
  std::erase_if(contents_.targets, [&](const packs::Target &target) {
    return dropped.contains(packs::hex64(packs::xxh3(target.key)));
  });
  keys.resize(std::min(kept, keys.size()));
  state_.keys = std::move(keys);
}

// Whether the contents to write have every variant of the pack, which may be a new release of the
// application.
bool Watch::has_programs_of(const packs::Contents &pack) const {
  std::set<std::pair<std::string, packs::Digest>> variants;
  for (const packs::Program &program : contents_.programs) {
    for (const packs::Variant &one : program.variants) variants.emplace(program.name, one.hash);
  }
  for (const packs::Program &program : pack.programs) {
    for (const packs::Variant &one : program.variants) {
      if (!variants.contains({program.name, one.hash})) return false;
    }
  }
  return true;
}

// Writes the pack together with what another command wrote meanwhile. Readers keep the old file.
Status Watch::write() {
  const packs::FolderLock held = lock(options_.pack);
  std::error_code ignored;
  packs::Contents now;
  const bool exists = fs::exists(options_.pack, ignored);
  add_file(options_.pack, &known_);
  if (exists) {
    auto open = read_pack(options_.pack);
    if (!open.ok()) return open.status();
    now = std::move(open->contents);
    if (options_.base.empty() && !has_programs_of(now)) {
      return {Code::failed, options_.pack + ": replaced by another pack meanwhile; run it again"};
    }
    packs::Contents earlier = now;
    // What is there for the devices is in the contents already, or was made anew.
    std::erase_if(earlier.targets, [&](const packs::Target &target) {
      return std::any_of(devices_.begin(), devices_.end(),
                         [&](const KnownDevice &device) { return device.key == target.key; });
    });
    add_of_same_programs(std::move(earlier), &contents_);
  }
  forget_old_keys();
  if (exists && same_contents(&now, &contents_)) return {};
  written_ = true;
  const Status status = write_output(contents_, options_.pack, {.purpose = packs::Purpose::ready});
  add_file(options_.pack, &known_);
  return status;
}

// Fills Mesa's cache for the devices that read it.
void Watch::provision() {
  const bool is_needed =
      std::any_of(devices_.begin(), devices_.end(),
                  [](const KnownDevice &device) { return device.profile == "rusticl"; });
  if (!is_needed || options_.folder == "none") return;
  std::error_code ignored;
  fs::create_directories(fs::path(options_.folder).parent_path(), ignored);
  const auto entries = provision_mesa(options_.pack, options_.folder);
  is_provisioned_ = entries.ok();
  if (entries.ok()) mesa_entries_ = *entries;
}

void Watch::list_missing() {
  for (const LackingJob &job : lacking_) {
    const auto failure = failures_.find(job.job);
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      if (devices_[i].key_hash != job.key_hash) continue;
      Outcome &outcome = outcomes_[i];
      if (outcome.how == "served") outcome.how = "not served";
      outcome.missing.push_back(
          {job.variant, failure != failures_.end() ? failure->second : job.reason});
      break;  // of several with one key, the first
    }
  }
}

// Lists the devices' binaries that are not known to be final.
void Watch::list_not_final() {
  std::map<packs::Digest, std::string> names;
  for (const packs::Program &program : base_->programs) {
    for (const packs::Variant &one : program.variants) {
      names[one.hash] = program.name + "/" + one.name;
    }
  }
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    for (const packs::Target &target : contents_.targets) {
      if (target.key != devices_[i].key) continue;
      for (const packs::Binary &binary : target.binaries) {
        if (binary.finish.finality == packs::Finality::yes) continue;
        outcomes_[i].not_final.push_back({names[binary.variant], binary.finish.why_not});
      }
    }
  }
}

// Makes the report; returns the number of missing binaries.
std::size_t Watch::report() {
  const auto listed = [](const std::vector<Lack> &lacks) {
    json list = json::array();
    for (const auto &[variant, reason] : lacks) {
      list.push_back({{"variant", variant}, {"reason", reason}});
    }
    return list;
  };
  json devices = json::array();
  std::size_t missing = 0;
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    const Outcome &outcome = outcomes_[i];
    missing += outcome.missing.size();
    devices.push_back({{"device", devices_[i].label},
                       {"key_hash", devices_[i].key_hash},
                       {"outcome", outcome.how},
                       {"not_fetched", outcome.why_not_fetched},
                       {"missing", listed(outcome.missing)},
                       {"not_final", listed(outcome.not_final)}});
  }
  state_.report = {{"schema", 1},
                   {"pack", options_.pack},
                   {"changed", why_},
                   {"devices", devices},
                   {"missing", missing},
                   {"written", written_},
                   {"mesa_entries", mesa_entries_}};
  return missing;
}

Result<WatchEnd> Watch::run() {
  if (Status s = prepare(); !s.ok()) return s;
  const packs::FolderLock held = lock(in_state("state.json"));
  const Status damage = read_watch_state(options_.state).move_to(&state_);
  if (!damage.ok()) {
    complain_(damage.message + "; the devices are asked");
    why_ = "the state was damaged";
  } else if (is_settled(&why_)) {  // another run has done it
    return WatchEnd{repeated_report()};
  }
  // Each fact is of before its use, so that the next run sees what changes meanwhile.
  known_ = system_facts();
  auto known = ask_devices(options_.selector);
  if (!known.ok()) return known.status();
  devices_ = std::move(known->devices);
  state_.libraries = std::move(known->libraries);
  outcomes_.resize(devices_.size());
  if (options_.is_signed && is_of_several_kinds()) {
    return Status(Code::bad_argument,
                  "--signed takes one pack as it is, for one kind of device: name one by --device");
  }
  for (const std::string &file : state_.libraries) add_file(file, &known_);
  add_file(options_.pack, &known_);
  if (!options_.base.empty()) add_file(options_.base, &known_);
  if (Status s = read_packs(); !s.ok()) return s;
  Status status = look_for_lacking();
  if (status.ok() && !options_.from.empty()) status = fetch_all();
  if (!status.ok()) return status;
  if (!base_) {
    return Status(options_.from.empty() ? Code::bad_argument : Code::failed,
                  options_.pack +
                      ": no such file, and nothing to make it of: give --base, or "
                      "--from where there is a target for this machine");
  }
  if (!options_.is_signed) {
    if (!options_.no_build) status = build();
    if (status.ok()) status = write();
    if (!status.ok()) return status;
  }
  provision();
  list_missing();
  list_not_final();
  const bool is_done = report() == 0 && is_provisioned_;
  // What failed to build here fails again; what was not fetched, or not provisioned, may succeed.
  state_.settled = is_done || (built_ && is_provisioned_);
  state_.facts = facts();
  for (const auto &[name, value] : known_) state_.facts[name] = value;
  if (Status s = write_watch_state(options_.state, state_); !s.ok()) return s;
  remove_work(is_done);
  return WatchEnd{state_.report, !is_provisioned_ || !is_in_release_};
}

// Removes what the pack has now. The store of finished jobs stays while jobs are left.
void Watch::remove_work(bool is_done) const {
  std::error_code ignored;
  fs::remove_all(in_state(kWorkFolder), ignored);
  if (!is_done) return;
  for (const char *suffix : {"", "-wal", "-shm", "-claims"}) {
    fs::remove(in_state("jobs.sqlite") + suffix, ignored);
  }
}

}  // namespace

std::optional<json> settled_report(const WatchOptions &options) {
  return Watch(options, {}).settled();
}

Result<WatchEnd> watch(const WatchOptions &options, const Complain &complain) {
  return Watch(options, complain).run();
}

}  // namespace kiln::builder
