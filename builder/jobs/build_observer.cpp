// SPDX-License-Identifier: Apache-2.0
// Writes events as JSON, and a heartbeat now and then.
#include "builder/jobs/build_observer.hpp"

#include <utility>

#include "builder/inspect/pack_json.hpp"

namespace kiln::builder {
namespace {

using nlohmann::json;

// still_running() is called every second or a little later, so beats are at most 5 s apart.
constexpr std::chrono::milliseconds kBeat{3500};

const char *name_of(How how) {
  switch (how) {
    case How::stored: return "stored";
    case How::proven: return "proven";
    case How::reused: return "reused";
    default: return "compiled";
  }
}

json job_json(const JobLabel &job) {
  return {{"job", job.number},
          {"program", job.program},
          {"variant", job.variant},
          {"device", job.device}};
}

}  // namespace

void BuildEvents::write_event(const char *event, json members) {
  members["schema"] = 1;
  members["event"] = event;
  members["at"] = std::chrono::duration_cast<std::chrono::milliseconds>(now_() - start_).count();
  sink_(members);
}

void BuildEvents::planned(const PlanCounts &counts, std::size_t workers) {
  all_ = counts.compile + counts.prove;
  write_event("begin", {{"jobs", counts.jobs},
                        {"compile", counts.compile},
                        {"prove", counts.prove},
                        {"reuse", counts.reuse},
                        {"skip", counts.skip},
                        {"other_shards", counts.other_shards},
                        {"workers", workers}});
}

void BuildEvents::started(const JobLabel &job, std::size_t worker) {
  json members = job_json(job);
  members["worker"] = worker;
  write_event("started", std::move(members));
}

void BuildEvents::waiting(const JobLabel &job) { write_event("waiting", job_json(job)); }

void BuildEvents::ended(const JobLabel &job, const JobEnd &end) {
  json members = job_json(job);
  members["how"] = name_of(end.how);
  if (end.how == How::compiled || end.how == How::proven)
    members["milliseconds"] = end.took.count();
  if (end.how != How::reused) ++done_;
  if (end.binary != nullptr) {
    const packs::Finish &finish = end.binary->finish;
    members["final"] = finality_name(finish.finality);
    if (!finish.why_not.empty()) members["why_not"] = finish.why_not;
    if (!finish.proof.empty()) members["proof"] = finish.proof;
    if (!finish.unproven.empty()) members["unproven"] = finish.unproven;
    if (end.build_microseconds != 0) members["build_microseconds"] = end.build_microseconds;
    if (end.load_microseconds != 0) members["load_microseconds"] = end.load_microseconds;
    return write_event("done", std::move(members));
  }
  if (!end.left_out) ++failed_;
  members["reason"] = end.status.message;
  members["code"] = packs::code_name(end.status.code);
  if (end.status.cl_error != 0) members["cl_error"] = end.status.cl_error;
  write_event("failed", std::move(members));
}

void BuildEvents::still_running(const std::vector<RunningJob> &running) {
  if (now_() - beat_ < kBeat) return;
  beat_ = now_();
  json jobs = json::array();
  for (const RunningJob &one : running) {
    jobs.push_back(
        {{"worker", one.worker}, {"job", one.job.number}, {"milliseconds", one.since.count()}});
  }
  write_event(
      "heartbeat",
      {{"done", done_}, {"failed", failed_}, {"compile", all_}, {"running", std::move(jobs)}});
}

void BuildEvents::end(const json &summary) { write_event("end", summary); }

}  // namespace kiln::builder
