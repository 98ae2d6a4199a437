/* SPDX-License-Identifier: Apache-2.0 */
/* An application whose kernel takes an image, a sampler and, on a device that has it, a pointer
 * into shared virtual memory; prints the four numbers that it reads, and "shared" if it has the
 * pointer. Exit codes: 0, 1 a call failed, 77 no device with images. */
#include "first_device.h"

/* Of OpenCL 2.0. */
extern void *clSVMAlloc(cl_context context, cl_bitfield flags, size_t size, cl_uint alignment);
extern void clSVMFree(cl_context context, void *pointer);
extern cl_int clSetKernelArgSVMPointer(cl_kernel kernel, cl_uint index, const void *pointer);
enum { SVM_CAPABILITIES = 0x1053 };

static const char source[] =
    "kernel void sampled(read_only image2d_t from, sampler_t sampler, global float *to,\n"
    "                    global const float *more) {\n"
    "  const int x = get_global_id(0);\n"
    "  to[x] = read_imagef(from, sampler, (float2)(x - 1.5f, 0.5f)).x + (more == 0);\n"
    "}\n";

int main(void) {
  const float pixels[4] = {1, 2, 3, 4};
  const size_t range = 4;
  const size_t local = 4;
  const cl_image_format format = {CL_R, CL_FLOAT};
  const char *text = source;
  cl_image_desc desc = {0};
  float seen[4] = {0};
  cl_bool has_images = CL_FALSE;
  cl_bitfield svm = 0;
  char *shared = NULL;
  cl_int code = CL_SUCCESS;
  const cl_device_id device = first_device();
  if (clGetDeviceInfo(device, CL_DEVICE_IMAGE_SUPPORT, sizeof(has_images), &has_images, NULL) ||
      !has_images) {
    printf("SKIP: the device has no images\n");
    return 77;
  }
  desc.image_type = CL_MEM_OBJECT_IMAGE2D;
  desc.image_width = 4;
  desc.image_height = 1;
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, &code);
  cl_mem image = clCreateImage(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, &format, &desc,
                               (void *)pixels, &code);
  cl_mem to = clCreateBuffer(context, CL_MEM_WRITE_ONLY, sizeof(seen), NULL, NULL);
  cl_sampler sampler =
      clCreateSampler(context, CL_FALSE, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_NEAREST, &code);
  cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &code);
  if (clBuildProgram(program, 1, &device, "", NULL, NULL)) return 1;
  cl_kernel kernel = clCreateKernel(program, "sampled", &code);
  code |= clSetKernelArg(kernel, 0, sizeof(image), &image);
  code |= clSetKernelArg(kernel, 1, sizeof(sampler), &sampler);
  code |= clSetKernelArg(kernel, 2, sizeof(to), &to);
  if (clGetDeviceInfo(device, SVM_CAPABILITIES, sizeof(svm), &svm, NULL) == CL_SUCCESS && svm) {
    shared = clSVMAlloc(context, CL_MEM_READ_WRITE, 4096, 0);
  }
  code |= shared == NULL ? clSetKernelArg(kernel, 3, sizeof(to), &to)
                         : clSetKernelArgSVMPointer(kernel, 3, shared + 1024);
  code |= clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &range, &local, 0, NULL, NULL);
  code |= clEnqueueReadBuffer(queue, to, CL_TRUE, 0, sizeof(seen), seen, 0, NULL, NULL);
  if (code != CL_SUCCESS) return 1;
  printf("%g %g %g %g%s\n", seen[0], seen[1], seen[2], seen[3], shared == NULL ? "" : " shared");
  if (shared != NULL) clSVMFree(context, shared);
  clReleaseSampler(sampler);
  clReleaseMemObject(image);
  clReleaseMemObject(to);
  clReleaseKernel(kernel);
  clReleaseProgram(program);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  return 0;
}
