// SPDX-License-Identifier: Apache-2.0
// Reads what was noted, runs the jobs, and writes cached programs and refusals.
#include "builder/under_layer/overlay_build.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <set>

#include <fcntl.h>

#include "runtime/cached/cached_files.hpp"
#include "runtime/identity/target.hpp"
#include "runtime/source/whole_program.hpp"

namespace kiln::builder {
namespace {

namespace fs = std::filesystem;

constexpr char kStore[] = "/jobs.sqlite";
// A byte for each build that began after the last one that built or refused a program.
constexpr char kBegun[] = "/jobs.begun";
constexpr char kStorePrefix[] = "jobs.";  // with the files that SQLite puts beside the store

// A program that is to be built, with all launches that are known.
struct Noted {
  packs::Contents base;
  std::uint64_t launches_size = 0;            // bytes of the file of new launches
  bool is_new = false;                        // there is a base pack
  std::shared_ptr<const packs::Pack> cached;  // with a binary already; may be null
  packs::Contents before;                     // of `cached`
};

// What was noted for one driver.
class DriverNotes {
 public:
  DriverNotes(const std::string &overlay, const DeviceInfo &device)
      : overlay_(overlay),
        driver_{device.description.key.text(), device.description.key.hash(),
                device.driver_number} {}

  const cached::DriverKey &driver() const { return driver_; }

  // Reads all programs. Removes files that are damaged, or that hold something else.
  Result<std::vector<Noted>> read() {
    const std::string below = std::string(cached::kNoted) + "/" + cached::driver_name(driver_);
    std::vector<Noted> all;
    std::error_code error;
    if (!fs::exists(overlay_ + below, error)) return all;
    if (Status s = cached::open_folder(overlay_, below, &folder_); !s.ok()) return s;
    std::vector<std::string> names;
    if (const int failed = folder_.list(&names); failed != 0) {
      return runtime::file_failure(overlay_ + below, failed);
    }
    std::set<std::string> programs;
    for (const std::string &name : names) {
      const std::string stem = name.substr(0, name.find('.'));
      const bool is_noted =
          name == stem + cached::kPackSuffix || name == stem + cached::kLaunchesSuffix;
      if (is_noted && source::is_program_name(stem)) programs.insert(stem);
    }
    for (const std::string &program : programs) {
      auto noted = read_program(program);
      if (noted) {
        all.push_back(*std::move(noted));
      } else {
        remove(program);
      }
    }
    return all;
  }

  // Writes the program with its binary, and forgets the note.
  Status keep(const Noted &noted, packs::Contents contents) {
    const std::string &program = noted.base.programs[0].name;
    if (Status s = cached::write_cached(overlay_, driver_, std::move(contents)); !s.ok()) return s;
    (void)folder_.remove(program + cached::kRefusedSuffix);
    return forget(noted);
  }

  // Gives the new launches to the binary that there is, so that they are not noted again.
  Status keep_launches(const Noted &noted) {
    packs::Contents contents = noted.before;
    contents.programs[0].variants[0].launches = noted.base.programs[0].variants[0].launches;
    return keep(noted, std::move(contents));
  }

  // Notes why there is no binary. If there was one before, it stays.
  Status refuse(const Noted &noted, const std::string &why) {
    if (noted.cached != nullptr) return keep_launches(noted);
    const packs::Program &program = noted.base.programs[0];
    const packs::View text{reinterpret_cast<const std::uint8_t *>(why.data()),
                           std::min<std::size_t>(why.size(), cached::kMaxText)};
    const int failed = folder_.write_file(program.name + cached::kRefusedSuffix, &text, 1);
    if (failed != 0) return runtime::file_failure(program.name, failed);
    return forget(noted);
  }

 private:
  std::optional<Noted> read_program(const std::string &program) {
    Noted noted;
    struct stat info {};
    cached::CachedFile found = cached::open_cached(overlay_, driver_, program);
    noted.cached = std::move(found.pack);
    noted.before = std::move(found.contents);
    packs::Descriptor file;
    if (folder_.open_file(program + cached::kPackSuffix, O_RDONLY, &file, &info) == 0) {
      std::shared_ptr<const packs::Pack> pack;
      noted.is_new = packs::Pack::open_descriptor(file.get(), 0,
                                                  static_cast<std::uint64_t>(info.st_size), &pack)
                         .ok() &&
                     packs::read_contents(pack, &noted.base).ok();
    }
    if (!noted.is_new && noted.cached != nullptr) noted.base = noted.before;
    noted.base.targets.clear();
    if (!cached::is_one_program(noted.base, program)) return std::nullopt;
    const std::string lines = cached::read_text(folder_, program + cached::kLaunchesSuffix);
    noted.launches_size = lines.size();
    packs::Variant &variant = noted.base.programs[0].variants[0];
    const std::string all = packs::united_launches(launches_of(noted.before), lines);
    if (!all.empty()) variant.launches = packs::BlobSource(packs::Bytes(all.begin(), all.end()));
    return noted;
  }

  // Returns the launches of a cached program; empty if there is none.
  static std::string launches_of(const packs::Contents &contents) {
    packs::Bytes lines;
    if (contents.programs.size() != 1) return {};
    const auto &launches = contents.programs[0].variants[0].launches;
    if (!launches || !launches->read(&lines).ok()) return {};
    return {lines.begin(), lines.end()};
  }

  // Keeps the file of launches if it has grown since it was read. Fails if a note stays, which
  // would be built again without end.
  Status forget(const Noted &noted) {
    const std::string &program = noted.base.programs[0].name;
    std::error_code ignored;
    fs::remove(noted_folder(overlay_) + kBegun, ignored);
    if (Status s = remove_file(program + cached::kPackSuffix); !s.ok()) return s;
    struct stat info {};
    const std::string launches = program + cached::kLaunchesSuffix;
    const bool is_same = folder_.status(launches, &info) == 0 &&
                         static_cast<std::uint64_t>(info.st_size) == noted.launches_size;
    return is_same ? remove_file(launches) : Status();
  }

  Status remove_file(const std::string &name) {
    const int failed = folder_.remove(name);
    return failed == 0 || failed == ENOENT ? Status() : runtime::file_failure(name, failed);
  }

  void remove(const std::string &program) {
    (void)folder_.remove(program + cached::kPackSuffix);
    (void)folder_.remove(program + cached::kLaunchesSuffix);
  }

  std::string overlay_;
  cached::DriverKey driver_;
  runtime::Folder folder_;
};

// Whether the program has a binary already and one of its launches does not end when it is
// repeated. It is not repeated again.
bool is_endless(const Noted &noted) {
  return noted.cached != nullptr && !noted.is_new &&
         noted.before.targets[0].binaries[0].finish.why_not.ends_with(kEndless);
}

// Keeps each program as soon as its job has ended, so that the next start is served while others
// are still built.
class Keeper final : public BuildObserver {
 public:
  // The objects must outlive this one.
  Keeper(const std::vector<Noted> &noted, const DeviceInfo &device, DriverNotes *notes,
         OverlayBuild *out)
      : device_(device), notes_(*notes), out_(*out) {
    for (const Noted &one : noted) waiting_.emplace(one.base.programs[0].name, &one);
  }

  void ended(const JobLabel &job, const JobEnd &end) override {
    const auto place = waiting_.find(job.program);
    if (place == waiting_.end()) return;
    const Noted &noted = *place->second;
    waiting_.erase(place);
    if (end.binary == nullptr) return refuse(noted, end.status.message);
    packs::Contents contents = noted.base;
    packs::Target &target =
        contents.targets.emplace_back(runtime::target_of(device_.identity, device_.description));
    if (end.device_entries != nullptr && !end.device_entries->empty()) {
      target.cache_entries = packs::BlobSource(*end.device_entries);
    }
    target.binaries = {*end.binary};
    note(notes_.keep(noted, std::move(contents)));
    ++out_.built;
  }

  // Refuses the programs for which there was no job. Returns the first failure to write.
  Status end() {
    for (const auto &[program, noted] : waiting_) refuse(*noted, "the device cannot run it");
    return status_;
  }

 private:
  void refuse(const Noted &noted, const std::string &why) {
    note(notes_.refuse(noted, why));
    out_.failures.push_back({noted.base.programs[0].name, why});
  }

  void note(Status status) {
    if (status_.ok()) status_ = std::move(status);
  }

  const DeviceInfo &device_;
  DriverNotes &notes_;
  OverlayBuild &out_;
  std::map<std::string, const Noted *> waiting_;  // by program
  Status status_;
};

Status build_for(const std::string &overlay, const DeviceInfo &device, const BuildOptions &options,
                 BuildObserver *observer, OverlayBuild *out) {
  DriverNotes notes(overlay, device);
  auto noted = notes.read();
  if (!noted.ok()) return noted.status();
  for (const Noted &one : *noted) {
    if (!is_endless(one)) continue;
    if (Status s = notes.keep_launches(one); !s.ok()) return s;
  }
  std::erase_if(*noted, is_endless);
  if (noted->empty()) return {};
  packs::Contents base;
  for (const Noted &one : *noted) base.programs.push_back(one.base.programs[0]);
  Keeper keeper(*noted, device, &notes, out);
  std::vector<BuildObserver *> observers{&keeper};
  if (observer != nullptr) observers.push_back(observer);
  Observers all(observers);
  (void)build_on_devices(base, {device}, {}, options, &all);
  return keeper.end();
}

// Returns the device and driver that the layer wrote into the notes of the driver's folder; the
// folder's name if no note has them.
std::string noted_driver(const std::string &overlay, const std::string &name) {
  runtime::Folder folder;
  std::vector<std::string> files;
  const std::string below = std::string(cached::kNoted) + "/" + name;
  if (!cached::open_folder(overlay, below, &folder).ok() || folder.list(&files) != 0) return name;
  for (const std::string &file : files) {
    std::shared_ptr<const packs::Pack> pack;
    packs::Contents contents;
    if (file.ends_with(cached::kPackSuffix) &&
        packs::Pack::open_file((overlay + below + "/" + file).c_str(), &pack).ok() &&
        packs::read_contents(pack, &contents).ok() && !contents.producer.empty()) {
      return contents.producer;
    }
  }
  return name;
}

// Removes what was noted for earlier drivers of the device; other drivers' notes stay, and are
// counted.
Status sweep(const std::string &overlay, const std::vector<DeviceInfo> &devices,
             OverlayBuild *out) {
  const auto counts = cached::count_programs(overlay);
  if (!counts.ok()) return counts.status();
  for (const auto &[name, programs] : counts->noted) {
    bool is_earlier = false;
    bool is_here = false;
    for (const DeviceInfo &device : devices) {
      const runtime::BinaryKey &key = device.description.key;
      const cached::DriverKey driver{key.text(), key.hash(), device.driver_number};
      is_here = is_here || name == cached::driver_name(driver);
      is_earlier = is_earlier || name.starts_with(packs::hex64(driver.key_hash));
    }
    std::error_code error;
    if (is_here) continue;
    (is_earlier ? out->dropped : out->other_drivers) += programs;
    if (is_earlier) {
      fs::remove_all(noted_folder(overlay) + "/" + name, error);
    } else if (programs != 0) {
      out->not_here.insert(noted_driver(overlay, name));
    }
  }
  return {};
}

void note_begin(const std::string &overlay) {
  runtime::Folder folder;
  packs::Descriptor file;
  struct stat info {};
  if (cached::open_folder(overlay, cached::kNoted, &folder).ok() &&
      folder.open_file(kBegun + 1, O_WRONLY | O_APPEND | O_CREAT, &file, &info) == 0) {
    (void)packs::write_line(file.get(), "\n", 1);
  }
}

}  // namespace

std::string noted_folder(const std::string &overlay) { return overlay + cached::kNoted; }

std::size_t count_cut_off(const std::string &overlay) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(noted_folder(overlay) + kBegun, error);
  return error ? 0 : size;
}

Result<OverlayBuild> build_overlay(const std::string &overlay,
                                   const std::vector<DeviceInfo> &devices,
                                   const BuildOptions &options, bool is_shared,
                                   BuildObserver *observer) {
  OverlayBuild out;
  if (Status s = sweep(overlay, devices, &out); !s.ok()) return s;
  const auto waiting = cached::count_programs(overlay);
  if (!waiting.ok()) return waiting.status();
  BuildOptions own = options;
  own.store = {is_shared ? "" : noted_folder(overlay) + kStore};
  if (waiting->all_noted() != 0) note_begin(overlay);
  for (const DeviceInfo &device : devices) {
    if (waiting->all_noted() == 0) break;
    if (Status s = build_for(overlay, device, own, observer, &out); !s.ok()) return s;
  }
  // Also the store of an earlier build, if that was killed after its last program.
  std::error_code error;
  for (fs::directory_iterator i(noted_folder(overlay), error), end; !error && i != end;
       i.increment(error)) {
    std::error_code ignored;
    if (i->path().filename().string().starts_with(kStorePrefix)) fs::remove_all(*i, ignored);
  }
  return out;
}

Status clear_noted(const std::string &overlay) {
  std::error_code error;
  const std::string noted = noted_folder(overlay);
  if (!fs::is_directory(fs::symlink_status(noted, error))) return {};
  fs::remove_all(noted, error);
  return error ? Status(Code::io_error, noted + ": " + error.message()) : Status();
}

}  // namespace kiln::builder
