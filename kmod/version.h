/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_VERSION_H
#define PXT_VERSION_H

#define PXT_VERSION	"1.0"

#endif /* PXT_VERSION_H */
