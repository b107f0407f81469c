#!/usr/bin/env bash
# A real launch on a real git repository, called by `make run`: the agent inside sees
# the user's git identity and ssh agent, and its commit is on the host afterwards.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh git engine
engine=$(bin/llxsandbox engine)
image=llxsandbox-demo:latest
scripts/demo-image.sh "$engine" "$image"

mkdir -p .work
repo=$(mktemp -d "$PWD/.work/demo-XXXXXX")
cleanup() {
	rm -rf "$repo"
	[ -z "${agent:-}" ] || kill "$agent" 2>/dev/null || true
}
trap cleanup EXIT
git init -q "$repo"
git -C "$repo" config user.name >/dev/null || git -C "$repo" config user.name "Demo User"
git -C "$repo" config user.email >/dev/null || git -C "$repo" config user.email demo@example.com

if [ -z "${SSH_AUTH_SOCK:-}" ] && command -v ssh-agent >/dev/null; then
	echo "no ssh agent here: starting one with a key for this demo"
	eval "$(ssh-agent -s)" >/dev/null
	agent=$SSH_AGENT_PID
	ssh-keygen -q -t ed25519 -N '' -C demo -f "$repo/key" && ssh-add -q "$repo/key" && rm "$repo/key" "$repo/key.pub"
fi

# The default on Debian and Ubuntu; said here so that the demo is the same everywhere.
export SANDBOX_SET_UID_GID=true
echo "\$ llxsandbox run --engine $engine --image $image --command demo-agent"
bin/llxsandbox run --engine "$engine" --workdir "$repo" --image "$image" --command demo-agent
echo
echo "on the host:    $(git -C "$repo" log -1 --format='%h %an: %s')"
owner=$(find "$repo/NOTES.md" -user "$(id -un)")
echo "owned by you:   ${owner:+yes}"
[ -n "$owner" ]
