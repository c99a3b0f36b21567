# SPDX-License-Identifier: GPL-2.0
# Generates the file of symbols from the library's map. For each symbol, the file has the version of
# the package that introduced it: the version in the name of the symbol's node.

BEGIN {
	print "libposixtrace.so.1 libposixtrace1 #MINVER#"
	print "* Build-Depends-Package: libposixtrace-dev"
}
/^POSIXTRACE_.*\{$/ {
	node = $1
	version = substr(node, length("POSIXTRACE_") + 1)
	print " " node "@" node " " version
}
/^local:/ { node = "" }
/^}/ { node = "" }
node && /^\t[A-Za-z_0-9]+;$/ {
	print " " substr($1, 1, length($1) - 1) "@" node " " version
}
