/**
 * `npm run prove`: the claims of the README, tried on this machine within 90 seconds, as one table. `-- --write` puts the
 * table into README.md, between its marks: no figure there is typed by hand.
 */
import { spawn } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { torture } from '../../support/torture.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const README = join(ROOT, 'README.md');
const BEGIN = '<!-- proof: written by `npm run prove -- --write` -->';
const END = '<!-- end of proof -->';
const KILLS = 8;
/** What is not tried by then is not tried: a slow machine disproves nothing. */
const MAX_MS = 90_000;

const begun = performance.now();

interface Proof {
  readonly claim: string;
  readonly tried: string;
  /** Tests that failed, or what else was wrong; absent where the claim was not tried, which disproves nothing. */
  readonly failed?: readonly string[];
}

const TOO_LONG = `not tried: took longer than ${MAX_MS / 1000} s here`;

/** Claims that tests hold: what is counted as one try, and where it is tried. */
const CLAIMS = [
  {
    claim: 'A hostile transform neither gets out of the sandbox nor stops the service',
    files: ['test/engine/sandbox/attacks.guarantee.test.ts'],
    tries: (tests: number) => `${tests} tests of hostile modules: loops, floods, memory, escapes, leaks`,
  },
  {
    claim: 'A number keeps every digit that was sent',
    files: [
      'test/base/json.test.ts',
      'test/engine/hook/exact-numbers.test.ts',
      'test/engine/mapping/exact-numbers.test.ts',
      'test/service/startup/exact-numbers.guarantee.test.ts',
    ],
    tries: (tests: number) => `${tests} tests, from the wire to the store, with numbers JavaScript changes`,
  },
  {
    claim: 'A forged, stale or altered request proves nothing',
    files: [
      'test/engine/verify/vectors.test.ts',
      'test/engine/verify/judging.test.ts',
      'test/service/server/sender-proof.test.ts',
    ],
    tries: (tests: number) =>
      `${tests} tests, with the vectors of the providers and every part of them altered`,
  },
  {
    claim: 'No text from a sender passes for the marker of the safety boundary',
    files: ['test/base/boundary/spoofs.test.ts', 'test/base/boundary/boundary.test.ts'],
    tries: (tests: number) => `${tests} tests of spoofed markers and control tokens`,
  },
] as const;

/** Kills the service under load, starts it again, and compares what was answered with what is stored and delivered. */
async function proveKills(): Promise<Proof> {
  const report = await torture({
    kills: KILLS,
    killsPerStop: KILLS + 1,
    minLifeMs: 80,
    maxLifeMs: 400,
    minAnswers: 5,
    clients: 8,
    lanes: 6,
    seed: Math.floor(Math.random() * 1_000_000),
    drainMs: MAX_MS / 2,
  });
  const { lost, doubled, halved, failed, strayed, unseen, overlapped, misdelivered } = report;
  const { answered, sendings, conversationFaults, liveTokens } = report;
  const ofConversations = [...conversationFaults, ...liveTokens];
  const wrong = [
    lost,
    doubled,
    halved,
    failed,
    strayed,
    unseen,
    overlapped,
    misdelivered,
    ofConversations,
  ].flat();
  return {
    claim: 'Accepted work survives: nothing is lost, doubled or half done',
    tried: `${KILLS} kills (SIGKILL) under load, ${answered} requests answered, ${sendings} sendings`,
    failed: wrong.map(String),
  };
}

interface FileResult {
  readonly message?: string;
  readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
}

/** Runs the test files of a claim. */
async function proveByTests({ claim, files, tries }: (typeof CLAIMS)[number]): Promise<Proof> {
  const output = join(tmpdir(), `sluice-prove-${process.pid}.json`);
  const args = ['run', '-c', 'test/vitest.config.ts', '--reporter=json', `--outputFile=${output}`, ...files];
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
  const env = { ...process.env, TEST_FORM: 'long' };
  const child = spawn(process.execPath, [vitest, ...args], { cwd: ROOT, env, stdio: 'ignore' });
  const timer = setTimeout(() => child.kill('SIGKILL'), begun + MAX_MS - performance.now());
  await new Promise<void>((resolve) => child.once('exit', () => resolve()));
  clearTimeout(timer);
  const text = await readFile(output, 'utf8').catch(() => undefined);
  await rm(output, { force: true });
  if (text === undefined && child.signalCode === 'SIGKILL') return { claim, tried: TOO_LONG };
  const { testResults } = JSON.parse(text ?? '{"testResults":[]}') as {
    readonly testResults: readonly FileResult[];
  };
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
  const failed = tests.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName);
  const passed = tests.filter(({ status }) => status === 'passed').length;
  if (failed.length > 0) return { claim, tried: tries(tests.length), failed };
  // What did not run, or was skipped here, proves nothing and disproves nothing.
  if (testResults.length < files.length) return { claim, tried: 'not tried: not all of its test files ran' };
  if (passed < tests.length || passed === 0)
    return {
      claim,
      tried: `not tried: ${tests.length - passed} of its ${tests.length} tests are skipped here`,
    };
  return { claim, tried: tries(passed), failed };
}

const resultOf = ({ failed }: Proof): string => {
  if (failed === undefined) return 'not tried';
  return failed.length === 0 ? 'held' : `**failed**: ${failed.join('; ').replaceAll('|', String.raw`\|`)}`;
};

function tableOf(proofs: readonly Proof[], tookMs: number): string {
  const rows = proofs.map((proof) => `| ${proof.claim} | ${proof.tried} | ${resultOf(proof)} |`);
  const when = new Date().toISOString().slice(0, 10);
  const head = `${when}, Node ${process.versions.node}, ${availableParallelism()} cores, ${Math.round(tookMs / 1000)} s in all:`;
  return `${head}\n\n| claim | tried | result |\n| --- | --- | --- |\n${rows.join('\n')}`;
}

async function pretty(text: string): Promise<string> {
  return format(text, { ...(await resolveConfig(README)), parser: 'markdown' });
}

async function writeReadme(table: string): Promise<void> {
  const page = await readFile(README, 'utf8');
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`README.md has no "${BEGIN}" followed by "${END}"`);
  const next = `${page.slice(0, begin)}${BEGIN}\n\n${table}\n\n${page.slice(end)}`;
  await writeFile(README, await pretty(next));
}

process.stderr.write(`${KILLS} kills under load\n`);
const proofs = [await proveKills()];
for (const each of CLAIMS) {
  process.stderr.write(`${each.claim}\n`);
  const hasTime = performance.now() - begun < MAX_MS;
  proofs.push(hasTime ? await proveByTests(each) : { claim: each.claim, tried: TOO_LONG });
}
const table = await pretty(tableOf(proofs, performance.now() - begun));
process.stdout.write(table);
const untried = proofs.filter(({ failed }) => failed === undefined);
if (process.argv.includes('--write') && untried.length === 0) await writeReadme(table);
else if (process.argv.includes('--write'))
  process.stderr.write('README.md stays as it is: not every claim was tried\n');
process.exitCode = proofs.every(({ failed }) => failed?.length === 0) ? 0 : 1;
