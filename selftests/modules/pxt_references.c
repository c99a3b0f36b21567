// SPDX-License-Identifier: GPL-2.0
/*
 * Adds as many references to a page of the process that loads this module as page-table entries
 * would hold if the guest had enough memory for so many.
 */
#include <linux/mm.h>
#include <linux/module.h>

static unsigned long address;
module_param(address, ulong, 0);
MODULE_PARM_DESC(address, "Address of the page in the process that loads the module");

static int count;
module_param(count, int, 0);
MODULE_PARM_DESC(count, "Number of references");

static struct page *held;

static int __init references_init(void)
{
	int ret = get_user_pages_fast(address, 1, 0, &held);

	if (ret != 1)
		return ret < 0 ? ret : -EFAULT;
	page_ref_add(held, count);
	return 0;
}

static void __exit references_exit(void)
{
	page_ref_sub(held, count);
	put_page(held);
}

module_init(references_init);
module_exit(references_exit);

MODULE_DESCRIPTION("References to a page, for a test of posixtrace");
MODULE_LICENSE("GPL");
