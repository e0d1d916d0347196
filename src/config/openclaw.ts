import { basename } from 'node:path';
import type { Diagnostic, LocatedValue, Path } from '../document/document.ts';

/** Whether a file is read as an OpenClaw configuration: by its name only. */
export function isOpenClawFile(file: string): boolean {
  return /^openclaw\.json5?$/.test(basename(file));
}

/** An OpenClaw file in this service's own shape; the places are those of the original. */
export interface Translation {
  readonly root: LocatedValue;
  /** Secrets of the gateway beside `gateway.token`: no hook token may equal them. */
  readonly reserved: readonly LocatedValue[];
  readonly diagnostics: readonly Diagnostic[];
}

/** OpenClaw's restrictions on session keys, and what they are called here. */
const SESSION_KEYS: Readonly<Record<string, string>> = {
  allowRequestSessionKey: 'allowFromRequest',
  defaultSessionKey: 'default',
  allowedSessionKeyPrefixes: 'allowedPrefixes',
};

/** Sections that only this service knows: an OpenClaw file that has them means us. */
const OWN_SECTIONS: readonly string[] = ['server', 'storage', 'metrics', 'log'];
/** Keys of `gateway` that only this service knows. */
const OWN_GATEWAY_KEYS: readonly string[] = [
  'runner',
  'runners',
  'maxRuns',
  'maxRunsPerMapping',
  'heartbeat',
  'events',
  'main',
  'sessions',
  'callbackSecret',
];

/**
 * Translates an OpenClaw file: `hooks`, the gateway's secret and port, the models, and what only this service knows.
 * Everything else belongs to the gateway there and is named once in a warning.
 */
export function translateOpenClaw(
  original: LocatedValue,
  hooksKeys: readonly string[],
  home: string | undefined,
): Translation {
  if (recordAt(original, []) === undefined) return { root: original, reserved: [], diagnostics: [] };
  const moves: Move[] = [];
  const unusedHooks: string[] = [];
  const hooks = recordAt(original, ['hooks']);
  for (const key of Object.keys(hooks ?? {})) {
    const sessionKey = SESSION_KEYS[key];
    if (sessionKey !== undefined)
      moves.push({ from: ['hooks', key], to: ['hooks', 'sessionKeys', sessionKey] });
    else if (key === 'transformsDir') moves.push(directoryMove(original, ['hooks', key], home));
    else if (hooksKeys.includes(key)) moves.push({ from: ['hooks', key], to: ['hooks', key] });
    else unusedHooks.push(key);
  }
  if (original.at(['hooks']).value !== undefined && hooks === undefined) {
    moves.push({ from: ['hooks'], to: ['hooks'] });
  }
  moves.push(...gatewayMoves(original), ...modelMoves(original));
  const value: Record<string, unknown> = {};
  for (const move of moves)
    put(value, move.to, structuredClone('value' in move ? move.value : original.at(move.from).value));
  return {
    root: moved(original, value, moves),
    reserved: gatewaySecrets(original)
      .slice(1)
      .map((path) => original.at(path)),
    diagnostics: ignoredKeys(original, unusedHooks),
  };
}

interface Move {
  readonly from: Path;
  readonly to: Path;
  /** Given where it is not the original's value. */
  readonly value?: unknown;
}

/** A directory there may begin with `~`, the home of the user. */
function directoryMove(original: LocatedValue, path: Path, home: string | undefined): Move {
  const { value } = original.at(path);
  if (home === undefined || typeof value !== 'string') return { from: path, to: path };
  return { from: path, to: path, value: value.replace(/^~(?=$|[/\\])/, () => home) };
}

/** Paths of the gateway's own secrets that are set, the token first. */
function gatewaySecrets(original: LocatedValue): readonly Path[] {
  const paths: Path[] = [
    ['gateway', 'auth', 'token'],
    ['gateway', 'auth', 'password'],
  ];
  return paths.filter((path) => original.at(path).value !== undefined);
}

function gatewayMoves(original: LocatedValue): readonly Move[] {
  const [secret] = gatewaySecrets(original);
  const port: Path = ['gateway', 'port'];
  const own = [
    ...OWN_SECTIONS.map((key): Path => [key]),
    ...OWN_GATEWAY_KEYS.map((key): Path => ['gateway', key]),
  ].filter((path) => original.at(path).value !== undefined);
  const movesPort =
    original.at(port).value !== undefined && original.at(['server', 'port']).value === undefined;
  return [
    ...own.map((path) => ({ from: path, to: path })),
    ...(secret === undefined ? [] : [{ from: secret, to: ['gateway', 'token'] }]),
    ...(movesPort ? [{ from: port, to: ['server', 'port'] }] : []),
  ];
}

function modelMoves(original: LocatedValue): readonly Move[] {
  const base: Path = ['agents', 'defaults'];
  const moves: Move[] = [];
  const model: Path = [...base, 'model'];
  const primary: Path = [...model, 'primary'];
  if (original.at(primary).value !== undefined) moves.push({ from: primary, to: model });
  else if (typeof original.at(model).value === 'string') moves.push({ from: model, to: model });
  const models: Path = [...base, 'models'];
  const listed = recordAt(original, models);
  if (listed === undefined) {
    return original.at(models).value === undefined ? moves : [...moves, { from: models, to: models }];
  }
  moves.push({ from: models, to: models, value: Object.keys(listed) });
  for (const [name, entry] of Object.entries(listed)) {
    const alias = (entry as { alias?: unknown } | null)?.alias;
    if (typeof alias !== 'string' || alias === '') continue;
    moves.push({ from: [...models, name, 'alias'], to: [...base, 'aliases', alias], value: name });
  }
  return moves;
}

/** Sections of which something is read. */
const READ: readonly string[] = ['hooks', 'gateway', 'agents', '$schema', ...OWN_SECTIONS];

function ignoredKeys(original: LocatedValue, unusedHooks: readonly string[]): readonly Diagnostic[] {
  const diagnostics: Diagnostic[] = [];
  const others = Object.keys(recordAt(original, []) ?? {}).filter((key) => !READ.includes(key));
  const [other] = others;
  if (other !== undefined) {
    diagnostics.push({
      severity: 'warning',
      code: 'IGNORED_SECTIONS',
      message: `these sections belong to the gateway and are ignored: ${listed(others)}`,
      at: original.place([other], 'key'),
      hint: 'they may stay while the gateway reads this file, too; else remove them',
    });
  }
  const [hook] = unusedHooks;
  if (hook !== undefined) {
    diagnostics.push({
      severity: 'warning',
      code: 'IGNORED_HOOK_KEYS',
      message: `these keys of hooks have no use here and are ignored: ${listed(unusedHooks)}`,
      at: original.place(['hooks', hook], 'key'),
      hint: 'they may stay while the gateway reads this file, too; else remove them',
    });
  }
  return diagnostics;
}

function listed(keys: readonly string[]): string {
  const shown = keys.slice(0, 20).map((key) => key.slice(0, 80));
  return keys.length > shown.length ? `${shown.join(', ')}, …` : shown.join(', ');
}

function recordAt(located: LocatedValue, path: Path): Readonly<Record<string, unknown>> | undefined {
  const { value } = path.length === 0 ? located : located.at(path);
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
}

/** Sets a value at a path; nothing where a part on the way is no object, which the schema then reports. */
function put(target: Record<string, unknown>, path: Path, value: unknown): void {
  let object = target;
  for (const step of path.slice(0, -1)) {
    const next = (object[String(step)] ??= {});
    if (typeof next !== 'object' || next === null) return;
    object = next as Record<string, unknown>;
  }
  object[String(path.at(-1))] = value;
}

/** The translated value with the original's places. */
function moved(
  original: LocatedValue,
  value: unknown,
  moves: readonly Move[],
  path: Path = [],
): LocatedValue {
  const back = (inner: Path): Path => {
    const whole = [...path, ...inner];
    // The last: a move into a part follows the move of the whole.
    const move = moves.findLast(({ to }) => to.every((step, index) => whole[index] === step));
    return move === undefined ? whole : [...move.from, ...whole.slice(move.to.length)];
  };
  return {
    value,
    path: back([]),
    place: (inner, what) => original.place(back(inner), what),
    exact: (inner) => original.exact(back(inner)),
    scalarOffset: (inner, offset) => original.scalarOffset(back(inner), offset),
    at: (inner) => moved(original, valueAt(value, inner), moves, [...path, ...inner]),
  };
}

function valueAt(value: unknown, path: Path): unknown {
  let current = value;
  for (const step of path) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, step)) return undefined;
    current = (current as Record<string | number, unknown>)[step];
  }
  return current;
}
