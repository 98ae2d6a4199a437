// SPDX-License-Identifier: Apache-2.0
// Reads a parameter's type from its text, which is clang's or the driver's.
#include "runtime/launch/argument_check.hpp"

#include <cstring>

#include "kiln/packs/argument.hpp"
#include "kiln/packs/records.hpp"

namespace kiln::runtime {
namespace {

// Indexed by kiln_type, whose first six values are the numbers of FORMAT.md; then by kTakesBuffer
// and those after it.
constexpr char kNames[][15] = {
    "uchar",    "ushort",       "uint",        "int",       "float",         "half",
    "char",     "short",        "long",        "ulong",     "double",        "a buffer",
    "an image", "local memory", "int or uint", "a sampler", "an SVM pointer"};
constexpr unsigned char kSizes[] = {1, 2, 4, 4, 4, 2, 1, 2, 8, 8, 8};
static_assert(KILN_TYPE_FLOAT == 4 && sizeof(kSizes) == kTakesBuffer &&
              sizeof(kNames) / sizeof(kNames[0]) == kTakesSvm + 1);

// The vector widths of OpenCL C, as bits; 1 is a scalar.
constexpr unsigned kComponents = 1u << 1 | 1u << 2 | 1u << 3 | 1u << 4 | 1u << 8 | 1u << 16;

// Returns a type as text: "float4".
std::string text(unsigned type, unsigned components) {
  return components == 1 ? kNames[type] : concat({kNames[type], decimal(components)});
}

// A pipe, or a value of a type that OpenCL C does not define.
constexpr unsigned kTakesOther = kTakesSvm + 1;

// What a parameter takes.
struct Taken {
  unsigned type = 0;        // as for check_argument(), or kTakesOther
  unsigned components = 1;  // of a value
};

// A parameter of a kernel, with its texts.
struct KnownParameter {
  packs::ParameterRef ref;  // null: the pack does not know it
  std::string_view name;
  std::string_view type;
};

KnownParameter parameter_of(const Kernel &kernel, unsigned index) {
  const packs::ParameterRefs all = kernel.program->variant.kernels()[kernel.index].parameters();
  if (index >= all.size()) return {};
  const packs::Pack &pack = *kernel.program->loader->pack;
  const packs::ParameterRef ref = all[index];
  return {ref, packs::text_at(pack, ref.name()), packs::text_at(pack, ref.type())};
}

// Reads "float4".
bool read_type(std::string_view text, Taken *out) {
  const std::size_t end = text.find_first_of("0123456789");
  const std::string_view name = text.substr(0, end);
  const std::string_view digits = end == std::string_view::npos ? "1" : text.substr(end);
  if (digits.size() > 2) return false;
  out->components = 0;
  for (const char digit : digits) {
    if (digit < '0' || digit > '9') return false;
    out->components = 10 * out->components + static_cast<unsigned>(digit - '0');
  }
  if (out->components > 16 || (kComponents >> out->components & 1) == 0) return false;
  for (unsigned type = 0; type < kTakesBuffer; ++type) {
    out->type = type;
    if (name == kNames[type]) return true;
  }
  return false;
}

bool is_pipe(const KnownParameter &parameter) {
  return (parameter.ref.qualifiers() & packs::kPipe) != 0;
}

constexpr std::string_view kSampler = "sampler_t";

// Whether clSetKernelArg takes a pointer to an object of OpenCL.
bool is_handle(const KnownParameter &parameter) {
  return parameter.ref.address_space() != packs::AddressSpace::private_ || is_pipe(parameter) ||
         parameter.type == kSampler;
}

// Returns whether a parameter that takes the one takes the other: both are numbers of
// check_argument().
bool is_taken_as(unsigned given, unsigned takes) {
  return given == takes || (given == kTakesSvm && takes == kTakesBuffer);
}

// Returns whether the text is OpenCL C's name of an image, and not a typedef's.
bool names_image(std::string_view text) {
  return text.size() > 8 && text.substr(0, 5) == "image" && text[6] == 'd' &&
         text.substr(text.size() - 2) == "_t";
}

Taken taken_by(const KnownParameter &parameter) {
  Taken taken;
  if (parameter.ref.access() != packs::ImageAccess::none) {
    taken.type = kTakesImage;
  } else if (parameter.ref.address_space() == packs::AddressSpace::local) {
    taken.type = kTakesLocal;
  } else if (parameter.ref.address_space() != packs::AddressSpace::private_) {
    taken.type = kTakesBuffer;
  } else if (parameter.type == kSampler) {
    taken.type = kTakesSampler;
  } else if (!read_type(parameter.type, &taken)) {
    taken.type = kTakesOther;
  }
  // A pipe's text is the type of its packets.
  if (is_pipe(parameter)) taken.type = kTakesOther;
  return taken;
}

// Returns "global const float4* src", as far as it is known.
std::string declared(const KnownParameter &parameter) {
  std::string words;
  const auto space = static_cast<std::size_t>(parameter.ref.address_space());
  if (parameter.ref.access() != packs::ImageAccess::none) {
    const auto access = static_cast<std::size_t>(parameter.ref.access());
    words = concat({packs::kImageAccessNames[access], " "});
  } else if (parameter.ref.address_space() != packs::AddressSpace::private_) {
    words = concat({packs::kAddressSpaceNames[space], " "});
  }
  if ((parameter.ref.qualifiers() & packs::kConst) != 0) words += "const ";
  if (is_pipe(parameter)) words += "pipe ";
  const std::string_view type = parameter.type.empty() ? "value" : parameter.type;
  return concat({words, type, parameter.name.empty() ? "" : " ", parameter.name});
}

Status refuse(const Kernel &kernel, unsigned index, const KnownParameter &parameter,
              const std::string &given) {
  const packs::KernelRef known = kernel.program->variant.kernels()[kernel.index];
  const bool pipe = is_pipe(parameter);
  return Status::error(
      Code::bad_argument,
      {"kernel ", known.name(), ": argument ", decimal(index), ", ", declared(parameter),
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
    wanted = 1;
    switch (argument.role()) {
      case packs::Role::input:
      case packs::Role::output:
      case packs::Role::scratch:
        takes = packs::is_image(argument.storage())                   ? kTakesImage
                : argument.storage() == packs::ArgumentStorage::local ? kTakesLocal
                                                                      : kTakesBuffer;
        break;
      case packs::Role::sampler: takes = kTakesSampler; break;
      case packs::Role::parameter:  // its type 0 means uint
        takes = static_cast<unsigned>(argument.type());
        if (takes == 0) takes = KILN_TYPE_UINT;
        wanted = argument.channels();
        break;
      default: {  // a side of the problem size
        const bool integer = given == KILN_TYPE_INT || given == KILN_TYPE_UINT;
        takes = integer && components == 1 ? given : unsigned{kTakesSide};
      }
    }
  }
  if (is_taken_as(given, takes) && wanted == components) return {};
  return Status::error(Code::bad_argument,
                       {"argument ", decimal(index), " takes ", text(takes, wanted), ", not ",
                        text(given, components)});
}

// Returns the bytes of a value in an argument: a vector of 3 takes as many as one of 4.
std::size_t bytes_of(unsigned type, unsigned components) {
  return std::size_t{components == 3 ? 4 : components} * kSizes[type];
}

std::string size_text(const KnownParameter &parameter, std::size_t given, std::size_t wanted) {
  return concat({decimal(given), " bytes: it ", is_handle(parameter) ? "is a handle of " : "has ",
                 decimal(wanted)});
}

}  // namespace

Status check_argument(const Kernel &kernel, unsigned index, unsigned given, unsigned components) {
  const KnownParameter parameter = parameter_of(kernel, index);
  if (!parameter.ref) return check_listed(kernel, index, given, components);
  const Taken taken = taken_by(parameter);
  if (is_taken_as(given, taken.type) && (given >= kTakesBuffer || taken.components == components)) {
    return {};
  }
  // A typedef's name may stand for any type of the same size.
  if (taken.type == kTakesOther && !is_handle(parameter) && given < kTakesBuffer &&
      (parameter.ref.size() == 0 || parameter.ref.size() == bytes_of(given, components))) {
    return {};
  }
  // So may the name stand for a sampler.
  if (taken.type == kTakesOther && given == kTakesSampler && !is_handle(parameter) &&
      parameter.ref.size() == 0) {
    return {};
  }
  // A manifest may say that the value is a side of the problem, which is int or uint.
  if (is_side(given, components) && is_side(taken.type, taken.components) &&
      kernel.program->variant.arguments().size() != 0) {
    return check_listed(kernel, index, given, components);
  }
  return refuse(kernel, index, parameter, text(given, components));
}

Status check_memory(const Kernel &kernel, unsigned index, const std::string &image) {
  if (image.empty()) return check_argument(kernel, index, kTakesBuffer, 1);
  if (Status e = check_argument(kernel, index, kTakesImage, 1); !e.ok()) return e;
  const KnownParameter parameter = parameter_of(kernel, index);
  if (!names_image(parameter.type) || parameter.type == image) return {};
  return refuse(kernel, index, parameter, concat({"an ", image}));
}

Status check_bytes(const Kernel &kernel, unsigned index, std::size_t size) {
  const KnownParameter parameter = parameter_of(kernel, index);
  if (!parameter.ref) return {};
  if (is_pipe(parameter) || taken_by(parameter).type == kTakesLocal) {
    return refuse(kernel, index, parameter, concat({decimal(size), " bytes of a value"}));
  }
  const std::size_t wanted = is_handle(parameter) ? sizeof(cl_mem) : parameter.ref.size();
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
  if (type >= kTakesBuffer || components > 16 || (kComponents >> components & 1) == 0) {
    return Status::error(Code::bad_argument, "kiln_kernel_set_typed: no type of OpenCL C");
  }
  if (Status e = check_argument(*kernel, index, type, components); !e.ok()) return e;
  char bytes[16 * sizeof(cl_double)] = {};
  std::memcpy(bytes, value, components * kSizes[type]);
  if (components == 3) components = 4;  // OpenCL stores a vector of 3 as 4
  return set_argument(kernel, index, bytes, components * kSizes[type], false);
}

}  // namespace kiln::runtime
