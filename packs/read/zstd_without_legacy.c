/* SPDX-License-Identifier: Apache-2.0
 * Replaces zstd's decoders for the formats 0.5 to 0.7, a third of the static library's decoder,
 * where Kiln links zstd into a shared library or a program of its own: the reader refuses these
 * formats by their first bytes. libkiln_packs does not contain this file, since an application that
 * links zstd itself may want the decoders. */
#include <stddef.h>
#include <zstd.h>
#include <zstd_errors.h>

#define UNSUPPORTED ((size_t) - (int)ZSTD_error_version_unsupported)
#define KILN_NO_ZSTD(version)                                                                     \
  void ZSTDv##version##_findFrameSizeInfoLegacy(const void *src, size_t size, size_t *compressed, \
                                                unsigned long long *decompressed) {               \
    (void)src, (void)size;                                                                        \
    *compressed = UNSUPPORTED;                                                                    \
    *decompressed = ZSTD_CONTENTSIZE_ERROR;                                                       \
  }                                                                                               \
  /* No context can be made, so nothing decodes. */                                               \
  void *ZSTDv##version##_createDCtx(void) { return NULL; }                                        \
  size_t ZSTDv##version##_freeDCtx(void *context) { return (void)context, 0; }                    \
  size_t ZSTDv##version##_getFrameParams(void *params, const void *src, size_t size) {            \
    return (void)params, (void)src, (void)size, UNSUPPORTED;                                      \
  }                                                                                               \
  size_t ZSTDv##version##_decompress_usingDict(void *context, void *out, size_t capacity,         \
                                               const void *src, size_t size, const void *dict,    \
                                               size_t dict_size) {                                \
    (void)context, (void)out, (void)capacity, (void)src, (void)size, (void)dict, (void)dict_size; \
    return UNSUPPORTED;                                                                           \
  }                                                                                               \
  void *ZBUFFv##version##_createDCtx(void) { return NULL; }                                       \
  size_t ZBUFFv##version##_freeDCtx(void *context) { return (void)context, 0; }                   \
  size_t ZBUFFv##version##_decompressInitDictionary(void *context, const void *dict,              \
                                                    size_t size) {                                \
    return (void)context, (void)dict, (void)size, UNSUPPORTED;                                    \
  }                                                                                               \
  size_t ZBUFFv##version##_decompressContinue(void *context, void *out, size_t *capacity,         \
                                              const void *src, size_t *size) {                    \
    return (void)context, (void)out, (void)capacity, (void)src, (void)size, UNSUPPORTED;          \
  }

#pragma GCC diagnostic ignored "-Wmissing-prototypes"
KILN_NO_ZSTD(05)
KILN_NO_ZSTD(06)
KILN_NO_ZSTD(07)
