// SPDX-License-Identifier: Apache-2.0
// The caches in which applications keep binaries of their own OpenCL programs, as folders that can
// be written and read. docs/caches.md says of each from which source its format was taken.
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

// A program as a pack has it, which is as its application gives it to a driver but for two things:
// directives `#line` stand where the text of files begins, and -I is not in the options.
struct CachedProgram {
  std::string source;
  std::string options;
};

// The application's own text. Fails with Code::requirement where the text of included files is in
// the source: how they were included is then not known.
Result<std::string> own_text(const std::string &source);

// One application's cache in one folder. Not thread-safe.
//
// A device is known by the facts of its identity. Where one that the format is made of is absent,
// calls fail with Code::requirement.
class ApplicationCache {
 public:
  ApplicationCache() = default;
  ApplicationCache(const ApplicationCache &) = delete;
  ApplicationCache &operator=(const ApplicationCache &) = delete;
  virtual ~ApplicationCache() = default;

  // Puts the binary where the application will look for it, in place of one that is there, and
  // gives the file's name below the folder. Fails with Code::requirement where the application
  // would not find it, with Code::bad_input where a file that it would have to be added to is not
  // of this format, else with Code::io_error or Code::no_space.
  virtual Result<std::string> store(const CachedProgram &program, const runtime::Facts &device,
                                    packs::View binary, const std::string &build_log) = 0;

  // The binary that the application would take. Fails with Code::not_found where it would compile,
  // and with Code::bad_input for a file that is not of this format. Nothing else was checked: what
  // is in the binary is up to whoever could write to the folder.
  virtual Result<packs::Bytes> find(const CachedProgram &program, const runtime::Facts &device) = 0;
};

// What the formats share.

// The whole file. Fails with Code::not_found, Code::io_error, or Code::bad_input for one of more
// than 1 GiB, which no application wrote.
Result<packs::Bytes> read_cache_file(const std::string &path);

// Writes the file as a whole, with the folders that lead to it. Fails with Code::io_error or
// Code::no_space.
Status write_cache_file(const std::string &path, std::string_view bytes);

inline std::string_view text_of(packs::View bytes) {
  return {reinterpret_cast<const char *>(bytes.data), bytes.size};
}

// Little-endian.
void append_u32(std::uint32_t value, std::string *out);

// The names of a folder's entries, sorted; empty if the folder does not exist.
std::vector<std::string> names_in(const std::string &folder);

// Whether the text is `count` lower-case hexadecimal digits.
bool is_hex(std::string_view text, std::size_t count);

// The values of fields, in the order given. Fails with Code::requirement for one that is absent,
// which would be in the application's key.
Result<std::vector<std::string>> device_strings(const runtime::Facts &device,
                                                std::initializer_list<runtime::Field> fields);

// Digests by which applications name what they cache, of no use against anyone who means harm: MD5
// in lower-case hexadecimal, and the CRC of 64 bits with the polynomial of ECMA-182, reflected, all
// bits set at the start and inverted at the end.
std::string md5_hex(std::string_view text);
std::uint64_t crc64(std::string_view text);

}  // namespace kiln::builder
