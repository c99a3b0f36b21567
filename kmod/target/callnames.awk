# SPDX-License-Identifier: GPL-2.0
# usage: awk -f callnames.awk include/linux/syscalls.h LIST
# LIST has "native NAME" and "ia32 NAME" for each system call. Prints PXT_NATIVE(NAME, ARGUMENTS) and
# PXT_IA32(NAME): the header declares the arguments of native calls, most under the same name. All
# registers count as arguments of the others.

# The list of parameters of a declaration: its number of arguments.
function count(parameters)
{
	if (parameters ~ /^[ \t]*(void)?[ \t]*$/)
		return 0
	return gsub(/,/, "", parameters) + 1
}

function arguments(name)
{
	if (name in args)
		return args[name]
	if (("new" name) in args)
		return args["new" name]
	return 6
}

FNR == 1 { file++ }

file == 1 && /^asmlinkage long sys_/ { declaration = "" }
file == 1 { declaration = declaration " " $0 }
file == 1 && declaration ~ /^ asmlinkage long sys_.*\)/ {
	sub(/^ asmlinkage long sys_/, "", declaration)
	name = declaration
	sub(/\(.*/, "", name)
	sub(/^[^(]*\(/, "", declaration)
	sub(/\).*/, "", declaration)
	n = count(declaration)
	# Some are declared for several configurations: no argument is left out in any.
	if (!(name in args) || args[name] < n)
		args[name] = n
	declaration = ""
}

file == 2 && $1 == "native" { printf "PXT_NATIVE(%s, %d)\n", $2, arguments($2) }
file == 2 && $1 == "ia32" { printf "PXT_IA32(%s)\n", $2 }
