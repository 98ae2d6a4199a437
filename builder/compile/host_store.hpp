// SPDX-License-Identifier: Apache-2.0
// What the host step made of a variant, in the store of finished jobs: a variant whose text,
// options and compilers have not changed is not compiled again.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "builder/base/builder_status.hpp"
#include "builder/compile/toolchain.hpp"
#include "builder/store/store.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

// Number that is raised whenever the host step makes other answers from the same inputs.
inline constexpr int kHostStepVersion = 1;

struct HostAnswer {
  packs::Variant variant;             // with kernels and IL; without hash and source
  std::vector<std::string> warnings;  // ready to print
  Status without_il;                  // why the variant has no IL, if that is no failure; else ok
};

// Returns what decides what the tools do: path, size, time and number of each file of the tools,
// their shared libraries and clang's headers. Empty if a tool is a script, which may start
// anything.
std::string tools_identity(const Toolchain &toolchain);

// Not safe to use from several threads at once. As with Store, children are forked before.
class HostStore {
 public:
  // Without a file, nothing is found or kept; nor if the tools cannot be told apart.
  HostStore(const std::string &file, const Toolchain &toolchain);

  // Returns why the file was not used, or is no longer used. Success if no file was asked for.
  Status status() const { return store_ ? store_->status() : opened_; }

  // Returns the action of compiling a variant. `inputs` has everything that decides the answer but
  // the tools.
  Action action_of(const nlohmann::json &inputs) const;

  // Returns the answer for `record`, the variant as the manifest has it.
  std::optional<HostAnswer> find(const Action &action, const packs::Variant &record);
  void put(const Action &action, const HostAnswer &answer, std::chrono::milliseconds time);

 private:
  std::string tools_;
  Status opened_;
  std::optional<Store> store_;
};

}  // namespace kiln::builder
