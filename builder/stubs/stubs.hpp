// SPDX-License-Identifier: Apache-2.0
// The kernels of a pack as a header: in C++ classes with typed calls, in C names and indices. Pure.
#pragma once

#include <string>

#include "builder/base/builder_status.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

enum class StubLanguage { c, cpp };

struct StubRequest {
  StubLanguage language = StubLanguage::cpp;
  std::string name = "kernels";  // the outer namespace in C++, the prefix of all names in C
};

// Returns the header's text, which depends on the arguments alone. A kernel without known
// parameters, or whose parameters differ between variants, is left out, with a comment that says
// why. Fails with Code::bad_argument if the name is no identifier, and with Code::not_in_pack if no
// kernel remains. `contents` are the pack's.
Result<std::string> make_stubs(const packs::Pack &pack, const packs::Contents &contents,
                               const StubRequest &request);

// Returns whether the text is an identifier of C and C++, and no keyword of theirs.
bool is_identifier(const std::string &text);

}  // namespace kiln::builder
