/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 * Checks signatures of packs for loaders that demand them. A library of its own (kiln::signed) with
 * what it needs of libsodium, so that an application that demands none carries none of it. */
#ifndef KILN_SIGNED_H
#define KILN_SIGNED_H

#include "kiln/trust.h"

#ifdef __cplusplus
extern "C" {
#endif

/** For kiln_trust.functions: Ed25519 and BLAKE2b by libsodium. Static; never NULL. */
const kiln_signature_functions *kiln_signatures(void);

#ifdef __cplusplus
}
#endif

#endif /* KILN_SIGNED_H */
