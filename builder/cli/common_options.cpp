// SPDX-License-Identifier: Apache-2.0
// Declares the options with CLI11, and opens the pack and the devices that they name.
#include "builder/cli/common_options.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "builder/base/names.hpp"
#include "builder/base/this_process.hpp"
#include "builder/cli/parse.hpp"
#include "builder/virtual/nvptx_compiler.hpp"

namespace kiln::cli {

namespace {

Status check_architecture(const std::string &text) {
  if (builder::parse_architecture(text)) return {};
  return {Code::bad_argument,
          "\"" + text + "\" is no architecture of NVIDIA's: expected sm_ and two or three digits"};
}

Status check_format(const std::string &word) {
  const auto &known = builder::cache_formats();
  if (std::find(known.begin(), known.end(), word) != known.end()) return {};
  return {Code::bad_argument,
          fmt::format("unknown format {}: {}", word, builder::expected_one_of(word, known))};
}

Status knows_program(const packs::Contents &contents, const LoadOptions &options) {
  std::vector<std::string> names;
  for (const packs::Program &program : contents.programs) {
    if (program.name != options.program) {
      names.push_back(program.name);
      continue;
    }
    std::vector<std::string> variants;
    for (const packs::Variant &variant : program.variants) variants.push_back(variant.name);
    const bool known = options.variant.empty() || std::find(variants.begin(), variants.end(),
                                                            options.variant) != variants.end();
    if (known) return {};
    return {Code::bad_argument,
            fmt::format("program {} has no variant {}: {}", options.program, options.variant,
                        builder::expected_one_of(options.variant, variants))};
  }
  return {Code::bad_argument, fmt::format("{} has no program {}: {}", options.pack, options.program,
                                          builder::expected_one_of(options.program, names))};
}

namespace fs = std::filesystem;

std::string variable(const char *name) {
  const char *value = std::getenv(name);
  return value != nullptr ? value : "";
}

// Returns the store in the user's cache; empty if the environment names no home.
std::string file_in_cache() {
  const std::string cache = variable("XDG_CACHE_HOME");
  if (fs::path(cache).is_absolute()) return cache + "/kiln/jobs.sqlite";  // as XDG demands
  const std::string home = variable("HOME");
  return home.empty() ? "" : home + "/.cache/kiln/jobs.sqlite";
}

Status check_spec(const std::string &text) { return builder::parse_virtual_spec(text).status(); }

Status check_root(const std::string &text) {
  std::error_code error;
  if (std::filesystem::is_directory(text, error)) return {};
  return {Code::bad_argument, text + ": no such folder"};
}

bool has_linker(const builder::DeviceInfo &device) {
  return device.virtual_device == nullptr &&
         device.description.finishing == runtime::Finishing::linker;
}

}  // namespace

void add_device_option(CLI::App &command, std::string *selector, const char *otherwise) {
  command.add_option(
      "--device", *selector,
      fmt::format("Index, or glob over platform and device name; default: {}", otherwise));
}

void add_json_flag(CLI::App &command, bool *json, int schema) {
  command.add_flag("--json", *json, fmt::format("Print JSON, schema {}", schema));
}

void add_timeout_option(CLI::App &command, double *seconds, const char *what) {
  command.add_option("--timeout", *seconds, what)
      ->check(CLI::Range(0.1, 86400.0))
      ->capture_default_str();
}

void add_job_options(CLI::App &command, JobChoice *choice) {
  command.add_flag(
      "--preferred", choice->preferred,
      "Only one variant of each program, the first one in `prefer` that the device can "
      "run; binaries of others are kept");
  command.add_flag("--no-finish", choice->no_finish,
                   "Pack the drivers' binaries unfinished; first launches may then compile");
  add_reference_options(command, &choice->references);
  command
      .add_flag("--require-proof", choice->require_proof,
                "Fail new binaries whose results could not be compared")
      ->excludes("--no-check");
  const auto set_also = [choice](const std::vector<std::string> &architectures) {
    for (const std::string &text : architectures) {
      choice->also.push_back(*builder::parse_architecture(text));
    }
  };
  command
      .add_option_function<std::vector<std::string>>(
          "--also", set_also,
          "NVIDIA: also make code for later architectures, such as sm_100,sm_120; it is marked "
          "as never run")
      ->delimiter(',')
      ->check(as_validator(check_architecture, "sm_NN"));
}

void add_shard_option(CLI::App &command, builder::Shard *shard) {
  const auto set = [shard](const std::string &text) {
    const auto parsed = builder::parse_shard(text);
    if (!parsed.ok()) throw CLI::ValidationError("--shard", parsed.status().message);
    *shard = *parsed;
  };
  command
      .add_option_function<std::string>(
          "--shard", set, "Run part I of N of the jobs; 'kiln pack merge' joins the N packs")
      ->type_name("I/N");
}

void add_device_options(CLI::App &command, DeviceOptions *options, const char *pack,
                        const char *program) {
  command.add_option("--pack", options->pack, pack)->required();
  add_device_option(command, &options->selector);
  command.add_option("--program", options->program, program);
}

Result<PackOnDevices> open_on_devices(const DeviceOptions &options) {
  auto pack = open_pack(options.pack);
  if (!pack.ok()) return pack.status();
  auto devices = find_devices(options.selector);
  if (!devices.ok()) return devices.status();
  return PackOnDevices{*std::move(pack), *std::move(devices)};
}

CLI::Option *add_format_option(CLI::App &command, builder::CacheRequest *cache,
                               const char *otherwise) {
  const std::string text =
      fmt::format("Whose cache: {}{}", fmt::join(builder::cache_formats(), ", "), otherwise);
  return command.add_option("--as", cache->format, text)
      ->type_name("FORMAT")
      ->check(as_validator(check_format, ""));
}

void add_learning_options(CLI::App &command, builder::CacheRequest *cache) {
  command
      .add_option("--learn", cache->learn,
                  "Existing cache of the application, for any device, to read names (opencv) "
                  "and sources (pyopencl) from")
      ->type_name("FOLDER");
  command
      .add_option("--include", cache->include,
                  "PyOpenCL's folder of headers, as its applications name it; default: Debian's")
      ->type_name("FOLDER");
}

void add_load_options(CLI::App &command, LoadOptions *options) {
  command.add_option("program", options->program, "Program of the pack")->required();
  command.add_option("--pack", options->pack, "Pack to load from")->required();
  add_device_option(command, &options->selector, "the first device");
  command.add_option("--variant", options->variant,
                     "Variant; default: the one that the runtime chooses");
  command.add_flag("--no-binary", options->no_binary,
                   "Leave out the rungs overlay, exact, compatible and intermediate");
  command.add_flag("--no-il", options->no_il, "Leave out the IL rung");
  command.add_flag("--no-source", options->no_source, "Leave out the source rung");
  command.add_flag("--compatible", options->compatible,
                   "Allow another target's binary that serves this device");
  command.add_option("--overlay", options->overlay,
                     "Folder for what this device has to compile, and for what is known of drivers "
                     "that died");
  command
      .add_option("--deadline", options->deadline_seconds,
                  "Other processes skip a binary that this one has been loading for this many "
                  "seconds; 0: never")
      ->check(CLI::Range(0.0, 86400.0));
  command.add_flag("--unload-compiler", options->unload_compiler,
                   "Ask the driver to unload its compiler after the load, and report memory use");
  add_timeout_option(command, &options->timeout_seconds, "Seconds that the driver may take");
}

Result<OpenPack> open_program(const LoadOptions &options) {
  auto pack = open_pack(options.pack);
  if (!pack.ok()) return pack;
  if (Status s = knows_program(pack->contents, options); !s.ok()) return s;
  return pack;
}

Result<builder::RunRequest> make_request(const LoadOptions &options) {
  const auto devices = find_devices(options.selector);
  if (!devices.ok()) return devices.status();
  builder::RunRequest request;
  request.pack_path = options.pack;
  request.device = devices->front();
  request.program = options.program;
  request.variant = options.variant;
  request.flags = KILN_LOAD_CHECK_RECOMPILED;
  if (options.no_binary) request.flags |= KILN_LOAD_NO_BINARY;
  if (options.no_il) request.flags |= KILN_LOAD_NO_IL;
  if (options.no_source) request.flags |= KILN_LOAD_NO_SOURCE;
  if (options.compatible) request.flags |= KILN_LOAD_COMPATIBLE;
  request.unload = options.unload_compiler;
  request.overlay = options.overlay;
  request.deadline = in_milliseconds(options.deadline_seconds);
  request.timeout = in_milliseconds(options.timeout_seconds);
  return request;
}

std::string store_file(const std::string &option) {
  const std::string file = option.empty() ? variable("KILN_STORE") : option;
  if (file.empty()) return file_in_cache();
  return file == "none" ? "" : file;
}

void make_store_folder(const std::string &file) {
  std::error_code ignored;  // opening the file gives a better message
  if (!file.empty() && file == file_in_cache()) {
    fs::create_directories(fs::path(file).parent_path(), ignored);
  }
}

void add_store_option(CLI::App &command, std::string *file, const char *what) {
  command
      .add_option(
          "--store", *file,
          std::string(what) + "; default: KILN_STORE, else kiln/jobs.sqlite in the user's cache")
      ->type_name("FILE");
}

void add_virtual_options(CLI::App &command, VirtualOptions *options) {
  CLI::Option *specs =
      command
          .add_option("--virtual", options->specs,
                      "Make binaries for devices that are not here, such as neo:skl,tgllp or "
                      "nvidia:sm_80,sm_90 or ocloc.toml:dg2 or mali.toml; devices that are here "
                      "only with --device; may be repeated")
          ->expected(1)
          ->take_all()
          ->check(as_validator(check_spec, "SPEC"));
  command
      .add_option("--root", options->tools.root,
                  "--virtual neo: folder with an unpacked root of the driver's packages; default: "
                  "the driver of this machine")
      ->check(as_validator(check_root, "FOLDER"))
      ->needs(specs);
  command.add_option("--ptxas", options->tools.ptxas,
                     "--virtual nvidia: ptxas of a CUDA toolkit, instead of searching");
  command.add_option("--libclc", options->tools.libclc,
                     "--virtual nvidia: libclc's nvptx64--nvidiacl.bc, instead of searching");
}

Result<std::vector<builder::DeviceInfo>> find_all_devices(const std::string &selector,
                                                          const VirtualOptions &options,
                                                          const std::string &clang,
                                                          const std::vector<std::uint32_t> &also,
                                                          int *exit_code) {
  std::vector<builder::DeviceInfo> devices;
  if (options.specs.empty() || !selector.empty()) {
    if (Status s = find_devices(selector).move_to(&devices); !s.ok()) return s;
  }
  if (!also.empty() && std::none_of(devices.begin(), devices.end(), has_linker)) {
    return Status(Code::bad_argument,
                  "--also needs a device of NVIDIA's that tells its compute capability");
  }
  std::vector<builder::VirtualSpec> specs;
  for (const std::string &text : options.specs) specs.push_back(*builder::parse_virtual_spec(text));
  const bool has_neo = std::any_of(specs.begin(), specs.end(),
                                   [](const auto &spec) { return spec.backend == "neo"; });
  if (!options.tools.root.empty() && !has_neo) {
    return Status(Code::bad_argument, "--root needs --virtual neo:MODEL");
  }
  builder::VirtualTools tools = options.tools;
  tools.clang = clang;
  const std::filesystem::path data = builder::executable_folder() / KILN_DATA_FROM_BIN;
  tools.descriptions = (data / "virtual").lexically_normal();
  builder::VirtualDevices found = builder::find_virtual_devices(specs, tools, devices);
  for (const std::string &note : found.notes) complain(note);
  for (builder::DeviceInfo &device : found.devices) devices.push_back(std::move(device));
  if (!devices.empty()) {
    for (const Status &failure : found.failures) complain(failure.message);
    if (!found.failures.empty()) *exit_code = kSomeFailed;
    return devices;
  }
  std::string text;
  for (const Status &failure : found.failures) {
    text += (text.empty() ? "" : "\n") + failure.message;
  }
  return Status(Code::no_device, text);
}

}  // namespace kiln::cli
