// SPDX-License-Identifier: Apache-2.0
// Asks the driver for a program's kernels and its binary.
#include "runtime/cached/store_program.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "kiln/packs/bytes.hpp"
#include "kiln/packs/linked_source.hpp"
#include "kiln/packs/text.hpp"
#include "runtime/identity/target.hpp"
#include "runtime/load/build.hpp"
#include "runtime/load/loader.hpp"
#include "runtime/opencl/query.hpp"
#include "runtime/overlay/driver_number.hpp"

namespace kiln::cached {
namespace {

using packs::Code;
using packs::Status;

cl_uint address_bits(const runtime::OpenCL &cl, cl_program built) {
  cl_uint bits = 64;
  const auto devices = runtime::query_values<std::vector<cl_device_id>>(
      [&](std::size_t room, void *out, std::size_t *size) {
        return cl.clGetProgramInfo(built, CL_PROGRAM_DEVICES, room, out, size);
      });
  if (devices && !devices->empty()) {
    cl.clGetDeviceInfo(devices->front(), CL_DEVICE_ADDRESS_BITS, sizeof(bits), &bits, nullptr);
  }
  return bits;
}

// Sets the source, or the module for the driver's address size.
void set_code(const runtime::OpenCL &cl, cl_program built, const source::WholeProgram &program,
              packs::Variant *variant) {
  packs::Bytes bytes(program.source.begin(), program.source.end());
  if (!program.is_il) {
    variant->source.emplace(std::move(bytes));
    return;
  }
  (address_bits(cl, built) == 32 ? variant->il32 : variant->il64).emplace(std::move(bytes));
  std::memcpy(&variant->il_version, program.source.data() + sizeof(std::uint32_t),
              sizeof(variant->il_version));
}

Status add_binary(const runtime::Device &device, cl_program built,
                  runtime::Persistence *persistence, packs::Contents *contents) {
  const packs::Digest &variant = contents->programs[0].variants[0].hash;
  packs::Bytes bytes;
  const auto notes = runtime::known_driver_notes(device.identity, device.description);
  if (Status s = runtime::ask_for_binary(device, notes, persistence, 0, variant, built, &bytes);
      !s.ok()) {
    return s;
  }
  packs::Binary binary{variant, packs::BlobSource(std::move(bytes)),
                       runtime::build_log(device, built)};
  binary.finish.why_not = "an application keeps it, and it was not finished";
  packs::Target target = runtime::target_of(device.identity, device.description);
  target.binaries.push_back(std::move(binary));
  contents->targets.push_back(std::move(target));
  return {};
}

}  // namespace

std::optional<packs::Contents> contents_of(const runtime::OpenCL &cl, cl_program built,
                                           const source::WholeProgram &program) {
  packs::Variant variant;
  variant.options = program.options;
  set_code(cl, built, program, &variant);
  // A source that tests for the device may have other kernels elsewhere: each set is a variant.
  std::vector<std::string> kernels;
  for (const std::string &name : runtime::kernel_names(cl, built)) {
    kernels.push_back(name);
    variant.kernels.push_back({name, packs::kUnknownArguments});
  }
  if (kernels.empty()) return std::nullopt;
  variant.hash = packs::variant_hash(program.source, program.options, kernels);
  variant.name = packs::is_linked_source(program.source) ? source::kLinkedVariant : "recorded-";
  variant.name += packs::hex(variant.hash).substr(0, 8);
  packs::Contents contents;
  contents.programs.resize(1);
  contents.programs[0].name = program.name;
  contents.programs[0].variants.push_back(std::move(variant));
  return contents;
}

packs::Status without_kernels() { return Status::error(Code::requirement, "it has no kernels"); }

DriverKey driver_of(const runtime::Device &device) {
  return {device.key().text(), device.key().hash(), runtime::driver_number(device)};
}

Status store_program(const std::string &overlay, const DriverKey &driver,
                     const runtime::Device &device, cl_program built, packs::Contents contents,
                     runtime::Persistence *persistence) {
  if (Status s = add_binary(device, built, persistence, &contents); !s.ok()) return s;
  return write_cached(overlay, driver, std::move(contents));
}

}  // namespace kiln::cached
