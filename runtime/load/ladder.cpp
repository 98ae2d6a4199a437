// SPDX-License-Identifier: Apache-2.0
// Tries the rungs from the top until a program passes every check, and hands the loaded program
// to Persistence, which stores it if it was compiled. The checks are elsewhere: whether a rung may
// be tried in rungs.cpp, whether its bytes crashed the driver before in runtime/overlay, whether
// the driver recompiled a binary in recompiled.cpp. Notices and finality are in reporter.cpp.
#include "runtime/load/ladder.hpp"

#include <algorithm>
#include <chrono>

#include "kiln/packs/linked_source.hpp"
#include "runtime/identity/il_needs.hpp"
#include "runtime/load/recompiled.hpp"
#include "runtime/load/reporter.hpp"
#include "runtime/load/rungs.hpp"

namespace kiln::runtime {
namespace {

using packs::VariantRef;
using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// Returns whether the compiler refused a program and would do so again. Running out of memory, for
// example, is not such a refusal.
bool is_refusal(const Status &error) {
  const cl_int code = error.cl_error;
  return code == CL_BUILD_PROGRAM_FAILURE || code == CL_COMPILE_PROGRAM_FAILURE ||
         code == CL_LINK_PROGRAM_FAILURE || code == CL_INVALID_BUILD_OPTIONS;
}

// Bytes of a rung, to be given to the driver, and their task.
struct Given {
  const Rung &rung;
  const Offer &offer;
  DriverTask task{offer.id, rung.id};
};

class Climb {
 public:
  Climb(const std::shared_ptr<const Loader> &loader, VariantRef variant, unsigned flags,
        const std::string &program, Reporter *reporter)
      : loader_(loader),
        wanted_{*loader, program, variant, flags},
        program_(program),
        reporter_(*reporter),
        persistence_(loader->persistence.get()),
        dry_run_((flags & kDryRun) != 0) {}

  bool load(std::shared_ptr<LoadedProgram> *out) {
    const std::unique_lock<std::mutex> lock(loader_->scratch_mutex, std::try_to_lock);
    packs::Bytes own;
    wanted_.scratch = lock ? &loader_->scratch : &own;
    const Rungs all = rungs();
    const bool loaded =
        std::any_of(all.begin(), all.end(), [&](const Rung &rung) { return try_rung(rung, out); });
    reporter_.note_distrust();
    return loaded;
  }

 private:
  bool try_rung(const Rung &rung, std::shared_ptr<LoadedProgram> *out) {
    if (!is_listed(rung, *loader_->device)) return false;
    if (Status s = may_try(rung, wanted_); !s.ok()) {
      return reporter_.skipped(rung.id, std::move(s.message));
    }
    std::vector<Offer> offers = offers_of(rung, wanted_);
    return std::any_of(offers.begin(), offers.end(),
                       [&](Offer &offer) { return take_offer(rung, &offer, out); });
  }

  bool take_offer(const Rung &rung, Offer *offer, std::shared_ptr<LoadedProgram> *out) {
    RungResult result;
    result.rung = rung.id;
    if (!*offer) return reporter_.failed(&result, offer->outcome, std::move(offer->reason));
    if (offer->blob) {
      result.blob = offer->blob;
      const packs::Status status =
          loader_->pack->read_blob(offer->blob, wanted_.scratch, &offer->bytes);
      if (!status.ok()) return reporter_.failed(&result, KILN_OUTCOME_FAILED, status.message);
      if (offer->bytes.size == 0) {
        return reporter_.failed(&result, KILN_OUTCOME_FAILED, "the pack's blob is empty");
      }
      if (rung.form == Form::source &&
          packs::is_linked_source(
              {reinterpret_cast<const char *>(offer->bytes.data), offer->bytes.size})) {
        return reporter_.failed(&result, KILN_OUTCOME_MISSED,
                                "it is linked of compiled programs, which only the builder does");
      }
      if (rung.form == Form::il) {
        const packs::Status s = check_il(offer->bytes, loader_->device->capabilities);
        if (!s.ok()) {
          return reporter_.failed(&result, KILN_OUTCOME_SKIPPED,
                                  concat({"the module ", s.message, ", which the device lacks"}));
        }
      }
    }
    if (!give({rung, *offer}, &result, out)) return false;
    if (reporter_.meets(wanted_.flags)) return true;
    out->reset();
    return false;
  }

  // Gives the driver the bytes. Unless the driver is known to survive them, a marker (a file that
  // shows later that the process died in the driver) guards the attempt.
  bool give(const Given &given, RungResult *result, std::shared_ptr<LoadedProgram> *out) {
    Checked checked;
    if (persistence_ != nullptr) {
      checked = persistence_->check(
          given.task, {wanted_.variant.kernels().size(), is_last(wanted_, given.rung), dry_run_});
    }
    if (!checked) {
      result->log = std::move(checked.log);
      return reporter_.failed(result, checked.outcome, std::move(checked.reason));
    }
    if (dry_run_) {
      reporter_.loaded(result, given.offer, checked.last == Event::recompiled);
      return true;
    }
    Attempt attempt(persistence_, given.task, loader_->deadline_milliseconds);
    if (!attempt.status().ok()) {
      reporter_.note(
          KILN_NOTICE_NO_GUARD, *result,
          concat({"cannot write the marker that detects a crash of the driver, so a crash would "
                  "go unnoticed: ",
                  attempt.status().message}));
    }
    return build(given, checked, result, &attempt, out);
  }

  bool build(const Given &given, const Checked &checked, RungResult *result, Attempt *attempt,
             std::shared_ptr<LoadedProgram> *out) {
    const VariantRef variant = wanted_.variant;
    const bool creates = (wanted_.flags & kWithoutKernels) == 0;
    const Device &device = *loader_->device;
    // If the variant uses only one kernel, pass the driver's option `deferring`: the driver then
    // compiles a kernel only when it is created, so the source's other kernels never.
    BuildOutcome outcome =
        build_program(device, loader_->context.get(), given.rung.form, given.offer.bytes,
                      concat({variant.options(), loader_->notes.options}),
                      creates ? expected_kernels(variant) : std::vector<ExpectedKernel>(),
                      variant.kernels().size() == 1 ? device.description.deferring : "");
    if (!outcome.error.ok()) {
      if (given.rung.form != Form::binary && is_refusal(outcome.error)) {
        attempt->end(Event::refused, concat({outcome.error.message, "\n", outcome.log}));
      }
      result->log = std::move(outcome.log);
      return reporter_.failed(result, KILN_OUTCOME_FAILED, std::move(outcome.error.message));
    }
    RecompileCheck check;
    if (given.rung.form == Form::binary) {
      check = check_recompiled(wanted_, given.offer.bytes, checked.last, attempt,
                               outcome.built.program.get());
    }
    attempt->end(check.event);
    if (check.recompiled) reporter_.note_recompiled(*result, *check.recompiled);
    reporter_.loaded(result, given.offer, check.event == Event::recompiled);
    auto program = std::make_shared<LoadedProgram>();
    program->loader = loader_;
    program->name = program_;
    program->variant = variant;
    program->built = std::move(outcome.built);
    program->task = given.task;
    program->to_prove = checked.unproven;
    *out = std::move(program);
    return true;
  }

  const std::shared_ptr<const Loader> &loader_;
  Wanted wanted_;
  const std::string &program_;
  Reporter &reporter_;
  Persistence *persistence_;
  bool dry_run_;
};

}  // namespace

Status climb(const std::shared_ptr<const Loader> &loader, VariantRef variant, unsigned flags,
             std::shared_ptr<LoadedProgram> *out, Report *report) {
  const auto start = Clock::now();
  const bool dry_run = (flags & kDryRun) != 0;
  Reporter reporter(*loader, dry_run, report);
  const bool loaded = Climb(loader, variant, flags, report->program, &reporter).load(out);
  const bool stores = loader->persistence != nullptr && (flags & KILN_LOAD_NO_OVERLAY) == 0;
  if (loaded && stores && !dry_run) loader->persistence->store(out->get(), report);
  return reporter.end(loaded, milliseconds_since(start));
}

}  // namespace kiln::runtime
