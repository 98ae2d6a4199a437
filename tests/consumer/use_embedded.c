/* SPDX-License-Identifier: Apache-2.0 */
/* An executable with its pack inside: it must be the file that is named, byte for byte. */
#include <kiln/kiln.h>
#include <stdio.h>
#include <string.h>

#include "add_one.h"

static int same_as_file(const char *path) {
  static unsigned char bytes[1 << 16];
  FILE *file = fopen(path, "rb");
  const size_t size = file == NULL ? 0 : fread(bytes, 1, sizeof(bytes), file);
  if (file != NULL) fclose(file);
  return size == add_one_size && memcmp(bytes, add_one_data, size) == 0;
}

int main(int argc, char **argv) {
  kiln_error error = {KILN_OK, 0, ""};
  kiln_pack *pack = NULL;
  if (kiln_pack_open_memory(add_one_data, add_one_size, &pack, &error) != KILN_OK) {
    printf("fault: %s\n", error.message);
    return 1;
  }
  kiln_pack_release(pack);
  if ((uintptr_t)add_one_data % 64 != 0) return puts("fault: not aligned"), 1;
  if (argc != 2 || !same_as_file(argv[1])) return puts("fault: not the pack"), 1;
  puts("OK");
  return 0;
}
