// SPDX-License-Identifier: Apache-2.0
// Compares the type that the caller names with the pack's, and words the difference.
#include "runtime/launch/typed_argument.hpp"

#include <cstring>

#include "kiln/packs/argument.hpp"

namespace kiln::runtime {
namespace {

// In the order of kiln_type, whose first six are the numbers of FORMAT.md, and what follows it.
constexpr char kNames[][12] = {"uchar",  "ushort",   "uint",     "int",        "float",
                               "half",   "char",     "short",    "long",       "ulong",
                               "double", "a buffer", "an image", "int or uint"};
constexpr unsigned char kSizes[] = {1, 2, 4, 4, 4, 2, 1, 2, 8, 8, 8};
static_assert(KILN_TYPE_FLOAT == 4 && sizeof(kSizes) == kTakesBuffer &&
              sizeof(kNames) / sizeof(kNames[0]) == kTakesSide + 1);

// The numbers of components that OpenCL C has, as bits.
constexpr unsigned kComponents = 1u << 1 | 1u << 2 | 1u << 3 | 1u << 4 | 1u << 8 | 1u << 16;

// "float4"
std::string text(unsigned type, unsigned components) {
  return components == 1 ? kNames[type] : concat({kNames[type], decimal(components)});
}

}  // namespace

Status check_argument(const Kernel &kernel, unsigned index, unsigned given, unsigned components) {
  unsigned takes = given;  // unless the pack knows
  unsigned wanted = components;
  unsigned before = index;
  for (const packs::ArgumentRef argument : kernel.program->variant.arguments()) {
    if (argument.stage() != kernel.index || before-- != 0) continue;
    wanted = 1;
    switch (argument.role()) {
      case packs::Role::input:
      case packs::Role::output:
      case packs::Role::scratch:
        takes = kTakesBuffer + static_cast<unsigned>(argument.storage());
        break;
      case packs::Role::parameter:  // whose type 0 means uint
        takes = static_cast<unsigned>(argument.type());
        if (takes == 0) takes = KILN_TYPE_UINT;
        wanted = argument.channels();
        break;
      default: {  // a side of the problem
        const bool integer = given == KILN_TYPE_INT || given == KILN_TYPE_UINT;
        takes = integer && components == 1 ? given : unsigned{kTakesSide};
      }
    }
  }
  if (takes == given && wanted == components) return {};
  return Status::error(Code::bad_argument,
                       {"argument ", decimal(index), " takes ", text(takes, wanted), ", not ",
                        text(given, components)});
}

Status set_typed(Kernel *kernel, unsigned index, unsigned type, unsigned components,
                 const void *value) {
  if (type >= kTakesBuffer || components > 16 || (kComponents >> components & 1) == 0) {
    return Status::error(Code::bad_argument, "kiln_kernel_set_typed: no type of OpenCL C");
  }
  if (Status e = check_argument(*kernel, index, type, components); !e.ok()) return e;
  char bytes[16 * sizeof(cl_double)] = {};
  std::memcpy(bytes, value, components * kSizes[type]);
  if (components == 3) components = 4;  // as the device lays it out
  return set_argument(kernel, index, bytes, components * kSizes[type], false);
}

}  // namespace kiln::runtime
