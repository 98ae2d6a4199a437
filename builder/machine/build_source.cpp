// SPDX-License-Identifier: Apache-2.0
// Compiles the parts of a linked program and links them; asks for numbers of kernels.
#include "builder/machine/build_source.hpp"

#include <string>

#include "kiln/packs/linked_source.hpp"
#include "kiln/packs/text.hpp"

namespace kiln::builder {
namespace {

using packs::Code;
using packs::Status;
using Program = runtime::Handle<cl_program>;

constexpr unsigned kMaxNested = 8;  // links of libraries, which are linked themselves

Status link(const runtime::Device &device, cl_context context, std::string_view text,
            const char *options, unsigned depth, Program *out);

// Makes a part of a link. If it fails, `out` may be the failed program, for its log.
Status make_part(const runtime::Device &device, cl_context context, const packs::LinkedPart &part,
                 unsigned depth, Program *out) {
  const std::string options(part.options);
  if (packs::is_linked_source(part.source)) {
    return link(device, context, part.source, options.c_str(), depth + 1, out);
  }
  const packs::View bytes{reinterpret_cast<const std::uint8_t *>(part.source.data()),
                          part.source.size()};
  const runtime::Form form = part.is_il ? runtime::Form::il : runtime::Form::source;
  if (Status s = runtime::create_program(device, context, form, bytes, out); !s.ok()) return s;
  const cl_int code = device.cl->clCompileProgram(out->get(), 1, &device.id, options.c_str(), 0,
                                                  nullptr, nullptr, nullptr, nullptr);
  return code == CL_SUCCESS ? Status() : runtime::cl_failure("clCompileProgram", code);
}

// Makes the parts of a linked program, and links them.
Status link(const runtime::Device &device, cl_context context, std::string_view text,
            const char *options, unsigned depth, Program *out) {
  const runtime::OpenCL &cl = *device.cl;
  const bool is_old =
      packs::compare_versions(device.identity.text(runtime::Field::device_version), "1.2") < 0;
  if (is_old || cl.clCompileProgram == nullptr || cl.clLinkProgram == nullptr) {
    return Status::error(Code::opencl, "the driver has no clLinkProgram");
  }
  std::vector<packs::LinkedPart> parts;
  if (depth == kMaxNested || !packs::read_linked_source(text, &parts)) {
    return Status::error(Code::bad_input, "the linked program's text is damaged");
  }
  std::vector<Program> made(parts.size());
  std::vector<cl_program> programs(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    Status status = make_part(device, context, parts[i], depth, &made[i]);
    programs[i] = made[i].get();
    if (!status.ok()) {
      *out = std::move(made[i]);
      return status;
    }
  }
  cl_int code = CL_SUCCESS;
  *out =
      Program(cl.clLinkProgram(context, 1, &device.id, options, static_cast<cl_uint>(parts.size()),
                               programs.data(), nullptr, nullptr, &code),
              cl.clReleaseProgram);
  if (code == CL_SUCCESS && !*out) code = CL_INVALID_PROGRAM;
  return code == CL_SUCCESS ? Status() : runtime::cl_failure("clLinkProgram", code);
}

template <typename T>
std::uint64_t kernel_number(const runtime::Device &device, cl_kernel kernel,
                            cl_kernel_work_group_info what) {
  T value = 0;
  device.cl->clGetKernelWorkGroupInfo(kernel, device.id, what, sizeof(T), &value, nullptr);
  return value;
}

nlohmann::json kernel_facts(const runtime::Device &device, cl_kernel kernel) {
  return {kernel_number<std::size_t>(device, kernel, CL_KERNEL_WORK_GROUP_SIZE),
          kernel_number<std::size_t>(device, kernel, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE),
          kernel_number<cl_ulong>(device, kernel, CL_KERNEL_PRIVATE_MEM_SIZE),
          kernel_number<cl_ulong>(device, kernel, CL_KERNEL_LOCAL_MEM_SIZE)};
}

}  // namespace

runtime::BuildOutcome build_source(const runtime::Device &device, cl_context context,
                                   packs::View source, std::string_view options,
                                   const std::vector<runtime::ExpectedKernel> &expected,
                                   std::string_view working) {
  const std::string_view text(reinterpret_cast<const char *>(source.data), source.size);
  if (!packs::is_linked_source(text)) {
    return runtime::build_program(device, context, runtime::Form::source, source, options, expected,
                                  working);
  }
  const runtime::UsingCompiler using_compiler;
  runtime::BuildOutcome outcome;
  runtime::BuiltProgram &built = outcome.built;
  outcome.error = link(device, context, text, std::string(options).c_str(), 0, &built.program);
  if (outcome.error.ok()) {
    outcome.error = runtime::check_built(device, built.program.get(), "clLinkProgram");
  }
  if (built.program) outcome.log = runtime::build_log(device, built.program.get());
  if (outcome.error.ok()) outcome.error = runtime::create_kernels(device, expected, &built);
  return outcome;
}

nlohmann::json kernel_rows(const runtime::Device &device,
                           const std::vector<runtime::Handle<cl_kernel>> &kernels) {
  nlohmann::json rows = nlohmann::json::array();
  for (const auto &kernel : kernels) rows.push_back(kernel_facts(device, kernel.get()));
  return rows;
}

}  // namespace kiln::builder
