// SPDX-License-Identifier: Apache-2.0
// Writes base packs and launches.
#include "runtime/layer/record/record.hpp"

#include <algorithm>
#include <mutex>
#include <set>

#include "kiln/packs/bytes.hpp"
#include "kiln/packs/descriptor.hpp"
#include "kiln/packs/files.hpp"
#include "kiln/packs/output_file.hpp"
#include "kiln/packs/pack_folder.hpp"
#include "kiln/packs/text.hpp"
#include "kiln/packs/writer.hpp"
#include "runtime/cached/store_program.hpp"
#include "runtime/layer/base/build_report.hpp"
#include "runtime/layer/base/devices.hpp"
#include "runtime/layer/base/process.hpp"
#include "runtime/layer/base/settings.hpp"
#include "runtime/source/recorded_files.hpp"

namespace kiln::layer {

namespace {

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
    auto contents = cached::contents_of(next_table(), part.program.get(), program);
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

bool is_there(const std::string &path) {
  struct stat info {};
  return packs::status_at(packs::kWorkingFolder, path.c_str(), &info);
}

bool is_first(const std::string &program) {
  static std::mutex &mutex = *new std::mutex;
  static auto &noted = *new std::set<std::string>;
  const std::lock_guard<std::mutex> lock(mutex);
  return noted.insert(program).second;
}

// Calls `call` for the program, or for each part of a link, that includes files, until it returns
// false; returns whether it never did.
template <typename Call>
bool for_each_including(const WholeProgram &program, const std::string &folder, const Call &call) {
  if (!program.own_source.empty()) {
    return call(program, folder + "/" + source::recorded_files_name(program));
  }
  return std::all_of(program.parts.begin(), program.parts.end(), [&](const WholeProgram &part) {
    return for_each_including(part, folder, call);
  });
}

void append_line(const std::string &path, const std::string &line) {
  const packs::Descriptor file(open_to_append(path));
  struct stat info {};
  if (!packs::status_of(file.get(), &info) || info.st_size >= kMaxStartsSize) return;
  (void)packs::write_line(file.get(), line.data(), line.size());
}

void note_start(const std::string &spool, const std::string &program) {
  if (!is_first(program)) return;
  static const std::string prefix = this_process() + " " + packs::hex64(this_command()) + " ";
  append_line(spool + "/" + packs::kStartsFile, prefix + program + "\n");
}

}  // namespace

packs::Status record_program(cl_program built, const Devices &devices, const WholeProgram &program,
                             const std::string &folder) {
  const std::string path = folder + "/" + program.name + ".kiln";
  launches().set_program(built, path);
  make_shared_folder(folder);
  note_start(folder, program.name);
  const bool has_files = for_each_including(
      program, folder,
      [](const WholeProgram &, const std::string &file) { return is_there(file); });
  if (is_there(path) && has_files) return {};
  const auto contents = contents_of_all(built, devices, program);
  if (!contents) return cached::without_kernels();
  // Another process may have written the file since, and launches into it.
  const packs::FolderLock lock(path, kPatience);
  if (lock.is_refused()) return packs::Status::error(packs::Code::failed, "another process writes");
  // Written first, so that a killed process leaves no pack without its included files.
  packs::Status status;
  for_each_including(program, folder, [&](const WholeProgram &one, const std::string &file) {
    if (!is_there(file)) status = write_file(file, source::recorded_files(one));
    return status.ok();
  });
  if (!status.ok()) return status;
  return is_there(path) ? packs::Status() : packs::write_raw_pack(*contents, path);
}

void record_launch(const Launches::Fresh &launch) {
  if (const packs::Status s = add_launch(launch); !s.ok()) {
    complain_once("a launch was not recorded: " + s.message);
  }
}

}  // namespace kiln::layer
