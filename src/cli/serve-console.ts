import { dirname, join } from 'node:path';
import type { ConsoleGeneration, RunningConsole, Workshop } from '../console/console.ts';
import { dropEnding } from '../gateway/gateway.ts';
import { loadGeneration, type Generation } from '../generation/generation.ts';
import { Sandbox, typecheckTransforms } from '../sandbox/sandbox.ts';
import type { ConsoleParts } from '../service/service.ts';
import type { Log } from '../telemetry/telemetry.ts';

/** One above the service's own. */
const DEFAULT_CONSOLE_PORT = 8788;

export interface ConsoleContext {
  readonly mode: 'dev' | 'serve';
  readonly configFile: string;
  readonly env: NodeJS.ProcessEnv;
  readonly log: Log;
}

/** The file that holds the console's key; readable by its owner only. */
export function consoleKeyFile(configFile: string): string {
  return join(dirname(configFile), '.sluice', 'console-key');
}

/** Serves the console where the configuration, or the command, says so: `dev` on this machine only. */
export async function openConsole(
  { mode, configFile, env, log }: ConsoleContext,
  { url, storage, live, reload, notify }: ConsoleParts,
): Promise<RunningConsole | undefined> {
  const { console: settings, hooks } = live().config.settings;
  if (!(settings.enabled ?? mode === 'dev')) return undefined;
  const { startConsole } = await import('../console/console.ts');
  const { port = DEFAULT_CONSOLE_PORT, host, publicUrl } = settings;
  const isFixed = settings.port !== undefined || mode === 'serve';
  const whenChanged = async (count: Promise<number>): Promise<number> => {
    const changed = await count;
    notify();
    return changed;
  };
  return startConsole({
    mode,
    listen: { host: mode === 'dev' ? '127.0.0.1' : host, port, ...(isFixed ? {} : { otherPort: 0 }) },
    ...(publicUrl === undefined ? {} : { publicUrl }),
    keyFile: consoleKeyFile(configFile),
    storage,
    log,
    hooksUrl: `${url}${hooks.path}`,
    goldenDir: join(dirname(configFile), 'test', 'golden'),
    live,
    openWorkshop: () => createWorkshop(configFile, env),
    reload,
    retry: (id) => whenChanged(storage.retry({ kind: 'ids', ids: [id] }, Date.now())),
    drop: (id) => whenChanged(dropRun(storage, id)),
  });
}

function dropRun(storage: ConsoleParts['storage'], id: string): Promise<number> {
  const nowMs = Date.now();
  return storage.drop({ kind: 'ids', ids: [id] }, nowMs, (run) => dropEnding(run, nowMs));
}

/** Loads generations beside the one that is live, as `sluice check` and `sluice explain` do. */
function createWorkshop(configFile: string, env: NodeJS.ProcessEnv): Workshop {
  const sandbox = new Sandbox();
  let base: Generation | undefined;
  return {
    load: async (folders) => {
      const { generation, diagnostics } = await loadGeneration(configFile, {
        env,
        needSecrets: false,
        dev: true,
        sandbox,
        ...(folders === undefined ? {} : { folders }),
        ...(base === undefined || folders === undefined ? {} : { reuse: base }),
      });
      if (folders === undefined) base = generation;
      const isOwn =
        generation !== undefined && (folders === undefined || generation.transforms !== base?.transforms);
      return {
        ...(generation === undefined ? {} : { generation: generation satisfies ConsoleGeneration }),
        diagnostics,
        release: () => {
          if (isOwn) generation.transforms.release();
        },
      };
    },
    checkTypes: async (transformsDir) => {
      const refs = base?.table.mappings.flatMap(({ transform }) => transform ?? []) ?? [];
      return (await typecheckTransforms(transformsDir, refs, { configDir: dirname(configFile) })).diagnostics;
    },
    stop: () => sandbox.stop(),
  };
}
