import type { LocatedValue, Path } from '../../../base/document/document.ts';
import { recordAt, type Move, type Moves, moveWritten } from './graft.ts';

/** Sections that only this service knows: an OpenClaw file that has them means us. */
export const OWN_SECTIONS: readonly string[] = ['server', 'storage', 'metrics', 'log'];
/** Keys of `gateway` that only this service knows. */
const OWN_GATEWAY_KEYS =
  'runner runners maxRuns maxRunsPerMapping heartbeat events main sessions callbackSecret'.split(' ');

/** Paths of the gateway's own secrets that are set, the token first. */
export function gatewaySecrets(original: LocatedValue): readonly Path[] {
  const paths: Path[] = [
    ['gateway', 'auth', 'token'],
    ['gateway', 'auth', 'password'],
  ];
  return paths.filter((path) => original.at(path).value !== undefined);
}

/** Translates the secret, the listening address and the proxies of the gateway, and what of it is ours. */
export function translateGateway(original: LocatedValue, result: Moves): void {
  const [secret] = gatewaySecrets(original);
  for (const key of OWN_SECTIONS) moveWritten(original, result, key);
  for (const key of OWN_GATEWAY_KEYS) moveWritten(original, result, `gateway.${key}`);
  if (secret !== undefined) result.moves.push({ from: secret, to: ['gateway', 'token'] });
  translateBind(original, result);
  if (original.at(['server', 'trustedProxies']).value === undefined)
    moveWritten(original, result, 'gateway.trustedProxies', 'server.trustedProxies');
  if (original.at(['gateway', 'tls', 'enabled']).value === true) {
    const lost = 'hooks are served without TLS: put a proxy with TLS in front';
    result.lost.push({ path: ['gateway', 'tls'], lost });
  }
}

/** Addresses by mode, after the documentation of `gateway.bind`. */
const BIND_HOSTS: Readonly<Record<string, string>> = {
  loopback: '127.0.0.1',
  auto: '127.0.0.1',
  lan: '0.0.0.0',
};

function translateBind(original: LocatedValue, result: Moves): void {
  const from: Path = ['gateway', 'bind'];
  const { value: mode } = original.at(from);
  if (typeof mode !== 'string' || original.at(['server', 'host']).value !== undefined) return;
  const to: Path = ['server', 'host'];
  if (mode === 'custom') return moveWritten(original, result, 'gateway.customBindHost', 'server.host');
  const host = Object.hasOwn(BIND_HOSTS, mode) ? BIND_HOSTS[mode] : undefined;
  if (host !== undefined) result.moves.push({ from, to, value: host });
  else
    result.lost.push({
      path: from,
      lost: `hooks are received on 127.0.0.1 only, because Sluice does not know the mode "${mode.slice(0, 40)}"`,
    });
}

export function translateDefaults(original: LocatedValue, result: Moves): void {
  const base: Path = ['agents', 'defaults'];
  result.moves.push(...modelMoves(original, base));
  for (const key of ['timeoutSeconds', 'aliases']) moveWritten(original, result, `agents.defaults.${key}`);
  translateHeartbeat(original, [...base, 'heartbeat'], result);
}

function modelMoves(original: LocatedValue, base: Path): readonly Move[] {
  const moves: Move[] = [];
  const model: Path = [...base, 'model'];
  const primary: Path = [...model, 'primary'];
  if (original.at(primary).value !== undefined) moves.push({ from: primary, to: model });
  else if (typeof original.at(model).value === 'string') moves.push({ from: model, to: model });
  const models: Path = [...base, 'models'];
  const listed = recordAt(original, models);
  if (listed !== undefined) {
    const names = { from: models, to: models, value: Object.keys(listed) };
    return [...moves, names, ...aliasMoves(listed, base)];
  }
  return original.at(models).value === undefined ? moves : [...moves, { from: models, to: models }];
}

function aliasMoves(listed: Readonly<Record<string, unknown>>, base: Path): readonly Move[] {
  return Object.entries(listed).flatMap(([name, entry]) => {
    const alias = (entry as { alias?: unknown } | null)?.alias;
    if (typeof alias !== 'string' || alias === '') return [];
    return [{ from: [...base, 'models', name, 'alias'], to: [...base, 'aliases', alias], value: name }];
  });
}

const HEARTBEAT_KEYS: Readonly<Record<string, string>> = {
  model: 'model',
  prompt: 'instructions',
  'activeHours.start': 'activeHours.from',
  'activeHours.end': 'activeHours.to',
};

function translateHeartbeat(original: LocatedValue, base: Path, result: Moves): void {
  const here: Path = ['gateway', 'heartbeat'];
  // What is written for us stands.
  if (recordAt(original, base) === undefined || original.at(here).value !== undefined) return;
  const every = original.at([...base, 'every']).value;
  const seconds = typeof every === 'string' ? durationSeconds(every) : undefined;
  if (seconds !== undefined) {
    result.moves.push({ from: [...base, 'every'], to: [...here, 'everySeconds'], value: seconds });
  }
  for (const [there, to] of Object.entries(HEARTBEAT_KEYS))
    moveWritten(original, result, `${base.join('.')}.${there}`, `gateway.heartbeat.${to}`);
  translateZone(original, base, result);
  translateTarget(original, base, result);
}

/** "user" and "local" mean the machine's own zone there. */
function translateZone(original: LocatedValue, base: Path, result: Moves): void {
  const from: Path = [...base, 'activeHours', 'timezone'];
  const { value: name } = original.at(from);
  if (typeof name !== 'string' || name === 'user' || name === 'local') return;
  result.moves.push({ from, to: ['gateway', 'heartbeat', 'activeHours', 'timeZone'] });
}

/** `last` and `none` need nothing here; a channel is where the main session starts. */
function translateTarget(original: LocatedValue, base: Path, result: Moves): void {
  const from: Path = [...base, 'target'];
  const { value: target } = original.at(from);
  if (typeof target !== 'string' || target === 'last' || target === 'none') return;
  if (original.at(['gateway', 'main']).value !== undefined) return;
  result.moves.push({ from, to: ['gateway', 'main', 'channel'] });
  moveWritten(original, result, `${base.join('.')}.to`, 'gateway.main.to');
}

const UNIT_SECONDS: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400 };

/** Seconds of `30m`, `1h30m`, `45s`; minutes where no unit stands, as there. */
function durationSeconds(text: string): number | undefined {
  const parts = [...text.trim().matchAll(/(\d+(?:\.\d+)?)(ms|[smhd])/g)];
  if (parts.length === 0) return /^\d+$/.test(text.trim()) ? Number(text) * 60 : undefined;
  return parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * (UNIT_SECONDS[unit ?? ''] ?? 0), 0);
}
