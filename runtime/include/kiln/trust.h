/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 * A loader's demand that its pack be signed. */
#ifndef KILN_TRUST_H
#define KILN_TRUST_H

#include "kiln/kiln.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What becomes of a pack that is not signed as kiln_trust demands. */
typedef enum kiln_trust_policy {
  KILN_TRUST_NONE = 0,   /**< Nothing is looked at. */
  KILN_TRUST_WARN = 1,   /**< It is used; a notice and each report's notes say what is wrong. */
  KILN_TRUST_REQUIRE = 2 /**< #KILN_ERROR_UNTRUSTED instead of a loader. */
} kiln_trust_policy;

/** See below. */
typedef struct kiln_trust kiln_trust;

/** A pack's root with its signatures, and what was judged of them. */
typedef struct kiln_signed_root {
  uint32_t version;   /**< Of the superblock. */
  uint32_t incompat;  /**< Of the superblock. */
  const void *root;   /**< The root's bytes. */
  size_t root_size;   /**< Of `root`. */
  const void *behind; /**< What stands from the root's end to the pack's end, in a pack that says
                         that it has signatures; the beginning of it, where that is too long. */
  size_t behind_size; /**< Of `behind`; 0: the pack is not signed. */
  uint64_t keys;      /**< Result: a number that stands for the keys of the demand. */
  char message[512];  /**< Result: why it is not trusted, cut where it is longer. */
} kiln_signed_root;

/** Cryptography for loaders that demand signatures, which the runtime itself does without:
 * kiln_signatures() of signed.h gives it. */
typedef struct kiln_signature_functions {
  size_t size; /**< sizeof(kiln_signature_functions) */
  /** Writes the 32 bytes of the BLAKE2b-256 of `size` bytes. */
  void (*blake2b)(const void *data, size_t size, unsigned char *digest);
  /** #KILN_OK, #KILN_ERROR_UNTRUSTED, or #KILN_ERROR_ARGUMENT for a demand that breaks a rule. */
  kiln_status (*judge)(const kiln_trust *trust, kiln_signed_root *root);
} kiln_signature_functions;

/** Whose packs a loader takes. Start from zeros with `size` set to sizeof(kiln_trust). A pack is
 * trusted if one of the keys signed its root, as `smallest_revision` or a later one; what the root
 * names is compared with its BLAKE2b-256 then, sections when they are first used and blobs before
 * their bytes reach the driver. A loader that requires signatures finds in the overlay only what
 * such a loader with the same keys stored there. docs/signing.md has more. */
struct kiln_trust {
  size_t size;              /**< sizeof(kiln_trust) */
  kiln_trust_policy policy; /**< An unknown one is #KILN_ERROR_ARGUMENT. */
  uint32_t reserved;        /**< Zero, else #KILN_ERROR_ARGUMENT. */
  /** Public keys: the text of the file that minisign writes, or its second line. */
  const char *const *keys;
  size_t key_count;                          /**< Of `keys`; 0 trusts nothing. */
  uint64_t smallest_revision;                /**< 0: any. */
  const kiln_signature_functions *functions; /**< kiln_signatures(); not copied. */
};

/** Makes the loaders that are created with `options` demand signatures. Sets `trust` and
 * `trust_part`; a program that does not call this links no code of it.
 * @param options options to set; NULL does nothing.
 * @param trust needed, with its keys, until kiln_loader_create() returns, and its `functions` for
 * as long as the loader and its programs; NULL: no demand. */
KILN_API void kiln_loader_use_trust(kiln_loader_options *options, const kiln_trust *trust);

#ifdef __cplusplus
}
#endif

#endif /* KILN_TRUST_H */
