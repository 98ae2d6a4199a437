#include "kiln/packs/text.hpp"

#include <algorithm>

namespace kiln::packs {

std::string concat(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text.append(part);
  return text;
}

std::string decimal(std::uint64_t value) {
  char digits[20];
  char *begin = digits + sizeof(digits);
  do {
    *--begin = static_cast<char>('0' + value % 10);
    value /= 10;
  } while (value != 0);
  return std::string(begin, digits + sizeof(digits));
}

void sort_names(std::vector<std::string_view> *names) { std::sort(names->begin(), names->end()); }

}  // namespace kiln::packs
