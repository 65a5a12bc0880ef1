// One measurement in V8: v8.js compile FILE, or v8.js run FILE [ARGS...].
// The last line of the output is the result; what a guest prints comes before.
const fs = require('fs');
const [what, file, ...args] = process.argv.slice(2);
const peak = () => Number(/VmHWM:\s+(\d+)/.exec(fs.readFileSync('/proc/self/status', 'utf8'))[1]) * 1024;

function timed(f) {
	const cpu = process.cpuUsage();
	const wall = process.hrtime.bigint();
	f();
	const ns = Number(process.hrtime.bigint() - wall);
	const used = process.cpuUsage(cpu);
	return { wall_ns: ns, cpu_ns: (used.user + used.system) * 1000 };
}

const bytes = fs.readFileSync(file);
let result;
if (what === 'compile') {
	result = timed(() => new WebAssembly.Module(bytes));
} else {
	const { WASI } = require('wasi');
	const wasi = new WASI({ version: 'preview1', args: [file, ...args], returnOnExit: true });
	const instance = new WebAssembly.Instance(new WebAssembly.Module(bytes), wasi.getImportObject());
	result = timed(() => wasi.start(instance));
}
console.log(JSON.stringify({ ...result, rss_peak: peak() }));
