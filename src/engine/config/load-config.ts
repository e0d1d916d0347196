import { say } from '../../base/finding.ts';
import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import {
  displayName,
  fromZodError,
  type Finding,
  type LocatedValue,
  type Path,
  type OpenTexts,
} from '../../base/document/document.ts';
import { checkTokens } from './check-tokens.ts';
import { configSchema, type ConfigFile } from './config-schema.ts';
import { hideValues } from './hide-values.ts';
import { readConfig, type ReadConfig } from './read-config.ts';
import { resolveReferences, type ResolvedFile, type ResolveOptions } from './references.ts';
import { effectiveSettings } from './effective.ts';
import { createReporter, type ConfigReporter } from './reporter.ts';
import type { LoadedConfig } from './settings.ts';
import { toSettings } from './to-settings.ts';

/** Looked for in this order where no file is named. */
export const DEFAULT_CONFIG_FILES = ['sluice.yaml', 'sluice.json'] as const;

export interface LoadOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** False for commands that send and serve nothing (check, explain, test): a missing secret keeps its reference. */
  readonly needSecrets: boolean;
  /** True for `sluice dev`: a token may be missing (one is generated), and the echo runner is no warning. */
  readonly dev?: boolean;
  /** Working directory; default that of the process. */
  readonly cwd?: string;
  readonly open?: OpenTexts;
}

/** A configuration, unless one of the findings is an error. */
export interface LoadResult {
  readonly config?: LoadedConfig;
  readonly findings: readonly Finding[];
  /** In place of a configuration that was read but has errors, so that its mappings are checked all the same. */
  readonly remaining?: RemainingConfig;
  /** What its references lead to: what advice says of the findings must not show it (`hideValues`). */
  readonly secrets?: readonly string[];
}

export interface RemainingConfig extends Pick<LoadedConfig, 'inlineMappings'> {
  readonly mappingsDir: string;
  readonly transformsDir: string;
}

/**
 * Loads the configuration file (default `./sluice.yaml`, then `./sluice.json`). All findings come at once, in the
 * file's order.
 */
export async function loadConfig(file: string | undefined, options: LoadOptions): Promise<LoadResult> {
  const cwd = options.cwd ?? process.cwd();
  const found = DEFAULT_CONFIG_FILES.map((name) => join(cwd, name)).find((each) => existsSync(each));
  const path = file === undefined ? found : resolve(cwd, file);
  if (path === undefined) return { findings: [notFound(cwd)] };
  const { read, findings } = await readConfig(path, { ...options, cwd });
  if (read === undefined) return { findings };
  const built = await build({ read, path, options });
  return loadResult({ read, path, options }, { ...built, findings: [...findings, ...built.findings] });
}

/** What a file that was read became: a configuration, or what is known of one that has an error. */
function loadResult({ read, path }: BuildInput, built: ConfigBuild): LoadResult {
  const secrets = [...read.secrets, ...built.secrets];
  const findings = hideValues(inOrder(built.findings, read.original), secrets);
  if (
    built.settings === undefined ||
    built.effective === undefined ||
    findings.some(({ severity }) => severity === 'error')
  ) {
    return { findings, remaining: remainingOf(read, path), secrets };
  }
  const { original, behaviours: _behaviours, env: _env, reserved: _reserved, ...beside } = read;
  const files = [...read.files, ...built.files];
  const { settings, effective } = built;
  const config = { ...beside, settings, effective, file: path, root: original, secrets, files };
  return { config, findings };
}

/** In the order of the file; what concerns files that it includes or extends comes first. */
function inOrder(findings: readonly Finding[], root: LocatedValue): readonly Finding[] {
  const { file } = root.place([]).source;
  const position = ({ at }: Finding): number => (at === undefined || at.source.file !== file ? 0 : at.start);
  return findings.toSorted((a, b) => position(a) - position(b));
}

/** Where the mappings and transforms of a file with errors lie, by what it says of them. */
function remainingOf({ root, behaviours, inlineMappings }: ReadConfig, path: string): RemainingConfig {
  const directory = (key: string, otherwise: string): string => {
    const { value } = root.at(['hooks', key]);
    return resolve(dirname(path), typeof value === 'string' ? value : otherwise);
  };
  return {
    inlineMappings,
    mappingsDir: directory('mappingsDir', 'mappings'),
    transformsDir: directory('transformsDir', behaviours.transformsFolder ?? 'transforms'),
  };
}

interface BuildInput {
  readonly read: ReadConfig;
  readonly path: string;
  readonly options: LoadOptions;
}

interface ConfigBuild {
  readonly settings?: LoadedConfig['settings'];
  readonly effective?: LoadedConfig['effective'];
  readonly findings: readonly Finding[];
  readonly secrets: readonly string[];
  readonly files: readonly string[];
}

async function build({ read, path, options }: BuildInput): Promise<ConfigBuild> {
  const { root, behaviours, env } = read;
  const directory = dirname(path);
  const { resolved, reserved } = await resolveAll(read, {
    env,
    needSecrets: options.needSecrets,
    directory,
    schema: configSchema,
  });
  const findings: Finding[] = [...resolved.findings, ...reserved.flatMap((r) => r.findings)];
  const reporter = createReporter(root, findings);
  const parsed = parseKnown(resolved);
  const dev = options.dev === true;
  // Checked on what was written, so that a schema finding elsewhere does not hide it.
  const tokens = checkTokens(reporter, resolved.value, { dev, needSecrets: options.needSecrets, reserved });
  const secrets = [...resolved.secrets, ...reserved.flatMap((r) => r.secrets), ...tokens];
  const { files } = resolved;
  if (!parsed.success) {
    findings.push(...fromZodError(parsed.error, root, configSchema, 'configuration'));
    return { findings: explained(findings, root, resolved.unknown), secrets, files };
  }
  checkDeprecated(reporter);
  await checkDirectories(reporter, parsed.data, { directory, cwd: options.cwd });
  const settings = toSettings(parsed.data, { reporter, directory, env, behaviours, dev });
  const effective = (): ReturnType<typeof effectiveSettings> =>
    effectiveSettings(root, { file: parsed.data, settings, unknown: resolved.unknown });
  return { settings, effective, findings: withoutUnknown(findings, root, resolved.unknown), secrets, files };
}

/** The file and the reserved secrets with their references resolved. */
async function resolveAll({ root, reserved: also }: ReadConfig, options: ResolveOptions) {
  const read = await resolveReferences(root, options);
  // A file that is empty, or holds comments only, sets nothing.
  const resolved = { ...read, value: read.value ?? {} };
  const reserved = await Promise.all(
    also.map(async (located) => ({ located, ...(await resolveReferences(located, options)) })),
  );
  return { resolved, reserved };
}

/** A required value that is not known yet may be all that is wrong: then that is what is said. */
function explained(
  findings: readonly Finding[],
  root: LocatedValue,
  unknown: Parameters<typeof withoutUnknown>[2],
): readonly Finding[] {
  const known = withoutUnknown(findings, root, unknown);
  return known.some(({ severity }) => severity === 'error') ? known : findings;
}

/**
 * Checks the resolved content. What is refused only because its reference is not known is left out and checked again, with
 * what holds it where it is required, so that commands that need no secrets go on with the default.
 */
function parseKnown(resolved: ResolvedFile): ReturnType<typeof configSchema.safeParse> {
  const value = structuredClone(resolved.value);
  let paths = resolved.unknown;
  for (;;) {
    const parsed = configSchema.safeParse(value);
    const refused = new Set(parsed.error?.issues.map(({ path }) => JSON.stringify(path)));
    paths = paths.filter((path) => refused.delete(JSON.stringify(path)));
    if (paths.length === 0 || refused.size > 0) return parsed;
    paths = paths.map((path) => removeAt(value, path));
  }
}

/** Removes what stands at a path, or what would hold it; returns the path of what was removed. */
function removeAt(value: unknown, path: Path): Path {
  let object = value as Record<string, unknown> | undefined;
  for (const step of path.slice(0, -1)) object = object?.[step] as Record<string, unknown> | undefined;
  const last = path.at(-1);
  if (last === undefined) return path;
  if (object === undefined || !Object.hasOwn(object, last)) return removeAt(value, path.slice(0, -1));
  delete object[last];
  return path;
}

/** Leaves out findings about the form of values that are not known yet: only that they are missing counts. */
function withoutUnknown(
  findings: readonly Finding[],
  root: LocatedValue,
  unknown: readonly Path[],
): readonly Finding[] {
  const starts = new Set(unknown.map((path) => root.place(path).start));
  const kept = new Set(['MISSING_VARIABLE', 'INVALID_REFERENCE', 'SECRET_FILE_UNREADABLE', 'TOKEN_REUSED']);
  return findings.filter(({ code, at }) => at === undefined || kept.has(code) || !starts.has(at.start));
}

function notFound(cwd: string): Finding {
  const name = displayName(cwd, dirname(cwd));
  return {
    severity: 'error',
    code: 'CONFIG_NOT_FOUND',
    message: say`there is no ${DEFAULT_CONFIG_FILES.join(' or ')} in ${name}`,
    hint: say`name a file with --config, or make one with sluice init`,
  };
}

/** Tells of a key that still works and will go: in the schema it is marked `deprecated`. */
function checkDeprecated(reporter: ConfigReporter): void {
  const path: Path = ['gateway', 'maxRunsPerMapping'];
  if (reporter.root.at(path).value === undefined) return;
  reporter.report('DEPRECATED_KEY', path, {
    severity: 'warning',
    key: true,
    message: say`${path.join('.')} is deprecated: it works as before, and goes with a later minor version`,
    hint: say`remove it, and write maxRuns into each mapping`,
  });
}

/**
 * A directory that is named has to be there. Missing transforms are only a warning: a mapping that needs one reports
 * it, and one that needs none works.
 */
async function checkDirectories(
  reporter: ConfigReporter,
  file: ConfigFile,
  { directory, cwd }: { readonly directory: string; readonly cwd: string | undefined },
): Promise<void> {
  const { mappingsDir, transformsDir } = file.hooks;
  const checks = [
    { key: 'mappingsDir', name: mappingsDir, severity: 'error' },
    { key: 'transformsDir', name: transformsDir, severity: 'warning' },
  ] as const;
  for (const { key, name, severity } of checks) {
    const isWritten = reporter.root.at(['hooks', key]).value !== undefined;
    const path = resolve(directory, name ?? '');
    if (!isWritten || name === undefined || (await stat(path).catch(() => undefined))?.isDirectory() === true)
      continue;
    reporter.report('DIRECTORY_NOT_FOUND', ['hooks', key], {
      severity,
      message: say`hooks.${key} names a directory that does not exist: ${displayName(path, cwd)}`,
      hint:
        reporter.root.place(['hooks', key]).source.isOpenClaw === true
          ? say`create it, or correct the path: as there, it is relative to the folder hooks/transforms beside the file`
          : say`create it, or correct the path: it is relative to the configuration file`,
    });
  }
}
