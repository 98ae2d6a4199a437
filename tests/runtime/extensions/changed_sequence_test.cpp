// SPDX-License-Identifier: Apache-2.0
// Launches of a sequence that are changed after they were recorded, against the fake driver: what
// the two extensions are told, and when the launches run plainly instead.
#include "kiln/sequence.h"
#include "tests/runtime/fake/launch_ready.hpp"

using namespace kiln;
using namespace kiln::test;

namespace {

const char *const kFixed = "cl_khr_command_buffer";
const char *const kChangeable = "cl_khr_command_buffer cl_khr_command_buffer_mutable_dispatch";
const char *const kQcomQueues = "cl_qcom_recordable_queues";

constexpr kiln_ndrange range_of(std::size_t items) { return {1, {items, 0, 0}, {4, 0, 0}, {}}; }

std::string bytes_of_value(unsigned value) {
  return {reinterpret_cast<const char *>(&value), sizeof(value)};
}

// A sequence of two launches with the values 1 and 2, of 8 work-items each.
class Changed {
 public:
  explicit Changed(Ready &ready) : r(ready) {
    CHECK(kiln_kernel_set_buffer(r.kernel, 0, r.buffer, &r.error) == KILN_OK);
    CHECK(kiln_sequence_begin(r.queue, &sequence, &r.error) == KILN_OK);
    const kiln_ndrange range = range_of(8);
    for (const unsigned value : {1u, 2u}) {
      set_value(value);
      CHECK(kiln_sequence_add(sequence, r.kernel, &range, &r.error) == KILN_OK);
    }
  }
  Changed(const Changed &) = delete;
  Changed &operator=(const Changed &) = delete;
  ~Changed() { kiln_sequence_release(sequence); }

  void end() const { CHECK(kiln_sequence_end(sequence, &r.error) == KILN_OK); }
  void set_value(unsigned value) const {
    CHECK(kiln_kernel_set_value(r.kernel, 1, &value, sizeof(value), &r.error) == KILN_OK);
  }
  kiln_status change(unsigned launch, unsigned value, const kiln_ndrange *range = nullptr) const {
    set_value(value);
    return kiln_sequence_change(sequence, launch, r.kernel, range, &r.error);
  }
  // Runs, and checks the values and sizes of what ran.
  void check_run(unsigned first, unsigned second, bool recorded,
                 std::size_t first_items = 8) const {
    fake().launches.clear();
    CHECK(kiln_sequence_run(sequence, nullptr, 0, nullptr, &r.error) == KILN_OK);
    REQUIRE(fake().launches.size() == 2);
    CHECK(fake().launches[0].arguments.at(1) == bytes_of_value(first));
    CHECK(fake().launches[1].arguments.at(1) == bytes_of_value(second));
    CHECK(fake().launches[0].global == Sizes{first_items});
    CHECK(fake().launches[1].global == Sizes{8});
    for (const FakeLaunch &launch : fake().launches) CHECK(launch.recorded == recorded);
  }
  std::string reason() const { return kiln_sequence_reason(sequence); }

  Ready &r;
  kiln_sequence *sequence = nullptr;
};

}  // namespace

TEST_CASE("a launch that is changed runs with its new arguments from then on, whoever records it",
          "[sequence]") {
  for (const char *extensions : {"", kFixed, kChangeable, kQcomQueues}) {
    INFO(extensions);
    const bool changeable = extensions == kChangeable || extensions == kQcomQueues;
    reset_fake();
    fake().extensions = extensions;
    {
      Ready r;
      const Changed s(r);
      s.end();
      s.check_run(1, 2, *extensions != '\0');
      CHECK(s.change(1, 20) == KILN_OK);
      s.check_run(1, 20, changeable);
      s.check_run(1, 20, changeable);
      CHECK(s.change(0, 10) == KILN_OK);
      s.check_run(10, 20, changeable);
      const kiln_ndrange wider = range_of(13);  // padded
      CHECK(s.change(0, 11, &wider) == KILN_OK);
      s.check_run(11, 20, changeable, 16);
      s.check_run(11, 20, changeable, 16);
    }
    CHECK(fake().live == 0);
  }
}

TEST_CASE("a command buffer is told of changes once, and only of those", "[sequence]") {
  reset_fake();
  fake().extensions = kChangeable;
  Ready r;
  const Changed s(r);
  s.end();
  s.check_run(1, 2, true);
  CHECK(fake().updates == 0);
  CHECK(s.change(1, 2) == KILN_OK);  // what it has
  s.check_run(1, 2, true);
  CHECK(fake().updates == 0);
  CHECK(s.change(1, 7) == KILN_OK);
  CHECK(s.change(1, 8) == KILN_OK);
  s.check_run(1, 8, true);
  s.check_run(1, 8, true);
  CHECK(fake().updates == 1);
  CHECK(fake().updated_arguments == 1);
  const kiln_ndrange wider = range_of(32);
  CHECK(kiln_sequence_change(s.sequence, 0, r.kernel, &wider, &r.error) == KILN_OK);
  s.check_run(8, 8, true, 32);
  CHECK(fake().updates == 2);
  CHECK(s.reason().empty());
}

TEST_CASE("Qualcomm's recording is told of all changes at each run", "[sequence]") {
  reset_fake();
  fake().extensions = kQcomQueues;
  Ready r;
  const Changed s(r);
  s.end();
  CHECK(s.change(0, 5) == KILN_OK);
  s.check_run(5, 2, true);
  CHECK(fake().updated_arguments == 1);
  CHECK(s.change(1, 6) == KILN_OK);
  s.check_run(5, 6, true);
  CHECK(fake().updated_arguments == 3);
  // As it was recorded: the recording itself never changed.
  CHECK(s.change(0, 1) == KILN_OK);
  s.check_run(1, 6, true);
}

TEST_CASE("memory of a changed launch is kept, and that of before let go", "[sequence]") {
  for (const char *extensions : {"", kChangeable, kQcomQueues}) {
    reset_fake();
    fake().extensions = extensions;
    kiln_sequence *sequence = nullptr;
    std::shared_ptr<const packs::Bytes> pack;
    cl_mem memory = nullptr;
    {
      Ready r;
      pack = r.load.bytes;
      Changed s(r);
      s.end();
      kiln_buffer *other = nullptr;
      CHECK(kiln_buffer_create(r.load.loader, 64, KILN_ACCESS_BOTH, &other, &r.error) == KILN_OK);
      memory = kiln_buffer_cl(other);
      CHECK(kiln_kernel_set_buffer(r.kernel, 0, other, &r.error) == KILN_OK);
      CHECK(kiln_sequence_change(s.sequence, 0, r.kernel, nullptr, &r.error) == KILN_OK);
      CHECK(kiln_sequence_change(s.sequence, 1, r.kernel, nullptr, &r.error) == KILN_OK);
      kiln_buffer_release(other);
      const long live = fake().live;
      kiln_buffer_release(r.buffer);  // the sequence held it until it was changed
      r.buffer = nullptr;
      CHECK(fake().live == live - 1);
      sequence = std::exchange(s.sequence, nullptr);
    }
    fake().launches.clear();
    CHECK(kiln_sequence_run(sequence, nullptr, 0, nullptr, nullptr) == KILN_OK);
    REQUIRE(fake().launches.size() == 2);
    CHECK(fake().launches[0].arguments.at(0) ==
          std::string(reinterpret_cast<const char *>(&memory), sizeof(memory)));
    kiln_sequence_release(sequence);
    CHECK(fake().live == 0);
  }
}

TEST_CASE("a launch may be changed before the sequence ends, and is recorded so", "[sequence]") {
  for (const char *extensions : {"", kFixed, kChangeable, kQcomQueues}) {
    reset_fake();
    fake().extensions = extensions;
    Ready r;
    const Changed s(r);
    const kiln_ndrange wider = range_of(12);
    CHECK(s.change(0, 3, &wider) == KILN_OK);
    s.end();
    s.check_run(3, 2, *extensions != '\0', 12);
    CHECK(fake().updates == 0);
    CHECK(fake().updated_arguments == 0);
  }
}

TEST_CASE("a driver that cannot change what it recorded gets plain launches, which the reason says",
          "[sequence]") {
  const char *const plainly = "changed launches run plainly: ";
  const auto reason_of_changed = [&](const char *extensions) {
    fake().extensions = extensions;
    Ready r;
    const Changed s(r);
    s.end();
    const kiln_ndrange wider = range_of(12);
    s.check_run(1, 2, true);
    CHECK(s.change(0, 3, &wider) == KILN_OK);
    const char *before = kiln_sequence_reason(s.sequence);
    const std::string text = before;
    s.check_run(3, 2, false, 12);
    CHECK(before == text);  // lives as long as the sequence
    return s.reason();
  };
  reset_fake();
  CHECK(reason_of_changed(kFixed) ==
        std::string(plainly) + "the device has no cl_khr_command_buffer_mutable_dispatch");
  fake().mutable_dispatch.version = CL_MAKE_VERSION(0, 9, 2);
  CHECK(reason_of_changed(kChangeable) ==
        std::string(plainly) +
            "the device's cl_khr_command_buffer_mutable_dispatch is not version 0.9.0 or 0.9.1");
  reset_fake();
  fake().mutable_capabilities = CL_MUTABLE_DISPATCH_GLOBAL_SIZE_KHR;
  CHECK(reason_of_changed(kChangeable) ==
        std::string(plainly) + "the device's command buffers cannot change arguments");
  fake().mutable_capabilities = CL_MUTABLE_DISPATCH_ARGUMENTS_KHR;
  CHECK(reason_of_changed(kChangeable) ==
        std::string(plainly) + "the device's command buffers cannot change work sizes");
  reset_fake();
  fake().mutable_code = CL_INVALID_VALUE;
  CHECK(reason_of_changed(kChangeable) ==
        std::string(plainly) + "the driver cannot record launches that can be changed");
  reset_fake();
  fake().update_code = CL_INVALID_OPERATION;  // such as while it is running
  CHECK(reason_of_changed(kChangeable) ==
        std::string(plainly) + "clUpdateMutableCommandsKHR returned CL_INVALID_OPERATION (-59)");
  CHECK(reason_of_changed(kQcomQueues) ==
        "the device has no cl_khr_command_buffer; " + std::string(plainly) +
            "clEnqueueRecordingQCOM returned CL_INVALID_OPERATION (-59)");
}

TEST_CASE("an update that was refused once is made at the next run", "[sequence]") {
  reset_fake();
  fake().extensions = kChangeable;
  Ready r;
  const Changed s(r);
  s.end();
  fake().update_code = CL_INVALID_OPERATION;
  CHECK(s.change(0, 3) == KILN_OK);
  s.check_run(3, 2, false);
  fake().update_code = CL_SUCCESS;
  s.check_run(3, 2, true);
}

TEST_CASE("a change that makes no sense leaves the launch as it was", "[sequence]") {
  reset_fake();
  packs::Contents contents = fake_contents();
  contents.programs[0].variants[0].kernels.push_back({"other", 2});
  {
    Ready r(contents);
    const Ready stranger;
    const Changed s(r);
    s.end();
    const auto refused = [&](kiln_status status, const char *message) {
      CHECK(status == KILN_ERROR_ARGUMENT);
      CHECK(r.message() == message);
    };
    const kiln_ndrange plane{2, {8, 8, 0}, {}, {}};
    const kiln_ndrange empty{1, {0, 0, 0}, {}, {}};
    const kiln_ndrange moved{1, {8, 0, 0}, {4, 0, 0}, {16, 0, 0}};
    refused(s.change(2, 3), "the sequence has no launch 2, there are 2");
    refused(s.change(0, 3, &plane), "a launch keeps its number of dimensions");
    refused(s.change(0, 3, &moved), "a launch keeps its global offset");
    refused(s.change(0, 3, &empty), "the NDRange is empty in dimension 0");
    refused(kiln_sequence_change(s.sequence, 0, stranger.kernel, nullptr, &r.error),
            "the kernel and the queue are of other contexts");
    kiln_kernel *other = nullptr;
    CHECK(kiln_kernel_create(r.load.program, "other", &other, &r.error) == KILN_OK);
    refused(kiln_sequence_change(s.sequence, 0, other, nullptr, &r.error),
            "the kernel is of another entry point than the launch");
    kiln_kernel_release(other);
    CHECK(kiln_kernel_create(r.load.program, "k", &other, &r.error) == KILN_OK);
    refused(kiln_sequence_change(s.sequence, 0, other, nullptr, &r.error),
            "argument 0: not set through Kiln");
    kiln_kernel_release(other);
    s.check_run(1, 2, false);
  }
  CHECK(fake().live == 0);
}

TEST_CASE("a recorded launch has local memory, of another size if it is changed", "[sequence]") {
  const auto second_arguments = [] {
    std::vector<std::string> all;
    for (const auto &launch : fake().launches) all.push_back(launch.arguments.at(1));
    return all;
  };
  for (const char *extensions : {"", kChangeable, kQcomQueues}) {
    CAPTURE(extensions);
    reset_fake();
    fake().extensions = extensions;
    {
      Ready r;
      const Changed s(r);
      CHECK(kiln_kernel_set_local(r.kernel, 1, 32, &r.error) == KILN_OK);
      const kiln_ndrange range = range_of(8);
      CHECK(kiln_sequence_add(s.sequence, r.kernel, &range, &r.error) == KILN_OK);
      s.end();
      CHECK(kiln_kernel_set_local(r.kernel, 1, 64, &r.error) == KILN_OK);
      CHECK(kiln_sequence_change(s.sequence, 0, r.kernel, nullptr, &r.error) == KILN_OK);
      fake().launches.clear();
      CHECK(kiln_sequence_run(s.sequence, nullptr, 0, nullptr, &r.error) == KILN_OK);
      CHECK(second_arguments() ==
            std::vector<std::string>{"local 64", bytes_of_value(2), "local 32"});
    }
    CHECK(fake().live == 0);
  }
}

TEST_CASE("a recorded launch has a pointer to shared virtual memory, and a changed one another",
          "[sequence]") {
  const char memory[8] = {};
  for (const char *extensions : {"", kChangeable, kQcomQueues}) {
    CAPTURE(extensions);
    reset_fake();
    fake().extensions = extensions;
    fake().svm = CL_DEVICE_SVM_COARSE_GRAIN_BUFFER;
    {
      Ready r;
      const Changed s(r);
      s.end();
      CHECK(kiln_kernel_set_svm(r.kernel, 0, memory, &r.error) == KILN_OK);
      CHECK(s.change(0, 3) == KILN_OK);
      s.check_run(3, 2, extensions == kChangeable);
      CHECK(fake().launches[0].arguments.at(0) == svm_text(memory));
      CHECK(kiln_kernel_set_svm(r.kernel, 0, memory + 4, &r.error) == KILN_OK);
      CHECK(s.change(0, 3) == KILN_OK);
      s.check_run(3, 2, extensions == kChangeable);
      CHECK(fake().launches[0].arguments.at(0) == svm_text(memory + 4));
      CHECK((s.reason().find("recordable queues change no SVM pointers") != std::string::npos) ==
            (extensions == kQcomQueues));
    }
    CHECK(fake().live == 0);
  }
}

TEST_CASE("a driver that refuses an argument leaves the launch as it was", "[sequence]") {
  reset_fake();
  {
    Ready r;
    const Changed s(r);
    s.end();
    kiln_buffer *other = nullptr;
    CHECK(kiln_buffer_create(r.load.loader, 64, KILN_ACCESS_BOTH, &other, &r.error) == KILN_OK);
    CHECK(kiln_kernel_set_buffer(r.kernel, 0, other, &r.error) == KILN_OK);
    s.set_value(3);
    fake().argument_code = CL_OUT_OF_RESOURCES;  // of the second argument
    CHECK(kiln_sequence_change(s.sequence, 0, r.kernel, nullptr, &r.error) == KILN_ERROR_OPENCL);
    CHECK(r.message() == "clSetKernelArg returned CL_OUT_OF_RESOURCES (-5)");
    fake().argument_code = CL_SUCCESS;
    kiln_buffer_release(other);
    s.check_run(1, 2, false);
    const cl_mem memory = kiln_buffer_cl(r.buffer);
    CHECK(fake().launches[0].arguments.at(0) ==
          std::string(reinterpret_cast<const char *>(&memory), sizeof(memory)));
  }
  CHECK(fake().live == 0);
}
