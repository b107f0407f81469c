#!/usr/bin/env bash
# Install what is missing of: go, git, engine. What is there is left alone.
#
#   scripts/setup.sh go|git|engine...
#
# Debian, Ubuntu (apt-get), Fedora (dnf) and macOS (brew). Uses sudo unless root.
set -euo pipefail

# The oldest Go that fetches the toolchain of go.mod by itself.
minimum=21

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

install() {
	echo "installing: $*" >&2
	if command -v apt-get >/dev/null; then
		as_root apt-get update -q >/dev/null
		as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@" >/dev/null
	elif command -v dnf >/dev/null; then
		as_root dnf install -y -q "$@"
	elif command -v brew >/dev/null; then
		brew install --quiet "$@"
	else
		echo "cannot install $*: this is no Debian, Ubuntu, Fedora or macOS with Homebrew; install it yourself" >&2
		exit 1
	fi
}

go_is_new_enough() {
	local version
	version=$("$("$(dirname "$0")/go.sh")" env GOVERSION 2>/dev/null) || return 1
	version=${version#go1.}
	[ "${version%%[.-]*}" -ge "$minimum" ]
}

need_go() {
	go_is_new_enough && return
	if command -v apt-get >/dev/null; then
		install ca-certificates golang-go
		go_is_new_enough && return
		# Debian 12 has an older Go: it installs a newer one, checked against Go's own checksums.
		go install golang.org/dl/go1.26.0@latest
		"$(go env GOPATH)/bin/go1.26.0" download
	elif command -v dnf >/dev/null; then
		install golang
	else
		install go
	fi
}

need_git() { command -v git >/dev/null || install git; }

engine_answers() { docker ps >/dev/null 2>&1 || podman ps >/dev/null 2>&1; }

need_engine() {
	engine_answers && return
	if ! command -v docker >/dev/null && ! command -v podman >/dev/null; then
		if command -v apt-get >/dev/null; then
			# catatonit is podman's --init; uidmap and slirp4netns are for users other than root
			install podman catatonit uidmap slirp4netns
		else
			install podman
		fi
	fi
	if [ "$(uname)" = Darwin ] && command -v podman >/dev/null && ! podman ps >/dev/null 2>&1; then
		podman machine inspect >/dev/null 2>&1 || podman machine init
		podman machine start || true
	fi
	engine_answers && return
	echo "an engine is installed, and does not answer. Start it:" >&2
	if command -v docker >/dev/null; then
		echo "  sudo systemctl start docker; sudo usermod -aG docker \$USER (and log in again)" >&2
	fi
	if command -v podman >/dev/null; then
		podman ps >&2 || true
	fi
	exit 1
}

[ $# -gt 0 ] || { sed -n '2,6s/^# \{0,1\}//p' "$0" >&2; exit 2; }
for what in "$@"; do
	case $what in
	go | git | engine) "need_$what" ;;
	*) echo "unknown: $what" >&2; exit 2 ;;
	esac
done
