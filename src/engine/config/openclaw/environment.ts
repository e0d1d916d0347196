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

/**
 * The variables an OpenClaw file may name: those of the process, then `.env` next to the configuration, then `.env` in
 * the state folder, then `env.vars` of the configuration. None replaces a value that is there already. `files` are the
 * absolute paths of the `.env` files read.
 */
export async function openClawEnvironment(
  root: LocatedValue,
  file: string,
  env: Variables,
): Promise<{ readonly env: Variables; readonly files: readonly string[] }> {
  const state = env['OPENCLAW_STATE_DIR'] ?? (env['HOME'] && join(env['HOME'], '.openclaw'));
  const folders = [...new Set([dirname(file), ...(state ? [state] : [])])];
  const merged: Record<string, string | undefined> = { ...env };
  // The first value that is not empty counts.
  const merge = (layer: Variables): void => {
    for (const [name, value] of Object.entries(layer)) merged[name] ||= value;
  };
  const files: string[] = [];
  for (const folder of folders) {
    const path = join(folder, '.env');
    const text = await readText(path);
    if (text === undefined) continue;
    files.push(path);
    merge(parseEnv(text));
  }
  merge(inlineVariables(root));
  return { env: merged, files };
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
