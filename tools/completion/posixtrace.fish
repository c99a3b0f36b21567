# SPDX-License-Identifier: GPL-2.0
# Completes the posixtrace command in fish. Commands, options and their values come from the option
# tables in the command, as printed by --list-options: see tools/util/options_help.h.

# Processes with trace points that the user may inspect.
function __posixtrace_pids
	posixtrace list 2>/dev/null |
		awk '/^programs/ { on = 1; next } /^[^ ]/ { on = 0 } on && $1 ~ /^[0-9]+$/ { print $1 "\t" $4 }'
end

# A comma-separated list, without the words already in it.
function __posixtrace_list
	set -l word (string replace -r '^-[-a-z]+=|^-[a-zA-Z]' '' -- (commandline -ct))
	set -l given (string replace -rf '^(.*,).*' '$1' -- $word)
	for word in $argv
		string match -q -- "*,$word,*" ",$given"; or echo "$given$word"
	end
end

function __posixtrace_options
	set -l command $argv[1]
	set -l condition "__fish_seen_subcommand_from $command"
	posixtrace $command --list-options 2>/dev/null | while read -l -d \t kind letter name argument values help
		if test "$kind" = operands
			string match -q '*pid*' -- "$letter"
			and complete -c posixtrace -n $condition -f -a '(__posixtrace_pids)'
			string match -q '*program*' -- "$letter"
			and complete -c posixtrace -n $condition -f -a '(__fish_complete_subcommand --fcs-skip=2)'
			string match -q '*file*' -- "$letter"
			and complete -c posixtrace -n $condition -F
		end
		test "$kind" = option; or continue
		set -l line -c posixtrace -n $condition -l $name -d $help
		test "$letter" = -; or set -a line -s $letter
		set -l words (string split ' ' -- $values)
		switch "$words[1]"
			case -
			case one
				set -a line -x -a "$words[2..]"
			case list
				set -a line -x -a "(__posixtrace_list $words[2..])"
			case file
				set -a line -r -F
			case pid
				set -a line -x -a '(__posixtrace_pids)'
			case '*'
				set -a line -x
		end
		complete $line
	end
end

complete -c posixtrace -f
posixtrace --list-options 2>/dev/null | while read -l -d \t kind name help
	test "$kind" = command; or continue
	complete -c posixtrace -n __fish_use_subcommand -a $name -d $help
	__posixtrace_options $name
end
complete -c posixtrace -n __fish_use_subcommand -s h -l help -d 'print help'
complete -c posixtrace -n __fish_use_subcommand -s V -l version -d 'print the version'
