/**
 * What the real OpenClaw makes of the fixtures under `test/fixtures/openclaw/`: installs the package in a folder of its
 * own, asks its hook mappings (`expected.json` beside each `requests.json`), and then its gateway, started once for each
 * row of `test/support/openclaw-rows.ts` (`answers.json`) and with a Telegram (`last-route.json`).
 *
 * `node test/lab/endurance/openclaw-expected.ts` writes them; with `--check` it compares and exits 1 where one differs. Words
 * after it name rows, and only these are asked. Needs the npm registry, 700 MB, 1 GB of memory and some ten minutes.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { readDocument } from '../../../src/base/document/document.ts';
import { installOpenClaw, versionOf } from '../../support/openclaw-gateway.ts';
import { recordLastRoute, recordRow, type RecordedRow } from './openclaw-answers.ts';
import { ROWS } from '../../support/openclaw-rows.ts';

const FIXTURES = fileURLToPath(new URL('../../fixtures/openclaw/', import.meta.url));
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
  const named = process.argv.slice(2).filter((word) => word !== '--check');
  const openclaw = installOpenClaw();
  const differing: string[] = [];
  try {
    if (named.length === 0) {
      for (const file of globSync('*/requests.json', { cwd: FIXTURES })) {
        const name = dirname(file);
        if (REFUSED_THERE.includes(name)) continue;
        keep(`${name}/expected.json`, await expectedOf(openclaw.folder, join(FIXTURES, name)), differing);
      }
      keep('last-route.json', await recordLastRoute(openclaw), differing);
      process.stdout.write(`mappings and last route: ${differing.length} differ\n`);
    }
    const rows: Record<string, RecordedRow> = { ...recorded().rows };
    for (const row of ROWS) {
      if (named.length > 0 && !named.some((word) => row.name.includes(word))) continue;
      rows[row.name] = await recordRow(openclaw, row);
      const isAsRecorded = JSON.stringify(rows[row.name]) === JSON.stringify(recorded().rows[row.name]);
      process.stdout.write(`${isAsRecorded ? 'as recorded' : 'differs'}: ${row.name}\n`);
    }
    keep('answers.json', { package: 'openclaw', version: versionOf(openclaw), rows }, differing);
  } finally {
    openclaw.remove();
  }
  if (differing.length > 0) throw new Error(`these differ from the real package: ${differing.join(', ')}`);
}

const recorded = (): { readonly rows: Readonly<Record<string, RecordedRow>> } =>
  JSON.parse(readFileSync(join(FIXTURES, 'answers.json'), 'utf8')) as { rows: Record<string, RecordedRow> };

function keep(name: string, value: unknown, differing: string[]): void {
  const text = `${JSON.stringify(value, null, 2)}\n`;
  const target = join(FIXTURES, name);
  if (!process.argv.includes('--check')) writeFileSync(target, text);
  else if (readFileSync(target, 'utf8') !== text) differing.push(name);
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
  const { document } = await readDocument(join(fixture, 'openclaw.json'), { isOpenClaw: true });
  const hooks = document?.root.at(['hooks']).value as object;
  return { hooks: { ...hooks, token: 'a-hook-token-of-its-own' } };
}

await main();
