// SPDX-License-Identifier: Apache-2.0
// Collects the steps and has the driver record them if it can; otherwise enqueues them one by one.
#include "runtime/extensions/recorded_sequence.hpp"

#include <cstring>

#include "runtime/extensions/recording.hpp"
#include "runtime/launch/first_launch.hpp"
#include "runtime/opencl/error.hpp"

namespace kiln::runtime {
namespace {

Status retain_memory(const OpenCL &cl, const KernelArgument &argument, Handle<cl_mem> *out) {
  if (!argument.is_memory) return {};
  cl_mem memory = nullptr;
  std::memcpy(&memory, argument.value.data(), sizeof(memory));
  const cl_int code = cl.clRetainMemObject(memory);
  if (code != CL_SUCCESS) return cl_failure("clRetainMemObject", code);
  *out = Handle<cl_mem>(memory, cl.clReleaseMemObject);
  return {};
}

// Notes that changed launches ran outside the recording. Set once, since callers may hold the text.
void note_plain(Sequence *sequence, const Status &why) {
  if (!sequence->plain.empty()) return;
  const char *separator = sequence->reason.empty() ? "" : "; ";
  sequence->plain =
      concat({sequence->reason, separator, "changed launches run plainly: ", why.message});
}

// Enqueues one launch after the other; the last one's event stands for all.
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

Status run(Sequence *sequence, const Waits &waits, Handle<cl_event> *event) {
  const Recording &recording = sequence->recording;
  const OpenCL &cl = *sequence->loader->device->cl;
  cl_event made = nullptr;
  cl_event *wanted = event == nullptr ? nullptr : &made;
  if (recording.kind == KILN_RECORDING_COMMAND_BUFFER) {
    const Status updated = update_command_buffer(recording, &sequence->steps);
    if (!updated.ok()) {
      note_plain(sequence, updated);
      return run_plainly(*sequence, waits, event);
    }
    const cl_int code = recording.enqueue_buffer(0, nullptr, recording.buffer.get(), waits.count,
                                                 waits.data(), wanted);
    // Without simultaneous use, a buffer cannot run again while it is running.
    if (code != CL_INVALID_OPERATION) {
      return take_event(cl, "clEnqueueCommandBufferKHR", code, made, event);
    }
  }
  if (recording.kind == KILN_RECORDING_RECORDABLE_QUEUE) {
    if (changes_svm(sequence->steps)) {
      note_plain(sequence, Status::error(Code::opencl, "recordable queues change no SVM pointers"));
      return run_plainly(*sequence, waits, event);
    }
    bool changed = false;
    const cl_int code = enqueue_recording(recording, sequence->queue.get(), sequence->steps, waits,
                                          wanted, &changed);
    Status status = take_event(cl, "clEnqueueRecordingQCOM", code, made, event);
    if (status.ok() || !changed) return status;
    note_plain(sequence, status);
  }
  return run_plainly(*sequence, waits, event);
}

// Fails unless `kernel` has the launch's entry point, and all its arguments are set.
Status check_change(const Step &step, const Kernel &kernel) {
  if (kernel.program != step.program || kernel.index != step.index) {
    return Status::error(Code::bad_argument,
                         "the kernel is of another entry point than the launch");
  }
  for (unsigned i = 0; i < step.argument_count; ++i) {
    if (!kernel.arguments[i].value.is_set()) {
      return Status::error(Code::bad_argument, {"argument ", decimal(i), ": not set through Kiln"});
    }
  }
  return {};
}

// Sets the arguments that differ; sets none if one fails.
Status change_arguments(const Kernel &kernel, Step *step) {
  const OpenCL &cl = *kernel.program->loader->device->cl;
  const auto set = [&](unsigned i, const ArgumentValue &value) {
    return pass_argument(cl, step->kernel.get(), i, value);
  };
  const std::unique_ptr<Handle<cl_mem>[]> memory(new Handle<cl_mem>[step->argument_count]);
  Status error;
  unsigned done = 0;
  for (; done < step->argument_count; ++done) {
    const KernelArgument &argument = kernel.arguments[done];
    if (argument.value == step->arguments[done].value) continue;
    error = retain_memory(cl, argument, &memory[done]);
    if (!error.ok()) break;
    const cl_int code = set(done, argument.value);
    if (code != CL_SUCCESS) error = cl_failure("clSetKernelArg", code);
    if (!error.ok()) break;
  }
  for (unsigned i = 0; i < done; ++i) {
    StepArgument &argument = step->arguments[i];
    if (kernel.arguments[i].value == argument.value) continue;
    if (!error.ok()) {
      set(i, argument.value);
      continue;
    }
    argument.value = kernel.arguments[i].value;
    argument.memory = std::move(memory[i]);
    argument.changed = true;
    step->stale = true;
  }
  return error;
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

Status add_step(Sequence *sequence, Kernel *kernel, const kiln_ndrange &range) {
  if (sequence->ended) return Status::error(Code::bad_argument, "the sequence has ended");
  Step step;
  if (Status e = plan_launch(*kernel, range, &step.plan); !e.ok()) return e;
  if (Status e = copy_kernel(*kernel, &step.kernel); !e.ok()) return e;
  step.arguments.reset(new StepArgument[kernel->argument_count]);
  step.argument_count = kernel->argument_count;
  for (unsigned i = 0; i < kernel->argument_count; ++i) {
    const OpenCL &cl = *sequence->loader->device->cl;
    Status e = retain_memory(cl, kernel->arguments[i], &step.arguments[i].memory);
    if (!e.ok()) return e;
    step.arguments[i].value = kernel->arguments[i].value;
  }
  // All arguments are set by now; a driver may look at them to suggest a size.
  Status planned = plan_launch_on(sequence->queue.get(), kernel, range, &step.plan);
  if (!planned.ok()) return planned;
  step.program = kernel->program;
  step.index = kernel->index;
  sequence->steps.push_back(std::move(step));
  return {};
}

Status change_step(Sequence *sequence, unsigned launch, const Kernel &kernel,
                   const kiln_ndrange *range) {
  const std::size_t count = sequence->steps.size();
  if (launch >= count) {
    return Status::error(Code::bad_argument, {"the sequence has no launch ", decimal(launch),
                                              ", there are ", decimal(count)});
  }
  Step &step = sequence->steps[launch];
  LaunchPlan plan = step.plan;
  Status e = check_change(step, kernel);
  if (e.ok() && range != nullptr) e = plan_launch(kernel, *range, &plan);
  if (e.ok() && plan.dimensions != step.plan.dimensions) {
    e = Status::error(Code::bad_argument, "a launch keeps its number of dimensions");
  }
  if (e.ok() && plan.offset != step.plan.offset) {
    e = Status::error(Code::bad_argument, "a launch keeps its global offset");
  }
  if (e.ok()) e = change_arguments(kernel, &step);
  if (!e.ok()) return e;
  if (plan.padded != step.plan.padded || plan.local != step.plan.local) {
    step.plan = plan;
    step.resized = step.stale = true;
  }
  return {};
}

Status end_sequence(Sequence *sequence) {
  if (sequence->ended) return Status::error(Code::bad_argument, "the sequence has ended");
  if (sequence->steps.empty()) return Status::error(Code::bad_argument, "the sequence is empty");
  sequence->ended = true;
  for (Step &step : sequence->steps)
    forget_changes(&step);  // the recording gets the current values
  const Loader &loader = *sequence->loader;
  Status error = record_command_buffer(loader, sequence->queue.get(), sequence->properties,
                                       &sequence->steps, &sequence->recording);
  sequence->reason = error.message;
  if (error.ok()) return {};
  error = record_on_recordable_queue(loader, sequence->steps, &sequence->recording);
  if (!error.ok()) sequence->reason += "; " + error.message;
  return {};
}

Status run_sequence(Sequence *sequence, const Waits &waits, Handle<cl_event> *event) {
  if (!sequence->ended) return Status::error(Code::bad_argument, "the sequence has not ended");
  std::vector<std::unique_ptr<FirstLaunch>> firsts;
  for (const Step &step : sequence->steps) {
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
