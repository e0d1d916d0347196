import type { Generation } from '../generation/generation.ts';
import type { Sandbox } from '../../engine/sandbox/sandbox.ts';
import type { Storage, StorageHealth } from '../../engine/storage/storage.ts';
import type { Health } from '../../base/telemetry/telemetry.ts';

const WATCH_MS = 1_000;

/** Reports the state of store and sandbox; returns a function that ends this. */
export function watchHealth(
  health: Health,
  sandbox: Sandbox,
  storage: Storage,
  failed: Promise<Error>,
): () => void {
  void failed.then(() => {
    const message = 'the store has failed; restart the service';
    health.raise({ code: 'store_cannot_accept', name: 'engine', message });
  });
  sayStore(health, storage.health());
  storage.onHealthChange((state) => sayStore(health, state));
  const { lease } = storage;
  lease?.onChange((isHeld) => {
    const message = 'its runs were ended and put back; others take them until the database is reached again';
    health.replace('lease_lost', isHeld ? [] : [{ message }]);
  });
  const timer = setInterval(() => saySandbox(health, sandbox), WATCH_MS).unref();
  return () => clearInterval(timer);
}

function sayStore(health: Health, state: StorageHealth): void {
  const trouble = state.kind === 'ok' ? [] : [{ name: 'writes', message: state.message }];
  const isReplaced = state.kind === 'unavailable' && state.code === 'replaced';
  health.replace('store_replaced', isReplaced ? trouble : []);
  if (trouble.length === 0 || isReplaced) health.clear({ code: 'store_cannot_accept', name: 'writes' });
  else health.raise({ code: 'store_cannot_accept', ...trouble[0]! });
}

function saySandbox(health: Health, { health: { ok, reason }, stats }: Sandbox): void {
  const message = reason ?? 'transforms cannot run';
  health.replace('transforms_cannot_run', ok ? [] : [{ message }]);
  const failing = 'it failed too often and is tried again after a while; its requests get 503 until then';
  const breakers = stats.breakers.map(({ module }) => ({ name: module, message: failing }));
  health.replace('transform_failing', breakers);
}

/** Reports paths that refuse everything, because none of their secrets is set. */
export function sayProofs(health: Health, { table }: Generation): void {
  const missing = [...table.paths].filter((path) => {
    const { verify } = table.settingsOf(path);
    return (
      verify !== undefined && verify.secrets.length > 0 && verify.secrets.every((secret) => secret === '')
    );
  });
  const message = 'none of its secrets is set; every request is refused until one is';
  const troubles = missing.map((name) => ({ name, message }));
  health.replace('not_configured', troubles);
}
