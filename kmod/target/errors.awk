# SPDX-License-Identifier: GPL-2.0
# Reads lines "NUMBER NAME" in the order of the numbers. Prints PXT_ERRORS, the labels of an enum after
# its first one, which has the value 0.

BEGIN { printf "#define PXT_ERRORS" }

$1 > 0 && $1 != last {
	printf " \\\n\t\", %s%s\"", $2, $1 == last + 1 ? "" : " = " $1
	last = $1
}

END { print "" }
