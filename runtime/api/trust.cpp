// SPDX-License-Identifier: Apache-2.0
// The C API: connecting required signatures to loaders.
#include "kiln/trust.h"

#include "runtime/api/api.hpp"
#include "runtime/api/options.hpp"
#include "runtime/trust/pack_trust.hpp"

using namespace kiln::runtime;

namespace {

Status read(const kiln_trust &given, kiln_trust *out) {
  const char *wrong = read_options(&given, sizeof(*out), out);
  return wrong == nullptr ? Status() : Status::error(Code::bad_argument, {"kiln_trust: ", wrong});
}

Status take(const kiln_trust &given, Loader *loader) {
  kiln_trust trust = {};
  if (Status s = read(given, &trust); !s.ok()) return s;
  return trust.policy == KILN_TRUST_NONE ? Status() : take_trust(trust, loader);
}

Status accept(const kiln_trust &given, std::shared_ptr<const kiln::packs::Pack> *pack) {
  kiln_trust trust = {};
  if (Status s = read(given, &trust); !s.ok()) return s;
  if (trust.policy == KILN_TRUST_NONE) return Status::error(Code::untrusted, "no key is named");
  return accept_pack(trust, pack);
}

}  // namespace

void kiln_loader_use_trust(kiln_loader_options *options, const kiln_trust *trust) {
  static constexpr kiln_trust_part kTrust{take, accept};
  if (options == nullptr) return;
  options->trust = trust;
  options->trust_part = trust == nullptr ? nullptr : &kTrust;
}
