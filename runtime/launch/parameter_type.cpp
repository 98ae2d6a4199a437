// SPDX-License-Identifier: Apache-2.0
// Reads OpenCL C's names of types.
#include "runtime/launch/parameter_type.hpp"

#include "kiln/packs/text.hpp"

namespace kiln::runtime {
namespace {

using packs::concat;
using packs::decimal;

// Indexed by kiln_type, whose values are the numbers of FORMAT.md; then by kTakesBuffer and those
// after it.
constexpr char kNames[][15] = {
    "uchar",    "ushort",       "uint",        "int",       "float",         "half",
    "char",     "short",        "long",        "ulong",     "double",        "a buffer",
    "an image", "local memory", "int or uint", "a sampler", "an SVM pointer"};
constexpr unsigned char kSizes[] = {1, 2, 4, 4, 4, 2, 1, 2, 8, 8, 8};
static_assert(KILN_TYPE_FLOAT == 4 && sizeof(kSizes) == kTakesBuffer &&
              sizeof(kNames) / sizeof(kNames[0]) == kTakesSvm + 1);

// The vector widths of OpenCL C, as bits; 1 is a scalar.
constexpr unsigned kComponents = 1u << 1 | 1u << 2 | 1u << 3 | 1u << 4 | 1u << 8 | 1u << 16;

constexpr std::string_view kSampler = "sampler_t";

// Returns whether the text is OpenCL C's name of an image, and not a typedef's.
bool names_image(std::string_view text) {
  return text.size() > 8 && text.substr(0, 5) == "image" && text[6] == 'd' &&
         text.substr(text.size() - 2) == "_t";
}

// Returns the bytes of a value in an argument: a vector of 3 takes as many as one of 4.
std::size_t bytes_of(unsigned type, unsigned components) {
  return std::size_t{components == 3 ? 4 : components} * kSizes[type];
}

}  // namespace

bool read_value_type(std::string_view text, Taken *out) {
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

std::string type_text(unsigned type, unsigned components) {
  return components == 1 ? kNames[type] : concat({kNames[type], decimal(components)});
}

std::size_t component_size(unsigned type) { return kSizes[type]; }

bool is_vector_width(unsigned components) {
  return components <= 16 && (kComponents >> components & 1) != 0;
}

bool is_pipe(const KnownParameter &parameter) { return (parameter.qualifiers & packs::kPipe) != 0; }

bool is_handle(const KnownParameter &parameter) {
  return parameter.address_space != packs::AddressSpace::private_ || is_pipe(parameter) ||
         parameter.type == kSampler;
}

bool is_taken_as(unsigned given, unsigned takes) {
  return given == takes || (given == kTakesSvm && takes == kTakesBuffer);
}

Taken taken_by(const KnownParameter &parameter) {
  Taken taken;
  if (parameter.access != packs::ImageAccess::none) {
    taken.type = kTakesImage;
  } else if (parameter.address_space == packs::AddressSpace::local) {
    taken.type = kTakesLocal;
  } else if (parameter.address_space != packs::AddressSpace::private_) {
    taken.type = kTakesBuffer;
  } else if (parameter.type == kSampler) {
    taken.type = kTakesSampler;
  } else if (!read_value_type(parameter.type, &taken)) {
    taken.type = kTakesOther;
  }
  // A pipe's text is the type of its packets.
  if (is_pipe(parameter)) taken.type = kTakesOther;
  return taken;
}

Taken taken_by(packs::Role role, packs::ArgumentStorage storage, packs::ElementType type,
               unsigned channels) {
  switch (role) {
    case packs::Role::input:
    case packs::Role::output:
    case packs::Role::scratch:
      if (packs::is_image(storage)) return {kTakesImage, 1};
      return {storage == packs::ArgumentStorage::local ? kTakesLocal : kTakesBuffer, 1};
    case packs::Role::sampler: return {kTakesSampler, 1};
    case packs::Role::parameter:  // its type 0 means uint
      return {type == packs::ElementType::uchar_ ? unsigned{KILN_TYPE_UINT}
                                                 : static_cast<unsigned>(type),
              channels};
    case packs::Role::width:
    case packs::Role::height:
    case packs::Role::depth: break;
  }
  return {kTakesSide, 1};
}

bool fits(const KnownParameter &parameter, unsigned given, unsigned components) {
  const Taken taken = taken_by(parameter);
  if (is_taken_as(given, taken.type) && (given >= kTakesBuffer || taken.components == components)) {
    return true;
  }
  if (taken.type != kTakesOther || is_handle(parameter)) return false;
  if (given == kTakesSampler) return parameter.size == 0;
  return given < kTakesBuffer &&
         (parameter.size == 0 || parameter.size == bytes_of(given, components));
}

bool takes_image(const KnownParameter &parameter, std::string_view image) {
  return !names_image(parameter.type) || parameter.type == image;
}

std::string declared_text(const KnownParameter &parameter) {
  std::string words;
  const auto space = static_cast<std::size_t>(parameter.address_space);
  if (parameter.access != packs::ImageAccess::none) {
    const auto access = static_cast<std::size_t>(parameter.access);
    words = concat({packs::kImageAccessNames[access], " "});
  } else if (parameter.address_space != packs::AddressSpace::private_) {
    words = concat({packs::kAddressSpaceNames[space], " "});
  }
  if ((parameter.qualifiers & packs::kConst) != 0) words += "const ";
  if (is_pipe(parameter)) words += "pipe ";
  const std::string_view type = parameter.type.empty() ? "value" : parameter.type;
  return concat({words, type, parameter.name.empty() ? "" : " ", parameter.name});
}

}  // namespace kiln::runtime
