#!/usr/bin/env bash
# Build the demo image for an engine, if it is not there.
#
#   scripts/demo-image.sh docker|podman [IMAGE]
#
# The base comes from a registry. Where none is reached, on Debian or Ubuntu, it is
# made of the distribution's packages instead (debootstrap, as root).
set -euo pipefail

engine=${1:?usage: scripts/demo-image.sh docker|podman [IMAGE]}
image=${2:-llxsandbox-demo:latest}
base=debian:bookworm-slim
local_base=llxsandbox-base:bookworm
context=$(cd "$(dirname "$0")/../docker/demo" && pwd)

has() { [ -n "$("$engine" images -q "$1")" ]; }
as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }
build() { DOCKER_BUILDKIT=${DOCKER_BUILDKIT-0} "$engine" build -q --build-arg "BASE_IMAGE=$1" -t "$image" "$context" >/dev/null; }

if has "$image"; then
	exit 0
fi
if has "$local_base"; then
	build "$local_base"
	exit 0
fi
echo "pulling $base for the demo image"
if has "$base" || timeout 120 "$engine" pull -q "docker.io/library/$base" >/dev/null 2>&1; then
	build "docker.io/library/$base"
	exit 0
fi

echo "no registry is reached: making the base of Debian's packages (about a minute)"
if ! command -v debootstrap >/dev/null; then
	command -v apt-get >/dev/null || { echo "no registry is reached, and this is no Debian or Ubuntu: connect to the network and try again" >&2; exit 1; }
	as_root apt-get update -q >/dev/null
	as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends debootstrap >/dev/null
fi
work=$(mktemp -d)
trap 'as_root rm -rf "$work"' EXIT
tar=${LLXSANDBOX_BASE_TAR:-$work/base.tar} # kept where this names a file
if [ ! -s "$tar" ]; then
	as_root debootstrap --variant=minbase \
		--include=ca-certificates,git,hostname,iproute2,openssh-client,procps,socat \
		bookworm "$work/root" http://deb.debian.org/debian >"$work/log" || { tail "$work/log" >&2; exit 1; }
	as_root rm -rf "$work/root/var/cache/apt/archives" "$work/root/var/lib/apt/lists"
	as_root tar -C "$work/root" -c . >"$tar.part"
	mv "$tar.part" "$tar"
fi
"$engine" import - "$local_base" <"$tar" >/dev/null
build "$local_base"
