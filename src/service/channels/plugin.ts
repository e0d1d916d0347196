import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { createRequire, findPackageJSON } from 'node:module';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { CHANNEL_ALIASES, LAST_CHANNEL } from '../../base/action.ts';
import type { ChannelModule } from './channel.ts';
import { field } from '../../base/outgoing/outgoing.ts';

export interface LoadedPlugin {
  readonly module: ChannelModule;
  readonly url: string;
}

/**
 * Loads a channel plugin: a path (relative to the config file's folder), a `file:` URL, or a package name resolved
 * from that folder.
 * @throws Error that names the plugin and what is wrong with it
 */
export async function loadPlugin(spec: string, configDir: string): Promise<LoadedPlugin> {
  let url: string;
  let loaded: unknown;
  try {
    url = pluginUrl(spec, configDir);
    if (url.startsWith('file:') && !existsSync(fileURLToPath(url))) throw new Error('there is no such file');
    loaded = await import(url);
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n')[0] : String(error);
    throw new Error(`channel plugin ${spec} cannot be loaded: ${reason}`, { cause: error });
  }
  const exported = (loaded as { default?: unknown }).default;
  const problem = moduleProblem(exported);
  if (problem !== undefined) throw new Error(`channel plugin ${spec}: ${problem}`);
  return { module: exported as ChannelModule, url };
}

export function pluginFiles(specs: readonly string[], configDir: string): readonly string[] | undefined {
  try {
    return specs.map((spec) => realpathSync(fileURLToPath(pluginUrl(spec, configDir))));
  } catch {
    return undefined;
  }
}

function pluginUrl(spec: string, configDir: string): string {
  if (spec.startsWith('file:')) return spec;
  if (isAbsolute(spec)) return pathToFileURL(spec).href;
  if (spec.startsWith('.')) return pathToFileURL(resolve(configDir, spec)).href;
  const from = join(configDir, 'sluice.yaml');
  try {
    return pathToFileURL(createRequire(from).resolve(spec)).href;
  } catch (error) {
    const entry = findImportEntry(spec, from);
    if (entry === undefined) throw error;
    return pathToFileURL(entry).href;
  }
}

/** The file of a package that exports its root to `import` only, which `require.resolve` does not see. */
function findImportEntry(spec: string, from: string): string | undefined {
  const manifest = findPackageJSON(spec, from);
  if (manifest === undefined) return undefined;
  const { exports } = JSON.parse(readFileSync(manifest, 'utf8')) as { exports?: unknown };
  const root = field(exports, '.') ?? exports;
  const entry = field(root, 'import') ?? root;
  const file = field(entry, 'default') ?? entry;
  return typeof file === 'string' ? resolve(dirname(manifest), file) : undefined;
}

const FUNCTIONS = ['settingsProblems', 'recipientProblem', 'open'] as const satisfies (keyof ChannelModule)[];

function moduleProblem(exported: unknown): string | undefined {
  if (typeof exported !== 'object' || exported === null) {
    return `its default export must be a channel module, found ${exported === null ? 'null' : typeof exported}`;
  }
  const { id, packages } = exported as Partial<Record<keyof ChannelModule, unknown>>;
  if (typeof id !== 'string' || !/^[a-z0-9][a-z0-9_-]{0,31}$/.test(id)) {
    return 'its "id" must be 1 to 32 characters out of a-z, 0-9, "_" and "-"';
  }
  if (id === LAST_CHANNEL || Object.hasOwn(CHANNEL_ALIASES, id)) return `its id "${id}" is reserved`;
  const missing = FUNCTIONS.find((name) => typeof field(exported, name) !== 'function');
  if (missing !== undefined) return `its "${missing}" must be a function`;
  const isList = Array.isArray(packages) && packages.every((name) => typeof name === 'string');
  return packages === undefined || isList ? undefined : 'its "packages" must be a list of package names';
}
