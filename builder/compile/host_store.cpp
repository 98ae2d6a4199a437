// SPDX-License-Identifier: Apache-2.0
// Identifies the tools by their files, and writes and reads answers as JSON.
#include "builder/compile/host_store.hpp"

#include <ctime>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <sys/stat.h>

#include "builder/base/whole_file.hpp"
#include "builder/process/child_result.hpp"

namespace kiln::builder {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::chrono::milliseconds kLoaderTimeout{20'000};

bool is_elf(const fs::path &path) {
  char magic[4] = {};
  return open_file(path).read(magic, sizeof(magic)) && std::string_view(magic, sizeof(magic)) ==
                                                           "\x7f"
                                                           "ELF";
}

// Adds a file with what changes if it is replaced or written.
bool add_file(const fs::path &path, std::set<std::string> *files) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return false;
  std::ostringstream text;
  text << path.string() << ' ' << info.st_dev << ' ' << info.st_ino << ' ' << info.st_size << ' '
       << info.st_mtim.tv_sec << '.' << info.st_mtim.tv_nsec << ' ' << info.st_ctim.tv_sec << '.'
       << info.st_ctim.tv_nsec;
  files->insert(text.str());
  return true;
}

// Adds the program and the libraries that the system's loader finds for it.
bool add_program(const fs::path &program, std::set<std::string> *files) {
  std::error_code error;
  const fs::path real = fs::canonical(program, error);
  if (error || !is_elf(real) || !add_file(real, files)) return false;
  ProcessRequest request;
  request.program = real;
  request.environment = compiler_environment();
  request.environment.emplace_back("LD_TRACE_LOADED_OBJECTS", "1");
  request.limits = kLoaderTimeout;
  const ProcessResult result = run_tool(request);
  if (!result.ok()) return false;
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);) {  // "  name => /path (0x7f...)"
    const std::size_t start = line.find('/');
    const std::size_t end = line.rfind(" (0x");
    if (start == std::string::npos || end == std::string::npos || end < start) continue;
    if (!add_file(line.substr(start, end - start), files)) return false;
  }
  return true;
}

// Adds the declarations of OpenCL's built-in functions, which clang reads from its own folder.
void add_headers(const fs::path &clang, std::set<std::string> *files) {
  std::error_code error;
  const fs::path versions = fs::canonical(clang, error).parent_path().parent_path() / "lib/clang";
  for (fs::directory_iterator i(versions, error), end; !error && i != end; i.increment(error)) {
    for (const char *name : {"opencl-c.h", "opencl-c-base.h"}) {
      (void)add_file(i->path() / "include" / name, files);
    }
  }
}

json kernel_json(const packs::Kernel &kernel) {
  json parameters = json::array();
  for (const packs::Parameter &one : kernel.parameters) {
    parameters.push_back({one.name, one.type, one.size, static_cast<int>(one.address_space),
                          static_cast<int>(one.access), one.qualifiers});
  }
  return {{"name", kernel.name}, {"arguments", kernel.arguments}, {"parameters", parameters}};
}

packs::Kernel kernel_from(const json &kernel) {
  packs::Kernel out{kernel.at("name"), kernel.at("arguments"), ""};
  for (const json &one : kernel.at("parameters")) {
    out.parameters.push_back({one.at(0), one.at(1), one.at(2),
                              static_cast<packs::AddressSpace>(one.at(3).get<int>()),
                              static_cast<packs::ImageAccess>(one.at(4).get<int>()), one.at(5)});
  }
  return out;
}

json answer_json(const HostAnswer &answer) {
  json out{{"warnings", answer.warnings}, {"il_version", answer.variant.il_version}};
  for (const packs::Kernel &kernel : answer.variant.kernels) {
    out["kernels"].push_back(kernel_json(kernel));
  }
  if (!answer.without_il.ok()) out["without_il"] = to_json(answer.without_il);
  for (const auto &[name, il] :
       {std::pair{"il32", &answer.variant.il32}, {"il64", &answer.variant.il64}}) {
    packs::Bytes bytes;
    if (*il && (*il)->read(&bytes).ok()) out[name] = json::binary(std::move(bytes));
  }
  return out;
}

// Throws json's exceptions for an answer of another form.
HostAnswer answer_from(const json &answer, const packs::Variant &record) {
  HostAnswer out{record, answer.at("warnings"), {}};
  if (answer.contains("without_il")) out.without_il = status_from(answer["without_il"]);
  packs::Variant &variant = out.variant;
  variant.il_version = answer.at("il_version");
  std::vector<packs::Kernel> kernels;
  for (const json &kernel : answer.at("kernels")) kernels.push_back(kernel_from(kernel));
  if (!record.kernels.empty()) {
    for (std::size_t i = 0; i < record.kernels.size(); ++i) {
      kernels.at(i).range = record.kernels[i].range;
    }
  }
  variant.kernels = std::move(kernels);
  if (answer.contains("il32")) variant.il32.emplace(packs::Bytes(answer["il32"].get_binary()));
  if (answer.contains("il64")) variant.il64.emplace(packs::Bytes(answer["il64"].get_binary()));
  return out;
}

}  // namespace

std::string tools_identity(const Toolchain &toolchain) {
  std::set<std::string> files;
  for (const fs::path *tool : {&toolchain.clang, &toolchain.llvm_spirv, &toolchain.spirv_val}) {
    if (!tool->empty() && !add_program(*tool, &files)) return {};
  }
  add_headers(toolchain.clang, &files);
  std::string text;
  for (const std::string &file : files) text += file + "\n";
  return packs::hex(
      packs::blake2b({reinterpret_cast<const std::uint8_t *>(text.data()), text.size()}));
}

HostStore::HostStore(const std::string &file, const Toolchain &toolchain) {
  if (file.empty()) return;
  tools_ = tools_identity(toolchain);
  if (tools_.empty()) return;
  auto store = Store::open(file);
  opened_ = store.status();
  if (store.ok()) store_.emplace(*std::move(store));
}

Action HostStore::action_of(const json &inputs) const {
  Action action(json{{"host_step", kHostStepVersion}, {"inputs", inputs}, {"tools", tools_}}.dump(
      -1, ' ', false, json::error_handler_t::replace));
  action.device = "the host";
  return action;
}

std::optional<HostAnswer> HostStore::find(const Action &action, const packs::Variant &record) {
  if (!store_) return std::nullopt;
  const auto job = store_->find(action.key);
  if (!job || job->state != JobState::done) return std::nullopt;
  try {
    return answer_from(job->answer, record);
  } catch (const json::exception &) {
    return std::nullopt;
  } catch (const std::out_of_range &) {
    return std::nullopt;
  }
}

void HostStore::put(const Action &action, const HostAnswer &answer,
                    std::chrono::milliseconds time) {
  if (store_) {
    store_->put(action, {JobState::done, answer_json(answer), time.count(), std::time(nullptr)});
  }
}

}  // namespace kiln::builder
