# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Completes the posixtrace command in bash. Commands, options and their values come from the option
# tables in the command, as printed by --list-options: see tools/util/options_help.h.

_posixtrace_table()
{
	posixtrace "$@" --list-options 2>/dev/null
}

_posixtrace_commands()
{
	_posixtrace_table | awk -F '\t' '$1 == "command" { print $2 }'
}

# Long options of a command; an option with a value ends in "=".
_posixtrace_options()
{
	_posixtrace_table "$@" | awk -F '\t' '$1 == "option" { print "--" $3 ($4 == "-" ? "" : "=") }'
}

# Prints the kind of value of an option: "-" if it has no value; no output for an unknown option.
_posixtrace_values()
{
	_posixtrace_table "$1" |
		awk -F '\t' -v option="$2" '$1 == "option" && (option == "--" $3 || option == "-" $2) { print $5 }'
}

# Processes with trace points that the user may inspect.
_posixtrace_pids()
{
	posixtrace list 2>/dev/null |
		awk '/^programs/ { on = 1; next } /^[^ ]/ { on = 0 } on && $1 ~ /^[0-9]+$/ { print $1 }'
}

# _posixtrace_words WORD...: offers the words that begin with $cur
_posixtrace_words()
{
	mapfile -t COMPREPLY < <(compgen -W "$*" -- "$cur")
}

# _posixtrace_list WORD...: the same for a comma-separated list, without the words already in it
_posixtrace_list()
{
	local word given=''
	local -a left=()
	[[ $cur != *,* ]] || given=${cur%,*},
	for word; do
		[[ ,$given == *,$word,* ]] || left+=("$given$word")
	done
	_posixtrace_words "${left[@]}"
	compopt -o nospace 2>/dev/null || true
}

_posixtrace_files()
{
	compopt -o filenames 2>/dev/null
	mapfile -t COMPREPLY < <(compgen -f -- "$cur")
}

# _posixtrace_value COMMAND OPTION: offers values; fails if the option does not take a value
_posixtrace_value()
{
	local -a values
	[[ $2 == -* ]] || return
	read -ra values < <(_posixtrace_values "$1" "$2")
	case ${values[0]-} in
	'' | -) return 1 ;;
	one) _posixtrace_words "${values[@]:1}" ;;
	list) _posixtrace_list "${values[@]:1}" ;;
	file) _posixtrace_files ;;
	pid) _posixtrace_words "$(_posixtrace_pids)" ;;
	esac
}

# _posixtrace_program INDEX: completes the words from INDEX on as another command line
_posixtrace_program()
{
	if declare -F _command_offset >/dev/null; then
		_command_offset "$1"
	elif [ "$COMP_CWORD" -eq "$1" ]; then
		mapfile -t COMPREPLY < <(compgen -c -- "$cur")
	else
		_posixtrace_files
	fi
}

# _posixtrace_operand COMMAND: offers operands
_posixtrace_operand()
{
	local kinds
	kinds=$(_posixtrace_table "$1" | sed -n 's/^operands\t/ /p')
	[[ $kinds != *' file'* ]] || compopt -o filenames 2>/dev/null
	mapfile -t COMPREPLY < <(
		[[ $kinds != *' pid'* ]] || compgen -W "$(_posixtrace_pids)" -- "$cur"
		[[ $kinds != *' program'* ]] || compgen -c -- "$cur"
		[[ $kinds != *' file'* ]] || compgen -f -- "$cur"
	)
}

_posixtrace()
{
	local cur=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]}
	local command=${COMP_WORDS[1]} i

	COMPREPLY=()
	if [ "$COMP_CWORD" -eq 1 ]; then
		_posixtrace_words "$(_posixtrace_commands)" --help --version
		return
	fi
	for ((i = 2; i < COMP_CWORD; i++)); do
		if [ "${COMP_WORDS[i]}" = -- ]; then
			_posixtrace_program $((i + 1))
			return
		fi
	done
	# bash splits --option=value into three words
	if [ "$cur" = = ]; then
		cur=''
	elif [ "$option" = = ]; then
		option=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	! _posixtrace_value "$command" "$option" || return
	if [[ $cur == -* ]]; then
		_posixtrace_words "$(_posixtrace_options "$command")"
		[[ ${#COMPREPLY[@]} -ne 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace 2>/dev/null
		return
	fi
	_posixtrace_operand "$command"
}

complete -F _posixtrace posixtrace
