// SPDX-License-Identifier: Apache-2.0
// Compares two outputs of clang's preprocessor token by token. Pure; safe to use from any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kiln::builder {

// A token with its place according to the preprocessor's line markers. Holds views into the output.
struct PlacedToken {
  // Empty at the end of the output; a line end at the end of a #pragma.
  std::string_view text;
  std::string_view file;  // as in the marker, with its escapes
  std::size_t line = 0;

  std::string place() const;  // "FILE:LINE"
};

// Reads the output of `clang -E -dI` token by token. White space and line markers are not tokens; a
// #pragma is, up to the end of its line.
class TokenReader {
 public:
  explicit TokenReader(std::string_view output) : text_(output) {}

  PlacedToken next();
  // The #include directives before the last token, whether or not clang opened the files.
  const std::vector<PlacedToken> &includes() const { return includes_; }

 private:
  bool skip_directive();
  std::size_t token_size() const;

  std::string_view text_;
  std::size_t at_ = 0;
  bool is_line_start_ = true;
  bool in_pragma_ = false;
  PlacedToken place_;  // without a text
  std::vector<PlacedToken> includes_;
};

// The first two tokens that differ.
struct TokenDifference {
  PlacedToken one, other;
};
std::optional<TokenDifference> first_difference(TokenReader *one, TokenReader *other);

}  // namespace kiln::builder
