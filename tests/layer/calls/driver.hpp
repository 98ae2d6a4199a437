// SPDX-License-Identifier: Apache-2.0
// An OpenCL driver inside the test, below the layer. Its programs are their texts: it "compiles" a
// text by counting the kernels in it, and a binary is the device's name and the text. A kernel
// behind the word FOR_Second is for devices of that name alone. The driver reuses handles as soon
// as it can, and counts the uses of objects that are gone.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <CL/cl_icd.h>

namespace kiln::test {

struct Launched {
  std::string kernel;
  std::vector<std::size_t> global;
  std::vector<std::size_t> local;  // empty: left to the driver
};

struct Driver {
  // What it says of itself. There is a device for each name; those with the same name have the same
  // binary key.
  std::string platform = "Texts";
  std::string device_version = "OpenCL 3.0 texts";
  std::string driver_version = "1.0";
  std::vector<std::string> names = {"First", "Second"};
  bool counts_kernels = false;    // as references to their programs
  bool tells_arguments = true;    // also of programs without -cl-kernel-arg-info
  bool keeps_attributes = false;  // in binaries, and the arguments' names
  bool takes_files = true;        // false: no text that includes files can be built
  bool reads_quotes = true;       // of -I, so that it finds files
  bool takes_together = true;     // binaries of several devices
  bool joins_options = false;     // tells them without blanks
  bool turns_kernels = false;     // of binaries: lists them in the opposite order
  bool gives_last_built = false;  // binaries of the last build's devices alone
  // Has sub-devices of the first device, and programs of the first device in their place.
  bool has_sub_devices = false;
  bool calls_back_refused = false;         // where it refuses to build, too
  std::size_t required_side = 0;           // of work-groups, of each kernel
  std::vector<std::size_t> refused_local;  // no launch with it works

  // An answer to one query that no driver should give: refused, a byte short, with a size beyond
  // all memory, or a text without its end.
  enum class Fault { none, refused, short_by_one, huge, unterminated };
  struct Query {
    std::string function;
    cl_uint what = 0;
    bool operator<(const Query &other) const {
      return std::tie(function, what) < std::tie(other.function, other.what);
    }
  };
  std::set<Query> asked;  // all queries so far
  Query spoiled;          // by `fault`
  Fault fault = Fault::none;

  std::map<std::string, cl_int> fails;  // the code that a function returns instead of working
  std::function<void()> on_build;       // what else happens inside clBuildProgram

  std::map<std::string, unsigned> calls;  // how often each function was called
  std::vector<std::string> built;         // "TEXT, OPTIONS" of each build and compilation
  std::vector<Launched> launches;
  unsigned misuses = 0;  // of objects that are gone, or are of another kind
  std::size_t live = 0;  // objects that exist
};

Driver &driver();
cl_device_id driver_device(std::size_t index);
cl_device_id driver_sub_device(std::size_t index);
cl_icd_dispatch driver_table();

// How many calls have been made of the function.
inline unsigned calls_of(const char *function) { return driver().calls[function]; }

// The binary that the driver makes of a text for a device of this name.
inline std::string binary_of(const std::string &device, const std::string &text) {
  return "BINARY " + device + "\n" + text;
}

}  // namespace kiln::test
