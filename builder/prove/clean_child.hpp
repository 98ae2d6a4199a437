// SPDX-License-Identifier: Apache-2.0
// A serving child that compiles or launches each variant as a process of its own would.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "builder/process/serving_child.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

// Each process begins with empty caches of the driver. It is replaced before it has done or holds
// too much, and before it gets a variant that the driver may take for an earlier one: PoCL takes
// texts as one if only lines with #line differ, and then the second one's first launch finds the
// code of the first one, which an application's process would have to compile.
class CleanChild {
 public:
  // `folder` must exist, for the driver's caches; the caller removes leftover files. `name` is of
  // the caches in it. See ServingChild for `work`, its orders have "caches", and for what the
  // caller must not have done.
  CleanChild(ServingChild::Work work, std::string folder, std::string name,
             std::size_t output_kept = ServingChild::kOutputKept);

  // Calls with an order about the variant.
  ChildResult call(const packs::Variant &variant, nlohmann::json order, const CallLimits &limits);
  // As ServingChild's.
  std::size_t answers() const { return child_.answers(); }
  void end() { child_.end(); }

 private:
  bool has_twin(const packs::Variant &variant) const;
  void begin();

  ServingChild child_;
  std::string folder_, name_;
  std::size_t started_ = 0;  // number of processes
  std::string caches_;       // of the running process
  // What the running process was given, by build options and kernel.
  std::map<std::pair<std::string, std::string>, packs::Digest> given_;
};

}  // namespace kiln::builder
