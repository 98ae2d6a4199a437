// SPDX-License-Identifier: Apache-2.0
// Draws calls that make sense one after the other, and some that do not.
#include "tests/layer/cases/sequence.hpp"

#include <algorithm>
#include <sstream>

#include "tests/source/random.hpp"

namespace kiln::cases {
namespace {

// Results that options change: denormals, order of additions, comparisons with NaN, macros.
constexpr char kShow[] =
    "  out[0] = as_int(in[0] * 0.125f);\n"
    "  out[1] = as_int((in[1] + in[2]) - in[1]);\n"
    "  out[2] = (in[3] != in[3]) + 2 * isnan(in[3]);\n"
    "  out[3] = VALUE;\n"
    "  out[4] = __OPENCL_C_VERSION__;\n"
    "  out[5] = __LINE__;\n"
    "#ifdef __FAST_RELAXED_MATH__\n  out[6] = 1;\n#endif\n"
    "  out[7] = sizeof(1.0);\n"
    "  out[8] = as_int(in[4] / in[5]);\n"
    "  out[9] = as_int(in[4] * in[5] + in[6]);\n";
constexpr char kValue[] = "#ifndef VALUE\n#define VALUE 2\n#endif\n";
constexpr char kSized[] =
    "kernel __attribute__((reqd_work_group_size(VALUE, 1, 1)))\n"
    "void w(global const float *in, global int *out, int n) {\n"
    "  if (get_global_id(0) == 0) out[3] = n + VALUE;\n}\n";

std::string whole(const std::string &before, const std::string &more) {
  return before + kValue +
         "kernel void k(global const float *in, global int *out, int n) {\n"
         "  if (get_global_id(0) != 0) return;\n" +
         kShow + more + "  out[10] = n;\n}\n" + kSized;
}

std::string called(const std::string &more) {
  return std::string(kValue) + "void part(global const float *in, global int *out) {\n" + kShow +
         more + "}\n";
}

const std::vector<std::string> kOptions = {
    "",
    "NULL",
    "-DVALUE=3",
    "-D VALUE=4 ",
    "-cl-denorms-are-zero",
    "-cl-fast-relaxed-math",
    "-cl-finite-math-only",
    "-cl-unsafe-math-optimizations",
    "-cl-mad-enable",
    "-cl-opt-disable",
    "-cl-std=CL1.1",
    "-cl-std=CL1.2",
    "-cl-single-precision-constant",
    "-cl-kernel-arg-info",
    "-cl-fp32-correctly-rounded-divide-sqrt",
    "-cl-no-signed-zeros",
    "-w",
    "-DVALUE=3 -UVALUE",
    "-cl-uniform-work-group-size",
    "-not-an-option",
    "-DVALUE=no_name",
    "-I .",
};
const std::vector<std::string> kLinkOptions = {"",
                                               "NULL",
                                               "-cl-denorms-are-zero",
                                               "-cl-fast-relaxed-math",
                                               "-cl-unsafe-math-optimizations",
                                               "-cl-finite-math-only",
                                               "-cl-no-signed-zeroes",
                                               "-create-library",
                                               "-create-library -enable-link-options",
                                               "-DVALUE=3",
                                               "-cl-opt-disable"};

// Small numbers are drawn more often, so that sequences meet.
unsigned low(Random *random, std::size_t limit) {
  return static_cast<unsigned>(std::min(random->below(limit), random->below(limit)));
}

std::string option(Random *random) {
  std::string made = random->pick(kOptions);
  if (made != "NULL" && random->chance(25)) {
    const std::string more = random->pick(kOptions);
    if (more != "NULL") made += " " + more;
  }
  return made;
}

}  // namespace

Vocabulary vocabulary(std::uint64_t block, const std::string &driver) {
  Random random(block * 2 + 1);
  const std::string number = std::to_string(random.below(100));
  Vocabulary made;
  made.texts = {
      whole("", ""),
      whole("", "  out[11] = " + number + ";\n"),
      whole("\n#pragma OPENCL FP_CONTRACT OFF\n", "  out[11] = get_local_size(0);\n"),
      "void part(global const float *in, global int *out);\n"
      "kernel void k(global const float *in, global int *out, int n) {\n"
      "  if (get_global_id(0) == 0) { part(in, out); out[10] = n; }\n}\n",
      called(""),
      called("  out[11] = " + number + ";\n"),
      whole("#include \"h.h\"\n", ""),
      random.chance(50) ? "kernel void k(int n) { not a kernel }\n" : "int nothing;\n",
      whole("", "  out[11] = __FILE__[0];\n"),
      "#define VALUE 5\n",
      "\n#define VALUE " + number + "\n",
  };
  made.options = {random.chance(50) ? "" : "NULL"};
  while (made.options.size() < 4) made.options.push_back(option(&random));
  made.link_options = {random.chance(50) ? "" : "NULL", random.pick(kLinkOptions),
                       random.pick(kLinkOptions)};
  // H3: what both kinds of calls take.
  if (random.chance(50)) made.options[1] = "-cl-denorms-are-zero";
  if (driver == "rusticl") {  // answers otherwise to each repetition
    for (std::string &text : made.options) {
      if (text.find("-not-an") != std::string::npos) text = "";
    }
  }
  return made;
}

Environment environment(std::uint64_t block, const std::string &driver) {
  Random random(block * 2);
  Environment made;
  if (block % 4 != 1) return made;
  if (driver == "pocl") {
    made.names = {"POCL_EXTRA_BUILD_FLAGS", "POCL_WORK_GROUP_METHOD", "POCL_MAX_WORK_GROUP_SIZE"};
    made.values = {"-DVALUE=7", "loops", "2"};
  } else if (driver == "rusticl") {
    made.names = {"CLC_DEBUG", "RUSTICL_CL_VERSION", "MESA_SPIRV_FORCE_UNSTRUCTURED"};
    made.values = {"verbose", "2.0", "true"};
  } else {
    made.names = {"InjectInternalBuildOptions", "DisableStatelessToStatefulOptimization"};
    made.values = {"-DVALUE=7", "1"};
  }
  const std::size_t swapped = random.below(made.names.size());
  std::swap(made.names[0], made.names[swapped]);
  std::swap(made.values[0], made.values[swapped]);
  made.first = random.chance(50);
  made.second = random.chance(30);
  made.builder = random.chance(50);
  return made;
}

Sequence sequence(std::uint64_t seed, const std::string &driver) {
  Random random(seed * 0x9e37 + 17);
  const Environment variables = environment(seed / kBlock, driver);
  Sequence made;
  const auto any = [&](unsigned limit) { return static_cast<unsigned>(random.below(limit)); };
  const auto add = [&](Op op, unsigned a, unsigned b = 0, unsigned c = 0, unsigned d = 0) {
    made.push_back({op, a, b, c, d});
  };
  const auto rare = [&](unsigned limit, unsigned percent) {
    return random.chance(percent) ? any(limit) : 0;
  };
  const unsigned context = rare(6, 40);
  const auto create = [&](unsigned slot, unsigned text) {
    add(Op::create, slot, text, random.chance(95) ? context : any(6), rare(4, 30));
  };
  const auto manner = [&] { return rare(10, 20); };
  const auto kernel = [&](unsigned slot, unsigned program) {
    add(Op::kernel, slot, program, rare(4, 30));
    if (random.chance(60)) add(Op::launch, slot, any(4));
    if (random.chance(30)) add(Op::kernel_queries, slot);
  };
  const unsigned stories = 1 + any(3);
  for (unsigned i = 0; i < stories; ++i) {
    const unsigned slot = any(kPrograms), other = any(kPrograms), third = any(kPrograms);
    if (variables.any() && random.chance(70)) {
      const auto name = low(&random, variables.names.size());
      add(random.chance(50) ? Op::set_variable : Op::unset_variable, name);
      if (random.chance(30)) add(Op::context, 0);
    }
    switch (any(8)) {
      case 0:
      case 1:
      case 2: {  // a build, and perhaps more
        create(slot, random.chance(85) ? low(&random, kCallerText) : any(kFirstHeader));
        const unsigned builds = 1 + rare(3, 30);
        for (unsigned n = 0; n < builds; ++n) {
          add(Op::build, slot, low(&random, 4), rare(5, 30), manner());
          if (random.chance(80)) kernel(any(kKernels), slot);
          if (random.chance(30)) add(Op::release_kernel, any(kKernels));
        }
        break;
      }
      case 3:
      case 4: {  // a link of one program
        create(slot, random.chance(85) ? low(&random, kCallerText) : any(kFirstHeader));
        add(Op::compile, slot, low(&random, 4), rare(5, 20), manner());
        add(Op::link, other, low(&random, 3), 1U << slot, rare(10, 20));
        kernel(any(kKernels), other);
        break;
      }
      case 5: {  // of two
        create(slot, kCallerText);
        create(other, kCallerText + 1 + low(&random, 2));
        const unsigned options = low(&random, 4);
        add(Op::compile, slot, options, 0, 0);
        add(Op::compile, other, random.chance(70) ? options : low(&random, 4), 0, rare(10, 10));
        add(Op::link, third, low(&random, 3), 1U << slot | 1U << other, rare(10, 30));
        kernel(any(kKernels), third);
        break;
      }
      case 6: {  // with headers
        create(slot, kHeaderUser);
        add(Op::compile, slot, low(&random, 4), 0, 10 + any(5));
        add(Op::link, other, low(&random, 3), 1U << slot, 0);
        kernel(any(kKernels), other);
        break;
      }
      default: {  // anything
        const unsigned calls = 1 + any(6);
        for (unsigned n = 0; n < calls; ++n) {
          const auto op = static_cast<Op>(any(static_cast<unsigned>(Op::set_variable)));
          add(op, any(op == Op::launch || op == Op::kernel ? kKernels : kPrograms),
              any(op == Op::create ? kFirstHeader : 4), op == Op::link ? 1 + any(15) : any(6),
              rare(10, 30));
        }
      }
    }
    if (random.chance(30)) add(Op::program_queries, any(kPrograms));
    if (random.chance(10)) add(Op::retain, any(kPrograms));
    if (random.chance(10)) add(Op::release_program, any(kPrograms));
    if (random.chance(10)) add(Op::kernels, any(kPrograms));
  }
  return made;
}

std::string line_of(const Sequence &sequence) {
  std::string line;
  for (const Call &call : sequence) {
    for (const unsigned word : {static_cast<unsigned>(call.op), call.a, call.b, call.c, call.d}) {
      line += (line.empty() ? "" : " ") + std::to_string(word);
    }
  }
  return line;
}

Sequence sequence_of(const std::string &line) {
  std::istringstream words(line);
  Sequence made;
  unsigned op = 0;
  for (Call call; words >> op >> call.a >> call.b >> call.c >> call.d;) {
    call.op = static_cast<Op>(op);
    made.push_back(call);
  }
  return made;
}

std::string described(const Sequence &sequence, const Vocabulary &words) {
  static const char *const kNames[] = {
      "create",          "build",        "compile",        "link",
      "kernel",          "kernels",      "launch",         "program_queries",
      "kernel_queries",  "clone_kernel", "retain",         "release_kernel",
      "release_program", "set_variable", "unset_variable", "context"};
  std::string text;
  for (const Call &call : sequence) {
    text += std::string("    ") + kNames[static_cast<unsigned>(call.op)];
    for (const unsigned word : {call.a, call.b, call.c, call.d}) text += " " + std::to_string(word);
    if (call.op == Op::build || call.op == Op::compile) {
      text += "  \"" + words.options[call.b % words.options.size()] + "\"";
    }
    if (call.op == Op::link) {
      text += "  \"" + words.link_options[call.b % words.link_options.size()] + "\"";
    }
    text += "\n";
  }
  return text;
}

}  // namespace kiln::cases
