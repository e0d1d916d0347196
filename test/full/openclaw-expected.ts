/**
 * What the real OpenClaw makes of the fixtures under `test/fixtures/openclaw/`: installs the package in a folder of
 * its own and asks its hook mappings. `node test/full/openclaw-expected.ts` writes `expected.json` beside each
 * `requests.json`; with `--check` it compares and exits 1 where one differs. Needs the npm registry and about 700 MB.
 */
import { execFileSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { readDocument } from '../../src/document/document.ts';

const VERSION = '2026.9.6';
const FIXTURES = fileURLToPath(new URL('../fixtures/openclaw/', import.meta.url));
/** Their gateway refuses the whole file of this one; what is expected of us is in the test. */
const REFUSED_THERE = ['broken'];

interface Sent {
  readonly path: string;
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly payload: Readonly<Record<string, unknown>>;
}

interface TheirModule {
  readonly b: (mappings: unknown, context: object) => Promise<unknown>;
  readonly y: (config: object) => { readonly mappings: unknown };
}

async function main(): Promise<void> {
  const folder = process.env['OPENCLAW_FOLDER'] ?? install();
  try {
    const differing: string[] = [];
    for (const file of globSync('*/requests.json', { cwd: FIXTURES })) {
      const name = dirname(file);
      if (REFUSED_THERE.includes(name)) continue;
      const text = `${JSON.stringify(await expectedOf(folder, join(FIXTURES, name)), null, 2)}\n`;
      const target = join(FIXTURES, name, 'expected.json');
      if (!process.argv.includes('--check')) writeFileSync(target, text);
      else if (readFileSync(target, 'utf8') !== text) differing.push(name);
    }
    if (differing.length > 0) throw new Error(`these differ from the real package: ${differing.join(', ')}`);
  } finally {
    if (process.env['OPENCLAW_FOLDER'] === undefined) rmSync(folder, { recursive: true });
  }
}

function install(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-real-openclaw-'));
  writeFileSync(join(folder, 'package.json'), '{"private": true}');
  execFileSync('npm', ['install', '--ignore-scripts', `openclaw@${VERSION}`], {
    cwd: folder,
    stdio: 'inherit',
  });
  return folder;
}

async function expectedOf(folder: string, fixture: string): Promise<readonly unknown[]> {
  const dist = join(folder, 'node_modules/openclaw/dist');
  const [file = ''] = globSync('hooks-*.mjs', { cwd: dist }).filter((candidate) =>
    readFileSync(join(dist, candidate), 'utf8').includes('applyHookMappings as b'),
  );
  const theirs = (await import(pathToFileURL(join(dist, file)).href)) as TheirModule;
  process.env['OPENCLAW_CONFIG_PATH'] = join(fixture, 'openclaw.json');
  const { hooks } = await readTheirs(fixture);
  const { mappings } = theirs.y({ hooks });
  const requests = JSON.parse(readFileSync(join(fixture, 'requests.json'), 'utf8')) as readonly Sent[];
  const results: unknown[] = [];
  for (const { path, url = `/hooks/${path}`, headers = {}, payload } of requests) {
    const context = { payload, headers, url: new URL(url, 'http://localhost'), path };
    results.push(await theirs.b(mappings, context));
  }
  return results;
}

/** `hooks` of the file. Their command would print it with secrets and session keys blanked. */
async function readTheirs(fixture: string): Promise<{ readonly hooks: object }> {
  const { document } = await readDocument(join(fixture, 'openclaw.json'), { format: 'json5' });
  const hooks = document?.root.at(['hooks']).value as object;
  return { hooks: { ...hooks, token: 'a-hook-token-of-its-own' } };
}

await main();
