// SPDX-License-Identifier: Apache-2.0
// ViennaCL's dense linear algebra: a matrix-vector and a matrix-matrix product, and a norm.
#define VIENNACL_WITH_OPENCL
#include <iostream>
#include <vector>

#include <viennacl/linalg/norm_2.hpp>
#include <viennacl/linalg/prod.hpp>
#include <viennacl/matrix.hpp>
#include <viennacl/vector.hpp>

int main() {
  constexpr std::size_t kSize = 128;
  std::vector<std::vector<float>> rows(kSize, std::vector<float>(kSize));
  std::vector<float> column(kSize);
  for (std::size_t i = 0; i < kSize; ++i) {
    column[i] = static_cast<float>(i % 7);
    for (std::size_t j = 0; j < kSize; ++j) rows[i][j] = static_cast<float>((i * j) % 5);
  }
  viennacl::matrix<float> matrix(kSize, kSize);
  viennacl::vector<float> vector(kSize);
  viennacl::copy(rows, matrix);
  viennacl::copy(column, vector);
  const viennacl::vector<float> product = viennacl::linalg::prod(matrix, vector);
  const viennacl::matrix<float> square = viennacl::linalg::prod(matrix, matrix);
  const float norm = viennacl::linalg::norm_2(product);
  std::cout << norm << " " << float(square(3, 4)) << "\n";
}
