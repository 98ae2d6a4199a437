// SPDX-License-Identifier: Apache-2.0
#include "builder/base/this_process.hpp"

#ifdef __linux__
#include <sched.h>
#endif

#include "builder/process/fork_call.hpp"
#include "tests/support/catch.hpp"

using namespace kiln::builder;

TEST_CASE("there is a CPU to use") { CHECK(usable_cpus() >= 1); }

#ifdef __linux__
TEST_CASE("CPUs that this process may not use do not count") {
  const auto result = fork_call(
      []() -> nlohmann::json {
        cpu_set_t all;
        if (sched_getaffinity(0, sizeof(all), &all) != 0) return "no affinity";
        int first = 0;
        while (!CPU_ISSET(first, &all)) ++first;
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(first, &one);
        if (sched_setaffinity(0, sizeof(one), &one) != 0) return "no affinity";
        return usable_cpus();
      },
      std::chrono::seconds(20));
  CHECK(result.answer == 1);
}
#endif
