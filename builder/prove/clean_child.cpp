// SPDX-License-Identifier: Apache-2.0
// Replaces the process, and keeps what it was given.
#include "builder/prove/clean_child.hpp"

#include <algorithm>
#include <filesystem>

#include <unistd.h>

namespace kiln::builder {
namespace {

constexpr std::size_t kMaxOrders = 64;  // per process

bool should_be_replaced(const ServingChild &child, const CallLimits &limits) {
  return child.answers() >= kMaxOrders ||
         (limits.memory > 0 && child.resident() > limits.memory / 2);
}

}  // namespace

CleanChild::CleanChild(ServingChild::Work work, std::string folder, std::string name,
                       std::size_t output_kept)
    : child_(std::move(work), output_kept), folder_(std::move(folder)), name_(std::move(name)) {}

// Whether a different variant with the same build options and a kernel of the same name was given.
bool CleanChild::has_twin(const packs::Variant &variant) const {
  return std::any_of(variant.kernels.begin(), variant.kernels.end(),
                     [&](const packs::Kernel &kernel) {
                       const auto given = given_.find({variant.options, kernel.name});
                       return given != given_.end() && given->second != variant.hash;
                     });
}

void CleanChild::begin() {
  given_.clear();
  std::error_code ignored;
  if (!caches_.empty()) std::filesystem::remove_all(caches_, ignored);
  caches_ =
      folder_ + "/" + name_ + "-" + std::to_string(getpid()) + "-" + std::to_string(++started_);
  std::filesystem::remove_all(caches_, ignored);  // left by a process with the same number
}

ChildResult CleanChild::call(const packs::Variant &variant, nlohmann::json order,
                             const CallLimits &limits) {
  if (should_be_replaced(child_, limits) || has_twin(variant)) child_.end();
  if (child_.answers() == 0) begin();
  for (const packs::Kernel &kernel : variant.kernels) {
    given_.insert_or_assign({variant.options, kernel.name}, variant.hash);
  }
  order["caches"] = caches_;
  return child_.call(order, limits);
}

}  // namespace kiln::builder
