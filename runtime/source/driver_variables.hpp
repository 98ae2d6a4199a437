// SPDX-License-Identifier: Apache-2.0
// Environment variables that change what a driver compiles, by which a program is no longer what
// its text and options say.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace kiln::source {

// Returns the name of the first variable that may change what a driver of this profile compiles;
// empty if there is none. `environment` is as `environ`, which is null after glibc's clearenv();
// the view points into it. A variable counts by its prefix, known to Kiln or not, unless it is
// known to change nothing. A profile without rules of its own, such as "generic" and "", has those
// of all profiles. Intel's driver takes names without a prefix, and a file in the current folder,
// if NEOReadDebugKeys is set; pure but for this file.
std::string_view variable_that_changes_code(std::string_view profile,
                                            const char *const *environment);

// The variables that a process had set at some times. Drivers read most of theirs when they start,
// and the application may remove them afterwards; others, such as POCL_EXTRA_BUILD_FLAGS, are read
// for each build. Not thread-safe.
class SeenVariables {
 public:
  // Looks at the variables of all drivers.
  void see(const char *const *environment);
  // Looks at those of this profile's driver, and returns variable_that_changes_code() of the first
  // environment that has one. The view lives as long as this object.
  std::string_view found(std::string_view profile, const char *const *environment);

 private:
  std::map<std::string, std::string, std::less<>> names_;  // by profile
};

}  // namespace kiln::source
