// SPDX-License-Identifier: Apache-2.0
// What the overlay keeps of programs that no pack has, and what the next start makes of it.
#include <algorithm>

#include <unistd.h>

#include "runtime/cached/cached_files.hpp"
#include "tests/layer/calls/application.hpp"

namespace kiln::test {
namespace {

namespace fs = std::filesystem;

constexpr char kKept[] = "kernel void f(int a) {}";
const std::string kNoPack = "passed, no pack has it";
const std::string kIsNoted = kNoPack + "; it is noted for 'kiln overlay build'";

using Outcomes = std::vector<std::string>;

struct Starts {
  fs::path overlay() const { return folder.path() / "overlay"; }
  fs::path report() const { return folder.path() / "report"; }

  // Runs a start, then builds what it noted, and returns what its report says.
  Outcomes run(const std::function<void(const Application &)> &use, std::size_t devices = 1,
               Variables variables = {}) const {
    fs::remove(report());
    variables.emplace_back("KILN_OVERLAY", overlay().string());
    variables.emplace_back("KILN_REPORT", report().string());
    Apart{folder, devices}.run(variables, use);
    if (builds) build_noted(overlay());
    return outcomes(report());
  }

  // The noted folder's files, without the folders above them and the starts.
  Outcomes noted() const {
    Outcomes names;
    for (const std::string &name : files_in(overlay() / "noted")) {
      names.push_back(fs::path(name).filename().string());
    }
    names.erase(std::remove(names.begin(), names.end(), "starts"), names.end());
    return names;
  }
  fs::path noted_folder() const { return *fs::directory_iterator(overlay() / "noted"); }

  TemporaryFolder folder;
  bool builds = true;
};

// PoCL's binary is made at launches, so these are noted. Nothing builds here.
struct PoclStarts : Starts {
  PoclStarts() {
    driver().platform = "Portable Computing Language";
    builds = false;
  }
  PoclStarts(const PoclStarts &) = delete;
  PoclStarts &operator=(const PoclStarts &) = delete;
  ~PoclStarts() { driver() = Driver(); }
};

void build_it(const Application &a) { a.release(a.built(kKept)); }

void build_and_launch(const Application &a) {
  const cl_program program = a.built(kKept);
  const cl_kernel kernel = a.kernel(program, "f");
  const int value = 5;
  CHECK(a.cl.clSetKernelArg(kernel, 0, sizeof(value), &value) == CL_SUCCESS);
  CHECK(a.launch(kernel, 64) == CL_SUCCESS);
  a.release(kernel);
  a.release(program);
}

}  // namespace

TEST_CASE("what the driver compiled is loaded at the next start") {
  const Starts starts;
  CHECK(starts.run([](const Application &a) {
    build_it(a);
    a.release(a.built(kKept, nullptr));  // NULL is no other text
    a.release(a.built("void h() {}"));
  }) == Outcomes{kIsNoted, kIsNoted, kNoPack + "; it has no kernels"});
  CHECK(starts.run([](const Application &a) {
    const cl_program program = a.built(kKept);
    CHECK(driver().built == std::vector<std::string>{std::string(kKept) + ", NULL"});
    CHECK(a.text_of(program, CL_PROGRAM_SOURCE) == kKept);
    a.release(program);
  }) == Outcomes{"served, exact"});
}

TEST_CASE("the report names the driver that an overlay was made with") {
  const Starts starts;
  CHECK(starts.run(build_it) == Outcomes{kIsNoted});
  driver().driver_version = "2.0";
  CHECK(starts.run(build_it) ==
        Outcomes{kNoPack + "; the overlay has it for First (driver 1.0), not for First (driver "
                           "2.0); it is noted for 'kiln overlay build'"});
  CHECK(starts.run(build_it) == Outcomes{"served, exact"});
  driver() = Driver();
  // The same strings, but something else in the key.
  fs::remove_all(starts.overlay());
  CHECK(starts.run(build_it) == Outcomes{kIsNoted});
  driver().device_version = "OpenCL 3.0 other texts";
  CHECK(starts.run(build_it) ==
        Outcomes{kNoPack + "; the overlay has it from before the driver or system "
                           "changed; it is noted for 'kiln overlay build'"});
  driver() = Driver();
}

TEST_CASE("a damaged file of the overlay is made again") {
  const Starts starts;
  CHECK(starts.run(build_it) == Outcomes{kIsNoted});
  const auto damage = [&](std::size_t from_end) {
    for (const auto &entry : fs::directory_iterator(starts.overlay())) {
      if (entry.path().extension() != ".kiln") continue;
      std::string bytes = read_file(entry.path());
      const std::size_t at = bytes.find("BINARY First");
      REQUIRE(at != std::string::npos);
      bytes[at + from_end] ^= 1;
      std::ofstream(entry.path(), std::ios::binary) << bytes;
    }
  };
  damage(3);
  CHECK(starts.run(build_it) ==
        Outcomes{"passed, the overlay's file is damaged; it is noted for 'kiln overlay build'"});
  CHECK(starts.run(build_it) == Outcomes{"served, overlay"});  // what was compiled meanwhile
}

TEST_CASE("an overlay that cannot be used changes nothing") {
  const Starts starts;
  starts.folder.write("overlay", "a file");
  const Outcomes told = starts.run(build_it);
  REQUIRE(told.size() == 1);
  CHECK(mentions(told[0], kNoPack + "; "));
  CHECK(!mentions(told[0], "keeps"));
}

TEST_CASE("each device of a program has its own file") {
  const Starts starts;
  const auto all = [](const Application &a) {
    const cl_program program = a.from_source(kKept);
    CHECK(a.build(program) == CL_SUCCESS);
    a.release(program);
  };
  CHECK(starts.run(all, 2) ==
        Outcomes{"passed, no pack has it; it is noted for 'kiln overlay build'"});
  CHECK(starts.run(all, 2) == Outcomes{"served, exact"});
  CHECK(starts.run(build_it) == Outcomes{"served, exact"});
}

TEST_CASE("a build with a callback is kept, and the callback comes after that") {
  const Starts starts;
  struct Seen {
    const Application &a;
    std::string overlay;
    std::vector<std::size_t> files;
  };
  const auto build = [&](const Application &a) {
    Seen seen{a, starts.overlay().string(), {}};
    const auto see = [](cl_program, void *user) {
      auto *s = static_cast<Seen *>(user);
      s->files.push_back(files_in(s->overlay).size());
    };
    const cl_program program = a.from_source(kKept);
    CHECK(a.cl.clBuildProgram(program, 0, nullptr, "", see, &seen) == CL_SUCCESS);
    REQUIRE(seen.files.size() == 1);
    CHECK(seen.files[0] > 0);
    CHECK(a.text_of(program, CL_PROGRAM_KERNEL_NAMES) == "f");
    a.release(program);
  };
  CHECK(starts.run(build) == Outcomes{kIsNoted});
  CHECK(starts.run(build) == Outcomes{"served, exact"});
}

TEST_CASE("quotes in -I: the driver is asked whether it finds the files") {
  const Starts starts;
  starts.folder.write("a b/h.h", "// first\n");
  const std::string options = "-I \"" + (starts.folder.path() / "a b").string() + "\"";
  const std::string text = "#include <h.h>\nkernel void f() {}";
  const auto build = [&](const Application &a) {
    for (const char *more : {"", " -DX"}) a.release(a.built(text, (options + more).c_str()));
    const auto asks = [](const std::string &built) { return mentions(built, "__has_include"); };
    CHECK(std::count_if(driver().built.begin(), driver().built.end(), asks) == 1);
  };
  CHECK(starts.run(build) == Outcomes{kIsNoted, kIsNoted});
  CHECK(starts.run(build) == Outcomes{"served, exact", "served, exact"});
  CHECK(starts.run([&](const Application &a) {
    driver().reads_quotes = false;
    const cl_program program = a.from_source(text);
    CHECK(a.build(program, options.c_str()) == CL_BUILD_PROGRAM_FAILURE);
    a.release(program);
  }) == Outcomes{
            "passed, the driver does not find its files by quotes in -I as Kiln does; write -I "
            "without quotes"});
}

TEST_CASE("a program with files is named after their texts, which stand for it") {
  const Starts starts;
  starts.folder.write("include/h.h", "// first\n");
  const std::string options = "-I " + (starts.folder.path() / "include").string();
  const std::string text = "#include \"h.h\"\nkernel void f() {}";
  const auto build = [&](const Application &a) {
    const cl_program program = a.built(text, options.c_str());
    CHECK(a.text_of(program, CL_PROGRAM_SOURCE) == text);
    CHECK(a.build_text_of(program, CL_PROGRAM_BUILD_OPTIONS) == options);
    CHECK(a.text_of(program, CL_PROGRAM_KERNEL_NAMES) == "f");
    CHECK(!mentions(driver().built.back(), "#include"));
    const cl_kernel kernel = a.kernel(program, "f");
    CHECK(a.text_of(kernel, CL_KERNEL_ATTRIBUTES) == "an attribute");
    a.release(kernel);
    a.release(program);
  };
  CHECK(starts.run(build) == Outcomes{kIsNoted});
  CHECK(starts.run([&](const Application &a) {
    build(a);
    CHECK(calls_of("clCreateProgramWithBinary") == 1);
  }) == Outcomes{"served, exact"});
  starts.folder.write("include/h.h", "// second\n");
  CHECK(starts.run([&](const Application &a) {
    // Where the driver cannot make a program of that text, it builds the application's.
    const cl_program program = a.from_source(text);
    driver().fails["clCreateProgramWithSource"] = CL_OUT_OF_HOST_MEMORY;
    CHECK(a.build(program, options.c_str()) == CL_SUCCESS);
    CHECK(driver().built.back() == text + ", " + options);
    driver().fails.clear();
    a.release(program);
    const cl_program broken = a.from_source(text + "BROKEN");
    CHECK(a.build(broken, options.c_str()) == CL_BUILD_PROGRAM_FAILURE);
    CHECK(a.build_text_of(broken, CL_PROGRAM_BUILD_OPTIONS) == options);
    CHECK(a.build_text_of(broken, CL_PROGRAM_BUILD_LOG) == "it is broken");
    a.release(broken);
  }) == Outcomes{"passed, the driver does not build the text that has its files in it",
                 "passed, the driver does not build it"});
  CHECK(starts.run(build) == Outcomes{kIsNoted});
}

TEST_CASE("a driver that may not find the files builds first what the application gave") {
  const Starts starts;
  starts.folder.write("include/h.h", "// a header\n");
  const std::string folder = (starts.folder.path() / "include").string();
  const std::string text = "#include \"h.h\"\nkernel void f() {}";
  const std::string options = "-I\"" + folder + "\"";
  const Outcomes told = starts.run([&](const Application &a) {
    driver().takes_files = false;
    const cl_program missing = a.from_source(text);
    CHECK(a.build(missing, options.c_str()) == CL_BUILD_PROGRAM_FAILURE);
    a.release(missing);
    driver().takes_files = true;
    const cl_program program = a.built(text, options.c_str());
    CHECK(mentions(driver().built[driver().built.size() - 2], "#include"));
    CHECK(!mentions(driver().built.back(), "#include"));
    a.release(program);
  });
  CHECK(told == Outcomes{"passed, the driver does not build it", kIsNoted});
}

TEST_CASE("a driver that compiles at launches has programs and launches noted") {
  const PoclStarts starts;
  CHECK(starts.run(build_and_launch) == Outcomes{kIsNoted});
  const std::string name = name_of_program(kKept);
  CHECK(starts.noted() == Outcomes{name + ".kiln", name + ".launches"});
  const fs::path launches = starts.noted_folder() / (name + ".launches");
  const std::string line = read_file(launches);
  CHECK(line ==
        "{\"kernel\":\"f\",\"dimensions\":1,\"local\":[0,0,0],\"wide\":false,\"moved\":false,"
        "\"global\":[64,1,1],\"offset\":[0,0,0],\"arguments\":[{\"value\":[5,0,0,0]}]}\n");
  // The next start adds nothing that is there.
  CHECK(starts.run([](const Application &a) {
    build_and_launch(a);
    build_and_launch(a);
  }) == Outcomes{kIsNoted, kIsNoted});
  CHECK(read_file(launches) == line);
  // The folder may go while the application runs.
  CHECK(starts.run([&](const Application &a) {
    const cl_program program = a.built(kKept);
    const cl_kernel kernel = a.kernel(program, "f");
    fs::remove_all(starts.overlay() / "noted");
    CHECK(a.launch(kernel, 32) == CL_SUCCESS);
    a.release(kernel);
    a.release(program);
  }) == Outcomes{kIsNoted});
  CHECK(mentions(read_file(launches), "\"global\":[32,1,1]"));
}

TEST_CASE("no more launches are noted of a program than a pack may have") {
  const PoclStarts starts;
  starts.run([](const Application &a) {
    const cl_program program = a.built(kKept);
    const cl_kernel kernel = a.kernel(program, "f");
    for (std::size_t i = 0; i < 70; ++i) {
      CHECK(a.launch(kernel, 1000, 1 + i) == CL_SUCCESS);
    }
    a.release(kernel);
    a.release(program);
  });
  const fs::path launches = starts.noted_folder() / (name_of_program(kKept) + ".launches");
  const std::string lines = read_file(launches);
  CHECK(static_cast<std::size_t>(std::count(lines.begin(), lines.end(), '\n')) ==
        packs::kMaxLaunches);
}

TEST_CASE(
    "launches of a program for several devices are not noted, since each has a file of its own") {
  const PoclStarts starts;
  driver().names = {"First", "First"};
  const Outcomes told = starts.run(
      [](const Application &a) {
        const cl_program program = a.from_source(kKept);
        CHECK(a.build(program) == CL_SUCCESS);
        const cl_kernel kernel = a.kernel(program, "f");
        CHECK(a.launch(kernel, 64) == CL_SUCCESS);
        a.release(kernel);
        a.release(program);
      },
      2);
  CHECK(told == Outcomes{kIsNoted});
  CHECK(starts.noted() == Outcomes{name_of_program(kKept) + ".kiln"});
}

TEST_CASE("programs that cannot have a binary are noted again after a day") {
  const PoclStarts starts;
  CHECK(starts.run(build_it) == Outcomes{kIsNoted});
  const std::string name = name_of_program(kKept);
  const fs::path refused = starts.noted_folder() / (name + ".refused");
  std::ofstream(refused) << "it is too large";
  fs::remove(starts.noted_folder() / (name + ".kiln"));
  CHECK(starts.run(build_it) ==
        Outcomes{kNoPack + "; the overlay cannot have it: it is too large"});
  CHECK(starts.noted() == Outcomes{name + ".refused"});
  fs::last_write_time(refused, fs::file_time_type::clock::now() - std::chrono::hours(25));
  CHECK(starts.run(build_it) == Outcomes{kIsNoted});
}

TEST_CASE("no more programs are noted than the folder may hold") {
  const PoclStarts starts;
  CHECK(starts.run([](const Application &a) { a.release(a.built("kernel void g() {}")); }) ==
        Outcomes{kIsNoted});
  const fs::path folder = starts.noted_folder();
  const fs::path first = starts.folder.write("file", "");
  for (std::size_t i = 3; i < cached::kMaxNoted; ++i) {  // the first and its start are there
    fs::create_hard_link(first, folder / std::to_string(i));
  }
  CHECK(starts.run(build_it) == Outcomes{kIsNoted});
  CHECK(starts.run([](const Application &a) {
    build_it(a);
    a.release(a.built("kernel void h() {}"));
  }) == Outcomes{kIsNoted, kNoPack + "; too many programs wait for 'kiln overlay build'"});
}

TEST_CASE("where a pack has only the source, the program is noted for the overlay") {
  const PoclStarts starts;
  write(contents_of({{kKept, "", {}}, {"kernel void g() {}", "", {"First"}}}),
        starts.folder.path() / "p.kiln");
  const Variables pack = {{"KILN_PACK", (starts.folder.path() / "p.kiln").string()}};
  const auto use = [](const Application &a) {
    build_it(a);
    CHECK(driver().built.back() == std::string(kKept) + ", ");
    a.release(a.built("kernel void g() {}"));
  };
  const Outcomes told = starts.run(use, 1, pack);
  CHECK(told ==
        Outcomes{"passed, overlay: the overlay has no binary of this variant; exact: the target "
                 "has no binary "
                 "of this variant; it is noted for 'kiln overlay build'",
                 "served, exact"});
  CHECK(starts.noted() == Outcomes{name_of_program(kKept) + ".kiln"});
  // Without an overlay it is compiled.
  fs::remove(starts.report());
  Apart{starts.folder}.run({pack[0], {"KILN_REPORT", starts.report().string()}}, use);
  CHECK(outcomes(starts.report()) ==
        Outcomes{"compiled, source, exact: the target has no binary of this variant",
                 "served, exact"});
}

TEST_CASE("a text that differs at each start is noted three times, and once it comes again") {
  const Starts starts;
  const auto text = [](int start) { return kKept + (" // " + std::to_string(start)); };
  const auto build = [&](int start, const char *options = "") {
    return starts.run([&](const Application &a) { a.release(a.built(text(start), options)); });
  };
  for (int start = 1; start <= 3; ++start) CHECK(build(start) == Outcomes{kIsNoted});
  const std::string varies =
      kNoPack + "; each start has another text for these kernels, so it is not built";
  CHECK(build(4) == Outcomes{varies});
  CHECK(build(5) == Outcomes{varies});
  CHECK(starts.noted().empty());
  const auto counts = cached::count_programs(starts.overlay().string());
  REQUIRE(counts.ok());
  CHECK(counts->cached == 3);
  CHECK(counts->varying == 1);
  CHECK(build(6, "-DX") == Outcomes{kIsNoted});  // another kind of program
  CHECK(build(5) == Outcomes{kIsNoted});
  CHECK(build(5) == Outcomes{"served, exact"});
  CHECK(build(7) == Outcomes{kIsNoted});
  CHECK(cached::count_programs(starts.overlay().string())->varying == 0);
}

TEST_CASE("a text that was served is no text of one start") {
  const Starts starts;
  for (int version = 1; version <= 5; ++version) {
    const auto build = [&](const Application &a) {
      a.release(a.built(kKept + (" // " + std::to_string(version))));
    };
    CHECK(starts.run(build) == Outcomes{kIsNoted});
    CHECK(starts.run(build) == Outcomes{"served, exact"});
  }
  CHECK(starts.run(build_it) == Outcomes{kIsNoted});
}

TEST_CASE("a program that the driver refused is refused again without the driver") {
  Starts starts;
  driver().joins_options = true;
  const std::string text = "kernel void f() { BROKEN }";
  // Returns how often the driver was asked.
  const auto asked = [&](const std::string &options, Variables variables = {}) {
    const std::string count = (starts.folder.path() / "count").string();
    starts.run(
        [&](const Application &a) {
          const cl_program program = a.from_source(text);
          CHECK(a.build(program, options.c_str()) == CL_BUILD_PROGRAM_FAILURE);
          CHECK(a.status_of(program) == CL_BUILD_ERROR);
          CHECK(a.build_text_of(program, CL_PROGRAM_BUILD_LOG) == "it is broken");
          CHECK(a.build_text_of(program, CL_PROGRAM_BUILD_OPTIONS) == "-DX");
          CHECK(a.type_of(program) == CL_PROGRAM_BINARY_TYPE_EXECUTABLE);  // as PoCL tells
          cl_int code = CL_SUCCESS;
          CHECK(a.cl.clCreateKernel(program, "f", &code) == nullptr);
          CHECK(code == CL_INVALID_PROGRAM_EXECUTABLE);
          a.release(program);
          const cl_program part = a.from_source(text);
          CHECK(a.compile(part, options.c_str()) == CL_COMPILE_PROGRAM_FAILURE);
          CHECK(a.build_text_of(part, CL_PROGRAM_BUILD_LOG) == "it is broken");
          a.release(part);
          std::ofstream(count) << driver().built.size();
        },
        1, std::move(variables));
    return read_file(count);
  };
  CHECK(asked("-D X") == "2");
  CHECK(asked("-D X") == "0");
  CHECK(outcomes(starts.report()) ==
        Outcomes{"passed, the driver does not build it, as the overlay remembers"});
  CHECK(asked("-DX") == "2");
  CHECK(asked("-D X", {{"KILN_RUNG", "source"}}) == "2");
  driver().driver_version = "2.0";
  CHECK(asked("-D X") == "2");
  driver().driver_version = "1.0";
  for (int start = 1; start < 8; ++start) CHECK(asked("-D X") == "0");
  CHECK(asked("-D X") == "2");  // it may have been no fault of the text
  CHECK(asked("-D X") == "0");
  for (const auto &entry : fs::directory_iterator(starts.overlay())) {
    const std::string name = entry.path().filename().string();
    if (name.rfind("l-", 0) == 0) fs::resize_file(entry.path(), fs::file_size(entry.path()) - 1);
  }
  CHECK(asked("-D X") == "2");
  driver() = Driver();
}

TEST_CASE("the driver is asked again after a failure that is no fault of the text") {
  const Starts starts;
  const auto fails = [](const char *function, cl_int code) {
    return [=](const Application &a) {
      const cl_program program = a.from_source(kKept);
      driver().fails[function] = code;
      CHECK(a.build(program) == code);
      driver().fails.clear();
      a.release(program);
    };
  };
  starts.run(fails("clBuildProgram", CL_OUT_OF_RESOURCES));
  starts.run(fails("clBuildProgram", CL_OUT_OF_HOST_MEMORY));
  starts.run(fails("clBuildProgram", CL_INVALID_DEVICE));
  starts.run(fails("clBuildProgram", CL_BUILD_PROGRAM_FAILURE));  // without a log
  CHECK(starts.run(build_it) == Outcomes{kIsNoted});
}

TEST_CASE("a refused build with a callback is the driver's, which calls back as it does") {
  Starts starts;
  starts.builds = false;
  for (int start = 0; start < 2; ++start) {
    starts.run([](const Application &a) {
      const cl_program program = a.from_source("kernel void f() { BROKEN }");
      unsigned called = 0;
      const auto count = [](cl_program, void *user) { ++*static_cast<unsigned *>(user); };
      CHECK(a.cl.clBuildProgram(program, 0, nullptr, "", count, &called) ==
            CL_BUILD_PROGRAM_FAILURE);
      CHECK(called == 1);
      CHECK(calls_of("clBuildProgram") == 1);
      a.release(program);
    });
  }
}

TEST_CASE("a binary of the application's own that killed two processes is refused") {
  const Starts starts;
  const std::string binary = binary_of("First", "kernel void own() {}");
  starts.run([&](const Application &a) {
    const cl_program own = a.from_binary(binary);
    CHECK(a.build(own) == CL_SUCCESS);
    a.release(own);
  });
  const std::string other = binary_of("First", "kernel void other() {}");
  for (int death = 0; death < 2; ++death) {
    starts.run([&](const Application &a) {
      driver().on_build = [] { _exit(0); };
      const cl_program own = a.from_binary(other);
      (void)a.build(own);
      FAIL("it lives");
    });
  }
  CHECK(starts
            .run([&](const Application &a) {
              cl_int code = CL_SUCCESS;
              cl_int status = CL_SUCCESS;
              const auto *start = reinterpret_cast<const unsigned char *>(other.data());
              const std::size_t size = other.size();
              const cl_device_id device = driver_device(0);
              CHECK(a.cl.clCreateProgramWithBinary(a.context, 1, &device, &size, &start, &status,
                                                   &code) == nullptr);
              CHECK(code == CL_INVALID_BINARY);
              CHECK(status == CL_INVALID_BINARY);
              CHECK(a.from_binary(other) == nullptr);
              // Calls that are wrong are for the driver to judge, and the other binary is taken.
              const std::size_t none = 0;
              const unsigned char *null = nullptr;
              const auto create = [&](cl_uint count, const cl_device_id *devices,
                                      const std::size_t *sizes, const unsigned char **binaries) {
                return a.cl.clCreateProgramWithBinary(a.context, count, devices, sizes, binaries,
                                                      nullptr, &code);
              };
              CHECK(create(0, nullptr, nullptr, nullptr) == nullptr);
              CHECK(create(1, nullptr, &size, &start) == nullptr);
              CHECK(create(1, &device, nullptr, &start) == nullptr);
              CHECK(create(1, &device, &size, nullptr) == nullptr);
              CHECK(create(1, &device, &size, &null) == nullptr);
              CHECK(create(1, &device, &none, &start) == nullptr);
              CHECK(code == CL_INVALID_VALUE);
              const cl_program own = a.from_binary(binary);
              REQUIRE(own != nullptr);
              CHECK(a.cl.clBuildProgram(own, 0, nullptr, nullptr, nullptr, nullptr) == CL_SUCCESS);
              a.release(own);
            })
            .size() == 2);
}

}  // namespace kiln::test
