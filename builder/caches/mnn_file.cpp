// SPDX-License-Identifier: Apache-2.0
// The tables of such a file, by the names of their fields in MNN.
#include "builder/caches/mnn_file.hpp"

#include <algorithm>
#include <iterator>

#include "builder/caches/cache_files.hpp"

namespace kiln::builder {
namespace {

constexpr FlatField kFlatText{FlatKind::text};
constexpr FlatField kFlatBytes{FlatKind::bytes};
constexpr FlatField kFlatWord{FlatKind::word};
constexpr FlatField kFlatWords{FlatKind::words};

constexpr FlatField list_of(const FlatShape &shape) { return {FlatKind::tables, &shape}; }

// The fields of each table, named as in MNN.
constexpr FlatField kTensorFields[] = {kFlatWords};  // shape
constexpr FlatShape kTensorInfo{kTensorFields};
// name, type, inputs, outputs
constexpr FlatField kOpFields[] = {kFlatText, kFlatWord, list_of(kTensorInfo),
                                   list_of(kTensorInfo)};
constexpr FlatShape kOpInfo{kOpFields};
// buffer, program, kernel, buildInfo, md5
constexpr FlatField kShaderFields[] = {kFlatBytes, kFlatText, kFlatText, kFlatText, kFlatText};
constexpr FlatShape kShader{kShaderFields};
// key, gloablSize, localSize, timeCost, name, md5
constexpr FlatField kTuningFields[] = {kFlatText, kFlatWords, kFlatWords,
                                       kFlatWord, kFlatText,  kFlatText};
constexpr FlatShape kAutotuning{kTuningFields};
// gemmSize, paramInfo, md5
constexpr FlatField kGemmFields[] = {kFlatWords, kFlatWords, kFlatText};
constexpr FlatShape kGemmInfo{kGemmFields};
// deviceName, programs, tunings, gemm, driverVersion
constexpr FlatField kBackendFields[] = {kFlatText, list_of(kShader), list_of(kAutotuning),
                                        list_of(kGemmInfo), kFlatText};
constexpr FlatShape kBackendInfo{kBackendFields};
// backends, tuned
constexpr FlatField kCacheFields[] = {list_of(kBackendInfo), list_of(kOpInfo)};
constexpr FlatShape kCache{kCacheFields};

// Of those that are read here, the places. MNN writes by FlatBuffers' object API, which leaves
// empty texts out.
enum CacheField : std::size_t { kBackends };
enum BackendField : std::size_t { kDeviceName, kPrograms, kTunings, kGemm, kDriverVersion };
enum ShaderField : std::size_t { kBuffer, kProgram, kKernel, kBuildInfo, kMd5 };

Status not_mnn(const std::string &why) {
  return {Code::bad_input, "it is not as MNN writes its OpenCL cache: " + why};
}

std::string_view text_in(const FlatTable &table, std::size_t field) {
  return table.fields[field].bytes;
}

// Whether it may be a C string.
bool is_plain(const FlatTable &table, std::size_t field) {
  return text_in(table, field).find('\0') == std::string_view::npos;
}

bool has_name(const FlatTable &table, std::size_t field) {
  return !text_in(table, field).empty() && is_plain(table, field);
}

bool is_entry(const FlatTable &entry) {
  const std::vector<FlatTable> &programs = entry.fields[kPrograms].tables;
  return has_name(entry, kDeviceName) &&
         std::all_of(programs.begin(), programs.end(), [](const FlatTable &program) {
           return has_name(program, kProgram) && is_plain(program, kBuildInfo);
         });
}

void append(FlatValue *from, FlatValue *to) {
  to->present = to->present || from->present;
  std::move(from->tables.begin(), from->tables.end(), std::back_inserter(to->tables));
}

}  // namespace

MnnFile::MnnFile() {
  root_.fields.resize(std::size(kCacheFields));
  root_.fields[kBackends].present = true;
}

Result<MnnFile> MnnFile::read(packs::Bytes bytes) {
  MnnFile file;
  file.file_ = std::move(bytes);
  Status s = read_flat_tables({file.file_.data(), file.file_.size()}, kCache).move_to(&file.root_);
  if (!s.ok()) return not_mnn(s.message);
  if (!file.root_.fields[kBackends].present) return not_mnn("it has no list of devices");
  if (!std::all_of(file.entries().begin(), file.entries().end(), is_entry)) {
    return not_mnn("a device or program has no name, or a zero in its texts");
  }
  return file;
}

std::vector<FlatTable> &MnnFile::entries() { return root_.fields[kBackends].tables; }
const std::vector<FlatTable> &MnnFile::entries() const { return root_.fields[kBackends].tables; }

std::map<std::string, std::set<std::string>> MnnFile::names() const {
  std::map<std::string, std::set<std::string>> names;
  for (const FlatTable &entry : entries()) {
    for (const FlatTable &program : entry.fields[kPrograms].tables) {
      const std::string md5(text_in(program, kMd5));
      if (is_hex(md5, 32)) names[md5].emplace(text_in(program, kProgram));
    }
  }
  return names;
}

bool MnnFile::has_entries() const { return !entries().empty(); }

bool MnnFile::has_drivers() const {
  return std::any_of(entries().begin(), entries().end(),
                     [](const FlatTable &entry) { return entry.fields[kDriverVersion].present; });
}

std::optional<packs::View> MnnFile::find(const MnnDevice &device, const std::string &source_md5,
                                         const std::string &options) const {
  for (const FlatTable &entry : entries()) {
    if (text_in(entry, kDeviceName) != device.name) continue;
    const FlatValue &driver = entry.fields[kDriverVersion];
    if (driver.present && driver.bytes != device.driver) continue;
    for (const FlatTable &program : entry.fields[kPrograms].tables) {
      if (text_in(program, kMd5) != source_md5 || text_in(program, kBuildInfo) != options) continue;
      const std::string_view binary = text_in(program, kBuffer);
      return packs::View{reinterpret_cast<const std::uint8_t *>(binary.data()), binary.size()};
    }
  }
  return std::nullopt;
}

FlatValue MnnFile::own(std::string bytes) {
  return {true, added_.emplace_back(std::move(bytes)), {}};
}

void MnnFile::begin(const MnnDevice &device, bool with_driver) {
  FlatTable begun;
  begun.fields.resize(std::size(kBackendFields));
  begun.fields[kDeviceName] = own(device.name);
  if (with_driver) begun.fields[kDriverVersion] = own(device.driver);
  const FlatValue &driver = begun.fields[kDriverVersion];
  begun.fields[kPrograms].present = true;
  for (FlatTable &entry : entries()) {
    if (text_in(entry, kDeviceName) != device.name) continue;
    const FlatValue &earlier = entry.fields[kDriverVersion];
    if (earlier.present == driver.present && earlier.bytes == driver.bytes) {
      append(&entry.fields[kPrograms], &begun.fields[kPrograms]);
    }
    append(&entry.fields[kTunings], &begun.fields[kTunings]);
    append(&entry.fields[kGemm], &begun.fields[kGemm]);
  }
  std::erase_if(entries(),
                [&](const FlatTable &entry) { return text_in(entry, kDeviceName) == device.name; });
  entries().push_back(std::move(begun));
}

void MnnFile::set(const MnnDevice &device, const MnnProgram &program, packs::View binary) {
  const auto entry = std::find_if(entries().begin(), entries().end(), [&](const FlatTable &one) {
    return text_in(one, kDeviceName) == device.name;
  });
  if (entry == entries().end()) return;
  std::vector<FlatTable> &programs = entry->fields[kPrograms].tables;
  std::erase_if(programs, [&](const FlatTable &one) {
    return text_in(one, kProgram) == program.name && text_in(one, kBuildInfo) == program.options;
  });
  FlatTable &added = programs.emplace_back();
  added.fields.resize(std::size(kShaderFields));
  added.fields[kBuffer] = own(std::string(text_of(binary)));
  added.fields[kProgram] = own(program.name);
  added.fields[kBuildInfo] = own(program.options);
  added.fields[kMd5] = own(program.source_md5);
}

Result<std::string> MnnFile::bytes() const { return flat_tables(root_, kCache); }

}  // namespace kiln::builder
