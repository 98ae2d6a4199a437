// SPDX-License-Identifier: Apache-2.0
#include "tests/layer/calls/application.hpp"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <regex>

#include <CL/cl_layer.h>
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kiln/packs/linked_source.hpp"
#include "kiln/packs/writer.hpp"
#include "runtime/api/api.hpp"
#include "runtime/cached/store_program.hpp"
#include "runtime/opencl/library.hpp"
#include "runtime/source/whole_program.hpp"

namespace kiln::test {

namespace fs = std::filesystem;

namespace {

// The link, so that the layer looks for kiln beside it, and not beside the build's.
fs::path link_to_layer(const TemporaryFolder &folder) {
  const fs::path link = folder.path() / "libkiln_layer.so";
  std::error_code error;
  fs::create_symlink(kiln_layer_library, link, error);
  return link;
}

void use_layer(const fs::path &path, std::size_t devices,
               const std::function<void(const Application &)> &use) {
  void *layer = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  INFO((layer == nullptr ? dlerror() : ""));
  REQUIRE(layer != nullptr);
  const auto init = reinterpret_cast<decltype(&::clInitLayer)>(dlsym(layer, "clInitLayer"));
  REQUIRE(init != nullptr);
  const cl_icd_dispatch below = driver_table();
  const cl_icd_dispatch *above = nullptr;
  const cl_uint entries = sizeof(below) / sizeof(void *);
  cl_uint taken = 0;
  REQUIRE(init(entries, &below, &taken, &above) == CL_SUCCESS);
  REQUIRE(taken == entries);
  Application application;
  application.cl = *above;
  std::vector<cl_device_id> ids;
  for (std::size_t i = 0; i < devices; ++i) ids.push_back(driver_device(i));
  application.context = application.cl.clCreateContext(nullptr, static_cast<cl_uint>(devices),
                                                       ids.data(), nullptr, nullptr, nullptr);
  application.queue = application.cl.clCreateCommandQueue(application.context, ids[0], 0, nullptr);
  use(application);
  CHECK(application.cl.clReleaseCommandQueue(application.queue) == CL_SUCCESS);
  CHECK(application.cl.clReleaseContext(application.context) == CL_SUCCESS);
  CHECK(driver().live == 0);
  CHECK(driver().misuses == 0);
}

template <typename Query, typename... Of>
std::string text(Query query, Of... of) {
  std::size_t size = 0;
  if (query(of..., 0, nullptr, &size) != CL_SUCCESS) return "<fails>";
  std::string value(size, 'x');
  std::size_t again = 0;
  CHECK(query(of..., size, value.data(), &again) == CL_SUCCESS);
  CHECK(again == size);
  if (size != 0) CHECK(query(of..., size - 1, value.data(), nullptr) == CL_INVALID_VALUE);
  CHECK((size != 0 && value.back() == '\0'));
  return value.c_str();
}

}  // namespace

cl_program Application::from_source(const std::string &text) const {
  const char *start = text.c_str();
  cl_int code = CL_INVALID_VALUE;
  const cl_program made = cl.clCreateProgramWithSource(context, 1, &start, nullptr, &code);
  CHECK(code == CL_SUCCESS);
  REQUIRE(made != nullptr);
  return made;
}

cl_program Application::from_binary(const std::string &bytes, cl_int *code) const {
  const auto *start = reinterpret_cast<const unsigned char *>(bytes.data());
  const std::size_t size = bytes.size();
  const cl_device_id device = driver_device(0);
  return cl.clCreateProgramWithBinary(context, 1, &device, &size, &start, nullptr, code);
}

cl_program Application::built(const std::string &text, const char *options,
                              std::vector<cl_device_id> devices) const {
  const cl_program made = from_source(text);
  CHECK(cl.clBuildProgram(made, static_cast<cl_uint>(devices.size()), devices.data(), options,
                          nullptr, nullptr) == CL_SUCCESS);
  return made;
}

cl_program Application::compiled(const std::string &text, const char *options) const {
  const cl_program made = from_source(text);
  CHECK(compile(made, options) == CL_SUCCESS);
  return made;
}

cl_program Application::linked(const std::vector<cl_program> &parts, const char *options,
                               cl_int *code) const {
  return cl.clLinkProgram(context, 0, nullptr, options, static_cast<cl_uint>(parts.size()),
                          parts.data(), nullptr, nullptr, code);
}

cl_kernel Application::kernel(cl_program program, const char *name) const {
  cl_int code = CL_INVALID_VALUE;
  const cl_kernel made = cl.clCreateKernel(program, name, &code);
  CHECK(code == CL_SUCCESS);
  REQUIRE(made != nullptr);
  return made;
}

cl_int Application::build(cl_program program, const char *options) const {
  return cl.clBuildProgram(program, 0, nullptr, options, nullptr, nullptr);
}

cl_int Application::compile(cl_program program, const char *options) const {
  return cl.clCompileProgram(program, 0, nullptr, options, 0, nullptr, nullptr, nullptr, nullptr);
}

void Application::release(cl_program program) const {
  CHECK(cl.clReleaseProgram(program) == CL_SUCCESS);
}
void Application::release(cl_kernel kernel) const {
  CHECK(cl.clReleaseKernel(kernel) == CL_SUCCESS);
}

cl_int Application::launch(cl_kernel kernel, std::size_t global, std::size_t local) const {
  return cl.clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global,
                                   local == 0 ? nullptr : &local, 0, nullptr, nullptr);
}

std::string Application::text_of(cl_program program, cl_program_info what) const {
  return text(cl.clGetProgramInfo, program, what);
}

std::string Application::build_text_of(cl_program program, cl_program_build_info what,
                                       std::size_t device) const {
  return text(cl.clGetProgramBuildInfo, program, driver_device(device), what);
}

std::string Application::text_of(cl_kernel kernel, cl_kernel_info what) const {
  return text(cl.clGetKernelInfo, kernel, what);
}

cl_build_status Application::status_of(cl_program program, std::size_t device) const {
  cl_build_status status = 77;
  CHECK(cl.clGetProgramBuildInfo(program, driver_device(device), CL_PROGRAM_BUILD_STATUS,
                                 sizeof(status), &status, nullptr) == CL_SUCCESS);
  return status;
}

cl_program_binary_type Application::type_of(cl_program program, std::size_t device) const {
  cl_program_binary_type type = 77;
  CHECK(cl.clGetProgramBuildInfo(program, driver_device(device), CL_PROGRAM_BINARY_TYPE,
                                 sizeof(type), &type, nullptr) == CL_SUCCESS);
  return type;
}

cl_uint Application::references_of(cl_program program) const {
  cl_uint count = 0;
  CHECK(cl.clGetProgramInfo(program, CL_PROGRAM_REFERENCE_COUNT, sizeof(count), &count, nullptr) ==
        CL_SUCCESS);
  return count;
}

std::vector<std::string> Application::binaries_of(cl_program program) const {
  std::size_t size = 0;
  CHECK(cl.clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, 0, nullptr, &size) == CL_SUCCESS);
  std::vector<std::size_t> sizes(size / sizeof(std::size_t));
  CHECK(cl.clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, size, sizes.data(), &size) ==
        CL_SUCCESS);
  std::vector<std::string> binaries;
  for (const std::size_t bytes : sizes) binaries.emplace_back(bytes, 'x');
  std::vector<char *> places;
  for (std::string &binary : binaries) places.push_back(binary.data());
  CHECK(cl.clGetProgramInfo(program, CL_PROGRAM_BINARIES, places.size() * sizeof(char *),
                            places.data(), &size) == CL_SUCCESS);
  CHECK(size == places.size() * sizeof(char *));
  return binaries;
}

void Apart::run(const Variables &variables,
                const std::function<void(const Application &)> &use) const {
  const fs::path layer = link_to_layer(folder);
  const unsigned before = failures();
  std::cout.flush();
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child != 0) {
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    return;
  }
  for (const char *name : {"KILN_LAYER", "KILN_PACK", "KILN_OVERLAY", "KILN_SPOOL", "KILN_REPORT",
                           "KILN_REPORT_DIR", "KILN_TUNED", "CPATH", "POCL_CACHE_DIR"}) {
    unsetenv(name);
  }
  setenv("KILN_PACK_PATH", "", 1);
  for (const auto &[name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
  try {
    use_layer(layer, devices, use);
  } catch (...) {  // a REQUIRE that failed
    std::cout.flush();
    _exit(1);
  }
  std::cout.flush();
  _exit(failures() == before ? 0 : 1);
}

std::string name_of_program(const std::string &text, const std::string &options) {
  return source::program_name(text, options);
}

std::vector<std::string> report_lines(const fs::path &path) {
  std::vector<std::string> lines;
  std::ifstream in(path);
  const std::regex changing(
      "\"process\": \"[0-9a-f]{16}\", \"schema\": 1, |, \"milliseconds\": "
      "[0-9]+\\.[0-9]{3}(?=\\})");
  for (std::string line; std::getline(in, line);) {
    if (mentions(line, "\"started\"")) continue;
    lines.push_back(std::regex_replace(line, changing, ""));
  }
  return lines;
}

std::vector<std::string> outcomes(const fs::path &path) {
  std::vector<std::string> found;
  const std::regex parts(
      ".*\"outcome\": \"([a-z_]+)\".*\"rung\": \"([^\"]*)\", \"reason\": \"(.*)\", \"nearest\".*");
  for (const std::string &line : report_lines(path)) {
    std::smatch match;
    if (!std::regex_match(line, match, parts)) continue;
    std::string text = match[1].str();
    for (std::size_t i = 2; i <= 3; ++i) {
      if (match[i].length() != 0) text += ", " + match[i].str();
    }
    found.push_back(text);
  }
  return found;
}

std::string read_file(const fs::path &path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::vector<std::string> files_in(const fs::path &path) {
  std::vector<std::string> names;
  if (!fs::exists(path)) return names;
  for (const auto &entry : fs::recursive_directory_iterator(path)) {
    if (entry.is_regular_file()) names.push_back(fs::relative(entry.path(), path).string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

namespace {

kiln_opencl bare_driver() {
  const cl_icd_dispatch table = driver_table();
  auto opencl = std::make_shared<runtime::OpenCL>();
#define KILN_TAKE(name) opencl->name = table.name;
  KILN_OPENCL_REQUIRED(KILN_TAKE)
#undef KILN_TAKE
  return {opencl};
}

std::string bytes_of(const packs::BlobSource &blob) {
  packs::Bytes bytes;
  REQUIRE(blob.read(&bytes).ok());
  return {bytes.begin(), bytes.end()};
}

// The text that the driver makes of a program: behind a module's header, and all parts of a link.
std::string text_of(std::string_view text, bool is_il) {
  if (is_il) return std::string(text.substr(20));
  std::vector<packs::LinkedPart> parts;
  if (!packs::is_linked_source(text)) return std::string(text);
  REQUIRE(packs::read_linked_source(text, &parts));
  std::string all;
  for (const packs::LinkedPart &part : parts) all += text_of(part.source, part.is_il);
  return all;
}

// Makes the binary of a noted program.
void build_one(const fs::path &overlay, const cached::DriverKey &driver, const std::string &name,
               const fs::path &note) {
  std::shared_ptr<const packs::Pack> pack;
  packs::Contents contents;
  REQUIRE(packs::Pack::open_file(note.c_str(), &pack).ok());
  REQUIRE(packs::read_contents(pack, &contents).ok());
  const packs::Variant &variant = contents.programs[0].variants[0];
  const std::string text = variant.source ? text_of(bytes_of(*variant.source), false)
                                          : text_of(bytes_of(*variant.il64), true);
  const std::string binary = binary_of(name, text);
  packs::Target target;
  target.key = driver.key;
  target.identity = {{"device_name", name},
                     {"driver_version", kiln::test::driver().driver_version}};
  target.binaries.push_back(
      {variant.hash, packs::BlobSource(packs::Bytes(binary.begin(), binary.end())), {}, {}});
  contents.targets.push_back(target);
  const packs::Status status = cached::write_cached(overlay.string(), driver, std::move(contents));
  INFO(status.message);
  REQUIRE(status.ok());
  fs::remove(note);
}

}  // namespace

void build_noted(const fs::path &overlay) {
  if (!fs::is_directory(overlay / "noted")) return;
  kiln_opencl from = bare_driver();
  for (std::size_t i = 0; i < driver().names.size(); ++i) {
    kiln_device *device = nullptr;
    REQUIRE(kiln_device_from_cl(&from, driver_device(i), &device, nullptr) == KILN_OK);
    const cached::DriverKey of = cached::driver_of(*device->device);
    kiln_device_release(device);
    const fs::path folder = overlay / "noted" / cached::driver_name(of);
    for (const std::string &file : files_in(folder)) {
      if (fs::path(file).extension() == ".kiln") {
        build_one(overlay, of, driver().names[i], folder / file);
      }
    }
  }
}

packs::Contents contents_of(const std::vector<Packed> &programs) {
  kiln_opencl from = bare_driver();
  packs::Contents contents;
  std::uint8_t number = 0;
  for (const Packed &packed : programs) {
    packs::Variant variant;
    variant.name = "recorded-1";
    variant.hash[0] = ++number;
    variant.options = packed.options;
    const std::string word = "kernel void ";
    for (std::size_t at = 0; (at = packed.text.find(word, at)) != std::string::npos;) {
      at += word.size();
      packs::Kernel kernel;
      kernel.name = packed.text.substr(at, packed.text.find('(', at) - at);
      const std::size_t open = packed.text.find('(', at);
      const std::string list = packed.text.substr(open + 1, packed.text.find(')', open) - open - 1);
      kernel.arguments =
          list.empty() ? 0 : 1 + static_cast<unsigned>(std::count(list.begin(), list.end(), ','));
      variant.kernels.push_back(kernel);
    }
    variant.source = packs::BlobSource(packs::Bytes(packed.text.begin(), packed.text.end()));
    for (std::size_t i = 0; i < driver().names.size(); ++i) {
      const std::string &name = driver().names[i];
      if (std::count(packed.devices.begin(), packed.devices.end(), name) == 0) continue;
      const auto end = driver().names.begin() + static_cast<std::ptrdiff_t>(i);
      if (std::find(driver().names.begin(), end, name) != end) continue;  // of one kind
      kiln_device *device = nullptr;
      REQUIRE(kiln_device_from_cl(&from, driver_device(i), &device, nullptr) == KILN_OK);
      const std::string key = kiln_device_info(device, "key");
      kiln_device_release(device);
      auto target = std::find_if(contents.targets.begin(), contents.targets.end(),
                                 [&](const packs::Target &one) { return one.key == key; });
      if (target == contents.targets.end()) {
        packs::Target made;
        made.key = key;
        made.identity = {{"device_name", name}};
        target = contents.targets.insert(target, made);
      }
      const std::string binary = binary_of(name, packed.text);
      target->binaries.push_back({variant.hash,
                                  packs::BlobSource(packs::Bytes(binary.begin(), binary.end())),
                                  "a log for " + name,
                                  {}});
    }
    contents.programs.push_back({name_of_program(packed.text, packed.options), "", {variant}});
  }
  return contents;
}

void write(const packs::Contents &contents, const fs::path &path) {
  fs::create_directories(path.parent_path());
  const packs::Status status = packs::write_pack(contents, path.string());
  INFO(status.message);
  REQUIRE(status.ok());
}

}  // namespace kiln::test
