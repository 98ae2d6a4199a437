// The C++ references by the names that manifests use.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "image.hpp"

namespace kiln::builder {

// Values of a variant's parameters by name.
using Parameters = std::map<std::string, std::int64_t>;

// What a reference takes and gives: 8-bit channels of every image, output planes.
struct ReferenceShape {
  std::uint32_t channels = 1;
  std::size_t planes = 1;
};

std::vector<std::string> reference_names();

// Nothing where no such reference exists.
std::optional<ReferenceShape> reference_shape(const std::string &name);

// The reference's output planes for `input`. Empty where no such reference exists, or where
// `input` does not have its number of channels.
std::vector<Image> run_reference(const std::string &name, const Image &input,
                                 const Parameters &parameters);

// The most by which a level may differ from the reference: 1 for epsilon's image variants,
// where CASE_STUDIES allows it, else 0.
unsigned reference_tolerance(const std::string &name, bool image_variant);

}  // namespace kiln::builder
