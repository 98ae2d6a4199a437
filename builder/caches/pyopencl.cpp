// SPDX-License-Identifier: Apache-2.0
// Makes the key and the files of a folder as the Python code of PyOpenCL does.
#include "builder/caches/pyopencl.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "runtime/source/whole_program.hpp"

namespace kiln::builder {
namespace {

namespace fs = std::filesystem;
using runtime::Field;

constexpr char kPyopenclVersion[] = "(2022, 3, 1)";
constexpr std::string_view kAddedConstant = "\n\n__constant int pyopencl_defeat_cache_";
constexpr std::string_view kAddedEnd = " = 0;";
constexpr std::size_t kAddedDigits = 32;
constexpr std::size_t kKeyDigits = 32;

// Replaces each byte outside ASCII with a question mark, so that the text is UTF-8.
std::string ascii(std::string text) {
  for (char &c : text) {
    if (static_cast<unsigned char>(c) >= 0x80) c = '?';
  }
  return text;
}

// Pickles a string.
std::string pickled(const std::string &text) {
  std::string out = "X";
  append_u32(static_cast<std::uint32_t>(text.size()), &out);
  return out + text;
}

class PyopenclCache : public ApplicationCache {
 public:
  PyopenclCache(std::string folder, std::string include, const std::string &learn)
      : folder_(std::move(folder)), include_(std::move(include)) {
    add_known(folder_);
    if (!learn.empty()) add_known(learn);
  }

  Result<std::string> store(const CachedProgram &program, const runtime::Facts &device,
                            packs::View binary, const std::string &build_log) override {
    auto own = own_program(program);
    if (!own.ok()) return own.status();
    if (own->info.empty()) own->info = pyopencl_info(build_log);
    const auto key = pyopencl_key({own->source, program.options}, device, include_);
    if (!key.ok()) return key;
    const std::string binary_name = *key + "/binary";
    if (fs::is_directory(folder_ + "/" + *key)) {
      Status s = write_cache_file(folder_ + "/" + binary_name, text_of(binary));
      if (!s.ok()) return s;
      return binary_name;
    }
    // PyOpenCL empties a folder in which a file is missing, so it must not see a half-made folder.
    const std::string made = folder_ + "/.kiln-" + *key;
    Status s = write_all(made, *own, binary);
    std::error_code error;
    if (s.ok()) fs::rename(made, folder_ + "/" + *key, error);
    if (error) s = {Code::io_error, folder_ + "/" + *key + ": " + error.message()};
    if (s.ok()) return binary_name;
    fs::remove_all(made, error);
    return s;
  }

  Result<packs::Bytes> find(const CachedProgram &program, const runtime::Facts &device) override {
    const auto own = own_program(program);
    if (!own.ok()) return own.status();
    const auto key = pyopencl_key({own->source, program.options}, device, include_);
    if (!key.ok()) return key.status();
    const std::string place = folder_ + "/" + *key;
    const auto source = read_cache_file(place + "/source.cl");
    if (!source.ok()) return source.status();
    if (pyopencl_source({source->begin(), source->end()}) != own->source) {
      return Status(Code::bad_input, *key + "/source.cl: it is of another source");
    }
    return read_cache_file(place + "/binary");
  }

 private:
  struct OwnProgram {
    std::string source;
    std::string info;  // contents of the file `info`, with digests of included files; may be empty
  };

  static Status write_all(const std::string &folder, const OwnProgram &program,
                          packs::View binary) {
    Status s = write_cache_file(folder + "/source.cl", program.source);
    if (s.ok()) s = write_cache_file(folder + "/binary", text_of(binary));
    if (s.ok()) s = write_cache_file(folder + "/info", program.info);
    return s;
  }

  // Adds the programs that a PyOpenCL has cached, for any device.
  void add_known(const std::string &cache) {
    for (const std::string &name : names_in(cache)) {
      if (!is_hex(name, kKeyDigits)) continue;
      const auto source = read_cache_file(cache + "/" + name + "/source.cl");
      const auto info = read_cache_file(cache + "/" + name + "/info");
      if (!source.ok() || !info.ok()) continue;
      known_.push_back({pyopencl_source({source->begin(), source->end()}),
                        std::string(info->begin(), info->end())});
    }
  }

  // Returns the program as the application wrote it. If the pack's source includes files, this is
  // the known program from which the layer would have recorded the same source with the headers of
  // this machine.
  Result<OwnProgram> own_program(const CachedProgram &program) const {
    auto own = own_text(program.source);
    if (own.ok()) return OwnProgram{pyopencl_source(*own), {}};
    const std::string options = pyopencl_options(program.options, include_);
    for (const OwnProgram &known : known_) {
      const auto whole = source::whole_program(known.source, options);
      if (whole.ok() && whole->source == program.source) return known;
    }
    return own.status();
  }

  std::string folder_;
  std::string include_;
  std::vector<OwnProgram> known_;
};

}  // namespace

std::string pyopencl_source(const std::string &source) {
  const std::size_t added = kAddedConstant.size() + kAddedDigits + kAddedEnd.size();
  if (source.size() < added) return source;
  const std::string_view tail = std::string_view(source).substr(source.size() - added);
  const std::string_view digits = tail.substr(kAddedConstant.size(), kAddedDigits);
  const bool is_added =
      tail.starts_with(kAddedConstant) && tail.ends_with(kAddedEnd) && is_hex(digits, kAddedDigits);
  return is_added ? source.substr(0, source.size() - added) : source;
}

std::string pyopencl_options(const std::string &options, const std::string &include) {
  const char *between = options.empty() || options.ends_with(' ') ? "" : " ";
  const char *quote = include.find(' ') == std::string::npos ? "" : "\"";
  return fmt::format("{}{}-I {}{}{}", options, between, quote, include, quote);
}

std::optional<std::string> python_literal(const std::string &text) {
  const bool single = text.find('\'') == std::string::npos || text.find('"') != std::string::npos;
  const char quote = single ? '\'' : '"';
  std::string out(1, quote);
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80) return std::nullopt;
    if (c == '\n' || c == '\r' || c == '\t') {
      out += c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      if (c == quote || c == '\\') out += '\\';
      out += c;
    }
  }
  return out + quote;
}

Result<std::string> pyopencl_key(const CachedProgram &program, const runtime::Facts &device,
                                 const std::string &include) {
  const auto strings =
      device_strings(device, {Field::platform_vendor, Field::platform_name, Field::platform_version,
                              Field::device_vendor, Field::device_name, Field::device_version,
                              Field::driver_version});
  if (!strings.ok()) return strings.status();
  // The text of a Python tuple.
  std::string id = std::string("(") + kPyopenclVersion;
  for (const std::string &value : *strings) {
    const auto literal = python_literal(value);
    if (!literal) {
      return Status(Code::requirement, "how Python writes \"" + value + "\" is not certain");
    }
    id += ", " + *literal;
  }
  return md5_hex(program.source + pyopencl_options(program.options, include) + id + ")");
}

std::string pyopencl_info(const std::string &log) {
  // Protocol 2: an object of a class, made without arguments, with a dictionary as its state.
  std::string out = "\x80\x02";
  out += "cpyopencl.cache\n_SourceInfo\n)\x81";
  out += "}(" + pickled("dependencies") + "]" + pickled("log") + pickled(ascii(log)) + "u";
  return out + "b.";
}

std::unique_ptr<ApplicationCache> open_pyopencl_cache(const std::string &folder,
                                                      const std::string &include,
                                                      const std::string &learn) {
  return std::make_unique<PyopenclCache>(folder, include.empty() ? kPyopenclInclude : include,
                                         learn);
}

}  // namespace kiln::builder
