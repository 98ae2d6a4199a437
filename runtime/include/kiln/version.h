/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 * The version of these headers. */
#ifndef KILN_VERSION_H
#define KILN_VERSION_H

/** Major version of the headers that a program is compiled with. A new major version may break the
 * source or binary interface; before 1.0 a new minor version may, too. */
#define KILN_VERSION_MAJOR 0
/** See KILN_VERSION_MAJOR. */
#define KILN_VERSION_MINOR 1
/** See KILN_VERSION_MAJOR. */
#define KILN_VERSION_PATCH 0

/** All three as one number that grows with the version: 10,203 is 1.2.3. */
#define KILN_VERSION (KILN_VERSION_MAJOR * 10000 + KILN_VERSION_MINOR * 100 + KILN_VERSION_PATCH)

#endif /* KILN_VERSION_H */
