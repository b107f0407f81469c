#!/usr/bin/env bash
# Start engines of our own for the tests, beside whatever the machine runs.
#
#   scripts/test-engines.sh start DIR   start a dockerd with everything below DIR, write DIR/env
#   scripts/test-engines.sh stop DIR    end it
#
# Source DIR/env to use them. Needs root: a dockerd of its own, and podman as root.
set -euo pipefail

start() {
	mkdir -p "$dir"
	if [ -S "$dir/docker.sock" ] && docker -H "unix://$dir/docker.sock" info >/dev/null 2>&1; then
		echo "a dockerd answers at $dir/docker.sock already"
	else
		# A network of its own, so that another dockerd's docker0 is left alone.
		ip link show llxbr0 >/dev/null 2>&1 || { ip link add llxbr0 type bridge && ip addr add 172.31.250.1/24 dev llxbr0 && ip link set llxbr0 up; }
		setsid dockerd --data-root "$dir/docker" --exec-root "$dir/docker-exec" --pidfile "$dir/docker.pid" \
			-H "unix://$dir/docker.sock" --bridge llxbr0 >"$dir/dockerd.log" 2>&1 </dev/null &
	fi
	cat >"$dir/containers.conf" <<-CONF
		[engine]
		runtime = "runc"
		[containers]
		default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
	CONF
	cat >"$dir/env" <<-ENV
		export DOCKER_HOST=unix://$dir/docker.sock
		export CONTAINERS_CONF=$dir/containers.conf
		export LLXSANDBOX_TEST_ENGINES=docker,podman
	ENV
	for _ in $(seq 150); do
		docker -H "unix://$dir/docker.sock" info >/dev/null 2>&1 && return
		sleep 0.2
	done
	echo "dockerd did not start; its log ends:" >&2
	tail -n 20 "$dir/dockerd.log" >&2
	return 1
}

stop() {
	[ -s "$dir/docker.pid" ] || return 0
	pid=$(cat "$dir/docker.pid")
	kill "$pid" 2>/dev/null || return 0
	for _ in $(seq 100); do
		kill -0 "$pid" 2>/dev/null || break
		sleep 0.1
	done
	ip link del llxbr0 2>/dev/null || true
}

[ $# -eq 2 ] || { sed -n '2,7s/^# \{0,1\}//p' "$0" >&2; exit 2; }
dir=$(mkdir -p "$2" && cd "$2" && pwd)
case $1 in
start) start ;;
stop) stop ;;
*) echo "unknown command $1" >&2; exit 2 ;;
esac
