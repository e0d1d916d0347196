import { say, type Sentence } from '../../../base/finding.ts';
import { homedir } from 'node:os';
import { dirname, resolve } from 'node:path';
import {
  findingAt,
  readBounded,
  type Finding,
  type LocatedValue,
  type Path,
} from '../../../base/document/document.ts';
import { isJsonObject, memberAt } from '../../../base/json.ts';
import { inHome } from './environment.ts';

const MAX_SECRETS_FILE_BYTES = 1024 * 1024;

export interface SecretsRead {
  readonly value: unknown;
  readonly findings: readonly Finding[];
  readonly secrets: readonly string[];
  readonly files: readonly string[];
}

export interface SecretOptions {
  /** Absolute path of the configuration. */
  readonly file: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** False: what cannot be read keeps a text in its place instead of being a finding. */
  readonly needSecrets: boolean;
}

interface SecretRef {
  readonly source: string;
  readonly provider?: string;
  readonly id: string;
}

/**
 * Replaces OpenClaw's SecretRef objects: `env` becomes `${NAME}`, `file` the value its provider's file holds. `exec`
 * and `store` comes from a program that OpenClaw runs or need their gateway's own store: each is a finding that says what to write.
 */
export async function readSecretRefs(root: LocatedValue, options: SecretOptions): Promise<SecretsRead> {
  const run: SecretResolution = { root, options, findings: [], secrets: [], files: [] };
  const value = await replaceIn(run, root.value, []);
  return { value, findings: run.findings, secrets: run.secrets, files: [...new Set(run.files)] };
}

interface SecretResolution {
  readonly root: LocatedValue;
  readonly options: SecretOptions;
  readonly findings: Finding[];
  readonly secrets: string[];
  readonly files: string[];
}

async function replaceIn(run: SecretResolution, value: unknown, path: Path): Promise<unknown> {
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    for (const [index, item] of value.entries()) items.push(await replaceIn(run, item, [...path, index]));
    return items;
  }
  if (!isJsonObject(value) || path[0] === 'secrets') return value;
  const ref = asSecretRef(value);
  if (ref !== undefined) return readRef(run, ref, path);
  const replaced: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) replaced[key] = await replaceIn(run, item, [...path, key]);
  return replaced;
}

function asSecretRef(value: Readonly<Record<string, unknown>>): SecretRef | undefined {
  const { source, provider, id } = value;
  if (typeof source !== 'string' || typeof id !== 'string') return undefined;
  if (!Object.keys(value).every((key) => key === 'source' || key === 'provider' || key === 'id'))
    return undefined;
  return typeof provider === 'string' ? { source, provider, id } : { source, id };
}

async function readRef(run: SecretResolution, ref: SecretRef, path: Path): Promise<unknown> {
  if (ref.source === 'env') return `\${${ref.id}}`;
  if (ref.source === 'file') return readFileRef(run, ref, path);
  const what =
    ref.source === 'exec'
      ? 'comes from a program that OpenClaw runs'
      : `is kept in ${ref.source.slice(0, 40)}, which only OpenClaw reads`;
  return unread(run, path, ref, say`Sluice does not read this secret: it ${what}`);
}

async function readFileRef(run: SecretResolution, ref: SecretRef, path: Path): Promise<unknown> {
  const provider = ref.provider ?? stringAt(run, ['secrets', 'defaults', 'file']) ?? 'default';
  const shown = `secrets.providers.${provider.slice(0, 80)}`;
  const name = stringAt(run, ['secrets', 'providers', provider, 'path']);
  if (name === undefined)
    return unread(run, path, ref, say`${shown}.path is missing: it says which file holds this secret`);
  const { file: config, env } = run.options;
  const file = resolve(dirname(config), inHome(name, env['HOME'] ?? homedir()));
  run.files.push(file);
  const found = await valueInFile(file, ref.id, stringAt(run, ['secrets', 'providers', provider, 'mode']));
  if (found === undefined)
    return unread(run, path, ref, say`the file of ${shown} holds no text under this id`);
  run.secrets.push(found);
  // A literal `${` of the secret is no reference.
  return found.replaceAll('${', () => '$${');
}

async function valueInFile(file: string, id: string, mode: string | undefined): Promise<string | undefined> {
  try {
    const bytes = await readBounded(file, MAX_SECRETS_FILE_BYTES);
    if (bytes.length > MAX_SECRETS_FILE_BYTES) return undefined;
    const text = bytes.toString('utf8');
    if (mode === 'singleValue') return text.trimEnd() || undefined;
    const keys = id
      .split('/')
      .slice(1)
      .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
    const value = memberAt(JSON.parse(text), keys);
    return typeof value === 'string' && value !== '' ? value : undefined;
  } catch {
    return undefined;
  }
}

function stringAt(run: SecretResolution, path: Path): string | undefined {
  const { value } = run.root.at(path);
  return typeof value === 'string' ? value : undefined;
}

/** Says that a secret is not known; returns what stands in its place. */
function unread(
  { options, findings, root }: SecretResolution,
  path: Path,
  ref: SecretRef,
  message: Sentence,
): string {
  const hint = say`write "\${NAME}" here and set that variable for sluice; OpenClaw reads this form, too`;
  if (options.needSecrets)
    findings.push(findingAt(root.place(path), { code: 'SECRET_REF_UNREADABLE', message, hint }));
  return `{${ref.source}: ${ref.id}}`;
}
