/** The cases of the repository: one family each, told apart by their names (`mapping/CONDITION_ARITY`, `golden/github/ping`). */
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { advise } from '../../../src/authoring/advice/advice.ts';
import type { Finding } from '../../../src/base/document/document.ts';
import { applyEdits, formatFindings } from '../../../src/base/document/facts.ts';
import type { Place, TextEdit } from '../../../src/base/finding.ts';
import * as config from '../../findings/config.ts';
import * as document from '../../findings/document.ts';
import * as generation from '../../findings/generation.ts';
import * as golden from '../../findings/golden.ts';
import * as mapping from '../../findings/mapping.ts';
import * as sandbox from '../../findings/sandbox.ts';
import { said } from '../../support/said.ts';
import { parse } from 'yaml';
import { tamper } from '../../engine/verify/tamper.ts';
import { type Vector, VECTORS } from '../../engine/verify/vectors.ts';
import { freezeCheck, freezeDoctor, freezeExplain, freezeVerify } from './commands.ts';
import type { CaseRecord } from './record.ts';

/** One case: what to do where it is asked for. */
export interface Task {
  readonly name: string;
  record(record: CaseRecord): Promise<void>;
}

/** `work` is a folder of this run with the inputs in it; nothing outside it is written. */
export function repositoryTasks(work: string): readonly Task[] {
  return [...findingTasks(work), ...goldenTasks(work), ...fixtureTasks(work), ...proofTasks(work)];
}

const modules = { config, document, generation, golden, mapping, sandbox };

function findingTasks(work: string): readonly Task[] {
  return Object.entries(modules).flatMap(([module, { check }]) => {
    const folder = join(work, 'test/findings', module);
    if (!existsSync(folder)) return [];
    return readdirSync(folder)
      .toSorted()
      .map((name) => ({
        name: `${module}/${name}`,
        record: async (record: CaseRecord) => {
          keepFindings(record, advise(await check(join(folder, name))));
          await asCommands(record, module, { folder: join(folder, name), work });
        },
      }));
  });
}

/** The findings of a module's own function, with the files as their fixes leave them. */
function keepFindings(record: CaseRecord, found: readonly Finding[]): void {
  for (const finding of found) {
    const { code, severity, message, hint, at } = finding;
    const { audience } = finding as { readonly audience?: string };
    const edits = editsOf(finding);
    record.findings.push({
      by: 'module',
      code,
      place: at === undefined ? '' : placeOf(at),
      severity,
      ...(audience === undefined ? {} : { audience }),
      fix: edits.map((edit) => `${placeOf(edit.at)}-${String(edit.at.end)}: ${edit.text}`),
      text: [said(message), said(hint)].filter(Boolean).join('; '),
    });
    for (const file of new Set(edits.map((edit) => edit.at.source.file))) {
      const own = edits.filter((edit) => edit.at.source.file === file);
      const place = at === undefined ? '' : placeOf(at);
      record.mended[`${code} at ${place}: ${file}`] = applyEdits(own[0]?.at.source.text ?? '', own);
    }
  }
  record.texts['findings'] = formatFindings(found);
}

/** The changes of files that a finding asks for, in this and in the coming shape of one. */
function editsOf(finding: Finding): readonly TextEdit[] {
  const { edit } = finding;
  if (edit !== undefined) return [edit];
  return deepEdits((finding as { readonly fix?: unknown }).fix);
}

function deepEdits(value: unknown): readonly TextEdit[] {
  if (typeof value !== 'object' || value === null) return [];
  if ('at' in value && 'text' in value && typeof value.text === 'string') return [value as TextEdit];
  return Object.values(value).flatMap(deepEdits);
}

function placeOf({ source: { file, text }, start }: Place): string {
  const before = text.slice(0, start).split('\n');
  return `${file}:${String(before.length)}:${String((before.at(-1)?.length ?? 0) + 1)}`;
}

const SURROUNDINGS = `hooks: { enabled: true, token: a-hook-token-0123456789 }
gateway: { runner: { kind: echo } }
agents: { defaults: { models: [anthropic/claude-opus-4-8, openai/gpt-6], aliases: { opus: anthropic/claude-opus-4-8 } } }
`;

const ENV = {
  HOOK_TOKEN: 'hook-token-from-env',
  SAME: 'one-secret-for-both',
  EMPTY: '',
  WORD: 'abc',
  CODEX_API_KEY: 'key-from-env',
};

/** The same case as a person meets it: by `check`, `check --fix` and `doctor`. */
async function asCommands(
  record: CaseRecord,
  module: string,
  { folder, work }: { readonly folder: string; readonly work: string },
): Promise<void> {
  const cwd = mkdtempSync(join(work, 'case-'));
  try {
    if (module === 'mapping') {
      writeFileSync(join(cwd, 'sluice.yaml'), SURROUNDINGS);
      cpSync(folder, join(cwd, 'mappings'), { recursive: true, verbatimSymlinks: true, filter: isInput });
      await inFolder(cwd, () => freezeCheck(record, { cwd, env: ENV }));
    } else if (module === 'config' || module === 'generation') {
      cpSync(folder, cwd, { recursive: true, verbatimSymlinks: true, filter: isInput });
      const name = readdirSync(cwd).find((file) => /^(?:sluice|openclaw)\./.test(file)) ?? 'sluice.yaml';
      const where = { cwd, env: ENV, config: name };
      await inFolder(cwd, async () => {
        await freezeCheck(record, where);
        if (!ASKS_OTHERS.test(textOf(join(cwd, name)))) await freezeDoctor(record, where);
      });
    }
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}

const isInput = (file: string): boolean => basename(file) !== 'expected.txt';

/** Settings that `doctor` tries by asking another machine. */
const ASKS_OTHERS = /channels|mail|telegram|slack|discord/i;

const textOf = (file: string): string => (existsSync(file) ? readFileSync(file, 'utf8') : '');

/** Printed places are relative to the working directory, and so without this machine's folders. */
export async function inFolder(cwd: string, act: () => Promise<unknown>): Promise<void> {
  const before = process.cwd();
  process.chdir(cwd);
  try {
    await act();
  } finally {
    process.chdir(before);
  }
}

function requestFiles(folder: string): readonly string[] {
  const names = existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: 'utf8' }) : [];
  return names.filter((name) => /\.request\.(?:ya?ml|json)$/.test(name)).toSorted();
}

/** The golden cases of a folder, explained and judged with the files of the repository. */
function goldenTasks(work: string): readonly Task[] {
  const folder = join(work, 'test/golden');
  return readdirSync(folder)
    .toSorted()
    .map((name) => ({
      name: `golden/${name}`,
      record: (record) => explainAll(record, join(folder, name), work),
    }));
}

/** As one request file: loading the transforms takes longer than all requests. */
async function explainAll(record: CaseRecord, folder: string, cwd: string): Promise<void> {
  const files = requestFiles(folder).map((name) => join(folder, name));
  const deliveries = files.flatMap((file) => {
    const read = parse(readFileSync(file, 'utf8')) as Delivery & {
      readonly deliveries?: readonly Delivery[];
    };
    return (read.deliveries ?? [read]).map((delivery) =>
      delivery.bodyFile === undefined
        ? delivery
        : { ...delivery, bodyFile: relative(cwd, join(dirname(file), delivery.bodyFile)) },
    );
  });
  const all = join(cwd, 'all.request.yaml');
  writeFileSync(all, JSON.stringify({ deliveries }));
  await inFolder(cwd, () => freezeExplain(record, 'all.request.yaml', { cwd }));
}

interface Delivery {
  readonly bodyFile?: string;
}

function fixtureTasks(work: string): readonly Task[] {
  const folder = join(work, 'test/fixtures');
  const upgrade = join(folder, 'upgrade/0.1.0');
  const openclaw = existsSync(join(folder, 'openclaw'))
    ? readdirSync(join(folder, 'openclaw')).toSorted()
    : [];
  return [
    {
      name: 'fixtures/repository',
      record: (record) => freezeDoctor(record, { cwd: work }),
    },
    ...openclaw
      .map((name) => join(folder, 'openclaw', name))
      .filter((cwd) => existsSync(join(cwd, 'openclaw.json')))
      .map((cwd) => ({
        name: `fixtures/openclaw-${basename(cwd)}`,
        record: (record: CaseRecord) => inFolder(cwd, () => freezeOpenClaw(record, cwd)),
      })),
    {
      name: 'fixtures/upgrade',
      record: (record) =>
        inFolder(upgrade, async () => {
          await freezeCheck(record, { cwd: upgrade });
          await freezeDoctor(record, { cwd: upgrade });
        }),
    },
    {
      name: 'fixtures/upgrade-requests',
      record: (record) => explainAll(record, join(upgrade, 'test/golden'), upgrade),
    },
  ];
}

async function freezeOpenClaw(record: CaseRecord, cwd: string): Promise<void> {
  const where = { cwd, config: 'openclaw.json' };
  await freezeCheck(record, where);
  const requests = JSON.parse(readFileSync(join(cwd, 'requests.json'), 'utf8')) as readonly {
    readonly path: string;
    readonly payload: unknown;
    readonly headers?: object;
  }[];
  const deliveries = requests.map(({ path, payload, headers = {} }) => ({ path, headers, body: payload }));
  writeFileSync(join(cwd, 'all.request.yaml'), JSON.stringify({ deliveries }));
  await freezeExplain(record, 'all.request.yaml', where);
}

/** Each provider's signed request, as it is and changed on the way, judged by the doctor of proofs. */
function proofTasks(work: string): readonly Task[] {
  return VECTORS.flatMap((vector) =>
    [{ name: 'as it is', vector, laterSeconds: 0 }, ...tamper(vector)].map((variant) => ({
      name: `proofs/${vector.name}/${variant.name.replaceAll(/\W+/g, '-')}`,
      record: (record: CaseRecord) => freezeProof(record, work, variant),
    })),
  );
}

async function freezeProof(
  record: CaseRecord,
  work: string,
  { vector, laterSeconds = 0 }: { readonly vector: Vector; readonly laterSeconds?: number },
): Promise<void> {
  const { request, proof, sentAt } = vector;
  const cwd = mkdtempSync(join(work, 'case-'));
  const url = new URL(request.url);
  const headers: Record<string, string> = {};
  for (let index = 0; index < request.rawHeaders.length; index += 2)
    headers[request.rawHeaders[index] as string] = request.rawHeaders[index + 1] as string;
  // A request file's body is JSON unless a header says otherwise.
  if (
    !Object.keys(headers).some((name) => /^content-type$/i.test(name)) &&
    !/^[[{]/.test(request.body.toString())
  )
    headers['content-type'] = 'text/plain';
  const settings = proof.settings as unknown as { readonly secrets?: readonly string[] };
  const names = proof.secrets.map((_, index) => `SECRET_${String(index)}`);
  const env = Object.fromEntries(names.map((name, index) => [name, proof.secrets[index]]));
  const secrets = settings.secrets === undefined ? {} : { secrets: names.map((name) => `\${${name}}`) };
  const verify = { ...settings, ...secrets };
  const files = {
    'sluice.yaml': {
      hooks: { enabled: true, token: 'a-hook-token-0123456789' },
      server: { publicUrl: url.origin },
    },
    'mappings/x.yaml': { id: 'x', match: { path: 'x' }, verify, messageTemplate: '{{text}}' },
    'it.request.yaml': {
      path: 'x',
      headers,
      query: Object.fromEntries(url.searchParams),
      bodyFile: 'body',
      now: new Date((sentAt + laterSeconds) * 1000).toISOString(),
    },
  };
  try {
    mkdirSync(join(cwd, 'mappings'));
    for (const [file, value] of Object.entries(files)) writeFileSync(join(cwd, file), JSON.stringify(value));
    writeFileSync(join(cwd, 'body'), request.body);
    await inFolder(cwd, () => freezeVerify(record, 'it.request.yaml', { cwd, env }));
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}
