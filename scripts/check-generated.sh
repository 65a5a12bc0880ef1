#!/usr/bin/env bash
# Runs go generate and fails if a generated file changed. Files are compared
# with what stood there before, not with git, so that a change in progress
# passes when it is consistent.
set -euo pipefail
cd "$(dirname "$0")/.."

sums() {
	grep -rlI --include='*.go' --include='*.md' '^// Code generated\|^<!-- Code generated' . \
		--exclude-dir=.git --exclude-dir=.cache | sort | xargs -r sha256sum
}

before=$(sums)
${GO:-go} generate ./...
after=$(sums)
if [ "$before" != "$after" ]; then
	echo "generated files were out of date; go generate changed:" >&2
	diff <(echo "$before") <(echo "$after") | sed -n 's/^> [0-9a-f]*  //p' >&2
	exit 1
fi
