/* SPDX-License-Identifier: Apache-2.0
 * The smallest use of the runtime: opens a pack, loads a program and prints the report. */
#include <stdio.h>

#include <kiln/kiln.h>

int main(int argc, char **argv) {
  kiln_opencl *opencl = NULL;
  kiln_device *device = NULL;
  kiln_pack *pack = NULL;
  kiln_loader *loader = NULL;
  kiln_program *program = NULL;
  kiln_report *report = NULL;
  kiln_error error = {KILN_OK, 0, ""};
  const int failed = argc != 3 || kiln_opencl_open(NULL, 0, &opencl, &error) != KILN_OK ||
                     kiln_device_open(opencl, 0, &device, &error) != KILN_OK ||
                     kiln_pack_open_file(argv[1], &pack, &error) != KILN_OK ||
                     kiln_loader_create(device, pack, NULL, &loader, &error) != KILN_OK ||
                     kiln_load(loader, argv[2], NULL, 0, &program, &report, &error) != KILN_OK;
  puts(failed ? error.message : kiln_report_json(report));
  kiln_report_release(report);
  kiln_program_release(program);
  kiln_loader_release(loader);
  kiln_pack_release(pack);
  kiln_device_release(device);
  kiln_opencl_release(opencl);
  return failed;
}
