// SPDX-License-Identifier: Apache-2.0
// Tries the rungs from the top until a program passes every check, and hands the loaded program
// to Persistence, which stores it if it was compiled.
#include "runtime/load/ladder.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <iterator>

#include "runtime/load/rungs.hpp"

namespace kiln::runtime {
namespace {

using packs::VariantRef;
using packs::View;
using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// A rung's offer that is given to the driver. The guard records verdicts on its `task`.
struct Attempt {
  const Rung &rung;
  const Offer &offer;
  DriverTask task{offer.id, rung.id};
};

// Returns whether the compiler refused the program and would do so again. Running out of memory,
// for example, is not such a refusal.
bool was_refused(const Status &error) {
  return error.cl_error == CL_BUILD_PROGRAM_FAILURE ||
         error.cl_error == CL_COMPILE_PROGRAM_FAILURE ||
         error.cl_error == CL_LINK_PROGRAM_FAILURE || error.cl_error == CL_INVALID_BUILD_OPTIONS;
}

class Ladder {
 public:
  Ladder(const std::shared_ptr<const Loader> &loader, VariantRef variant, unsigned flags,
         Report *report)
      : loader_(loader),
        variant_(variant),
        flags_(flags),
        report_(*report),
        persistence_(loader->persistence.get()),
        guard_(guard_of(*loader)),
        dry_run_((flags & kDryRun) != 0),
        proven_only_((flags & KILN_LOAD_UNPROVEN) == 0 && requires_proof(variant)) {}

  bool climb(std::shared_ptr<LoadedProgram> *out) {
    const std::unique_lock<std::mutex> lock(loader_->scratch_mutex, std::try_to_lock);
    packs::Bytes own;
    scratch_ = lock ? &loader_->scratch : &own;
    const bool loaded = std::any_of(std::begin(kLadder), std::end(kLadder),
                                    [&](const Rung &rung) { return try_rung(rung, out); });
    note_distrust();
    const bool keeps = persistence_ != nullptr && (flags_ & KILN_LOAD_NO_OVERLAY) == 0;
    if (loaded && keeps && !dry_run_) persistence_->keep(out->get(), &report_);
    return loaded;
  }

 private:
  bool give_up(RungResult *result, kiln_outcome outcome, std::string reason) {
    result->outcome = outcome;
    result->reason = std::move(reason);
    notify_of(KILN_NOTICE_RUNG, *result, result->reason.c_str());
    report_.rungs.push_back(std::move(*result));
    return false;
  }

  bool skip(kiln_rung rung, kiln_outcome outcome, std::string reason) {
    RungResult result;
    result.rung = rung;
    return give_up(&result, outcome, std::move(reason));
  }

  // Returns an error with the reason if this rung must not be tried at all, whatever it would
  // offer.
  Status check_rung(const Rung &rung) const {
    if ((flags_ & rung.off) != 0) return Status::error(Code::failed, "switched off");
    if (proven_only_ &&
        (rung.id != KILN_RUNG_EXACT || !is_proven(*loader_->pack, *loader_->device, variant_))) {
      return Status::error(Code::failed, "the variant requires a binary with a proof");
    }
    if ((loader_->notes.flags & KILN_DRIVER_NEVER_GIVE) != 0 && rung.form == Form::binary) {
      return Status::error(Code::failed, "a driver note: never give it binaries");
    }
    return {};
  }

  void notify_of(kiln_notice_kind kind, const RungResult &result, const char *text) {
    if (dry_run_) return;
    notify(*loader_, {kind, result.rung, result.outcome, report_.program.c_str(),
                      report_.variant.c_str(), text, 0});
  }

  void note(kiln_notice_kind kind, const RungResult &result, std::string text) {
    notify_of(kind, result, text.c_str());
    report_.notes.push_back(std::move(text));
  }

  void note_distrust() {
    if (loader_->trust == nullptr) return;
    Status distrust = loader_->trust->distrust();
    if (!distrust.ok()) note(KILN_NOTICE_UNTRUSTED, {}, std::move(distrust.message));
  }

  bool try_rung(const Rung &rung, std::shared_ptr<LoadedProgram> *out) {
    if (rung.nvidia_only && loader_->device->description.finishing != Finishing::linker) {
      return false;
    }
    if (Status s = check_rung(rung); !s.ok()) {
      return skip(rung.id, KILN_OUTCOME_SKIPPED, std::move(s.message));
    }
    std::vector<Offer> offers = rung.offers({*loader_, variant_, flags_, scratch_});
    return std::any_of(offers.begin(), offers.end(),
                       [&](Offer &offer) { return take_offer(rung, &offer, out); });
  }

  bool take_offer(const Rung &rung, Offer *offer, std::shared_ptr<LoadedProgram> *out) {
    RungResult result;
    result.rung = rung.id;
    if (!*offer) return give_up(&result, offer->outcome, std::move(offer->reason));
    if (offer->blob) {
      result.blob = offer->blob;
      const packs::Status status = loader_->pack->read_blob(offer->blob, scratch_, &offer->bytes);
      if (!status.ok()) return give_up(&result, KILN_OUTCOME_FAILED, status.message);
      if (offer->bytes.size == 0) {
        return give_up(&result, KILN_OUTCOME_FAILED, "the pack's blob is empty");
      }
    }
    if (!give({rung, *offer}, &result, out)) return false;
    if (offer->note != nullptr) report_.notes.push_back(offer->note);
    return true;
  }

  // Gives the driver the bytes. Unless the driver is known to survive them, a marker (a file that
  // shows later that the process died in the driver) guards the attempt.
  bool give(const Attempt &attempt, RungResult *result, std::shared_ptr<LoadedProgram> *out) {
    const Verdict before = guard_ == nullptr ? Verdict::untried : guard_->verdict(attempt.task.id);
    if (guard_ != nullptr) {
      const bool last = is_last({*loader_, variant_, flags_}, result->rung);
      Status s = guard_->check(attempt.task, last, dry_run_);
      if (s.ok()) {
        s = check_launches(guard_, attempt.task, variant_.kernels().size(), last, dry_run_);
      }
      if (!s.ok()) return pass_over(attempt, result, std::move(s.message));
    }
    if (dry_run_) {
      finish_report(attempt, before, result);
      return true;
    }
    Guarded guarded(guard_, attempt.task, loader_->deadline_milliseconds);
    if (!guarded.status().ok()) {
      note(KILN_NOTICE_NO_GUARD, *result,
           concat({"cannot write the marker that detects a crash of the driver, so a crash would "
                   "go unnoticed: ",
                   guarded.status().message}));
    }
    Verdict after = Verdict::untried;
    const bool loaded = build(attempt, before, result, &guarded, &after, out);
    guarded.end(after);
    return loaded;
  }

  // Reports an offer in quarantine as quarantined. If it is there only because the compiler refused
  // it in an earlier run, reports the rung as failed instead, with the log kept from that run.
  bool pass_over(const Attempt &attempt, RungResult *result, std::string why) {
    const History history = guard_->history(attempt.task.id);
    if (history.deaths != 0 || history.refusals == 0) {
      return give_up(result, KILN_OUTCOME_QUARANTINED, std::move(why));
    }
    result->log = persistence_->refusal(attempt.task.id, &why);
    return give_up(result, KILN_OUTCOME_FAILED,
                   concat({"the driver refused the program in an earlier run: ", why}));
  }

  bool build(const Attempt &attempt, Verdict before, RungResult *result, Guarded *guarded,
             Verdict *after, std::shared_ptr<LoadedProgram> *out) {
    const std::vector<ExpectedKernel> expected = expected_kernels(variant_);
    const Device &device = *loader_->device;
    // If the variant has a single kernel, pass the driver's option `deferring`: the driver compiles
    // this kernel when it is created, and never compiles other kernels of the source.
    BuildOutcome outcome =
        build_program(device, loader_->context.get(), attempt.rung.form, attempt.offer.bytes,
                      concat({variant_.options(), loader_->notes.options}), expected,
                      expected.size() == 1 ? device.description.deferring : "");
    if (!outcome.error.ok()) {
      if (persistence_ != nullptr && attempt.rung.form != Form::binary &&
          was_refused(outcome.error)) {
        // End the guard first: if the process dies while the refusal is stored, that must not count
        // as a crash of the driver on these bytes.
        guarded->end(Verdict::refused);
        persistence_->keep_refusal(attempt.task.id, outcome.error.message, outcome.log);
      }
      result->log = std::move(outcome.log);
      return give_up(result, KILN_OUTCOME_FAILED, std::move(outcome.error.message));
    }
    auto program = std::make_shared<LoadedProgram>();
    program->loader = loader_;
    program->name = report_.program;
    program->variant = variant_;
    program->built = std::move(outcome.built);
    *after = Verdict::proven;
    if (attempt.rung.form == Form::binary) {
      *after = verdict_on_binary(attempt, before, guarded, program->built.program.get());
    }
    if (*after == Verdict::recompiled) {
      report_.recompiled = true;
      notify_of(KILN_NOTICE_RECOMPILED, *result, "the driver silently recompiled the binary");
    }
    finish_report(attempt, *after, result);
    program->task = attempt.task;
    if (guard_ != nullptr) expect_first_launches(program.get());
    *out = std::move(program);
    return true;
  }

  void finish_report(const Attempt &attempt, Verdict verdict, RungResult *result) {
    report_.rungs.push_back(std::move(*result));
    report_.rung = report_.rungs.back().rung;
    static_assert(static_cast<int>(packs::Finality::yes) == KILN_FINAL_YES &&
                      static_cast<int>(packs::Finality::no) == KILN_FINAL_NO,
                  "the two enums must have the same values");
    report_.final = static_cast<kiln_finality>(attempt.offer.finality);
    report_.why_not_final = attempt.offer.why_not_final;
    if (verdict == Verdict::recompiled) {
      report_.final = KILN_FINAL_NO;
      report_.why_not_final = "the driver compiled it anew";
    }
    if (report_.final == KILN_FINAL_YES &&
        loader_->device->description.finishing == Finishing::shader_cache) {
      report_.final = KILN_FINAL_UNKNOWN;
      report_.why_not_final = "final only where Mesa's cache has the pack's entries";
    }
  }

  // Asks the driver for its binary and compares it with the given one: returns `recompiled` if they
  // differ, else `proven`. Returns `taken` if the driver must not be asked, because of a driver
  // note or because it died or hung when it was asked. Returns `proven` without a comparison if
  // none is needed (no KILN_LOAD_CHECK_RECOMPILED, no overlay) or if the driver gives no binary. An
  // overlay remembers the answer: without the flag, the driver is asked once for each binary and
  // driver version.
  Verdict verdict_on_binary(const Attempt &attempt, Verdict before, Guarded *guarded,
                            cl_program program) {
    const bool known = is_known(before) && before != Verdict::taken;
    const bool asked = (flags_ & KILN_LOAD_CHECK_RECOMPILED) != 0 || guard_ != nullptr;
    if (known && (flags_ & KILN_LOAD_CHECK_RECOMPILED) == 0) {
      report_.recompiled = before == Verdict::recompiled;
      return before;
    }
    constexpr unsigned kNever = KILN_DRIVER_NEVER_COMPARE | KILN_DRIVER_NEVER_ASK;
    if ((loader_->notes.flags & kNever) != 0) return Verdict::taken;
    if (!asked) return Verdict::proven;
    // The driver has survived loading the binary; asking for its binary has a marker of its own.
    guarded->end(Verdict::untried);
    packs::Bytes now;
    const Status status = ask_for_binary(*loader_, variant_, program, &now);
    if (status.code == Code::failed) return Verdict::taken;  // not asked
    if (!status.ok()) return Verdict::proven;
    report_.recompiled = now.size() != attempt.offer.bytes.size ||
                         std::memcmp(now.data(), attempt.offer.bytes.data, now.size()) != 0;
    return *report_.recompiled ? Verdict::recompiled : Verdict::proven;
  }

  // Sets bit i of to_prove if the guard does not know that the driver survives launching kernel i.
  void expect_first_launches(LoadedProgram *program) const {
    std::uint64_t bits = 0;
    for (unsigned i = 0; i < variant_.kernels().size() && i < kMarkedKernels; ++i) {
      if (!is_known(guard_->verdict(launch_id(program->task, i)))) bits |= std::uint64_t{1} << i;
    }
    program->to_prove = bits;
  }

  const std::shared_ptr<const Loader> &loader_;
  VariantRef variant_;
  unsigned flags_;
  Report &report_;
  Persistence *persistence_;
  Guard *guard_;
  bool dry_run_;
  bool proven_only_;  // only a proven binary of the exact rung may be tried
  packs::Bytes *scratch_ = nullptr;
};

std::string summary(const Report &report) {
  std::string text =
      concat({"no rung could load program ", report.program, ", variant ", report.variant});
  for (const RungResult &result : report.rungs) {
    text += concat({"; ", find_rung(result.rung)->title, ": ", result.reason});
  }
  return text;
}

}  // namespace

Status climb(const std::shared_ptr<const Loader> &loader, VariantRef variant, unsigned flags,
             std::shared_ptr<LoadedProgram> *out, Report *report) {
  const auto start = Clock::now();
  const bool loaded = Ladder(loader, variant, flags, report).climb(out);
  report->milliseconds = milliseconds_since(start);
  Status error;
  if (!loaded) error = Status::error(Code::no_rung, summary(*report));
  if ((flags & kDryRun) != 0) return error;
  notify(*loader, {loaded ? KILN_NOTICE_LOADED : KILN_NOTICE_NOT_LOADED, report->rung,
                   loaded ? KILN_OUTCOME_LOADED : KILN_OUTCOME_FAILED, report->program.c_str(),
                   report->variant.c_str(), error.message.c_str(), report->milliseconds});
  return error;
}

}  // namespace kiln::runtime
