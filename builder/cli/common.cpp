#include "builder/cli/common.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <set>

#include <unistd.h>

#include <fmt/format.h>

#include "kiln/packs/output_file.hpp"
#include "kiln/packs/writer.hpp"

namespace kiln::cli {
namespace {

bool progress_shown = false;
int output_error = 0;  // errno of the first write to standard output that failed

// Variants of one file have the same faults and warnings: each is told once.
void pass_on_once(const std::string &text, std::set<std::string> *told) {
  if (told->insert(text).second) pass_on(text);
}

// kDone, or the exit code for what failed.
int tell_faults(const builder::BasePack &base) {
  std::set<std::string> told;
  for (const std::string &warning : base.warnings) pass_on_once(warning, &told);
  for (const builder::VariantFailure &failure : base.failures) {
    pass_on_once(failure.text, &told);
    if (base.bad_sources) continue;
    complain(fmt::format("{}/{} does not compile", failure.program, failure.variant));
  }
  if (base.bad_sources) return kBadManifest;
  return base.failures.empty() ? kDone : kSomeFailed;
}

std::optional<packs::Contents> compile_manifest(const std::string &path, const HostTools &tools,
                                                int *exit_code,
                                                std::vector<builder::VariantFailure> *failures) {
  const auto manifest = builder::read_manifest(path);
  if (const auto *error = std::get_if<builder::ManifestError>(&manifest)) {
    pass_on(error->text);
    *exit_code = kBadManifest;
    return std::nullopt;
  }
  builder::ToolchainRequest request;
  request.clang = tools.clang;
  request.llvm_spirv = tools.llvm_spirv;
  request.spirv_val = tools.spirv_val;
  const auto toolchain = builder::find_toolchain(request);
  if (const auto *error = std::get_if<builder::ToolchainError>(&toolchain)) {
    pass_on(error->text);
    *exit_code = kNoDevice;
    return std::nullopt;
  }
  builder::BasePack base = builder::make_base_pack(
      std::get<builder::Manifest>(manifest), path, std::get<builder::Toolchain>(toolchain),
      [](const std::string &what, std::size_t done, std::size_t all) {
        progress("compiling " + what, done, all);
      });
  end_progress();
  if (const int code = tell_faults(base); code != kDone) *exit_code = code;
  if (base.bad_sources) return std::nullopt;
  if (failures != nullptr) *failures = std::move(base.failures);
  return std::move(base.contents);
}

}  // namespace

void print(const std::string &text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!written && output_error == 0) output_error = errno;
}

void print(const nlohmann::json &json) {
  print(json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

std::string count(std::size_t n, const std::string &noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

void complain(const std::string &text) {
  end_progress();
  pass_on(std::string(kToolName) + ": " + text);
}

void pass_on(const std::string &text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  if (text.empty() || text.back() != '\n') std::fputc('\n', stderr);
}

void progress(const std::string &what, std::size_t done, std::size_t all) {
  if (isatty(STDERR_FILENO) == 0) return;
  progress_shown = true;
  std::fprintf(stderr, "\r\033[K[%zu/%zu] %s", done + 1, all, what.c_str());
  std::fflush(stderr);
}

void end_progress() {
  if (!progress_shown) return;
  progress_shown = false;
  std::fputs("\r\033[K", stderr);
}

int end_output(int exit_code) {
  if (std::fflush(stdout) != 0 && output_error == 0) output_error = errno;
  if (output_error == 0) return exit_code;
  if (output_error != EPIPE)
    complain(fmt::format("standard output: {}", std::strerror(output_error)));
  return exit_code == kDone ? kSomeFailed : exit_code;
}

std::optional<double> read_budget(const std::string &text) {
  char *end = nullptr;
  double seconds = std::strtod(text.c_str(), &end);
  const std::string unit(end);
  const bool known = unit.empty() || unit == "s" || unit == "ms" || unit == "m";
  if (unit == "ms") seconds /= 1000;
  if (unit == "m") seconds *= 60;
  if (known && end != text.c_str() && seconds > 0 && seconds <= 86400) return seconds;
  complain("--budget takes a time like 60s, 500ms or 2m of at most a day, not " + text);
  return std::nullopt;
}

std::optional<std::vector<builder::Size>> read_sizes(const std::vector<std::string> &texts) {
  std::vector<builder::Size> sizes;
  for (const std::string &text : texts) {
    const auto size = builder::parse_size(text);
    if (!size) {
      complain("--sizes takes WIDTH, WIDTHxHEIGHT or WIDTHxHEIGHTxDEPTH, not " + text);
      return std::nullopt;
    }
    sizes.push_back(*size);
  }
  return sizes;
}

std::optional<OpenPack> open_pack(const std::string &path) {
  OpenPack result;
  packs::Status status = packs::Pack::open_file(path.c_str(), &result.pack);
  if (status.ok()) {
    status = packs::read_contents(result.pack, &result.contents);
    if (!status.ok()) status.message = path + ": " + status.message;
  }
  if (status.ok()) return result;
  complain(fmt::format("{} [{}]", status.message, packs::code_name(status.code)));
  return std::nullopt;
}

std::optional<std::vector<builder::DeviceInfo>> find_devices(const std::string &selector) {
  const auto listed = builder::list_devices();
  if (const auto *error = std::get_if<builder::DeviceError>(&listed)) {
    complain(error->text);
    return std::nullopt;
  }
  const auto &devices = std::get<std::vector<builder::DeviceInfo>>(listed);
  auto selected = builder::select_devices(devices, selector);
  if (!selected.empty()) return selected;
  std::string text = fmt::format("no device matches \"{}\"; there are:", selector);
  for (const auto &device : devices)
    text += fmt::format("\n  {}  {}", device.index, device.label());
  complain(text);
  return std::nullopt;
}

void add_host_tools(CLI::App &command, HostTools *tools) {
  command.add_option("--clang", tools->clang, "Clang to compile with, instead of searching");
  command.add_option("--llvm-spirv", tools->llvm_spirv, "llvm-spirv of the same major version");
  command.add_option("--spirv-val", tools->spirv_val, "spirv-val to validate with");
}

bool is_manifest(const std::string &path) {
  return path.size() >= 5 && path.compare(path.size() - 5, 5, ".toml") == 0;
}

std::optional<packs::Contents> read_input(const std::string &path, const HostTools &tools,
                                          int *exit_code,
                                          std::vector<builder::VariantFailure> *failures) {
  if (is_manifest(path)) return compile_manifest(path, tools, exit_code, failures);
  auto pack = open_pack(path);
  if (!pack) {
    *exit_code = kBadPack;
    return std::nullopt;
  }
  pack->contents.targets.clear();
  return std::move(pack->contents);
}

int check_output(const std::string &path, const std::vector<std::string> &inputs) {
  std::error_code ignored;
  for (const std::string &input : inputs) {
    if (path != input && !std::filesystem::equivalent(path, input, ignored)) continue;
    complain(fmt::format("{} is an input; writing the output there would destroy it", path));
    return kUsage;
  }
  packs::OutputFile probe;  // its temporary file goes with it
  const packs::Status status = probe.open(path);
  if (status.ok() && !path.empty()) return kDone;
  complain(path.empty() ? "the output has no name"
                        : fmt::format("{} [{}]", status.message, packs::code_name(status.code)));
  return path.empty() ? kUsage : kSomeFailed;
}

void add_write_options(CLI::App &command, packs::WriteOptions *options) {
  command.add_flag_callback(
      "--uncompressed", [options] { options->compress_binaries = false; },
      "Store binaries as they are: a start decodes nothing, and the pack is larger");
}

int write_output(const packs::Contents &contents, const std::string &path,
                 const packs::WriteOptions &options) {
  const packs::Status status = packs::write_pack(contents, path, options);
  if (status.ok()) return kDone;
  const bool damaged = status.code == packs::Code::blob_corrupt;
  complain(fmt::format("{}{} [{}]", damaged ? path + ": not written: an input's " : "",
                       status.message, packs::code_name(status.code)));
  if (!damaged) return kSomeFailed;
  complain("'kiln verify' says which blob it is");
  return kBadPack;
}

}  // namespace kiln::cli
