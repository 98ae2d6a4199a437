// SPDX-License-Identifier: Apache-2.0
// kiln pack inspect --extract: writes the parts of a pack as files.
#include "builder/cli/pack/extract.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "builder/base/whole_file.hpp"
#include "builder/cli/common_options.hpp"
#include "builder/inspect/pack_json.hpp"
#include "kiln/packs/path.hpp"

namespace kiln::cli {
namespace {

// Writes blobs into a folder and remembers the first failure.
class Files {
 public:
  explicit Files(std::string folder) : folder_(std::move(folder)) {}

  // Returns the file's name for the index; null if there is no blob.
  nlohmann::json write(const std::string &name, const std::optional<packs::BlobSource> &blob) {
    if (!blob || !status_.ok()) return nullptr;
    packs::Bytes bytes;
    const Status status = blob->read(&bytes);
    if (!status.ok()) {
      status_ = {status.code,
                 fmt::format("{}: {} [{}]", name, status.message, packs::code_name(status.code))};
      return nullptr;
    }
    write_text(name, {reinterpret_cast<const char *>(bytes.data()), bytes.size()});
    return name;
  }

  void write_text(const std::string &name, std::string_view text) {
    status_ = as_failed(builder::write_whole_file(folder_ + "/" + name, text));
    ++count_;
  }

  std::size_t count() const { return count_; }
  const Status &status() const { return status_; }

 private:
  std::string folder_;
  std::size_t count_ = 0;
  Status status_;
};

nlohmann::json extract_variant(const packs::Program &program, const packs::Variant &variant,
                               const packs::Contents &contents, Files *files) {
  const std::string stem = program.name + "/" + variant.name;
  nlohmann::json row = {{"program", program.name},
                        {"variant", variant.name},
                        {"options", variant.options},
                        {"kernels", nlohmann::json::array()},
                        {"source", files->write(stem + ".cl", variant.source)},
                        {"il32", files->write(stem + ".32.spv", variant.il32)},
                        {"il64", files->write(stem + ".64.spv", variant.il64)},
                        {"binaries", nlohmann::json::array()}};
  for (const packs::Kernel &kernel : variant.kernels) row["kernels"].push_back(kernel.name);
  for (std::size_t i = 0; i < contents.targets.size(); ++i) {
    for (const packs::Binary &binary : contents.targets[i].binaries) {
      if (binary.variant != variant.hash) continue;
      row["binaries"].push_back(
          {{"target", builder::target_label(contents.targets[i])},
           {"file", files->write(fmt::format("{}.{}.bin", stem, i), binary.blob)}});
    }
    for (const packs::Binary &binary : contents.targets[i].intermediates) {
      if (binary.variant != variant.hash) continue;
      row["intermediates"].push_back(
          {{"target", builder::target_label(contents.targets[i])},
           {"file", files->write(fmt::format("{}.{}.ptx", stem, i), binary.blob)}});
    }
  }
  return row;
}

// Whether the name stays in the folder: a pack may come from anywhere, and its names must not lead
// out.
bool is_file_name(const std::string &name) {
  return name != "." && name != ".." && name.find('/') == std::string::npos;
}

Status make_folders(const std::string &folder_of_all, const packs::Contents &contents) {
  for (const packs::Program &program : contents.programs) {
    for (const packs::Variant &variant : program.variants) {
      if (is_file_name(program.name) && is_file_name(variant.name)) continue;
      return {Code::root_malformed,
              fmt::format("{}/{} is no name for a file", program.name, variant.name)};
    }
    const std::string folder = folder_of_all + "/" + program.name;
    std::error_code error;
    std::filesystem::create_directories(packs::to_path(folder), error);
    if (std::filesystem::is_directory(packs::to_path(folder))) continue;
    return {Code::failed, folder + ": " + (error ? error.message() : "not a folder")};
  }
  return {};
}

}  // namespace

int extract_parts(const packs::Contents &contents, const std::string &folder, bool as_json) {
  if (Status s = make_folders(folder, contents); !s.ok()) return fail(s);
  Files files(folder);
  nlohmann::json index = {{"schema", 1}, {"variants", nlohmann::json::array()}};
  for (const packs::Program &program : contents.programs) {
    for (const packs::Variant &variant : program.variants) {
      index["variants"].push_back(extract_variant(program, variant, contents, &files));
    }
  }
  if (!files.status().ok()) return fail(files.status());
  files.write_text("index.json", json_text(index));
  if (!files.status().ok()) return fail(files.status());
  if (as_json) {
    print(index);
  } else {
    print(fmt::format("{}: {}\n", folder, count(files.count(), "file")));
  }
  return kDone;
}

}  // namespace kiln::cli
