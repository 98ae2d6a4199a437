// SPDX-License-Identifier: Apache-2.0
// Finds what a variant should require where clang refuses it on a device that has no more than it
// does require.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kiln::builder {

// Clang's messages on a device with these requirements; none where the program compiles.
using CompileWith =
    std::function<std::optional<std::string>(const std::vector<std::string> &requirements)>;

// The requirements to add to `met` so that a program compiles whose messages these are; none of
// them can be left out. Taken from the names of built-ins and extensions in the messages, then from
// the extensions that the source asks about. Empty if none help. Calls `compile` some times.
std::vector<std::string> missing_requirements(const std::vector<std::string> &met,
                                              std::string_view messages, std::string_view source,
                                              const CompileWith &compile);

}  // namespace kiln::builder
