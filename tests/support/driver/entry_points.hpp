// SPDX-License-Identifier: Apache-2.0
// The functions of the dispatch table. What is not here (GL, EGL, Direct3D, sub-devices,
// separate compiling and linking) this driver does not have.
#pragma once

// Functions that only forward.
#define KILN_FORWARDED(X)               \
  X(clRetainContext)                    \
  X(clReleaseContext)                   \
  X(clRetainCommandQueue)               \
  X(clReleaseCommandQueue)              \
  X(clSetCommandQueueProperty)          \
  X(clCreateBuffer)                     \
  X(clCreateImage2D)                    \
  X(clCreateImage3D)                    \
  X(clRetainMemObject)                  \
  X(clReleaseMemObject)                 \
  X(clGetSupportedImageFormats)         \
  X(clGetMemObjectInfo)                 \
  X(clGetImageInfo)                     \
  X(clCreateSampler)                    \
  X(clRetainSampler)                    \
  X(clReleaseSampler)                   \
  X(clGetSamplerInfo)                   \
  X(clUnloadCompiler)                   \
  X(clRetainKernel)                     \
  X(clReleaseKernel)                    \
  X(clSetKernelArg)                     \
  X(clGetKernelWorkGroupInfo)           \
  X(clWaitForEvents)                    \
  X(clGetEventInfo)                     \
  X(clRetainEvent)                      \
  X(clReleaseEvent)                     \
  X(clGetEventProfilingInfo)            \
  X(clFlush)                            \
  X(clFinish)                           \
  X(clEnqueueReadBuffer)                \
  X(clEnqueueWriteBuffer)               \
  X(clEnqueueCopyBuffer)                \
  X(clEnqueueReadImage)                 \
  X(clEnqueueWriteImage)                \
  X(clEnqueueCopyImage)                 \
  X(clEnqueueCopyImageToBuffer)         \
  X(clEnqueueCopyBufferToImage)         \
  X(clEnqueueMapBuffer)                 \
  X(clEnqueueMapImage)                  \
  X(clEnqueueUnmapMemObject)            \
  X(clEnqueueTask)                      \
  X(clEnqueueNativeKernel)              \
  X(clEnqueueMarker)                    \
  X(clEnqueueWaitForEvents)             \
  X(clEnqueueBarrier)                   \
  X(clSetEventCallback)                 \
  X(clCreateSubBuffer)                  \
  X(clSetMemObjectDestructorCallback)   \
  X(clCreateUserEvent)                  \
  X(clSetUserEventStatus)               \
  X(clEnqueueReadBufferRect)            \
  X(clEnqueueWriteBufferRect)           \
  X(clEnqueueCopyBufferRect)            \
  X(clCreateImage)                      \
  X(clUnloadPlatformCompiler)           \
  X(clGetKernelArgInfo)                 \
  X(clEnqueueFillBuffer)                \
  X(clEnqueueFillImage)                 \
  X(clEnqueueMigrateMemObjects)         \
  X(clEnqueueMarkerWithWaitList)        \
  X(clEnqueueBarrierWithWaitList)       \
  X(clCreatePipe)                       \
  X(clGetPipeInfo)                      \
  X(clSVMAlloc)                         \
  X(clSVMFree)                          \
  X(clEnqueueSVMFree)                   \
  X(clEnqueueSVMMemcpy)                 \
  X(clEnqueueSVMMemFill)                \
  X(clEnqueueSVMMap)                    \
  X(clEnqueueSVMUnmap)                  \
  X(clCreateSamplerWithProperties)      \
  X(clSetKernelArgSVMPointer)           \
  X(clSetKernelExecInfo)                \
  X(clGetKernelSubGroupInfoKHR)         \
  X(clEnqueueSVMMigrateMem)             \
  X(clGetDeviceAndHostTimer)            \
  X(clGetHostTimer)                     \
  X(clGetKernelSubGroupInfo)            \
  X(clSetDefaultDeviceCommandQueue)     \
  X(clSetProgramSpecializationConstant) \
  X(clCreateBufferWithProperties)       \
  X(clCreateImageWithProperties)        \
  X(clSetContextDestructorCallback)

// Functions with state of this driver's own behind them.
#define KILN_OWN(X)                                                   \
  X(clGetPlatformIDs, get_platform_ids)                               \
  X(clGetPlatformInfo, get_platform_info)                             \
  X(clGetDeviceIDs, get_device_ids)                                   \
  X(clGetDeviceInfo, get_device_info)                                 \
  X(clRetainDevice, retain_device)                                    \
  X(clReleaseDevice, release_device)                                  \
  X(clCreateContext, create_context)                                  \
  X(clCreateContextFromType, create_context_from_type)                \
  X(clGetContextInfo, get_context_info)                               \
  X(clCreateCommandQueue, create_queue)                               \
  X(clCreateCommandQueueWithProperties, create_queue_with_properties) \
  X(clGetCommandQueueInfo, get_queue_info)                            \
  X(clCreateProgramWithSource, create_with_source)                    \
  X(clCreateProgramWithBinary, create_with_binary)                    \
  X(clCreateProgramWithIL, create_with_il)                            \
  X(clBuildProgram, build_program)                                    \
  X(clRetainProgram, retain_program)                                  \
  X(clReleaseProgram, release_program)                                \
  X(clGetProgramInfo, get_program_info)                               \
  X(clGetProgramBuildInfo, get_build_info)                            \
  X(clCreateKernel, create_kernel)                                    \
  X(clCreateKernelsInProgram, create_kernels)                         \
  X(clCloneKernel, clone_kernel)                                      \
  X(clGetKernelInfo, get_kernel_info)                                 \
  X(clEnqueueNDRangeKernel, enqueue_kernel)                           \
  X(clGetExtensionFunctionAddress, extension_address)                 \
  X(clGetExtensionFunctionAddressForPlatform, extension_address_for_platform)
