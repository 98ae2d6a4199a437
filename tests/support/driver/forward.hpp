// SPDX-License-Identifier: Apache-2.0
// A function that does nothing but forward: logged, faulty where the script says so, its
// handles translated on the way in and stamped on the way out. One template for all of them.
#pragma once

#include "tests/support/driver/faults.hpp"

namespace kiln::driver {

template <typename T>
void note(Call *, const T &) {}
inline void note(Call *call, cl_device_id id) { call->device = device_of(id); }
inline void note(Call *call, cl_kernel kernel) { *call = call_of(call->function, kernel); }

// A result that is an object is stamped; true if the call succeeded.
template <typename T>
bool stamp_result(T *result) {
  return result != nullptr;
}
inline bool stamp_result(cl_int code) { return code == CL_SUCCESS; }
inline bool stamp_result(cl_mem object) { return stamp(object), object != nullptr; }
inline bool stamp_result(cl_event object) { return stamp(object), object != nullptr; }
inline bool stamp_result(cl_sampler object) { return stamp(object), object != nullptr; }

template <typename T>
void stamp_event(const T &) {}
inline void stamp_event(cl_event *place) {
  if (place != nullptr) stamp(*place);
}

template <typename T>
void write_code(T, cl_int) {}
inline void write_code(cl_int *place, cl_int code) {
  if (place != nullptr) *place = code;
}

template <auto kMember, typename Pointer>
struct Forward;

template <auto kMember, typename R, typename... A>
struct Forward<kMember, R(CL_API_CALL *)(A...)> {
  static inline const char *name = "";

  static R CL_API_CALL call(A... arguments) {
    Call made = call_of(name);
    (note(&made, arguments), ...);
    if (const Fault *fault = enter(made)) {
      return refuse(fault->action == Action::null ? CL_SUCCESS : fault->code, arguments...);
    }
    if (real_driver() == nullptr || real_driver()->table->*kMember == nullptr) {
      return refuse(CL_INVALID_OPERATION, arguments...);
    }
    if constexpr (std::is_void_v<R>) {
      (real_driver()->table->*kMember)(to_real(arguments)...);
    } else {
      R result = (real_driver()->table->*kMember)(to_real(arguments)...);
      if (stamp_result(result)) (stamp_event(arguments), ...);
      return result;
    }
  }

  static R refuse([[maybe_unused]] cl_int code, A... arguments) {
    if constexpr (std::is_same_v<R, cl_int>) {
      return code;
    } else {
      (write_code(arguments, code), ...);
      if constexpr (!std::is_void_v<R>) return nullptr;
    }
  }
};

}  // namespace kiln::driver
