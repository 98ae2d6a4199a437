// What a build would do. Pure.
#pragma once

#include <string>
#include <vector>

#include "devices.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

enum class Need {
  compile,  // there is no binary yet
  reuse,    // an earlier pack has it
  skip,     // the device cannot run the variant
};

// program x variant x options x target.
struct Job {
  std::size_t device = 0;   // place in the list of devices given to make_plan
  std::size_t program = 0;  // places in the base contents
  std::size_t variant = 0;
  Need need = Need::compile;
  std::string reason;  // why, as a sentence without a full stop
};

// One job for each device and variant, in the order of devices, then programs and
// variants as they stand in `base`. Devices with the same binary key get their jobs once.
// `earlier` holds the targets of a pack that was built before; may be empty.
std::vector<Job> make_plan(const packs::Contents &base, const std::vector<DeviceInfo> &devices,
                           const std::vector<packs::Target> &earlier);

// "laplace/scalar for NVIDIA H200 (driver 580)".
std::string job_name(const packs::Contents &base, const std::vector<DeviceInfo> &devices,
                     const Job &job);

// The binary of `earlier` that such a job would reuse, or null.
const packs::Binary *earlier_binary(const std::vector<packs::Target> &earlier,
                                    const std::string &key, const packs::Name &variant);

}  // namespace kiln::builder
