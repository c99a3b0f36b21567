# SPDX-License-Identifier: GPL-2.0
# Counts the cases of one test program. Shows skips, and failures with their output; with
# verbose=1, shows everything.
#
# in:  name, verbose, kernel, allowed (file with the skips that are allowed)
# out: "passed failed skipped planned" in the file that counts names; planned is empty if the
#      program printed no plan

function show(line)
{
	print line
	fflush()
}

function show_held(  i)
{
	for (i = 0; i < held; i++)
		show(hold[i])
	held = 0
}

function skip(what, reason)
{
	if ((name " " what) in fine || (name " *") in fine) {
		skipped++
	} else {
		failed++
		reason = reason " (not allowed to skip)"
	}
	if (!verbose)
		show("# skipped: " name " " what ": " reason)
}

# Skips allowed on debug are also allowed on debug-newest.
function is_for(which,  family)
{
	family = kernel
	sub(/-newest$/, "", family)
	if (which ~ /^!/)
		return substr(which, 2) != family
	return which == "*" || which == kernel || which == family
}

BEGIN {
	while ((getline line < allowed) > 0) {
		split(line, word, " ")
		if (line !~ /^#/ && word[4] != "" && is_for(word[3]))
			fine[word[1] " " word[2]] = 1
	}
	passed = failed = skipped = 0
}

{
	sub(/\r$/, "")
	if (verbose)
		show($0)
}

/^1\.\.[0-9]+/ {
	planned = substr($1, 4)
	if (planned == 0) {
		sub(/^[^#]*# SKIP */, "")
		planned = 1
		skip("all", $0)
	}
	next
}

/^# +RUN / {
	held = 0
	current = $3
}

/^ok .*# SKIP/ {
	reason = $0
	sub(/.*# SKIP */, "", reason)
	skip(current, reason)
	held = 0
	next
}

/^ok / {
	passed++
	held = 0
	next
}

/^not ok / {
	failed++
	if (!verbose) {
		show_held()
		show($0)
	}
	held = 0
	next
}

!verbose {
	if (held < 200)
		hold[held++] = $0
}

END {
	# Show the last lines of a program that ended early.
	if (!verbose && (planned == "" || passed + failed + skipped < planned))
		show_held()
	print passed, failed, skipped, planned > counts
}
