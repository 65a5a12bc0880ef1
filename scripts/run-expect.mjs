// Rewrites the outputs in testdata/run/expected.tsv with what V8 prints: its
// optimising tier and Liftoff must agree. Called by build-run.sh --expect with
// the folder of the Go modules and that of the table.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { WASI } from 'node:wasi';

if (process.argv[2] === '--run') {
	const [file, ...args] = process.argv.slice(3);
	const wasi = new WASI({ version: 'preview1', args: [file, ...args] });
	const module = new WebAssembly.Module(fs.readFileSync(file));
	wasi.start(new WebAssembly.Instance(module, wasi.getImportObject()));
} else {
	const [goDir, dir] = process.argv.slice(2);
	const table = path.join(dir, 'expected.tsv');
	const run = (name, args) => {
		const file = path.join(name.startsWith('go-') ? goDir : dir, name + '.wasm');
		const [fast, slow] = ['--no-liftoff', '--liftoff-only'].map((tier) =>
			execFileSync(process.execPath, ['--no-warnings', tier, process.argv[1], '--run', file, ...args], { encoding: 'utf8' }).trim());
		if (fast !== slow || !/^[0-9a-f]{16}$/.test(fast)) throw new Error(`${name} ${args}: ${fast}, ${slow}`);
		return fast;
	};
	const rows = fs.readFileSync(table, 'utf8').trim().split('\n').map((line) => {
		if (line.startsWith('#')) return line;
		const [name, quick] = line.split('\t');
		return [name, quick, run(name, [quick]), run(name, [])].join('\t');
	});
	fs.writeFileSync(table, rows.join('\n') + '\n');
}
