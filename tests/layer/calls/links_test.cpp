// SPDX-License-Identifier: Apache-2.0
// Programs that are compiled and linked in two calls.
#include "kiln/packs/writer.hpp"
#include "tests/layer/calls/application.hpp"

namespace kiln::test {
namespace {

constexpr char kAlone[] = "kernel void f(int a) {}";
constexpr char kPartA[] = "kernel void a() {}";
constexpr char kPartB[] = "void b() {}";

using Outcomes = std::vector<std::string>;

struct Links {
  std::filesystem::path report() const { return folder.path() / "report"; }

  void run(Variables variables, const std::function<void(const Application &)> &use,
           std::size_t devices = 1) const {
    variables.emplace_back("KILN_REPORT", report().string());
    Apart{folder, devices}.run(variables, use);
    build_noted(folder.path() / "overlay");
  }

  Variables pack(const std::vector<Packed> &programs) const {
    write(contents_of(programs), folder.path() / "p.kiln");
    return {{"KILN_PACK", (folder.path() / "p.kiln").string()}};
  }
  Variables overlay() const { return {{"KILN_OVERLAY", (folder.path() / "overlay").string()}}; }
  Variables record() const {
    return {{"KILN_LAYER", "record"}, {"KILN_SPOOL", (folder.path() / "spool").string()}};
  }

  TemporaryFolder folder;
};

// Links both parts and uses the result.
void link_both(const Application &a, const char *options = nullptr) {
  const cl_program first = a.compiled(kPartA, "-DA");
  const cl_program second = a.compiled(kPartB);
  cl_int code = CL_INVALID_VALUE;
  const cl_program linked = a.linked({first, second}, options, &code);
  CHECK(code == CL_SUCCESS);
  REQUIRE(linked != nullptr);
  a.release(first);
  a.release(second);
  CHECK(a.text_of(linked, CL_PROGRAM_KERNEL_NAMES) == "a");
  CHECK(a.build_text_of(linked, CL_PROGRAM_BUILD_OPTIONS) == (options == nullptr ? "" : options));
  CHECK(a.type_of(linked) == CL_PROGRAM_BINARY_TYPE_EXECUTABLE);
  const cl_kernel kernel = a.kernel(linked, "a");
  CHECK(a.launch(kernel, 64) == CL_SUCCESS);
  a.release(kernel);
  a.release(linked);
}

}  // namespace

TEST_CASE("a compilation whose link is served never reaches the driver, and answers all the same") {
  const Links links;
  links.run(
      links.pack({{kAlone, "-DX", {"First", "Second"}}}),
      [](const Application &a) {
        const cl_program part = a.from_source(kAlone);
        const cl_device_id first = driver_device(0);
        CHECK(a.cl.clCompileProgram(part, 1, &first, "-DX", 0, nullptr, nullptr, nullptr,
                                    nullptr) == CL_SUCCESS);
        CHECK(a.status_of(part) == CL_BUILD_SUCCESS);
        CHECK(a.status_of(part, 1) == CL_BUILD_NONE);
        CHECK(a.type_of(part) == CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT);
        CHECK(a.build_text_of(part, CL_PROGRAM_BUILD_OPTIONS) == "-DX");
        CHECK(a.build_text_of(part, CL_PROGRAM_BUILD_LOG).empty());
        CHECK(a.build_text_of(part, CL_PROGRAM_BUILD_LOG, 1).empty());
        CHECK(a.text_of(part, CL_PROGRAM_SOURCE) == kAlone);
        CHECK(calls_of("clCompileProgram") == 0);
        cl_int code = CL_INVALID_VALUE;
        const cl_program linked =
            a.cl.clLinkProgram(a.context, 1, &first, "", 1, &part, nullptr, nullptr, &code);
        CHECK(code == CL_SUCCESS);
        CHECK(calls_of("clLinkProgram") == 0);
        CHECK(calls_of("clCompileProgram") == 0);
        CHECK(a.text_of(linked, CL_PROGRAM_SOURCE).empty());
        std::size_t size = 1;
        CHECK(a.cl.clGetProgramInfo(linked, CL_PROGRAM_IL, 0, nullptr, &size) == CL_SUCCESS);
        CHECK(size == 0);
        CHECK(a.build_text_of(linked, CL_PROGRAM_BUILD_OPTIONS).empty());
        CHECK(a.binaries_of(linked) == std::vector<std::string>{binary_of("First", kAlone)});
        CHECK(a.build(linked) == CL_SUCCESS);  // the driver's own program
        a.release(linked);
        CHECK(a.cl.clLinkProgram(a.context, 1, &first, "", 1, &part, nullptr, nullptr, nullptr) !=
              nullptr);
        a.release(linked);  // the handle again
        a.release(part);
      },
      2);
  CHECK(outcomes(links.report()) == Outcomes{"served, exact", "served, exact"});
}

TEST_CASE("a malformed call leaves a deferred program as it was") {
  const Links links;
  links.run(links.pack({{kAlone, "", {"First"}}}), [](const Application &a) {
    const cl_program part = a.compiled(kAlone);
    CHECK(a.cl.clCompileProgram(part, 1, nullptr, "", 0, nullptr, nullptr, nullptr, nullptr) ==
          CL_INVALID_VALUE);
    CHECK(a.status_of(part) == CL_BUILD_SUCCESS);
    CHECK(a.cl.clBuildProgram(part, 1, nullptr, "", nullptr, nullptr) == CL_INVALID_VALUE);
    CHECK(a.type_of(part) == CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT);
    a.release(a.linked({part}));
    CHECK(calls_of("clLinkProgram") == 0);
    a.release(part);
  });
}

TEST_CASE("a link's options are told as given, none on rusticl, and none without a word on PoCL") {
  const Links links;
  for (const char *platform : {"rusticl", "Portable Computing Language", "Another"}) {
    INFO(platform);
    driver().platform = platform;
    (void)std::filesystem::remove_all(links.folder.path() / "overlay");
    for (int start = 0; start < 2; ++start) {
      links.run(links.overlay(), [&](const Application &a) {
        const cl_program part = a.compiled(kAlone);
        for (const char *options : {"-x", " "}) {
          const cl_program linked = a.linked({part}, options);
          const bool is_word = options[0] != ' ';
          const bool is_told = start == 0 || driver().platform == "Another" ||
                               (driver().platform != "rusticl" && is_word);
          CHECK(a.build_text_of(linked, CL_PROGRAM_BUILD_OPTIONS) == (is_told ? options : ""));
          a.release(linked);
        }
        a.release(part);
        CHECK(calls_of("clLinkProgram") == (start == 0 ? 2 : 0));
      });
    }
  }
  driver().platform = Driver().platform;
}

TEST_CASE("what only the driver can answer compiles a deferred program") {
  const Links links;
  links.run(links.pack({{kAlone, "", {"First"}}}), [](const Application &a) {
    const cl_program part = a.compiled(kAlone);
    CHECK(a.binaries_of(part) == std::vector<std::string>{binary_of("First", kAlone)});
    CHECK(calls_of("clCompileProgram") == 1);
    CHECK(a.type_of(part) == CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT);
    CHECK(a.build_text_of(part, CL_PROGRAM_BUILD_LOG).empty());
    // It is served all the same.
    const cl_program linked = a.linked({part});
    CHECK(calls_of("clLinkProgram") == 0);
    a.release(linked);

    // A build takes its place, and a compilation the build's.
    CHECK(a.build(part) == CL_SUCCESS);
    CHECK(a.type_of(part) == CL_PROGRAM_BINARY_TYPE_EXECUTABLE);
    CHECK(a.compile(part) == CL_SUCCESS);
    CHECK(a.type_of(part) == CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT);
    std::size_t kernels = 0;
    CHECK(a.cl.clGetProgramInfo(part, CL_PROGRAM_NUM_KERNELS, sizeof(kernels), &kernels, nullptr) ==
          CL_INVALID_PROGRAM_EXECUTABLE);
    CHECK(calls_of("clCompileProgram") == 2);
    a.release(part);

    // The driver may fail later than it would have.
    const cl_program late = a.compiled(kAlone);
    driver().fails["clCompileProgram"] = CL_OUT_OF_RESOURCES;
    CHECK(a.cl.clGetProgramInfo(late, CL_PROGRAM_BINARY_SIZES, 0, nullptr, nullptr) == CL_SUCCESS);
    driver().fails.clear();
    CHECK(a.status_of(late) == CL_BUILD_NONE);
    a.release(late);
    const cl_program never = a.compiled(kAlone);
    driver().fails["clCreateProgramWithSource"] = CL_OUT_OF_HOST_MEMORY;
    (void)a.cl.clGetProgramInfo(never, CL_PROGRAM_NUM_KERNELS, sizeof(kernels), &kernels, nullptr);
    driver().fails.clear();
    CHECK(a.status_of(never) == CL_BUILD_NONE);
    a.release(never);
  });
}

TEST_CASE("a program that waits for its link is compiled where the link is another") {
  const Links links;
  links.run(links.pack({{kPartA, "", {"First"}}}), [](const Application &a) {
    const cl_program waiting = a.compiled(kPartA);
    const cl_program second = a.compiled(kPartB);
    CHECK(driver().built == std::vector<std::string>{std::string(kPartB) + ", "});
    const cl_program linked = a.linked({waiting, second});
    REQUIRE(linked != nullptr);
    CHECK(driver().built.back() == std::string(kPartA) + ", ");
    CHECK(a.text_of(linked, CL_PROGRAM_SOURCE) == std::string(kPartA) + kPartB);
    a.release(linked);
    a.release(waiting);
    a.release(second);

    // A served build is no part: the driver says so.
    const cl_program built = a.built(kPartA);
    cl_int code = CL_SUCCESS;
    CHECK(a.linked({built}, nullptr, &code) == nullptr);
    CHECK(code == CL_INVALID_OPERATION);
    a.release(built);
  });
  const Outcomes told = outcomes(links.report());
  REQUIRE(told.size() == 3);
  CHECK(told[0] == "passed, no pack has it");
  CHECK(told[1] == "served, exact");
  CHECK(mentions(told[2], "it is not of programs that were compiled from source"));
}

TEST_CASE(
    "an overlay serves a link of several programs from the second start on, and defers its parts") {
  const Links links;
  links.run(links.overlay(), [](const Application &a) {
    link_both(a);
    link_both(a, "-x");
  });
  CHECK(outcomes(links.report()) ==
        Outcomes(2, "passed, no pack has it; it is noted for 'kiln overlay build'"));
  std::filesystem::remove(links.report());
  links.run(links.overlay(), [](const Application &a) {
    link_both(a);
    link_both(a, "-x");
    CHECK(calls_of("clCompileProgram") == 0);
    CHECK(calls_of("clLinkProgram") == 0);
    CHECK(calls_of("clCreateProgramWithBinary") == 2);
    // In another order, and with other options, it is another link.
    const cl_program first = a.compiled(kPartA, "-DA");
    const cl_program second = a.compiled(kPartB);
    a.release(a.linked({second, first}));
    CHECK(calls_of("clCompileProgram") == 2);
    a.release(a.linked({first, second}, "-y"));
    CHECK(calls_of("clLinkProgram") == 2);
    CHECK(calls_of("clCompileProgram") == 2);
    a.release(first);
    a.release(second);
    // A part with other options is not known.
    a.release(a.compiled(kPartA, "-DB"));
    CHECK(calls_of("clCompileProgram") == 3);
  });
  CHECK(outcomes(links.report()) ==
        Outcomes{"served, exact", "served, exact",
                 "passed, no pack has it; it is noted for 'kiln overlay build'",
                 "passed, no pack has it; it is noted for 'kiln overlay build'"});

  // The overlay's files are packs, of which one here has other programs before the link.
  std::filesystem::remove(links.report());
  write(contents_of({{kAlone, "", {"First"}}}), links.folder.path() / "packs/0.kiln");
  packs::Contents others = contents_of({{"kernel void x() {}", "", {"First"}}});
  others.programs[0].variants[0].name = "linked-but-not";
  write(others, links.folder.path() / "packs/1.kiln");
  for (const auto &entry : std::filesystem::directory_iterator(links.folder.path() / "overlay")) {
    if (entry.path().extension() != ".kiln") continue;
    // A variant before the link's own has no text of parts.
    std::shared_ptr<const packs::Pack> pack;
    packs::Contents contents;
    REQUIRE(packs::Pack::open_file(entry.path().c_str(), &pack).ok());
    REQUIRE(packs::read_contents(pack, &contents).ok());
    packs::Variant odd = others.programs[0].variants[0];
    odd.name = "linked-";
    contents.programs[0].variants.insert(contents.programs[0].variants.begin(), odd);
    odd.name = "alone";  // no link
    odd.hash[0] = 99;
    contents.programs[0].variants.insert(contents.programs[0].variants.begin(), odd);
    write(contents, links.folder.path() / "packs" / entry.path().filename());
  }
  links.run({{"KILN_PACK", (links.folder.path() / "packs").string()}}, [](const Application &a) {
    link_both(a);
    CHECK(calls_of("clCompileProgram") == 0);
    CHECK(calls_of("clLinkProgram") == 0);
  });
  CHECK(outcomes(links.report()) == Outcomes{"served, exact"});
}

TEST_CASE("a link of one program is named by the options of its compilation and of the link") {
  const Links links;
  const char *option = "-cl-denorms-are-zero";
  const auto use = [&](const Application &a) {
    const auto link_alone = [&](const char *of_compilation, const char *of_link) {
      const cl_program part = a.compiled(kAlone, of_compilation);
      const cl_program linked = a.linked({part}, of_link);
      REQUIRE(linked != nullptr);
      a.release(linked);
      a.release(part);
    };
    a.release(a.built(kAlone, option));
    link_alone(option, "");
    link_alone("", option);
    link_alone(option, option);
    // The linker sees neither macros nor folders.
    a.release(a.built(kAlone, "-DX -U Y"));
    link_alone("-DX -U Y", nullptr);
    link_alone("-I / -DX -U Y", "");
    link_alone("-DX=\"1 -w\"", "");  // of which some driver may make two options
    a.release(a.built(kAlone, "-DX=\"1 -w\""));
  };
  links.run(links.overlay(), use);
  const std::string kept = "passed, no pack has it; it is noted for 'kiln overlay build'";
  const std::string served = "served, exact";
  CHECK(outcomes(links.report()) == Outcomes(9, kept));
  std::filesystem::remove(links.report());
  links.run(links.overlay(), [&](const Application &a) {
    use(a);
    CHECK(calls_of("clCompileProgram") == 0);
  });
  CHECK(outcomes(links.report()) == Outcomes(9, served));

  // A binary of clBuildProgram keeps no compilation from the driver.
  std::filesystem::remove(links.report());
  links.run(links.pack({{kAlone, option, {"First"}}}), [&](const Application &a) {
    const cl_program part = a.compiled(kAlone, option);
    CHECK(calls_of("clCompileProgram") == 1);
    a.release(a.linked({part}, ""));
    a.release(part);
  });
  CHECK(outcomes(links.report()) == Outcomes{"passed, no pack has it"});
}

TEST_CASE("a module whose constants are set after its compilation is linked by the driver") {
  const Links links;
  std::string module(20, '\0');
  const std::uint32_t header[] = {0x07230203, 0x00010000};
  module.replace(0, sizeof(header), reinterpret_cast<const char *>(header), sizeof(header));
  module += "kernel void f() {}";
  links.run(links.overlay(), [&](const Application &a) {
    const cl_program part =
        a.cl.clCreateProgramWithIL(a.context, module.data(), module.size(), nullptr);
    CHECK(a.compile(part) == CL_SUCCESS);
    a.release(a.linked({part}));
    const cl_uint value = 1;
    CHECK(a.cl.clSetProgramSpecializationConstant(part, 1, sizeof(value), &value) == CL_SUCCESS);
    a.release(a.linked({part}));
    a.release(part);
  });
  const Outcomes told = outcomes(links.report());
  REQUIRE(told.size() == 2);
  CHECK(told[0] == "passed, no pack has it; it is noted for 'kiln overlay build'");
  CHECK(mentions(told[1], "it is not of programs that were compiled from source"));
}

TEST_CASE("links that the layer cannot name are the driver's") {
  const Links links;
  const std::string parts =
      "passed, it is not of programs that were compiled from source for the same devices, in "
      "plain calls";
  links.run(
      links.overlay(),
      [](const Application &a) {
        const cl_device_id first = driver_device(0);
        const cl_program both = a.compiled(kPartA);
        const cl_program one = a.from_source(kPartB);
        CHECK(a.cl.clCompileProgram(one, 1, &first, "", 0, nullptr, nullptr, nullptr, nullptr) ==
              CL_SUCCESS);
        a.release(a.linked({both, one}));  // one part is not compiled for the second device
        cl_program programs[] = {both, one};
        a.release(
            a.cl.clLinkProgram(a.context, 1, &first, "", 2, programs, nullptr, nullptr, nullptr));
        CHECK(a.cl.clLinkProgram(a.context, 1, nullptr, "", 2, programs, nullptr, nullptr,
                                 nullptr) == nullptr);
        unsigned seen = 0;
        const auto see = [](cl_program, void *user) { ++*static_cast<unsigned *>(user); };
        cl_program linked =
            a.cl.clLinkProgram(a.context, 1, &first, "", 2, programs, see, &seen, nullptr);
        CHECK(seen == 1);
        a.release(linked);
        // A compilation with a callback is not followed, and a failed one is none.
        CHECK(a.cl.clCompileProgram(both, 0, nullptr, "", 0, nullptr, nullptr, see, &seen) ==
              CL_SUCCESS);
        CHECK(seen == 2);
        a.release(a.linked({both}));
        driver().fails["clCompileProgram"] = CL_OUT_OF_RESOURCES;
        CHECK(a.compile(both) == CL_OUT_OF_RESOURCES);
        driver().fails.clear();
        a.release(a.linked({both}));
        a.release(both);
        a.release(one);
      },
      2);
  const std::string kept = "passed, no pack has it; it is noted for 'kiln overlay build'";
  CHECK(outcomes(links.report()) == Outcomes{parts, kept, parts, parts, parts, parts});
}

TEST_CASE("a library names the links that use it") {
  const Links links;
  const auto use = [](const Application &a) {
    const cl_program first = a.compiled(kPartA);
    const cl_program second = a.compiled(kPartB);
    const cl_program library = a.linked({second}, "-create-library");
    REQUIRE(library != nullptr);
    CHECK(a.type_of(library) == CL_PROGRAM_BINARY_TYPE_LIBRARY);
    a.release(a.linked({first, library}));
    a.release(a.linked({library}, ""));
    for (const cl_program program : {first, second, library}) a.release(program);
  };
  links.run(links.overlay(), use);
  links.run(links.overlay(), use);
  const std::string kept = "passed, no pack has it; it is noted for 'kiln overlay build'";
  CHECK(outcomes(links.report()) == Outcomes{"passed, it is a library", kept,
                                             "passed, no pack has it; it has no kernels",
                                             "passed, it is a library", "served, exact",
                                             "passed, no pack has it; it has no kernels"});
}

TEST_CASE("headers of a compilation are part of its text") {
  const Links links;
  const auto use = [](const Application &a) {
    const cl_program header = a.from_source("void h() {}");
    const cl_program main = a.from_source("#include \"h.h\"\nkernel void m() {}");
    const char *name = "h.h";
    const auto compile = [&](cl_uint count, const cl_program *headers, const char **names) {
      return a.cl.clCompileProgram(main, 0, nullptr, "", count, headers, names, nullptr, nullptr);
    };
    CHECK(compile(1, &header, nullptr) == CL_INVALID_VALUE);
    CHECK(compile(1, nullptr, &name) == CL_INVALID_VALUE);
    CHECK(compile(0, &header, &name) == CL_INVALID_VALUE);
    CHECK(compile(1, &header, &name) == CL_SUCCESS);
    const cl_program linked = a.linked({main});
    REQUIRE(linked != nullptr);
    CHECK(a.text_of(linked, CL_PROGRAM_KERNEL_NAMES) == "m");
    a.release(linked);
    a.release(main);
    a.release(header);
  };
  links.run(links.overlay(), use);
  links.run(links.overlay(), [&](const Application &a) {
    use(a);
    CHECK(calls_of("clLinkProgram") == 0);
  });
  const std::string kept = "passed, no pack has it; it is noted for 'kiln overlay build'";
  CHECK(outcomes(links.report()) == Outcomes{kept, "served, exact"});

  // Another text in the header, two headers, and a header that the layer has not seen.
  links.run(links.overlay(), [](const Application &a) {
    const cl_program headers[] = {a.from_source("void h() {} void i() {}"),
                                  a.from_source("void j() {}"), a.from_source("void k() {}")};
    const char *names[] = {"h.h", "j.h", "k.h"};
    const cl_program main = a.from_source("#include \"h.h\"\nkernel void m() {}");
    CHECK(a.cl.clCompileProgram(main, 0, nullptr, "", 2, headers, names, nullptr, nullptr) ==
          CL_SUCCESS);
    CHECK(mentions(driver().built.back(), "void i() {}"));
    a.release(a.linked({main}));
    const char *twice[] = {"h.h", "h.h"};
    CHECK(a.cl.clCompileProgram(main, 0, nullptr, "", 2, headers, twice, nullptr, nullptr) ==
          CL_SUCCESS);
    CHECK(mentions(driver().built.back(), "#include"));
    const cl_program own = a.from_binary(binary_of("First", "void h() {}"));
    CHECK(a.cl.clCompileProgram(main, 0, nullptr, "", 1, &own, names, nullptr, nullptr) ==
          CL_SUCCESS);
    CHECK(mentions(driver().built.back(), "#include"));
    // A driver that takes no headers must not be given a text that has them.
    driver().takes_files = false;
    const cl_program fresh = a.from_source("#include \"h.h\"\nkernel void n() {}");
    CHECK(a.cl.clCompileProgram(fresh, 0, nullptr, "", 1, headers, names, nullptr, nullptr) ==
          CL_COMPILE_PROGRAM_FAILURE);
    CHECK(a.status_of(fresh) == CL_BUILD_ERROR);
    a.release(fresh);
    a.release(own);
    a.release(main);
    for (const cl_program header : headers) a.release(header);
  });
}

TEST_CASE("a recording holds links, and defers nothing") {
  const Links links;
  Variables variables = links.record();
  variables.push_back(links.pack({{kPartA, "-DA", {"First"}}})[0]);
  links.run(variables, [](const Application &a) {
    link_both(a);
    const cl_program alone = a.compiled(kPartA, "-DA");
    CHECK(calls_of("clCompileProgram") == 3);
    a.release(a.linked({alone}));
    CHECK(calls_of("clLinkProgram") == 2);
    a.release(alone);
  });
  CHECK(outcomes(links.report()) == Outcomes(2, "passed, it is recorded"));
  const auto files = files_in(links.folder.path() / "spool");
  CHECK(files.size() == 3);
  CHECK(std::count(files.begin(), files.end(), name_of_program(kPartA, "-DA") + ".kiln") == 1);
}

}  // namespace kiln::test
