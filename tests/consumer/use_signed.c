/* SPDX-License-Identifier: Apache-2.0 */
/* The functions for demands of signatures, through the installed library. */
#include <kiln/signed.h>

#include <stdio.h>

int main(void) {
  const kiln_signature_functions *functions = kiln_signatures();
  unsigned char digest[32];
  functions->blake2b("abc", 3, digest);
  puts(functions->size == sizeof(*functions) && digest[0] == 0xbd ? "OK" : "fault");
  return 0;
}
