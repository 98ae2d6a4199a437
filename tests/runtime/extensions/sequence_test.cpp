// SPDX-License-Identifier: Apache-2.0
// Recorded launches against the fake driver: which way of recording is taken, what runs, and
// what becomes of faults. Qualcomm's way has no other test: no device with it was at hand.
#include "kiln/sequence.h"
#include "tests/runtime/fake/launch_ready.hpp"

using namespace kiln;
using namespace kiln::test;

namespace {

const char *const kCommandBuffer = "cl_khr_command_buffer";
const char *const kRecordable = "cl_qcom_recordable_queues";

// Sets the kernel's value and adds a launch of that many work-items.
void add(Ready &r, kiln_sequence *sequence, unsigned value, std::size_t items) {
  const kiln_ndrange range{1, {items, 0, 0}, {4, 0, 0}, {0, 0, 0}};
  CHECK(kiln_kernel_set_value(r.kernel, 1, &value, sizeof(value), &r.error) == KILN_OK);
  CHECK(kiln_sequence_add(sequence, r.kernel, &range, &r.error) == KILN_OK);
}

// A sequence of two launches with the values 1 and 2, of 5 and 8 work-items.
kiln_sequence *recorded(Ready &r) {
  kiln_sequence *sequence = nullptr;
  CHECK(kiln_kernel_set_buffer(r.kernel, 0, r.buffer, &r.error) == KILN_OK);
  CHECK(kiln_sequence_begin(r.queue, &sequence, &r.error) == KILN_OK);
  add(r, sequence, 1, 5);
  add(r, sequence, 2, 8);
  CHECK(kiln_sequence_end(sequence, &r.error) == KILN_OK);
  CHECK(fake().launches.empty());
  return sequence;
}

// Runs it after the kernel got other arguments, and checks what ran.
void check_run(Ready &r, kiln_sequence *sequence, bool was_recorded) {
  const unsigned other = 99;
  CHECK(kiln_kernel_set_value(r.kernel, 1, &other, sizeof(other), &r.error) == KILN_OK);
  fake().launches.clear();
  CHECK(kiln_sequence_run(sequence, nullptr, 0, nullptr, &r.error) == KILN_OK);
  REQUIRE(fake().launches.size() == 2);
  for (unsigned i = 0; i < 2; ++i) {
    const FakeLaunch &launch = fake().launches[i];
    const unsigned value = i + 1;
    CHECK(launch.global == Sizes{8});
    CHECK(launch.local == Sizes{4});
    CHECK(launch.recorded == was_recorded);
    CHECK(launch.arguments.at(1) == std::string(reinterpret_cast<const char *>(&value), 4));
  }
}

}  // namespace

TEST_CASE("a sequence runs as launches where nothing can record it", "[sequence]") {
  reset_fake();
  {
    Ready r;
    kiln_sequence *sequence = recorded(r);
    CHECK(kiln_sequence_kind(sequence) == KILN_RECORDING_NONE);
    CHECK(kiln_sequence_reason(sequence) ==
          std::string("the device has no cl_khr_command_buffer; "
                      "the device has no cl_qcom_recordable_queues"));
    check_run(r, sequence, false);
    check_run(r, sequence, false);
    kiln_sequence_release(sequence);
  }
  CHECK(fake().live == 0);
}

TEST_CASE("a sequence runs as a command buffer where the device has them", "[sequence]") {
  reset_fake();
  fake().extensions = std::string(kRecordable) + " " + kCommandBuffer;
  {
    Ready r;
    kiln_sequence *sequence = recorded(r);
    CHECK(kiln_sequence_kind(sequence) == KILN_RECORDING_COMMAND_BUFFER);
    CHECK(kiln_sequence_reason(sequence) == std::string());
    check_run(r, sequence, true);
    check_run(r, sequence, true);
    // A buffer that still runs, and cannot run twice at a time: this run is plain.
    fake().record_code[3] = CL_INVALID_OPERATION;
    check_run(r, sequence, false);
    fake().record_code[3] = CL_OUT_OF_RESOURCES;
    CHECK(kiln_sequence_run(sequence, nullptr, 0, nullptr, &r.error) == KILN_ERROR_OPENCL);
    CHECK(r.message() == "clEnqueueCommandBufferKHR returned CL_OUT_OF_RESOURCES (-5)");
    kiln_sequence_release(sequence);
  }
  CHECK(fake().live == 0);
}

TEST_CASE("a sequence runs on Qualcomm's recordable queue where the device has that",
          "[sequence]") {
  for (const char *version : {"OpenCL 3.0 fake", "OpenCL 1.2 fake"}) {
    reset_fake();
    fake().extensions = kRecordable;
    fake().device_version = version;
    {
      Ready r;
      kiln_sequence *sequence = recorded(r);
      CHECK(fake().queue_properties == 1u << 30);
      CHECK(kiln_sequence_kind(sequence) == KILN_RECORDING_RECORDABLE_QUEUE);
      CHECK(kiln_sequence_reason(sequence) ==
            std::string("the device has no cl_khr_command_buffer"));
      check_run(r, sequence, true);
      fake().record_code[3] = CL_OUT_OF_RESOURCES;
      CHECK(kiln_sequence_run(sequence, nullptr, 0, nullptr, &r.error) == KILN_ERROR_OPENCL);
      kiln_sequence_release(sequence);
    }
    CHECK(fake().live == 0);
  }
}

TEST_CASE("what the driver cannot record runs as launches, with the reason", "[sequence]") {
  const char *const calls[2][3] = {
      {"clCreateCommandBufferKHR", "clCommandNDRangeKernelKHR", "clFinalizeCommandBufferKHR"},
      {"clNewRecordingQCOM", nullptr, "clEndRecordingQCOM"}};
  for (int way = 0; way < 2; ++way) {
    for (int call = 0; call < 3; ++call) {
      if (calls[way][call] == nullptr) continue;
      reset_fake();
      fake().extensions = way == 0 ? kCommandBuffer : kRecordable;
      fake().record_code[call] = CL_INVALID_OPERATION;  // together with an object
      {
        Ready r;
        kiln_sequence *sequence = recorded(r);
        CHECK(kiln_sequence_kind(sequence) == KILN_RECORDING_NONE);
        const std::string reason = kiln_sequence_reason(sequence);
        CHECK(reason.find(std::string(calls[way][call]) + " returned CL_INVALID_OPERATION (-59)") !=
              std::string::npos);
        check_run(r, sequence, false);
        kiln_sequence_release(sequence);
      }
      CHECK(fake().live == 0);
    }
  }
}

TEST_CASE("a command buffer of another version, or without functions, is not used", "[sequence]") {
  reset_fake();
  fake().extensions = kCommandBuffer;
  const auto reason = [] {
    Ready r;
    kiln_sequence *sequence = recorded(r);
    CHECK(kiln_sequence_kind(sequence) == KILN_RECORDING_NONE);
    const std::string text = kiln_sequence_reason(sequence);
    kiln_sequence_release(sequence);
    return text.substr(0, text.find(';'));
  };
  fake().command_buffer.version = CL_MAKE_VERSION(1, 0, 0);
  CHECK(reason() == "the device's cl_khr_command_buffer is not version 0.9");
  fake().command_buffer = {CL_MAKE_VERSION(0, 9, 0), "cl_khr_other"};
  CHECK(reason() == "the device's cl_khr_command_buffer is not version 0.9");
  fake().command_buffer = {CL_MAKE_VERSION(0, 9, 5), "cl_khr_command_buffer"};
  fake().command_buffer_queue = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
  CHECK(reason() == "command buffers need queue properties that this queue has not");
  fake().command_buffer_queue = CL_QUEUE_PROFILING_ENABLE;
  fake().recording_functions = false;
  CHECK(reason() == "the driver has no functions of cl_khr_command_buffer");
}

TEST_CASE("a sequence waits once and gives one event", "[sequence]") {
  for (const char *extensions : {"", kCommandBuffer, kRecordable}) {
    reset_fake();
    fake().extensions = extensions;
    {
      Ready r;
      kiln_sequence *sequence = recorded(r);
      kiln_event *event = nullptr;
      CHECK(kiln_sequence_run(sequence, nullptr, 0, &event, &r.error) == KILN_OK);
      kiln_event *const same = event;
      const long live = fake().live;
      CHECK(kiln_sequence_run(sequence, &event, 1, &event, &r.error) == KILN_OK);
      CHECK(event == same);
      CHECK(fake().live == live);
      CHECK(fake().flushes == 0);
      CHECK(fake().waits == 0);
      kiln_event_release(event);
      kiln_sequence_release(sequence);
    }
    CHECK(fake().live == 0);
  }
}

TEST_CASE("a sequence outlives the queue, the kernel and the memory that it uses", "[sequence]") {
  reset_fake();
  kiln_sequence *sequence = nullptr;
  std::shared_ptr<const packs::Bytes> pack;
  {
    Ready r;
    pack = r.load.bytes;
    sequence = recorded(r);
  }
  CHECK(kiln_sequence_run(sequence, nullptr, 0, nullptr, nullptr) == KILN_OK);
  CHECK(fake().launches.size() == 2);
  kiln_sequence_release(sequence);
  CHECK(fake().live == 0);
}

TEST_CASE("a sequence is begun, filled, ended and run in this order", "[sequence]") {
  reset_fake();
  {
    Ready r;
    const Ready other;
    const kiln_ndrange range{1, {4, 0, 0}, {}, {}};
    const kiln_ndrange empty{1, {0, 0, 0}, {}, {}};
    kiln_sequence *sequence = nullptr;
    const auto refused = [&](kiln_status status, const char *message) {
      CHECK(status == KILN_ERROR_ARGUMENT);
      CHECK(r.message() == message);
    };
    CHECK(kiln_sequence_begin(r.queue, &sequence, &r.error) == KILN_OK);
    refused(kiln_sequence_run(sequence, nullptr, 0, nullptr, &r.error),
            "the sequence has not ended");
    refused(kiln_sequence_end(sequence, &r.error), "the sequence is empty");
    refused(kiln_sequence_add(sequence, r.kernel, &range, &r.error),
            "argument 0: not set through Kiln");
    refused(kiln_sequence_add(sequence, r.kernel, &empty, &r.error),
            "the NDRange is empty in dimension 0");
    refused(kiln_sequence_add(sequence, other.kernel, &range, &r.error),
            "the kernel and the queue are of other contexts");
    CHECK(kiln_kernel_set_buffer(r.kernel, 0, r.buffer, &r.error) == KILN_OK);
    add(r, sequence, 1, 4);
    CHECK(kiln_sequence_end(sequence, &r.error) == KILN_OK);
    refused(kiln_sequence_end(sequence, &r.error), "the sequence has ended");
    refused(kiln_sequence_add(sequence, r.kernel, &range, &r.error), "the sequence has ended");
    kiln_sequence_release(sequence);
    kiln_queue_options options = {sizeof(options), KILN_QUEUE_OUT_OF_ORDER, KILN_LEVEL_DEFAULT,
                                  KILN_LEVEL_DEFAULT, 0};
    kiln_queue *unordered = nullptr;
    CHECK(kiln_queue_create(r.load.loader, &options, &unordered, &r.error) == KILN_OK);
    refused(kiln_sequence_begin(unordered, &sequence, &r.error),
            "a sequence needs an in-order queue");
    kiln_queue_release(unordered);
  }
  CHECK(fake().live == 0);
}
