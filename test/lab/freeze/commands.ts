/** Runs commands in a folder, in this process, and records what they said. */
import { readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { cli, type CliRun } from '../../support/cli-terminal.ts';
import { type CaseRecord, findingsIn, withoutClock } from './record.ts';

export interface Where {
  readonly cwd: string;
  readonly env?: NodeJS.ProcessEnv;
  /** The configuration; default `sluice.yaml`. */
  readonly config?: string;
}

async function run(args: readonly string[], { cwd, env = {}, config }: Where): Promise<CliRun> {
  const named = config === undefined ? args : [...args, '-c', config];
  return cli(named, { cwd, env: { PATH: '/usr/bin:/bin', HOME: '/nonexistent', ...env } });
}

/** What looks at the store or the machine tells times. */
const timeless = ({ exitCode, out, err }: CliRun): CliRun => ({
  exitCode,
  out: withoutClock(out),
  err: withoutClock(err),
});

function keep(record: CaseRecord, name: string, { exitCode, out, err }: CliRun): void {
  record.facts[`exit of ${name}`] = exitCode;
  record.texts[name] = err === '' ? out : `${out}[stderr]\n${err}`;
}

/** `check` as text and JSON, and, where asked, the files that `--fix` leaves. They are put back. */
export async function freezeCheck(record: CaseRecord, where: Where): Promise<boolean> {
  const json = await run(['check', '--json'], where);
  record.facts['exit of check --json'] = json.exitCode;
  record.findings.push(...findingsIn('check', parsed(json.out)));
  if (json.err !== '') record.texts['check --json, stderr'] = json.err;
  keep(record, 'check', await run(['check'], where));
  if (record.findings.some(({ by }) => by === 'check')) await freezeFix(record, where);
  return json.exitCode === 0;
}

async function freezeFix(record: CaseRecord, where: Where): Promise<void> {
  const before = filesIn(where.cwd);
  try {
    keep(record, 'check --fix', await run(['check', '--fix'], where));
    for (const [file, bytes] of filesIn(where.cwd))
      if (before.get(file)?.equals(bytes) !== true) record.mended[file] = bytes.toString('utf8');
  } finally {
    for (const file of Object.keys(record.mended)) {
      const was = before.get(file);
      if (was !== undefined) writeFileSync(join(where.cwd, file), was);
    }
  }
}

/** Small files of the operator: all that an edit may be made in. */
function filesIn(cwd: string): ReadonlyMap<string, Buffer> {
  const names = readdirSync(cwd, { recursive: true, encoding: 'utf8' });
  const files = names.filter(
    (name) => /\.(?:ya?ml|json5?|[cm]?[jt]s)$/.test(name) && !/node_modules|\.sluice/.test(name),
  );
  const small = files.filter((name) => {
    const found = statSync(join(cwd, name), { throwIfNoEntry: false });
    return found?.isFile() === true && found.size < 1_000_000;
  });
  return new Map(small.map((name) => [name, readFileSync(join(cwd, name))]));
}

export async function freezeDoctor(record: CaseRecord, where: Where): Promise<void> {
  const json = timeless(await run(['doctor', '--json'], where));
  record.findings.push(...findingsIn('doctor', parsed(json.out)));
  keep(record, 'doctor', timeless(await run(['doctor'], where)));
}

/** `explain` of a request file; each of its requests is a part of the case. */
export async function freezeExplain(record: CaseRecord, file: string, where: Where): Promise<void> {
  const json = await run(['explain', file, '--json'], where);
  keepExplained(record, 'explain', json);
  const { out, ...rest } = await run(['explain', file], where);
  keep(record, 'explain', { ...rest, out: out.replaceAll(/(?<=ran now in )[\d.]+ ms/g, 'SPAN') });
}

/** `explain` of something stored, by its id; `what` names it in the record. */
export async function freezeStored(
  record: CaseRecord,
  command: readonly string[],
  { what, ...where }: Where & { readonly what: string },
): Promise<void> {
  keepExplained(record, what, timeless(await run([...command, '--json'], where)));
  keep(record, what, timeless(await run(command, where)));
}

function keepExplained(record: CaseRecord, by: string, json: CliRun): void {
  const value = parsed(json.out);
  record.findings.push(...findingsIn(by, value));
  const { evaluations } = (value ?? {}) as { readonly evaluations?: readonly unknown[] };
  const list = evaluations ?? (value === undefined ? [] : [value]);
  record.facts[`outcome of ${by}`] = list.map(outcomeOf);
}

/** What became of a request; texts of ours are left out, those that were rendered are a digest. */
function outcomeOf(value: unknown): unknown {
  const { outcome, skippedBy, error, mapping, actions, considered, evaluation } = value as Record<
    string,
    unknown
  >;
  if (evaluation !== undefined) return outcomeOf(evaluation);
  const { status, code } = (error ?? {}) as Record<string, unknown>;
  const tried = ((considered ?? []) as readonly Record<string, unknown>[]).map(
    ({ id, matched, held, failed }) => [id, matched, held, (failed as { at?: string } | undefined)?.at],
  );
  const made = ((actions ?? []) as readonly object[]).map(withoutIds);
  return {
    outcome,
    skippedBy,
    status,
    code,
    mapping,
    considered: tried,
    actions: digest(`[${made.join(',')}]`),
  };
}

/** As text, because it is only compared. */
const withoutIds = (action: object): string =>
  JSON.stringify(action).replaceAll(
    /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|id=\\"[0-9a-f]{16}\\"|markers with the id [0-9a-f]{16}|(?<="nonce":)"[0-9a-f]+"/g,
    'ID',
  );

const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 12);

export async function freezeVerify(record: CaseRecord, file: string, where: Where): Promise<void> {
  const json = await run(['verify', file, '--json'], where);
  const verdicts = parsed(json.out);
  record.findings.push(...findingsIn('verify', verdicts));
  record.facts['verdicts'] = (
    (verdicts as { readonly proofs?: readonly Record<string, unknown>[] } | undefined)?.proofs ?? []
  ).map(({ path, scheme, proved, retired }) => ({ path, scheme, proved, retired }));
  keep(record, 'verify', await run(['verify', file], where));
}

/** A list of the store. The clock stands: a list with hints has a limit of time for them, and a busy machine is no change. */
export async function freezeList(record: CaseRecord, command: string, where: Where): Promise<void> {
  const { now } = Date;
  const startedAt = now();
  Date.now = () => startedAt;
  try {
    const json = timeless(await run([command, '--json'], where));
    record.findings.push(...findingsIn(command, parsed(json.out)));
    keep(record, command, timeless(await run([command], where)));
  } finally {
    Date.now = now;
  }
}

/** What a command printed as JSON, or as JSON lines; undefined where it printed none. */
function parsed(out: string): unknown {
  try {
    return JSON.parse(out) as unknown;
  } catch {
    const lines = out.split('\n').filter((line) => line.startsWith('{'));
    return lines.length === 0 ? undefined : lines.map((line) => JSON.parse(line) as unknown);
  }
}
