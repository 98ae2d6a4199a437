# SPDX-License-Identifier: Apache-2.0
# ctest reads this before it runs a test: no test takes finished jobs from the user's cache or leaves
# any there. A test of the store names one.
set(ENV{KILN_STORE} none)
