// SPDX-License-Identifier: Apache-2.0
// Finds, stores and evicts entries; a full folder loses the least recently used ones.
#include "runtime/overlay/overlay.hpp"

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "kiln/packs/bytes.hpp"
#include "runtime/device/device.hpp"
#include "runtime/overlay/driver_number.hpp"
#include "runtime/text/driver_strings.hpp"

namespace kiln::runtime {
namespace {

// Age in seconds from which a temporary is taken for a killed process's.
constexpr time_t kTemporarySeconds = 3600;
// Bytes kept of a compiler's message.
constexpr std::size_t kMaxRefusal = 64u << 10;
// Number of drivers remembered, including the present one.
constexpr std::size_t kMaxJournals = 32;

std::string device_facts(const Device &device) {
  const Description &d = device.description;
  std::string facts;
  append_fact("profile", d.profile, &facts);
  append_fact("family", d.family, &facts);
  append_fact("model", d.model, &facts);
  append_fact("compiler", d.compiler, &facts);
  for (std::size_t i = 0; i < kFieldCount; ++i) {
    const Field field = static_cast<Field>(i);
    if (device.identity[field]) append_fact(field_name(field), *device.identity[field], &facts);
  }
  return facts;
}

// Returns whether `name` is that of a cached program's file with the suffix.
bool is_program_file(const std::string &name, std::string_view suffix) {
  return starts_with(name, kProgramPrefix) && name.size() > suffix.size() &&
         name.compare(name.size() - suffix.size(), suffix.size(), suffix) == 0;
}

// Returns whether an overlay may remove the file to make room.
bool is_evictable(const std::string &name) {
  return is_name(name, kEntryPrefix, 2) || is_name(name, kRefusalPrefix, 2) ||
         is_program_file(name, kPackSuffix) || is_program_file(name, kPartSuffix);
}

bool is_temporary(const std::string &name) {
  return is_name(name, kTemporaryPrefix, 1) || is_program_file(name, ".tmp");  // a pack's
}

packs::View view_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t *>(text.data()), text.size()};
}

}  // namespace

Status Overlay::open(const char *path, std::uint64_t limit, const Device &device,
                     std::string_view options, std::uint32_t machine, std::shared_ptr<Overlay> *out,
                     std::vector<Death> *deaths) {
  auto overlay = std::make_shared<Overlay>();
  const int error = Folder::open(path, &overlay->folder_);
  if (error != 0) return file_failure(path, error);
  overlay->limit_ = limit == 0 ? kDefaultOverlayLimit : limit;
  overlay->key_ = device.key().text();
  const std::uint64_t with = options.empty() ? 0 : packs::xxh3(options);
  overlay->key_hash_ = device.key().hash() ^ with;
  overlay->driver_ = device.identity.text(Field::driver_version);
  overlay->made_for_any_driver_ = device.description.finishing == Finishing::linker;
  const std::uint64_t number = driver_number(device) ^ with;
  overlay->driver_number_ = hex64(number);
  overlay->facts_ = device_facts(device);
  overlay->boot_ = boot_id();
  const std::string label = device_label(device.identity.text(Field::device_name),
                                         device.identity.text(Field::driver_version));
  overlay->has_options_ = !options.empty();
  overlay->markers_.open(&overlay->folder_, machine, number, label, deaths);
  *out = std::move(overlay);
  return {};
}

std::string Overlay::name_of(const packs::Digest &variant, unsigned left_out) const {
  return entry_name(key_hash_ ^ std::uint64_t{left_out} << 32, variant);
}

Status Overlay::find(const packs::Digest &variant, unsigned left_out, packs::Bytes *bytes,
                     Stored *out) const {
  Status own = find_own(variant, left_out, bytes, out);
  // The rung that made another user's binary is not known, nor what options it had besides its own.
  const bool asks_others = !own.ok() && left_out == 0 && !has_options_;
  return asks_others && find_others(variant, bytes, out) ? Status() : own;
}

bool Overlay::find_others(const packs::Digest &variant, packs::Bytes *bytes, Stored *out) const {
  for (const std::shared_ptr<const packs::Pack> &pack : others_) {
    packs::TargetRef target;
    if (!pack->find_target(key_, &target).ok() || !target) continue;
    const packs::BinaryRef binary = target.find_binary(variant);
    if (!binary) continue;
    const packs::ProvenanceRef made = binary.provenance;
    if (made_for_any_driver_ && packs::compare_versions(made.driver(), driver_) > 0) continue;
    if (!pack->read_blob(binary.blob, bytes, &out->binary).ok()) continue;
    out->id = binary.blob.xxh3();
    out->finality = made.finality();
    return true;
  }
  return false;
}

Status Overlay::find_own(const packs::Digest &variant, unsigned left_out, packs::Bytes *bytes,
                         Stored *out) const {
  const std::string name = name_of(variant, left_out);
  struct stat info {};
  Descriptor descriptor;
  const int error =
      folder_.read_file(name, std::min(limit_, kMaxEntrySize), bytes, &info, &descriptor);
  if (error == ENOENT) {
    return Status::error(Code::not_found, "the overlay has no binary of this variant");
  }
  if (error != 0) {
    return Status::error(Code::io_error,
                         {"the overlay's file ", name, ": ", system_error_text(error)});
  }
  OverlayEntry entry;
  if (const Status s = parse_entry({bytes->data(), bytes->size()}, &entry); !s.ok()) {
    return Status::error(s.code, {"the overlay's file ", name, " is damaged: ", s.message});
  }
  if (entry.key != key_ || entry.variant != variant) {
    return Status::error(Code::conflict,
                         {"the overlay's file ", name, " is another device's or variant's"});
  }
  const std::string_view made_by = entry.fact("driver_version");
  if (made_for_any_driver_ && packs::compare_versions(made_by, driver_) > 0) {
    return Status::error(Code::not_found, {"the overlay's binary was made by the later driver ",
                                           made_by, ", and this one is ", driver_});
  }
  // An earlier driver's binary must never be given to this driver.
  if (!made_for_any_driver_ && entry.fact("driver_number") != driver_number_) {
    return Status::error(Code::not_found,
                         "the overlay's binary was made before the driver or the system changed");
  }
  note_use(descriptor, info);
  if (!boot_.empty() && entry.fact("boot") == boot_) note_stored_now(entry.binary_xxh3);
  *out = {entry.binary, entry.binary_xxh3, entry.finality()};
  return {};
}

bool Overlay::is_stored_now(const DriverTask &task) const {
  if (task.rung.value_or(KILN_RUNG_OVERLAY) != KILN_RUNG_OVERLAY) return false;
  const std::lock_guard<std::mutex> lock(mutex_);
  return std::find(stored_now_.begin(), stored_now_.end(), task.id) != stored_now_.end();
}

void Overlay::note_stored_now(std::uint64_t id) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  stored_now_.push_back(id);
}

Status Overlay::attempt(const DriverTask &task, std::uint32_t deadline,
                        std::unique_ptr<Marker> *out) {
  return markers_.attempt(task, deadline, !is_stored_now(task), out);
}

std::string Overlay::refusal_name(std::uint64_t id) const {
  return packs::concat({kRefusalPrefix, driver_number_, "-", hex64(id)});
}

bool Overlay::pass_over(const DriverTask &task, const History &history,
                        const CheckOptions &options) {
  if (!passes_over(history, task.rung, options)) return false;
  const bool counts = starts_to_skip(history, task.rung, options) != kForGood;
  if (counts && !options.dry_run) markers_.record(task, Event::passed_over);
  return true;
}

Checked Overlay::check(const DriverTask &task, const CheckOptions &options) {
  const History history = markers_.history(task);
  Checked checked{history.last};
  (void)pass_over(task, history, options);
  Status status = check_history(history, task.rung, options);
  for (unsigned i = 0; status.ok() && i < options.kernels && i < kMarkedKernels; ++i) {
    const DriverTask launch{launch_id(task, i), task.rung};
    const History launches = markers_.history(launch);
    if (!survived(launches.last)) {
      checked.unproven |= std::uint64_t{1} << i;
      if (is_stored_now(task)) note_stored_now(launch.id);
    }
    if (pass_over(launch, launches, options)) {
      status = Status::error(Code::failed,
                             "an earlier process ended while it launched this for the first time");
    }
  }
  if (status.ok()) return checked;
  checked.outcome = KILN_OUTCOME_QUARANTINED;
  checked.reason = std::move(status.message);
  if (history.deaths != 0 || history.refusals == 0) return checked;
  checked.outcome = KILN_OUTCOME_FAILED;
  packs::Bytes file;
  struct stat info {};
  Descriptor descriptor;
  if (folder_.read_file(refusal_name(task.id), 2 * kMaxRefusal, &file, &info, &descriptor) == 0) {
    const auto end = std::find(file.begin(), file.end(), '\n');
    checked.reason.assign(file.begin(), end);
    checked.log.assign(end == file.end() ? end : end + 1, file.end());
  }
  checked.reason = "the driver refused the program in an earlier run: " + checked.reason;
  return checked;
}

void Overlay::record(const DriverTask &task, Event event, std::string_view text) {
  markers_.record(task, event);
  text = text.substr(0, kMaxRefusal);
  if (text.empty() || text.size() > limit_) return;
  make_room(folder_, limit_, text.size());
  const packs::View bytes = view_of(text);
  (void)folder_.write_file(refusal_name(task.id), &bytes, 1);
}

Status Overlay::store_binary(const packs::Digest &variant, unsigned left_out, packs::View binary,
                             const std::string &program, const std::string &variant_name,
                             packs::Finality finality) const {
  std::string facts = facts_;
  append_fact("program", program, &facts);
  append_fact("variant", variant_name, &facts);
  append_fact("driver_number", driver_number_, &facts);
  if (!boot_.empty()) append_fact("boot", boot_, &facts);
  if (finality != packs::Finality::not_launched) {
    append_fact("final", finality == packs::Finality::yes ? "yes" : "no", &facts);
  }
  OverlayEntry entry;
  entry.variant = variant;
  entry.key = key_;
  entry.facts = facts;
  entry.binary = binary;
  entry.binary_xxh3 = packs::xxh3(binary.data, binary.size);
  const std::uint64_t size = kEntryHeaderSize + entry.key.size() + facts.size() + binary.size;
  if (size > std::min(limit_, kMaxEntrySize)) {
    return Status::error(Code::over_limit, "the binary is larger than the overlay may be");
  }
  make_room(folder_, limit_, size);
  std::uint8_t header[kEntryHeaderSize];
  encode_entry_header(entry, header);
  const packs::View parts[] = {
      {header, sizeof(header)}, view_of(entry.key), view_of(facts), binary};
  const int error = folder_.write_file(name_of(variant, left_out), parts, 4);
  if (error == 0) return {};
  return Status::error(Code::io_error, system_error_text(error));
}

void make_room(const Folder &folder, std::uint64_t limit, std::uint64_t room) {
  std::vector<std::string> names;
  folder.list(&names);
  std::vector<UsedFile> files;
  std::vector<UsedFile> journals;
  std::uint64_t total = room;
  for (const std::string &name : names) {
    struct stat info {};
    if (folder.status(name, &info) != 0 || !S_ISREG(info.st_mode)) continue;
    const auto size = static_cast<std::uint64_t>(info.st_size);
    if (is_temporary(name)) {
      const bool is_left = time(nullptr) - info.st_mtime > kTemporarySeconds;
      if (!is_left || folder.remove(name) != 0) total += size;
    } else if (is_name(name, kJournalPrefix, 1)) {
      journals.push_back({name, info.st_mtime, 0});
    } else if (is_evictable(name)) {
      files.push_back({name, info.st_mtime, size});
      total += size;
    }
  }
  sort_by_use(&journals);
  sort_by_use(&files);
  while (journals.size() > kMaxJournals) remove_oldest(folder, &journals);
  while (!files.empty() && (total > limit || files.size() > kMaxOverlayFiles)) {
    total -= remove_oldest(folder, &files);
  }
}

int clear_overlay(const char *path) {
  struct stat info {};
  if (!packs::status_at(packs::kWorkingFolder, path, &info)) return errno == ENOENT ? 0 : errno;
  Folder folder;
  if (int error = Folder::open(path, &folder); error != 0) return error;
  std::vector<std::string> names;
  if (int error = folder.list(&names); error != 0) return error;
  int first = 0;
  for (const std::string &name : names) {
    const bool marker = is_name(name, kMarkerPrefix, 1);
    const bool ours = is_evictable(name) || is_name(name, kJournalPrefix, 1) || is_temporary(name);
    if (!ours && !marker) continue;
    const int error = marker ? remove_dead_marker(folder, name) : folder.remove(name);
    const bool left_alone = error == ENOENT || (marker && error == EBUSY);
    if (first == 0 && !left_alone) first = error;
  }
  return first;
}

}  // namespace kiln::runtime
