#include "kiln/packs/status.hpp"

namespace kiln::packs {

const char *fault_name(Fault fault) {
  switch (fault) {
    case Fault::none: return "none";
    case Fault::not_found: return "not_found";
    case Fault::io_error: return "io_error";
    case Fault::no_space: return "no_space";
    case Fault::empty: return "empty";
    case Fault::truncated: return "truncated";
    case Fault::bad_magic: return "bad_magic";
    case Fault::bad_superblock: return "bad_superblock";
    case Fault::newer_version: return "newer_version";
    case Fault::unknown_feature: return "unknown_feature";
    case Fault::reserved_not_zero: return "reserved_not_zero";
    case Fault::out_of_bounds: return "out_of_bounds";
    case Fault::over_limit: return "over_limit";
    case Fault::root_corrupt: return "root_corrupt";
    case Fault::root_malformed: return "root_malformed";
    case Fault::section_corrupt: return "section_corrupt";
    case Fault::section_malformed: return "section_malformed";
    case Fault::blob_corrupt: return "blob_corrupt";
    case Fault::bad_argument: return "bad_argument";
    case Fault::conflict: return "conflict";
  }
  return "unknown";
}

#define KILN_OUT_OF_LINE __attribute__((noinline))

KILN_OUT_OF_LINE Status::Status() = default;
KILN_OUT_OF_LINE Status::Status(Fault what, std::string text)
    : fault(what), message(std::move(text)) {}
KILN_OUT_OF_LINE Status::Status(const Status &other) = default;
KILN_OUT_OF_LINE Status::Status(Status &&other) noexcept = default;
KILN_OUT_OF_LINE Status &Status::operator=(Status &&other) noexcept = default;
KILN_OUT_OF_LINE Status::~Status() = default;

Status Status::error(Fault fault, std::string_view message) {
  return {fault, std::string(message)};
}

Status Status::error(Fault fault, std::initializer_list<std::string_view> parts) {
  return {fault, concat(parts)};
}

}  // namespace kiln::packs
