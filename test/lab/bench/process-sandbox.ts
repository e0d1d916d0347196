/**
 * What a sandbox of processes and Node's permissions alone would cost and hold, beside isolates in a process: the trial
 * behind decision 026. `node test/lab/bench/process-sandbox.ts`. Each module gets a process; a call is a line of JSON each way.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Sandbox } from '../../../src/engine/sandbox/sandbox.ts';
import { refTo } from '../../support/sandbox-fixture.ts';

const CALLS = 5000;

/** What the process runs: the module is evaluated as a function, and answers each line. */
const WORKER = `
const lines = require('node:readline').createInterface({ input: process.stdin });
let transform;
lines.on('line', (line) => {
  const message = JSON.parse(line);
  let answer;
  try {
    if (message.code) { transform = (0, eval)(message.code); answer = 'ready'; }
    else answer = transform(message.call);
  } catch (error) { answer = { error: String(error && error.code || error) }; }
  Promise.resolve(answer).then((value) => process.stdout.write(JSON.stringify(value === undefined ? null : value) + '\\n'), (error) => process.stdout.write(JSON.stringify({ error: String(error.code || error) }) + '\\n'));
});
`;

interface Sandboxed {
  readonly child: ChildProcess;
  readonly startedMs: number;
  call(argument: unknown): Promise<unknown>;
}

async function startModule(code: string): Promise<Sandboxed> {
  const began = performance.now();
  const child = spawn(
    process.execPath,
    ['--jitless', '--permission', '--max-old-space-size=64', '--disable-proto=throw', '--eval', WORKER],
    { stdio: ['pipe', 'pipe', 'ignore'], env: {} },
  );
  const waiting: ((value: unknown) => void)[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => waiting.shift()?.(JSON.parse(line)));
  const ask = (message: object): Promise<unknown> =>
    new Promise((done) => {
      waiting.push(done);
      child.stdin.write(`${JSON.stringify(message)}\n`);
    });
  await ask({ code });
  return { child, startedMs: performance.now() - began, call: (argument) => ask({ call: argument }) };
}

const residentMb = ({ pid }: ChildProcess): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!;

const payload = { action: 'opened', issue: { number: 7, title: 'Broken', labels: ['bug', 'web'] } };
const starts: number[] = [];
for (let round = 0; round < 10; round += 1) {
  const one = await startModule('(payload) => payload.issue.number');
  starts.push(one.startedMs);
  one.child.kill('SIGKILL');
}
const module = await startModule(
  '(payload) => ({ message: `#${payload.issue.number} ${payload.issue.title}` })',
);
await Promise.all(Array.from({ length: CALLS }, () => module.call(payload)));
const began = performance.now();
for (let call = 0; call < CALLS; call += 1) await module.call(payload);
const each = (performance.now() - began) / CALLS;
// The same module in isolates, in the same run.
const dir = mkdtempSync(join(tmpdir(), 'sluice-trial-'));
const names = Array.from({ length: 11 }, (_, number) => `m${number}.js`);
for (const name of names)
  writeFileSync(
    join(dir, name),
    'export default ({ payload }) => ({ message: `#${payload.issue.number} ${payload.issue.title}` });',
  );
const sandbox = new Sandbox();
const [ref] = [refTo('m0.js')];
const first = await sandbox.loadTransforms(dir, [ref]);
const json = JSON.stringify({
  payload,
  headers: {},
  query: {},
  path: 'x',
  url: '/hooks/x',
  now: '2026-01-01T00:00:00Z',
});
const callIsolate = (): Promise<unknown> => first.call({ ref, json, now: 1e12, seed: 1, budgetMs: 5000 });
for (let call = 0; call < 1000; call += 1) await callIsolate();
const beganIsolate = performance.now();
for (let call = 0; call < CALLS; call += 1) await callIsolate();
const eachIsolate = (performance.now() - beganIsolate) / CALLS;
const beganLoad = performance.now();
await sandbox.loadTransforms(
  dir,
  names.slice(1).map((name) => refTo(name)),
);
const isolateMs = (performance.now() - beganLoad) / 10;
await sandbox.stop();
rmSync(dir, { recursive: true });

console.log(
  `a module more: process ${median(starts).toFixed(0)} ms, isolate ${isolateMs.toFixed(0)} ms (with its linking)`,
);
console.log(
  `one call after another: process ${(each * 1000).toFixed(0)} us, isolate ${(eachIsolate * 1000).toFixed(0)} us, new for each call`,
);
console.log(`resident for one module: process ${residentMb(module.child).toFixed(0)} MB, isolate about 3 MB`);
module.child.kill('SIGKILL');

// What it holds, and what it does not: each asked of the real process.
const server = createServer((socket) => void socket.end('reached')).listen(0, '127.0.0.1');
await new Promise((done) => server.once('listening', done));
const { port } = server.address() as AddressInfo;
const ATTACKS: Readonly<Record<string, string>> = {
  'reads a file': `() => process.getBuiltinModule('fs').readFileSync('/etc/passwd', 'utf8').length`,
  'starts a process': `() => process.getBuiltinModule('child_process').execFileSync('/bin/true').length`,
  'loads an addon': `() => process.dlopen({ exports: {} }, '/nonexistent.node')`,
  'starts a thread': `() => new (process.getBuiltinModule('worker_threads').Worker)('1', { eval: true }) && 'started'`,
  'opens a connection': `() => new Promise((done) => process.getBuiltinModule('net').connect(${port}, '127.0.0.1').on('data', (d) => done(String(d))).on('error', (e) => done({ error: e.code })))`,
  'reads the environment of its parent': `() => process.getBuiltinModule('fs').readFileSync('/proc/' + process.ppid + '/environ').length`,
  'signals its parent': `() => process.kill(process.ppid, 0)`,
  'keeps what an earlier call left': `() => (globalThis.seen = (globalThis.seen || 0) + 1)`,
};
for (const [name, code] of Object.entries(ATTACKS)) {
  const attacker = await startModule(code);
  await attacker.call({});
  const answer = await Promise.race([
    attacker.call({}),
    new Promise((done) => setTimeout(done, 2000, { error: 'no answer' })),
  ]);
  const failed = typeof answer === 'object' && answer !== null && 'error' in answer;
  console.log(`${failed ? 'held  ' : 'PASSED'} ${name}: ${JSON.stringify(answer)}`);
  attacker.child.kill('SIGKILL');
}
server.close();
