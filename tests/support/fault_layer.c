/* An OpenCL layer (OPENCL_LAYERS) that makes a driver misbehave where a kernel's source
 * asks for it. A source with one of these words in it does that in clBuildProgram, and a
 * binary that ends with one of them in clCreateProgramWithBinary:
 *
 *   kiln_test_segv   SIGSEGV            kiln_test_abort  abort()
 *   kiln_test_exit   exit code 1        kiln_test_hang   never returns
 *   kiln_test_lie    reports success without having built; of a binary, has what stands before
 *                    the word instead of what was given, as after a silent recompilation
 */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <CL/cl_icd.h>
#include <CL/cl_layer.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct _cl_icd_dispatch dispatch;
static const struct _cl_icd_dispatch *target;

static void obey(const char *source, int *lie) {
  if (strstr(source, "kiln_test_segv") != NULL) *(volatile int *)NULL = 0;
  if (strstr(source, "kiln_test_abort") != NULL) abort();
  if (strstr(source, "kiln_test_exit") != NULL) _exit(1);
  *lie = strstr(source, "kiln_test_lie") != NULL;
  while (strstr(source, "kiln_test_hang") != NULL) pause();
}

static cl_int CL_API_CALL build_program(cl_program program, cl_uint count,
                                        const cl_device_id *devices, const char *options,
                                        void(CL_CALLBACK *notify)(cl_program, void *), void *data) {
  size_t size = 0;
  int lie = 0;
  if (target->clGetProgramInfo(program, CL_PROGRAM_SOURCE, 0, NULL, &size) == CL_SUCCESS &&
      size > 0) {
    char *source = malloc(size);
    if (source != NULL &&
        target->clGetProgramInfo(program, CL_PROGRAM_SOURCE, size, source, NULL) == CL_SUCCESS) {
      obey(source, &lie);
    }
    free(source);
  }
  if (lie) return CL_SUCCESS;
  return target->clBuildProgram(program, count, devices, options, notify, data);
}

/* Kiln gives one binary at a time. */
static cl_program CL_API_CALL program_with_binary(cl_context context, cl_uint count,
                                                  const cl_device_id *devices, const size_t *sizes,
                                                  const unsigned char **binaries, cl_int *status,
                                                  cl_int *error) {
  const char lie_word[] = "kiln_test_lie";
  const size_t most = sizeof("kiln_test_abort") - 1;
  char end[sizeof("kiln_test_abort")] = "";
  size_t size = sizes[0];
  int lie = 0;
  if (size > most) memcpy(end, binaries[0] + size - most, most);
  for (size_t i = 0; i < most; ++i) end[i] = end[i] == 0 ? ' ' : end[i];
  obey(end, &lie);
  if (lie) size -= sizeof(lie_word) - 1;
  return target->clCreateProgramWithBinary(context, count, devices, lie ? &size : sizes, binaries,
                                           status, error);
}

CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info name, size_t size, void *value,
                                               size_t *size_ret) {
  const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
  if (name != CL_LAYER_API_VERSION) return CL_INVALID_VALUE;
  if (size_ret != NULL) *size_ret = sizeof(version);
  if (value != NULL && size >= sizeof(version)) memcpy(value, &version, sizeof(version));
  return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint entries,
                                            const struct _cl_icd_dispatch *target_dispatch,
                                            cl_uint *entries_ret,
                                            const struct _cl_icd_dispatch **layer_dispatch) {
  const size_t known = sizeof(dispatch) / sizeof(dispatch.clGetPlatformIDs);
  if (entries > known) entries = (cl_uint)known;
  target = target_dispatch;
  memcpy(&dispatch, target_dispatch, entries * sizeof(dispatch.clGetPlatformIDs));
  dispatch.clBuildProgram = build_program;
  dispatch.clCreateProgramWithBinary = program_with_binary;
  *layer_dispatch = &dispatch;
  *entries_ret = entries;
  return CL_SUCCESS;
}
