// SPDX-License-Identifier: Apache-2.0
// The C API: connecting required signatures to loaders.
#include "kiln/trust.h"

#include "runtime/api/api.hpp"
#include "runtime/api/options.hpp"
#include "runtime/trust/pack_trust.hpp"

using namespace kiln::runtime;

namespace {

Status take(const kiln_trust &given, Loader *loader) {
  kiln_trust trust = {};
  if (const char *wrong = read_options(&given, sizeof(trust), &trust); wrong != nullptr) {
    return Status::error(Code::bad_argument, {"kiln_trust: ", wrong});
  }
  return trust.policy == KILN_TRUST_NONE ? Status() : take_trust(trust, loader);
}

}  // namespace

void kiln_loader_use_trust(kiln_loader_options *options, const kiln_trust *trust) {
  static constexpr kiln_trust_part kTrust{take};
  if (options == nullptr) return;
  options->trust = trust;
  options->trust_part = trust == nullptr ? nullptr : &kTrust;
}
