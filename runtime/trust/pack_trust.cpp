// SPDX-License-Identifier: Apache-2.0
// Gives a pack's root and signatures to the functions that check them.
#include "runtime/trust/pack_trust.hpp"

#include <algorithm>
#include <utility>

#include "kiln/packs/signatures.hpp"

namespace kiln::runtime {

bool PackTrust::accepts(packs::View bytes, const packs::Digest &name) const {
  packs::Digest digest;
  functions_.blake2b(bytes.data, bytes.size, digest.data());
  if (digest == name) return true;
  if (!required_) forged_ = true;
  return !required_;
}

Status PackTrust::judge(const packs::Pack &pack, const kiln_trust &trust, packs::Bytes *scratch) {
  const packs::Superblock &superblock = pack.superblock();
  const packs::View root = pack.root_bytes();
  // A longer block is refused, so the rest need not be read.
  const std::uint64_t size =
      std::min<std::uint64_t>(packs::size_behind_root(superblock), 2 * packs::kMaxSignatureBlock);
  packs::View behind;
  Status status = pack.bytes_at(superblock.root_offset + root.size, size, scratch, &behind);
  if (!status.ok()) return status;
  kiln_signed_root judged = {superblock.version, superblock.incompat, root.data, root.size,
                             behind.data,        behind.size,         0,         ""};
  const kiln_status verdict = functions_.judge(&trust, &judged);
  if (required_) number_ = judged.keys;
  if (verdict == KILN_OK) return status;
  const Code code = verdict == KILN_ERROR_ARGUMENT ? Code::bad_argument : Code::untrusted;
  status = Status::error(code, judged.message);
  if (!required_ && code == Code::untrusted) std::swap(fault_, status);
  return status;
}

Status PackTrust::distrust() const {
  if (!fault_.ok() || !forged_) return fault_;
  return Status::error(Code::untrusted,
                       "a part of the pack does not have the BLAKE2b hash that names it");
}

namespace {

// Opens the pack again, checked by `*out`, and judges its root.
Status open_judged(const kiln_trust &trust, std::shared_ptr<const packs::Pack> *pack,
                   packs::Bytes *scratch, std::shared_ptr<const Trust> *out) {
  const kiln_signature_functions *const functions = trust.functions;
  if (functions == nullptr || functions->size < sizeof(*functions)) {
    return Status::error(Code::bad_argument,
                         "kiln_trust: functions is not what kiln_signatures() gives");
  }
  auto made = std::make_shared<PackTrust>(*functions, trust.policy != KILN_TRUST_WARN);
  Status status = (*pack)->open_again(made, pack);
  if (status.ok()) status = made->judge(**pack, trust, scratch);
  *out = std::move(made);
  return status;
}

}  // namespace

Status accept_pack(const kiln_trust &trust, std::shared_ptr<const packs::Pack> *pack) {
  kiln_trust required = trust;
  required.policy = KILN_TRUST_REQUIRE;
  required.smallest_revision = 0;
  packs::Bytes scratch;
  std::shared_ptr<const Trust> ignored;
  return open_judged(required, pack, &scratch, &ignored);
}

Status take_trust(const kiln_trust &trust, Loader *loader) {
  return open_judged(trust, &loader->pack, &loader->scratch, &loader->trust);
}

}  // namespace kiln::runtime
