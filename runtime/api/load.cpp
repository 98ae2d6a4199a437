// SPDX-License-Identifier: Apache-2.0
// The C API: packs, loaders, programs and reports.
#include "kiln/listing.h"
#include "kiln/packs/find_rows.hpp"
#include "kiln/prefetch.h"
#include "runtime/api/api.hpp"
#include "runtime/api/options.hpp"

using namespace kiln::runtime;

namespace kiln::runtime {

namespace {

kiln_status give_pack(const packs::Status &status, std::shared_ptr<const packs::Pack> &&pack,
                      kiln_pack **out, kiln_error *error) {
  if (!status.ok()) return report_error(status, error);
  *out = new kiln_pack{std::move(pack)};
  return KILN_OK;
}

Status take_context(const kiln_loader_options &options, Loader *loader) {
  const Device &device = *loader->device;
  if (options.context == nullptr) {
    const ContextHints hints{options.performance, options.priority};
    return create_context(device, &loader->context, hints, &loader->hints);
  }
  const cl_int code = device.cl->clRetainContext(options.context);
  if (code != CL_SUCCESS) return cl_failure("clRetainContext", code);
  loader->context = Handle<cl_context>(options.context, device.cl->clReleaseContext);
  return {};
}

// NULL stands for any variant, "" for none: no variant has this name.
Status check_variant(const char *program, const char *variant) {
  if (variant == nullptr || *variant != '\0') return {};
  return Status::error(Code::not_in_pack, {"program ", program, " has no variant \"\""});
}

// Adds Kiln's and the application's driver notes to the loader. Returns null, or what is wrong with
// one of the application's notes.
const char *read_notes(const kiln_loader_options &options, Loader *loader) {
  constexpr unsigned kFlags = KILN_DRIVER_NEVER_GIVE | KILN_DRIVER_NEVER_ASK |
                              KILN_DRIVER_NEVER_COMPARE | KILN_DRIVER_NEVER_SUGGEST;
  const Device &device = *loader->device;
  loader->notes = known_driver_notes(device.identity, device.description);
  const auto *at = reinterpret_cast<const char *>(options.driver_notes);
  for (size_t i = 0; at != nullptr && i < options.driver_note_count; ++i) {
    kiln_driver_note note = {};
    if (const char *wrong = read_options(at, sizeof(note), &note); wrong != nullptr) return wrong;
    if ((note.flags & ~kFlags) != 0) return "unknown bits in flags";
    add_driver_note(note, device.identity, device.description, &loader->notes);
    at += note.size;
  }
  return nullptr;
}

Status check_flags(const char *function, unsigned flags) {
  constexpr unsigned kSizes = KILN_LOAD_FOR_SMALL | KILN_LOAD_FOR_MEDIUM;
  const unsigned known = rung_flags() | kSizes | KILN_LOAD_CHECK_RECOMPILED | KILN_LOAD_UNPROVEN;
  if ((flags & ~known) != 0) {
    return Status::error(Code::bad_argument, {function, ": unknown bits in flags"});
  }
  if ((flags & kSizes) != kSizes) return {};
  return Status::error(Code::bad_argument, {function, ": flags name two size classes"});
}

class CallbackProgress : public Programs::Progress {
 public:
  CallbackProgress(kiln_progress_function function, void *user, std::size_t total)
      : function_(function), user_(user), total_(total) {}
  bool loaded(const std::string &program, const LoadResult &result, std::size_t done) override {
    kiln_report report{result.report, result.choice, {}, {}};
    const kiln_progress progress{done, total_, program.c_str(), status_of(result.error.code),
                                 &report};
    return function_(&progress, user_) == 0;
  }

 private:
  kiln_progress_function function_;
  void *user_;
  std::size_t total_;
};

}  // namespace
}  // namespace kiln::runtime

kiln_status kiln_pack_open_file(const char *path, kiln_pack **out, kiln_error *error) {
  KILN_REQUIRE(path != nullptr && out != nullptr, error);
  std::shared_ptr<const kiln::packs::Pack> pack;
  const auto status = kiln::packs::Pack::open_file(path, &pack);
  return give_pack(status, std::move(pack), out, error);
}

kiln_status kiln_pack_open_descriptor(int fd, uint64_t offset, uint64_t length, kiln_pack **out,
                                      kiln_error *error) {
  KILN_REQUIRE(out != nullptr, error);
  std::shared_ptr<const kiln::packs::Pack> pack;
  const auto status = kiln::packs::Pack::open_descriptor(fd, offset, length, &pack);
  return give_pack(status, std::move(pack), out, error);
}

kiln_status kiln_pack_open_memory(const void *memory, size_t size, kiln_pack **out,
                                  kiln_error *error) {
  KILN_REQUIRE(memory != nullptr && out != nullptr, error);
  std::shared_ptr<const kiln::packs::Pack> pack;
  const auto status =
      kiln::packs::Pack::open_memory({static_cast<const uint8_t *>(memory), size}, &pack);
  return give_pack(status, std::move(pack), out, error);
}

void kiln_pack_release(kiln_pack *pack) { delete pack; }

void kiln_pack_kernels(const kiln_pack *pack, kiln_pack_kernel_function each, void *user) {
  if (pack == nullptr || each == nullptr) return;
  kiln::packs::ProgramRefs programs;
  if (!pack->pack->programs(&programs).ok()) return;
  for (const kiln::packs::ProgramRef program : programs) {
    for (const kiln::packs::VariantRef variant : program.variants()) {
      for (const kiln::packs::KernelRef kernel : variant.kernels()) {
        // Names in a pack are NUL-terminated.
        const kiln_pack_kernel found = {program.name().data(), variant.name().data(),
                                        variant.options().data(), kernel.name().data(),
                                        kernel.arguments()};
        each(&found, user);
      }
    }
  }
}

uint64_t kiln_loader_program_hash(const kiln_loader *loader, const char *program) {
  if (loader == nullptr || program == nullptr) return 0;
  kiln::packs::ProgramRef found;
  (void)loader->loader->pack->find_program(program, &found);  // null: malformed, or not there
  return kiln::packs::program_hash(found);
}

kiln_status kiln_loader_create(kiln_device *device, kiln_pack *pack,
                               const kiln_loader_options *options, kiln_loader **out,
                               kiln_error *error) {
  KILN_REQUIRE(device != nullptr && pack != nullptr && out != nullptr, error);
  kiln_loader_options given = {};
  if (options != nullptr) {
    const char *wrong = read_options(options, sizeof(given), &given);
    if (!known_levels(given.performance, given.priority)) wrong = "unknown level";
    if (given.reserved != 0) wrong = "reserved is not zero";
    if (given.overlay != nullptr && given.overlay_part == nullptr) {
      wrong = "overlay without kiln_loader_use_overlay()";
    }
    if (given.trust != nullptr && given.trust_part == nullptr) {
      wrong = "trust without kiln_loader_use_trust()";
    }
    if (wrong != nullptr) return refuse_options("kiln_loader_options", wrong, error);
  }
  auto loader = std::make_shared<Loader>();
  loader->device = device->device;
  loader->pack = pack->pack;
  loader->deadline_milliseconds = given.deadline_milliseconds;
  loader->notice = given.notice;
  loader->notice_user = given.notice_user;
  if (const char *wrong = read_notes(given, loader.get()); wrong != nullptr) {
    return refuse_options("kiln_driver_note", wrong, error);
  }
  select_known_bad(loader.get());
  if (given.trust != nullptr) {
    if (Status e = given.trust_part->take(*given.trust, loader.get()); !e.ok()) {
      return report_error(e, error);
    }
  }
  if (Status e = take_context(given, loader.get()); !e.ok()) return report_error(e, error);
  if (given.overlay_part != nullptr) given.overlay_part->open(given, loader.get());
  *out = new kiln_loader{loader, Programs(loader)};
  return KILN_OK;
}

void kiln_loader_release(kiln_loader *loader) {
  if (loader != nullptr) loader->programs.finish();
  delete loader;
}

kiln_status kiln_loader_finish(kiln_loader *loader, kiln_error *error) {
  KILN_REQUIRE(loader != nullptr, error);
  loader->programs.finish();
  return KILN_OK;
}

cl_context kiln_loader_context(const kiln_loader *loader) {
  return loader == nullptr ? nullptr : loader->loader->context.get();
}

unsigned kiln_loader_hints(const kiln_loader *loader) {
  return loader == nullptr ? 0 : loader->loader->hints;
}

kiln_status kiln_load(kiln_loader *loader, const char *program, const char *variant, unsigned flags,
                      kiln_program **out, kiln_report **report, kiln_error *error) {
  KILN_REQUIRE(loader != nullptr && program != nullptr && out != nullptr, error);
  if (Status e = check_flags("kiln_load", flags); !e.ok()) return report_error(e, error);
  if (Status e = check_variant(program, variant); !e.ok()) return report_error(e, error);
  LoadResult result = loader->programs.load(program, variant == nullptr ? "" : variant, flags);
  if (report != nullptr) {
    *report = new kiln_report{std::move(result.report), std::move(result.choice), {}, {}};
  }
  if (!result.error.ok()) return report_error(result.error, error);
  *out = new kiln_program{std::move(result.program)};
  return KILN_OK;
}

kiln_status kiln_load_dry_run(kiln_loader *loader, const char *program, const char *variant,
                              unsigned flags, kiln_report **report, kiln_error *error) {
  KILN_REQUIRE(loader != nullptr && program != nullptr && report != nullptr, error);
  if (Status e = check_flags("kiln_load_dry_run", flags); !e.ok()) return report_error(e, error);
  if (Status e = check_variant(program, variant); !e.ok()) return report_error(e, error);
  LoadResult result =
      loader->programs.load(program, variant == nullptr ? "" : variant, flags | kDryRun);
  *report = new kiln_report{std::move(result.report), std::move(result.choice), {}, {}};
  return report_error(result.error, error);
}

kiln_status kiln_prefetch(kiln_loader *loader, const char *const *programs, size_t count,
                          unsigned flags, kiln_progress_function progress, void *user,
                          kiln_error *error) {
  KILN_REQUIRE(loader != nullptr && (count == 0 || programs != nullptr), error);
  if (Status e = check_flags("kiln_prefetch", flags & ~unsigned{KILN_PREFETCH_DRY_RUN}); !e.ok())
    return report_error(e, error);
  std::vector<std::string> names;
  for (size_t i = 0; i < count; ++i) {
    KILN_REQUIRE(programs[i] != nullptr, error);
    names.push_back(std::string(programs[i]));
  }
  if (count == 0) {
    kiln::packs::ProgramRefs all;
    if (Status e = loader->loader->pack->programs(&all); !e.ok()) return report_error(e, error);
    for (const kiln::packs::ProgramRef program : all) {
      names.push_back(std::string(program.name()));
    }
  }
  CallbackProgress callback(progress, user, names.size());
  loader->programs.prefetch(names, flags, progress == nullptr ? nullptr : &callback);
  return KILN_OK;
}

void kiln_program_release(kiln_program *program) { delete program; }

cl_program kiln_program_cl(const kiln_program *program) {
  return program == nullptr ? nullptr : program->program->built.program.get();
}

const char *kiln_program_name(const kiln_program *program) {
  return program == nullptr ? nullptr : program->program->name.c_str();
}

const char *kiln_program_variant(const kiln_program *program) {
  return program == nullptr ? nullptr : program->program->variant.name().data();
}

void kiln_report_release(kiln_report *report) { delete report; }

kiln_rung kiln_report_rung(const kiln_report *report) {
  return report == nullptr ? KILN_RUNG_ERROR : report->report->rung;
}

const char *kiln_report_reason(const kiln_report *report, kiln_rung rung, kiln_outcome *outcome) {
  if (report == nullptr) return nullptr;
  const std::vector<RungResult> &rungs = report->report->rungs;
  // The last result counts: the exact rung may have tried several binaries.
  for (auto result = rungs.rbegin(); result != rungs.rend(); ++result) {
    if (result->rung != rung) continue;
    if (outcome != nullptr) *outcome = result->outcome;
    return result->reason.c_str();
  }
  return nullptr;
}

const char *kiln_report_choice(const kiln_report *report, kiln_choice *choice) {
  if (report == nullptr || !report->choice.variant) return nullptr;
  if (choice != nullptr) *choice = report->choice.by;
  return report->choice.reason.c_str();
}

kiln_finality kiln_report_final(const kiln_report *report, const char **reason) {
  if (report == nullptr) return KILN_FINAL_UNKNOWN;
  if (reason != nullptr) *reason = report->report->why_not_final.c_str();
  return report->report->final;
}

double kiln_report_milliseconds(const kiln_report *report) {
  return report == nullptr ? 0 : report->report->milliseconds;
}

double kiln_report_estimate(const kiln_report *report) {
  return report == nullptr ? -1 : report->report->estimate();
}

const char *kiln_report_json(kiln_report *report) {
  if (report == nullptr) return nullptr;
  const std::lock_guard<std::mutex> lock(report->mutex);
  if (report->json.empty()) report->json = report->report->json(report->choice);
  return report->json.c_str();
}
