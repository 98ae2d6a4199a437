// SPDX-License-Identifier: Apache-2.0
// Programs that the layer serves from packs, as the application sees them and their kernels.
#include <CL/cl_layer.h>
#include <dlfcn.h>

#include "tests/layer/calls/application.hpp"

namespace kiln::test {
namespace {

constexpr char kServed[] = "kernel void f(int a, int b) {} kernel void g() {}";

using Outcomes = std::vector<std::string>;

// A pack of the text for devices of these names, and a report.
struct Pack {
  explicit Pack(const std::vector<Packed> &programs = {{kServed, "-DX", {"First", "Second"}}}) {
    write(contents_of(programs), folder.path() / "p.kiln");
  }

  void run(const std::function<void(const Application &)> &use, std::size_t devices = 1,
           Variables more = {}) const {
    more.emplace_back("KILN_REPORT", report().string());
    more.emplace_back("KILN_PACK", (folder.path() / "p.kiln").string());
    Apart{folder, devices}.run(more, use);
  }

  std::filesystem::path report() const { return folder.path() / "report"; }

  TemporaryFolder folder;
};

// The driver finds faults of a call before the kernels that forbid it.
void check_malformed(const Application &a, cl_program program) {
  const cl_device_id device = driver_device(0);
  const auto note = [](cl_program called, void *user) {
    *static_cast<cl_program *>(user) = called;
  };
  cl_program called = nullptr;
  const std::size_t built = driver().built.size();
  CHECK(a.cl.clBuildProgram(program, 1, nullptr, "", nullptr, nullptr) == CL_INVALID_VALUE);
  CHECK(a.cl.clBuildProgram(program, 0, &device, "", nullptr, nullptr) == CL_INVALID_VALUE);
  CHECK(a.cl.clBuildProgram(program, 1, &device, "", nullptr, &called) == CL_INVALID_VALUE);
  CHECK(a.cl.clCompileProgram(program, 1, &device, "", 1, nullptr, nullptr, nullptr, nullptr) ==
        CL_INVALID_VALUE);
  CHECK(a.cl.clCompileProgram(program, 1, &device, "", 1, &program, nullptr, nullptr, nullptr) ==
        CL_INVALID_VALUE);
  CHECK(a.cl.clCompileProgram(program, 0, &device, "", 0, nullptr, nullptr, nullptr, nullptr) ==
        CL_INVALID_VALUE);
  // A driver that refuses a call may call back.
  driver().calls_back_refused = true;
  CHECK(a.cl.clBuildProgram(program, 1, nullptr, "", note, &called) == CL_INVALID_VALUE);
  CHECK(called == program);
  driver().calls_back_refused = false;
  // A driver that takes such a call builds nothing for the application.
  driver().fails["clBuildProgram"] = CL_SUCCESS;
  CHECK(a.cl.clBuildProgram(program, 1, nullptr, "", nullptr, nullptr) == CL_INVALID_OPERATION);
  driver().fails.clear();
  CHECK(driver().built.size() == built);
}

}  // namespace

TEST_CASE("a served program answers as if the driver had built the application's text") {
  const Pack pack;
  pack.run([](const Application &a) {
    // What is behind the given pieces is not the text.
    const char *pieces[] = {"kernel void f(int a, int b) {} OTHER", "kernel void g() {}",
                            "kernel void h() {}"};
    const std::size_t lengths[] = {31, 0, 0};
    const cl_program program =
        a.cl.clCreateProgramWithSource(a.context, 2, pieces, lengths, nullptr);
    CHECK(a.status_of(program) == CL_BUILD_NONE);
    CHECK(a.build(program, "-DX") == CL_SUCCESS);
    CHECK(driver().built == std::vector<std::string>{std::string(kServed) + ", NULL"});
    CHECK(a.text_of(program, CL_PROGRAM_SOURCE) == kServed);
    CHECK(a.text_of(program, CL_PROGRAM_KERNEL_NAMES) == "f;g");
    CHECK(a.status_of(program) == CL_BUILD_SUCCESS);
    CHECK(a.type_of(program) == CL_PROGRAM_BINARY_TYPE_EXECUTABLE);
    CHECK(a.build_text_of(program, CL_PROGRAM_BUILD_OPTIONS) == "-DX");
    CHECK(a.build_text_of(program, CL_PROGRAM_BUILD_LOG) == "a log for First");
    CHECK(a.binaries_of(program) == std::vector<std::string>{binary_of("First", kServed)});
    cl_context context = nullptr;
    CHECK(a.cl.clGetProgramInfo(program, CL_PROGRAM_CONTEXT, sizeof(context), &context, nullptr) ==
          CL_SUCCESS);
    CHECK(context == a.context);
    a.release(program);
  });
  CHECK(report_lines(pack.report()) ==
        std::vector<std::string>{"{\"outcome\": \"served\", \"program\": \"" +
                                 name_of_program(kServed, "-DX") +
                                 "\", \"kernels\": [\"f\", \"g\"], \"devices\": [\"First\"], "
                                 "\"key_hash\": \"fafa34da5fc82b7f\", \"model\": \"First\", "
                                 "\"driver\": \"1.0\", "
                                 "\"rung\": \"exact\", \"reason\": \"\", \"nearest\": null}"});
}

TEST_CASE("a loader that is closed and opened again gives the layer its new functions") {
  const Pack pack;
  pack.run([](const Application &a) {
    a.release(a.built(kServed, "-DX"));
    void *layer = dlopen(kiln_layer_library, RTLD_NOW | RTLD_NOLOAD);
    REQUIRE(layer != nullptr);
    using Init = cl_int (*)(cl_uint, const cl_icd_dispatch *, cl_uint *, const cl_icd_dispatch **,
                            const cl_properties *);
    const auto init = reinterpret_cast<Init>(dlsym(layer, "clInitLayerWithProperties"));
    REQUIRE(init != nullptr);
    static unsigned calls = 0;
    cl_icd_dispatch below = driver_table();
    below.clCreateProgramWithBinary =
        [](cl_context context, cl_uint count, const cl_device_id *devices, const std::size_t *sizes,
           const unsigned char **binaries, cl_int *status, cl_int *code) {
          ++calls;
          return driver_table().clCreateProgramWithBinary(context, count, devices, sizes, binaries,
                                                          status, code);
        };
    const cl_icd_dispatch *above = nullptr;
    const cl_properties none = 0;
    cl_uint taken = 0;
    const cl_uint entries = sizeof(below) / sizeof(void *);
    CHECK(init(entries, nullptr, &taken, &above, &none) == CL_INVALID_VALUE);
    REQUIRE(init(entries, &below, &taken, &above, &none) == CL_SUCCESS);
    CHECK(taken == entries);
    // Not above itself.
    const cl_icd_dispatch *twice = nullptr;
    CHECK(init(entries, above, &taken, &twice, nullptr) == CL_INVALID_OPERATION);
    Application again = a;
    again.cl = *above;
    again.release(again.built(kServed, "-DX"));
    CHECK(calls == 1);
    // An earlier loader has fewer functions.
    CHECK(init(1, &below, &taken, &above, &none) == CL_SUCCESS);
    CHECK(taken == 1);
    REQUIRE(init(entries, &below, &taken, &above, &none) == CL_SUCCESS);
  });
  CHECK(outcomes(pack.report()) == Outcomes{"served, exact", "served, exact"});
}

TEST_CASE("kernels of a served program are the application's program's, in every count") {
  const bool counts = GENERATE(false, true);
  const Pack pack;
  pack.run([counts](const Application &a) {
    driver().counts_kernels = counts;
    const unsigned each = counts ? 1 : 0;
    const cl_program program = a.built(kServed, "-DX");
    cl_kernel kernels[3] = {};
    cl_uint count = 0;
    CHECK(a.cl.clCreateKernelsInProgram(program, 0, nullptr, &count) == CL_SUCCESS);
    CHECK(count == 2);
    count = 0;
    CHECK(a.cl.clCreateKernelsInProgram(program, 1, kernels, &count) == CL_INVALID_VALUE);
    CHECK(count == 0);
    CHECK(a.references_of(program) == 1);
    CHECK(a.cl.clCreateKernelsInProgram(program, 3, kernels, nullptr) == CL_SUCCESS);
    CHECK(kernels[2] == nullptr);
    CHECK(a.references_of(program) == 1 + 2 * each);
    const cl_kernel third = a.kernel(program, "f");
    CHECK(a.references_of(program) == 1 + 3 * each);
    cl_int code = CL_SUCCESS;
    CHECK(a.cl.clCreateKernel(program, "absent", &code) == nullptr);
    CHECK(code == CL_INVALID_KERNEL_NAME);
    for (const cl_kernel kernel : {kernels[0], kernels[1], third}) {
      cl_program of = nullptr;
      CHECK(a.cl.clGetKernelInfo(kernel, CL_KERNEL_PROGRAM, sizeof(of), &of, nullptr) ==
            CL_SUCCESS);
      CHECK(of == program);
      CHECK(a.text_of(kernel, CL_KERNEL_ATTRIBUTES) == "an attribute");
    }

    // As a driver: not while kernels exist.
    CHECK(a.build(program, "-DX") == CL_INVALID_OPERATION);
    CHECK(a.build(program, "-DY") == CL_INVALID_OPERATION);
    CHECK(a.compile(program, "-DX") == CL_INVALID_OPERATION);
    check_malformed(a, program);
    const cl_kernel clone = a.cl.clCloneKernel(third, nullptr);
    CHECK(a.references_of(program) == 1 + 4 * each);
    CHECK(a.cl.clRetainKernel(clone) == CL_SUCCESS);
    driver().fails["clRetainKernel"] = CL_OUT_OF_RESOURCES;
    CHECK(a.cl.clRetainKernel(clone) == CL_OUT_OF_RESOURCES);
    driver().fails.clear();
    for (const cl_kernel kernel : {kernels[0], kernels[1], third, clone}) a.release(kernel);
    CHECK(a.references_of(program) == 1 + each);
    CHECK(a.build(program, "-DX") == CL_INVALID_OPERATION);
    a.release(clone);
    CHECK(a.references_of(program) == 1);
    CHECK(a.build(program, "-DX") == CL_SUCCESS);

    // A kernel outlives the application's reference to its program.
    const cl_kernel last = a.kernel(program, "g");
    a.release(program);
    CHECK(a.text_of(last, CL_KERNEL_FUNCTION_NAME) == "g");
    cl_program of = nullptr;
    CHECK(a.cl.clGetKernelInfo(last, CL_KERNEL_PROGRAM, sizeof(of), &of, nullptr) == CL_SUCCESS);
    CHECK(of == program);
    a.release(last);
  });
}

TEST_CASE("a program stays known until its last release, and not longer") {
  const Pack pack;
  pack.run([](const Application &a) {
    const cl_program program = a.from_source(kServed);
    CHECK(a.cl.clRetainProgram(program) == CL_SUCCESS);
    a.release(program);
    CHECK(a.build(program, "-DX") == CL_SUCCESS);
    CHECK(driver().built.back() == std::string(kServed) + ", NULL");
    driver().fails["clRetainProgram"] = CL_OUT_OF_RESOURCES;
    CHECK(a.cl.clRetainProgram(program) == CL_OUT_OF_RESOURCES);
    driver().fails.clear();
    a.release(program);
    const cl_program other = a.built("kernel void other() {}", "-DX");
    CHECK(other == program);  // the driver uses the handle again
    CHECK(driver().built.back() == "kernel void other() {}, -DX");
    CHECK(a.text_of(other, CL_PROGRAM_KERNEL_NAMES) == "other");
    a.release(other);
  });
  CHECK(outcomes(pack.report()) == Outcomes{"served, exact", "passed, no pack has it"});
}

TEST_CASE("arguments are told as the driver tells them of a program from source") {
  const bool tells = GENERATE(false, true);
  const bool keeps = GENERATE(false, true);
  const Pack pack({{kServed, "", {"First"}}, {kServed, "-cl-kernel-arg-info", {"First"}}});
  pack.run([=](const Application &a) {
    driver().tells_arguments = tells;
    driver().keeps_attributes = keeps;
    char name[32] = "";
    const auto ask = [&](cl_kernel kernel, cl_uint index) {
      return a.cl.clGetKernelArgInfo(kernel, index, CL_KERNEL_ARG_NAME, sizeof(name), name,
                                     nullptr);
    };
    const cl_program plain = a.built(kServed);
    const cl_program asked = a.built(kServed, "-cl-kernel-arg-info");
    const cl_kernel of_plain = a.kernel(plain, "f");
    const cl_kernel of_asked = a.kernel(asked, "f");
    CHECK(ask(of_asked, 1) == CL_SUCCESS);
    CHECK(std::string(name) == "argument 1");
    CHECK(ask(of_plain, 0) == (tells ? CL_SUCCESS : CL_KERNEL_ARG_INFO_NOT_AVAILABLE));
    CHECK(std::string(name) == (tells ? "argument 0" : "argument 1"));
    CHECK(ask(of_asked, 2) == CL_INVALID_ARG_INDEX);
    CHECK(ask(of_plain, 2) == CL_INVALID_ARG_INDEX);
    const auto ask_unknown = [&](cl_kernel kernel, cl_uint index) {
      return a.cl.clGetKernelArgInfo(kernel, index, 0x7777, sizeof(name), name, nullptr);
    };
    CHECK(ask_unknown(of_asked, 0) == CL_INVALID_VALUE);
    CHECK(ask_unknown(of_plain, 0) ==
          (tells ? CL_INVALID_VALUE : CL_KERNEL_ARG_INFO_NOT_AVAILABLE));
    CHECK(ask_unknown(of_plain, 2) == CL_INVALID_ARG_INDEX);
    CHECK(a.text_of(of_plain, CL_KERNEL_ATTRIBUTES) == "an attribute");
    CHECK(a.text_of(of_plain, CL_KERNEL_FUNCTION_NAME) == "f");
    a.release(of_plain);
    a.release(of_asked);
    a.release(plain);
    a.release(asked);
  });
}

TEST_CASE("build options are told as the driver tells them of a program from source") {
  const Pack pack({{kServed, " -DX  -DY", {"First"}}});
  pack.run([](const Application &a) {
    driver().joins_options = true;
    const cl_program program = a.built(kServed, " -DX  -DY");
    const cl_program compiled = a.compiled(kServed, " -DX  -DY");
    for (const cl_program of : {program, compiled, program}) {
      CHECK(a.build_text_of(of, CL_PROGRAM_BUILD_OPTIONS) == "-DX-DY");
    }
    // The text was compiled by none, and a program without text once.
    CHECK(driver().built ==
          std::vector<std::string>{std::string(kServed) + ", NULL", " ,  -DX  -DY"});
    a.release(program);
    a.release(compiled);
  });
}

TEST_CASE("build options are as given where the driver does not tell, or must compile nothing") {
  const bool requires_binaries = GENERATE(false, true);
  const Pack pack({{kServed, "-DX -DY", {"First"}}});
  const auto use = [=](const Application &a) {
    driver().joins_options = true;
    const cl_program program = a.built(kServed, "-DX -DY");
    if (!requires_binaries) driver().fails["clBuildProgram"] = CL_OUT_OF_HOST_MEMORY;
    CHECK(a.build_text_of(program, CL_PROGRAM_BUILD_OPTIONS) == "-DX -DY");
    CHECK(driver().built.size() == 1);
    a.release(program);
  };
  pack.run(use, 1, requires_binaries ? Variables{{"KILN_REQUIRE", "exact"}} : Variables());
}

TEST_CASE("what binaries lose is lost where the driver cannot build the text") {
  const Pack pack({{kServed, "", {"First"}}});
  pack.run([](const Application &a) {
    const cl_program program = a.built(kServed);
    const cl_kernel kernel = a.kernel(program, "f");
    driver().fails["clCreateProgramWithSource"] = CL_OUT_OF_HOST_MEMORY;
    CHECK(a.text_of(kernel, CL_KERNEL_ATTRIBUTES).empty());
    driver().fails.clear();
    CHECK(a.text_of(kernel, CL_KERNEL_ATTRIBUTES).empty());  // asked once
    a.release(kernel);
    a.release(program);
    const cl_program again = a.built(kServed);
    const cl_kernel other = a.kernel(again, "f");
    driver().fails["clBuildProgram"] = CL_OUT_OF_HOST_MEMORY;
    CHECK(a.text_of(other, CL_KERNEL_ATTRIBUTES).empty());
    a.release(other);
    a.release(again);
  });
}

TEST_CASE("the first pack with a binary for the device serves, wherever it is in the list") {
  const TemporaryFolder folder;
  write(contents_of({{"kernel void other() {}", "", {"First"}}}), folder.path() / "packs/1.kiln");
  write(contents_of({{"kernel void other() {}", "", {"First"}}, {kServed, "", {"Second"}}}),
        folder.path() / "packs/2.kiln");
  write(contents_of({{kServed, "", {}}}), folder.path() / "packs/3.kiln");
  write(contents_of({{kServed, "", {"First"}}}), folder.path() / "last.kiln");
  const std::string report = (folder.path() / "report").string();
  const std::string packs = (folder.path() / "packs").string();
  const auto use = [](const Application &a) {
    a.release(a.built(kServed));
    a.release(a.built("kernel void other() {}"));
    a.release(a.built("kernel void absent() {}"));
  };
  Apart{folder}.run({{"KILN_PACK", packs + "::" + folder.path().string() + "/last.kiln"},
                     {"KILN_REPORT", report}},
                    use);
  CHECK(outcomes(report) == Outcomes{"served, exact", "served, exact", "passed, no pack has it"});
  std::filesystem::remove(report);
  Apart{folder}.run({{"KILN_PACK_PATH", packs + ":/nowhere/at/all"}, {"KILN_REPORT", report}}, use);
  CHECK(outcomes(report) ==
        Outcomes{"compiled, source, exact: the target has no binary of this variant",
                 "served, exact", "passed, no pack has it"});
}

TEST_CASE("a pack that cannot be read changes nothing") {
  const TemporaryFolder folder;
  folder.write("bad.kiln", "no pack");
  const std::string report = (folder.path() / "report").string();
  Apart{folder}.run(
      {{"KILN_PACK", (folder.path() / "bad.kiln").string() + ":/nowhere/p.kiln"},
       {"KILN_REPORT", report}},
      [](const Application &a) {
        const cl_program program = a.built(kServed, "-DX");
        CHECK(driver().built == std::vector<std::string>{std::string(kServed) + ", -DX"});
        a.release(program);
      });
  CHECK(outcomes(report) == Outcomes{"passed, no pack has it"});
}

TEST_CASE(
    "where the driver refuses the binary, the pack's source is compiled, and the report says why") {
  const Pack pack;
  pack.run([](const Application &a) {
    driver().fails["clCreateProgramWithBinary"] = CL_INVALID_BINARY;
    const cl_program program = a.built(kServed, "-DX");
    CHECK(driver().built == std::vector<std::string>{std::string(kServed) + ", -DX"});
    a.release(program);
    const cl_program broken = a.from_source(kServed);
    driver().fails["clBuildProgram"] = CL_OUT_OF_RESOURCES;
    CHECK(a.build(broken, "-DX") == CL_OUT_OF_RESOURCES);
    a.release(broken);
  });
  const Outcomes told = outcomes(pack.report());
  REQUIRE(told.size() == 2);
  CHECK(told[0] ==
        "compiled, source, exact: clCreateProgramWithBinary returned "
        "CL_INVALID_BINARY (-42)");
  CHECK(mentions(told[1], "passed, "));
}

TEST_CASE("a build for sub-devices is served as the driver builds it: for their parent") {
  const bool is_parents = GENERATE(false, true);
  const Pack pack({{kServed, "-DX", {"First"}}});
  pack.run([=](const Application &a) {
    driver().has_sub_devices = is_parents;
    cl_uint count = 0;
    CHECK(a.cl.clCreateSubDevices(driver_device(0), nullptr, 0, nullptr, &count) == CL_SUCCESS);
    CHECK(count == 2);
    cl_device_id parts[2] = {};
    CHECK(a.cl.clCreateSubDevices(driver_device(0), nullptr, 2, parts, nullptr) == CL_SUCCESS);
    const cl_program program = a.from_source(kServed);
    const cl_int code = a.cl.clBuildProgram(program, 2, parts, "-DX", nullptr, nullptr);
    CHECK(code == (is_parents ? CL_SUCCESS : CL_INVALID_DEVICE));
    cl_build_status status = CL_BUILD_ERROR;
    const cl_int asked = a.cl.clGetProgramBuildInfo(program, parts[0], CL_PROGRAM_BUILD_STATUS,
                                                    sizeof(status), &status, nullptr);
    CHECK(asked == code);
    CHECK(status == (is_parents ? CL_BUILD_SUCCESS : CL_BUILD_ERROR));
    CHECK(a.status_of(program) == (is_parents ? CL_BUILD_SUCCESS : CL_BUILD_NONE));
    a.release(program);
  });
  CHECK(outcomes(pack.report()) ==
        Outcomes{is_parents ? "served, exact"
                            : "passed, it is built for a device that is not one of the program"});
}

TEST_CASE("binaries are of the devices of which the driver gives them") {
  const bool last = GENERATE(false, true);
  const bool requires_binaries = GENERATE(false, true);
  const Pack pack({{kServed, "-DX", {"First", "Second"}}});
  const auto use = [=](const Application &a) {
    driver().gives_last_built = last;
    const std::string first = binary_of("First", kServed);
    const std::string second = binary_of("Second", kServed);
    const bool only_last = last && !requires_binaries;
    using Binaries = std::vector<std::string>;
    const cl_program program = a.built(kServed, "-DX", {driver_device(1)});
    CHECK(a.binaries_of(program) == (only_last ? Binaries{second} : Binaries{"", second}));
    const cl_device_id device = driver_device(0);
    CHECK(a.cl.clBuildProgram(program, 1, &device, "-DX", nullptr, nullptr) == CL_SUCCESS);
    CHECK(a.binaries_of(program) == (only_last ? Binaries{first} : Binaries{first, second}));
    CHECK(a.cl.clBuildProgram(program, 0, nullptr, "-DX", nullptr, nullptr) == CL_SUCCESS);
    CHECK(a.binaries_of(program) == Binaries{first, second});
    a.release(program);
  };
  pack.run(use, 2, requires_binaries ? Variables{{"KILN_REQUIRE", "exact"}} : Variables());
}

TEST_CASE("a program is served for each of several devices, and stays built for the others") {
  const Pack pack({{kServed, "-DX", {"First", "Second"}}, {"kernel void one() {}", "", {"First"}}});
  driver().names = {"First", "Second", "First"};
  pack.run(
      [](const Application &a) {
        // For all: each device has its binary, those of one kind share one.
        const cl_program all = a.from_source(kServed);
        CHECK(a.build(all, "-DX") == CL_SUCCESS);
        const std::string first = binary_of("First", kServed);
        const std::string second = binary_of("Second", kServed);
        CHECK(a.binaries_of(all) == std::vector<std::string>{first, second, first});
        CHECK(a.build_text_of(all, CL_PROGRAM_BUILD_LOG, 0) == "a log for First");
        CHECK(a.build_text_of(all, CL_PROGRAM_BUILD_LOG, 1) == "a log for Second");
        CHECK(a.build_text_of(all, CL_PROGRAM_BUILD_LOG, 2) == "a log for First");
        CHECK(calls_of("clCreateProgramWithBinary") == 3);
        a.release(all);

        // For one after another.
        const cl_program program = a.built(kServed, "-DX", {driver_device(1)});
        CHECK(a.binaries_of(program) == std::vector<std::string>{"", second, ""});
        std::size_t sizes[3] = {};
        CHECK(a.cl.clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(sizes) - 1, sizes,
                                    nullptr) == CL_INVALID_VALUE);
        CHECK(a.status_of(program, 0) == CL_BUILD_NONE);
        CHECK(a.status_of(program, 1) == CL_BUILD_SUCCESS);
        CHECK(a.build_text_of(program, CL_PROGRAM_BUILD_LOG, 0).empty());
        CHECK(a.build_text_of(program, CL_PROGRAM_BUILD_LOG, 1) == "a log for Second");
        CHECK(a.cl.clGetProgramBuildInfo(program, driver_device(3), CL_PROGRAM_BUILD_LOG, 0,
                                         nullptr, nullptr) == CL_INVALID_DEVICE);
        const cl_device_id twice[] = {driver_device(0), driver_device(0)};
        CHECK(a.cl.clBuildProgram(program, 2, twice, "-DX", nullptr, nullptr) == CL_SUCCESS);
        CHECK(a.binaries_of(program) == std::vector<std::string>{first, second, ""});

        // Otherwise for another device: the driver builds, for those before, too.
        const cl_device_id third = driver_device(2);
        CHECK(a.cl.clBuildProgram(program, 1, &third, "-DY", nullptr, nullptr) == CL_SUCCESS);
        CHECK(driver().built.back() == std::string(kServed) + ", -DY");
        CHECK(driver().built[driver().built.size() - 2] == std::string(kServed) + ", -DX");
        // The driver has it from here on.
        CHECK(a.cl.clBuildProgram(program, 1, &third, "-DX", nullptr, nullptr) == CL_SUCCESS);
        CHECK(driver().built.back() == std::string(kServed) + ", -DX");
        a.release(program);

        const cl_program partly = a.from_source("kernel void one() {}");
        CHECK(a.build(partly) == CL_SUCCESS);
        a.release(partly);
        const cl_program refused = a.from_source(kServed);
        driver().takes_together = false;
        CHECK(a.build(refused, "-DX") == CL_SUCCESS);
        CHECK(driver().built.back() == std::string(kServed) + ", -DX");
        a.release(refused);
      },
      3);
  driver().names = Driver().names;
  CHECK(outcomes(pack.report()) ==
        Outcomes{"served, exact", "served, exact", "served, exact",
                 "passed, it was built otherwise for other devices before",
                 "passed, the driver built it before", "passed, no pack has it for each device",
                 "passed, the driver does not take the binaries of its devices together"});
}

TEST_CASE(
    "devices that are not the program's, and calls that are wrong, are for the driver to judge") {
  const Pack pack;
  pack.run([](const Application &a) {
    const cl_program program = a.from_source(kServed);
    const cl_device_id other = driver_device(1);
    int user = 0;
    CHECK(a.cl.clBuildProgram(program, 1, &other, "-DX", nullptr, nullptr) == CL_INVALID_DEVICE);
    CHECK(a.cl.clBuildProgram(program, 1, nullptr, "-DX", nullptr, nullptr) == CL_INVALID_VALUE);
    CHECK(a.cl.clBuildProgram(program, 0, &other, "-DX", nullptr, nullptr) == CL_INVALID_VALUE);
    CHECK(a.cl.clBuildProgram(program, 0, nullptr, "-DX", nullptr, &user) == CL_INVALID_VALUE);
    CHECK(a.status_of(program) == CL_BUILD_NONE);
    CHECK(a.build(program, "-DX") == CL_SUCCESS);
    // A call that the driver refuses leaves the program as it was.
    CHECK(a.cl.clBuildProgram(program, 1, nullptr, "-DX", nullptr, nullptr) == CL_INVALID_VALUE);
    CHECK(a.binaries_of(program) == std::vector<std::string>{binary_of("First", kServed)});
    CHECK(a.build_text_of(program, CL_PROGRAM_BUILD_LOG) == "a log for First");
    a.release(program);
  });
  const std::string judged = "passed, its arguments are for the driver to judge";
  CHECK(outcomes(pack.report()) ==
        Outcomes{"passed, it is built for a device that is not one of the program", judged, judged,
                 judged, "served, exact", judged});
}

TEST_CASE("devices of one kind share a binary wherever they are among the others") {
  driver().names = {"First", "First", "Second"};
  const Pack pack;
  pack.run(
      [](const Application &a) {
        const cl_program all = a.from_source(kServed);
        CHECK(a.build(all, "-DX") == CL_SUCCESS);
        const std::string first = binary_of("First", kServed);
        CHECK(a.binaries_of(all) ==
              std::vector<std::string>{first, first, binary_of("Second", kServed)});
        CHECK(a.build_text_of(all, CL_PROGRAM_BUILD_LOG, 2) == "a log for Second");
        a.release(all);
      },
      3);
  driver().names = Driver().names;
  CHECK(outcomes(pack.report()) == Outcomes{"served, exact"});
}

TEST_CASE("a callback comes once, whoever builds") {
  const Pack pack;
  pack.run([](const Application &a) {
    struct Seen {
      const Application &a;
      std::vector<cl_program> programs;
      std::vector<cl_build_status> statuses;
    } seen{a, {}, {}};
    const auto see = [](cl_program program, void *user) {
      auto *s = static_cast<Seen *>(user);
      s->programs.push_back(program);
      s->statuses.push_back(s->a.status_of(program));
    };
    const cl_program served = a.from_source(kServed);
    const cl_program passed = a.from_source("kernel void other() {}");
    CHECK(a.cl.clBuildProgram(served, 0, nullptr, "-DX", see, &seen) == CL_SUCCESS);
    CHECK(a.cl.clBuildProgram(passed, 0, nullptr, "-DX", see, &seen) == CL_SUCCESS);
    CHECK(a.cl.clBuildProgram(served, 0, nullptr, "-DZ", see, &seen) == CL_SUCCESS);
    CHECK(seen.programs == std::vector<cl_program>{served, passed, served});
    CHECK(seen.statuses == std::vector<cl_build_status>(3, CL_BUILD_SUCCESS));
    CHECK(a.build_text_of(served, CL_PROGRAM_BUILD_OPTIONS) == "-DZ");
    a.release(served);
    a.release(passed);
  });
}

TEST_CASE("a program is not served where a variable changes what the driver compiles") {
  driver().platform = "Portable Computing Language";
  const Pack pack;
  const auto use = [](const Application &a) { a.release(a.built(kServed, "-DX")); };
  pack.run(use, 1, {{"POCL_DEBUG", "1"}, {"CUDA_OTHER", "1"}});
  pack.run(use, 1, {{"POCL_VECTORIZER", "1"}});
  driver().platform = Driver().platform;
  CHECK(outcomes(pack.report()) ==
        Outcomes{"served, exact",
                 "passed, POCL_VECTORIZER is set, which may change what the driver compiles"});
}

TEST_CASE("a program is not served where a variable was set when the driver may have read it") {
  driver().platform = "Portable Computing Language";
  const Pack pack;
  const auto use = [](const Application &a) { a.release(a.built(kServed, "-DX")); };
  const auto unset_first = [&](const Application &a) {
    unsetenv("POCL_AT_START");
    use(a);
  };
  // Set after the start, and gone again before the build.
  const auto at = [&](const std::function<void(const Application &)> &call) {
    return [&use, call](const Application &a) {
      setenv("POCL_LATER", "1", 1);
      call(a);
      unsetenv("POCL_LATER");
      use(a);
    };
  };
  const cl_device_id device = driver_device(0);
  pack.run(unset_first, 1, {{"POCL_AT_START", "1"}});
  pack.run(at([](const Application &a) {
    (void)a.cl.clGetDeviceIDs(nullptr, CL_DEVICE_TYPE_ALL, 0, nullptr, nullptr);
  }));
  pack.run(at([&](const Application &a) {
    a.cl.clReleaseContext(a.cl.clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr));
  }));
  pack.run(at([&](const Application &a) { a.release(a.built("kernel void other() {}")); }));
  pack.run(at([](const Application &) {}));
  driver().platform = Driver().platform;
  const std::string later = "POCL_LATER was set, which may change what the driver compiles";
  const std::string passed = "passed, ";
  CHECK(outcomes(pack.report()) ==
        Outcomes{"passed, POCL_AT_START was set, which may change what the driver compiles",
                 passed + later, passed + later,
                 "passed, POCL_LATER is set, which may change what the driver compiles",
                 passed + later, "served, exact"});
}

TEST_CASE("a module is served unless its constants were set") {
  std::string module(20, '\0');
  const std::uint32_t header[] = {0x07230203, 0x00010000};
  module.replace(0, sizeof(header), reinterpret_cast<const char *>(header), sizeof(header));
  module += "kernel void f() {}";
  packs::Contents contents = contents_of({{module, "", {"First"}}});
  packs::Variant &variant = contents.programs[0].variants[0];
  variant.il64 = std::move(variant.source);
  variant.source.reset();
  variant.il_version = 0x00010000;
  const std::string binary = binary_of("First", "kernel void f() {}");
  contents.targets[0].binaries[0].blob =
      packs::BlobSource(packs::Bytes(binary.begin(), binary.end()));
  const TemporaryFolder folder;
  const std::string report = (folder.path() / "report").string();
  write(contents, folder.path() / "p.kiln");
  Apart{folder}.run(
      {{"KILN_PACK", (folder.path() / "p.kiln").string()}, {"KILN_REPORT", report}},
      [&](const Application &a) {
        cl_int code = CL_INVALID_VALUE;
        const auto create = [&] {
          return a.cl.clCreateProgramWithIL(a.context, module.data(), module.size(), &code);
        };
        const cl_program served = create();
        CHECK(code == CL_SUCCESS);
        CHECK(a.build(served) == CL_SUCCESS);
        CHECK(calls_of("clCreateProgramWithBinary") == 1);
        std::size_t size = 0;
        CHECK(a.cl.clGetProgramInfo(served, CL_PROGRAM_IL, 0, nullptr, &size) == CL_SUCCESS);
        CHECK(size == module.size());
        const cl_kernel kernel = a.kernel(served, "f");
        CHECK(a.text_of(kernel, CL_KERNEL_ATTRIBUTES) == "an attribute");  // from the module again
        CHECK(calls_of("clCreateProgramWithIL") == 2);
        a.release(kernel);
        a.release(served);

        driver().fails["clCreateProgramWithBinary"] = CL_INVALID_BINARY;
        const cl_program compiled = create();
        CHECK(a.build(compiled) == CL_SUCCESS);
        a.release(compiled);
        driver().fails.clear();

        const cl_program special = create();
        CHECK(a.cl.clSetProgramSpecializationConstant(special, 1, 4, &size) == CL_SUCCESS);
        CHECK(a.build(special) == CL_SUCCESS);
        CHECK(calls_of("clSetProgramSpecializationConstant") == 1);
        a.release(special);
      });
  const Outcomes told = outcomes(report);
  REQUIRE(told.size() == 3);
  CHECK(told[0] == "served, exact");
  CHECK(mentions(told[1], "compiled, il, exact: "));
  CHECK(told[2] == "passed, its specialisation constants were set");
}

TEST_CASE("a measured size is given to launches without one, as long as the driver takes it") {
  packs::Contents contents = contents_of({{kServed, "-DX", {"First", "Second"}}});
  packs::Tuning tuning;
  tuning.program = contents.programs[0].name;
  tuning.variant = contents.programs[0].variants[0].name;
  tuning.kernel = "f";
  tuning.local_size = {8, 1, 1};
  contents.tunings.push_back(tuning);
  const Pack pack;
  write(contents, pack.folder.path() / "p.kiln");
  using Sizes = std::vector<std::size_t>;
  const auto local = [](const Application &a, cl_kernel kernel, std::size_t global,
                        std::size_t given = 0) {
    CHECK(a.launch(kernel, global, given) == CL_SUCCESS);
    return driver().launches.back().local;
  };
  pack.run([&](const Application &a) {
    const cl_program program = a.built(kServed, "-DX");
    const cl_kernel f = a.kernel(program, "f");
    const cl_kernel g = a.kernel(program, "g");
    CHECK(local(a, f, 64) == Sizes{8});
    CHECK(local(a, f, 64, 4) == Sizes{4});
    CHECK(local(a, f, 65) == Sizes{});                    // 8 does not divide it
    CHECK(local(a, f, std::size_t{1} << 40) == Sizes{});  // no size was measured for so many
    CHECK(local(a, g, 64) == Sizes{});
    CHECK(a.launch(nullptr, 64) == CL_INVALID_KERNEL);
    const std::size_t four[4] = {8, 1, 1, 1};
    CHECK(a.cl.clEnqueueNDRangeKernel(a.queue, f, 4, nullptr, four, nullptr, 0, nullptr, nullptr) ==
          CL_INVALID_WORK_DIMENSION);
    CHECK(a.cl.clEnqueueNDRangeKernel(a.queue, f, 0, nullptr, four, nullptr, 0, nullptr, nullptr) ==
          CL_INVALID_WORK_DIMENSION);
    CHECK(a.cl.clEnqueueNDRangeKernel(a.queue, f, 1, nullptr, nullptr, nullptr, 0, nullptr,
                                      nullptr) == CL_INVALID_GLOBAL_WORK_SIZE);
    CHECK(a.cl.clEnqueueNDRangeKernel(a.queue, f, 3, nullptr, four, nullptr, 0, nullptr, nullptr) ==
          CL_SUCCESS);
    CHECK(driver().launches.back().local == Sizes{8, 1, 1});

    // Clones and references keep it; the driver's refusal ends it for this kernel.
    const cl_kernel clone = a.cl.clCloneKernel(f, nullptr);
    const cl_kernel plain = a.cl.clCloneKernel(g, nullptr);
    CHECK(local(a, clone, 64) == Sizes{8});
    CHECK(local(a, plain, 64) == Sizes{});
    CHECK(a.cl.clRetainKernel(f) == CL_SUCCESS);
    a.release(f);
    CHECK(local(a, f, 64) == Sizes{8});
    driver().refused_local = {8};
    CHECK(local(a, f, 64) == Sizes{});
    driver().refused_local = {};
    CHECK(local(a, f, 64) == Sizes{});
    CHECK(local(a, clone, 64) == Sizes{8});
    driver().fails["clEnqueueNDRangeKernel"] = CL_OUT_OF_RESOURCES;
    CHECK(a.launch(clone, 64) == CL_OUT_OF_RESOURCES);
    driver().fails.clear();
    CHECK(local(a, clone, 64) == Sizes{8});
    for (const cl_kernel kernel : {f, g, plain}) a.release(kernel);
    a.release(clone);
    const cl_kernel again = a.kernel(program, "g");
    CHECK(again == clone);  // the driver uses the handle again
    CHECK(local(a, again, 64) == Sizes{});
    a.release(again);
    a.release(program);
  });
  pack.run(
      [&](const Application &a) {
        const cl_program program = a.built(kServed, "-DX");
        const cl_kernel f = a.kernel(program, "f");
        CHECK(local(a, f, 64) == Sizes{});
        a.release(f);
        a.release(program);
      },
      1, {{"KILN_TUNED", "0"}});
  pack.run([&](const Application &a) {
    driver().required_side = 2;  // the kernel requires its size
    const cl_program program = a.built(kServed, "-DX");
    const cl_kernel f = a.kernel(program, "f");
    CHECK(local(a, f, 64) == Sizes{});
    a.release(f);
    driver().required_side = 0;
    driver().fails["clGetKernelWorkGroupInfo"] = CL_INVALID_KERNEL;
    const cl_kernel unknown = a.kernel(program, "f");
    CHECK(local(a, unknown, 64) == Sizes{});
    a.release(unknown);
    a.release(program);
  });
}

TEST_CASE("a folder of reports has a file for each process, without names of folders") {
  const TemporaryFolder folder;
  const Pack pack;
  const auto use = [](const Application &a) { a.release(a.built(kServed, "-DX")); };
  for (int start = 0; start < 2; ++start) {
    pack.run(use, 1, {{"KILN_REPORT_DIR", (folder.path() / "reports").string()}});
  }
  const auto files = files_in(folder.path() / "reports");
  REQUIRE(files.size() == 2);
  for (const std::string &file : files) {
    const std::string text = read_file(folder.path() / "reports" / file);
    CHECK(text.find("\"layer\": \"serve\", \"application\": \"layer_calls_test\"}\n") !=
          std::string::npos);
    CHECK(outcomes(folder.path() / "reports" / file) == Outcomes{"served, exact"});
  }
  CHECK(read_file(pack.report()).find("/layer_calls_test\"}\n") != std::string::npos);
}

TEST_CASE("the report has the first wait after a launch, and binaries of the application's own") {
  const Pack pack;
  pack.run([](const Application &a) {
    const cl_program program = a.built(kServed, "-DX");
    const cl_kernel kernel = a.kernel(program, "g");
    CHECK(a.cl.clFinish(a.queue) == CL_SUCCESS);
    CHECK(report_lines(getenv("KILN_REPORT")).size() == 1);
    CHECK(a.launch(kernel, 64) == CL_SUCCESS);
    CHECK(a.cl.clEnqueueReadBuffer(a.queue, nullptr, CL_FALSE, 0, 0, nullptr, 0, nullptr,
                                   nullptr) == CL_SUCCESS);
    CHECK(report_lines(getenv("KILN_REPORT")).size() == 1);
    CHECK(a.cl.clEnqueueReadBuffer(a.queue, nullptr, CL_TRUE, 0, 0, nullptr, 0, nullptr, nullptr) ==
          CL_SUCCESS);
    CHECK(report_lines(getenv("KILN_REPORT")).size() == 2);
    driver().fails["clFinish"] = CL_OUT_OF_RESOURCES;
    CHECK(a.cl.clFinish(a.queue) == CL_OUT_OF_RESOURCES);
    a.release(kernel);
    a.release(program);
    cl_int code = CL_INVALID_VALUE;
    const cl_program own = a.from_binary(binary_of("First", "kernel void own() {}"), &code);
    CHECK(code == CL_SUCCESS);
    CHECK(a.build(own) == CL_SUCCESS);
    a.release(own);
    CHECK(a.from_binary("garbage", &code) == nullptr);
    CHECK(code == CL_INVALID_BINARY);
    CHECK(a.from_binary("garbage") == nullptr);
  });
  const auto lines = report_lines(pack.report());
  REQUIRE(lines.size() == 3);
  CHECK(lines[1] == "{\"outcome\": \"first_result\"}");
  CHECK(lines[2] == "{\"outcome\": \"own_binary\", \"bytes\": 33}");
}

}  // namespace kiln::test
