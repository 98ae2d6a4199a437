// SPDX-License-Identifier: Apache-2.0
// A GPU with NVIDIA's shape from the build to the launch: PTX out, the driver's linker, a cubin in.
// The scripted driver and the fake libcuda, which ctest puts on LD_LIBRARY_PATH, play it with PoCL
// behind them, so that CI covers what only a GPU shows.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "builder/jobs/device_build.hpp"
#include "tests/driver/ladder.hpp"
#include "tests/support/cuda/shapes.hpp"

namespace kiln::test {

using builder::BuildOptions;
using builder::ChildResult;
using builder::ProcessEnd;
using nlohmann::json;
using packs::Finality;

inline constexpr char kDriver[] = "580.159.04";
inline constexpr char kLaterDriver[] = "595.10";
inline constexpr char kEarlierDriver[] = "575.57.08";
inline constexpr char kCompiles[] = "the driver compiles this form whenever it loads it";

// The machine of one process: its GPU, its driver, and what its linker does (KILN_FAKE_CUDA).
struct Gpu {
  unsigned capability = 90;
  std::string driver = kDriver;
  std::string ptx = "8.8";
  std::string binary{};  // goes to the end of [platform.device.binary]; faults can follow in it
  std::string linker{};
  std::string library{};  // a libcuda.so.1 that is loaded already: then the name means this one
};

Gpu with_driver(const std::string &version);
Gpu with_capability(unsigned capability);
Gpu with_binary(const std::string &rest);
Gpu with_linker(const std::string &script);

// The program with what Kiln needs to launch it, and nothing that a GPU of NVIDIA's would not take.
packs::Contents launchable();

packs::Contents read_pack(const std::string &path);
void save(const packs::Contents &contents, const std::string &path);
packs::BlobSource blob(const std::string &bytes);
std::string bytes_of(const packs::BlobSource &blob);

// How a build went, and the pack that it wrote.
struct Build {
  std::vector<builder::JobFailure> failures;
  std::vector<builder::JobFailure> unfinished;
  std::size_t compiled = 0;
  std::size_t reused = 0;
  packs::Contents contents;

  // The target whose key has that part; throws if there is none.
  const packs::Target &target(const std::string &part) const;
};

json texts(const std::vector<builder::JobFailure> &failures);

// What a start does after it loaded "triple".
struct How {
  std::string overlay{};
  unsigned flags = 0;
  bool launch = true;
  bool finish = false;  // kiln_loader_finish()
  bool end = false;     // the process ends, and releases nothing
  LaunchOptions launch_options{};
};

How from(const std::string &overlay, unsigned flags = 0);

// One start of the application, and the report's "final".
struct Run : Start {
  json final;  // true, false or null
  std::string why_not;
  std::size_t jits = 0;  // how often the driver compiled PTX

  // All notices of that kind.
  std::vector<std::string> all(kiln_notice_kind kind) const;
};

// The machine with its packs, which are built once for each test program.
class Nvidia {
 public:
  Nvidia();

  const ScriptedDriver &driver() const { return driver_; }
  std::string path(const std::string &name) const { return driver_.path(name); }
  std::string full();  // a pack with PTX, a cubin for an H200, and source
  std::string base() const { return path("base.kiln"); }  // a pack with source alone
  std::string new_overlay() { return path("overlay-" + std::to_string(++overlays_)); }

  // Runs `work` in a process on that machine; the script must be set.
  builder::ChildResult process(const Gpu &gpu, const std::function<json()> &work,
                               std::chrono::milliseconds timeout = std::chrono::seconds(60)) const;

  // `kiln build` of `base` on all devices; `earlier` is the path of a pack.
  Build build(const Gpu &gpu, const std::string &out, const builder::BuildOptions &options = {},
              const std::string &earlier = "", const packs::Contents &base = launchable(),
              const std::string &before = "") const;

  // One start of the application on that machine.
  Run start(const Gpu &gpu, const std::string &pack, const How &how = {}) const;

 private:
  void set(const Gpu &gpu, const std::string &before = "") const;

  ScriptedDriver driver_;
  unsigned overlays_ = 0;
  bool built_ = false;
};

Nvidia &nvidia();

// Packs of three other programs, with source alone, that have the name of the first.
std::vector<std::string> other_programs();

// The number of markers of first launches in an overlay's folder.
std::size_t markers_in(const std::string &overlay);

#define SHOW(run)                                                                         \
  INFO((run).child.reason() << (run).report << json((run).all(KILN_NOTICE_STORED)).dump() \
                            << json((run).all(KILN_NOTICE_NOT_STORED)).dump())

}  // namespace kiln::test
