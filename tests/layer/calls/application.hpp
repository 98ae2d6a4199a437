// SPDX-License-Identifier: Apache-2.0
// An application on the driver of driver.hpp, under the layer, in a process of its own: the layer
// reads its settings once.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "kiln/packs/contents.hpp"
#include "tests/layer/calls/driver.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

extern "C" const char kiln_layer_library[];

namespace kiln::test {

using Variables = std::vector<std::pair<std::string, std::string>>;

// The application's view: OpenCL's functions, a context, a queue, and what the layer says.
class Application {
 public:
  cl_icd_dispatch cl{};
  cl_context context = nullptr;  // of all devices
  cl_command_queue queue = nullptr;

  cl_program from_source(const std::string &text) const;
  cl_program from_binary(const std::string &bytes, cl_int *code = nullptr) const;
  // From source, built for the first device alone unless `devices` says otherwise.
  cl_program built(const std::string &text, const char *options = "",
                   std::vector<cl_device_id> devices = {driver_device(0)}) const;
  cl_program compiled(const std::string &text, const char *options = "") const;
  cl_program linked(const std::vector<cl_program> &parts, const char *options = nullptr,
                    cl_int *code = nullptr) const;
  cl_kernel kernel(cl_program program, const char *name) const;

  cl_int build(cl_program program, const char *options = "") const;
  cl_int compile(cl_program program, const char *options = "") const;
  void release(cl_program program) const;
  void release(cl_kernel kernel) const;
  cl_int launch(cl_kernel kernel, std::size_t global, std::size_t local = 0) const;

  // Answers to queries; a text ends before its zero.
  std::string text_of(cl_program program, cl_program_info what) const;
  std::string build_text_of(cl_program program, cl_program_build_info what,
                            std::size_t device = 0) const;
  std::string text_of(cl_kernel kernel, cl_kernel_info what) const;
  cl_build_status status_of(cl_program program, std::size_t device = 0) const;
  cl_program_binary_type type_of(cl_program program, std::size_t device = 0) const;
  cl_uint references_of(cl_program program) const;
  std::vector<std::string> binaries_of(cl_program program) const;
};

// Runs `use` in a new process under the layer with these variables, and checks there that nothing
// of it is left in the driver. `devices`: as many as the context has.
struct Apart {
  const TemporaryFolder &folder;
  std::size_t devices = 1;

  void run(const Variables &variables, const std::function<void(const Application &)> &use) const;
};

std::string name_of_program(const std::string &text, const std::string &options = "");

// The lines of the report without those that begin the process, without times and process ids.
std::vector<std::string> report_lines(const std::filesystem::path &path);
// "served, binary" or "passed, no pack has it": of the report's lines of builds.
std::vector<std::string> outcomes(const std::filesystem::path &path);
std::string read_file(const std::filesystem::path &path);
// The names in a folder, below it.
std::vector<std::string> files_in(const std::filesystem::path &path);

// A program of one variant as `kiln record` names it, with the driver's binary for the devices of
// these names.
struct Packed {
  std::string text;
  std::string options;
  std::vector<std::string> devices;
};
packs::Contents contents_of(const std::vector<Packed> &programs);
// Does what `kiln overlay build` does: makes the binaries of what is noted.
void build_noted(const std::filesystem::path &overlay);
void write(const packs::Contents &contents, const std::filesystem::path &path);

}  // namespace kiln::test
