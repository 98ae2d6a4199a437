// SPDX-License-Identifier: Apache-2.0
// Writes cached programs to the overlay's folder, finds them, and removes stale ones.
#include "runtime/spool/kept.hpp"

#include <algorithm>
#include <cstring>
#include <ctime>
#include <map>

#include <fcntl.h>

#include "kiln/packs/writer.hpp"
#include "runtime/identity/target.hpp"
#include "runtime/load/build.hpp"
#include "runtime/overlay/driver_number.hpp"
#include "runtime/overlay/private_folder.hpp"
#include "runtime/spool/devices.hpp"
#include "runtime/spool/record.hpp"
#include "runtime/spool/settings.hpp"

namespace kiln::layer {

namespace {

using packs::Code;
using packs::Status;

// Opens the folder of programs in the user's own overlay, and creates it if it is missing.
Status open_folder(std::string *path, runtime::Folder *folder) {
  runtime::Folder overlay;
  *path = settings().overlay + "/programs";
  int error = runtime::Folder::open(settings().overlay.c_str(), &overlay);
  if (error == 0) error = runtime::Folder::open(path->c_str(), folder);
  return error == 0 ? Status() : Status::error(Code::io_error, {*path, ": ", std::strerror(error)});
}

// Returns the part of the file name that is the same for all drivers of the device.
std::string name_of_device(const std::string &program, const runtime::Device &device) {
  return program + "-" + packs::hex64(device.key().hash()) + "-";
}

// Includes the driver's number: a driver may be replaced while all strings that it reports stay the
// same.
std::string file_name(const std::string &program, const runtime::Device &device) {
  return name_of_device(program, device) + packs::hex64(runtime::driver_number(device)) + ".kiln";
}

std::string path_of(const std::string &program, const kiln_device &device) {
  return settings().overlay + "/programs/" + file_name(program, *device.device);
}

bool compiles_at_launches(const kiln_device &device) {
  return device.device->description.finishing == runtime::Finishing::launches;
}

// Names the driver that built the binary, for the cached file itself.
std::string producer(const runtime::Device &device) {
  return "kiln layer, driver " + packs::hex64(runtime::driver_number(device));
}

// Returns the source, or the bytes of the module.
const packs::BlobSource *code_of(const packs::Variant &variant) {
  for (const auto *code : {&variant.source, &variant.il64, &variant.il32}) {
    if (*code) return &**code;
  }
  return nullptr;
}

// Returns whether the contents are such as keep_program() writes under this name: a file's name
// proves nothing.
bool is_sound(const packs::Contents &contents, const std::string &name,
              const runtime::Device &device) {
  if (contents.programs.size() != 1 || contents.programs[0].variants.size() != 1 ||
      contents.targets.size() != 1 || contents.targets[0].binaries.size() != 1) {
    return false;
  }
  const packs::Program &program = contents.programs[0];
  const packs::Variant &variant = program.variants[0];
  const packs::Target &target = contents.targets[0];
  const packs::BlobSource *code = code_of(variant);
  packs::Bytes text;
  if (program.name != name || contents.producer != producer(device) ||
      target.key != device.key().text() || target.binaries[0].variant != variant.hash ||
      code == nullptr || !code->read(&text).ok()) {
    return false;
  }
  const std::string_view read(reinterpret_cast<const char *>(text.data()), text.size());
  return source::program_name(read, variant.options) == name;
}

Status add_binary(cl_program built, const runtime::Device &device, packs::Contents *contents) {
  packs::Bytes bytes;
  if (Status s = runtime::program_binary(device, built, &bytes); !s.ok()) return s;
  packs::Binary binary{contents->programs[0].variants[0].hash, packs::BlobSource(std::move(bytes)),
                       runtime::build_log(device, built)};
  binary.finish.why_not = "an application's own";
  packs::Target target = runtime::target_of(device.identity, device.description);
  target.binaries.push_back(std::move(binary));
  contents->targets.push_back(std::move(target));
  contents->producer = producer(device);
  return {};
}

constexpr char kOfPart[] = ".part";

// Returns whether a file of the program on the device is stale: another driver's, or an abandoned
// temporary. `name` is the present driver's file; the mark of a part beside it stays.
bool is_over(const runtime::Folder &folder, const std::string &file, const std::string &name) {
  constexpr std::time_t kLongest = 3600;  // seconds that a writer may take
  constexpr std::string_view kTemporary = ".tmp";
  struct stat info;
  if (file == name || file == name + kOfPart) return false;
  const bool is_temporary =
      file.size() > kTemporary.size() &&
      file.compare(file.size() - kTemporary.size(), file.size(), kTemporary) == 0;
  if (!is_temporary) return true;
  return folder.status(file, &info) == 0 && std::time(nullptr) - info.st_mtime > kLongest;
}

// Opens the program's file with the checks for overlay entries, and notes the use. Returns null if
// there is no file, or if another user may have written it.
packs::Descriptor open_file(const std::string &program, const kiln_device &device,
                            const char *suffix = "", struct stat *info = nullptr) {
  std::string path;
  runtime::Folder folder;
  packs::Descriptor file;
  struct stat found {};
  if (settings().overlay.empty() || !open_folder(&path, &folder).ok()) return file;
  const std::string name = file_name(program, *device.device) + suffix;
  if (folder.open_file(name, O_RDONLY, &file, &found) != 0) return file;
  runtime::note_use(file, found);
  if (info != nullptr) *info = found;
  return file;
}

// Returns null if there is no file, or if it holds something else.
std::shared_ptr<const packs::Pack> open_sound(const std::string &name, const kiln_device &device,
                                              packs::Contents *contents) {
  struct stat info {};
  std::shared_ptr<const packs::Pack> pack;
  const packs::Descriptor file = open_file(name, device, "", &info);
  const bool sound =
      file &&
      packs::Pack::open_descriptor(file.get(), 0, static_cast<std::uint64_t>(info.st_size), &pack)
          .ok() &&
      packs::read_contents(pack, contents).ok() && is_sound(*contents, name, *device.device);
  return sound ? pack : nullptr;
}

packs::Status write(const packs::Contents &contents, const std::string &path) {
  packs::WriteOptions options;
  options.is_private = true;
  return packs::write_pack(contents, path, options);
}

// Returns whether the layer writes files with such names; `overlay clear` removes them.
bool is_kept_file(const std::string &name) { return name.compare(0, 3, "cl-") == 0; }

// Removes the least recently used files if the folder is full.
void make_room(const runtime::Folder &folder, const std::vector<std::string> &names) {
  std::vector<runtime::UsedFile> files;
  const auto count = std::count_if(names.begin(), names.end(), is_kept_file);
  if (static_cast<std::size_t>(count) < kMostKept) return;
  for (const std::string &name : names) {
    struct stat info {};
    if (is_kept_file(name) && folder.status(name, &info) == 0) {
      files.push_back({name, info.st_mtime, 0});
    }
  }
  while (files.size() >= kMostKept) runtime::remove_oldest(folder, &files);
}

using HeldLock = std::lock_guard<std::mutex>;

enum class Progress : std::uint8_t { waiting, done, failed };

Progress progress_of(cl_event event) {
  cl_int status = CL_QUEUED;
  const cl_int code = next.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status),
                                          &status, nullptr);
  if (code != CL_SUCCESS || status < CL_COMPLETE) return Progress::failed;
  return status == CL_COMPLETE ? Progress::done : Progress::waiting;
}

// The lines of one program's completed launches.
struct Launched {
  std::string lines;
  WholePointer whole;
};

// Builds the program again: PoCL's binary of a program stays as it was when first requested, but a
// new program's binary holds the code of all launches so far. The text and options are those of the
// first build, since PoCL's cache stores others under another name. Returns null if the driver
// fails.
cl_program build_again(cl_program program, const WholeProgram &whole) {
  const cl_program made = create_named(context_of(program), whole);
  if (made == nullptr) return made;
  if (next.clBuildProgram(made, 0, nullptr, whole.options.c_str(), nullptr, nullptr) ==
      CL_SUCCESS) {
    return made;
  }
  next.clReleaseProgram(made);
  return nullptr;
}

// The program's file gets the launches, and the binary of `built`, which is the same program after
// them, if that has more in it. If it has not, as without PoCL's own cache, no later start tries
// again. A file that was removed stays so, and one that is not the program's stays as it is.
Status keep_launched(cl_program built, const std::string &name, const std::string &lines) {
  kiln_device *device = nullptr;
  kiln_error error{};
  if (find_device(only_device(built), &device, &error) != KILN_OK) {
    return Status::error(Code::opencl, error.message);
  }
  packs::Contents contents;
  packs::Bytes bytes;
  if (open_sound(name, *device, &contents) == nullptr) return {};
  packs::Binary &binary = contents.targets[0].binaries[0];
  if (Status s = runtime::program_binary(*device->device, built, &bytes); !s.ok()) return s;
  if (bytes.size() > binary.blob.blob().raw_size()) {
    binary.blob = packs::BlobSource(std::move(bytes));
  }
  contents.programs[0].variants[0].launches =
      packs::BlobSource(packs::Bytes(lines.begin(), lines.end()));
  return write(contents, path_of(name, *device));
}

void keep_again(cl_program program, const Launched &launched) {
  const auto lines = launches().unite(program, launched.lines);
  const cl_program again = lines ? build_again(program, *launched.whole) : nullptr;
  if (again == nullptr) return;
  const Status s = keep_launched(again, launched.whole->name, *lines);
  if (!s.ok()) complain_once("not kept: " + s.message);
  next.clReleaseProgram(again);
}

}  // namespace

bool is_kept(const std::string &name, const kiln_device &device) {
  return static_cast<bool>(open_file(name, device));
}

cl_program create_named(cl_context context, const WholeProgram &whole) {
  const char *text = whole.source.data();
  const std::size_t size = whole.source.size();
  cl_int code = CL_SUCCESS;
  return whole.is_il ? next.clCreateProgramWithIL(context, text, size, &code)
                     : next.clCreateProgramWithSource(context, 1, &text, &size, &code);
}

void keep_parts(const std::vector<std::string> &names, const kiln_device &device) {
  std::string path;
  runtime::Folder folder;
  if (!open_folder(&path, &folder).ok()) return;
  for (const std::string &name : names) {
    (void)folder.write_file(file_name(name, *device.device) + kOfPart, nullptr, 0);
  }
}

bool is_part(const std::string &name, const kiln_device &device) {
  return static_cast<bool>(open_file(name, device, kOfPart));
}

Kept open_kept(const std::string &name, const kiln_device &device) {
  Kept kept;
  packs::Contents contents;
  packs::Bytes lines;
  auto pack = open_sound(name, device, &contents);
  if (pack == nullptr) return kept;
  kept.pack = new kiln_pack{std::move(pack)};
  kept.binary = contents.targets[0].binaries[0].blob;
  const packs::Variant &variant = contents.programs[0].variants[0];
  const bool readable = !variant.launches || variant.launches->read(&lines).ok();
  if (readable && compiles_at_launches(device)) {
    kept.file = {path_of(name, device), std::string(lines.begin(), lines.end())};
  }
  return kept;
}

Status keep_program(cl_program built, const Part &part, const WholeProgram &program,
                    KeptFile *file) {
  kiln_error error{};
  kiln_device *device = nullptr;
  if (find_device(part.device, &device, &error) != KILN_OK) {
    return Status::error(Code::opencl, error.message);
  }
  std::string path;
  runtime::Folder folder;
  if (Status s = open_folder(&path, &folder); !s.ok()) return s;
  std::vector<std::string> names;
  if (const int failed = folder.list(&names); failed != 0) {
    return runtime::file_failure(path, failed);
  }
  auto contents = contents_of(part.program.get(), program);
  if (!contents) return without_kernels();
  if (Status s = add_binary(built, *device->device, &*contents); !s.ok()) return s;
  const std::string name = file_name(program.name, *device->device);
  const std::string same = name_of_device(program.name, *device->device);
  for (const std::string &other : names) {
    const bool is_same = other.compare(0, same.size(), same) == 0;
    if (is_same && is_over(folder, other, name)) (void)folder.remove(other);
  }
  make_room(folder, names);
  if (Status s = write(*contents, path_of(program.name, *device)); !s.ok()) return s;
  if (compiles_at_launches(*device)) *file = {path_of(program.name, *device), ""};
  return {};
}

void KeptLaunches::add(const Launches::Fresh &launch, cl_event event) {
  next.clRetainProgram(launch.program);
  const HeldLock lock(mutex_);
  waiting_.push_back({launch, event});
  is_waiting_ = true;
}

std::vector<KeptLaunches::Waiting> KeptLaunches::take_all() {
  const HeldLock lock(mutex_);
  is_waiting_ = false;
  return std::exchange(waiting_, {});
}

// Asks the driver outside the lock.
void KeptLaunches::settle() {
  if (!is_waiting_ || settling_.test_and_set()) return;
  std::map<cl_program, Launched> over;
  std::vector<Waiting> left;
  std::vector<Waiting> ended;
  for (Waiting &waiting : take_all()) {
    const Progress progress = progress_of(waiting.event);
    if (progress == Progress::done) {
      Launched &launched = over[waiting.launch.program];
      launched.whole = waiting.launch.whole;
      launched.lines += waiting.launch.text + "\n";
    }
    if (progress == Progress::failed) launches().forget(waiting.launch);
    (progress == Progress::waiting ? left : ended).push_back(std::move(waiting));
  }
  for (const auto &[program, launched] : over) keep_again(program, launched);
  for (const Waiting &waiting : ended) {
    next.clReleaseEvent(waiting.event);
    next.clReleaseProgram(waiting.launch.program);
  }
  if (!left.empty()) {
    const HeldLock lock(mutex_);
    waiting_.insert(waiting_.end(), left.begin(), left.end());
    is_waiting_ = true;
  }
  settling_.clear();
}

cl_uint KeptLaunches::held(cl_program program) const {
  const HeldLock lock(mutex_);
  return static_cast<cl_uint>(
      std::count_if(waiting_.begin(), waiting_.end(),
                    [&](const Waiting &waiting) { return waiting.launch.program == program; }));
}

KeptLaunches &kept_launches() {
  static KeptLaunches &all = *new KeptLaunches;
  return all;
}

}  // namespace kiln::layer
