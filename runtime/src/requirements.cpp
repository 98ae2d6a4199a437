#include "requirements.hpp"

#include <algorithm>

#include "kiln/packs/text.hpp"

namespace kiln::runtime {
namespace {

using packs::concat;

struct Feature {
  bool Capabilities::*has;
  char requirement[20];
  char lack[28];
};

constexpr Feature kFeatures[] = {
    {&Capabilities::images, "images", "images"},
    {&Capabilities::fp16, "fp16", "half-precision arithmetic"},
    {&Capabilities::fp64, "fp64", "double-precision arithmetic"},
    {&Capabilities::subgroups, "subgroups", "sub-groups"},
    {&Capabilities::integer_dot_product, "integer_dot_product", "integer dot products"},
    {&Capabilities::unified_memory, "unified_memory", "memory shared with the host"},
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

// N of "work_group:N", a number of at most nine digits from 1; 0 where it is none.
std::size_t work_group_of(const std::string &requirement) {
  const auto digits = argument(requirement, "work_group:");
  if (!digits || digits->size() > 9) return 0;
  std::size_t items = 0;
  for (const char c : *digits) {
    if (c < '0' || c > '9' || (c == '0' && items == 0)) return 0;
    items = 10 * items + static_cast<std::size_t>(c - '0');
  }
  return items;
}

std::optional<std::string> missing_one(const std::string &requirement, const Capabilities &device) {
  if (const Feature *feature = find_feature(requirement)) {
    if (device.*feature->has) return std::nullopt;
    return concat({"needs ", feature->lack});
  }
  if (const auto extension = argument(requirement, "extension:")) {
    if (device.has_extension(*extension)) return std::nullopt;
    return concat({"needs the extension ", *extension});
  }
  if (const auto profile = argument(requirement, "vendor:")) {
    if (device.profile == *profile) return std::nullopt;
    return concat(
        {"needs a device of the profile ", *profile, ", and this one is ", device.profile});
  }
  if (const std::size_t items = work_group_of(requirement)) {
    if (device.max_work_group_size >= items) return std::nullopt;
    return concat({"needs work-groups of ", packs::decimal(items), " work-items"});
  }
  return concat({"needs \"", requirement, "\", which this version does not know"});
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
         argument(requirement, "vendor:") || work_group_of(requirement) != 0;
}

}  // namespace kiln::runtime
