// SPDX-License-Identifier: Apache-2.0
// What a recording holds of programs and of their launches.
#include <fstream>

#include <unistd.h>

#include "kiln/packs/pack_folder.hpp"
#include "tests/layer/calls/application.hpp"

namespace kiln::test {
namespace {

namespace fs = std::filesystem;

constexpr char kRecorded[] = "kernel void f(int a, int b) {} kernel void g() {}";

using Texts = std::vector<std::string>;

struct Recording {
  fs::path spool() const { return folder.path() / "spool"; }
  fs::path file(const std::string &text, const std::string &options = "") const {
    return spool() / (name_of_program(text, options) + ".kiln");
  }

  void run(const std::function<void(const Application &)> &use, std::size_t devices = 1) const {
    Apart{folder, devices}.run({{"KILN_LAYER", "record"},
                                {"KILN_SPOOL", spool().string()},
                                {"KILN_REPORT", report().string()}},
                               use);
  }
  fs::path report() const { return folder.path() / "report"; }

  TemporaryFolder folder;
};

packs::Contents read(const fs::path &path) {
  std::shared_ptr<const packs::Pack> pack;
  packs::Contents contents;
  REQUIRE(packs::Pack::open_file(path.c_str(), &pack).ok());
  REQUIRE(packs::read_contents(pack, &contents).ok());
  return contents;
}

Texts launches_in(const fs::path &path) {
  const packs::Contents contents = read(path);
  const packs::Variant &variant = contents.programs.at(0).variants.at(0);
  Texts lines;
  packs::Bytes bytes;
  if (!variant.launches) return lines;
  REQUIRE(variant.launches->read(&bytes).ok());
  std::istringstream text(std::string(bytes.begin(), bytes.end()));
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

// The arguments of the only launch in the file.
std::string arguments_in(const fs::path &path) {
  const Texts lines = launches_in(path);
  REQUIRE(lines.size() == 1);
  return lines[0].substr(lines[0].find("\"arguments\""));
}

}  // namespace

TEST_CASE("a recorded program is its text, its options and its kernels") {
  const Recording recording;
  recording.run([](const Application &a) {
    a.release(a.built(kRecorded, "-DX"));
    a.release(a.built(kRecorded, "-DX"));
    a.release(a.built("void no_kernel() {}"));
    const cl_program broken = a.from_source("BROKEN kernel void f() {}");
    CHECK(a.build(broken) == CL_BUILD_PROGRAM_FAILURE);
    a.release(broken);
    CHECK(calls_of("clCreateProgramWithBinary") == 0);
    CHECK(calls_of("clCreateKernel") == 0);
  });
  CHECK(outcomes(recording.report()) == Texts{"passed, it is recorded", "passed, it is recorded",
                                              "passed, it is not recorded: it has no kernels",
                                              "passed, the driver does not build it"});
  const std::string report = read_file(recording.report());
  std::string recorded;
  for (std::size_t at = 0; (at = report.find("\"recorded\": \"", at)) != std::string::npos; ++at) {
    recorded += report[at + 13];
  }
  CHECK(recorded == "yynn");  // yes, yes, needless, needless
  const packs::Contents contents = read(recording.file(kRecorded, "-DX"));
  REQUIRE(contents.programs.size() == 1);
  REQUIRE(contents.programs[0].variants.size() == 1);
  const packs::Variant &variant = contents.programs[0].variants[0];
  CHECK(variant.options == "-DX");
  packs::Bytes source;
  REQUIRE(variant.source->read(&source).ok());
  CHECK(std::string(source.begin(), source.end()) == kRecorded);
  REQUIRE(variant.kernels.size() == 2);
  CHECK(variant.kernels[0].name == "f");
  CHECK(variant.kernels[0].arguments == packs::kUnknownArguments);
  CHECK(contents.targets.empty());
}

TEST_CASE("a start is noted once for each program, until the file is full") {
  const Recording recording;
  const auto use = [](const Application &a) {
    a.release(a.built(kRecorded));
    a.release(a.built(kRecorded));
    a.release(a.built("kernel void other() {}"));
  };
  const fs::path starts = recording.spool() / packs::kStartsFile;
  const auto words = [&] {
    Texts found;
    std::ifstream in(starts);
    for (std::string word; in >> word;) found.push_back(word);
    return found;
  };
  recording.run(use);
  const Texts first = words();
  REQUIRE(first.size() == 6);
  CHECK(first[0].size() == 16);
  CHECK(first[0] == first[3]);
  CHECK(first[1].size() == 16);
  CHECK(first[1] == first[4]);
  CHECK(first[2] == name_of_program(kRecorded));
  CHECK(first[5] == name_of_program("kernel void other() {}"));
  recording.run(use);
  const Texts both = words();
  REQUIRE(both.size() == 12);
  CHECK(both[6] != first[0]);  // another process
  CHECK(both[7] == first[1]);  // of the same command
  constexpr std::uintmax_t kFull = 16 << 20;
  fs::resize_file(starts, kFull - 1);
  recording.run([](const Application &a) { a.release(a.built(kRecorded)); });
  const std::uintmax_t full = fs::file_size(starts);
  CHECK(full == kFull - 1 + 34 + name_of_program(kRecorded).size() + 1);
  recording.run(use);
  CHECK(fs::file_size(starts) == full);
  fs::resize_file(starts, kFull);
  recording.run(use);
  CHECK(fs::file_size(starts) == kFull);
  fs::remove(starts);
  fs::create_directory(starts);  // cannot be written
  recording.run(use);
}

TEST_CASE("devices of different kinds may have different kernels, and then have variants") {
  const std::string text = "kernel void all() {} FOR_Second kernel void some() {}";
  const Recording recording;
  recording.run(
      [&](const Application &a) {
        const cl_program program = a.from_source(text);
        CHECK(a.build(program) == CL_SUCCESS);
        a.release(program);
        const cl_program same = a.from_source(kRecorded);
        CHECK(a.build(same) == CL_SUCCESS);
        const cl_kernel kernel = a.kernel(same, "g");
        CHECK(a.launch(kernel, 64) == CL_SUCCESS);
        a.release(kernel);
        a.release(same);
      },
      2);
  const packs::Contents contents = read(recording.file(text));
  std::vector<std::size_t> kernels;
  for (const packs::Variant &variant : contents.programs.at(0).variants) {
    kernels.push_back(variant.kernels.size());
  }
  std::sort(kernels.begin(), kernels.end());
  CHECK(kernels == std::vector<std::size_t>{1, 2});
  CHECK(read(recording.file(kRecorded)).programs.at(0).variants.size() == 1);
  CHECK(launches_in(recording.file(kRecorded)).size() == 1);
}

TEST_CASE(
    "where a driver refuses its own binary, a program for several devices is recorded as it is") {
  const std::string text = "kernel void all() {} FOR_Second kernel void some() {}";
  const Recording recording;
  recording.run(
      [&](const Application &a) {
        driver().fails["clCreateProgramWithBinary"] = CL_INVALID_BINARY;
        const cl_program program = a.from_source(text);
        CHECK(a.build(program) == CL_SUCCESS);
        a.release(program);
      },
      2);
  const packs::Contents contents = read(recording.file(text));
  REQUIRE(contents.programs.at(0).variants.size() == 1);
  CHECK(contents.programs[0].variants[0].kernels.size() == 2);
}

TEST_CASE("one launch of each kind is recorded, and none that the driver refused") {
  const Recording recording;
  const auto use = [](const Application &a) {
    const cl_program program = a.built(kRecorded);
    const cl_kernel g = a.kernel(program, "g");
    driver().fails["clEnqueueNDRangeKernel"] = CL_OUT_OF_RESOURCES;
    CHECK(a.launch(g, 64, 8) == CL_OUT_OF_RESOURCES);
    driver().fails.clear();
    CHECK(a.launch(g, 64, 8) == CL_SUCCESS);
    CHECK(a.launch(g, 128, 8) == CL_SUCCESS);  // of the same kind
    CHECK(a.launch(g, 65'535, 8) == CL_SUCCESS);
    CHECK(a.launch(g, 64) == CL_SUCCESS);
    CHECK(a.cl.clEnqueueTask(a.queue, g, 0, nullptr, nullptr) == CL_SUCCESS);
    const std::size_t offset[] = {1, 0, 0};
    const std::size_t global[] = {4, 5, 65'535};
    CHECK(a.cl.clEnqueueNDRangeKernel(a.queue, g, 3, offset, global, nullptr, 0, nullptr,
                                      nullptr) == CL_SUCCESS);
    CHECK(a.cl.clEnqueueNDRangeKernel(a.queue, g, 0, offset, global, nullptr, 0, nullptr,
                                      nullptr) == CL_INVALID_WORK_DIMENSION);
    CHECK(a.cl.clEnqueueNDRangeKernel(a.queue, g, 4, offset, global, nullptr, 0, nullptr,
                                      nullptr) == CL_INVALID_WORK_DIMENSION);
    CHECK(a.cl.clEnqueueNDRangeKernel(a.queue, g, 1, nullptr, nullptr, nullptr, 0, nullptr,
                                      nullptr) == CL_INVALID_GLOBAL_WORK_SIZE);
    CHECK(a.launch(nullptr, 64) == CL_INVALID_KERNEL);
    a.release(g);
    a.release(program);
  };
  recording.run(use);
  const std::string begin = "{\"kernel\":\"g\",\"dimensions\":";
  const std::string end = ",\"arguments\":[]}";
  const Texts expected = {
      begin +
          "1,\"local\":[0,0,0],\"wide\":false,\"moved\":false,\"global\":[64,1,1],\"offset\":"
          "[0,0,0]" +
          end,
      begin +
          "1,\"local\":[1,1,1],\"wide\":false,\"moved\":false,\"global\":[1,1,1],\"offset\":"
          "[0,0,0]" +
          end,
      begin +
          "1,\"local\":[8,1,1],\"wide\":false,\"moved\":false,\"global\":[64,1,1],\"offset\":"
          "[0,0,0]" +
          end,
      begin +
          "1,\"local\":[8,1,1],\"wide\":true,\"moved\":false,\"global\":[65535,1,1],\"offset\":"
          "[0,0,0]" +
          end,
      begin +
          "3,\"local\":[0,0,0],\"wide\":false,\"moved\":true,\"global\":[4,5,65535],\"offset\":"
          "[1,0,0]" +
          end};
  CHECK(launches_in(recording.file(kRecorded)) == expected);
  recording.run(use);
  CHECK(launches_in(recording.file(kRecorded)) == expected);
}

TEST_CASE("a recorded launch has its arguments, whatever they are") {
  const Recording recording;
  const std::string text = "kernel void f(a, b, c, d, e, g, h, i) {}";
  recording.run([&](const Application &a) {
    const cl_program program = a.built(text);
    const cl_kernel f = a.kernel(program, "f");
    cl_mem buffer = a.cl.clCreateBuffer(a.context, 0, 96, nullptr, nullptr);
    cl_sampler sampler =
        a.cl.clCreateSampler(a.context, CL_TRUE, CL_ADDRESS_CLAMP, CL_FILTER_LINEAR, nullptr);
    auto *shared = static_cast<char *>(a.cl.clSVMAlloc(a.context, 0, 40, 0));
    auto *freed = static_cast<char *>(a.cl.clSVMAlloc(a.context, 0, 40, 0));
    a.cl.clSVMFree(a.context, freed);
    const std::uint16_t number = 513;
    CHECK(a.cl.clSetKernelArg(f, 0, sizeof(buffer), &buffer) == CL_SUCCESS);
    CHECK(a.cl.clSetKernelArg(f, 1, sizeof(sampler), &sampler) == CL_SUCCESS);
    CHECK(a.cl.clSetKernelArg(f, 2, sizeof(number), &number) == CL_SUCCESS);
    CHECK(a.cl.clSetKernelArg(f, 3, 20, nullptr) == CL_SUCCESS);
    CHECK(a.cl.clSetKernelArg(f, 4, sizeof(cl_mem), nullptr) == CL_SUCCESS);
    CHECK(a.cl.clSetKernelArgSVMPointer(f, 5, shared + 8) == CL_SUCCESS);
    CHECK(a.cl.clSetKernelArgSVMPointer(f, 6, shared + 40) == CL_SUCCESS);
    CHECK(a.cl.clSetKernelArg(f, 8, 2, &number) == CL_INVALID_ARG_INDEX);
    driver().fails["clSetKernelArg"] = CL_OUT_OF_RESOURCES;
    CHECK(a.cl.clSetKernelArg(f, 2, 1, &number) == CL_OUT_OF_RESOURCES);
    CHECK(a.cl.clSetKernelArgSVMPointer(f, 5, shared) == CL_OUT_OF_RESOURCES);
    driver().fails.clear();
    CHECK(a.launch(f, 64) == CL_SUCCESS);
    a.cl.clSVMFree(a.context, shared);
    CHECK(a.cl.clReleaseSampler(sampler) == CL_SUCCESS);
    CHECK(a.cl.clReleaseMemObject(buffer) == CL_SUCCESS);
    a.release(f);
    a.release(program);
  });
  CHECK(arguments_in(recording.file(text)) ==
        "\"arguments\":[{\"buffer\":96},{\"unknown\":\"a sampler\",\"sampler\":{\"normalized\":"
        "true,\"addressing\":4402,\"filter\":4417}},{\"value\":[1,2]},{\"local\":20},"
        "{\"buffer\":0},{\"buffer\":32},{\"unknown\":\"shared virtual memory\"},{\"unknown\":"
        "\"not set\"}]}");
}

TEST_CASE("a handle is an object as long as it has references, and a number after that") {
  const Recording recording;
  const std::string kept = "kernel void kept(a) {}", gone = "kernel void gone(a) {}";
  const std::string odd = "kernel void odd(a, b) {}";
  recording.run([&](const Application &a) {
    const auto launch = [&](const std::string &text, const char *name, cl_mem memory) {
      const cl_program program = a.built(text);
      const cl_kernel kernel = a.kernel(program, name);
      CHECK(a.cl.clSetKernelArg(kernel, 0, sizeof(memory), &memory) == CL_SUCCESS);
      CHECK(a.launch(kernel, 64) == CL_SUCCESS);
      a.release(kernel);
      a.release(program);
    };
    const cl_mem memory = a.cl.clCreateBuffer(a.context, 0, 96, nullptr, nullptr);
    CHECK(a.cl.clRetainMemObject(memory) == CL_SUCCESS);
    driver().fails["clRetainMemObject"] = CL_OUT_OF_RESOURCES;
    CHECK(a.cl.clRetainMemObject(memory) == CL_OUT_OF_RESOURCES);
    CHECK(a.cl.clReleaseMemObject(memory) == CL_SUCCESS);
    launch(kept, "kept", memory);
    CHECK(a.cl.clReleaseMemObject(memory) == CL_SUCCESS);
    launch(gone, "gone", memory);
    driver().fails["clCreateBuffer"] = CL_OUT_OF_HOST_MEMORY;
    cl_int code = CL_SUCCESS;
    CHECK(a.cl.clCreateBuffer(a.context, 0, 96, nullptr, &code) == nullptr);
    CHECK(code == CL_OUT_OF_HOST_MEMORY);
    driver().fails.clear();

    // A driver may not describe what it made.
    driver().fails["clGetMemObjectInfo"] = CL_INVALID_MEM_OBJECT;
    driver().fails["clGetSamplerInfo"] = CL_INVALID_SAMPLER;
    const cl_mem other = a.cl.clCreateBuffer(a.context, 0, 96, nullptr, nullptr);
    const cl_sampler sampler =
        a.cl.clCreateSampler(a.context, CL_TRUE, CL_ADDRESS_CLAMP, CL_FILTER_LINEAR, nullptr);
    const cl_program program = a.built(odd);
    const cl_kernel kernel = a.kernel(program, "odd");
    CHECK(a.cl.clSetKernelArg(kernel, 0, sizeof(other), &other) == CL_SUCCESS);
    CHECK(a.cl.clSetKernelArg(kernel, 1, sizeof(sampler), &sampler) == CL_SUCCESS);
    CHECK(a.launch(kernel, 64) == CL_SUCCESS);
    a.release(kernel);
    a.release(program);
    CHECK(a.cl.clReleaseMemObject(other) == CL_SUCCESS);
    CHECK(a.cl.clRetainSampler(sampler) == CL_SUCCESS);
    CHECK(a.cl.clReleaseSampler(sampler) == CL_SUCCESS);
    CHECK(a.cl.clReleaseSampler(sampler) == CL_SUCCESS);
  });
  CHECK(arguments_in(recording.file(kept)) == "\"arguments\":[{\"buffer\":96}]}");
  CHECK(mentions(arguments_in(recording.file(gone)), "{\"value\":["));
  CHECK(arguments_in(recording.file(odd)) ==
        "\"arguments\":[{\"unknown\":\"a memory object that the driver does not describe\"},"
        "{\"unknown\":\"a sampler\"}]}");
}

TEST_CASE("a clone has the arguments of its kernel, and its own from then on") {
  const Recording recording;
  const std::string text = "kernel void f(int a) {}", other = "kernel void g(int a) {}";
  recording.run([&](const Application &a) {
    const cl_program program = a.built(text);
    const cl_kernel kernel = a.kernel(program, "f");
    int value = 1;
    CHECK(a.cl.clSetKernelArg(kernel, 0, sizeof(value), &value) == CL_SUCCESS);
    const cl_kernel clone = a.cl.clCloneKernel(kernel, nullptr);
    value = 2;
    CHECK(a.cl.clSetKernelArg(kernel, 0, sizeof(value), &value) == CL_SUCCESS);
    CHECK(a.cl.clRetainKernel(kernel) == CL_SUCCESS);
    a.release(kernel);
    a.release(kernel);
    CHECK(a.launch(clone, 64) == CL_SUCCESS);
    CHECK(a.cl.clRetainKernel(clone) == CL_SUCCESS);
    a.release(clone);
    CHECK(a.launch(clone, 32) == CL_SUCCESS);
    a.release(clone);

    // The driver uses a handle again: for a kernel of a program that is not recorded.
    const cl_program own = a.from_binary(binary_of("First", "kernel void own() {}"));
    CHECK(a.build(own) == CL_SUCCESS);
    const cl_kernel foreign = a.kernel(own, "own");
    CHECK(a.launch(foreign, 16) == CL_SUCCESS);
    const cl_kernel foreign_clone = a.cl.clCloneKernel(foreign, nullptr);
    CHECK(a.launch(foreign_clone, 16) == CL_SUCCESS);
    CHECK(a.cl.clRetainKernel(foreign_clone) == CL_SUCCESS);
    for (const cl_kernel one : {foreign, foreign_clone, foreign_clone}) a.release(one);
    a.release(own);
    cl_kernel all[1] = {};
    CHECK(a.cl.clCreateKernelsInProgram(program, 1, all, nullptr) == CL_SUCCESS);
    value = 3;
    CHECK(a.cl.clSetKernelArg(all[0], 0, sizeof(value), &value) == CL_SUCCESS);
    CHECK(a.launch(all[0], 8) == CL_SUCCESS);
    a.release(all[0]);
    a.release(program);

    const cl_program built_in =
        a.cl.clCreateProgramWithBuiltInKernels(a.context, 1, nullptr, "built_in", nullptr);
    const cl_kernel of_it = a.kernel(built_in, "built_in");
    CHECK(a.launch(of_it, 16) == CL_SUCCESS);
    a.release(of_it);
    a.release(built_in);
  });
  const std::string begin =
      "{\"kernel\":\"f\",\"dimensions\":1,\"local\":[0,0,0],\"wide\":false,\"moved\":false,"
      "\"global\":[";
  const auto line = [&](const char *global, const char *value) {
    return begin + global + ",1,1],\"offset\":[0,0,0],\"arguments\":[{\"value\":[" + value +
           ",0,0,0]}]}";
  };
  CHECK(launches_in(recording.file(text)) ==
        Texts{line("32", "1"), line("64", "1"), line("8", "3")});
}

TEST_CASE("no more launches are recorded of a program than a pack may have") {
  const Recording recording;
  recording.run([](const Application &a) {
    const cl_program program = a.built("kernel void f() {}");
    const cl_kernel kernel = a.kernel(program, "f");
    for (std::size_t i = 1; i <= packs::kMaxLaunches + 2; ++i) {
      CHECK(a.launch(kernel, 1000, i) == CL_SUCCESS);
    }
    a.release(kernel);
    a.release(program);
  });
  CHECK(launches_in(recording.file("kernel void f() {}")).size() == packs::kMaxLaunches);
}

TEST_CASE("a spool that cannot be written changes nothing for the application") {
  const Recording recording;
  recording.folder.write("spool", "a file");
  recording.run([](const Application &a) {
    const cl_program program = a.built(kRecorded);
    const cl_kernel kernel = a.kernel(program, "g");
    CHECK(a.launch(kernel, 64) == CL_SUCCESS);
    a.release(kernel);
    a.release(program);
  });
  const Texts told = outcomes(recording.report());
  REQUIRE(told.size() == 1);
  CHECK(mentions(told[0], "passed, it is not recorded: "));
}

TEST_CASE("a recorded program with files has them beside it") {
  const Recording recording;
  recording.folder.write("include/h.h", "// a header\n");
  const std::string options = "-I " + (recording.folder.path() / "include").string();
  const auto use = [&](const Application &a) {
    a.release(a.built("#include \"h.h\"\nkernel void f() {}", options.c_str()));
  };
  recording.run(use);
  Texts files = files_in(recording.spool());
  REQUIRE(files.size() == 3);  // the pack, the files, the starts
  // What is missing is written again.
  for (const std::string &file : files) {
    if (file == packs::kStartsFile) continue;
    const std::string before = read_file(recording.spool() / file);
    fs::remove(recording.spool() / file);
    recording.run(use);
    CHECK(files_in(recording.spool()) == files);
    CHECK(read_file(recording.spool() / file) == before);
  }
}

}  // namespace kiln::test
