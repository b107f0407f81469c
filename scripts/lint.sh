#!/usr/bin/env bash
# gofmt, vet on every platform that we build for, staticcheck, shellcheck.
set -euo pipefail
cd "$(dirname "$0")/.."
go=$(scripts/go.sh)
unformatted=$("$("$go" env GOROOT)/bin/gofmt" -l .)
[ -z "$unformatted" ] || { echo "gofmt: $unformatted" >&2; exit 1; }
for os in linux darwin windows; do
	GOOS=$os "$go" vet ./...
done
"$go" run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./...
if command -v shellcheck >/dev/null; then
	shellcheck scripts/*.sh docker/demo/demo-agent .ci/run
else
	echo "SKIPPED: shellcheck is not installed" >&2
fi
