#include "requirements.hpp"

#include <algorithm>

namespace kiln::runtime {
namespace {

struct Feature {
  const char *requirement;
  bool Capabilities::*has;
  const char *lack;
};

constexpr Feature kFeatures[] = {
    {"images", &Capabilities::images, "needs images"},
    {"fp16", &Capabilities::fp16, "needs half-precision arithmetic"},
    {"fp64", &Capabilities::fp64, "needs double-precision arithmetic"},
    {"subgroups", &Capabilities::subgroups, "needs sub-groups"},
    {"integer_dot_product", &Capabilities::integer_dot_product, "needs integer dot products"},
    {"unified_memory", &Capabilities::unified_memory, "needs memory shared with the host"},
};

const Feature *find_feature(const std::string &requirement) {
  for (const Feature &feature : kFeatures) {
    if (requirement == feature.requirement) return &feature;
  }
  return nullptr;
}

// What follows the prefix, if the text starts with it and more follows.
std::optional<std::string> argument(const std::string &text, const char *prefix) {
  const std::size_t size = std::char_traits<char>::length(prefix);
  if (text.size() <= size || text.compare(0, size, prefix) != 0) return std::nullopt;
  return text.substr(size);
}

std::optional<std::string> missing_one(const std::string &requirement, const Capabilities &device) {
  if (const Feature *feature = find_feature(requirement)) {
    if (device.*feature->has) return std::nullopt;
    return feature->lack;
  }
  if (const auto extension = argument(requirement, "extension:")) {
    if (device.has_extension(*extension)) return std::nullopt;
    return "needs the extension " + *extension;
  }
  if (const auto profile = argument(requirement, "vendor:")) {
    if (device.profile == *profile) return std::nullopt;
    return "needs a device of the profile " + *profile + ", and this one is " + device.profile;
  }
  return "needs \"" + requirement + "\", which this version does not know";
}

}  // namespace

bool Capabilities::has_extension(std::string_view name) const {
  return std::binary_search(extensions.begin(), extensions.end(), name);
}

std::optional<std::string> missing_requirement(const std::vector<std::string> &requirements,
                                               const Capabilities &device) {
  for (const std::string &requirement : requirements) {
    if (auto missing = missing_one(requirement, device)) return missing;
  }
  return std::nullopt;
}

bool is_known_requirement(const std::string &requirement) {
  return find_feature(requirement) != nullptr || argument(requirement, "extension:") ||
         argument(requirement, "vendor:");
}

}  // namespace kiln::runtime
