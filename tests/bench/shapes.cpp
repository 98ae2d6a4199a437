// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/shapes.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include <fmt/format.h>

namespace kiln::test {
namespace {

using std::filesystem::path;

void write_text(const path &file, const std::string &text) {
  std::ofstream out(file, std::ios::binary);
  out << text;
  out.close();
  if (out) return;
  std::fprintf(stderr, "%s: cannot be written\n", file.c_str());
  std::exit(1);
}

// Quantised blocks times vectors, each format's kernel with its steps written out.
std::string block_product(int file, int kernel) {
  std::string text = fmt::format(
      "kernel void mul_{0}_{1}(global const uchar *q, global const float *scales,\n"
      "                    global const float *x, global float *out, int n, int row) {{\n"
      "  const int r = get_global_id(0);\n"
      "  float4 sum = 0.0f;\n"
      "  for (int b = 0; b < n; ++b) {{\n"
      "    global const uchar *p = q + (r * row + b) * {2};\n"
      "    const float d = scales[r * n + b];\n",
      file, kernel, 16 + kernel);
  for (int i = 0; i < 40; ++i) {
    text += fmt::format(
        "    sum.s{} = mad((float)((p[{}] >> {}) & {}) - {}.0f, x[b * 32 + {}] * d, sum.s{});\n",
        i % 4, i % 16, i % 5, (1 << (kernel % 4 + 2)) - 1, file + 8, i % 32, (i + 1) % 4);
  }
  return text + "  }\n  out[r] = sum.x + sum.y + sum.z + sum.w;\n}\n";
}

void write_blocks(const path &folder) {
  for (int file = 0; file < 2; ++file) {
    std::string text;
    for (int kernel = 0; kernel < 20; ++kernel) text += block_product(file, kernel);
    write_text(folder / fmt::format("mul{}.cl", file), text);
  }
}

// A layer of a network, with the macros that its options define, and a helper from a header. Each
// layer has steps of its own.
std::string layer(int number) {
  std::string text = fmt::format(
      "#include \"layers.h\"\n"
      "kernel void layer{0}(global const STORE *in, global const STORE *weights,\n"
      "                    global STORE *out, int width, int channels) {{\n"
      "  const int x = get_global_id(0), c = get_global_id(1);\n"
      "  if (x >= width || c >= channels) return;\n"
      "  float4 sum = LOAD(c, weights), v = LOAD(x, in);\n",
      number);
  std::uint32_t state = 12345u + static_cast<std::uint32_t>(number);
  for (int i = 0; i < 24; ++i) {
    state = state * 1664525u + 1013904223u;
    const unsigned a = state >> 8 & 0xff, b = state >> 16 & 0xff;
    static constexpr const char *kSteps[] = {
        "  sum = mad(LOAD(x + {0}, in), LOAD(c * {1} + {0}, weights), sum);\n",
        "  v = fmax(v * {0}.{1}f, sum.s{2}{3}{2}{3});\n",
        "  for (int k = {0}; k < channels; k += {1}) sum += LOAD(k, weights) * v.s{2};\n",
        "  if (x % {1} == {2}) v = select(v, sum, isless(sum, (float4)({0}.0f)));\n",
        "  sum.s{2} = dot(v, LOAD(x * {1} + c, in)) + {0}.5f;\n",
        "  v = clamp(v + sum.s{3}, -{0}.0f, {1}.0f);\n"};
    text += fmt::format(fmt::runtime(kSteps[(state >> 24) % 6]), a, b + 1, a % 4, b % 4);
  }
  return text + fmt::format("  PUT(activate(sum + v, {}.5f), c * width + x, out);\n}}\n", number);
}

void write_layers(const path &folder, int count, bool has_kinds) {
  const std::string other = "1.0f / (1.0f + exp(-v * a))";
  write_text(folder / "layers.h",
             "inline float4 activate(float4 v, float a) {\n" +
                 (has_kinds ? "#if KIND == 0\n  return fmin(fmax(v, 0.0f), a);\n#elif KIND == 1\n"
                              "  return tanh(v * a);\n#else\n  return " +
                                  other + ";\n#endif\n"
                            : "  return fmax(v, a) + " + other + ";\n") +
                 "}\n");
  for (int i = 0; i < count; ++i) write_text(folder / fmt::format("layer{:02}.cl", i), layer(i));
}

void write_mnn(const path &folder) { write_layers(folder, 12, false); }
void write_mace(const path &folder) { write_layers(folder, 6, true); }

// A matrix product in local memory, whose tiles and vectors are defines.
void write_product(const path &folder) {
  write_text(folder / "product.cl",
             "#if VW == 1\ntypedef REAL realV;\n#define LOADV(i, p) (p)[i]\n"
             "#define SUM(v) (v)\n"
             "#elif VW == 2\n#define LOADV(i, p) vload2(i, p)\n#define SUM(v) ((v).x + (v).y)\n"
             "#else\n#define LOADV(i, p) vload4(i, p)\n"
             "#define SUM(v) ((v).x + (v).y + (v).z + (v).w)\n#endif\n"
             "kernel void product(global const REAL *a, global const REAL *b, global REAL *c,\n"
             "                    int n) {\n"
             "  local REAL ta[16 * WPT][17], tb[16 * WPT][17];\n"
             "  const int x = get_local_id(0), y = get_local_id(1);\n"
             "  REAL sum[WPT][WPT];\n"
             "  for (int i = 0; i < WPT * WPT; ++i) sum[i / WPT][i % WPT] = 0;\n"
             "  for (int t = 0; t < n; t += 16) {\n"
             "    for (int w = 0; w < WPT; ++w) {\n"
             "      ta[w * 16 + y][x] = SUM(LOADV(get_group_id(1) * n + t + x, a)) * w;\n"
             "      tb[w * 16 + y][x] = SUM(LOADV((t + y) * n + get_group_id(0), b));\n"
             "    }\n"
             "    barrier(CLK_LOCAL_MEM_FENCE);\n"
             "    for (int k = 0; k < 16; ++k)\n"
             "      for (int i = 0; i < WPT; ++i)\n"
             "        for (int j = 0; j < WPT; ++j)\n"
             "          sum[i][j] += ta[i * 16 + y][k] * tb[j * 16 + k][x];\n"
             "    barrier(CLK_LOCAL_MEM_FENCE);\n"
             "  }\n"
             "  for (int i = 0; i < WPT; ++i)\n"
             "    for (int j = 0; j < WPT; ++j)\n"
             "      c[(get_global_id(1) * WPT + i) * n + get_global_id(0) * WPT + j] = sum[i][j];\n"
             "}\n"
             "kernel void scale(global REAL *c, REAL by) { c[get_global_id(0)] *= by * WPT; }\n"
             "kernel void transpose(global const REAL *in, global REAL *out, int n) {\n"
             "  local REAL tile[16][17];\n"
             "  tile[get_local_id(1)][get_local_id(0)] =\n"
             "      in[get_global_id(1) * n + get_global_id(0)];\n"
             "  barrier(CLK_LOCAL_MEM_FENCE);\n"
             "  out[get_global_id(0) * n + get_global_id(1)] =\n"
             "      tile[get_local_id(1)][get_local_id(0)] * VW;\n"
             "}\n");
}

// Image filters: a neighbourhood of pixels, and a few functions of mathematics.
std::string filter(int file, int kernel) {
  return fmt::format(
      "kernel void filter{0}(read_only image2d_t in, write_only image2d_t out, int w, int h,\n"
      "                    float4 gain) {{\n"
      "  const int x = get_global_id(0), y = get_global_id(1);\n"
      "  if (x >= w || y >= h) return;\n"
      "  float4 sum = 0.0f;\n"
      "  for (int j = -{1}; j <= {1}; ++j)\n"
      "    for (int i = -{1}; i <= {1}; ++i) {{\n"
      "      const float4 c = read_imagef(in, at, (int2)(x + i, y + j));\n"
      "      sum += c * exp(-(float)(i * i + j * j) / {2}.0f) * fabs(c.x - sum.x);\n"
      "    }}\n"
      "  write_imagef(out, (int2)(x, y), tone(sum, gain));\n"
      "}}\n",
      kernel, kernel % 3 + 1, file + kernel + 3);
}

void write_filters(const path &folder) {
  write_text(folder / "common.h",
             "constant sampler_t at = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE |\n"
             "                        CLK_FILTER_NEAREST;\n"
             "inline float4 tone(float4 c, float4 gain) {\n"
             "  return pow(fabs(c * gain), (float4)(0.45f)) * native_exp(-0.1f * c);\n}\n");
  for (int file = 0; file < 3; ++file) {
    std::string text = "#include \"common.h\"\n";
    for (int kernel = 0; kernel < 5 + 5 * file; ++kernel) text += filter(file, kernel);
    write_text(folder / fmt::format("filter{}.cl", file), text);
  }
}

// One step of a hash: hundreds of statements on integers.
std::string digest(int number, int steps) {
  std::string text = fmt::format("DECLSPEC void digest{}(u32 *s, u32 w) {{\n", number) +
                     "  u32 a = s[0], b = s[1], c = s[2], d = s[3];\n";
  for (int i = 0; i < steps; ++i) {
    text += fmt::format("  STEP({}, a, b, c, d, w + {}u, {}u);\n", i % 2 == 0 ? "CHOOSE" : "MIX",
                        i * 2654435761u + static_cast<unsigned>(number), i % 23 + 5);
  }
  return text + "  s[0] += a; s[1] += b; s[2] += c; s[3] += d;\n}\n";
}

void write_hashes(const path &folder) {
  std::filesystem::create_directories(folder / "inc");
  write_text(folder / "inc/types.h",
             "typedef uint u32;\n#define DECLSPEC inline static\n"
             "#define CHOOSE(x, y, z) (((x) & (y)) | (~(x) & (z)))\n"
             "#define MIX(x, y, z) ((x) ^ (y) ^ (z))\n"
             "#define STEP(f, a, b, c, d, x, r) \\\n"
             "  { const u32 t = rotate(a + f(b, c, d) + (x), r) + b; "
             "a = d; d = c; c = b; b = t; }\n");
  std::string common;
  for (int i = 0; i < 120; ++i) common += digest(i, 120);
  write_text(folder / "inc/common.h", common);
  for (int file = 0; file < 2; ++file) {
    std::string text = "#include M2S(INCLUDE_PATH/types.h)\n#include M2S(INCLUDE_PATH/common.h)\n";
    for (int kernel = 0; kernel < 2; ++kernel) {
      text += fmt::format(
          "kernel void crack{0}(global const u32 *in, global u32 *out, constant u32 *salt) {{\n"
          "  u32 s[4] = {{1, 2, 3, {1}}};\n"
          "  for (int i = 0; i < {2}; ++i) {{\n"
          "    digest{3}(s, in[get_global_id(0) + i]);\n    digest{4}(s, salt[i]);\n  }}\n"
          "  out[get_global_id(0)] = s[0] ^ s[1] ^ s[2] ^ s[3];\n}}\n",
          kernel, file, kernel + 2, file * 7 + kernel, file * 7 + kernel + 40);
    }
    write_text(folder / fmt::format("mode{}.cl", file), text);
  }
}

constexpr char kStores[] = R"(sets = [
  { name = "float", options = ["-DSTORE=float -DLOAD=vload4 -DPUT=vstore4"] },
  { name = "half", options = ["-DSTORE=half -DLOAD=vload_half4 -DPUT=vstore_half4"] },
]
)";

}  // namespace

const std::vector<Shape> &shapes() {
  static const std::string mace =
      std::string(kStores) + "[program.all.options]\nKIND = [0, 1, 2]\n";
  static const std::vector<Shape> all = {
      {"ggml", "2 files of 1,000 lines, of 168", "", write_blocks},
      {"MNN", "12 files with 2 sets, of 76", kStores, write_mnn},
      {"MACE", "6 files with 6 sets of options, of 43", mace.c_str(), write_mace},
      {"CLBlast", "1 text with 12 sets of defines, of 21 texts",
       "[program.all.options]\nREAL = [\"float\", \"int\"]\nVW = [1, 2]\nWPT = [1, 2, 4]\n",
       write_product},
      {"darktable", "3 files with 5, 10 and 15 kernels, of 36", "", write_filters},
      {"hashcat", "2 texts of 15,000 lines, of 33",
       "options = [\"-DINCLUDE_PATH=inc -DXM2S(x)=#x -DM2S(x)=XM2S(x)\"]\n"
       "include_dirs = [\".\"]\n",
       write_hashes},
  };
  return all;
}

path write_shape(const Shape &shape, const path &folder) {
  std::filesystem::create_directories(folder);
  shape.write(folder);
  const path manifest = folder / "shape.toml";
  write_text(manifest, fmt::format("schema = 1\n[program.all]\nsource = \"*.cl\"\n"
                                   "kernels = \"all\"\n{}",
                                   shape.table));
  return manifest;
}

}  // namespace kiln::test
