// SPDX-License-Identifier: Apache-2.0
// What unwinds a thread's stack through the layer: callbacks of the application that throw or end
// their thread, and cancellation. The layer must not be noticed. unwinds.cpp of the folder above
// throws with an unwinder of its own.
#include <functional>
#include <stdexcept>

#include <pthread.h>

#include "tests/layer/calls/application.hpp"

namespace kiln::test {
namespace {

namespace fs = std::filesystem;

constexpr char kUnwound[] = "kernel void f(int a) {} kernel void g() {}";
constexpr char kLinked[] = "kernel void h() {}";

enum class End { returned, ended, cancelled };
char ended;  // the result of a thread that ended itself

// Runs `what` on a thread, and returns how the thread ended.
End on_thread(const std::function<void()> &what) {
  pthread_t thread{};
  const auto run = [](void *given) -> void * {
    (*static_cast<const std::function<void()> *>(given))();
    return nullptr;
  };
  REQUIRE(pthread_create(&thread, nullptr, run, const_cast<std::function<void()> *>(&what)) == 0);
  void *result = nullptr;
  REQUIRE(pthread_join(thread, &result) == 0);
  if (result == PTHREAD_CANCELED) return End::cancelled;
  return result == &ended ? End::ended : End::returned;
}

// Runs `use` on the bare driver, with a recording, and with an overlay before and after its
// programs are built.
void each_way(const std::function<void(const Application &)> &use) {
  const TemporaryFolder folder;
  const std::string overlay = (folder.path() / "overlay").string();
  const std::pair<std::string, std::string> report = {"KILN_REPORT",
                                                      (folder.path() / "report").string()};
  Apart{folder}.run({}, use);
  Apart{folder}.run(
      {report, {"KILN_LAYER", "record"}, {"KILN_SPOOL", (folder.path() / "spool").string()}}, use);
  Apart{folder}.run({report, {"KILN_OVERLAY", overlay}}, use);
  Apart{folder}.run({{"KILN_OVERLAY", overlay}}, [](const Application &a) {
    a.release(a.built(kUnwound));
    const cl_program parts[] = {a.compiled(kUnwound), a.compiled(kLinked)};
    a.release(a.linked({parts[0], parts[1]}));
    a.release(parts[0]);
    a.release(parts[1]);
  });
  build_noted(overlay);
  Apart{folder}.run({report, {"KILN_OVERLAY", overlay}}, use);
  CHECK(mentions(read_file(report.second), "\"outcome\": \"served\""));
}

using Notify = void(CL_CALLBACK *)(cl_program, void *);

cl_program called_for;
void CL_CALLBACK throws(cl_program program, void *user) {
  called_for = program;
  throw std::runtime_error(static_cast<const char *>(user));
}
void CL_CALLBACK ends_thread(cl_program program, void *) {
  called_for = program;
  pthread_exit(&ended);
}

// Passes each call that calls back to `leave`, which its callback leaves.
void leave_each_call(const Application &a, Notify notify,
                     const std::function<void(const std::function<void()> &)> &leave) {
  static char text[] = "from the callback";
  const cl_program program = a.from_source(kUnwound);
  const cl_program other = a.compiled(kLinked);
  leave([&] { a.cl.clBuildProgram(program, 0, nullptr, "", notify, text); });
  CHECK(called_for == program);
  CHECK(a.status_of(program) == CL_BUILD_SUCCESS);
  CHECK(a.build(program) == CL_SUCCESS);
  const cl_kernel kernel = a.kernel(program, "g");
  leave([&] { a.cl.clBuildProgram(program, 1, nullptr, "", notify, text); });  // is refused
  CHECK(called_for == program);
  a.release(kernel);
  leave([&] { a.cl.clCompileProgram(program, 0, nullptr, "", 0, nullptr, nullptr, notify, text); });
  CHECK(called_for == program);
  CHECK(a.compile(program) == CL_SUCCESS);
  const cl_program parts[] = {program, other};
  leave(
      [&] { a.cl.clLinkProgram(a.context, 0, nullptr, nullptr, 2, parts, notify, text, nullptr); });
  a.release(called_for);
  a.release(a.linked({program, other}));
  a.release(program);
  a.release(other);
}

}  // namespace

TEST_CASE("an exception of the application's callback passes through the layer") {
  driver().calls_back_refused = true;
  each_way([](const Application &a) {
    unsigned caught = 0;
    leave_each_call(a, throws, [&](const std::function<void()> &call) {
      try {
        call();
      } catch (const std::runtime_error &error) {
        CHECK(std::string(error.what()) == "from the callback");
        ++caught;
      }
    });
    CHECK(caught == 4);
  });
  driver() = Driver();
}

TEST_CASE("the application's callback may end its thread") {
  driver().calls_back_refused = true;
  each_way([](const Application &a) {
    leave_each_call(a, ends_thread, [](const std::function<void()> &call) {
      CHECK(on_thread(call) == End::ended);
    });
  });
  driver() = Driver();
}

TEST_CASE("no call is a cancellation point that the driver's is not") {
  each_way([](const Application &a) {
    const auto call = [](const char *name, const std::function<void()> &what) {
      INFO(name);
      bool has_returned = false;
      CHECK(on_thread([&] {
              pthread_cancel(pthread_self());
              what();
              has_returned = true;
              pthread_testcancel();
            }) == End::cancelled);
      CHECK(has_returned);
    };
    cl_program program = nullptr, part = nullptr, other = nullptr, linked = nullptr, own = nullptr;
    cl_kernel kernel = nullptr, clone = nullptr, all[2] = {};
    cl_mem memory = nullptr;
    const int value = 5;
    call("clCreateProgramWithSource", [&] { program = a.from_source(kUnwound); });
    call("clBuildProgram", [&] { CHECK(a.build(program) == CL_SUCCESS); });
    call("clGetProgramInfo", [&] { (void)a.binaries_of(program); });
    call("clGetProgramBuildInfo", [&] { (void)a.build_text_of(program, CL_PROGRAM_BUILD_LOG); });
    call("clCreateKernel", [&] { kernel = a.kernel(program, "f"); });
    call("clCreateKernelsInProgram",
         [&] { a.cl.clCreateKernelsInProgram(program, 2, all, nullptr); });
    call("clCloneKernel", [&] { clone = a.cl.clCloneKernel(kernel, nullptr); });
    call("clGetKernelInfo", [&] { (void)a.text_of(kernel, CL_KERNEL_ATTRIBUTES); });
    call("clGetKernelArgInfo", [&] {
      (void)a.cl.clGetKernelArgInfo(kernel, 0, CL_KERNEL_ARG_NAME, 0, nullptr, nullptr);
    });
    call("clSetKernelArg", [&] { a.cl.clSetKernelArg(kernel, 0, sizeof(value), &value); });
    call("clCreateBuffer",
         [&] { memory = a.cl.clCreateBuffer(a.context, 0, 8, nullptr, nullptr); });
    call("clEnqueueNDRangeKernel", [&] { CHECK(a.launch(kernel, 64) == CL_SUCCESS); });
    call("clEnqueueTask", [&] { a.cl.clEnqueueTask(a.queue, all[1], 0, nullptr, nullptr); });
    call("clEnqueueReadBuffer", [&] {
      int out[2];
      a.cl.clEnqueueReadBuffer(a.queue, memory, CL_TRUE, 0, 8, out, 0, nullptr, nullptr);
    });
    call("clFinish", [&] { a.cl.clFinish(a.queue); });
    call("clReleaseKernel", [&] {
      for (const cl_kernel one : {kernel, clone, all[0], all[1]}) a.release(one);
    });
    call("clReleaseMemObject", [&] { a.cl.clReleaseMemObject(memory); });
    call("clCompileProgram", [&] {
      part = a.compiled(kUnwound);
      other = a.compiled(kLinked);
    });
    call("clLinkProgram", [&] { linked = a.linked({part, other}); });
    call("clCreateProgramWithBinary",
         [&] { own = a.from_binary(binary_of(driver().names[0], kUnwound)); });
    call("clBuildProgram of a binary", [&] { CHECK(a.build(own) == CL_SUCCESS); });
    call("clReleaseProgram", [&] {
      for (const cl_program one : {program, part, other, linked, own}) a.release(one);
    });
  });
}

TEST_CASE("a thread may be cancelled inside of the driver") {
  each_way([](const Application &a) {
    const std::function<void()> cancel = [] {
      pthread_cancel(pthread_self());
      pthread_testcancel();
    };
    const cl_program program = a.from_source("kernel void other() {}");
    CHECK(on_thread([&] {
            driver().on_build = cancel;
            a.build(program);
          }) == End::cancelled);
    driver().on_build = nullptr;
    a.release(program);
    a.release(a.built(kUnwound));
  });
}

}  // namespace kiln::test
