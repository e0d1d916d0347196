import { quoted, say } from '../../../base/finding.ts';
import { basename, resolve } from 'node:path';
import type { Finding, LocatedValue, Path } from '../../../base/document/document.ts';
import { hooksSchema } from '../hooks-schema.ts';
import { DEFAULT_PORT } from '../settings.ts';
import { grafted, putAt, recordAt, THEIR_PORT, type Loss, type Move, type Moves } from './graft.ts';
import { translateAgents } from './translate-agents.ts';
import { translateChannels } from './translate-channels.ts';
import { gmailFinding, translateGmail } from './translate-gmail.ts';
import { gatewaySecrets, OWN_SECTIONS, translateDefaults, translateGateway } from './translate-gateway.ts';
import { inHome } from './environment.ts';

/** Whether a file is read as an OpenClaw configuration: by its name only. */
export function isOpenClawFile(file: string): boolean {
  return /^openclaw\.json5?$/.test(basename(file));
}

/** An OpenClaw file in this service's own shape; the places are those of the original. */
export interface Translation {
  readonly root: LocatedValue;
  /** Secrets of the gateway besides `gateway.token`: no hook token may equal them. */
  readonly reserved: readonly LocatedValue[];
  readonly findings: readonly Finding[];
}

export interface TranslateOptions {
  /** Folder of the file, absolute. */
  readonly directory: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether the command `openclaw` can be started. */
  readonly hasCommand: boolean;
  /** What a file that extends this one has of its own. */
  readonly has: OwnSettings;
}

export interface OwnSettings {
  readonly runner: boolean;
  readonly port: boolean;
}

/** OpenClaw's restrictions on session keys, and what they are called here. */
export const SESSION_KEYS: Readonly<Record<string, string>> = {
  allowRequestSessionKey: 'allowFromRequest',
  defaultSessionKey: 'default',
  allowedSessionKeyPrefixes: 'allowedPrefixes',
};
const OPT_IN: Path = ['hooks', 'allowRequestSessionKey'];
/** Keys of `hooks` that other parts of the translation read, or that belong to something else there. */
const READ_ELSEWHERE: readonly string[] = ['allowedAgentIds', 'internal', 'gmail'];

/**
 * Translates an OpenClaw file (expanded, secrets replaced): hooks, the gateway's secret and address, agents, models,
 * heartbeat and channels, and what only this service knows. What has no counterpart is named once, with what is lost.
 */
export function translateOpenClaw(original: LocatedValue, options: TranslateOptions): Translation {
  if (recordAt(original, []) === undefined) return { root: original, reserved: [], findings: [] };
  const result: Moves = { moves: [], lost: [] };
  const unusedHooks = translateHooks(original, options, result);
  // There a request chooses no session key unless the file says so.
  if (original.at(OPT_IN).value === undefined)
    result.moves.push({ from: ['hooks'], to: ['hooks', 'sessionKeys', 'allowFromRequest'], value: false });
  translateRest(original, options, result);
  const secrets = gatewaySecrets(original).slice(1);
  return {
    root: rebuilt(original, result.moves),
    reserved: secrets.map((path) => original.at(path)),
    findings: [
      ...result.lost.map((loss) => lossFinding(original, loss)),
      ...ignoredKeys(original, unusedHooks),
      ...gmailFinding(original, result),
      ...agentFinding(original, options),
      ...addressFinding(original, options),
    ],
  };
}

function translateRest(original: LocatedValue, options: TranslateOptions, result: Moves): void {
  translateGmail(original, result);
  translateGateway(original, result);
  translateDefaults(original, result);
  translateAgents(original, options.hasCommand, result);
  // An echo of untrusted text is no answer: without an agent nothing goes out.
  if (hasAgent(original, options)) translateChannels(original, options, result);
}

/** Moves the keys of `hooks`; returns those nobody reads. */
function translateHooks(original: LocatedValue, options: TranslateOptions, result: Moves): readonly string[] {
  const hooks = recordAt(original, ['hooks']);
  const unused: string[] = [];
  for (const key of Object.keys(hooks ?? {})) {
    const from: Path = ['hooks', key];
    const sessionKey = Object.hasOwn(SESSION_KEYS, key) ? SESSION_KEYS[key] : undefined;
    if (sessionKey !== undefined) result.moves.push({ from, to: ['hooks', 'sessionKeys', sessionKey] });
    else if (key === 'transformsDir') result.moves.push(directoryMove(original, from, options));
    else if (Object.hasOwn(hooksSchema.shape, key)) result.moves.push({ from, to: from });
    else if (!READ_ELSEWHERE.includes(key)) unused.push(key);
  }
  if (original.at(['hooks']).value !== undefined && hooks === undefined) {
    result.moves.push({ from: ['hooks'], to: ['hooks'] });
  }
  return unused;
}

/** A directory there may begin with `~`, and a relative one lies below `hooks/transforms`. */
function directoryMove(original: LocatedValue, path: Path, { directory, env }: TranslateOptions): Move {
  const { value } = original.at(path);
  if (typeof value !== 'string' || value.trim() === '') return { from: path, to: path };
  return {
    from: path,
    to: path,
    value: resolve(directory, 'hooks/transforms', inHome(value, env['HOME'] ?? '~')),
  };
}

function rebuilt(original: LocatedValue, moves: readonly Move[]): LocatedValue {
  const value: Record<string, unknown> = {};
  for (const move of moves) {
    putAt(value, move.to, structuredClone('value' in move ? move.value : original.at(move.from).value));
  }
  const grafts = moves.map(({ from, to }) => ({ to, source: original.at(from) }));
  return grafted(value, grafts, original);
}

function lossFinding(original: LocatedValue, { path, lost }: Loss): Finding {
  return {
    severity: 'warning',
    code: 'NOT_TRANSLATED',
    message: say`${path.join('.')} has no counterpart in Sluice: ${lost}`,
    at: original.place(path, 'key'),
    hint: say`keep it, because the gateway reads it, and write further settings for Sluice into a sluice.yaml with "extends: openclaw.json"`,
  };
}

function hasAgent(original: LocatedValue, { hasCommand, has }: TranslateOptions): boolean {
  return hasCommand || has.runner || original.at(['gateway', 'runner']).value !== undefined;
}

/** An OpenClaw file without the `openclaw` command: nobody answers, so nothing may go out as an answer. */
function agentFinding(original: LocatedValue, options: TranslateOptions): readonly Finding[] {
  if (hasAgent(original, options)) return [];
  return [
    {
      severity: 'warning',
      code: 'OPENCLAW_NOT_FOUND',
      message: say`the command openclaw is not on PATH: hooks are accepted and stored, but no agent runs and nothing is delivered`,
      at: original.place(['hooks'], 'key'),
      hint: say`install openclaw where sluice runs, or name a runner of your own at gateway.runner in a sluice.yaml with "extends: openclaw.json"`,
    },
  ];
}

/** The OpenClaw gateway keeps its port, so hooks come in on another one. */
function addressFinding(original: LocatedValue, { has }: TranslateOptions): readonly Finding[] {
  if (has.port || original.at(['server', 'port']).value !== undefined) return [];
  const { value: port = THEIR_PORT } = original.at(['gateway', 'port']);
  return [
    {
      severity: 'warning',
      code: 'HOOKS_PORT',
      message: say`Sluice receives hooks on port ${String(DEFAULT_PORT)}, not on the gateway's own port ${String(port).slice(0, 10)}`,
      at: original.place(['gateway', 'port'], 'key'),
      hint: say`let your senders use this port, or set server.port in a sluice.yaml with "extends: openclaw.json"`,
    },
  ];
}

/** Sections of which something is read. */
const READ: readonly string[] = [
  'hooks',
  'gateway',
  'agents',
  'channels',
  'env',
  'secrets',
  '$schema',
  'meta',
  ...OWN_SECTIONS,
];

function ignoredKeys(original: LocatedValue, unusedHooks: readonly string[]): readonly Finding[] {
  const others = Object.keys(recordAt(original, []) ?? {}).filter((key) => !READ.includes(key));
  const ignored = (code: string, message: string, first: Path): Finding => ({
    severity: 'warning',
    code,
    message: quoted(message),
    at: original.place(first, 'key'),
    hint: say`keep them if the gateway reads this file, too; otherwise remove them`,
  });
  const sections = `these sections belong to the gateway, and Sluice does not read them: ${listed(others)}`;
  const hooks = `Sluice does not use these keys of hooks and ignores them: ${listed(unusedHooks)}`;
  return [
    ...others.slice(0, 1).map((key) => ignored('IGNORED_SECTIONS', sections, [key])),
    ...unusedHooks.slice(0, 1).map((key) => ignored('IGNORED_HOOK_KEYS', hooks, ['hooks', key])),
  ];
}

function listed(keys: readonly string[]): string {
  const shown = keys.slice(0, 20).map((key) => key.slice(0, 80));
  return keys.length > shown.length ? `${shown.join(', ')}, …` : shown.join(', ');
}
