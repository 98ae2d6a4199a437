// SPDX-License-Identifier: Apache-2.0
// What a load reports while it climbs the ladder: notices to the application, the outcome of each
// rung, and whether the loaded program is final.
#pragma once

#include <atomic>
#include <string>

#include "runtime/load/loader.hpp"
#include "runtime/load/report.hpp"
#include "runtime/load/rungs.hpp"

namespace kiln::runtime {

// Called with the report of each load but a dry run, on the thread that loads; null: nobody wants
// reports.
extern std::atomic<void (*)(const Report &)> on_report;

// Fills in the report of one load. For one thread. In a dry run, the application gets no notices.
class Reporter {
 public:
  // The report must outlive the reporter.
  Reporter(const Loader &loader, bool dry_run, Report *report)
      : loader_(loader), dry_run_(dry_run), report_(*report) {}

  // Adds a rung, or one of its offers, that gave no program. Returns false.
  bool failed(RungResult *result, kiln_outcome outcome, std::string reason);
  bool skipped(kiln_rung rung, std::string reason);
  // Adds the rung that gave the program, with the offer's note. The finality is the offer's, unless
  // the driver recompiled the binary or needs Mesa's cache to hold the rest.
  void loaded(RungResult *result, const Offer &offer, bool recompiled);

  // Returns whether what was loaded meets the KILN_LOAD_REQUIRE_* bits; else its rung has failed.
  bool meets(unsigned flags);

  // Notifies the application of an event, and adds the text to the report's notes.
  void note(kiln_notice_kind kind, const RungResult &result, std::string text);
  void note_distrust();
  // Sets the report's `recompiled`, and notifies the application if it is true.
  void note_recompiled(const RungResult &result, bool recompiled);

  // Ends the report. Returns Code::no_rung with every rung's reason if no program was loaded.
  Status end(bool loaded, double milliseconds);

 private:
  void notify_of(kiln_notice_kind kind, const RungResult &result, const char *text) const;

  const Loader &loader_;
  bool dry_run_;
  Report &report_;
};

}  // namespace kiln::runtime
