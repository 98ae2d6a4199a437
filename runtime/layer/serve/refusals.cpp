// SPDX-License-Identifier: Apache-2.0
// Keeps a refusal's answers as texts that each end with a zero: one that was cut is not used.
#include "runtime/layer/serve/refusals.hpp"

#include <cstdlib>

#include "kiln/packs/bytes.hpp"
#include "runtime/layer/base/build_report.hpp"
#include "runtime/layer/base/settings.hpp"
#include "runtime/opencl/query.hpp"

namespace kiln::layer {

RefusableCall::RefusableCall(const ProgramPointer &program, const WholeProgram *whole,
                             const Options &options, const Devices &devices, cl_int code)
    : program_(program), devices_(devices), refused_(code) {
  const bool is_remembered = whole != nullptr && !whole->may_be_missing && !settings().record &&
                             !settings().overlay.empty() && devices.size() == 1 &&
                             !program->native && objects().stand_in_of(program->handle) == nullptr;
  if (!is_remembered) return;
  persistence_ = persistence_of(devices[0]);
  name_ = whole->name;
  // The log may show the application's text and the folders of -I, which the name leaves out.
  task_.id = packs::xxh3(
      packs::concat({name_, "\n", packs::decimal(static_cast<unsigned>(-code)),
                     options.is_null ? " NULL\n" : "\n", options.text, "\n", program->source}));
}

RefusalPointer RefusableCall::find() const {
  if (persistence_ == nullptr) return nullptr;
  const runtime::Checked checked = persistence_->check(task_, {});
  std::string_view rest = checked.log;
  std::string texts[4];
  for (std::string &text : texts) {
    const std::size_t end = rest.find('\0');
    if (end == std::string_view::npos) return nullptr;
    text = rest.substr(0, end);
    rest.remove_prefix(end + 1);
  }
  auto &[name, type, options, log] = texts;
  if (name != name_) return nullptr;
  return std::make_shared<Refusal>(
      Refusal{std::move(log),
              {std::move(options)},
              devices_,
              static_cast<cl_program_binary_type>(std::strtoul(type.c_str(), nullptr, 10))});
}

void RefusableCall::note(cl_int code) const {
  if (persistence_ == nullptr || code != refused_) return;
  const auto ask = [this](cl_program_build_info what, std::size_t room, void *out,
                          std::size_t *size) {
    return next.clGetProgramBuildInfo(program_->handle, devices_[0], what, room, out, size);
  };
  const auto text_of = [&](cl_program_build_info what) {
    return runtime::query_text([&](std::size_t room, void *out, std::size_t *size) {
             return ask(what, room, out, size);
           })
        .value_or("");
  };
  const std::string log = text_of(CL_PROGRAM_BUILD_LOG);
  if (log.empty()) return;
  cl_program_binary_type type = CL_PROGRAM_BINARY_TYPE_NONE;  // stays if the driver is too old
  (void)ask(CL_PROGRAM_BINARY_TYPE, sizeof(type), &type, nullptr);
  constexpr std::string_view kEnd("\0", 1);
  persistence_->record(task_, runtime::Event::refused,
                       packs::concat({kRefused, "\n", name_, kEnd, packs::decimal(type), kEnd,
                                      text_of(CL_PROGRAM_BUILD_OPTIONS), kEnd, log, kEnd}));
}

}  // namespace kiln::layer
