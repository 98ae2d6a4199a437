// SPDX-License-Identifier: Apache-2.0
// Programs that an overlay keeps for kiln_program.h, on the first device that there is.
#include <sys/stat.h>

#include "kiln/recorded.hpp"
#include "runtime/api/api.hpp"
#include "tests/runtime/fake/on_device.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace kiln;
using namespace kiln::test;

namespace {

namespace fs = std::filesystem;

const runtime::OpenCL &opencl() { return *device().get()->device->cl; }

// Programs built from source, and the overlay that keeps them.
struct Kept {
  TemporaryFolder folder;
  std::string overlay = (folder.path() / "overlay").string();
  Loader loader = loader_for(kPack);  // for its context
  std::string source = "kernel void k(global int *a) { a[0] = VALUE; }\n";
  std::string options = "-DVALUE=3";
  std::string name = name_now();

  std::string name_now() const { return take(recorded_name(source, options)); }

  Status store() {
    const char *text = source.c_str();
    const cl_device_id id = device().cl();
    const cl_program program =
        opencl().clCreateProgramWithSource(loader.context(), 1, &text, nullptr, nullptr);
    REQUIRE(opencl().clBuildProgram(program, 1, &id, options.c_str(), nullptr, nullptr) ==
            CL_SUCCESS);
    Status status = store_recorded(overlay, id, program, source, options, name);
    opencl().clReleaseProgram(program);
    return status;
  }

  kiln_status found() const { return find_recorded(overlay, device().cl(), name).error().status; }

  fs::path file() const {
    for (const auto &entry : fs::directory_iterator(overlay)) {
      if (entry.path().filename().string().starts_with("cl-")) return entry.path();
    }
    return {};
  }

  int loaded() const {
    const Loader kept =
        take(Loader::create(device(), take(find_recorded(overlay, device().cl(), name))));
    const Loaded result = kept.load(name, "", KILN_LOAD_NO_IL | KILN_LOAD_NO_SOURCE);
    REQUIRE(result.program);
    CHECK(result.report.rung() == KILN_RUNG_EXACT);
    const Queue queue = take(Queue::create(kept));
    const Buffer value = take(Buffer::create(kept, sizeof(int), KILN_ACCESS_BOTH));
    const Kernel kernel = take(Kernel::create(*result.program, "k"));
    require(kernel.set(0, value));
    (void)take(kernel.launch(queue, kiln_ndrange{1, {1}, {}, {}}));
    return *static_cast<int *>(take(value.map(queue)));
  }
};

}  // namespace

TEST_CASE("a stored program is found by its name, and loaded from its binary") {
  Kept kept;
  CHECK(kept.found() == KILN_ERROR_NOT_IN_PACK);
  require(kept.store());
  CHECK(kept.loaded() == 3);
  kept.options = "-DVALUE=4";
  kept.name = kept.name_now();
  CHECK(kept.found() == KILN_ERROR_NOT_IN_PACK);
}

TEST_CASE("a program whose included file changed since its build is not stored") {
  Kept kept;
  kept.folder.write("value.h", "#define VALUE 5\n");
  kept.source.insert(0, "#include \"value.h\"\n");
  kept.options = "-I " + kept.folder.path().string();
  kept.name = kept.name_now();
  require(kept.store());
  CHECK(kept.loaded() == 5);
  fs::remove(kept.file());
  kept.folder.write("value.h", "#define VALUE 6\n");
  const Status status = kept.store();
  CHECK(status.status == KILN_ERROR_NOT_IN_PACK);
  CHECK(status.message == std::string("a file that the program includes was changed"));
  CHECK(kept.file().empty());
}

TEST_CASE("what is damaged, or what others may write, is not found") {
  Kept kept;
  require(kept.store());
  REQUIRE(kept.found() == KILN_OK);
  const fs::path file = kept.file();
  REQUIRE(chmod(file.c_str(), 0622) == 0);
  CHECK(kept.found() == KILN_ERROR_NOT_IN_PACK);
  REQUIRE(chmod(file.c_str(), 0600) == 0);
  CHECK(kept.found() == KILN_OK);
  fs::resize_file(file, fs::file_size(file) - 1);
  CHECK(kept.found() == KILN_ERROR_NOT_IN_PACK);
  require(kept.store());
  CHECK(kept.found() == KILN_OK);
  REQUIRE(chmod(kept.overlay.c_str(), 0777) == 0);
  CHECK(kept.found() == KILN_ERROR_NOT_IN_PACK);
  CHECK(kept.store().status == KILN_ERROR_PACK_IO);
}

TEST_CASE("a program without kernels is not stored") {
  Kept kept;
  kept.source = "int twice(int a) { return 2 * a; }\n";
  kept.name = kept.name_now();
  const Status status = kept.store();
  CHECK(status.status == KILN_ERROR_REQUIREMENT);
  CHECK(status.message == std::string("it has no kernels"));
}

TEST_CASE("arguments that break a rule are refused") {
  const cl_device_id id = device().cl();
  const auto program = reinterpret_cast<cl_program>(std::uintptr_t{1});  // not reached
  int file = -1;
  std::uint64_t size = 0;
  const char *name = "cl-00000000000000000000000000000000";
  kiln_error error{};
  CHECK(kiln_recorded_find(nullptr, id, name, &file, &size, &error) == KILN_ERROR_ARGUMENT);
  CHECK(kiln_recorded_find("a", nullptr, name, &file, &size, &error) == KILN_ERROR_ARGUMENT);
  CHECK(kiln_recorded_find("a", id, nullptr, &file, &size, &error) == KILN_ERROR_ARGUMENT);
  CHECK(kiln_recorded_find("a", id, name, nullptr, &size, &error) == KILN_ERROR_ARGUMENT);
  CHECK(kiln_recorded_find("a", id, name, &file, nullptr, nullptr) == KILN_ERROR_ARGUMENT);
  CHECK(kiln_recorded_find("a", id, "cl-/../b", &file, &size, &error) == KILN_ERROR_ARGUMENT);
  CHECK(error.message == std::string("kiln_recorded_find: no name of a program"));
  CHECK(kiln_recorded_store(nullptr, id, program, "", 0, "", name, &error) == KILN_ERROR_ARGUMENT);
  CHECK(kiln_recorded_store("a", nullptr, program, "", 0, "", name, &error) == KILN_ERROR_ARGUMENT);
  CHECK(kiln_recorded_store("a", id, nullptr, "", 0, "", name, &error) == KILN_ERROR_ARGUMENT);
  CHECK(kiln_recorded_store("a", id, program, nullptr, 0, "", name, &error) == KILN_ERROR_ARGUMENT);
  CHECK(kiln_recorded_store("a", id, program, "", 0, nullptr, name, &error) == KILN_ERROR_ARGUMENT);
  CHECK(kiln_recorded_store("a", id, program, "", 0, "", nullptr, nullptr) == KILN_ERROR_ARGUMENT);
  CHECK(file == -1);
}
