// SPDX-License-Identifier: Apache-2.0
// Asks the driver for a program's kernels, and writes base packs and launches.
#include "runtime/layer/record/record.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <mutex>
#include <set>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kiln/packs/bytes.hpp"
#include "kiln/packs/descriptor.hpp"
#include "kiln/packs/output_file.hpp"
#include "kiln/packs/pack_folder.hpp"
#include "kiln/packs/text.hpp"
#include "kiln/packs/writer.hpp"
#include "runtime/layer/base/build_report.hpp"
#include "runtime/layer/base/devices.hpp"
#include "runtime/layer/base/settings.hpp"
#include "runtime/source/recorded_files.hpp"

namespace kiln::layer {

namespace {

packs::Bytes bytes_of(const std::string &text) { return {text.begin(), text.end()}; }

bool add_kernel(cl_program built, const std::string &name, packs::Variant *variant) {
  cl_int code = CL_SUCCESS;
  const cl_kernel kernel = next.clCreateKernel(built, name.c_str(), &code);
  if (kernel == nullptr) return false;
  cl_uint arguments = 0;
  code = next.clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof(arguments), &arguments, nullptr);
  next.clReleaseKernel(kernel);
  packs::Kernel made;
  made.name = name;
  made.arguments = arguments;
  variant->kernels.push_back(made);
  return code == CL_SUCCESS;
}

bool add_kernels(cl_program built, packs::Variant *variant) {
  for (const std::string &name : kernel_names(built)) {
    if (!add_kernel(built, name, variant)) return false;
  }
  return !variant->kernels.empty();
}

cl_uint address_bits(cl_program built) {
  cl_device_id device = nullptr;  // only for its size
  cl_uint count = 0;
  cl_uint bits = 64;
  next.clGetProgramInfo(built, CL_PROGRAM_NUM_DEVICES, sizeof(count), &count, nullptr);
  std::vector<cl_device_id> devices(count);
  next.clGetProgramInfo(built, CL_PROGRAM_DEVICES, count * sizeof(device), devices.data(), nullptr);
  if (count > 0) {
    next.clGetDeviceInfo(devices[0], CL_DEVICE_ADDRESS_BITS, sizeof(bits), &bits, nullptr);
  }
  return bits;
}

// Sets the source, or the module for the driver's address size.
void set_code(cl_program built, const WholeProgram &program, packs::Variant *variant) {
  if (!program.is_il) {
    variant->source.emplace(bytes_of(program.source));
    return;
  }
  (address_bits(built) == 32 ? variant->il32 : variant->il64).emplace(bytes_of(program.source));
  std::memcpy(&variant->il_version, program.source.data() + sizeof(std::uint32_t),
              sizeof(variant->il_version));
}

bool has_variant(const packs::Contents &contents, const packs::Variant &variant) {
  const auto &variants = contents.programs[0].variants;
  return std::any_of(variants.begin(), variants.end(),
                     [&](const auto &other) { return other.hash == variant.hash; });
}

// Returns contents with a variant for each set of kernels.
std::optional<packs::Contents> contents_of_all(cl_program built, const Devices &devices,
                                               const WholeProgram &program) {
  std::optional<packs::Contents> all;
  for (const Part &part : parts_of(built, devices)) {
    auto contents = contents_of(part.program.get(), program);
    if (!all) {
      all = std::move(contents);
    } else if (contents && !has_variant(*all, contents->programs[0].variants[0])) {
      all->programs[0].variants.push_back(std::move(contents->programs[0].variants[0]));
    }
  }
  return all;
}

bool has_kernel(const packs::Variant &variant, const std::string &name) {
  return std::any_of(variant.kernels.begin(), variant.kernels.end(),
                     [&](const auto &kernel) { return kernel.name == name; });
}

packs::Status add_launch(const Launches::Fresh &launch) {
  const packs::FolderLock lock(launch.file, kPatience);
  if (lock.is_refused()) return packs::Status::error(packs::Code::failed, "another process writes");
  std::shared_ptr<const packs::Pack> pack;
  packs::Contents contents;
  if (packs::Status s = packs::Pack::open_file(launch.file.c_str(), &pack); !s.ok()) return s;
  if (packs::Status s = packs::read_contents(pack, &contents); !s.ok()) return s;
  if (contents.programs.size() != 1 || contents.programs[0].variants.size() != 1) return {};
  packs::Variant &variant = contents.programs[0].variants[0];
  if (!has_kernel(variant, launch.kernel)) return {};  // another device's set of kernels
  packs::Bytes bytes;
  if (variant.launches) {
    if (packs::Status s = variant.launches->read(&bytes); !s.ok()) return s;
  }
  const std::string text(bytes.begin(), bytes.end());
  if (has_kind(text, launch.kind)) return {};
  const std::string more = packs::united_launches(text, launch.text);
  if (more == text) return {};  // it has enough launches
  variant.launches = packs::BlobSource(packs::Bytes(more.begin(), more.end()));
  return packs::write_raw_pack(contents, launch.file);
}

packs::Status write_file(const std::string &path, const std::string &text) {
  packs::OutputFile file;
  if (packs::Status s = file.open(path); !s.ok()) return s;
  const auto *bytes = reinterpret_cast<const std::uint8_t *>(text.data());
  if (packs::Status s = file.append({bytes, text.size()}); !s.ok()) return s;
  return file.commit();
}

bool is_there(const std::string &path) { return access(path.c_str(), F_OK) == 0; }

// Hashes the command line, as much as one read returns.
std::uint64_t this_command() {
  char words[4096];
  const packs::Descriptor file(open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC));
  if (!file) return 0;
  const auto size = packs::uninterrupted([&] { return read(file.get(), words, sizeof(words)); });
  return size < 0 ? 0 : packs::xxh3(words, static_cast<std::size_t>(size));
}

bool is_first(const std::string &program) {
  static std::mutex &mutex = *new std::mutex;
  static auto &noted = *new std::set<std::string>;
  const std::lock_guard<std::mutex> lock(mutex);
  return noted.insert(program).second;
}

void append_line(const std::string &path, const std::string &line) {
  const packs::Descriptor file(open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666));
  struct stat info {};
  if (!file || fstat(file.get(), &info) != 0 || info.st_size >= kMostOfStarts) return;
  (void)packs::write_line(file.get(), line.data(), line.size());
}

void note_start(const std::string &spool, const std::string &program) {
  if (!is_first(program)) return;
  static const std::string prefix = this_process() + " " + packs::hex64(this_command()) + " ";
  append_line(spool + "/" + packs::kStartsFile, prefix + program + "\n");
}

}  // namespace

std::optional<packs::Contents> contents_of(cl_program built, const WholeProgram &program) {
  packs::Variant variant;
  variant.options = program.options;
  set_code(built, program, &variant);
  if (!add_kernels(built, &variant)) return std::nullopt;
  // A source that tests for the device may have other kernels elsewhere: each set is a variant.
  std::vector<std::string> kernels;
  for (const packs::Kernel &kernel : variant.kernels) kernels.push_back(kernel.name);
  variant.hash = packs::variant_hash(program.source, program.options, kernels);
  variant.name = "recorded-" + packs::hex(variant.hash).substr(0, 8);
  packs::Contents contents;
  contents.programs.resize(1);
  contents.programs[0].name = program.name;
  contents.programs[0].variants.push_back(std::move(variant));
  return contents;
}

packs::Status without_kernels() {
  return packs::Status::error(packs::Code::requirement, "it has no kernels");
}

packs::Status record_program(cl_program built, const Devices &devices, const WholeProgram &program,
                             const std::string &folder) {
  const std::string path = folder + "/" + program.name + ".kiln";
  launches().set_program(built, path);
  (void)mkdir(folder.c_str(), 0777);
  note_start(folder, program.name);
  const bool includes = !program.own_source.empty();
  const std::string files = includes ? folder + "/" + source::recorded_files_name(program) : "";
  if (is_there(path) && (!includes || is_there(files))) return {};
  const auto contents = contents_of_all(built, devices, program);
  if (!contents) return without_kernels();
  // Another process may have written the file since, and launches into it.
  const packs::FolderLock lock(path, kPatience);
  if (lock.is_refused()) return packs::Status::error(packs::Code::failed, "another process writes");
  // Written first, so that a killed process leaves no pack without its included files.
  if (includes && !is_there(files)) {
    packs::Status s = write_file(files, source::recorded_files(program));
    if (!s.ok()) return s;
  }
  return is_there(path) ? packs::Status() : packs::write_raw_pack(*contents, path);
}

void record_launch(const Launches::Fresh &launch) {
  if (const packs::Status s = add_launch(launch); !s.ok()) {
    complain_once("a launch was not recorded: " + s.message);
  }
}

void note_link(const std::string &spool, const std::string &program) {
  if (!is_first(program)) return;
  (void)mkdir(spool.c_str(), 0777);
  append_line(spool + "/" + packs::kLinksFile, program + "\n");
}

}  // namespace kiln::layer
