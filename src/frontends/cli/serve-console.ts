import { dirname, join } from 'node:path';
import { hooksAddress, type Settings, stateFolder } from '../../engine/config/config.ts';
import type {
  ConsoleDeps,
  ConsoleGeneration,
  DraftFolders,
  LoadedWork,
  RunningConsole,
  Workshop,
} from '../console/console.ts';
import {
  loadGeneration,
  loadKeptGeneration,
  type Generation,
  type GenerationOptions,
  type LoadedGeneration,
} from '../../service/generation/generation.ts';
import type { ReadKept } from '../../engine/hook/hook.ts';
import { defined } from '../../base/json.ts';
import { asItWasRead } from '../../base/payload/payload.ts';
import { Sandbox, typecheckTransforms } from '../../engine/sandbox/sandbox.ts';
import type { ConsoleParts } from '../../service/startup/startup.ts';
import type { Log } from '../../base/telemetry/telemetry.ts';
import { advise } from './lazy-advice.ts';
import { toWire } from './sender-request.ts';

/** One above the service's own. */
const DEFAULT_CONSOLE_PORT = 8788;

export interface ConsoleContext {
  readonly mode: 'dev' | 'serve';
  readonly configFile: string;
  readonly env: NodeJS.ProcessEnv;
  readonly log: Log;
}

/** Where the file with the console's key may be: beside the configuration, else where the service keeps its state. */
function consoleKeyFiles(configFile: string, env: NodeJS.ProcessEnv): readonly string[] {
  const directory = dirname(configFile);
  const elsewhere = stateFolder('console', { directory, env, name: 'console-key' });
  return [join(directory, '.sluice', 'console-key'), elsewhere];
}

/** Serves the console where the configuration, or the command, says so: `dev` on this machine only. */
export async function openConsole(
  { mode, configFile, env, log }: ConsoleContext,
  parts: ConsoleParts,
): Promise<RunningConsole | undefined> {
  const { settings } = parts.live().config;
  if (!(settings.console.enabled ?? mode === 'dev')) return undefined;
  const { startConsole } = await import('../console/console.ts');
  return startConsole({
    ...parts,
    ...addressesOf(settings, parts.url, mode),
    takeAgain: (kept, root) => takeAgain(parts, kept, root),
    mode,
    keyFiles: consoleKeyFiles(configFile, env),
    log,
    goldenDir: join(dirname(configFile), 'test', 'golden'),
    openWorkshop: () => createWorkshop(configFile, env, () => true),
  });
}

/** Where it listens and is reached, and where hooks are sent to. A port that nobody chose may be another one. */
function addressesOf(
  settings: Settings,
  serviceUrl: string,
  mode: ConsoleContext['mode'],
): Pick<ConsoleDeps, 'listen' | 'publicUrl' | 'hooksUrl'> {
  const { port, host, publicUrl } = settings.console;
  const isFixed = port !== undefined || mode === 'serve';
  const listen = { host: mode === 'dev' ? '127.0.0.1' : host, port: port ?? DEFAULT_CONSOLE_PORT };
  return {
    listen: { ...listen, ...(isFixed ? {} : { otherPort: 0 }) },
    ...(publicUrl === undefined ? {} : { publicUrl }),
    hooksUrl: hooksAddress(serviceUrl, settings),
  };
}

/** By the way every request goes, with what its sender sent; the key keeps it from being taken twice. */
function takeAgain(
  { deliver, live }: ConsoleParts,
  { request, unread }: ReadKept,
  root: string,
): ReturnType<ConsoleParts['deliver']> {
  const { path: name, query } = request;
  const settings = live().table.settingsOf(name);
  const { body, headers } = toWire(
    { request: asItWasRead(request), ...defined({ rawBody: unread }) },
    settings,
    '',
  );
  return deliver({ name, body, idempotencyKey: `replay:${root}`, again: { headers, query } });
}

/** Transforms that the draft does not change are taken from the files as they are. */
async function loadDraft(
  configFile: string,
  folders: DraftFolders,
  { options, base }: { readonly options: GenerationOptions; readonly base: Generation | undefined },
): Promise<LoadedWork> {
  const reuse = base === undefined ? {} : { reuse: base };
  return workOf(await loadGeneration(configFile, { ...options, folders, ...reuse }), base);
}

/** What was loaded; transforms that were taken from `base` are freed with that. */
function workOf({ generation, findings }: LoadedGeneration, base?: Generation): LoadedWork {
  return {
    ...(generation === undefined ? {} : { generation: generation satisfies ConsoleGeneration }),
    findings,
    release: () => {
      if (generation?.transforms !== base?.transforms) generation?.transforms.release();
    },
  };
}

/** Loads generations beside the one that is live, as `sluice check` and `sluice explain` do. */
export function createWorkshop(
  configFile: string,
  env: NodeJS.ProcessEnv,
  mayLoadPlugins: GenerationOptions['mayLoadPlugins'] = () => false,
): Workshop {
  const options = { env, needSecrets: false, dev: true, sandbox: new Sandbox(), advise, mayLoadPlugins };
  let base: Generation | undefined;
  return {
    load: async (folders) => {
      if (folders !== undefined) return loadDraft(configFile, folders, { options, base });
      const loaded = await loadGeneration(configFile, options);
      base = loaded.generation;
      return workOf(loaded);
    },
    loadKept: async (kept) => {
      if (base === undefined) return undefined;
      const { hooks } = base.config.settings;
      const old = await loadKeptGeneration(configFile, kept, { ...options, hooks, now: base });
      if (old === undefined) return undefined;
      const work = workOf(old);
      return {
        ...work,
        release: () => {
          void work.release();
          return old.close();
        },
      };
    },
    checkTypes: async (transformsDir, draft) => {
      const refs = base?.table.mappings.flatMap(({ transform }) => transform ?? []) ?? [];
      return (await typecheckTransforms(transformsDir, refs, { configDir: dirname(configFile), draft }))
        .findings;
    },
    stop: () => options.sandbox.stop(),
  };
}
