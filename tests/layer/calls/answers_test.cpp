// SPDX-License-Identifier: Apache-2.0
// Drivers whose answer to one query is refused, a byte short, has a size beyond all memory, or has
// no zero at its end: whatever the application calls, its process goes on.
#include <algorithm>

#include "tests/layer/calls/application.hpp"

namespace kiln::test {
namespace {

namespace fs = std::filesystem;
using Fault = Driver::Fault;

constexpr char kAnswered[] = "kernel void f(int a) {} kernel void g() {}";

// Calls each kind of entry point, whatever comes of it.
void call_all(const Application &a) {
  const char *text = kAnswered;
  char answer[64];
  const std::size_t items = 64;
  const int value = 5;
  const cl_program program = a.cl.clCreateProgramWithSource(a.context, 1, &text, nullptr, nullptr);
  a.cl.clBuildProgram(program, 0, nullptr, "-DX", nullptr, nullptr);
  for (const cl_program_info what : {CL_PROGRAM_NUM_DEVICES, CL_PROGRAM_DEVICES,
                                     CL_PROGRAM_KERNEL_NAMES, CL_PROGRAM_BINARY_SIZES}) {
    a.cl.clGetProgramInfo(program, what, sizeof(answer), answer, nullptr);
  }
  for (const cl_program_build_info what : {CL_PROGRAM_BUILD_OPTIONS, CL_PROGRAM_BUILD_LOG}) {
    a.cl.clGetProgramBuildInfo(program, driver_device(0), what, sizeof(answer), answer, nullptr);
  }
  cl_kernel all[2] = {};
  a.cl.clCreateKernelsInProgram(program, 2, all, nullptr);
  const cl_kernel kernel = a.cl.clCreateKernel(program, "f", nullptr);
  const cl_kernel clone = a.cl.clCloneKernel(kernel, nullptr);
  a.cl.clGetKernelInfo(kernel, CL_KERNEL_ATTRIBUTES, sizeof(answer), answer, nullptr);
  a.cl.clGetKernelArgInfo(kernel, 0, CL_KERNEL_ARG_NAME, sizeof(answer), answer, nullptr);
  a.cl.clSetKernelArg(kernel, 0, sizeof(value), &value);
  a.cl.clEnqueueNDRangeKernel(a.queue, kernel, 1, nullptr, &items, nullptr, 0, nullptr, nullptr);
  a.cl.clFinish(a.queue);
  for (const cl_kernel one : {kernel, clone, all[0], all[1]}) {
    if (one != nullptr) a.cl.clReleaseKernel(one);
  }
  const cl_program part = a.cl.clCreateProgramWithSource(a.context, 1, &text, nullptr, nullptr);
  a.cl.clCompileProgram(part, 0, nullptr, "", 0, nullptr, nullptr, nullptr, nullptr);
  const cl_program linked =
      a.cl.clLinkProgram(a.context, 0, nullptr, "", 1, &part, nullptr, nullptr, nullptr);
  const cl_program own = a.from_binary(binary_of(driver().names[0], kAnswered));
  if (own != nullptr) a.cl.clBuildProgram(own, 0, nullptr, "", nullptr, nullptr);
  for (const cl_program one : {program, part, linked, own}) {
    if (one != nullptr) a.cl.clReleaseProgram(one);
  }
}

std::vector<Driver::Query> asked_in(const fs::path &file) {
  std::ifstream in(file);
  std::vector<Driver::Query> asked;
  for (Driver::Query query; in >> query.function >> query.what;) asked.push_back(query);
  return asked;
}

}  // namespace

TEST_CASE("no answer of the driver ends the application's process") {
  const TemporaryFolder folder;
  const fs::path overlay = folder.path() / "overlay";
  const fs::path asked = folder.path() / "asked";
  const Variables variables = {{"KILN_OVERLAY", overlay.string()},
                               {"KILN_REPORT", (folder.path() / "report").string()}};
  const auto use = [&](const Application &a) {
    call_all(a);
    std::ofstream out(asked, std::ios::app);
    for (const auto &[function, what] : driver().asked) out << function << ' ' << what << '\n';
  };
  driver().platform = "Portable Computing Language";  // whose launches are followed
  Apart{folder}.run(variables, use);
  build_noted(overlay);
  Apart{folder}.run(variables, use);
  std::vector<Driver::Query> queries = asked_in(asked);
  std::sort(queries.begin(), queries.end());
  const auto same = [](const auto &a, const auto &b) { return !(a < b) && !(b < a); };
  queries.erase(std::unique(queries.begin(), queries.end(), same), queries.end());
  CHECK(queries.size() > 30);
  // Served from the overlay, and for a driver that it has nothing of.
  for (const char *version : {"1.0", "2.0"}) {
    driver().driver_version = version;
    for (const Driver::Query &query : queries) {
      for (const Fault fault :
           {Fault::refused, Fault::short_by_one, Fault::huge, Fault::unterminated}) {
        INFO(version << ", " << query.function << ' ' << query.what << ", fault "
                     << static_cast<int>(fault));
        driver().spoiled = query;
        driver().fault = fault;
        Apart{folder}.run(variables, call_all);
        driver().fault = Fault::none;
      }
    }
  }
  driver() = Driver();
}

}  // namespace kiln::test
