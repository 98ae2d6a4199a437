// SPDX-License-Identifier: Apache-2.0
// Calls the offline compiler, and notes in the binary how it was made.
#include "builder/build/offline_job.hpp"

#include <chrono>

#include "builder/finish/finishers.hpp"
#include "builder/process/status_json.hpp"

namespace kiln::builder {

nlohmann::json run_offline_job(const JobRequest &request) {
  const OfflineCompiler &compiler = *request.device.offline;
  const auto start = std::chrono::steady_clock::now();
  auto made = compiler.compile(request.variant, request.limits);
  if (!made.ok()) return to_json(made.status());
  packs::Binary binary{request.variant.hash, packs::BlobSource(std::move(made->binary)), {}};
  packs::Finish &finish = binary.finish;
  finish.why_not = "no device of this kind has loaded it";
  finish.finisher = compiler.recipe();
  finish.driver = compiler.driver();
  finish.microseconds =
      static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(
                                     std::chrono::steady_clock::now() - start)
                                     .count());
  return {{"binary", to_json(binary)}, {"log", made->log}, {"kernels", nlohmann::json::array()}};
}

}  // namespace kiln::builder
