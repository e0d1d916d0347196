import { dirname, join } from 'node:path';
import { parseEnv } from 'node:util';
import { readBounded, type LocatedValue } from '../../../base/document/document.ts';
import { isJsonObject } from '../../../base/json.ts';

/** A path of the user's own folder (`~`) as an absolute one. */
export function inHome(path: string, home: string): string {
  return path.replace(/^~(?=$|[/\\])/, () => home);
}

const MAX_ENV_FILE_BYTES = 1024 * 1024;

type Variables = Readonly<Record<string, string | undefined>>;

export interface Environment {
  readonly env: Variables;
  /** Absolute paths of the `.env` files read. */
  readonly files: readonly string[];
}

/**
 * The variables an OpenClaw file may name: those of the process, then `.env` next to the configuration, then `.env` in
 * the state folder, then `env.vars` of the configuration. None replaces a value that is there already.
 */
export async function openClawEnvironment(
  root: LocatedValue,
  file: string,
  env: Variables,
): Promise<Environment> {
  const state = env['OPENCLAW_STATE_DIR'] ?? (env['HOME'] && join(env['HOME'], '.openclaw'));
  const folders = [...new Set([dirname(file), ...(state ? [state] : [])])];
  const files: string[] = [];
  const layers: Variables[] = [];
  for (const folder of folders) {
    const path = join(folder, '.env');
    const text = await readText(path);
    if (text === undefined) continue;
    files.push(path);
    layers.push(parseEnv(text));
  }
  return { env: mergeVariables(env, [...layers, inlineVariables(root)]), files };
}

/** The first value of each variable that is there and not empty. */
function mergeVariables(env: Variables, layers: readonly Variables[]): Variables {
  const merged: Record<string, string | undefined> = { ...env };
  for (const layer of layers) {
    for (const [name, value] of Object.entries(layer)) {
      if (merged[name] === undefined || merged[name] === '') merged[name] = value;
    }
  }
  return merged;
}

/** `env.vars`, and names written straight under `env` as older files have them. */
function inlineVariables(root: LocatedValue): Readonly<Record<string, string>> {
  const { value: written } = root.at(['env']);
  if (!isJsonObject(written)) return {};
  const vars = isJsonObject(written['vars']) ? written['vars'] : {};
  const entries = [...Object.entries(written), ...Object.entries(vars)];
  return Object.fromEntries(
    entries.flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  );
}

async function readText(file: string): Promise<string | undefined> {
  try {
    const bytes = await readBounded(file, MAX_ENV_FILE_BYTES);
    return bytes.length > MAX_ENV_FILE_BYTES ? undefined : bytes.toString('utf8');
  } catch {
    return undefined;
  }
}
