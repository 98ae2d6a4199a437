// SPDX-License-Identifier: Apache-2.0
// The names of codes, and members that are compiled once instead of at every use.
#include "kiln/packs/status.hpp"

namespace kiln::packs {

const char *code_name(Code code) {
  switch (code) {
    case Code::ok: return "ok";
    case Code::not_found: return "not_found";
    case Code::io_error: return "io_error";
    case Code::no_space: return "no_space";
    case Code::empty: return "empty";
    case Code::truncated: return "truncated";
    case Code::bad_magic: return "bad_magic";
    case Code::bad_superblock: return "bad_superblock";
    case Code::newer_version: return "newer_version";
    case Code::unknown_feature: return "unknown_feature";
    case Code::reserved_not_zero: return "reserved_not_zero";
    case Code::out_of_bounds: return "out_of_bounds";
    case Code::over_limit: return "over_limit";
    case Code::root_corrupt: return "root_corrupt";
    case Code::root_malformed: return "root_malformed";
    case Code::section_corrupt: return "section_corrupt";
    case Code::section_malformed: return "section_malformed";
    case Code::blob_corrupt: return "blob_corrupt";
    case Code::signature_corrupt: return "signature_corrupt";
    case Code::untrusted: return "untrusted";
    case Code::bad_argument: return "bad_argument";
    case Code::conflict: return "conflict";
    case Code::no_opencl: return "no_opencl";
    case Code::no_device: return "no_device";
    case Code::opencl: return "opencl";
    case Code::not_in_pack: return "not_in_pack";
    case Code::requirement: return "requirement";
    case Code::no_rung: return "no_rung";
    case Code::bad_input: return "bad_input";
    case Code::process: return "process";
    case Code::wrong_results: return "wrong_results";
    case Code::failed: return "failed";
  }
  return "unknown";
}

#define KILN_OUT_OF_LINE __attribute__((noinline))

KILN_OUT_OF_LINE Status::Status() = default;
KILN_OUT_OF_LINE Status::Status(Code what, std::string text)
    : code(what), message(std::move(text)) {}
KILN_OUT_OF_LINE Status::Status(Code what, int cl_code, std::string text)
    : code(what), cl_error(cl_code), message(std::move(text)) {}
KILN_OUT_OF_LINE Status::Status(const Status &other) = default;
KILN_OUT_OF_LINE Status::Status(Status &&other) noexcept = default;
KILN_OUT_OF_LINE Status &Status::operator=(const Status &other) = default;
KILN_OUT_OF_LINE Status &Status::operator=(Status &&other) noexcept = default;
KILN_OUT_OF_LINE Status::~Status() = default;

KILN_OUT_OF_LINE Status Status::error(Code code, std::string_view message) {
  return {code, std::string(message)};
}

Status Status::error(Code code, std::initializer_list<std::string_view> parts) {
  return {code, concat(parts)};
}

}  // namespace kiln::packs
