// SPDX-License-Identifier: Apache-2.0
// Fills in a load's report, and notifies the application.
#include "runtime/load/reporter.hpp"

namespace kiln::runtime {

std::atomic<void (*)(const Report &)> on_report{nullptr};

namespace {

std::string summary(const Report &report) {
  std::string text =
      concat({"no rung could load program ", report.program, ", variant ", report.variant});
  for (const RungResult &result : report.rungs) {
    text += concat({"; ", find_rung(result.rung)->title, ": ", result.reason});
  }
  return text;
}

}  // namespace

void Reporter::notify_of(kiln_notice_kind kind, const RungResult &result, const char *text) const {
  if (dry_run_) return;
  notify(loader_, {kind, result.rung, result.outcome, report_.program.c_str(),
                   report_.variant.c_str(), text, 0});
}

bool Reporter::failed(RungResult *result, kiln_outcome outcome, std::string reason) {
  result->outcome = outcome;
  result->reason = std::move(reason);
  notify_of(KILN_NOTICE_RUNG, *result, result->reason.c_str());
  report_.rungs.push_back(std::move(*result));
  return false;
}

bool Reporter::skipped(kiln_rung rung, std::string reason) {
  RungResult result;
  result.rung = rung;
  return failed(&result, KILN_OUTCOME_SKIPPED, std::move(reason));
}

void Reporter::loaded(RungResult *result, const Offer &offer, bool recompiled) {
  report_.rungs.push_back(std::move(*result));
  report_.rung = report_.rungs.back().rung;
  if (offer.note != nullptr) report_.notes.push_back(offer.note);
  static_assert(static_cast<int>(packs::Finality::yes) == KILN_FINAL_YES &&
                    static_cast<int>(packs::Finality::no) == KILN_FINAL_NO,
                "the two enums must have the same values");
  report_.final = static_cast<kiln_finality>(offer.finality);
  report_.why_not_final = offer.why_not_final;
  if (recompiled) {
    report_.final = KILN_FINAL_NO;
    report_.why_not_final = "the driver compiled it anew";
  }
  if (report_.final == KILN_FINAL_YES &&
      loader_.device->description.finishing == Finishing::shader_cache) {
    report_.final = KILN_FINAL_UNKNOWN;
    report_.why_not_final = "final only where Mesa's cache has the pack's entries";
  }
}

bool Reporter::meets(unsigned flags) {
  std::string why;
  if ((flags & kRequires) != 0 && report_.recompiled.value_or(false)) {
    why = "the driver recompiled the binary";
  } else if ((flags & KILN_LOAD_REQUIRE_FINAL) != 0 && report_.final != KILN_FINAL_YES) {
    why = report_.why_not_final.empty()
              ? "it is not known whether its binary is final"
              : concat({"its binary is not final: ", report_.why_not_final});
  } else {
    return true;
  }
  RungResult result = std::move(report_.rungs.back());
  report_.rungs.pop_back();
  report_.rung = KILN_RUNG_ERROR;
  report_.final = KILN_FINAL_UNKNOWN;
  report_.why_not_final.clear();
  return failed(&result, KILN_OUTCOME_FAILED, std::move(why));
}

void Reporter::note(kiln_notice_kind kind, const RungResult &result, std::string text) {
  notify_of(kind, result, text.c_str());
  report_.notes.push_back(std::move(text));
}

void Reporter::note_distrust() {
  if (loader_.trust == nullptr) return;
  Status distrust = loader_.trust->distrust();
  if (!distrust.ok()) note(KILN_NOTICE_UNTRUSTED, {}, std::move(distrust.message));
}

void Reporter::note_recompiled(const RungResult &result, bool recompiled) {
  report_.recompiled = recompiled;
  if (recompiled) {
    notify_of(KILN_NOTICE_RECOMPILED, result, "the driver silently recompiled the binary");
  }
}

Status Reporter::end(bool loaded, double milliseconds) {
  report_.milliseconds = milliseconds;
  Status error;
  if (!loaded) error = Status::error(Code::no_rung, summary(report_));
  if (dry_run_) return error;
  if (auto *use = on_report.load()) use(report_);
  notify(loader_, {loaded ? KILN_NOTICE_LOADED : KILN_NOTICE_NOT_LOADED, report_.rung,
                   loaded ? KILN_OUTCOME_LOADED : KILN_OUTCOME_FAILED, report_.program.c_str(),
                   report_.variant.c_str(), error.message.c_str(), milliseconds});
  return error;
}

}  // namespace kiln::runtime
