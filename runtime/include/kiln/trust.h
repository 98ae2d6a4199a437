/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 * Required signatures of a loader's pack. */
#ifndef KILN_TRUST_H
#define KILN_TRUST_H

#include "kiln/kiln.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Treatment of a pack that is not signed as kiln_trust requires. */
typedef enum kiln_trust_policy {
  KILN_TRUST_NONE = 0, /**< Signatures are not checked. */
  KILN_TRUST_WARN = 1, /**< The pack is used; a notice and each report's notes say what is wrong. */
  KILN_TRUST_REQUIRE = 2 /**< Creating the loader fails with #KILN_ERROR_UNTRUSTED. */
} kiln_trust_policy;

/** Required signatures; see the struct below. */
typedef struct kiln_trust kiln_trust;

/** A pack's root with its signatures, and the result of checking them. */
typedef struct kiln_signed_root {
  uint32_t version;  /**< Version in the superblock. */
  uint32_t incompat; /**< Field `incompat` of the superblock. */
  const void *root;  /**< The root's bytes. */
  size_t root_size;  /**< Size of `root`. */
  /** The bytes from the root's end to the pack's end if the pack says that it has signatures; only
   * their beginning if they are too long. */
  const void *behind;
  size_t behind_size; /**< Size of `behind`; 0: the pack is not signed. */
  uint64_t keys;      /**< Result: a number that stands for the required keys. */
  char message[512];  /**< Result: why the pack is not trusted, truncated if longer. */
} kiln_signed_root;

/** Cryptography for loaders that require signatures. It is not in the runtime itself;
 * kiln_signatures() of signed.h returns it. */
typedef struct kiln_signature_functions {
  size_t size; /**< sizeof(kiln_signature_functions) */
  /** Writes the BLAKE2b-256 of `size` bytes, which has 32 bytes, to `digest`. */
  void (*blake2b)(const void *data, size_t size, unsigned char *digest);
  /** Checks the root. Returns #KILN_OK, #KILN_ERROR_UNTRUSTED, or #KILN_ERROR_ARGUMENT if `trust`
   * breaks a rule. */
  kiln_status (*judge)(const kiln_trust *trust, kiln_signed_root *root);
} kiln_signature_functions;

/** Required signatures of a loader's pack. Start from zeros with `size` set to sizeof(kiln_trust).
 * A pack is trusted if `threshold` different keys of these signed its root, each with revision
 * `smallest_revision` or a later one. The parts of the pack are then compared with the BLAKE2b-256
 * hashes that the root names: sections when they are first used, and blobs before their bytes reach
 * the driver. A loader that requires signatures finds in the overlay only binaries that such a
 * loader with the same keys stored there. docs/operate/signing.md has more. */
struct kiln_trust {
  size_t size;              /**< sizeof(kiln_trust) */
  kiln_trust_policy policy; /**< An unknown policy is #KILN_ERROR_ARGUMENT. */
  /** Number of different keys that must have signed; 0 is as 1. A library from before this field
   * refuses another value than 0 with #KILN_ERROR_ARGUMENT. */
  uint32_t threshold;
  /** Public keys: the text of the file that minisign writes, or its second line. */
  const char *const *keys;
  size_t key_count;                          /**< Number of `keys`; 0 trusts nothing. */
  uint64_t smallest_revision;                /**< Minimum revision; 0: any. */
  const kiln_signature_functions *functions; /**< kiln_signatures(); not copied. */
};

/** Makes the loaders that are created with `options` require signatures. Sets `trust` and
 * `trust_part`; a program that does not call this function links no code for signatures.
 * @param options options to set; NULL does nothing.
 * @param trust the required signatures. The struct and its keys are needed until
 * kiln_loader_create() returns, its `functions` for as long as the loader and its programs live.
 * NULL: none are required. */
KILN_API void kiln_loader_use_trust(kiln_loader_options *options, const kiln_trust *trust);

#ifdef __cplusplus
}
#endif

#endif /* KILN_TRUST_H */
