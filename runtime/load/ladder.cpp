// SPDX-License-Identifier: Apache-2.0
// Tries the rungs from the top until a program passes every check, and hands the loaded program
// to Persistence, which stores it if it was compiled. The checks are elsewhere: whether a rung may
// be tried in rungs.cpp, whether its bytes crashed the driver before in persistence.cpp, whether
// the driver recompiled a binary in recompiled.cpp. Notices and finality are in reporter.cpp.
#include "runtime/load/ladder.hpp"

#include <algorithm>
#include <chrono>

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

// One try: bytes that a rung offers are given to the driver. The guard records under `task` whether
// the driver survived them.
struct Attempt {
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
        guard_(guard_of(*loader)),
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
    }
    return give({rung, *offer}, &result, out);
  }

  // Gives the driver the bytes. Unless the driver is known to survive them, a marker (a file that
  // shows later that the process died in the driver) guards the attempt.
  bool give(const Attempt &attempt, RungResult *result, std::shared_ptr<LoadedProgram> *out) {
    Verdict before = Verdict::untried;
    if (guard_ != nullptr) {
      before = guard_->verdict(attempt.task.id);
      const Status s = check_load(guard_, attempt.task, wanted_.variant.kernels().size(),
                                  is_last(wanted_, attempt.rung), dry_run_);
      if (!s.ok()) {
        PassedOver passed = passed_over(*persistence_, attempt.task, s);
        result->log = std::move(passed.log);
        return reporter_.failed(result, passed.outcome, std::move(passed.reason));
      }
    }
    if (dry_run_) {
      reporter_.loaded(result, attempt.offer, before == Verdict::recompiled);
      return true;
    }
    Guarded guarded(guard_, attempt.task, loader_->deadline_milliseconds);
    if (!guarded.status().ok()) {
      reporter_.note(
          KILN_NOTICE_NO_GUARD, *result,
          concat({"cannot write the marker that detects a crash of the driver, so a crash would "
                  "go unnoticed: ",
                  guarded.status().message}));
    }
    Verdict after = Verdict::untried;
    const bool loaded = build(attempt, before, result, &guarded, &after, out);
    guarded.end(after);
    return loaded;
  }

  bool build(const Attempt &attempt, Verdict before, RungResult *result, Guarded *guarded,
             Verdict *after, std::shared_ptr<LoadedProgram> *out) {
    const VariantRef variant = wanted_.variant;
    const std::vector<ExpectedKernel> expected = expected_kernels(variant);
    const Device &device = *loader_->device;
    // If the variant uses only one kernel, pass the driver's option `deferring`: the driver then
    // compiles a kernel only when it is created, so the source's other kernels never.
    BuildOutcome outcome =
        build_program(device, loader_->context.get(), attempt.rung.form, attempt.offer.bytes,
                      concat({variant.options(), loader_->notes.options}), expected,
                      expected.size() == 1 ? device.description.deferring : "");
    const bool is_binary = attempt.rung.form == Form::binary;
    if (!outcome.error.ok()) {
      if (persistence_ != nullptr && !is_binary) {
        keep_refusal(*persistence_, attempt.task, outcome, guarded);
      }
      result->log = std::move(outcome.log);
      return reporter_.failed(result, KILN_OUTCOME_FAILED, std::move(outcome.error.message));
    }
    RecompileCheck check;
    if (is_binary) {
      check = check_recompiled(wanted_, attempt.offer.bytes, before, guarded,
                               outcome.built.program.get());
    }
    *after = check.verdict;
    if (check.recompiled) reporter_.note_recompiled(*result, *check.recompiled);
    reporter_.loaded(result, attempt.offer, check.verdict == Verdict::recompiled);
    auto program = std::make_shared<LoadedProgram>();
    program->loader = loader_;
    program->name = program_;
    program->variant = variant;
    program->built = std::move(outcome.built);
    program->task = attempt.task;
    if (guard_ != nullptr) {
      program->to_prove = unproven_launches(*guard_, attempt.task, variant.kernels().size());
    }
    *out = std::move(program);
    return true;
  }

  const std::shared_ptr<const Loader> &loader_;
  Wanted wanted_;
  const std::string &program_;
  Reporter &reporter_;
  Persistence *persistence_;
  Guard *guard_;
  bool dry_run_;
};

}  // namespace

Status climb(const std::shared_ptr<const Loader> &loader, VariantRef variant, unsigned flags,
             std::shared_ptr<LoadedProgram> *out, Report *report) {
  const auto start = Clock::now();
  const bool dry_run = (flags & kDryRun) != 0;
  Reporter reporter(*loader, dry_run, report);
  const bool loaded = Climb(loader, variant, flags, report->program, &reporter).load(out);
  const bool keeps = loader->persistence != nullptr && (flags & KILN_LOAD_NO_OVERLAY) == 0;
  if (loaded && keeps && !dry_run) loader->persistence->keep(out->get(), report);
  return reporter.end(loaded, milliseconds_since(start));
}

}  // namespace kiln::runtime
