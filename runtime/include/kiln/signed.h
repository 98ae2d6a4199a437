/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 * Checks signatures of packs for loaders that require them. This is a library of its own
 * (kiln::signed) that contains the needed parts of libsodium, so that an application without
 * signatures contains none of them. */
#ifndef KILN_SIGNED_H
#define KILN_SIGNED_H

#include "kiln/trust.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Returns the functions for kiln_trust.functions: Ed25519 and BLAKE2b by libsodium. Static; never
 * NULL. */
const kiln_signature_functions *kiln_signatures(void);

#ifdef __cplusplus
}
#endif

#endif /* KILN_SIGNED_H */
