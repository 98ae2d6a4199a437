// SPDX-License-Identifier: Apache-2.0
// Follows kernels, their arguments and references to see which launches are new, and writes a new
// launch as a line.
#include "runtime/layer/record/launches.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "kiln/packs/contents.hpp"
#include "kiln/packs/text.hpp"
#include "runtime/opencl/query.hpp"
#include "runtime/text/json.hpp"

namespace kiln::layer {

namespace {

// PoCL generates different code from this size on, in x or y.
constexpr std::size_t kWide = 65'535;

std::string triple(const std::size_t (&of)[3]) {
  using packs::decimal;
  return packs::concat({"[", decimal(of[0]), ",", decimal(of[1]), ",", decimal(of[2]), "]"});
}

// Without a local size, the driver chooses one by the range.
bool is_sized(const Range &range) { return range.local[0] != 0; }

std::string global_text(const Range &range) { return ",\"global\":" + triple(range.global); }

const char *word(bool value) { return value ? "true" : "false"; }

std::string unknown(const char *what) { return packs::concat({"{\"unknown\":\"", what, "\"}"}); }

std::string named(const char *name, std::size_t size) {
  return packs::concat({"{\"", name, "\":", packs::decimal(size), "}"});
}

template <typename T>
std::size_t of_image(cl_mem memory, cl_image_info what) {
  T value{};
  next.clGetImageInfo(memory, what, sizeof(value), &value, nullptr);
  return static_cast<std::size_t>(value);
}

std::string image_text(cl_mem memory, cl_mem_object_type type) {
  using packs::decimal;
  cl_image_format format{};
  next.clGetImageInfo(memory, CL_IMAGE_FORMAT, sizeof(format), &format, nullptr);
  return packs::concat(
      {"{\"image\":{\"type\":", decimal(type), ",\"order\":", decimal(format.image_channel_order),
       ",\"data_type\":", decimal(format.image_channel_data_type),
       ",\"width\":", decimal(of_image<std::size_t>(memory, CL_IMAGE_WIDTH)),
       ",\"height\":", decimal(of_image<std::size_t>(memory, CL_IMAGE_HEIGHT)),
       ",\"depth\":", decimal(of_image<std::size_t>(memory, CL_IMAGE_DEPTH)),
       ",\"layers\":", decimal(of_image<std::size_t>(memory, CL_IMAGE_ARRAY_SIZE)), "}}"});
}

std::string memory_text(const SetArgument &argument) {
  cl_mem memory = nullptr;
  std::memcpy(&memory, argument.bytes.data(), sizeof(memory));
  cl_mem_object_type type = 0;
  std::size_t size = 0;
  if (next.clGetMemObjectInfo(memory, CL_MEM_TYPE, sizeof(type), &type, nullptr) != CL_SUCCESS ||
      next.clGetMemObjectInfo(memory, CL_MEM_SIZE, sizeof(size), &size, nullptr) != CL_SUCCESS) {
    return unknown("a memory object that the driver does not describe");
  }
  if (type == CL_MEM_OBJECT_BUFFER) return named("buffer", size);
  if (type == CL_MEM_OBJECT_PIPE) return unknown("a pipe");
  return image_text(memory, type);
}

// Begins as an argument that was not recorded, for readers that know no samplers.
std::string sampler_text(const SetArgument &argument) {
  using packs::decimal;
  cl_sampler sampler = nullptr;
  std::memcpy(&sampler, argument.bytes.data(), sizeof(sampler));
  cl_bool normalized = CL_FALSE;
  cl_addressing_mode addressing = 0;
  cl_filter_mode filter = 0;
  const auto ask = [&](cl_sampler_info what, auto *value) {
    return next.clGetSamplerInfo(sampler, what, sizeof(*value), value, nullptr) == CL_SUCCESS;
  };
  if (!ask(CL_SAMPLER_NORMALIZED_COORDS, &normalized) ||
      !ask(CL_SAMPLER_ADDRESSING_MODE, &addressing) || !ask(CL_SAMPLER_FILTER_MODE, &filter)) {
    return unknown("a sampler");
  }
  return packs::concat(
      {"{\"unknown\":\"a sampler\",\"sampler\":{\"normalized\":", word(normalized != CL_FALSE),
       ",\"addressing\":", decimal(addressing), ",\"filter\":", decimal(filter), "}}"});
}

std::string value_text(const SetArgument &argument) {
  std::string text = "{\"value\":[";
  for (const char byte : argument.bytes) {
    if (text.back() != '[') text += ',';
    text += packs::decimal(static_cast<std::uint8_t>(byte));
  }
  return text + "]}";
}

// Returns nothing if the driver does not report it: some need -cl-kernel-arg-info.
std::optional<cl_kernel_arg_address_qualifier> place_of(cl_kernel kernel, cl_uint index) {
  cl_kernel_arg_address_qualifier where = 0;
  const cl_int code = next.clGetKernelArgInfo(kernel, index, CL_KERNEL_ARG_ADDRESS_QUALIFIER,
                                              sizeof(where), &where, nullptr);
  return code == CL_SUCCESS ? std::optional(where) : std::nullopt;
}

// Returns whether the driver reports the argument as an object.
bool is_object(cl_kernel kernel, cl_uint index) {
  const auto where = place_of(kernel, index);
  char type[128]{};
  (void)next.clGetKernelArgInfo(kernel, index, CL_KERNEL_ARG_TYPE_NAME, sizeof(type) - 1, type,
                                nullptr);
  const std::string_view name = type;
  return (where && *where != CL_KERNEL_ARG_ADDRESS_PRIVATE) || name.substr(0, 5) == "image" ||
         name == "sampler_t" || name == "queue_t";
}

// Describes a null argument: local memory, or no memory object. If the driver does not tell them
// apart, the size does.
std::string null_text(cl_kernel kernel, cl_uint index, std::size_t size) {
  const auto where = place_of(kernel, index);
  const bool is_local = where ? *where == CL_KERNEL_ARG_ADDRESS_LOCAL : size != sizeof(cl_mem);
  return is_local ? named("local", size) : named("buffer", 0);
}

std::string argument_text(cl_kernel kernel, cl_uint index, const SetArgument &argument) {
  switch (argument.kind) {
    case SetArgument::Kind::not_set: return unknown("not set");
    case SetArgument::Kind::memory: return memory_text(argument);
    case SetArgument::Kind::sampler: return sampler_text(argument);
    case SetArgument::Kind::shared_memory:
      // A buffer is passed as a pointer, too, and repeats the launch.
      return argument.size != 0 ? named("buffer", argument.size) : unknown("shared virtual memory");
    default: break;
  }
  if (argument.is_null) return null_text(kernel, index, argument.size);
  const bool is_zero = std::all_of(argument.bytes.begin(), argument.bytes.end(),
                                   [](const char byte) { return byte == 0; });
  if (!is_zero && argument.size == sizeof(void *) && is_object(kernel, index)) {
    return unknown("an object that was not seen to be made");
  }
  return value_text(argument);
}

using Lock = std::lock_guard<std::mutex>;

cl_uint argument_count(cl_kernel kernel) {
  cl_uint count = 0;
  next.clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof(count), &count, nullptr);
  return count;
}

// Returns the beginning of the line: the properties for which compilers may generate different
// code. One launch for each beginning is enough.
std::string launch_kind(const std::string &kernel, const Range &range) {
  const bool wide = std::max(range.global[0], range.global[1]) >= kWide;
  const bool moved = std::any_of(range.offset, range.offset + 3, [](auto at) { return at != 0; });
  std::string text = "{\"kernel\":";
  runtime::append_json(kernel, &text);
  text = packs::concat({text, ",\"dimensions\":", packs::decimal(range.dimensions), ",\"local\":",
                        triple(range.local), ",\"wide\":", word(wide), ",\"moved\":", word(moved)});
  return is_sized(range) ? text : text + global_text(range);
}

// Returns the whole line, without its line end. Asks the driver for the sizes of memory objects,
// which the application has not released yet, and whether a null pointer is local memory.
std::string launch_text(const std::string &kind, cl_kernel kernel, const Range &range,
                        const std::vector<SetArgument> &arguments) {
  std::string text = packs::concat({kind, is_sized(range) ? global_text(range) : "",
                                    ",\"offset\":", triple(range.offset), ",\"arguments\":["});
  for (cl_uint i = 0; i < arguments.size(); ++i) {
    text += (i == 0 ? "" : ",") + argument_text(kernel, i, arguments[i]);
  }
  return text + "]}";
}

}  // namespace

std::string kernel_name(cl_kernel kernel) {
  return runtime::query_text([&](std::size_t room, void *out, std::size_t *size) {
           return next.clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, room, out, size);
         })
      .value_or("");
}

bool has_kind(const std::string &text, const std::string &kind) {
  return text.compare(0, kind.size(), kind) == 0 || text.find("\n" + kind) != std::string::npos;
}

void Launches::set_program(cl_program program, const std::string &file, const std::string &lines) {
  const Lock lock(mutex_);
  if (file.empty()) {
    programs_.erase(program);
  } else {
    programs_[program] = {file, lines};
    has_files_ = true;
  }
}

bool Launches::add_launch(cl_program program, const std::string &line) {
  const Lock lock(mutex_);
  const auto found = programs_.find(program);
  if (found == programs_.end()) return false;
  std::string &known = found->second.lines;
  std::string united = packs::united_launches(known, line);
  if (united == known || united.size() < known.size() + line.size()) return false;
  known = std::move(united);
  return true;
}

// Calls the driver outside the lock: it may call back into this class.
void Launches::add_kernel(cl_kernel kernel, cl_program program) {
  if (is_idle()) return;
  Watched watched{program, kernel_name(kernel), {}};
  watched.arguments.resize(argument_count(kernel));
  const Lock lock(mutex_);
  if (programs_.count(program) == 0) return kernels_.forget(kernel);
  kernels_.add(kernel, std::move(watched));
}

void Launches::add_clone(cl_kernel clone, cl_kernel of) {
  const Lock lock(mutex_);
  kernels_.add_clone(clone, of);
}

void Launches::retain(cl_kernel kernel) {
  const Lock lock(mutex_);
  kernels_.retain(kernel);
}

void Launches::release(cl_kernel kernel) {
  const Lock lock(mutex_);
  kernels_.release(kernel);
}

void Launches::add_object(const void *handle, SetArgument::Kind kind) {
  const Lock lock(mutex_);
  objects_.add(handle, kind);
}

void Launches::retain_object(const void *handle) {
  const Lock lock(mutex_);
  objects_.retain(handle);
}

void Launches::release_object(const void *handle) {
  const Lock lock(mutex_);
  objects_.release(handle);
}

void Launches::add_shared(const void *memory, std::size_t size) {
  const Lock lock(mutex_);
  shared_[static_cast<const char *>(memory)] = size;
}

void Launches::remove_shared(const void *memory) {
  const Lock lock(mutex_);
  shared_.erase(static_cast<const char *>(memory));
}

std::size_t Launches::shared_behind(const void *pointer) {
  const auto *at = static_cast<const char *>(pointer);
  const Lock lock(mutex_);
  auto found = shared_.upper_bound(at);
  if (found == shared_.begin()) return 0;
  --found;
  const auto offset = static_cast<std::size_t>(at - found->first);
  return offset < found->second ? found->second - offset : 0;
}

// Returns the arguments, with the kinds of known objects filled in.
std::vector<SetArgument> Launches::resolved(const Watched &watched) const {
  std::vector<SetArgument> arguments = watched.arguments;
  for (SetArgument &argument : arguments) {
    const void *handle = nullptr;
    if (argument.bytes.size() != sizeof(handle)) continue;
    std::memcpy(&handle, argument.bytes.data(), sizeof(handle));
    if (const SetArgument::Kind *kind = objects_.find(handle)) argument.kind = *kind;
  }
  return arguments;
}

void Launches::set_argument(cl_kernel kernel, cl_uint index, SetArgument argument) {
  const Lock lock(mutex_);
  Watched *watched = kernels_.find(kernel);
  if (watched == nullptr || index >= watched->arguments.size()) return;
  watched->arguments[index] = std::move(argument);
}

std::optional<Launches::Fresh> Launches::see(cl_kernel kernel, const Range &range) {
  Fresh fresh;
  std::vector<SetArgument> arguments;
  {
    const Lock lock(mutex_);
    const Watched *found = kernels_.find(kernel);
    if (found == nullptr) return std::nullopt;
    const Watched &watched = *found;
    const auto known = programs_.find(watched.program);
    if (known == programs_.end()) return std::nullopt;
    fresh = {watched.program, known->second.file, watched.name, launch_kind(watched.name, range),
             ""};
    if (has_kind(known->second.lines, fresh.kind) ||
        !seen_.insert(fresh.file + fresh.kind).second) {
      return std::nullopt;
    }
    arguments = resolved(watched);
  }
  fresh.text = launch_text(fresh.kind, kernel, range, arguments);
  return fresh;
}

void Launches::forget(const Fresh &launch) {
  const Lock lock(mutex_);
  seen_.erase(launch.file + launch.kind);
}

Launches &launches() {
  static Launches &all = *new Launches;
  return all;
}

}  // namespace kiln::layer
