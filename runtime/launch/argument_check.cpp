// SPDX-License-Identifier: Apache-2.0
// Compares arguments with the parameters in the pack, or with the manifest's arguments.
#include "runtime/launch/argument_check.hpp"

#include <cstring>

#include "kiln/packs/find_rows.hpp"

namespace kiln::runtime {
namespace {

KnownParameter parameter_of(const Kernel &kernel, unsigned index) {
  const packs::ParameterRefs all = kernel.program->variant.kernels()[kernel.index].parameters();
  if (index >= all.size()) return {};
  const packs::Pack &pack = *kernel.program->loader->pack;
  const packs::ParameterRef ref = all[index];
  KnownParameter out;
  out.is_known = true;
  out.name = packs::text_at(pack, ref.name());
  out.type = packs::text_at(pack, ref.type());
  out.size = ref.size();
  out.address_space = ref.address_space();
  out.access = ref.access();
  out.qualifiers = ref.qualifiers();
  return out;
}

Status refuse(const Kernel &kernel, unsigned index, const KnownParameter &parameter,
              const std::string &given) {
  const packs::KernelRef known = kernel.program->variant.kernels()[kernel.index];
  const bool pipe = is_pipe(parameter);
  return Status::error(
      Code::bad_argument,
      {"kernel ", known.name(), ": argument ", decimal(index), ", ", declared_text(parameter),
       pipe ? ": Kiln passes no pipes" : ", cannot take ", pipe ? "" : given});
}

bool is_side(unsigned type, unsigned components) {
  return (type == KILN_TYPE_INT || type == KILN_TYPE_UINT) && components == 1;
}

// Fails if the manifest lists the argument with another type.
Status check_listed(const Kernel &kernel, unsigned index, unsigned given, unsigned components) {
  unsigned takes = given;  // unless the manifest says otherwise
  unsigned wanted = components;
  unsigned before = index;
  for (const packs::ArgumentRef argument : kernel.program->variant.arguments()) {
    if (argument.stage() != kernel.index || before-- != 0) continue;
    const Taken listed =
        taken_by(argument.role(), argument.storage(), argument.type(), argument.channels());
    takes = listed.type;
    wanted = listed.components;
    if (takes == kTakesSide && is_side(given, components)) takes = given;
  }
  if (is_taken_as(given, takes) && wanted == components) return {};
  return Status::error(Code::bad_argument,
                       {"argument ", decimal(index), " takes ", type_text(takes, wanted), ", not ",
                        type_text(given, components)});
}

std::string size_text(const KnownParameter &parameter, std::size_t given, std::size_t wanted) {
  return concat({decimal(given), " bytes: it ", is_handle(parameter) ? "is a handle of " : "has ",
                 decimal(wanted)});
}

}  // namespace

Status check_argument(const Kernel &kernel, unsigned index, unsigned given, unsigned components) {
  const KnownParameter parameter = parameter_of(kernel, index);
  if (!parameter.is_known) return check_listed(kernel, index, given, components);
  if (fits(parameter, given, components)) return {};
  const Taken taken = taken_by(parameter);
  // A manifest may say that the value is a side of the problem, which is int or uint.
  if (is_side(given, components) && is_side(taken.type, taken.components) &&
      kernel.program->variant.arguments().size() != 0) {
    return check_listed(kernel, index, given, components);
  }
  return refuse(kernel, index, parameter, type_text(given, components));
}

Status check_memory(const Kernel &kernel, unsigned index, const std::string &image) {
  if (image.empty()) return check_argument(kernel, index, kTakesBuffer, 1);
  if (Status e = check_argument(kernel, index, kTakesImage, 1); !e.ok()) return e;
  const KnownParameter parameter = parameter_of(kernel, index);
  if (takes_image(parameter, image)) return {};
  return refuse(kernel, index, parameter, concat({"an ", image}));
}

Status check_bytes(const Kernel &kernel, unsigned index, std::size_t size) {
  const KnownParameter parameter = parameter_of(kernel, index);
  if (!parameter.is_known) return {};
  if (is_pipe(parameter) || taken_by(parameter).type == kTakesLocal) {
    return refuse(kernel, index, parameter, concat({decimal(size), " bytes of a value"}));
  }
  const std::size_t wanted = is_handle(parameter) ? sizeof(cl_mem) : parameter.size;
  if (wanted == 0 || wanted == size) return {};
  return refuse(kernel, index, parameter, size_text(parameter, size, wanted));
}

Status set_local(Kernel *kernel, unsigned index, std::size_t size) {
  if (Status e = check_argument(*kernel, index, kTakesLocal, 1); !e.ok()) return e;
  const std::uint64_t limit = kernel->program->loader->device->capabilities.local_memory;
  std::uint64_t others = 0;
  for (unsigned i = 0; i < kernel->argument_count; ++i) {
    if (i != index) others += kernel->arguments[i].value.local;
  }
  if (limit != 0 && (others > limit || size > limit - others)) {
    const std::string with = others == 0 ? "" : concat({" after ", decimal(others)});
    return argument_failure(
        index, Status::error(Code::bad_argument, {decimal(size), " bytes of local memory", with,
                                                  ", the device has ", decimal(limit)}));
  }
  return set_argument(kernel, index, nullptr, size, false);
}

Status set_svm(Kernel *kernel, unsigned index, const void *pointer) {
  if (Status e = check_argument(*kernel, index, kTakesSvm, 1); !e.ok()) return e;
  const Device &device = *kernel->program->loader->device;
  // An ICD loader may call a driver that lacks the function through a null pointer.
  cl_device_svm_capabilities has = 0;
  const cl_int code =
      device.cl->clGetDeviceInfo(device.id, CL_DEVICE_SVM_CAPABILITIES, sizeof(has), &has, nullptr);
  if (code != CL_SUCCESS || has == 0 || device.cl->clSetKernelArgSVMPointer == nullptr) {
    return argument_failure(
        index, Status::error(Code::requirement,
                             "the device has no shared virtual memory (clSetKernelArgSVMPointer)"));
  }
  return set_svm_argument(kernel, index, pointer);
}

Status set_typed(Kernel *kernel, unsigned index, unsigned type, unsigned components,
                 const void *value) {
  if (type >= kTakesBuffer || !is_vector_width(components)) {
    return Status::error(Code::bad_argument, "kiln_kernel_set_typed: no type of OpenCL C");
  }
  if (Status e = check_argument(*kernel, index, type, components); !e.ok()) return e;
  char bytes[16 * sizeof(cl_double)] = {};
  std::memcpy(bytes, value, components * component_size(type));
  if (components == 3) components = 4;  // OpenCL stores a vector of 3 as 4
  return set_argument(kernel, index, bytes, components * component_size(type), false);
}

}  // namespace kiln::runtime
