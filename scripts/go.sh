#!/bin/sh
# Print the go command to use: the one on PATH, or one that scripts/setup.sh installed.
if command -v go >/dev/null 2>&1; then
	echo go
else
	for go in /usr/local/go/bin/go "$HOME"/sdk/go1.26.*/bin/go "$HOME"/go/bin/go1.26.0; do
		if [ -x "$go" ]; then echo "$go"; exit; fi
	done
	echo go
fi
