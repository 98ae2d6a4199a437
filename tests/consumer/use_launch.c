/* SPDX-License-Identifier: Apache-2.0 */
/* Sequences and imports beside the runtime, through the installed libraries. No device is needed.
 */
#include <kiln/import.h>
#include <kiln/sequence.h>

#include <stdio.h>

int main(int argc, char **argv) {
  kiln_error error = {KILN_OK, 0, ""};
  kiln_pack *pack = NULL;
  kiln_sequence *sequence = NULL;
  kiln_image *image = NULL;
  if (argc != 2 || kiln_pack_open_file(argv[1], &pack, &error) != KILN_OK) {
    printf("fault: %s\n", error.message);
    return 1;
  }
  kiln_pack_release(pack);
  if (kiln_sequence_begin(NULL, &sequence, &error) != KILN_ERROR_ARGUMENT ||
      kiln_image_from_buffer(NULL, NULL, &image, &error) != KILN_ERROR_ARGUMENT) {
    puts("fault: NULL was taken");
    return 1;
  }
  puts("OK");
  return 0;
}
