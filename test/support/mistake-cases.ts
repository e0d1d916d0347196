/**
 * The mistakes of `test/mistakes/`: each is played against the real program, as the person had it and after the right
 * fix, and what `sluice dev` and `sluice explain ID` say of the request is kept.
 */
import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parse, stringify } from 'yaml';
import { builtMain } from './built-program.ts';
import { cli } from './cli-terminal.ts';
import { longerHere } from './longer-here.ts';

const FOLDER = join(import.meta.dirname, '../mistakes');
/** Columns of the terminal in which the person reads. */
const COLUMNS = 80;
const TOKEN = 'hook-token-0123456789abcdef';

/** One mistake, as its file says. */
export interface MistakeCase {
  readonly name: string;
  /** Where a person reported it. */
  readonly source: string;
  /** What the person did. */
  readonly mistake: string;
  /** Text of the file of mappings. */
  readonly mappings: string;
  /** Transforms that the right fix needs, by their file name. */
  readonly transforms?: Readonly<Record<string, string>>;
  /** Variables of the service: secrets of senders. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly request: MistakeRequest;
  readonly expect: {
    /** Status and code of the answer. */
    readonly answer: number | string;
    /** What the first hint is about: a key of the mapping or of the configuration, or `request` for the sender. */
    readonly place: string;
    /** How sure the hint may be. */
    readonly confidence: 'certain' | 'likely' | 'guess';
    /** A pattern that the hint contains. */
    readonly says: string;
  };
  /** The right fix, as replaced texts: of the mappings, or of what `in` names. */
  readonly right: readonly { readonly in?: string; readonly from?: string; readonly to: string }[];
  /** Status of the answer after the right fix. */
  readonly after: number;
}

interface MistakeRequest {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** The body byte for byte, in place of `body`. */
  readonly raw?: string;
  readonly sign?: {
    readonly header: string;
    /** With `{time}`, `{hex}` and `{base64}`. */
    readonly value: string;
    /** With `{time}` and `{body}`. */
    readonly signed: string;
    readonly timeHeader?: string;
    readonly key: string;
    readonly keyEncoding?: 'base64';
  };
}

/** What became of a mistake. */
export interface Played {
  /** Status and, where it was refused, its code. */
  readonly answer: string;
  /** What `explain ID` prints; each time it opens the store anew. */
  explain(): Promise<readonly string[]>;
  /** What `dev` prints about the request, and all that comes with it. */
  dev(): Promise<readonly string[]>;
}

/** What serves the mistakes: a command with its defaults, or with lines more in the configuration. */
export interface Serving {
  readonly command: 'dev' | 'serve';
  readonly settings?: string;
}

/** All mistakes, by their names. */
export function readMistakes(): readonly MistakeCase[] {
  return readdirSync(FOLDER)
    .filter((file) => file.endsWith('.yaml'))
    .map((file) => {
      const read = parse(readFileSync(join(FOLDER, file), 'utf8')) as Omit<MistakeCase, 'name'>;
      return { name: file.replace(/\.yaml$/, ''), ...read };
    });
}

/** The same with the right fix in it; `hooks`: lines that it adds to the configuration. */
export function corrected(mistake: MistakeCase): MistakeCase & { readonly hooks: string } {
  let { mappings, request, environment } = mistake;
  let hooks = '';
  for (const { in: where = 'mappings', from = '', to } of mistake.right) {
    if (where === 'hooks') hooks += `  ${to}\n`;
    else if (where === 'method') request = { ...request, method: to };
    else if (where === 'request') request = { ...request, raw: swap(request.raw ?? '', from, to) };
    else if (where === 'headers') request = { ...request, headers: swapIn(request.headers, from, to) };
    else if (where === 'environment') environment = swapIn(environment, from, to);
    else mappings = swap(mappings, from, to);
  }
  return { ...mistake, mappings, request, hooks, ...(environment === undefined ? {} : { environment }) };
}

function swap(text: string, from: string, to: string): string {
  if (!text.includes(from)) throw new Error(`there is no ${from} in ${text}`);
  return text.replace(from, () => to);
}

const swapIn = (texts: Readonly<Record<string, string>> = {}, from: string, to: string) =>
  Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, text.replace(from, to)]));

const CONFIG = `hooks:
  enabled: true
  token: \${SLUICE_HOOK_TOKEN}
  authFailuresPerMinute: 1000
  defaults: { summary: failures, limits: { runsPerHour: 60, runsPerHourAndSession: 20 } }
HOOKSserver: { port: 0 }
gateway: { runner: echo }
`;

/** A folder in which a command serves one mistake after the other. */
export interface MistakesPlayed {
  /** Writes the files of a case, waits until they are served, and sends its request. */
  play(mistake: MistakeCase & { readonly hooks?: string }): Promise<Played>;
  end(): Promise<void>;
}

/** Starts the command, with the secrets of all cases, before and after their fixes. */
export async function openMistakes(
  mistakes: readonly MistakeCase[],
  { command, settings = '' }: Serving = { command: 'dev' },
): Promise<MistakesPlayed> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'sluice-mistake-')));
  const written = new Map<string, string>();
  const put = (file: string, text: string): boolean => {
    if (written.get(file) === text) return false;
    written.set(file, text);
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
    return true;
  };
  const variables = mistakes.flatMap((each) => [...variablesOf(each), ...variablesOf(corrected(each))]);
  const env = { PATH: process.env['PATH'], SLUICE_HOOK_TOKEN: TOKEN, ...Object.fromEntries(variables) };
  const config = (hooks = ''): string => CONFIG.replace('HOOKS', hooks) + settings;
  put('sluice.yaml', config());
  put('mappings/hooks.yaml', '[]\n');
  const dev = await start(command, folder, env);
  const print = async (...args: readonly string[]): Promise<readonly string[]> => {
    const { out, err } = await cli(args, { cwd: folder, env, columns: COLUMNS });
    return `${out}${err}`.trimEnd().replaceAll(`${folder}/`, '').split('\n');
  };
  /** What `explain` says once the run has ended: it says more of one that is under way. */
  const explainEnded = async (id: string, triesLeft = 100): Promise<readonly string[]> => {
    const lines = await print('explain', id);
    const isUnderWay = lines.some((line) => /^ {2}(?:queued|active)\b/.test(line));
    if (!isUnderWay || triesLeft === 0) return lines;
    await new Promise((done) => setTimeout(done, 50));
    return explainEnded(id, triesLeft - 1);
  };
  return {
    play: async (mistake) => {
      const names = Object.fromEntries(variablesOf(mistake).map(([name]) => [plainName(name), name]));
      const mappings = mistake.mappings.replaceAll(
        /\$\{(\w+)\}/g,
        (_, name: string) => `\${${names[name] ?? name}}`,
      );
      dev.mark();
      const transforms = Object.entries(mistake.transforms ?? {}).map(([file, text]) =>
        put(`transforms/${file}`, text),
      );
      const changed = [put('sluice.yaml', config(mistake.hooks)), put('mappings/hooks.yaml', mappings)];
      if ([...changed, ...transforms].includes(true)) await dev.reloaded();
      dev.mark();
      const response = await send(dev.url, mistake.request);
      const id = response.headers.get('x-request-id') ?? '';
      const { code = '' } = (await response.json().catch(() => ({}))) as { code?: string };
      return {
        answer: `${response.status} ${code}`.trim(),
        explain: () => explainEnded(id),
        dev: () => dev.linesOf(id),
      };
    },
    end: async () => {
      await dev.end();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The variables of a case under names of its own, as all cases have one service. */
function variablesOf({ name, environment = {} }: MistakeCase): readonly (readonly [string, string])[] {
  // Put together here, so that no file holds what looks like a key of somebody.
  const secret = (text: string): string => text.replace('{random}', '51Nk'.padEnd(24, 'V2eZvKYlo2C'));
  return Object.entries(environment).map(([variable, text]) => {
    const own = createHmac('sha256', name).update(text).digest('hex').slice(0, 8).toUpperCase();
    return [`${variable}_${own}`, secret(text)];
  });
}

const plainName = (variable: string): string => variable.replace(/_[0-9A-F]{8}$/, '');

async function send(url: string, { method = 'POST', path, headers, body, raw, sign }: MistakeRequest) {
  const now = Date.now();
  const text = raw ?? JSON.stringify(body)?.replace('"{milliseconds}"', String(now)) ?? '';
  const proof: Record<string, string> = sign === undefined ? { authorization: `Bearer ${TOKEN}` } : {};
  if (sign !== undefined) {
    const time = String(Math.floor(now / 1000));
    const signed = sign.signed.replace('{time}', time).replace('{body}', () => text);
    const digest = createHmac('sha256', Buffer.from(sign.key, sign.keyEncoding ?? 'utf8')).update(signed);
    const [bytes] = [digest.digest()];
    proof[sign.header] = sign.value
      .replace('{time}', time)
      .replace('{hex}', bytes.toString('hex'))
      .replace('{base64}', bytes.toString('base64'));
    if (sign.timeHeader !== undefined) proof[sign.timeHeader] = time;
  }
  const own = Object.entries(headers ?? {}).map(([name, value]) => [name, value.replace('{token}', TOKEN)]);
  const content = method === 'GET' ? {} : { 'content-type': 'application/json' };
  const sent = { ...content, ...proof, ...Object.fromEntries(own) };
  return fetch(`${url}/hooks/${path}`, {
    method,
    headers: sent,
    ...(method === 'GET' ? {} : { body: text }),
  });
}

/** A terminal of 80 columns without colours. */
const NARROW = `data:text/javascript,Object.assign(process.stdout,{isTTY:true,columns:${COLUMNS}})`;
/** Only ends what hangs. */
const LIFE_MS = 30 * 60_000;
/** A run ends, and what only then is known is said, within this; on a busy machine it takes longer. */
const SETTLED_MS = 300;
const UNTOLD_MS = 1_000;

async function start(command: Serving['command'], folder: string, env: NodeJS.ProcessEnv) {
  const child = spawn(process.execPath, ['--import', NARROW, builtMain(), command], {
    cwd: folder,
    env: { ...env, NO_COLOR: '1', NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] },
    timeout: LIFE_MS,
  });
  let err = '';
  let changedAt = Date.now();
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk.toString();
    changedAt = Date.now();
  });
  const ended = new Promise<void>((done) => child.on('close', () => done()));
  const until = async (isSo: () => boolean): Promise<void> => {
    for (const began = Date.now(); !isSo() && child.exitCode === null;) {
      if (Date.now() - began > LIFE_MS) throw new Error(`it did not come to that:\n${err}`);
      await new Promise((done) => setTimeout(done, 20));
    }
  };
  await until(() => /Ctrl-C stops|"msg":"ready"/.test(err));
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(err)?.[0];
  if (url === undefined) throw new Error(`${command} did not start:\n${err}`);
  let from = err.length;
  const since = (): string => err.slice(from);
  return {
    url,
    mark: (): void => void (from = err.length),
    reloaded: (): Promise<void> => {
      if (command === 'serve') child.kill('SIGHUP');
      return until(() => /reloaded/.test(since()));
    },
    linesOf: async (id: string): Promise<readonly string[]> => {
      // Of an answered question of a provider there is no line.
      const began = Date.now();
      const [untoldMs, settledMs] = [longerHere(UNTOLD_MS), longerHere(SETTLED_MS)];
      const isTold = (): boolean => since().includes(id) || Date.now() - began > untoldMs;
      await until(() => isTold() && Date.now() - changedAt > settledMs);
      return since().trim().split('\n');
    },
    end: async (): Promise<void> => {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** Rows that lines take on the terminal. */
export const rowsOf = (lines: readonly string[]): number =>
  lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / COLUMNS)), 0);

/** What `sluice check` says of the files with the request at hand as a sample, before anything is sent. */
export async function checkWithSample(mistake: MistakeCase & { readonly hooks?: string }): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-mistake-'));
  const put = (name: string, text: string): void => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  };
  const { path, headers = {}, body, raw, sign } = mistake.request;
  put('sluice.yaml', CONFIG.replace('HOOKS', mistake.hooks ?? ''));
  put('mappings/hooks.yaml', mistake.mappings);
  for (const [name, text] of Object.entries(mistake.transforms ?? {})) put(`transforms/${name}`, text);
  const proof = sign?.value
    .replace('{time}', '1700000000')
    .replace('{hex}', '[removed: 64 of hex]')
    .replace('{base64}', '[removed: 44 of base64]');
  const sent = { ...headers, ...(sign === undefined ? {} : { [sign.header]: proof }) };
  if (raw !== undefined) put(`samples/${path}/sent`, raw);
  const own = raw === undefined ? { body } : { bodyFile: 'sent' };
  put(`samples/${path}/a.request.yaml`, stringify({ path, headers: sent, ...own }));
  try {
    const env = {
      SLUICE_HOOK_TOKEN: TOKEN,
      ...Object.fromEntries(variablesOf(mistake).map(([name, text]) => [plainName(name), text])),
    };
    const { out, err } = await cli(['check'], { cwd: folder, env });
    // What is shown of the files is said by nobody.
    return `${out}${err}`.replaceAll(/^ *>? *\d* \|.*$/gm, '');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
