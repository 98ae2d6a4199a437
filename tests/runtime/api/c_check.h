/* SPDX-License-Identifier: Apache-2.0 */
/* Checks for tests that are C: a failed one is printed and counted, and the test goes on. */
#ifndef KILN_TESTS_C_CHECK_H
#define KILN_TESTS_C_CHECK_H

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "kiln/kiln.h"

static int checks_made;
static int checks_failed;

static void check(int holds, const char *file, int line, const char *text) {
  ++checks_made;
  if (holds) return;
  ++checks_failed;
  fprintf(stderr, "%s:%d: failed: %s\n", file, line, text);
}

#define CHECK(condition) check((condition) ? 1 : 0, __FILE__, __LINE__, #condition)

static void check_failure(kiln_status got, kiln_status expected, const kiln_error *error,
                          const char *part, const char *file, int line, const char *call) {
  const int agrees = got == expected && error->status == expected && error->message[0] != '\0' &&
                     strstr(error->message, part) != NULL;
  check(agrees, file, line, call);
  if (agrees) return;
  fprintf(stderr, "  status %d, in the error %d, expected %d with \"%s\" in the message: %s\n",
          (int)got, (int)error->status, (int)expected, part, error->message);
}

/* The call, which fills the kiln_error `e`, fails with that status and a message that has
 * `part` in it. */
#define FAILS(call, expected, part)                                             \
  do {                                                                          \
    kiln_status fails_status;                                                   \
    memset(&e, 0, sizeof(e));                                                   \
    fails_status = (call);                                                      \
    check_failure(fails_status, expected, &e, part, __FILE__, __LINE__, #call); \
  } while (0)

/* An argument breaks a rule of the function. */
#define REFUSED(call, part) FAILS(call, KILN_ERROR_ARGUMENT, part)

#define SUCCEEDS(call)                                             \
  do {                                                             \
    memset(&e, 0, sizeof(e));                                      \
    CHECK((call) == KILN_OK);                                      \
    if (e.status != KILN_OK) fprintf(stderr, "  %s\n", e.message); \
  } while (0)

/* Handles that are not NULL, for arguments that come after the one that is. Never read. */
#if defined(__GNUC__)
__attribute__((unused))
#endif
static union {
  max_align_t align;
  char bytes[64];
} dummy;
#define SOME(type) ((type *)(void *)&dummy)

static int finish(void) {
  printf("%d checks, %d failed\n", checks_made, checks_failed);
  return checks_failed == 0 ? 0 : 1;
}

#endif
