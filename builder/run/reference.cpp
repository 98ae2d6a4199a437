// SPDX-License-Identifier: Apache-2.0
// Finds the reference's variant, file or library, and gets the expected planes from it. Checks a
// library's version before its function is called.
#include "builder/run/reference.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "builder/base/this_process.hpp"
#include "builder/base/whole_file.hpp"
#include "builder/problem/plane.hpp"
#include "builder/process/fork_call.hpp"
#include "builder/run/pack_on_device.hpp"
#include "builder/run/run_program.hpp"
#include "builder/run/workload.hpp"
#include "kiln/packs/path.hpp"
#include "kiln/reference.h"
#include "runtime/opencl/dynamic_library.hpp"

namespace kiln::builder {

namespace {

static_assert(static_cast<int>(Type::uchar_) == KILN_REFERENCE_UCHAR);
static_assert(static_cast<int>(Type::double_) == KILN_REFERENCE_DOUBLE);

constexpr const char *kVersionFunction = "kiln_reference_version";

std::vector<kiln_reference_plane> described(const std::vector<Plane> &planes) {
  std::vector<kiln_reference_plane> all;
  for (const Plane &plane : planes) {
    all.push_back({plane.name.c_str(), static_cast<std::uint32_t>(plane.type), plane.channels,
                   plane.width, plane.height, plane.pixels.size(),
                   const_cast<std::uint8_t *>(plane.pixels.data())});
  }
  return all;
}

namespace fs = std::filesystem;
using Kind = ReferenceSpec::Kind;

constexpr std::chrono::minutes kTimeout{10};  // for one call of a library

fs::path folder_of(const std::string &path) {
  const fs::path folder = packs::to_path(path).parent_path();
  return folder.empty() ? "." : folder;
}

// Returns the name that this system gives a library: libmine.dll on Windows, for libmine.so.
std::string library_here(std::string name) {
#ifdef _WIN32
  if (name.ends_with(".so")) name.replace(name.size() - 3, 3, ".dll");
#endif
  return name;
}

// Returns the file's path in the first folder that has it.
Result<std::string> find_file(const std::string &name, const std::vector<fs::path> &folders) {
  std::string looked;
  for (const fs::path &folder : folders) {
    std::error_code error;
    const fs::path path = folder / packs::to_path(name);
    if (fs::is_regular_file(path, error)) return packs::from_path(path);
    looked += (looked.empty() ? "" : " or ") + packs::from_path(folder);
  }
  return Status(Code::failed, fmt::format("{} is not in {}", name, looked));
}

// Reads the planes, which lie one after another in the file.
Status read_planes(const std::string &path, std::vector<Plane> *planes) {
  std::uint64_t expected = 0;
  for (const Plane &plane : *planes) expected += plane.pixels.size();
  std::error_code error;
  const std::uint64_t bytes = fs::file_size(packs::to_path(path), error);
  if (error) return {Code::failed, path + ": " + error.message()};
  if (bytes != expected) {
    return {Code::failed, fmt::format("{} has {} bytes, not {}", path, bytes, expected)};
  }
  std::ifstream file = open_file(packs::to_path(path));
  for (Plane &plane : *planes) {
    file.read(reinterpret_cast<char *>(plane.pixels.data()),
              static_cast<std::streamsize>(plane.pixels.size()));
  }
  return file.good() ? Status() : Status(Code::failed, path + ": cannot be read");
}

std::vector<Plane> blank_planes(const std::vector<PlaneShape> &shapes, const ProblemSize &size) {
  std::vector<Plane> planes;
  for (const PlaneShape &shape : shapes) planes.push_back(blank_plane(shape, size));
  return planes;
}

// Loads the shared object, which stays loaded, and finds the function. Like call_reference(), only
// for a child process, since the library may end the process.
Result<kiln_reference_function *> load_reference(const std::string &path,
                                                 const std::string &function) {
  void *library = runtime::open_library(path.c_str());
  if (library == nullptr) {
    const char *fault = runtime::library_fault();
    return Status(Code::failed, fault != nullptr ? fault : path + ": cannot be loaded");
  }
  auto *version = reinterpret_cast<decltype(&kiln_reference_version)>(
      runtime::library_function(library, kVersionFunction));
  if (version == nullptr) {
    return Status(Code::failed, fmt::format("{}: no reference library: it does not export {}", path,
                                            kVersionFunction));
  }
  if (version() != KILN_REFERENCE_VERSION) {
    return Status(Code::failed,
                  fmt::format("{}: made for version {} of kiln/reference.h; this is version {}",
                              path, version(), KILN_REFERENCE_VERSION));
  }
  auto *found = reinterpret_cast<kiln_reference_function *>(
      runtime::library_function(library, function.c_str()));
  if (found == nullptr) {
    return Status(Code::failed, fmt::format("{}: exports no function {}", path, function));
  }
  return found;
}

// Calls the function, which fills `*outputs`: blank planes with the right shapes.
Status call_reference(kiln_reference_function *function, const ProblemSize &size,
                      const std::vector<Plane> &inputs, const Parameters &parameters,
                      std::vector<Plane> *outputs) {
  const auto in = described(inputs);
  const auto out = described(*outputs);
  std::vector<kiln_reference_parameter> values;
  for (const auto &[name, components] : parameters) {
    values.push_back(
        {name.c_str(), components.data(), static_cast<std::uint32_t>(components.size()), 0});
  }
  char message[256] = "";
  const kiln_reference_call call{size.width,
                                 size.height,
                                 size.depth,
                                 static_cast<std::uint32_t>(in.size()),
                                 static_cast<std::uint32_t>(out.size()),
                                 static_cast<std::uint32_t>(values.size()),
                                 in.data(),
                                 out.data(),
                                 values.data(),
                                 message,
                                 sizeof(message)};
  const std::int32_t code = function(&call);
  if (code == 0) return {};
  message[sizeof(message) - 1] = '\0';
  return {Code::failed, message[0] != '\0' ? fmt::format("returned {}: {}", code, message)
                                           : fmt::format("returned {}", code)};
}

}  // namespace

Result<Reference> Reference::find(const packs::Program &program, const std::string &pack_path,
                                  const ReferenceOptions &options) {
  Reference found;
  if (options.no_check || program.reference.empty()) return found;
  found.spec_ = parse_reference(program.reference);
  found.program_ = &program;
  found.pack_path_ = pack_path;
  if (!found.spec_) return found.failure(kReferenceRule);
  const ReferenceSpec &spec = *found.spec_;
  if (spec.kind == Kind::variant) {
    if (find_variant(program, spec.name) != nullptr) return found;
    return found.failure("the pack has no such variant");
  }
  std::vector<fs::path> folders;
  if (!options.folder.empty()) folders.push_back(packs::to_path(options.folder));
  folders.push_back(spec.kind == Kind::file ? folder_of(pack_path) : executable_folder());
  const std::string name = spec.kind == Kind::library ? library_here(spec.name) : spec.name;
  Status status = find_file(name, folders).move_to(&found.path_);
  if (status.ok() && !spec.input.empty()) {
    status = find_file(spec.input, folders).move_to(&found.input_);
  }
  if (status.ok()) return found;
  return found.failure(status.message + ": give --references FOLDER, or --no-check");
}

Result<std::string> Reference::content() const {
  if (!spec_) return std::string();
  std::string all = program_->reference;
  if (spec_->kind == Kind::variant) {
    return all + " " + packs::hex(find_variant(*program_, spec_->name)->hash);
  }
  for (const std::string &path : {path_, input_}) {
    if (path.empty()) continue;
    const auto bytes = read_whole_file(packs::to_path(path));
    if (!bytes) return failure(path + " cannot be read");
    const auto *data = reinterpret_cast<const std::uint8_t *>(bytes->data());
    all += " " + packs::hex(packs::blake2b({data, bytes->size()}));
  }
  return all;
}

bool Reference::covers(const packs::Variant &variant, const ProblemSize &size) const {
  if (!spec_) return false;
  if (spec_->kind == Kind::variant) return spec_->name != variant.name;
  return spec_->kind != Kind::file || spec_->size == size;
}

std::optional<ProblemSize> Reference::only_size() const {
  return spec_ && spec_->kind == Kind::file ? std::optional(spec_->size) : std::nullopt;
}

Result<std::vector<Plane>> Reference::inputs(const packs::Program &program,
                                             const ProblemSize &size) const {
  if (input_.empty() || size != spec_->size) return make_inputs(program, size);
  auto planes = blank_planes(program_shape(program).inputs, size);
  const Status status = read_planes(input_, &planes);
  if (!status.ok()) return failure(status.message);
  return planes;
}

Result<std::vector<Plane>> Reference::expected(const CheckedLaunch &launch) const {
  const bool on_device = spec_ && spec_->kind == Kind::variant;
  if (on_device && launch.device == nullptr) {
    return failure("runs on a device: give --variant " + spec_->name + " instead of --reference");
  }
  if (!covers(launch.variant, launch.size)) return std::vector<Plane>();
  if (on_device) return run_variant(launch);
  if (spec_->kind == Kind::file) return read_file(launch.size);
  return run_library(launch);
}

Result<std::vector<Plane>> Reference::expected_here(const CheckedLaunch &launch) const {
  if (!spec_ || spec_->kind != Kind::library) return failure("is no library");
  const auto function = load_reference(path_, spec_->function);
  if (!function.ok()) return failure(function.status().message);
  auto planes = blank_planes(program_shape(*program_).outputs, launch.size);
  const Status status =
      call_reference(*function, launch.size, launch.inputs, launch.parameters, &planes);
  if (!status.ok()) return failure(status.message);
  return planes;
}

Result<std::vector<Plane>> Reference::run_variant(const CheckedLaunch &launch) const {
  const packs::Variant &own = *find_variant(*program_, spec_->name);
  RunRequest request;
  request.pack_path = pack_path_;
  request.device = *launch.device;
  request.program = program_->name;
  request.variant = own.name;
  request.launch = true;
  request.size = launch.size;
  request.inputs = launch.inputs;
  request.parameters = all_parameters(own, launch.parameters);
  RunResult result = run_program(request);
  if (!result.status.ok()) return failure(result.status.message);
  return std::move(result.outputs);
}

Result<std::vector<Plane>> Reference::read_file(const ProblemSize &size) const {
  auto planes = blank_planes(program_shape(*program_).outputs, size);
  const Status status = read_planes(path_, &planes);
  if (!status.ok()) return failure(status.message);
  return planes;
}

Result<std::vector<Plane>> Reference::run_library(const CheckedLaunch &launch) const {
  const ChildResult child = fork_call(
      [&]() -> nlohmann::json {
        const auto planes = expected_here(launch);
        if (!planes.ok()) return to_json(planes.status());
        return {{"planes", to_json(*planes)}};
      },
      kTimeout);
  if (!child.ok() && child.end == ProcessEnd::exited) {
    return failure(fmt::format("the library ended the process with code {}", child.code));
  }
  if (!child.ok()) return failure("the library " + child.reason());
  if (Status s = child.status(); !s.ok()) return s;
  return planes_from(child.answer["planes"]);
}

Status Reference::failure(const std::string &why) const {
  return {Code::failed,
          fmt::format("program {}: its reference {}: {}", program_ == nullptr ? "" : program_->name,
                      program_ == nullptr ? "" : program_->reference, why)};
}

}  // namespace kiln::builder
