// SPDX-License-Identifier: Apache-2.0
// Opens what the shared folder has, and keeps what one of the settings' keys signed.
#include "runtime/layer/serve/signed_packs.hpp"

#include "runtime/layer/base/settings.hpp"
#include "runtime/overlay/shared_folder.hpp"

#ifdef KILN_LAYER_SIGNATURES
#include "kiln/signed.h"
#include "runtime/api/api.hpp"
#endif

namespace kiln::layer {
namespace {

using Packs = std::vector<std::shared_ptr<const packs::Pack>>;

#ifdef KILN_LAYER_SIGNATURES
Packs open_trusted() {
  std::vector<const char *> keys;
  for (const std::string &key : settings().keys) keys.push_back(key.c_str());
  kiln_trust trust = {};
  trust.size = sizeof(trust);
  trust.policy = KILN_TRUST_REQUIRE;
  trust.keys = keys.data();
  trust.key_count = keys.size();
  trust.functions = kiln_signatures();
  kiln_loader_options options = {};
  kiln_loader_use_trust(&options, &trust);
  Packs trusted;
  for (auto &pack : runtime::open_others(settings().shared.c_str())) {
    const packs::Status status = options.trust_part->accept(trust, &pack);
    if (status.ok()) trusted.push_back(std::move(pack));
    if (status.code == packs::Code::bad_argument) complain_once("KILN_KEYS: " + status.message);
    if (status.code == packs::Code::untrusted) {
      complain_once("KILN_SHARED: another user's pack is not used: " + status.message);
    }
  }
  return trusted;
}
#else
Packs open_trusted() {
  complain_once("KILN_KEYS: this layer was built without libsodium and checks no signatures");
  return {};
}
#endif

}  // namespace

const Packs &signed_packs() {
  static const Packs &opened =
      *new Packs(settings().shared.empty() || settings().keys.empty() ? Packs() : open_trusted());
  return opened;
}

}  // namespace kiln::layer
