// SPDX-License-Identifier: Apache-2.0
// Build options, and all combinations of them. As in toml_reader.hpp, faults are thrown.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "builder/manifest/toml_reader.hpp"

namespace kiln::builder {

// The array `options` of a table, joined by spaces.
std::string read_options(const TableReader &table);

struct OptionChoice {
  std::string name;     // values of what there is a choice of, joined by '-'; empty: of nothing
  std::string options;  // joined by spaces
};

// The combinations of the table `options` of `table`, in the order of its keys: a key is a macro,
// or an option if it begins with '-'; its value is one value or an array of them. A string or an
// integer follows behind "=", true is the option alone, false is to be without it. Or `options` is
// an array of strings, which is one choice without a name, as its absence is.
std::vector<OptionChoice> read_option_matrix(const ManifestText &document,
                                             const TableReader &table);

// Options with which Mali's compiler makes one work-item of several, and what they demand of a
// launch: what is merged by -fkernel-vectorizer=DIMENSIONFACTOR and
// -fkernel-unroller=DIMENSIONFACTOR.
struct MergedItems {
  std::string option{};                          // the first of them; empty: none is there
  std::array<std::uint32_t, 3> factor{1, 1, 1};  // work-items in each dimension
};

// Of a variant's options, joined by spaces. Fails with Code::bad_input, in two lines of which the
// second says what is expected, for an option without a dimension (x, y or z) and a factor (2, 4, 8
// or 16): without them it is the compiler who chooses, and no launch can be held to that.
Result<MergedItems> merged_items(std::string_view options);

// "4x2", as the requirement range_multiple has it.
std::string multiple_text(const std::array<std::uint32_t, 3> &factor);

}  // namespace kiln::builder
