// SPDX-License-Identifier: Apache-2.0
// The layer's records of an application's programs and kernels.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "runtime/layer/base/devices.hpp"
#include "runtime/layer/serve/launch_markers.hpp"
#include "runtime/layer/serve/tuned_kernels.hpp"
#include "runtime/opencl/library.hpp"
#include "runtime/source/whole_program.hpp"

namespace kiln::layer {

using source::Headers;
using source::program_name;
using source::whole_module;
using source::whole_program;
using source::WholeProgram;

// Build options as the application gave them; drivers do not treat NULL as "".
struct Options {
  std::string text;
  bool is_null = false;

  // Returns null if the options were NULL, or else `same`, a text with the same meaning.
  const char *or_null(const std::string &same) const { return is_null ? nullptr : same.c_str(); }
};

// The names of a served program's kernels: at first as the pack has them, then as kernel_order.hpp
// says. Empty if the driver built the program from the text.
struct KernelOrder {
  std::mutex mutex;
  std::vector<std::string> names;  // guarded by `mutex`, like `is_known`
  bool is_known = false;
};

// A built or compiled program that stands for one of the application's: from a binary, or from the
// text that was named. Every user holds a reference.
struct StandIn {
  StandIn(cl_program made, WholeProgram its_whole, Options its_options, Devices its_devices,
          std::vector<std::string> its_logs, TunedProgram its_sizes, bool its_is_compiled = false)
      : program(made),
        whole(std::move(its_whole)),
        is_compiled(its_is_compiled),
        options(std::move(its_options)),
        devices(std::move(its_devices)),
        logs(std::move(its_logs)),
        tuned(std::move(its_sizes)) {}
  StandIn(const StandIn &) = delete;
  StandIn &operator=(const StandIn &) = delete;
  ~StandIn();

  const cl_program program;  // owned
  const WholeProgram whole;
  const bool is_compiled;               // by clCompileProgram, for a link; not built
  const Options options;                // as the application gave them
  const Devices devices;                // devices that it is built for
  const std::vector<std::string> logs;  // build log per device; empty: the program's own
  const TunedProgram tuned;
  // Devices of the application's last build alone, as it named them. Set before the stand-in is
  // shared.
  Devices last_built = devices;
  UnlaunchedPointer unlaunched = nullptr;  // likewise
  KernelOrder order = {};

  // Returns the log of one of the devices.
  const std::string &log_of(cl_device_id device) const {
    const auto at = std::find(devices.begin(), devices.end(), device) - devices.begin();
    return logs[static_cast<std::size_t>(at)];
  }

  // The same program built from its text, for queries that binaries cannot answer; `program` itself
  // if that is.
  std::mutex asking;
  bool asked = false;                        // guarded by `asking`, like `of_text`
  runtime::Handle<cl_program> of_text = {};  // null if the build failed
};
using StandInPointer = std::shared_ptr<StandIn>;

// The program that clCompileProgram, or clLinkProgram for a library, was called for.
struct Compilation {
  WholeProgram whole;
  Options options;  // as the application gave them
  Devices devices;
  // Whether the driver was not called yet, since a pack has the result.
  bool is_deferred = false;
  bool is_library = false;  // linked from compiled programs
};
using CompilationPointer = std::shared_ptr<const Compilation>;

// A build or compilation that failed because the settings require a binary, or because the driver
// refused it in an earlier call.
struct Refusal {
  std::string log;
  Options options;
  Devices devices;
  // What the driver tells after it has refused: PoCL tells what was to be made.
  cl_program_binary_type type = CL_PROGRAM_BINARY_TYPE_NONE;
};
using RefusalPointer = std::shared_ptr<const Refusal>;

struct Program {
  enum class Kind {
    from_source,
    linked,  // linked, served from a pack; source and options of the parts are unknown
    own_binary,
    library,  // linked by the driver
  };

  cl_program handle = nullptr;  // the application's handle
  Kind kind = Kind::from_source;
  std::uint64_t binary = 0;  // the quarantine's number of an own binary
  cl_context context = nullptr;
  std::string source;  // or the bytes of a module; for a linked program, the link options
  bool is_il = false;
  std::mutex building;  // held while it is built or compiled
  // Guarded by `building`: the driver did that with this handle, for the application.
  bool native = false;
  std::atomic<bool> specialised{false};  // a module's constant was set
  // Whether the driver counts a kernel as a reference to its program, as some do.
  std::atomic<bool> counts_kernels{true};
  TunedProgram tuned;                     // of a linked program
  UnlaunchedPointer unlaunched;           // likewise
  KernelOrder order;                      // likewise
  std::vector<CompilationPointer> parts;  // likewise, as they were compiled

  // Fields guarded by Objects.
  StandInPointer stand_in;         // null: the handle stands for itself
  CompilationPointer compilation;  // null: not compiled, or by a call that is not followed
  RefusalPointer refusal;          // null: the last build was not refused
  unsigned references = 1;         // held by the application
  unsigned kernels = 0;            // the stand-in's kernels that exist or are being created
};
using ProgramPointer = std::shared_ptr<Program>;

// Returns whether the application gave the text and options that were named, and not others with
// the same meaning.
inline bool is_as_given(const WholeProgram &whole, const Program &program,
                        const std::string &options) {
  return whole.source == program.source && whole.options == options;
}

// Returns the whole program for these options. Fails as whole_program() and whole_module() do, for
// a module whose constants were set, and if a variable changes what the driver compiles.
packs::Result<WholeProgram> whole_of(const Program &program, std::string_view options,
                                     const Headers &headers = {});

// The known objects. Thread-safe. An object is removed at the application's last release, before
// the driver may reuse its handle.
class Objects {
 public:
  void add(const ProgramPointer &program);
  ProgramPointer find(cl_program handle) const;  // or null
  ProgramPointer find(cl_program handle, Program::Kind kind) const;
  void retain(cl_program handle);
  void release(cl_program handle);

  StandInPointer stand_in_of(cl_program handle) const;  // or null
  void set_stand_in(const ProgramPointer &program, StandInPointer stand_in);
  CompilationPointer compilation_of(cl_program handle) const;  // or null
  void set_compilation(const ProgramPointer &program, CompilationPointer compilation);
  RefusalPointer refusal_of(cl_program handle) const;  // or null
  void set_refusal(const ProgramPointer &program, RefusalPointer refusal);
  bool has_kernels(const ProgramPointer &program) const;

  // Returns the program's stand-in, or null. A stand-in counts as having one more kernel until
  // end_kernel().
  StandInPointer begin_kernel(const ProgramPointer &program);
  void end_kernel(const ProgramPointer &program);
  void add_kernel(cl_kernel kernel, const ProgramPointer &program);
  ProgramPointer program_of(cl_kernel kernel) const;  // null: not a stand-in's kernel
  // Returns how many references to the program its stand-in's kernels hold that the driver would
  // not count.
  unsigned uncounted(cl_program handle) const;
  void retain_kernel(cl_kernel kernel);
  // Returns the program whose handle the kernel held, if this was the last reference; else null.
  cl_program release_kernel(cl_kernel kernel);

 private:
  template <typename Pointer>
  Pointer member_of(cl_program handle, Pointer Program::*member) const;
  template <typename Pointer>
  void set_member(Program *program, Pointer Program::*member, Pointer value);

  struct Kernel {
    ProgramPointer program;
    unsigned references = 1;
  };

  void forget_if_unused(const Program &program);

  mutable std::mutex mutex_;
  std::unordered_map<cl_program, ProgramPointer> programs_;
  std::unordered_map<cl_kernel, Kernel> kernels_;
};

// Never destroyed: applications release their objects while their own statics are destroyed.
Objects &objects();

}  // namespace kiln::layer
