#include "guard.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "kiln/packs/hash.hpp"

namespace kiln::runtime {
namespace {

// A slot of a marker: the driver's number, the deadline in milliseconds of the system's clock
// (0: none), a record whose fate is none yet, and a hash of all that. Zeros: nothing is tried.
constexpr std::size_t kSlotSize = 40;
constexpr std::size_t kMarkerSize = kSlotSize * Guard::kSlots;

struct Slot {
  std::uint64_t driver = 0;
  std::uint64_t deadline = 0;
  Subject subject;
};

std::uint64_t now_milliseconds() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000 +
         static_cast<std::uint64_t>(now.tv_nsec) / 1000000;
}

// The machine's own byte order: a marker never leaves the machine.
void encode_slot(const Slot &slot, std::uint8_t *out) {
  const std::uint64_t words[4] = {slot.driver, slot.deadline, slot.subject.id,
                                  static_cast<std::uint64_t>(slot.subject.rung)};
  const std::uint64_t check = packs::xxh3(words, sizeof(words));
  std::memcpy(out, words, sizeof(words));
  std::memcpy(out + sizeof(words), &check, sizeof(check));
}

bool decode_slot(const std::uint8_t *bytes, Slot *out) {
  std::uint64_t words[4];
  std::uint64_t check = 0;
  std::memcpy(words, bytes, sizeof(words));
  std::memcpy(&check, bytes + sizeof(words), sizeof(check));
  if (packs::xxh3(words, sizeof(words)) != check || words[3] > KILN_RUNG_ERROR) return false;
  *out = {words[0], words[1], {words[2], static_cast<kiln_rung>(words[3])}};
  return true;
}

std::string journal_name(std::uint64_t driver) { return kJournalPrefix + hex64(driver); }

// Tells the few markers of a folder apart; never 0.
std::uint16_t marker_number(const std::string &name) {
  return static_cast<std::uint16_t>(packs::xxh3(name.data(), name.size()) | 1);
}

bool begins_with(const std::string &text, const char *start) {
  return text.compare(0, std::strlen(start), start) == 0;
}

}  // namespace

Guard::~Guard() {
  if (marker_) folder_->remove(marker_name_);
}

void Guard::open(const Folder *folder, std::uint64_t driver, const std::string &label,
                 std::vector<std::string> *deaths) {
  folder_ = folder;
  driver_ = driver;
  label_ = label;
  packs::Bytes file;
  struct stat info {};
  Descriptor descriptor;
  if (folder->read_file(journal_name(driver), 2 * kMaxJournalSize, &file, &info, &descriptor) ==
      0) {
    journal_ = Journal({file.data(), file.size()});
  }
  std::vector<std::string> names;
  folder->list(&names);
  for (const std::string &name : names) {
    if (begins_with(name, kMarkerPrefix)) collect(name, deaths);
  }
}

// Turns the slots of a dead process's marker, and the overdue slots of a living one's, into
// records of their drivers' journals.
void Guard::collect(const std::string &name, std::vector<std::string> *deaths) {
  Descriptor marker;
  struct stat info {};
  if (folder_->open_file(name, O_RDONLY, &marker, &info) != 0) return;
  // A file system without locks cannot tell; then the process counts as dead.
  const bool alive = flock(marker.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  std::uint8_t bytes[kMarkerSize] = {};
  if (pread(marker.get(), bytes, sizeof(bytes), 0) < 0) return;
  const std::uint64_t now = now_milliseconds();
  for (unsigned i = 0; i < kSlots; ++i) {
    Slot slot;
    if (!decode_slot(bytes + i * kSlotSize, &slot)) continue;
    const bool overdue = slot.deadline != 0 && slot.deadline <= now;
    if (alive && !overdue) continue;
    const Record record{slot.subject.id, alive ? Fate::overdue : Fate::died, slot.subject.rung,
                        marker_number(name)};
    const bool ours = slot.driver == driver_;
    // Told by an earlier start; or another process has proven meanwhile that it can be done.
    if (ours && journal_.fate(record.id) != Fate::none) continue;
    // The label of another driver is in its journal already, or unknown.
    append(slot.driver, ours ? label_ : std::string(), record, true);
    if (!ours) continue;
    journal_.add(record);
    deaths->push_back(alive ? "a process has been in the driver for longer than its deadline"
                            : "an earlier process ended inside the driver");
  }
  if (!alive) folder_->remove(name);
}

std::string Guard::quarantined(const Subject &subject) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  switch (journal_.fate(subject.id)) {
    case Fate::died: return "an earlier process ended inside the driver while it was given this";
    case Fate::overdue: return "the driver took longer over this than the deadline allows";
    case Fate::wrong: return "its results were wrong when it was first used";
    default: break;
  }
  if (!journal_.rung_quarantined(subject.rung)) return {};
  return "the driver died or hung on this rung with two programs";
}

Fate Guard::fate(std::uint64_t id) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return journal_.fate(id);
}

// Makes this process's marker, all zeros, as long as it will ever be: writing a slot later
// needs no space.
int Guard::open_marker() {
  const std::string name = kMarkerPrefix + hex64(unique_number());
  Descriptor marker;
  struct stat info {};
  int error = folder_->open_file(name, O_RDWR | O_CREAT | O_EXCL, &marker, &info);
  if (error != 0) return error;
  flock(marker.get(), LOCK_EX | LOCK_NB);  // without locks: see collect
  const std::uint8_t zeros[kMarkerSize] = {};
  error = write_all(marker.get(), {zeros, sizeof(zeros)}, 0);
  if (error != 0) {
    folder_->remove(name);
    return error;
  }
  marker_ = std::move(marker);
  marker_name_ = name;
  return 0;
}

int Guard::begin(const Subject &subject, std::uint32_t deadline, int *error) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const bool first = !marker_;
  *error = first ? open_marker() : 0;
  if (*error != 0) return -1;
  const auto free = std::find(busy_.begin(), busy_.end(), false);
  if (free == busy_.end()) {
    *error = EAGAIN;
    return -1;
  }
  const Slot slot{driver_, deadline == 0 ? 0 : now_milliseconds() + deadline, subject};
  std::uint8_t bytes[kSlotSize];
  encode_slot(slot, bytes);
  const auto index = static_cast<std::size_t>(free - busy_.begin());
  *error = write_all(marker_.get(), {bytes, sizeof(bytes)}, index * kSlotSize);
  if (*error == 0 && first && fsync(marker_.get()) != 0) *error = errno;
  if (*error != 0) return -1;
  *free = true;
  return static_cast<int>(index);
}

void Guard::end(int slot, const Subject &subject, Fate fate) {
  const std::lock_guard<std::mutex> lock(mutex_);
  // A process that ends between the two writes must not turn a success into a death, nor an
  // overdue load into one that nobody has seen.
  if (is_death(fate)) note({subject.id, fate, subject.rung});
  if (slot >= 0) {
    const std::uint8_t zeros[kSlotSize] = {};
    write_all(marker_.get(), {zeros, sizeof(zeros)}, static_cast<std::size_t>(slot) * kSlotSize);
    busy_[static_cast<std::size_t>(slot)] = false;
  }
  if (fate != Fate::none && !is_death(fate)) note({subject.id, fate, subject.rung});
}

void Guard::record(const Record &record) {
  const std::lock_guard<std::mutex> lock(mutex_);
  note(record);
}

void Guard::note(const Record &record) {
  if (journal_.fate(record.id) == record.fate) return;
  journal_.add(record);
  append(driver_, label_, record, is_death(record.fate));
}

// Appending is atomic between processes. A journal whose last record is torn (a full disk), or
// that has grown too long, is started anew with the deaths alone.
int Guard::append(std::uint64_t driver, const std::string &label, const Record &record, bool sync) {
  Descriptor file;
  struct stat info {};
  const std::string name = journal_name(driver);
  int error = folder_->open_file(name, O_RDWR | O_APPEND | O_CREAT, &file, &info);
  if (error != 0) return error;
  std::uint8_t header[kJournalHeaderSize];
  packs::Bytes bytes;
  const auto size = static_cast<std::size_t>(info.st_size);
  if (size == 0 || size % kRecordSize != 0 || size >= kMaxJournalSize) {
    encode_journal_header(label, header);
    bytes.assign(header, header + sizeof(header));
  }
  const bool anew = size != 0 && !bytes.empty();
  const std::vector<Record> none;
  for (const Record &old : anew &&driver == driver_ ? journal_.records() : none) {
    if (!is_death(old.fate)) continue;
    bytes.resize(bytes.size() + kRecordSize);
    encode_record(old, bytes.data() + bytes.size() - kRecordSize);
  }
  bytes.resize(bytes.size() + kRecordSize);
  encode_record(record, bytes.data() + bytes.size() - kRecordSize);
  if (anew) {
    const packs::View whole{bytes.data(), bytes.size()};
    return folder_->write_file(name, &whole, 1);
  }
  if (write(file.get(), bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
    return errno == 0 ? EIO : errno;
  }
  return sync && fsync(file.get()) != 0 ? errno : 0;
}

}  // namespace kiln::runtime
