#include "reference.hpp"

#include "epsilon/epsilon_reference.hpp"
#include "laplace/laplace_reference.hpp"
#include "sobel/sobel_reference.hpp"

namespace kiln::builder {
namespace {

Image blank(const Image &like, std::string name) {
  return {like.width, like.height, like.channels, std::move(name),
          std::vector<std::uint8_t>(like.pixels.size())};
}

}  // namespace

std::vector<std::string> reference_names() { return {"epsilon", "laplace", "sobel"}; }

std::optional<ReferenceShape> reference_shape(const std::string &name) {
  if (name == "laplace") return ReferenceShape{3, 1};
  if (name == "sobel") return ReferenceShape{1, 2};
  if (name == "epsilon") return ReferenceShape{1, 1};
  return std::nullopt;
}

std::vector<Image> run_reference(const std::string &name, const Image &input,
                                 const Parameters &parameters) {
  const auto shape = reference_shape(name);
  if (!shape || shape->channels != input.channels) return {};
  const std::uint8_t *source = input.pixels.data();
  std::vector<Image> planes;
  if (name == "laplace") {
    planes = {blank(input, "")};
    reference::laplace(source, planes[0].pixels.data(), input.width, input.height);
  } else if (name == "sobel") {
    planes = {blank(input, "x"), blank(input, "y")};
    reference::sobel(source, planes[0].pixels.data(), planes[1].pixels.data(), input.width,
                     input.height);
  } else if (name == "epsilon") {
    planes = {blank(input, "")};
    const auto threshold = parameters.find("threshold");
    reference::epsilon(
        source, planes[0].pixels.data(), input.width, input.height,
        threshold == parameters.end() ? 0 : static_cast<unsigned>(threshold->second));
  }
  return planes;
}

unsigned reference_tolerance(const std::string &name, bool image_variant) {
  return name == "epsilon" && image_variant ? 1 : 0;
}

}  // namespace kiln::builder
