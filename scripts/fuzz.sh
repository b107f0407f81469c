#!/usr/bin/env bash
# Run every fuzz target of the project for a while: scripts/fuzz.sh 10s
set -euo pipefail
cd "$(dirname "$0")/.."
go=$(scripts/go.sh)
grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n1 dirname | sort -u | while read -r package; do
	grep -ho '^func Fuzz[A-Za-z]*' "$package"/*_test.go | sed 's/^func //' | while read -r target; do
		echo "$package $target"
		"$go" test "$package" -run '^$' -fuzz "^$target\$" -fuzztime "${1:-10s}" </dev/null >.fuzz.log 2>&1 || { cat .fuzz.log; exit 1; }
	done
done
rm -f .fuzz.log
