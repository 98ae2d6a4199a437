// SPDX-License-Identifier: Apache-2.0
// What the layer knows of an application's programs and kernels.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "runtime/opencl/library.hpp"
#include "runtime/source/whole_program.hpp"
#include "runtime/spool/devices.hpp"
#include "runtime/spool/tuned_kernels.hpp"

namespace kiln::layer {

using source::check_unchanged;
using source::Headers;
using source::program_name;
using source::whole_module;
using source::whole_program;
using source::WholeProgram;

// What an application gave for options; drivers do not take NULL for "".
struct Options {
  std::string text;
  bool is_null = false;

  // These, or in their place what says the same.
  const char *or_null(const std::string &same) const { return is_null ? nullptr : same.c_str(); }
};

// A program that is built, or compiled, and stands for one of the application's. Whoever looks at
// it holds it.
struct Twin {
  Twin(cl_program made, WholeProgram its_whole, Options its_options, Devices its_devices,
       std::vector<std::string> its_logs, TunedProgram its_sizes, bool its_is_compiled = false)
      : program(made),
        whole(std::move(its_whole)),
        is_compiled(its_is_compiled),
        options(std::move(its_options)),
        devices(std::move(its_devices)),
        logs(std::move(its_logs)),
        tuned(std::move(its_sizes)) {}
  Twin(const Twin &) = delete;
  Twin &operator=(const Twin &) = delete;
  ~Twin();

  const cl_program program;  // owned
  const WholeProgram whole;
  const bool is_compiled;               // by clCompileProgram, to be linked; not built
  const Options options;                // that the application gave
  const Devices devices;                // that it is built for
  const std::vector<std::string> logs;  // of the build for each; empty: the program's own
  const TunedProgram tuned;

  // Of one of the devices.
  const std::string &log_of(cl_device_id device) const {
    const auto at = std::find(devices.begin(), devices.end(), device) - devices.begin();
    return logs[static_cast<std::size_t>(at)];
  }

  // The same program built from its text, to be asked for what binaries do not keep.
  std::mutex asking;
  bool asked = false;                        // guarded by `asking`, and then
  runtime::Handle<cl_program> of_text = {};  // null if it could not be built
};
using TwinPointer = std::shared_ptr<Twin>;

// What clCompileProgram was called for, or clLinkProgram for a library.
struct Compilation {
  WholeProgram whole;
  Options options;  // that the application gave
  Headers headers;
  Devices devices;
  // Whether the driver was not called yet, since a pack has what comes of it.
  bool is_deferred = false;
  bool is_library = false;  // linked of what was compiled
};
using CompilationPointer = std::shared_ptr<const Compilation>;

struct Program {
  enum class Kind {
    from_source,
    linked,  // a pack gave it for a link: it says nothing of the source and options that it is of
    own_binary,
    library,  // the driver linked it
  };

  cl_program handle = nullptr;  // the application's
  Kind kind = Kind::from_source;
  std::uint64_t binary = 0;  // what the quarantine knows an own binary by
  cl_context context = nullptr;
  std::string source;  // or a module's bytes; of what is linked the options
  bool is_il = false;
  std::mutex building;  // held while it is built or compiled
  bool native = false;  // guarded by `building`: the driver did so, for the application
  std::atomic<bool> specialised{false};  // a constant of a module was set
  // Whether the driver counts a kernel among the references of its program, as some do.
  std::atomic<bool> counts_kernels{true};
  TunedProgram tuned;  // of what is linked

  // Guarded by Objects.
  TwinPointer twin;                // null: the handle stands for itself
  CompilationPointer compilation;  // null: not compiled, or not in a way that the layer follows
  unsigned references = 1;         // the application's
  unsigned kernels = 0;            // of the twin that are alive, or being made
};
using ProgramPointer = std::shared_ptr<Program>;

// What the program is with these options. Fails as whole_program() and whole_module() do, and of a
// module whose constants were set.
packs::Result<WholeProgram> whole_of(const Program &program, std::string_view options,
                                     const Headers &headers = {});

// Any thread may call anything. An object leaves when the application releases it for the last
// time, before the driver may give its handle to another.
class Objects {
 public:
  void add(const ProgramPointer &program);
  ProgramPointer find(cl_program handle) const;  // or null
  ProgramPointer find(cl_program handle, Program::Kind kind) const;
  void retain(cl_program handle);
  void release(cl_program handle);

  TwinPointer twin_of(cl_program handle) const;  // or null
  void set_twin(const ProgramPointer &program, TwinPointer twin);
  CompilationPointer compilation_of(cl_program handle) const;  // or null
  void set_compilation(const ProgramPointer &program, CompilationPointer compilation);
  bool has_kernels(const ProgramPointer &program) const;

  // The program's twin, or null; if there is one, it counts as having a kernel until end_kernel().
  TwinPointer begin_kernel(const ProgramPointer &program);
  void end_kernel(const ProgramPointer &program);
  void add_kernel(cl_kernel kernel, const ProgramPointer &program);
  ProgramPointer program_of(cl_kernel kernel) const;  // null: not a twin's
  // References to the program's handle by its twin's kernels that the driver would not count.
  unsigned uncounted(cl_program handle) const;
  void retain_kernel(cl_kernel kernel);
  // The program whose handle the kernel held, if this was its last reference; else null.
  cl_program release_kernel(cl_kernel kernel);

 private:
  struct Kernel {
    ProgramPointer program;
    unsigned references = 1;
  };

  void forget_if_unused(const Program &program);

  mutable std::mutex mutex_;
  std::unordered_map<cl_program, ProgramPointer> programs_;
  std::unordered_map<cl_kernel, Kernel> kernels_;
};

// Never destroyed: applications release what they have when their own statics are.
Objects &objects();

}  // namespace kiln::layer
