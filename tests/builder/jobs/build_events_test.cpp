// SPDX-License-Identifier: Apache-2.0
#include "builder/jobs/build_observer.hpp"

#include "runtime/opencl/library.hpp"
#include "tests/support/catch.hpp"

using namespace kiln;
using namespace kiln::builder;
using nlohmann::json;
using std::chrono::milliseconds;

namespace {

// Events as they come, at a time that the test sets.
struct Stream {
  void at(int milliseconds_since_start) {
    now = Clock::time_point(milliseconds(1'000'000 + milliseconds_since_start));
  }

  Clock::time_point now{milliseconds(1'000'000)};
  std::vector<json> events;
  BuildEvents observer{[this](const json &event) { events.push_back(event); },
                       [this] { return now; }};
};

const std::string kName = "sobel/image for GPU", kProgram = "sobel", kVariant = "image";
const JobLabel kJob{7, kName, kProgram, kVariant, "GPU"};

json named(json event) {
  event.update(
      {{"schema", 1}, {"job", 7}, {"program", "sobel"}, {"variant", "image"}, {"device", "GPU"}});
  return event;
}

}  // namespace

TEST_CASE("a build's events begin with the plan and end with the summary") {
  Stream stream;
  stream.at(3);
  stream.observer.planned({11, 4, 1, 3, 2, 1}, 2);
  stream.at(60'000);
  stream.observer.end({{"schema", 1}, {"compiled", 4}});
  CHECK(stream.events ==
        std::vector<json>{{{"schema", 1},
                           {"event", "begin"},
                           {"at", 3},
                           {"jobs", 11},
                           {"compile", 4},
                           {"prove", 1},
                           {"reuse", 3},
                           {"skip", 2},
                           {"other_shards", 1},
                           {"workers", 2}},
                          {{"schema", 1}, {"event", "end"}, {"at", 60'000}, {"compiled", 4}}});
}

TEST_CASE("a job's end tells whence its binary is, and whether it is final") {
  Stream stream;
  packs::Binary binary{{}, packs::BlobSource(packs::Bytes()), {}};
  packs::Finish &finish = binary.finish;
  finish.finality = packs::Finality::yes;
  stream.observer.started(kJob, 1);
  stream.observer.ended(kJob, {How::compiled, milliseconds(250), builder::Status(), &binary});
  finish.finality = packs::Finality::no;
  finish.why_not = "its first launch compiles";
  stream.observer.ended(kJob, {How::stored, milliseconds(0), builder::Status(), &binary});
  stream.observer.waiting(kJob);
  stream.observer.ended(kJob, {How::reused, milliseconds(0), builder::Status(), &binary});
  CHECK(stream.events == std::vector<json>{named({{"event", "started"}, {"at", 0}, {"worker", 1}}),
                                           named({{"event", "done"},
                                                  {"at", 0},
                                                  {"how", "compiled"},
                                                  {"milliseconds", 250},
                                                  {"final", "yes"}}),
                                           named({{"event", "done"},
                                                  {"at", 0},
                                                  {"how", "stored"},
                                                  {"final", "no"},
                                                  {"why_not", "its first launch compiles"}}),
                                           named({{"event", "waiting"}, {"at", 0}}),
                                           named({{"event", "done"},
                                                  {"at", 0},
                                                  {"how", "reused"},
                                                  {"final", "no"},
                                                  {"why_not", "its first launch compiles"}})});
}

TEST_CASE("a job that failed tells the code and the reason") {
  Stream stream;
  const Status refused(Code::opencl, CL_BUILD_PROGRAM_FAILURE, "clBuildProgram: error");
  stream.observer.ended(kJob, {How::compiled, milliseconds(5), refused, nullptr});
  const Status died(Code::process, "crashed with signal 11 (Segmentation fault)");
  stream.observer.ended(kJob, {How::stored, milliseconds(0), died, nullptr});
  REQUIRE(stream.events.size() == 2);
  CHECK(stream.events[0] == named({{"event", "failed"},
                                   {"at", 0},
                                   {"how", "compiled"},
                                   {"milliseconds", 5},
                                   {"code", packs::code_name(Code::opencl)},
                                   {"cl_error", -11},
                                   {"reason", "clBuildProgram: error"}}));
  CHECK(stream.events[1] == named({{"event", "failed"},
                                   {"at", 0},
                                   {"how", "stored"},
                                   {"code", packs::code_name(Code::process)},
                                   {"reason", "crashed with signal 11 (Segmentation fault)"}}));
}

TEST_CASE("a heartbeat comes at least every five seconds, with what each worker is at") {
  Stream stream;
  stream.observer.planned({3, 3}, 2);
  stream.observer.ended(
      kJob, {How::compiled, milliseconds(5), builder::Status(Code::opencl, "no"), nullptr});
  stream.events.clear();
  const JobLabel other{8, kName, kProgram, kVariant, "GPU"};
  for (int ms = 1200; ms < 60'000; ms += 1200) {  // a busy machine's second
    stream.at(ms);
    stream.observer.still_running({{0, kJob, milliseconds(ms)}, {1, other, milliseconds(ms / 2)}});
  }
  std::int64_t last = 0;
  for (const json &beat : stream.events) {
    CHECK(beat["at"].get<std::int64_t>() - last <= 5000);
    last = beat["at"];
  }
  CHECK(stream.events.size() < 20);
  CHECK(stream.events.back() == json{{"schema", 1},
                                     {"event", "heartbeat"},
                                     {"at", last},
                                     {"done", 1},
                                     {"failed", 1},
                                     {"compile", 3},
                                     {"running",
                                      {{{"worker", 0}, {"job", 7}, {"milliseconds", last}},
                                       {{"worker", 1}, {"job", 8}, {"milliseconds", last / 2}}}}});
}
