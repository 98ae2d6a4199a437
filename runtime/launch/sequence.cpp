// SPDX-License-Identifier: Apache-2.0
// Collects the steps, has the driver record them if it can, and else enqueues one by one.
#include "runtime/launch/sequence.hpp"

#include "runtime/load/first_launch.hpp"

namespace kiln::runtime {
namespace {

Status retain_memory(const Kernel &kernel, Step *step) {
  const OpenCL &cl = *kernel.program->loader->device->cl;
  step->memory.reset(new Handle<cl_mem>[kernel.argument_count]);
  for (unsigned i = 0; i < kernel.argument_count; ++i) {
    if (!kernel.arguments[i].is_memory) continue;
    cl_mem memory = nullptr;
    std::memcpy(&memory, kernel.arguments[i].bytes.data(), sizeof(memory));
    const cl_int code = cl.clRetainMemObject(memory);
    if (code != CL_SUCCESS) return cl_failure("clRetainMemObject", code);
    step->memory[i] = Handle<cl_mem>(memory, cl.clReleaseMemObject);
  }
  return {};
}

// One launch after the other; the event of the last is the event of all.
Status run_plainly(const Sequence &sequence, const Waits &waits, Handle<cl_event> *event) {
  const OpenCL &cl = *sequence.loader->device->cl;
  for (std::size_t i = 0; i < sequence.steps.size(); ++i) {
    const Step &step = sequence.steps[i];
    Handle<cl_event> *wanted = i + 1 == sequence.steps.size() ? event : nullptr;
    cl_event launched = nullptr;
    const cl_int code = cl.clEnqueueNDRangeKernel(
        sequence.queue.get(), step.kernel.get(), step.plan.dimensions, step.plan.global_offset(),
        step.plan.padded.data(), step.plan.local.data(), i == 0 ? waits.count : 0,
        i == 0 ? waits.data() : nullptr, wanted == nullptr ? nullptr : &launched);
    Status e = take_event(cl, "clEnqueueNDRangeKernel", code, launched, wanted);
    if (!e.ok()) return e;
  }
  return {};
}

Status run(const Sequence &sequence, const Waits &waits, Handle<cl_event> *event) {
  const Recording &recording = sequence.recording;
  const OpenCL &cl = *sequence.loader->device->cl;
  cl_event made = nullptr;
  cl_event *wanted = event == nullptr ? nullptr : &made;
  if (recording.kind == KILN_RECORDING_COMMAND_BUFFER) {
    const cl_int code = recording.enqueue_buffer(0, nullptr, recording.buffer.get(), waits.count,
                                                 waits.data(), wanted);
    // Without simultaneous use a buffer that is still running cannot run again.
    if (code != CL_INVALID_OPERATION) {
      return take_event(cl, "clEnqueueCommandBufferKHR", code, made, event);
    }
  }
  if (recording.kind == KILN_RECORDING_RECORDABLE_QUEUE) {
    const cl_int code =
        recording.enqueue_qcom(sequence.queue.get(), recording.qcom.get(), 0, nullptr, 0, nullptr,
                               0, nullptr, 0, nullptr, waits.count, waits.data(), wanted);
    return take_event(cl, "clEnqueueRecordingQCOM", code, made, event);
  }
  return run_plainly(sequence, waits, event);
}

}  // namespace

Sequence::~Sequence() = default;

Status begin_sequence(const Queue &queue, Sequence *out) {
  if ((queue.properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0) {
    return Status::error(Code::bad_argument, "a sequence needs an in-order queue");
  }
  const OpenCL &cl = *queue.loader->device->cl;
  const cl_int code = cl.clRetainCommandQueue(queue.handle.get());
  if (code != CL_SUCCESS) return cl_failure("clRetainCommandQueue", code);
  out->loader = queue.loader;
  out->queue = Handle<cl_command_queue>(queue.handle.get(), cl.clReleaseCommandQueue);
  out->properties = queue.properties;
  return {};
}

Status add_step(Sequence *sequence, const Kernel &kernel, const kiln_ndrange &range) {
  if (sequence->ended) return Status::error(Code::bad_argument, "the sequence has ended");
  Step step;
  if (Status e = plan_launch(kernel, range, &step.plan); !e.ok()) return e;
  if (Status e = copy_kernel(kernel, &step.kernel); !e.ok()) return e;
  if (Status e = retain_memory(kernel, &step); !e.ok()) return e;
  step.program = kernel.program;
  step.index = kernel.index;
  sequence->steps.push_back(std::move(step));
  return {};
}

Status end_sequence(Sequence *sequence) {
  if (sequence->ended) return Status::error(Code::bad_argument, "the sequence has ended");
  if (sequence->steps.empty()) return Status::error(Code::bad_argument, "the sequence is empty");
  sequence->ended = true;
  const Loader &loader = *sequence->loader;
  Status error = record_command_buffer(loader, sequence->queue.get(), sequence->properties,
                                       sequence->steps, &sequence->recording);
  sequence->reason = error.message;
  if (error.ok()) return {};
  error = record_on_recordable_queue(loader, sequence->steps, &sequence->recording);
  if (!error.ok()) sequence->reason += "; " + error.message;
  return {};
}

Status run_sequence(const Sequence &sequence, const Waits &waits, Handle<cl_event> *event) {
  if (!sequence.ended) return Status::error(Code::bad_argument, "the sequence has not ended");
  std::vector<std::unique_ptr<FirstLaunch>> firsts;
  for (const Step &step : sequence.steps) {
    auto first = FirstLaunch::mark(*step.program, step.index);
    if (first != nullptr) firsts.push_back(std::move(first));
  }
  Handle<cl_event> own;
  Handle<cl_event> *wanted = event != nullptr || firsts.empty() ? event : &own;
  Status error = run(sequence, waits, wanted);
  if (!error.ok()) return error;
  for (const auto &first : firsts) first->end_with(wanted->get());  // the queue is in order
  return {};
}

}  // namespace kiln::runtime
