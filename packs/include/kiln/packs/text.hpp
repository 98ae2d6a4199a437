// Work on text that is compiled once, where code size counts: `a + b + c` and a sort are each
// many times the code of a call.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace kiln::packs {

// The parts in one string.
std::string concat(std::initializer_list<std::string_view> parts);

std::string decimal(std::uint64_t value);

// By bytes.
void sort_names(std::vector<std::string_view> *names);

}  // namespace kiln::packs
