/**
 * `npm run test:loaded -- COUNT SCRIPT`: runs a script of package.json beside COUNT processes that do nothing but compute
 * (default: `npm test` beside six). No test may fail because the machine is busy.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

const [, , countText = '6', script = 'test'] = process.argv;
const count = Number(countText);
if (!Number.isInteger(count) || count < 0) {
  process.stderr.write('usage: npm run test:loaded -- COUNT SCRIPT\n');
  process.exit(2);
}

// Each ends with this process, however that ends: it has the other end of its standard input.
const BUSY = `process.stdin.on('close', () => process.exit()).resume();
setInterval(() => { for (const end = Date.now() + 50; Date.now() < end;); }, 0);`;
const others = Array.from({ length: count }, () =>
  spawn(process.execPath, ['-e', BUSY], { stdio: ['pipe', 'ignore', 'inherit'] }),
);
process.stderr.write(`npm run ${script} beside ${count} busy processes\n`);
const tests = spawn('npm', ['run', '--silent', script], { stdio: 'inherit' });
const [code] = (await once(tests, 'exit')) as [number | null];
for (const other of others) other.kill();
process.exitCode = code ?? 1;
