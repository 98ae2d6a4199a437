// SPDX-License-Identifier: Apache-2.0
// The C API of recorded programs' names.
#include <cstring>

#include <unistd.h>

#include "kiln/recorded.h"
#include "runtime/api/api.hpp"
#include "runtime/source/driver_variables.hpp"
#include "runtime/source/whole_program.hpp"

using kiln::packs::Code;
using kiln::packs::Status;
using kiln::runtime::report_error;

kiln_status kiln_recorded_name(const char *source, size_t size, const char *options, char *name,
                               size_t room, kiln_error *error) {
  KILN_REQUIRE(source != nullptr && options != nullptr && name != nullptr, error);
  if (room < KILN_RECORDED_NAME_SIZE) {
    return report_error(Status::error(Code::bad_argument, {__func__, ": no room for a name"}),
                        error);
  }
  // The driver is not known here.
  const std::string_view variable = kiln::source::changing_variable("", environ);
  if (!variable.empty()) {
    return report_error(Status::error(Code::not_in_pack, {variable, " is set"}), error);
  }
  const auto whole = kiln::source::whole_program({source, size}, options);
  if (!whole.ok()) {
    return report_error(Status::error(Code::not_in_pack, {whole.status().message}), error);
  }
  std::memcpy(name, whole->name.c_str(), KILN_RECORDED_NAME_SIZE);
  return KILN_OK;
}
