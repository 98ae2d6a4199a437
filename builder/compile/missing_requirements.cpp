// SPDX-License-Identifier: Apache-2.0
// Adds the requirements that may declare what clang does not know, until it compiles, and takes
// away what was not needed.
#include "builder/compile/missing_requirements.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "builder/compile/host_extensions.hpp"

namespace kiln::builder {
namespace {

constexpr std::size_t kMaxRounds = 4;      // of compilations that each add something
constexpr std::size_t kMaxExtensions = 8;  // that a source asks about

bool is_of_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// The words of a text that may be identifiers, each once, in their order.
std::vector<std::string_view> names_in(std::string_view text) {
  std::vector<std::string_view> names;
  std::set<std::string_view> seen;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_of_name(text[end])) ++end;
    const std::string_view name = text.substr(at, end - at);
    if (!name.empty() && seen.insert(name).second) names.push_back(name);
    at = end + 1;
  }
  return names;
}

bool is_extension(std::string_view name) {
  constexpr std::array<std::string_view, 8> kVendors = {"khr", "ext",   "amd", "arm",
                                                        "img", "intel", "nv",  "qcom"};
  if (!name.starts_with("cl_")) return false;
  const std::string_view vendor = name.substr(3, name.substr(3).find('_'));
  return name.size() > 4 + vendor.size() &&
         std::find(kVendors.begin(), kVendors.end(), vendor) != kVendors.end();
}

// The lines of errors, without the source that clang shows below them.
std::string errors_in(std::string_view messages) {
  std::string errors;
  while (!messages.empty()) {
    const std::string_view line = messages.substr(0, messages.find('\n'));
    messages.remove_prefix(std::min(line.size() + 1, messages.size()));
    const std::size_t at = line.find(" error: ");
    if (at != std::string_view::npos) errors.append(line.substr(at)).push_back('\n');
  }
  return errors;
}

class Search {
 public:
  Search(const std::vector<std::string> &met, const CompileWith &compile)
      : met_(met), compile_(compile) {}

  std::vector<std::string> run(std::string messages, std::string_view source) {
    std::optional<std::string> left = std::move(messages);
    for (std::size_t round = 0; left && round < kMaxRounds && add_for(*left); ++round) {
      left = compiled();
    }
    if (left && add_asked_about(source)) left = compiled();
    if (left) return {};
    drop_needless();
    return added_;
  }

 private:
  bool add(std::string requirement) {
    const auto has = [&](const std::vector<std::string> &list) {
      return std::find(list.begin(), list.end(), requirement) != list.end();
    };
    if (has(met_) || has(added_)) return false;
    added_.push_back(std::move(requirement));
    return true;
  }

  // The likeliest of each name that is not there yet. Whether there was any.
  bool add_for(std::string_view messages) {
    bool any = false;
    const std::string errors = errors_in(messages);
    for (const std::string_view name : names_in(errors)) {
      if (is_extension(name)) any |= add(requirement_of_extension(name));
      for (std::string &requirement : requirements_of_name(name)) {
        if (!add(std::move(requirement))) continue;
        any = true;
        break;
      }
    }
    return any;
  }

  bool add_asked_about(std::string_view source) {
    std::size_t count = 0;
    for (const std::string_view name : names_in(source)) {
      if (is_extension(name) && add(requirement_of_extension(name)) && ++count == kMaxExtensions)
        break;
    }
    return count != 0;
  }

  std::optional<std::string> compiled() const {
    std::vector<std::string> all = met_;
    all.insert(all.end(), added_.begin(), added_.end());
    return compile_(all);
  }

  void drop_needless() {
    for (std::size_t i = added_.size(); i-- > 0 && added_.size() > 1;) {
      const std::string dropped = added_[i];
      const auto place = added_.begin() + static_cast<std::ptrdiff_t>(i);
      added_.erase(place);
      if (compiled()) added_.insert(added_.begin() + static_cast<std::ptrdiff_t>(i), dropped);
    }
  }

  const std::vector<std::string> &met_;
  const CompileWith &compile_;
  std::vector<std::string> added_;
};

}  // namespace

std::vector<std::string> missing_requirements(const std::vector<std::string> &met,
                                              std::string_view messages, std::string_view source,
                                              const CompileWith &compile) {
  auto found = Search(met, compile).run(std::string(messages), source);
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace kiln::builder
