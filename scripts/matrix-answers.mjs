// Records what this engine answers for every opcode and input of the test
// matrix: node matrix-answers.mjs DIR, where DIR/<n>.wasm and DIR/ops.json come
// from go test ./internal/matrix -run TestAnswers -update, which calls this.
// Functions take and return integers, since a JavaScript number would change
// the payload of a NaN.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const dir = process.argv[2];
const ops = JSON.parse(readFileSync(join(dir, 'ops.json'), 'utf8'));
const answers = {};
for (const op of ops) {
  const module = new WebAssembly.Module(readFileSync(join(dir, op.file)));
  const f = new WebAssembly.Instance(module).exports.f;
  const argument = (hex, wide) => wide ? BigInt.asIntN(64, BigInt('0x' + hex)) : Number.parseInt(hex, 16) | 0;
  answers[op.name] = op.inputs.map(input => {
    try {
      const r = f(...input.split(' ').map((hex, i) => argument(hex, op.wide[i])));
      return typeof r === 'bigint' ? BigInt.asUintN(64, r).toString(16) : (r >>> 0).toString(16);
    } catch (e) {
      if (e instanceof WebAssembly.RuntimeError) return 'trap';
      throw e;
    }
  }).join(' ');
}
writeFileSync(join(dir, 'answers.json'), JSON.stringify({ engine: `V8 ${process.versions.v8}`, answers }));
