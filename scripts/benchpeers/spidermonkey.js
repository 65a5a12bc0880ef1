// One compile in SpiderMonkey's shell: spidermonkey.js compile|read|size FILE.
// read does all but compile, to know what else the process costs; size gives
// the bytes of code.
const [what, file] = scriptArgs;
const bytes = os.file.readFile(file, "binary");
const start = dateNow();
let wall = 0;
let size = 0;
if (what !== "read") {
	const module = new WebAssembly.Module(bytes);
	wall = dateNow() - start;
	if (what === "size") {
		size = wasmExtractCode(module, "baseline").code.length;
	}
}
print(JSON.stringify({ wall_ns: Math.round(wall * 1e6), code_bytes: size }));
