# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Completes the posixtrace command in bash. Commands and options come from its --help.

_posixtrace_commands()
{
	posixtrace --help 2>/dev/null | sed -n 's/^  \([a-z]\{1,\}\)  .*/\1/p'
}

# Long options of a command; an option with a value ends in "=".
_posixtrace_options()
{
	posixtrace "$@" --help 2>/dev/null |
		sed -nE 's/^  (-[A-Za-z], |    )(--[a-z-]+=?).*/\2/p'
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

_posixtrace_files()
{
	compopt -o filenames 2>/dev/null
	mapfile -t COMPREPLY < <(compgen -f -- "$cur")
}

# _posixtrace_value COMMAND OPTION: offers values; false if the option has no value
_posixtrace_value()
{
	case $2 in
	--policy) _posixtrace_words flush loop until-full ;;
	--log-policy) _posixtrace_words append loop until-full ;;
	--order) _posixtrace_words causal relaxed ;;
	--trace-scope) _posixtrace_words 0 1 2 3 ;;
	-k | --kernel) _posixtrace_words all fault irq process sched signal syscall ;;
	-p | --pid) _posixtrace_words "$(_posixtrace_pids)" ;;
	-o | --output | --file | --format-file) _posixtrace_files ;;
	-[dfmstx]) COMPREPLY=() ;;
	--*) _posixtrace_options "$1" | grep -qxF -- "$2=" ;;
	*) false ;;
	esac
}

# _posixtrace_program INDEX: completes the words from INDEX on as another command
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
	case $command in
	live | record)
		mapfile -t COMPREPLY < <(compgen -W "$(_posixtrace_pids)" -- "$cur"; compgen -c -- "$cur")
		;;
	list | stat)
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -W "$(_posixtrace_pids)" -- "$cur"; compgen -f -- "$cur")
		;;
	load | status | unload)
		;;
	*)
		_posixtrace_files	# a log
		;;
	esac
}

complete -F _posixtrace posixtrace
