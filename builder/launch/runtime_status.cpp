// SPDX-License-Identifier: Apache-2.0
// The codes of the C interface, each as the one of packs that says the same.
#include "builder/launch/runtime_status.hpp"

namespace kiln::builder {
namespace {

Code code_of(kiln_status status) {
  switch (status) {
    case KILN_OK: return Code::ok;
    case KILN_ERROR_ARGUMENT: return Code::bad_argument;
    case KILN_ERROR_NO_OPENCL: return Code::no_opencl;
    case KILN_ERROR_NO_DEVICE: return Code::no_device;
    case KILN_ERROR_OPENCL: return Code::opencl;
    case KILN_ERROR_PACK_NOT_FOUND: return Code::not_found;
    case KILN_ERROR_PACK_IO: return Code::io_error;
    case KILN_ERROR_PACK_BAD: return Code::root_malformed;
    case KILN_ERROR_PACK_NEWER: return Code::newer_version;
    case KILN_ERROR_NOT_IN_PACK: return Code::not_in_pack;
    case KILN_ERROR_REQUIREMENT: return Code::requirement;
    case KILN_ERROR_NO_RUNG: return Code::no_rung;
    case KILN_ERROR_UNTRUSTED: return Code::untrusted;
  }
  return Code::failed;
}

}  // namespace

Status status_of(const kiln_error &error) {
  if (error.status == KILN_OK) return {};
  return {code_of(error.status), error.cl_error, error.message};
}

}  // namespace kiln::builder
