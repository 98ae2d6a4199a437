/* SPDX-License-Identifier: Apache-2.0 */
/* Stands for libkiln_runtime of another version, as far as libkiln_launch can tell. */
extern const char kiln_runtime_9_9_9;
const char kiln_runtime_9_9_9 = 0;
