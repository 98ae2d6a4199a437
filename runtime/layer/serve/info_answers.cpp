// SPDX-License-Identifier: Apache-2.0
// Maps answers about a program for some devices to all devices of the application's program, and
// answers for a device that the program was not built for.
#include "runtime/layer/serve/info_answers.hpp"

#include <algorithm>
#include <optional>

#include "runtime/layer/base/asked_once.hpp"
#include "runtime/layer/base/settings.hpp"
#include "runtime/opencl/query.hpp"

namespace kiln::layer {

namespace {

// Empty if the device is unknown.
std::string_view profile_of(cl_device_id id) {
  kiln_device *device = nullptr;
  return find_device(id, &device, nullptr) == KILN_OK ? device->device->description.profile : "";
}

// Returns whether the driver is known to tell options as they were given.
bool tells_as_given(cl_device_id id) {
  const std::string_view profile = profile_of(id);
  return profile.empty() || profile == "rusticl" || profile == "intel";
}

// Returns a program without text, built for the device; null if the driver does not build it.
runtime::Handle<cl_program> built_without_text(cl_context context, cl_device_id device,
                                               const char *options) {
  const char *text = " ";
  cl_int code = CL_SUCCESS;
  runtime::Handle<cl_program> made(
      next.clCreateProgramWithSource(context, 1, &text, nullptr, &code), next.clReleaseProgram);
  if (!made) return {};
  code = next.clBuildProgram(made.get(), 1, &device, options, nullptr, nullptr);
  if (code != CL_SUCCESS) return {};
  return made;
}

// Returns nothing if the driver does not build a program without text with the options.
std::optional<std::string> ask_for_options(cl_context context, cl_device_id device,
                                           const char *options) {
  const auto made = built_without_text(context, device, options);
  if (!made) return {};
  return runtime::query_text([&](std::size_t room, void *out, std::size_t *size) {
    return next.clGetProgramBuildInfo(made.get(), device, CL_PROGRAM_BUILD_OPTIONS, room, out,
                                      size);
  });
}

// Returns whether the driver gives binaries of the last build's devices alone. Asks a program that
// is built for one of the context's devices.
bool gives_last_built(cl_context context, cl_device_id device) {
  if (settings().require != Require::nothing) return false;
  static auto &known = *new AskedOnce<cl_device_id, bool>;
  return known.find(device, [&] {
    const auto made = built_without_text(context, device, "");
    std::size_t size = 0;
    return made &&
           next.clGetProgramInfo(made.get(), CL_PROGRAM_BINARY_SIZES, 0, nullptr, &size) ==
               CL_SUCCESS &&
           size == sizeof(std::size_t);
  });
}

}  // namespace

std::string told_link_options(cl_device_id device, const std::string &options) {
  const std::string_view profile = profile_of(device);
  const bool is_blank = options.find_first_not_of(' ') == std::string::npos;
  return profile == "rusticl" || (profile == "pocl" && is_blank) ? "" : options;
}

std::string told_options(cl_context context, cl_device_id device, const Options &options) {
  const bool asks = !options.text.empty() && settings().require == Require::nothing;
  if (!asks || tells_as_given(device)) return options.text;
  static auto &known = *new AskedOnce<std::pair<cl_device_id, std::string>, std::string>;
  return known.find({device, options.text}, [&] {
    return ask_for_options(context, device, options.text.c_str()).value_or(options.text);
  });
}

cl_int binaries_info(cl_program own, const StandIn &stand_in, cl_program_info what,
                     std::size_t room, void *out, std::size_t *size) {
  Devices wanted = devices_of(own);
  Devices has = devices_of(stand_in.program);
  if (stand_in.last_built.size() < wanted.size() &&
      gives_last_built(context_of(own), stand_in.last_built[0])) {
    wanted = stand_in.last_built;
    has = stand_in.devices;
  } else if (has.size() >= wanted.size()) {
    has = wanted;
  }
  if (has == wanted) return next.clGetProgramInfo(stand_in.program, what, room, out, size);
  static_assert(sizeof(std::size_t) == sizeof(unsigned char *), "both answers have this size");
  const std::size_t whole = wanted.size() * sizeof(std::size_t);
  if (out == nullptr) {  // only the size is requested
    if (size != nullptr) *size = whole;
    return CL_SUCCESS;
  }
  if (room < whole) return CL_INVALID_VALUE;
  std::vector<std::size_t> sizes(has.size());
  cl_int code = next.clGetProgramInfo(stand_in.program, CL_PROGRAM_BINARY_SIZES,
                                      sizes.size() * sizeof(std::size_t), sizes.data(), nullptr);
  if (code != CL_SUCCESS) return code;
  const auto place_in = [](const Devices &devices, cl_device_id device) {
    return static_cast<std::size_t>(std::find(devices.begin(), devices.end(), device) -
                                    devices.begin());
  };
  if (what == CL_PROGRAM_BINARY_SIZES) {
    std::vector<std::size_t> answered;
    for (const cl_device_id device : wanted) {
      const std::size_t i = place_in(has, device);
      answered.push_back(i < has.size() ? sizes[i] : 0);
    }
    return answer(answered.data(), whole, room, out, size);
  }
  // Binaries that are not wanted go to a buffer of the layer, since PoCL 3.1 writes to null.
  packs::Bytes unwanted(*std::max_element(sizes.begin(), sizes.end()));
  std::vector<unsigned char *> given(wanted.size() + 1, unwanted.data());
  std::memcpy(given.data(), out, whole);
  std::vector<unsigned char *> places;
  for (const cl_device_id device : has) places.push_back(given[place_in(wanted, device)]);
  code = next.clGetProgramInfo(stand_in.program, what, places.size() * sizeof(places[0]),
                               places.data(), nullptr);
  if (code == CL_SUCCESS && size != nullptr) *size = whole;
  return code;
}

cl_int refused_info(cl_program own, const Refusal &refusal, cl_device_id device,
                    cl_program_build_info what, std::size_t room, void *out, std::size_t *size) {
  constexpr cl_build_status kStatus = CL_BUILD_ERROR;
  if (!contains(refusal.devices, device)) return unbuilt_info(own, device, what, room, out, size);
  if (what == CL_PROGRAM_BUILD_STATUS) return answer(&kStatus, sizeof(kStatus), room, out, size);
  if (what == CL_PROGRAM_BINARY_TYPE && refusal.type != CL_PROGRAM_BINARY_TYPE_NONE) {
    return answer(&refusal.type, sizeof(refusal.type), room, out, size);
  }
  if (what != CL_PROGRAM_BUILD_LOG && what != CL_PROGRAM_BUILD_OPTIONS) {
    return next.clGetProgramBuildInfo(own, device, what, room, out, size);
  }
  const std::string &text = what == CL_PROGRAM_BUILD_LOG ? refusal.log : refusal.options.text;
  return answer(text.c_str(), text.size() + 1, room, out, size);
}

cl_int unbuilt_info(cl_program own, cl_device_id device, cl_program_build_info what,
                    std::size_t room, void *out, std::size_t *size) {
  if (what != CL_PROGRAM_BUILD_LOG) {
    return next.clGetProgramBuildInfo(own, device, what, room, out, size);
  }
  // PoCL has no log before a build.
  const cl_int code =
      next.clGetProgramBuildInfo(own, device, CL_PROGRAM_BUILD_STATUS, 0, nullptr, nullptr);
  return code == CL_SUCCESS ? answer("", 1, room, out, size) : code;
}

}  // namespace kiln::layer
