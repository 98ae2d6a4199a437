// SPDX-License-Identifier: Apache-2.0
// Caches in which applications keep binaries of their own OpenCL programs, as folders that Kiln
// reads and writes. docs/use/caches.md names the source from which each format was taken.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "kiln/packs/bytes.hpp"
#include "runtime/identity/identity.hpp"

namespace kiln::builder {

// A program as a pack holds it. The text that the application gives to a driver differs in two
// ways: it has no `#line` directives where the text of a file begins, and its options have -I.
struct CachedProgram {
  std::string source;
  std::string options;
};

// Returns the text that the application wrote. Fails with Code::requirement if the source contains
// the text of included files: how the application included them is then not known.
Result<std::string> own_text(const std::string &source);

// One application's cache in one folder. Not thread-safe.
//
// A device is known by the facts of its identity. Calls fail with Code::requirement if a fact that
// the format uses is absent.
class ApplicationCache {
 public:
  ApplicationCache() = default;
  ApplicationCache(const ApplicationCache &) = delete;
  ApplicationCache &operator=(const ApplicationCache &) = delete;
  virtual ~ApplicationCache() = default;

  // Stores the binary where the application will look for it, replaces an older one, and returns
  // the name of the file below the folder. Fails with Code::requirement if the application would
  // not find the binary, with Code::bad_input if the binary belongs in an existing file that is not
  // of this format, else with Code::io_error or Code::no_space.
  virtual Result<std::string> store(const CachedProgram &program, const runtime::Facts &device,
                                    packs::View binary, const std::string &build_log) = 0;

  // Returns the binary that the application would take. Fails with Code::not_found if the
  // application would compile, and with Code::bad_input for a file that is not of this format.
  // Checks nothing else: whoever can write to the folder decides what the binary contains.
  virtual Result<packs::Bytes> find(const CachedProgram &program, const runtime::Facts &device) = 0;
};

// Helpers that the formats share.

// Reads a whole file. Fails with Code::not_found, Code::io_error, or Code::bad_input for a file of
// more than 1 GiB, which no application wrote.
Result<packs::Bytes> read_cache_file(const std::string &path);

// Replaces the whole file in one step, and makes the folders that lead to it. Fails with
// Code::io_error or Code::no_space.
Status write_cache_file(const std::string &path, std::string_view bytes);

inline std::string_view text_of(packs::View bytes) {
  return {reinterpret_cast<const char *>(bytes.data), bytes.size};
}

// Appends the number in little-endian order.
void append_u32(std::uint32_t value, std::string *out);

// Returns the names of a folder's entries, sorted; empty if the folder does not exist.
std::vector<std::string> names_in(const std::string &folder);

// Whether the text is `count` lower-case hexadecimal digits.
bool is_hex(std::string_view text, std::size_t count);

// Returns the values of the fields, in the order given. Fails with Code::requirement if one is
// absent, since it would be part of the application's key.
Result<std::vector<std::string>> device_strings(const runtime::Facts &device,
                                                std::initializer_list<runtime::Field> fields);

// Digests by which applications name cached files; they give no protection against an attacker.
// md5_hex() returns lower-case hexadecimal digits. crc64() is the 64-bit CRC with the polynomial of
// ECMA-182, reflected: all bits are set at the start and inverted at the end.
std::string md5_hex(std::string_view text);
std::uint64_t crc64(std::string_view text);

}  // namespace kiln::builder
