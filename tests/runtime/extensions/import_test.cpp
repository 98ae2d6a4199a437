// SPDX-License-Identifier: Apache-2.0
// Buffers and images over dma-bufs and hardware buffers: what reaches Khronos's, Arm's and
// Qualcomm's extensions, and what is refused before. No device with them was at hand: the driver is
// the fake one, and a file in memory stands for a dma-buf, whose one request this executable
// answers itself.
#include <cerrno>
#include <cstdarg>

#include <fcntl.h>
#include <linux/dma-buf.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kiln/import.hpp"
#include "runtime/extensions/imported_memory.hpp"
#include "tests/runtime/fake/launch_ready.hpp"

using namespace kiln;
using namespace kiln::test;

namespace {

int dma_buf = -1;       // the descriptor that is one
int dma_buf_errno = 0;  // what asking about it gives
bool size_told = true;  // whether the system tells its size
unsigned asked = 0;     // how often
bool harmless = true;   // every request had flags that change nothing

}  // namespace

// NOLINTBEGIN: the names are the linker's
extern "C" {
int __real_ioctl(int fd, unsigned long request, ...);
off_t __real_lseek(int fd, off_t offset, int whence);
off64_t __real_lseek64(int fd, off64_t offset, int whence);

int __wrap_ioctl(int fd, unsigned long request, ...) {
  va_list list;
  va_start(list, request);
  void *argument = va_arg(list, void *);
  va_end(list);
  if (fd != dma_buf || request != DMA_BUF_IOCTL_SYNC) return __real_ioctl(fd, request, argument);
  ++asked;
  const __u64 flags = static_cast<const dma_buf_sync *>(argument)->flags;
  if ((flags & ~__u64{DMA_BUF_SYNC_VALID_FLAGS_MASK}) == 0) harmless = false;
  errno = dma_buf_errno;
  return -1;
}
off_t __wrap_lseek(int fd, off_t offset, int whence) {
  if (fd == dma_buf && !size_told) return -1;
  return __real_lseek(fd, offset, whence);
}
off64_t __wrap_lseek64(int fd, off64_t offset, int whence) {
  if (fd == dma_buf && !size_told) return -1;
  return __real_lseek64(fd, offset, whence);
}
}
// NOLINTEND

namespace {

constexpr char kKhr[] = "cl_khr_external_memory cl_khr_external_memory_dma_buf";
constexpr char kKhrHardwareBuffer[] =
    "cl_khr_external_memory cl_khr_external_memory_android_hardware_buffer";
constexpr char kFromBuffer[] = " cl_khr_image2d_from_buffer";
constexpr char kArm[] = "cl_arm_import_memory cl_arm_import_memory_dma_buf";
constexpr char kArmHardwareBuffer[] =
    "cl_arm_import_memory cl_arm_import_memory_android_hardware_buffer";
constexpr char kQcom[] = "cl_qcom_ext_host_ptr cl_qcom_dmabuf_host_ptr";
constexpr char kQcomHardwareBuffer[] =
    "cl_qcom_ext_host_ptr cl_qcom_android_ahardwarebuffer_host_ptr";

// A dma-buf of 8192 bytes, as far as this process can see.
class DmaBuf {
 public:
  DmaBuf() : fd_(memfd_create("dma-buf", 0)) {
    REQUIRE(ftruncate(fd_, 8192) == 0);
    dma_buf = fd_;
    dma_buf_errno = EINVAL;
    size_told = true;
    asked = 0;
    harmless = true;
  }
  DmaBuf(const DmaBuf &) = delete;
  DmaBuf &operator=(const DmaBuf &) = delete;
  ~DmaBuf() {
    dma_buf = -1;
    close(fd_);
  }
  int fd() const { return fd_; }

 private:
  int fd_;
};

alignas(4096) unsigned char mapped[8192];

kiln_import_options options(kiln_host_cache cache = KILN_HOST_CACHE_NONE, void *at = mapped) {
  return {sizeof(kiln_import_options), KILN_ACCESS_READ, cache, at};
}

using Properties = std::vector<cl_import_properties_arm>;

// What is made of a descriptor; "" where a buffer is, which was released.
std::string import(Ready &r, int fd, std::size_t size, const kiln_import_options &how,
                   kiln_status expected = KILN_OK) {
  kiln_buffer *buffer = nullptr;
  r.error = {};
  const kiln_status status =
      kiln_buffer_from_dma_buf(r.load.loader, fd, size, &how, &buffer, &r.error);
  CHECK(status == expected);
  CHECK((buffer != nullptr) == (status == KILN_OK));
  if (buffer != nullptr) CHECK(kiln_buffer_zero_copy(buffer) == 1);
  kiln_buffer_release(buffer);
  return r.message();
}

std::string import_hardware(Ready &r, std::size_t size, const kiln_import_options &how,
                            kiln_status expected = KILN_OK) {
  kiln_buffer *buffer = nullptr;
  r.error = {};
  const kiln_status status =
      kiln_buffer_from_hardware_buffer(r.load.loader, &dma_buf, size, &how, &buffer, &r.error);
  CHECK(status == expected);
  CHECK((buffer != nullptr) == (status == KILN_OK));
  kiln_buffer_release(buffer);
  return r.message();
}

kiln_image_layout layout(std::size_t width, std::size_t height, unsigned channels,
                         std::size_t row_pitch = 0, std::size_t offset = 0) {
  return {sizeof(kiln_image_layout), width, height, channels, offset, row_pitch};
}

// What is made of a hardware buffer; "" where an image is, which was released.
std::string import_frame(Ready &r, kiln_plane plane, const kiln_image_layout &how,
                         kiln_status expected = KILN_OK,
                         const kiln_import_options &with = options()) {
  kiln_image *image = nullptr;
  r.error = {};
  fake().made_images.clear();
  const kiln_status status = kiln_image_from_hardware_buffer(r.load.loader, &dma_buf, plane, &how,
                                                             &with, &image, &r.error);
  CHECK(status == expected);
  CHECK((image != nullptr) == (status == KILN_OK));
  kiln_image_release(image);
  return r.message();
}

// What is made of the Ready's buffer of 64 bytes.
std::string image_of(Ready &r, const kiln_image_layout &how, kiln_status expected = KILN_OK) {
  kiln_image *image = nullptr;
  r.error = {};
  fake().made_images.clear();
  CHECK(kiln_image_from_buffer(r.buffer, &how, &image, &r.error) == expected);
  CHECK((image != nullptr) == (expected == KILN_OK));
  kiln_image_release(image);
  return r.message();
}

// The last image that the driver was asked for: order, size, row pitch.
using Asked = std::vector<std::size_t>;
Asked asked_for(std::size_t back = 0) {
  REQUIRE(fake().made_images.size() > back);
  const auto &made = fake().made_images[fake().made_images.size() - 1 - back];
  CHECK(made.format.image_channel_data_type == CL_UNORM_INT8);
  CHECK(made.description.image_type == CL_MEM_OBJECT_IMAGE2D);
  return {made.format.image_channel_order, made.description.image_width,
          made.description.image_height, made.description.image_row_pitch};
}

template <typename T>
T host_pointer() {
  T value{};
  REQUIRE(fake().host_pointer_qcom.size() == sizeof(value));
  std::memcpy(&value, fake().host_pointer_qcom.data(), sizeof(value));
  return value;
}

}  // namespace

TEST_CASE("Arm's driver gets the place of the descriptor, and whether to keep caches in step",
          "[import]") {
  reset_fake();
  fake().extensions = std::string(kArm) + " " + kQcom;  // Arm's comes first
  const DmaBuf memory;
  {
    Ready r;
    CHECK(import(r, memory.fd(), 8192, options()).empty());
    CHECK(fake().imported_descriptor == memory.fd());
    CHECK(fake().imported_size == 8192);
    CHECK(fake().memory_flags == CL_MEM_READ_ONLY);
    CHECK(fake().import_properties == Properties{0x40B2, 0x40B4});
    CHECK(fake().host_pointer_qcom.empty());
    CHECK(import(r, memory.fd(), 1, options(KILN_HOST_CACHE_WRITEBACK)).empty());
    CHECK(fake().imported_size == 1);
    CHECK(fake().import_properties == Properties{0x40B2, 0x40B4, 0x41E3, CL_TRUE});
    CHECK(import(r, memory.fd(), 1, options(KILN_HOST_CACHE_COHERENT)).empty());
    CHECK(fake().import_properties == Properties{0x40B2, 0x40B4});
    CHECK(asked == 3);
    CHECK(harmless);
    CHECK(fcntl(memory.fd(), F_GETFD) >= 0);  // still the caller's
  }
  CHECK(fake().live == 0);
}

TEST_CASE("Qualcomm's driver gets descriptor, address and cache policy", "[import]") {
  reset_fake();
  fake().extensions = std::string(kQcom) + " cl_qcom_ext_host_ptr_iocoherent";
  const DmaBuf memory;
  {
    Ready r;
    const cl_uint policies[] = {0x40A4, 0x40A5, 0x40A9};
    for (const int cache : {0, 1, 2}) {
      CHECK(import(r, memory.fd(), 8192, options(static_cast<kiln_host_cache>(cache))).empty());
      const auto host = host_pointer<runtime::DmaBufHostPtrQcom>();
      CHECK(host.head.allocation_type == 0x411D);
      CHECK(host.head.host_cache_policy == policies[cache]);
      CHECK(host.fd == memory.fd());
      CHECK(host.mapped == mapped);
      CHECK(fake().memory_flags ==
            (CL_MEM_READ_ONLY | CL_MEM_USE_HOST_PTR | cl_mem_flags{1 << 29}));
    }
  }
  CHECK(fake().live == 0);
}

TEST_CASE("what Qualcomm's device asks of a dma-buf is checked before the driver sees it",
          "[import]") {
  reset_fake();
  fake().extensions = kQcom;
  const DmaBuf memory;
  Ready r;
  CHECK(import(r, memory.fd(), 64, options(KILN_HOST_CACHE_NONE, nullptr), KILN_ERROR_ARGUMENT) ==
        "cl_qcom_dmabuf_host_ptr needs the address at which the dma-buf is mapped");
  CHECK(
      import(r, memory.fd(), 64, options(KILN_HOST_CACHE_NONE, mapped + 64), KILN_ERROR_ARGUMENT) ==
      "the dma-buf's address must be a multiple of the device's page size, 4096");
  fake().page_size_qcom = 64;
  CHECK(import(r, memory.fd(), 64, options(KILN_HOST_CACHE_NONE, mapped + 64)).empty());
  fake().padding_qcom = 128;
  CHECK(import(r, memory.fd(), 8192 - 128, options()).empty());
  fake().host_pointer_qcom.clear();
  CHECK(import(r, memory.fd(), 8192 - 127, options(), KILN_ERROR_ARGUMENT) ==
        "the dma-buf has 8192 bytes, and 8193 are needed");
  CHECK(import(r, memory.fd(), 64, options(KILN_HOST_CACHE_COHERENT), KILN_ERROR_REQUIREMENT) ==
        "the device has no cl_qcom_ext_host_ptr_iocoherent for coherent memory");
  CHECK(fake().host_pointer_qcom.empty());
}

TEST_CASE("a descriptor that is none of a dma-buf is refused", "[import]") {
  reset_fake();
  fake().extensions = kArm;
  Ready r;
  const auto refused = [&](int fd, const char *message) {
    CHECK(import(r, fd, 64, options(), KILN_ERROR_ARGUMENT) == message);
  };
  int ends[2] = {};
  REQUIRE(pipe(ends) == 0);
  const int file = memfd_create("file", 0);
  const int null = open("/dev/null", O_RDWR);
  REQUIRE(ftruncate(file, 8192) == 0);
  for (const int fd : {ends[0], file, null}) {
    refused(fd, "the file descriptor is not one of a dma-buf");
  }
  for (const int fd : {ends[0], ends[1], file, null}) close(fd);
  refused(file, "the file descriptor is not open");
  refused(-1, "the file descriptor is not open");
  CHECK(fake().import_properties.empty());
}

TEST_CASE("a size beyond the dma-buf is refused, if the system tells its size", "[import]") {
  reset_fake();
  fake().extensions = kArm;
  const DmaBuf memory;
  Ready r;
  CHECK(import(r, memory.fd(), 0, options(), KILN_ERROR_ARGUMENT) ==
        "a buffer has at least 1 byte");
  CHECK(import(r, memory.fd(), 8193, options(), KILN_ERROR_ARGUMENT) ==
        "the dma-buf has 8192 bytes, and 8193 are needed");
  CHECK(import(r, memory.fd(), SIZE_MAX, options(), KILN_ERROR_ARGUMENT) ==
        "the dma-buf has 8192 bytes, and 18446744073709551615 are needed");
  CHECK(fake().import_properties.empty());
  size_told = false;
  CHECK(import(r, memory.fd(), 8193, options()).empty());
  size_told = true;
  dma_buf_errno = EACCES;  // a policy that forbids to ask
  CHECK(import(r, memory.fd(), 8192, options()).empty());
}

TEST_CASE("a device without any of the extensions is named by what it lacks", "[import]") {
  reset_fake();
  fake().extensions = "cl_arm_import_memory cl_arm_import_memory_host cl_qcom_ext_host_ptr";
  const DmaBuf memory;
  Ready r;
  CHECK(import(r, memory.fd(), 64, options(), KILN_ERROR_REQUIREMENT) ==
        "the device has none of cl_khr_external_memory_dma_buf, cl_arm_import_memory_dma_buf, "
        "cl_qcom_dmabuf_host_ptr");
  CHECK(import_hardware(r, 64, options(), KILN_ERROR_REQUIREMENT) ==
        "the device has none of cl_khr_external_memory_android_hardware_buffer, "
        "cl_arm_import_memory_android_hardware_buffer, cl_qcom_android_ahardwarebuffer_host_ptr");
  fake().extensions = kArm;
  fake().recording_functions = false;
  Ready without;
  CHECK(import(without, memory.fd(), 64, options(), KILN_ERROR_REQUIREMENT) ==
        "the driver has no clImportMemoryARM");
}

TEST_CASE("a driver that refuses an import, or lies, is an error, and nothing leaks", "[import]") {
  const DmaBuf memory;
  for (const bool arm : {true, false}) {
    reset_fake();
    fake().extensions = arm ? kArm : kQcom;
    const std::string call =
        arm ? "clImportMemoryARM" : "clCreateBuffer with CL_MEM_EXT_HOST_PTR_QCOM";
    {
      Ready r;
      (arm ? fake().import_code : fake().memory_code) = CL_INVALID_OPERATION;  // with a buffer
      CHECK(import(r, memory.fd(), 64, options(), KILN_ERROR_OPENCL) ==
            call + " returned CL_INVALID_OPERATION (-59)");
      CHECK(r.error.cl_error == CL_INVALID_OPERATION);
      (arm ? fake().import_code : fake().memory_code) = CL_SUCCESS;
      fake().memory_object = false;
      CHECK(import(r, memory.fd(), 64, options(), KILN_ERROR_OPENCL) ==
            call + " reported success without a result");
    }
    CHECK(fake().live == 0);
  }
}

TEST_CASE("a hardware buffer is imported whole, and its size compared", "[import]") {
  reset_fake();
  fake().extensions = kArmHardwareBuffer;
  {
    Ready r;
    CHECK(import_hardware(r, 4096, options(KILN_HOST_CACHE_WRITEBACK)).empty());
    CHECK(fake().imported == &dma_buf);
    CHECK(fake().imported_size == SIZE_MAX);
    CHECK(fake().import_properties == Properties{0x40B2, 0x41E2});
    CHECK(import_hardware(r, 4097, options(), KILN_ERROR_ARGUMENT) ==
          "the hardware buffer has 4096 bytes, and 4097 are needed");
    CHECK(import_hardware(r, 0, options(), KILN_ERROR_ARGUMENT) == "a buffer has at least 1 byte");
  }
  CHECK(fake().live == 0);
  fake().extensions = kQcomHardwareBuffer;
  {
    Ready r;
    CHECK(import_hardware(r, 4096, options(KILN_HOST_CACHE_WRITEBACK)).empty());
    const auto host = host_pointer<runtime::HardwareBufferHostPtrQcom>();
    CHECK(host.head.allocation_type == 0x4119);
    CHECK(host.head.host_cache_policy == 0x40A5);
    CHECK(host.hardware_buffer == &dma_buf);
    CHECK(import_hardware(r, 64, options(KILN_HOST_CACHE_COHERENT), KILN_ERROR_REQUIREMENT) ==
          "the device has no cl_qcom_ext_host_ptr_iocoherent for coherent memory");
  }
  CHECK(fake().live == 0);
}

TEST_CASE("options of an import that make no sense are refused", "[import]") {
  reset_fake();
  fake().extensions = kArm;
  const DmaBuf memory;
  Ready r;
  const auto refused = [&](const kiln_import_options &wrong, const char *message) {
    CHECK(import(r, memory.fd(), 64, wrong, KILN_ERROR_ARGUMENT) == message);
  };
  const auto with_number = [](std::size_t place, int number) {
    kiln_import_options made = options();
    std::memcpy(reinterpret_cast<char *>(&made) + place, &number, sizeof(number));
    return made;
  };
  refused({0, KILN_ACCESS_READ, KILN_HOST_CACHE_NONE, nullptr},
          "kiln_import_options: size is not its sizeof");
  refused(with_number(offsetof(kiln_import_options, access), 3),
          "kiln_import_options: unknown access");
  refused(with_number(offsetof(kiln_import_options, host_cache), 3),
          "kiln_import_options: unknown host_cache");
  refused(with_number(offsetof(kiln_import_options, host_cache), -1),
          "kiln_import_options: unknown host_cache");
}

TEST_CASE("an imported buffer is an argument and maps like any other", "[import]") {
  reset_fake();
  fake().extensions = kArm;
  const DmaBuf memory;
  {
    Ready r;
    kiln_buffer *buffer = nullptr;
    const kiln_import_options how = options();
    void *address = nullptr;
    CHECK(kiln_buffer_from_dma_buf(r.load.loader, memory.fd(), 64, &how, &buffer, &r.error) ==
          KILN_OK);
    CHECK(kiln_kernel_set_buffer(r.kernel, 0, buffer, &r.error) == KILN_OK);
    CHECK(kiln_buffer_map(r.queue, buffer, &address, &r.error) == KILN_OK);
    CHECK(address != nullptr);
    CHECK(kiln_buffer_unmap(r.queue, buffer, &r.error) == KILN_OK);
    kiln_buffer_release(buffer);
  }
  CHECK(fake().live == 0);
}

TEST_CASE("Khronos's extension comes first, and gets a descriptor of its own", "[import]") {
  reset_fake();
  fake().extensions = std::string(kKhr) + " " + kArm + " " + kQcom;
  const DmaBuf memory;
  {
    Ready r;
    CHECK(import(r, memory.fd(), 8192, options(KILN_HOST_CACHE_COHERENT, nullptr)).empty());
    REQUIRE(fake().memory_properties.size() == 2);
    CHECK(fake().memory_properties[0] == 0x2067);
    const int own = static_cast<int>(fake().memory_properties[1]);
    CHECK(own != memory.fd());
    CHECK(fcntl(own, F_GETFD) == FD_CLOEXEC);  // the driver's from now on
    CHECK(fake().memory_flags == CL_MEM_READ_ONLY);
    close(own);
    fake().memory_object = false;
    CHECK(import(r, memory.fd(), 64, options(), KILN_ERROR_OPENCL) ==
          "clCreateBufferWithProperties reported success without a result");
    CHECK(fcntl(static_cast<int>(fake().memory_properties[1]), F_GETFD) == -1);
    CHECK(fcntl(memory.fd(), F_GETFD) >= 0);
  }
  fake().memory_object = true;
  fake().properties_functions = false;
  Ready without;
  CHECK(import(without, memory.fd(), 64, options(), KILN_ERROR_REQUIREMENT) ==
        "the driver has no clCreateBufferWithProperties");
}

TEST_CASE("Khronos's extension imports a hardware buffer as a buffer, whole", "[import]") {
  reset_fake();
  fake().extensions = std::string(kKhrHardwareBuffer) + " " + kArmHardwareBuffer;
  {
    Ready r;
    CHECK(import_hardware(r, 4096, options()).empty());
    CHECK(fake().memory_properties ==
          std::vector<cl_mem_properties>{0x2070, reinterpret_cast<std::uintptr_t>(&dma_buf)});
    CHECK(import_hardware(r, 4097, options(), KILN_ERROR_ARGUMENT) ==
          "the hardware buffer has 4096 bytes, and 4097 are needed");
  }
  CHECK(fake().live == 0);
}

TEST_CASE("a frame is an image whose size Khronos's driver knows itself", "[import]") {
  reset_fake();
  fake().extensions = std::string(kKhrHardwareBuffer) + " " + kQcomHardwareBuffer;
  fake().frame_width = 640;
  fake().frame_height = 480;
  {
    Ready r;
    CHECK(import_frame(r, KILN_PLANE_NONE, layout(640, 480, 4, 2816)).empty());
    CHECK(fake().memory_properties ==
          std::vector<cl_mem_properties>{0x2070, reinterpret_cast<std::uintptr_t>(&dma_buf)});
    CHECK(fake().memory_flags == CL_MEM_READ_ONLY);
    CHECK(fake().made_images.empty());
    CHECK(import_frame(r, KILN_PLANE_NONE, layout(480, 640, 4), KILN_ERROR_ARGUMENT) ==
          "the hardware buffer is an image of 640 x 480 pixels, not 480 x 640");
    // Planes go another way.
    CHECK(import_frame(r, KILN_PLANE_LUMA, layout(640, 480, 1), KILN_ERROR_REQUIREMENT) ==
          "the device has no cl_qcom_other_image for frames of two planes");
  }
  CHECK(fake().live == 0);
  fake().properties_functions = false;
  Ready without;
  CHECK(import_frame(without, KILN_PLANE_NONE, layout(640, 480, 4), KILN_ERROR_REQUIREMENT) ==
        "the driver has no clCreateImageWithProperties");
}

TEST_CASE("Arm's driver makes a frame or plane a buffer, and that an image", "[import]") {
  reset_fake();
  fake().extensions = std::string(kArmHardwareBuffer) + kFromBuffer;
  {
    Ready r;
    CHECK(import_frame(r, KILN_PLANE_NONE, layout(16, 8, 4, 128)).empty());
    CHECK(fake().import_properties == Properties{0x40B2, 0x41E2});
    CHECK(asked_for() == Asked{CL_RGBA, 16, 8, 128});
    CHECK(fake().made_images.back().flags == 0);
    CHECK(fake().made_images.back().description.mem_object != nullptr);
    CHECK(import_frame(r, KILN_PLANE_LUMA, layout(64, 32, 1)).empty());
    CHECK(fake().import_properties == Properties{0x40B2, 0x41E2, 0x41EF, 0});
    CHECK(asked_for() == Asked{CL_R, 64, 32, 64});
    CHECK(import_frame(r, KILN_PLANE_CHROMA, layout(32, 16, 2, 64)).empty());
    CHECK(fake().import_properties == Properties{0x40B2, 0x41E2, 0x41EF, 1});
    CHECK(asked_for() == Asked{CL_RG, 32, 16, 64});
    CHECK(import_frame(r, KILN_PLANE_NONE, layout(64, 32, 4), KILN_ERROR_ARGUMENT) ==
          "the image's rows, each of the row pitch, go beyond the buffer");
    fake().imports_images = true;
    CHECK(import_frame(r, KILN_PLANE_NONE, layout(64, 32, 4)).empty());
    CHECK(fake().made_images.empty());
  }
  CHECK(fake().live == 0);
}

TEST_CASE("Qualcomm's driver makes a frame an image, and its planes images of it", "[import]") {
  reset_fake();
  fake().extensions = std::string(kQcomHardwareBuffer) + " cl_qcom_other_image";
  {
    Ready r;
    CHECK(import_frame(r, KILN_PLANE_NONE, layout(16, 8, 4, 128), KILN_OK,
                       options(KILN_HOST_CACHE_WRITEBACK))
              .empty());
    CHECK(asked_for() == Asked{CL_RGBA, 16, 8, 128});
    CHECK(fake().made_images.back().flags ==
          (CL_MEM_READ_ONLY | CL_MEM_USE_HOST_PTR | cl_mem_flags{1 << 29}));
    const auto host = host_pointer<runtime::HardwareBufferHostPtrQcom>();
    CHECK(host.head.allocation_type == 0x4119);
    CHECK(host.head.host_cache_policy == 0x40A5);
    CHECK(host.hardware_buffer == &dma_buf);
    // Both planes are asked for with the size of the frame.
    kiln_import_options written = options();
    written.access = KILN_ACCESS_WRITE;
    CHECK(import_frame(r, KILN_PLANE_LUMA, layout(64, 32, 1), KILN_OK, written).empty());
    CHECK(asked_for(1) == Asked{0x4133, 64, 32, 0});
    CHECK(fake().made_images[0].flags ==
          (CL_MEM_READ_ONLY | CL_MEM_USE_HOST_PTR | cl_mem_flags{1 << 29}));
    CHECK(asked_for() == Asked{0x4134, 64, 32, 0});
    CHECK(fake().made_images[1].flags == CL_MEM_WRITE_ONLY);
    CHECK(fake().made_images[1].description.mem_object != nullptr);
    CHECK(import_frame(r, KILN_PLANE_CHROMA, layout(32, 16, 2)).empty());
    CHECK(asked_for(1) == Asked{0x4133, 64, 32, 0});
    CHECK(asked_for() == Asked{0x4135, 64, 32, 0});
    fake().memory_code = CL_INVALID_OPERATION;  // with an image
    CHECK(import_frame(r, KILN_PLANE_CHROMA, layout(32, 16, 2), KILN_ERROR_OPENCL) ==
          "clCreateImage with CL_MEM_EXT_HOST_PTR_QCOM returned CL_INVALID_OPERATION (-59)");
    CHECK(fake().made_images.size() == 1);
  }
  CHECK(fake().live == 0);
}

TEST_CASE("frames that make no sense are refused", "[import]") {
  reset_fake();
  fake().extensions = std::string(kArmHardwareBuffer) + kFromBuffer;
  Ready r;
  const auto refused = [&](kiln_plane plane, const kiln_image_layout &how, const char *message) {
    CHECK(import_frame(r, plane, how, KILN_ERROR_ARGUMENT) == message);
  };
  refused(KILN_PLANE_NONE, layout(4, 4, 3), "an image has 1, 2 or 4 channels, not 3");
  refused(KILN_PLANE_NONE, layout(0, 4, 4),
          "the image's width and height must not be 0 or out of range");
  refused(KILN_PLANE_NONE, layout(SIZE_MAX / 2, 4, 4),
          "the image's width and height must not be 0 or out of range");
  refused(KILN_PLANE_NONE, layout(4, 4, 4, 15), "the row pitch is less than a row of the image");
  refused(KILN_PLANE_NONE, layout(4, 4, 4, 16, 64), "a plane of a hardware buffer has no offset");
  refused(KILN_PLANE_LUMA, layout(4, 4, 2),
          "a plane of luma has 1 channel, and one of chroma has 2");
  kiln_image_layout wrong = layout(4, 4, 4);
  wrong.size = 0;
  refused(KILN_PLANE_NONE, wrong, "kiln_image_layout: size is not its sizeof");
  kiln_plane unknown = KILN_PLANE_NONE;
  const int three = 3;
  std::memcpy(&unknown, &three, sizeof(unknown));
  refused(unknown, layout(4, 4, 4), "unknown plane");
  CHECK(fake().import_properties.empty());
  fake().extensions = "";
  Ready without;
  CHECK(import_frame(without, KILN_PLANE_NONE, layout(4, 4, 4), KILN_ERROR_REQUIREMENT) ==
        "the device has none of cl_khr_external_memory_android_hardware_buffer, "
        "cl_arm_import_memory_android_hardware_buffer, cl_qcom_android_ahardwarebuffer_host_ptr");
}

TEST_CASE("an image over part of a buffer keeps the device's rules", "[import]") {
  reset_fake();
  fake().extensions = kFromBuffer;
  {
    Ready r;
    CHECK(image_of(r, layout(4, 4, 4)).empty());
    CHECK(asked_for() == Asked{CL_RGBA, 4, 4, 16});
    CHECK(fake().made_images.back().description.mem_object == kiln_buffer_cl(r.buffer));
    CHECK(image_of(r, layout(4, 2, 2, 16, 32)).empty());
    CHECK(asked_for() == Asked{CL_RG, 4, 2, 16});
    CHECK(fake().made_part.origin == 32);
    CHECK(fake().made_images.back().description.mem_object != kiln_buffer_cl(r.buffer));
    CHECK(fake().made_part.size == 32);
    const auto refused = [&](const kiln_image_layout &how, const char *message) {
      CHECK(image_of(r, how, KILN_ERROR_ARGUMENT) == message);
      CHECK(fake().made_images.empty());
    };
    refused(layout(4, 5, 4), "the image's rows, each of the row pitch, go beyond the buffer");
    refused(layout(4, 4, 4, 16, 16),
            "the image's rows, each of the row pitch, go beyond the buffer");
    refused(layout(1, 1, 1, 1, 65),
            "the image's rows, each of the row pitch, go beyond the buffer");
    refused(layout(1, SIZE_MAX, 1),
            "the image's rows, each of the row pitch, go beyond the buffer");
    fake().pitch_alignment = 8;
    refused(layout(4, 2, 2, 24), "the row pitch must be a multiple of 16 bytes on this device");
    CHECK(image_of(r, layout(4, 2, 2, 32)).empty());
    fake().base_alignment = 8;
    refused(layout(4, 1, 2, 16, 24), "the offset must be a multiple of 16 bytes on this device");
    CHECK(image_of(r, layout(4, 1, 2, 16, 16)).empty());
    fake().part_alignment = 256;
    refused(layout(4, 1, 2, 16, 16), "the offset must be a multiple of 32 bytes on this device");
    CHECK(image_of(r, layout(4, 1, 2, 16, 32)).empty());
  }
  CHECK(fake().live == 0);
  fake().extensions = "";
  Ready without;
  CHECK(image_of(without, layout(4, 4, 4), KILN_ERROR_REQUIREMENT) ==
        "the device has no cl_khr_image2d_from_buffer");
}

TEST_CASE("imported memory is acquired and released, other memory only waits", "[import]") {
  reset_fake();
  fake().extensions = std::string(kKhr) + kFromBuffer;
  const DmaBuf memory;
  {
    Ready r;
    const kiln_import_options how = options();
    kiln_buffer *buffer = nullptr;
    REQUIRE(kiln_buffer_from_dma_buf(r.load.loader, memory.fd(), 64, &how, &buffer, &r.error) ==
            KILN_OK);
    close(static_cast<int>(fake().memory_properties.at(1)));
    const cl_mem imported = kiln_buffer_cl(buffer);
    CHECK(kiln_buffer_acquire_external(r.queue, buffer, nullptr, 0, nullptr, &r.error) == KILN_OK);
    CHECK(fake().exchanged_memory == imported);
    // An image of it, by the buffer, which may be released before.
    const kiln_image_layout plane = layout(4, 4, 1);
    kiln_image *image = nullptr;
    REQUIRE(kiln_image_from_buffer(buffer, &plane, &image, &r.error) == KILN_OK);
    kiln_buffer_release(buffer);
    kiln_event *done = nullptr;
    CHECK(kiln_image_acquire_external(r.queue, image, nullptr, 0, &done, &r.error) == KILN_OK);
    CHECK(fake().exchanged_memory == imported);
    REQUIRE(done != nullptr);
    CHECK(kiln_image_release_external(r.queue, image, &done, 1, nullptr, &r.error) == KILN_OK);
    CHECK(fake().waited_for == 1);
    CHECK(fake().exchanged == std::vector<std::string>{"acquire", "acquire", "release"});
    kiln_event_release(done);
    fake().exchange_code = CL_INVALID_OPERATION;
    CHECK(kiln_image_release_external(r.queue, image, nullptr, 0, nullptr, &r.error) ==
          KILN_ERROR_OPENCL);
    CHECK(r.message() ==
          "clEnqueueReleaseExternalMemObjectsKHR returned CL_INVALID_OPERATION (-59)");
    kiln_image_release(image);
    fake().exchange_code = CL_SUCCESS;
    fake().exchanged.clear();
    CHECK(kiln_buffer_release_external(r.queue, r.buffer, nullptr, 0, nullptr, &r.error) ==
          KILN_OK);
    CHECK(fake().exchanged == std::vector<std::string>{"marker"});
  }
  CHECK(fake().live == 0);
}

TEST_CASE("a driver without the calls to acquire is an error", "[import]") {
  reset_fake();
  fake().extensions = kKhrHardwareBuffer;
  Ready r;
  const kiln_image_layout how = layout(4, 2, 4);
  const kiln_import_options with = options();
  kiln_image *image = nullptr;
  REQUIRE(kiln_image_from_hardware_buffer(r.load.loader, &dma_buf, KILN_PLANE_NONE, &how, &with,
                                          &image, &r.error) == KILN_OK);
  fake().recording_functions = false;
  CHECK(kiln_image_acquire_external(r.queue, image, nullptr, 0, nullptr, &r.error) ==
        KILN_ERROR_REQUIREMENT);
  CHECK(r.message() == "the driver has no clEnqueueAcquireExternalMemObjectsKHR");
  kiln_image_release(image);
}
