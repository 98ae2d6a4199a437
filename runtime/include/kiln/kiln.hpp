// SPDX-License-Identifier: Apache-2.0
/// @file
/// C++17 over kiln.h: handles that release themselves, and results that hold a value or an error.
/// Header only; works with and without exceptions. Each function calls the function of kiln.h that
/// its comment names, whose contract holds. Handles are moved and not copied; a default-constructed
/// handle is empty and acts as NULL does.
/// @code{.cpp}
/// auto opencl = kiln::OpenCL::open();
/// auto device = opencl->device(0);
/// auto pack = kiln::Pack::open_file("app.kiln");
/// auto loader = kiln::Loader::create(*device, *pack);
/// auto loaded = loader->load("laplace");
/// if (!loaded.program) report(loaded.program.error().message, loaded.report.json());
/// @endcode
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kiln/kiln.h"
#include "kiln/overlay.h"
#include "kiln/prefetch.h"
#include "kiln/report_folder.h"

namespace kiln {

/// Status of a call: its code, and the details of a failure.
struct [[nodiscard]] Status : kiln_error {
  Status() : kiln_error{} {}
  /// Takes the error of a call of the C interface.
  Status(const kiln_error &error) : kiln_error(error) {}
  /// Whether it worked.
  bool ok() const { return status == KILN_OK; }
  /// Same as ok().
  explicit operator bool() const { return ok(); }
};

/// A value, or the error of the call. Using the value of a failed result is
/// undefined, as with std::optional.
template <typename T>
class [[nodiscard]] Result {
 public:
  /// A value.
  Result(T value) : value_(std::move(value)) {}
  /// An error.
  Result(const kiln_error &error) : error_(error) {}

  /// Whether it worked.
  bool ok() const { return error_.ok(); }
  /// Same as ok().
  explicit operator bool() const { return ok(); }
  /// Why the call failed.
  const Status &error() const { return error_; }
  /// The value.
  T &operator*() { return value_; }
  /// The value.
  const T &operator*() const { return value_; }
  /// The value.
  T *operator->() { return &value_; }
  /// The value.
  const T *operator->() const { return &value_; }

 private:
  T value_{};
  Status error_;
};

namespace detail {

template <typename T, void (*Release)(T *)>
struct Deleter {
  void operator()(T *handle) const { Release(handle); }
};

template <typename T, void (*Release)(T *)>
using Owner = std::unique_ptr<T, Deleter<T, Release>>;

/// Calls `function(&handle, &error)` and wraps what it made.
template <typename Wrapper, typename T, typename Function>
Result<Wrapper> make(Function function) {
  T *handle = nullptr;
  kiln_error error{};
  if (function(&handle, &error) != KILN_OK) return error;
  return Wrapper(handle);
}

/// Returns the text; empty for null.
inline std::string text(const char *value) {
  return value == nullptr ? std::string() : std::string(value);
}

/// Calls `function(&error)`.
template <typename Function>
Status call(Function function) {
  Status status;
  function(&status);
  return status;
}

}  // namespace detail

/// Returns the library's #KILN_VERSION; see kiln_version().
inline unsigned version() { return kiln_version(); }

/// A device, its identity and profile.
class Device {
 public:
  Device() = default;
  /// Takes over a handle of the C interface.
  explicit Device(kiln_device *handle) : handle_(handle) {}
  /// The handle, which stays owned by this object.
  kiln_device *get() const { return handle_.get(); }
  /// See kiln_device_cl().
  cl_device_id cl() const { return kiln_device_cl(get()); }
  /// See kiln_device_info(); empty if it is absent.
  std::string info(const char *name) const { return detail::text(kiln_device_info(get(), name)); }

 private:
  detail::Owner<kiln_device, kiln_device_release> handle_;
};

/// The table of OpenCL entry points.
class OpenCL {
 public:
  OpenCL() = default;
  /// Takes over a handle of the C interface.
  explicit OpenCL(kiln_opencl *handle) : handle_(handle) {}
  /// See kiln_opencl_open().
  static Result<OpenCL> open(const std::vector<const char *> &candidates = {}) {
    return detail::make<OpenCL, kiln_opencl>([&](kiln_opencl **out, kiln_error *error) {
      return kiln_opencl_open(candidates.data(), candidates.size(), out, error);
    });
  }
  /// The handle, which stays owned by this object.
  kiln_opencl *get() const { return handle_.get(); }
  /// See kiln_device_count().
  Result<std::size_t> device_count() const {
    std::size_t count = 0;
    kiln_error error{};
    if (kiln_device_count(get(), &count, &error) != KILN_OK) return error;
    return count;
  }
  /// See kiln_device_open().
  Result<Device> device(std::size_t index) const {
    return detail::make<Device, kiln_device>([&](kiln_device **out, kiln_error *error) {
      return kiln_device_open(get(), index, out, error);
    });
  }
  /// See kiln_device_from_cl().
  Result<Device> device_from_cl(cl_device_id id) const {
    return detail::make<Device, kiln_device>([&](kiln_device **out, kiln_error *error) {
      return kiln_device_from_cl(get(), id, out, error);
    });
  }

 private:
  detail::Owner<kiln_opencl, kiln_opencl_release> handle_;
};

/// An open pack. Replace its file by renaming a new one over it.
class Pack {
 public:
  Pack() = default;
  /// Takes over a handle of the C interface.
  explicit Pack(kiln_pack *handle) : handle_(handle) {}
  /// See kiln_pack_open_file().
  static Result<Pack> open_file(const std::string &path) {
    return detail::make<Pack, kiln_pack>([&](kiln_pack **out, kiln_error *error) {
      return kiln_pack_open_file(path.c_str(), out, error);
    });
  }
  /// Opens `length` bytes at `offset`; see kiln_pack_open_descriptor().
  static Result<Pack> open_descriptor(int fd, std::uint64_t offset, std::uint64_t length) {
    return detail::make<Pack, kiln_pack>([&](kiln_pack **out, kiln_error *error) {
      return kiln_pack_open_descriptor(fd, offset, length, out, error);
    });
  }
  /// Opens memory, which must outlive everything made from the pack; see kiln_pack_open_memory().
  static Result<Pack> open_memory(const void *memory, std::size_t size) {
    return detail::make<Pack, kiln_pack>([&](kiln_pack **out, kiln_error *error) {
      return kiln_pack_open_memory(memory, size, out, error);
    });
  }
  /// The handle, which stays owned by this object.
  kiln_pack *get() const { return handle_.get(); }

 private:
  detail::Owner<kiln_pack, kiln_pack_release> handle_;
};

/// A loaded variant of a program.
class Program {
 public:
  Program() = default;
  /// Takes over a handle of the C interface.
  explicit Program(kiln_program *handle) : handle_(handle) {}
  /// The handle, which stays owned by this object.
  kiln_program *get() const { return handle_.get(); }
  /// See kiln_program_cl().
  cl_program cl() const { return kiln_program_cl(get()); }
  /// See kiln_program_name().
  std::string name() const { return detail::text(kiln_program_name(get())); }
  /// Returns the name of the loaded variant; see kiln_program_variant().
  std::string variant() const { return detail::text(kiln_program_variant(get())); }

 private:
  detail::Owner<kiln_program, kiln_program_release> handle_;
};

/// The report of a load.
class Report {
 public:
  Report() = default;
  /// Takes over a handle of the C interface.
  explicit Report(kiln_report *handle) : handle_(handle) {}
  /// The handle, which stays owned by this object.
  kiln_report *get() const { return handle_.get(); }
  /// See kiln_report_rung().
  kiln_rung rung() const { return kiln_report_rung(handle_.get()); }
  /// See kiln_report_milliseconds().
  double milliseconds() const { return kiln_report_milliseconds(handle_.get()); }
  /// See kiln_report_estimate().
  double estimate() const { return kiln_report_estimate(handle_.get()); }
  /// Outcome of a rung, and its reason.
  struct Rung {
    /// Outcome of the rung.
    kiln_outcome outcome = KILN_OUTCOME_LOADED;
    std::string reason;  ///< empty when loaded
  };
  /// See kiln_report_reason(); std::nullopt for a rung that was not reached.
  std::optional<Rung> of_rung(kiln_rung rung) const {
    Rung result;
    const char *text = kiln_report_reason(handle_.get(), rung, &result.outcome);
    if (text == nullptr) return std::nullopt;
    result.reason = text;
    return result;
  }
  /// See kiln_report_choice(); empty if no variant was chosen.
  std::string choice(kiln_choice *by = nullptr) const {
    return detail::text(kiln_report_choice(handle_.get(), by));
  }
  /// See kiln_report_final(); `why_not`, if given, gets the reason.
  kiln_finality final(std::string *why_not = nullptr) const {
    const char *text = nullptr;
    const kiln_finality finality = kiln_report_final(handle_.get(), &text);
    if (why_not != nullptr) *why_not = text == nullptr ? "" : text;
    return finality;
  }
  /// See kiln_report_json().
  std::string json() const { return detail::text(kiln_report_json(handle_.get())); }

 private:
  detail::Owner<kiln_report, kiln_report_release> handle_;
};

/// Result of a load.
struct Loaded {
  /// The program, or why it was not loaded.
  Result<Program> program;
  /// The report, after success and after failure.
  Report report;
};

/// kiln_loader_options with `size` set; fill in the other members.
struct LoaderOptions : kiln_loader_options {
  LoaderOptions() : kiln_loader_options{} { size = sizeof(kiln_loader_options); }
  /// See kiln_loader_use_overlay().
  void use_overlay(const char *folder, std::uint64_t limit = 0) {
    kiln_loader_use_overlay(this, folder, limit);
  }
  /// See kiln_loader_use_shared().
  void use_shared(const char *folder, std::uint64_t limit = 0) {
    kiln_loader_use_shared(this, folder, limit);
  }
};

/// A loader: a pack, a device and a context.
class Loader {
 public:
  Loader() = default;
  /// Takes over a handle of the C interface.
  explicit Loader(kiln_loader *handle) : handle_(handle) {}
  /// See kiln_loader_create().
  static Result<Loader> create(const Device &device, const Pack &pack,
                               const LoaderOptions &options = {}) {
    return detail::make<Loader, kiln_loader>([&](kiln_loader **out, kiln_error *error) {
      return kiln_loader_create(device.get(), pack.get(), &options, out, error);
    });
  }
  /// The handle, which stays owned by this object.
  kiln_loader *get() const { return handle_.get(); }
  /// See kiln_loader_context().
  cl_context context() const { return kiln_loader_context(get()); }
  unsigned hints() const { return kiln_loader_hints(get()); }  ///< KILN_HINT_* bits
  /// See kiln_load(). An empty variant leaves the choice to Kiln.
  Loaded load(const std::string &program, const std::string &variant = {},
              unsigned flags = 0) const {
    kiln_report *report = nullptr;
    auto made = detail::make<Program, kiln_program>([&](kiln_program **out, kiln_error *error) {
      return kiln_load(get(), program.c_str(), variant.empty() ? nullptr : variant.c_str(), flags,
                       out, &report, error);
    });
    return {std::move(made), Report(report)};
  }
  /// Finds which rung a load would try first; see kiln_load_dry_run(). The result has an empty
  /// program.
  Loaded dry_run(const std::string &program, const std::string &variant = {},
                 unsigned flags = 0) const {
    kiln_report *report = nullptr;
    Status status = detail::call([&](kiln_error *error) {
      kiln_load_dry_run(get(), program.c_str(), variant.empty() ? nullptr : variant.c_str(), flags,
                        &report, error);
    });
    Result<Program> none = status.ok() ? Result<Program>(Program()) : Result<Program>(status);
    return {std::move(none), Report(report)};
  }
  /// Makes the programs final that this device had to compile, for the next start; see
  /// kiln_loader_finish().
  Status finish() const {
    return detail::call([&](kiln_error *error) { kiln_loader_finish(get(), error); });
  }
  /// Loads all programs of the pack; see kiln_prefetch().
  Status prefetch(kiln_progress_function progress = nullptr, void *user = nullptr,
                  unsigned flags = 0) const {
    return prefetch({}, progress, user, flags);
  }
  /// Loads the programs of a list; an empty list means all programs of the pack.
  Status prefetch(const std::vector<const char *> &programs,
                  kiln_progress_function progress = nullptr, void *user = nullptr,
                  unsigned flags = 0) const {
    return detail::call([&](kiln_error *error) {
      kiln_prefetch(get(), programs.data(), programs.size(), flags, progress, user, error);
    });
  }

 private:
  detail::Owner<kiln_loader, kiln_loader_release> handle_;
};

/// Announces that this process is about to end on purpose; see kiln_process_ending().
inline void process_ending() { kiln_process_ending(); }

/// Has every later load append its report to a file in the folder; "" ends it. See
/// kiln_report_folder().
inline Status report_folder(const std::string &folder) {
  return detail::call([&](kiln_error *error) { kiln_report_folder(folder.c_str(), error); });
}

/// Removes all of Kiln's files from an overlay folder; see kiln_overlay_clear().
inline Status clear_overlay(const std::string &folder) {
  return detail::call([&](kiln_error *error) { kiln_overlay_clear(folder.c_str(), error); });
}

}  // namespace kiln

#include "kiln/launch.hpp"  // an intentional cycle: either header, included first, gives both
