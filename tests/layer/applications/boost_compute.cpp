// SPDX-License-Identifier: Apache-2.0
// Boost.Compute as a data library uses it: sort, transform, reduce, scan.
#include <cstdint>
#include <iostream>
#include <numeric>
#include <vector>

#include <boost/compute.hpp>

namespace compute = boost::compute;

BOOST_COMPUTE_FUNCTION(std::uint32_t, mixed, (std::uint32_t x), { return (x * 2654435761u) >> 7; });

int main() {
  compute::device device = compute::system::default_device();
  compute::context context(device);
  compute::command_queue queue(context, device);
  std::vector<std::uint32_t> host(1 << 16);
  std::iota(host.begin(), host.end(), 1u);
  compute::vector<std::uint32_t> values(host.begin(), host.end(), queue);
  compute::transform(values.begin(), values.end(), values.begin(), mixed, queue);
  compute::sort(values.begin(), values.end(), queue);
  std::uint32_t sum = 0;
  compute::reduce(values.begin(), values.end(), &sum, compute::plus<std::uint32_t>(), queue);
  compute::inclusive_scan(values.begin(), values.end(), values.begin(), queue);
  compute::copy(values.begin(), values.end(), host.begin(), queue);
  std::cout << sum << " " << host.front() << " " << host.back() << "\n";
}
