// The C++ references by the names that manifests use.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "image.hpp"

namespace kiln::builder {

// Values of a variant's parameters by name.
using Parameters = std::map<std::string, std::int64_t>;

std::vector<std::string> reference_names();

// The reference's output planes for `input`, which must have the reference's number of
// channels (laplace 3, sobel and epsilon 1). Empty where no such reference exists.
std::vector<Image> run_reference(const std::string &name, const Image &input,
                                 const Parameters &parameters);

// The most by which a level may differ from the reference: 1 for epsilon's image variants,
// where CASE_STUDIES allows it, else 0.
unsigned reference_tolerance(const std::string &name, bool image_variant);

}  // namespace kiln::builder
