// SPDX-License-Identifier: Apache-2.0
// Writes the markers of this process, collects the markers of dead ones, and appends to journals.
#include "runtime/overlay/markers.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include <unistd.h>

#include "kiln/packs/bytes.hpp"
#include "kiln/packs/text.hpp"

namespace kiln::runtime {

namespace {

// An open marker. `owner` holds the id of the process that made it, and its descriptor plus one, so
// that one atomic operation takes or frees an entry; 0: free. An entry that a forked child inherits
// belongs to another process, and is as good as free. Zero-initialised: no constructor runs before
// main.
struct LiveMarker {
  std::atomic<std::uint64_t> owner;
  std::atomic<std::uint64_t> file;  // packs::file_number()
};
LiveMarker live_markers[16];

std::uint64_t entry_of(int fd) {
  return static_cast<std::uint64_t>(getpid()) << 32 | static_cast<std::uint32_t>(fd + 1);
}

bool is_own(std::uint64_t entry) { return entry >> 32 == static_cast<std::uint32_t>(getpid()); }

std::atomic<bool> registered;
std::atomic<bool> ending;

// The slots of one marker for which this thread is in the driver.
struct Inside {
  int fd_plus_one;
  std::uint32_t slots;
};
thread_local Inside inside;

void clear_at_exit() { clear_live_markers(true); }

// A slot of a marker: the driver's number, the deadline in milliseconds of the monotonic clock
// (0: none), the task, and a hash of all that. Zeros: a free slot.
constexpr std::size_t kMarkerSize = kMarkerSlotSize * kMarkerSlots;

// Age in seconds from which the marker of another machine's process may be taken for a dead one's.
constexpr time_t kForeignSeconds = 24 * 3600;

std::uint64_t now_milliseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000 +
         static_cast<std::uint64_t>(now.tv_nsec) / 1000000;
}

// Uses the machine's own byte order: a marker never leaves the machine.
void encode_slot(const MarkerSlot &slot, std::uint8_t *out) {
  const std::uint64_t words[4] = {slot.driver, slot.deadline, slot.task.id,
                                  rung_number(slot.task.rung)};
  const std::uint64_t check = packs::xxh3(words, sizeof(words));
  std::memcpy(out, words, sizeof(words));
  std::memcpy(out + sizeof(words), &check, sizeof(check));
}

bool decode_slot(const std::uint8_t *bytes, MarkerSlot *out) {
  std::uint64_t words[4];
  std::uint64_t check = 0;
  std::memcpy(words, bytes, sizeof(words));
  std::memcpy(&check, bytes + sizeof(words), sizeof(check));
  *out = {words[0], words[1], {words[2]}};
  return packs::xxh3(words, sizeof(words)) == check && parse_rung(words[3], &out->task.rung);
}

// Returns whether no living process holds the marker; if so, none can take it while `fd` is open.
// Returns false on a file system without locks, where no marker is written.
bool is_dead(int fd) { return packs::try_lock(fd, packs::Lock::shared); }

void add_record(const Record &record, packs::Bytes *bytes) {
  bytes->resize(bytes->size() + kRecordSize);
  encode_record(record, bytes->data() + bytes->size() - kRecordSize);
}

// A lock on an open file, if the file system has locks. It is released before the file is closed: a
// process that was forked meanwhile has the file open, too.
class FileLock {
 public:
  FileLock(const Descriptor &file, packs::Lock how) : fd_(file.get()) {
    (void)packs::lock(fd_, how);
  }
  FileLock(const FileLock &) = delete;
  FileLock &operator=(const FileLock &) = delete;
  ~FileLock() { packs::unlock(fd_); }

 private:
  int fd_;
};

// Appends a record to a journal; atomic between processes.
int append_to(const Descriptor &file, const struct stat &info, const std::string &label,
              const Record &record, bool sync) {
  const auto size = static_cast<std::size_t>(info.st_size);
  packs::Bytes bytes;
  if (size == 0) {
    bytes.resize(kJournalHeaderSize);
    encode_journal_header(label, bytes.data());
  }
  add_record(record, &bytes);
  if (!packs::write_line(file.get(), bytes.data(), bytes.size())) return errno;
  return sync && !packs::sync_file(file.get()) ? errno : 0;
}

// Returns a number that distinguishes the few markers of a folder; never 0.
std::uint16_t marker_number(const std::string &name) {
  return static_cast<std::uint16_t>(packs::xxh3(name.data(), name.size()) | 1);
}

std::string journal_name(std::uint64_t driver) { return kJournalPrefix + hex64(driver); }

bool has(const std::vector<std::uint64_t> &tasks, const DriverTask &task) {
  return std::find(tasks.begin(), tasks.end(), task.id) != tasks.end();
}

// Enters this marker's open descriptor in a lock-free table, which exit() and signal handlers can
// read. Markers beyond the table's 16 entries are not remembered.
void add_live_marker(int fd) {
  if (!registered.exchange(true)) (void)std::atexit(clear_at_exit);
  for (LiveMarker &marker : live_markers) {
    std::uint64_t entry = marker.owner;
    if (is_own(entry) || !marker.owner.compare_exchange_strong(entry, entry_of(fd))) continue;
    marker.file = packs::file_number(fd);
    return;
  }
}

// Called before the descriptor is closed. Returns false if the process is ending: the descriptor
// must stay open.
bool remove_live_marker(int fd) {
  for (LiveMarker &marker : live_markers) {
    std::uint64_t entry = entry_of(fd);
    (void)marker.owner.compare_exchange_strong(entry, 0);
  }
  // Either the thread that ends the process has not seen the descriptor, or this thread sees that
  // the process is ending.
  return !ending;
}

// Called around the slot's driver call, on the thread that makes it.
void enter_driver(int fd, unsigned slot) {
  if (inside.fd_plus_one != fd + 1) inside = {fd + 1, 0};
  inside.slots |= std::uint32_t{1} << slot;
}

void leave_driver(int fd, unsigned slot) {
  if (inside.fd_plus_one == fd + 1) inside.slots &= ~(std::uint32_t{1} << slot);
}

// Returns whether clear_live_markers() was called: a marker written now would never be cleared.
bool process_is_ending() { return ending; }

}  // namespace

void clear_live_markers(bool keep_own) {
  ending = true;
  static const std::uint8_t zeros[kMarkerSlotSize] = {};
  for (const LiveMarker &marker : live_markers) {
    const std::uint64_t entry = marker.owner;
    if (!is_own(entry)) continue;
    const int fd = static_cast<int>(static_cast<std::uint32_t>(entry)) - 1;
    // The application may have closed it, and have the number for a file of its own.
    if (packs::file_number(fd) != marker.file) continue;
    for (unsigned slot = 0; slot < kMarkerSlots; ++slot) {
      // A signal handler keeps none: a thread's first look at `inside` may allocate.
      if (keep_own && inside.fd_plus_one == fd + 1 && (inside.slots >> slot & 1) != 0) continue;
      packs::overwrite(fd, {zeros, sizeof(zeros)}, slot * kMarkerSlotSize);
    }
  }
}

int remove_dead_marker(const Folder &folder, const std::string &name) {
  Descriptor marker;
  struct stat info {};
  if (int error = folder.open_file(name, O_RDONLY, &marker, &info); error != 0) return error;
  return is_dead(marker.get()) ? folder.remove(name) : EBUSY;
}

Markers::~Markers() {
  // A forked child's copy leaves the parent's marker alone.
  if (!marker_ || owner_ != getpid()) return;
  folder_->remove(marker_name_);
  if (!remove_live_marker(marker_.number())) marker_.release();
}

void Markers::open(const Folder *folder, std::uint32_t machine, std::uint64_t driver,
                   const std::string &label, std::vector<Death> *deaths) {
  folder_ = folder;
  machine_ = machine;
  driver_ = driver;
  label_ = label;
  std::vector<std::string> names;
  folder->list(&names);
  std::vector<std::string_view> markers;
  for (const std::string &name : names) {
    if (is_name(name, kMarkerPrefix, 1)) markers.push_back(name);
  }
  packs::sort_names(&markers);
  // The journal is read after the listing, so that it has the deaths that another process collected
  // before the listing. Deaths that are collected later are seen at the next start.
  journal_ = read_journal(driver);
  // Markers of the same deaths are removed together, and the one that the journal names is removed
  // last: a process that still finds some of them finds that one, too, and counts nothing twice.
  Found found{deaths};
  for (std::string_view &name : markers) {
    if (!collect(std::string(name), &found)) name = {};
  }
  for (std::size_t i = markers.size(); i-- > 0;) {
    if (!markers[i].empty()) (void)remove_dead_marker(*folder, std::string(markers[i]));
  }
}

Journal Markers::read_journal(std::uint64_t driver) const {
  packs::Bytes file;
  struct stat info {};
  Descriptor descriptor;
  const int error =
      folder_->read_file(journal_name(driver), 2 * kMaxJournalSize, &file, &info, &descriptor);
  return error == 0 ? Journal({file.data(), file.size()}) : Journal();
}

std::string Markers::new_marker_name() const {
  const std::uint64_t number = unique_number();
  if (machine_ == 0) return kMarkerPrefix + hex64(number);
  return kMarkerPrefix + hex64(std::uint64_t{machine_} << 32 | static_cast<std::uint32_t>(number));
}

bool Markers::is_foreign(const std::string &name) const {
  constexpr std::size_t kDigits = 8;  // of a machine
  return machine_ != 0 &&
         name.compare(std::strlen(kMarkerPrefix), kDigits, hex64(machine_), kDigits, kDigits) != 0;
}

// Records the slots of a dead process's marker in the journals of their drivers, and notes the
// overdue slots of a living process's marker. Returns whether the marker is to be removed.
bool Markers::collect(const std::string &name, Found *found) {
  Descriptor marker;
  struct stat info {};
  if (folder_->open_file(name, O_RDONLY, &marker, &info) != 0) return false;
  const bool foreign = is_foreign(name);
  const bool is_fresh = time(nullptr) - info.st_mtime < kForeignSeconds;
  const bool alive = (foreign && is_fresh) || !is_dead(marker.get());
  std::uint8_t bytes[kMarkerSize] = {};
  std::size_t size = sizeof(bytes);
  if (packs::read_all(marker.get(), 0, bytes, &size) != 0) return false;
  MarkerSlot slots[kMarkerSlots];
  unsigned used = 0;
  const std::uint64_t now = now_milliseconds();
  for (unsigned i = 0; i < kMarkerSlots; ++i) {
    MarkerSlot &slot = slots[used];
    if (!decode_slot(bytes + i * kMarkerSlotSize, &slot)) continue;
    // The deadline is of that machine's clock.
    if (!alive || (!foreign && slot.deadline != 0 && slot.deadline <= now)) ++used;
  }
  bool recorded = true;
  for (unsigned i = 0; i < used; ++i) {
    const DriverTask &task = slots[i].task;
    if (!alive) {
      const Record death{task.id, Event::died, task.rung, marker_number(name)};
      recorded &= record_death(slots[i].driver, death, found);
    } else if (slots[i].driver == driver_ && !survived(journal_.history(task).last)) {
      stuck_.push_back(task.id);
      found->deaths->push_back({task.rung.value_or(KILN_RUNG_ERROR), kStuck});
    }
  }
  return !alive && recorded;
}

bool Markers::record_death(std::uint64_t driver, const Record &record, Found *found) {
  const bool ours = driver == driver_;
  // Another driver's journal is not read here, so its tasks count as having no history. Their
  // ids are changed, so that `found` does not confuse them with this driver's tasks.
  Record task = record;
  if (!ours) task.id ^= driver;
  if (!(ours ? journal_ : Journal()).is_new_death(task, &found->ids)) return true;
  // The label of another driver is in its journal already, or unknown.
  if (append(driver, ours ? label_ : std::string(), record, true) != 0) return false;
  if (!ours) return true;
  journal_.add(record);
  found->deaths->push_back(
      {record.rung.value_or(KILN_RUNG_ERROR), "an earlier process ended inside the driver"});
  return true;
}

History Markers::history(const DriverTask &task) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  History history = journal_.history(task);
  history.passed_over_now = has(passed_over_, task);
  history.stuck = has(stuck_, task);
  return history;
}

void Markers::record(const DriverTask &task, Event event) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const History history = journal_.history(task);
  const bool adds_nothing = history.last == event || event == Event::taken;
  if (survived(event) && survived(history.last) && adds_nothing) return;
  if (event == Event::passed_over) {
    if (has(passed_over_, task)) return;
    passed_over_.push_back(task.id);
  }
  Record record{task.id, event, task.rung};
  if (event == Event::refused) {
    record.marker = static_cast<std::uint16_t>(std::min(history.refusals + 1, 0xffffu));
  }
  journal_.add(record);
  append(driver_, label_, record, false);
}

// Makes this process's marker, all zeros and in its final size, so that writing a slot later needs
// no space.
int Markers::open_marker() {
  const std::string name = new_marker_name();
  // Two deaths with one marker number would count as one.
  if (journal_.has_marker(marker_number(name))) return EAGAIN;
  Descriptor marker;
  struct stat info {};
  int error = folder_->open_file(name, O_RDWR | O_CREAT | O_EXCL, &marker, &info);
  if (error != 0) return error;
  // A loader that opens the folder just now may take the file for a dead process's marker. Without
  // locks every start would, so no marker is written then.
  if (!packs::try_lock(marker.get(), packs::Lock::alone)) {
    error = errno;
    if (error != EWOULDBLOCK) folder_->remove(name);
    return error;
  }
  const std::uint8_t zeros[kMarkerSize] = {};
  error = write_all(marker.get(), {zeros, sizeof(zeros)}, 0);
  if (error == 0 && packs::status_of(marker.get(), &info) && info.st_nlink == 0) error = EAGAIN;
  if (error != 0) {
    folder_->remove(name);
    return error;
  }
  add_live_marker(marker.get());
  if (marker_ && owner_ == getpid()) {  // the application has closed it
    (void)remove_live_marker(marker_.number());
    folder_->remove(marker_name_);
  }
  marker_.keep(marker.release());
  marker_name_ = name;
  owner_ = getpid();
  busy_.fill(false);
  synced_ = false;
  return 0;
}

// The marker of one attempt: a slot.
class Markers::SlotMarker final : public Marker {
 public:
  SlotMarker(Markers *markers, int slot) : markers_(*markers), slot_(slot) {}
  SlotMarker(const SlotMarker &) = delete;
  SlotMarker &operator=(const SlotMarker &) = delete;
  ~SlotMarker() override {
    const std::lock_guard<std::mutex> lock(markers_.mutex_);
    markers_.clear_slot(slot_);
  }
  void leave() override { leave_driver(markers_.marker_.number(), static_cast<unsigned>(slot_)); }

 private:
  Markers &markers_;
  int slot_;
};

packs::Status Markers::attempt(const DriverTask &task, std::uint32_t deadline, bool syncs,
                               std::unique_ptr<Marker> *out) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (survived(journal_.history(task).last)) return {};
  int slot = 0;
  const int error = take_slot(task, deadline, syncs, &slot);
  if (error != 0) return packs::Status::error(packs::Code::failed, system_error_text(error));
  *out = std::make_unique<SlotMarker>(this, slot);
  return {};
}

// Takes a slot and writes the attempt into it. `*slot` is set only on success.
int Markers::take_slot(const DriverTask &task, std::uint32_t deadline, bool syncs, int *slot) {
  const bool first = marker_.get() < 0 || owner_ != getpid();
  int error = process_is_ending() ? ECANCELED : broken_ ? EIO : 0;
  if (first && error == 0) {
    constexpr int kTries = 8;
    error = EAGAIN;
    for (int i = 0; i < kTries && error == EAGAIN; ++i) error = open_marker();
  }
  if (error != 0) return error;
  const auto free = std::find(busy_.begin(), busy_.end(), false);
  if (free == busy_.end()) return EAGAIN;
  std::uint8_t bytes[kMarkerSlotSize];
  encode_slot({driver_, deadline == 0 ? 0 : now_milliseconds() + deadline, task}, bytes);
  const auto index = static_cast<int>(free - busy_.begin());
  error = write_slot(index, bytes);
  if (error == 0 && syncs && !synced_) {
    synced_ = packs::sync_file(marker_.get());
    if (!synced_) error = errno;
  }
  if (process_is_ending()) error = ECANCELED;  // the slots were cleared before this one was written
  if (error != 0) {
    clear_slot(index);
    return error;
  }
  *free = true;
  enter_driver(marker_.number(), static_cast<unsigned>(index));
  *slot = index;
  return 0;
}

int Markers::write_slot(int slot, const std::uint8_t *bytes) {
  return write_all(marker_.get(), {bytes, kMarkerSlotSize},
                   static_cast<std::size_t>(slot) * kMarkerSlotSize);
}

// Clears a slot. If that fails, removes the marker: the slot would look like a death that never
// happened.
void Markers::clear_slot(int slot) {
  const std::uint8_t zeros[kMarkerSlotSize] = {};
  if (write_slot(slot, zeros) != 0) {
    folder_->remove(marker_name_);
    broken_ = marker_.get() >= 0;  // not closed by the application
  }
  leave_driver(marker_.number(), static_cast<unsigned>(slot));
  busy_[static_cast<std::size_t>(slot)] = false;
}

// Appends a record. A journal whose last record is torn (a full disk), or that has grown too long,
// is replaced by a new one with the records that still count. The lock protects the replacement: a
// writer that appends shares it, and a writer that replaces the journal holds it alone.
int Markers::append(std::uint64_t driver, const std::string &label, const Record &record,
                    bool sync) const {
  Descriptor file;
  struct stat info {};
  const std::string name = journal_name(driver);
  constexpr int kTries = 4;
  for (int i = 0; i < kTries; ++i) {
    const int error = folder_->open_file(name, O_RDWR | O_APPEND | O_CREAT, &file, &info);
    if (error != 0) return error;
    const bool anew = info.st_size % static_cast<off_t>(kRecordSize) != 0 ||
                      info.st_size >= static_cast<off_t>(kMaxJournalSize);
    const FileLock lock(file, anew ? packs::Lock::alone : packs::Lock::shared);
    if (!packs::status_of(file.get(), &info)) return errno;
    if (info.st_nlink == 0) continue;  // another process has replaced it
    return anew ? rewrite(driver, label, record) : append_to(file, info, label, record, sync);
  }
  return EAGAIN;
}

int Markers::rewrite(std::uint64_t driver, const std::string &label, const Record &last) const {
  const Journal old = read_journal(driver);
  packs::Bytes bytes(kJournalHeaderSize);
  encode_journal_header(old.label().empty() ? label : old.label(), bytes.data());
  for (const Record &record : old.folded()) add_record(record, &bytes);
  add_record(last, &bytes);
  const packs::View whole{bytes.data(), bytes.size()};
  return folder_->write_file(journal_name(driver), &whole, 1);
}

}  // namespace kiln::runtime
