// One compile in V8: v8.js FILE, or v8.js - for a module without anything in
// it, which tells what the process does besides. Prints wall and processor
// time around it.
const fs = require('fs');
const file = process.argv[2];
const bytes = file === '-' ? Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0) : fs.readFileSync(file);
const cpu = process.cpuUsage();
const wall = process.hrtime.bigint();
new WebAssembly.Module(bytes);
const ns = Number(process.hrtime.bigint() - wall);
const used = process.cpuUsage(cpu);
console.log(JSON.stringify({ wall_ns: ns, cpu_ns: (used.user + used.system) * 1000 }));
