// SPDX-License-Identifier: Apache-2.0
// Replaces what an identifier cannot have.
#include "builder/stubs/identifiers.hpp"

#include <algorithm>
#include <iterator>

namespace kiln::builder {
namespace {

// In ascending order.
constexpr std::string_view kReserved[] = {
    "EOF",           "NULL",        "alignas",      "alignof",
    "and",           "and_eq",      "asm",          "assert",
    "auto",          "bitand",      "bitor",        "bool",
    "break",         "case",        "catch",        "char",
    "char16_t",      "char32_t",    "char8_t",      "class",
    "co_await",      "co_return",   "co_yield",     "compl",
    "concept",       "const",       "const_cast",   "consteval",
    "constexpr",     "constinit",   "continue",     "decltype",
    "default",       "delete",      "do",           "double",
    "dynamic_cast",  "else",        "enum",         "errno",
    "explicit",      "export",      "extern",       "false",
    "far",           "float",       "for",          "friend",
    "goto",          "i386",        "if",           "inline",
    "int",           "interface",   "kiln",         "linux",
    "long",          "main",        "max",          "min",
    "mutable",       "namespace",   "near",         "new",
    "noexcept",      "not",         "not_eq",       "nullptr",
    "operator",      "or",          "or_eq",        "private",
    "protected",     "public",      "register",     "reinterpret_cast",
    "requires",      "restrict",    "return",       "short",
    "signed",        "sizeof",      "small",        "static",
    "static_assert", "static_cast", "std",          "stderr",
    "stdin",         "stdout",      "struct",       "switch",
    "template",      "this",        "thread_local", "throw",
    "true",          "try",         "typedef",      "typeid",
    "typename",      "union",       "unix",         "unsigned",
    "using",         "virtual",     "void",         "volatile",
    "wchar_t",       "while",       "xor",          "xor_eq"};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

bool is_reserved_word(std::string_view text) {
  return std::binary_search(std::begin(kReserved), std::end(kReserved), text);
}

std::string to_identifier(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const char fits = is_letter(c) || is_digit(c) ? c : '_';
    if (fits != '_' || (!out.empty() && out.back() != '_')) out += fits;
  }
  while (!out.empty() && out.back() == '_') out.pop_back();
  if (out.empty()) return "unnamed";
  if (is_digit(out[0])) out.insert(0, "n");
  // Types and constants of OpenCL and Kiln begin so.
  for (const char *start : {"cl_", "CL_", "kiln_", "KILN_"}) {
    if (out.starts_with(start)) return out + "_";
  }
  if (is_reserved_word(out)) out += "_";
  return out;
}

std::string Scope::add(std::string_view name) {
  const std::string first = to_identifier(name);
  std::string made = first;
  const char *between = first.back() == '_' ? "" : "_";
  for (int number = 2; !taken_.insert(made).second; ++number) {
    made = first + between + std::to_string(number);
  }
  return made;
}

}  // namespace kiln::builder
