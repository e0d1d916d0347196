/**
 * Runs the tasks of `skills/sluice/evals/evals.json` with an agent's command line, each in a folder of its own, and judges
 * what the agent left there: by commands and requests, and by what must not have changed. No text of the agent is read.
 */
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { parse } from 'yaml';
import { cli } from './cli-terminal.ts';

const SKILL = join(import.meta.dirname, '../../skills/sluice');
const ENV = { SLUICE_HOOK_TOKEN: 'a-hook-token-0123456789', CI: 'true', PATH: process.env['PATH'] };

interface Request {
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** What must hold after the task. */
export type Check =
  /** A command, and how it ends. */
  | { readonly run: readonly string[]; readonly exit: number }
  /** What a request becomes, at a path of `explain --json`; null: nothing is there. */
  | { readonly request: Request; readonly at: string; readonly equals: unknown }
  /** What requests have in common there. */
  | { readonly alike: readonly Request[]; readonly at: string }
  /** Files and folders that are as they were. */
  | { readonly same: readonly string[] }
  /** More files than before, by so many at least. */
  | { readonly count: string; readonly least: number }
  /** Keys that are as they were, in each mapping and in the configuration. */
  | { readonly unchanged: readonly string[] };

export interface Task {
  readonly id: string;
  readonly prompt: string;
  readonly expected_output: string;
  readonly files: readonly string[];
  readonly assertions: readonly string[];
  readonly checks: readonly Check[];
}

export const TASKS = (
  JSON.parse(readFileSync(join(SKILL, 'evals/evals.json'), 'utf8')) as { readonly evals: readonly Task[] }
).evals;

/** How long an agent may take for a task. */
const MAX_MS = 10 * 60_000;

/** A command line, whose last argument will be the prompt, or what takes its place in this process. */
export type Agent = readonly string[] | ((prompt: string, folder: string) => void);

/** Gives a task to an agent; resolves to the checks that do not hold. */
export async function runTask(task: Task, agent: Agent): Promise<readonly Check[]> {
  const root = mkdtempSync(join(tmpdir(), 'sluice-task-'));
  try {
    const [before, after] = [join(root, 'before'), join(root, 'after')];
    const from = join('evals/files', task.id);
    for (const file of task.files) {
      const target = join(before, relative(from, file));
      mkdirSync(dirname(target), { recursive: true });
      cpSync(join(SKILL, file), target);
    }
    cpSync(before, after, { recursive: true });
    await cli(['init', '--skill'], { cwd: after });
    if (typeof agent === 'function') agent(task.prompt, after);
    else start(agent, task.prompt, after);
    const failed: Check[] = [];
    // Each starts processes for transforms: one after the other.
    // oxlint-disable-next-line no-await-in-loop
    for (const check of task.checks) if (!(await holds(check, { root, before, after }))) failed.push(check);
    return failed;
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

function start([command = '', ...args]: readonly string[], prompt: string, cwd: string): void {
  // As on its owner's machine: where CI is set, no expectation is written.
  const env = { ...process.env, CI: '' };
  spawnSync(command, [...args, prompt], { cwd, timeout: MAX_MS, stdio: 'ignore', env });
}

interface Folders {
  readonly root: string;
  readonly before: string;
  readonly after: string;
}

async function holds(check: Check, folders: Folders): Promise<boolean> {
  const { before, after } = folders;
  if ('run' in check) return (await cli(check.run, { cwd: after, env: ENV })).exitCode === check.exit;
  if ('request' in check) {
    const found = valueAt(await explained(check.request, folders), check.at);
    return isDeepStrictEqual(found ?? null, check.equals);
  }
  if ('alike' in check) {
    const [one, other] = check.alike as readonly [Request, Request];
    const found = valueAt(await explained(one, folders), check.at);
    return found !== undefined && found === valueAt(await explained(other, folders), check.at);
  }
  if ('same' in check)
    return check.same.every((name) => isDeepStrictEqual(textsIn(before, name), textsIn(after, name)));
  if ('count' in check)
    return (
      globSync(check.count, { cwd: after }).length - globSync(check.count, { cwd: before }).length >=
      check.least
    );
  const [was, is] = [settingsOf(before, check.unchanged), settingsOf(after, check.unchanged)];
  return isDeepStrictEqual(was, is);
}

/** What a request becomes; nothing where it cannot be said. */
async function explained(request: Request, { root, after }: Folders): Promise<unknown> {
  const file = join(root, 'judged.request.json');
  writeFileSync(file, JSON.stringify(request));
  const { out } = await cli(['explain', file, '--json'], { cwd: after, env: ENV });
  return out === ''
    ? undefined
    : (JSON.parse(out) as { readonly evaluations: readonly unknown[] }).evaluations[0];
}

const valueAt = (value: unknown, path: string): unknown =>
  path.split('.').reduce((inner, key) => (inner as Record<string, unknown> | undefined)?.[key], value);

function textsIn(folder: string, name: string): ReadonlyMap<string, string> {
  const path = join(folder, name);
  if (!existsSync(path)) return new Map();
  if (statSync(path).isFile()) return new Map([[name, readFileSync(path, 'utf8')]]);
  const files = globSync('**/*.*', { cwd: path }).filter((file) => statSync(join(path, file)).isFile());
  return new Map(files.toSorted().map((file) => [file, readFileSync(join(path, file), 'utf8')]));
}

/** The values of these keys wherever they stand in configuration and mappings, without a repeated one. */
function settingsOf(folder: string, keys: readonly string[]): readonly string[] {
  const found = new Set<string>();
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, inner] of Object.entries(value)) {
      if (keys.includes(key)) found.add(`${key}: ${JSON.stringify(inner)}`);
      visit(inner);
    }
  };
  for (const name of ['sluice.yaml', ...globSync('mappings/*.yaml', { cwd: folder })]) {
    try {
      visit(parse(readFileSync(join(folder, name), 'utf8')));
    } catch {
      found.add(`${name} cannot be read`);
    }
  }
  return [...found].toSorted();
}
