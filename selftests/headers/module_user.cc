// SPDX-License-Identifier: GPL-2.0
// Imports module.cc.
import traced;
void f() { work(7); }
#ifndef __clang__
void g() { in_template(3u); }
#endif
