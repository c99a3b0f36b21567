/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_HOTPLUG_H
#define PXT_HOTPLUG_H

int pxt_hotplug_init(void);
void pxt_hotplug_exit(void);

#endif /* PXT_HOTPLUG_H */
