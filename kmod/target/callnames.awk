# SPDX-License-Identifier: GPL-2.0
# usage: awk -f callnames.awk include/linux/syscalls.h LIST
# LIST has "native NAME" and "ia32 NAME" for each system call. Prints PXT_NATIVE(NAME, ARGUMENTS, TEXTS)
# and PXT_IA32(NAME): the header declares the arguments of native calls, most under the same name. All
# registers count as arguments of the others. Bit n of TEXTS is set if argument n points to a text: to
# characters that the call does not write, without a size as the next argument.

# Returns the number of arguments in the list of parameters of a declaration.
function count(parameters)
{
	if (parameters ~ /^[ \t]*(void)?[ \t]*$/)
		return 0
	return gsub(/,/, "", parameters) + 1
}

function text_bits(parameters,    i, n, parameter, bits)
{
	n = split(parameters, parameter, ",")
	for (i = 1; i <= n; i++)
		if (parameter[i] ~ /const char __user *\*/ && parameter[i] !~ /\*.*\*/ && \
		    parameter[i + 1] !~ /size_t/)
			bits += 2 ^ (i - 1)
	return bits + 0
}

# Returns the name under which a call is declared.
function declared(name)
{
	return name in args || !(("new" name) in args) ? name : "new" name
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
	# Some calls are declared differently for several configurations. Use the declaration with
	# the most arguments, so that no argument is missing in any configuration.
	if (!(name in args) || args[name] < n) {
		args[name] = n
		texts[name] = text_bits(declaration)
	}
	declaration = ""
}

file == 2 && $1 == "native" {
	name = declared($2)
	printf "PXT_NATIVE(%s, %d, %d)\n", $2, name in args ? args[name] : 6, texts[name]
}
file == 2 && $1 == "ia32" { printf "PXT_IA32(%s)\n", $2 }
