/*
 * Who may write into which conversation. A conversation belongs to the mapping that writes into it, or to the senders
 * of /agent bodies; keys under a prefix in hooks.sessionKeys.shared belong to nobody.
 */
import { quoted, say } from '../../base/finding.ts';
import type { LoadedConfig, RunnerSettings } from '../../engine/config/config.ts';
import type { Finding, Place } from '../../base/document/document.ts';
import type { CompiledMapping } from '../../engine/mapping/mapping.ts';

interface Writer {
  readonly name: string;
  readonly owner: string;
  /** The keys it may write, as the beginning that all of them have; `isExact` where there is but one key. */
  readonly keys: { readonly text: string; readonly start: string; readonly isExact: boolean };
  readonly runners: readonly string[];
  readonly at: Place;
}

/** One line for each writer, for `sluice check`; empty where every run has a session of its own. */
export function listConversations(
  config: LoadedConfig,
  mappings: readonly CompiledMapping[],
): readonly string[] {
  const writers = findWriters(config, mappings);
  if (writers.every(({ owner }) => owner === 'request')) return [];
  const { shared } = config.settings.hooks.sessionKeys;
  const width = Math.max(...writers.map(({ name }) => name.length));
  return [
    'conversations, and who writes into them:',
    ...writers.map(({ name, owner, keys }) => {
      const isShared = shared.some((prefix) => keys.start.startsWith(prefix));
      const [, named] = owner.split('owner:');
      const of = isShared ? ' (shared)' : named === undefined ? '' : ` (of ${named})`;
      return `  ${name.padEnd(width)}  ${keys.text}${of}`;
    }),
    ...(shared.length === 0 ? [] : [`  shared by all who write such a key: ${shared.join(', ')}`]),
  ];
}

function findWriters(config: LoadedConfig, mappings: readonly CompiledMapping[]): readonly Writer[] {
  const { gateway, hooks } = config.settings;
  const usual = gateway.runner;
  const { default: standard } = hooks.sessionKeys;
  const ofMappings = mappings.flatMap(({ action, at, id, owner, runner = usual, sessionKey }): Writer[] => {
    if (action !== 'agent' || (sessionKey === undefined && standard === undefined)) return [];
    const keys = sessionKey === undefined ? exactly(standard ?? '') : keysOf(sessionKey);
    return [{ name: `mapping ${id}`, owner, keys, runners: [runner], at: sessionKey?.at ?? at }];
  });
  return [...ofMappings, ...bodyWriters(config)];
}

/** The senders of /agent bodies, where they write into conversations at all. */
function bodyWriters({ settings, root }: LoadedConfig): readonly Writer[] {
  const { sessionKeys, agents } = settings.hooks;
  const { allowFromRequest, default: standard, allowedPrefixes } = sessionKeys;
  if (!allowFromRequest && standard === undefined) return [];
  return [
    {
      name: 'bodies of /agent',
      owner: 'request',
      keys: allowFromRequest
        ? { text: anyKey(allowedPrefixes), start: '', isExact: false }
        : exactly(standard ?? ''),
      runners: [settings.gateway.runner, ...Object.values(agents.runners)],
      at: root.place(['hooks']),
    },
  ];
}

const anyKey = (prefixes: readonly string[]): string =>
  prefixes.length === 0 ? 'any key' : `any key that starts with ${prefixes.join(' or ')}`;

const exactly = (key: string): Writer['keys'] => ({ text: key, start: key, isExact: true });

function keysOf({ literal, source }: NonNullable<CompiledMapping['sessionKey']>): Writer['keys'] {
  if (literal !== undefined) return exactly(literal.trim());
  return {
    text: source.trim(),
    start: source.trimStart().split('{{', 1)[0] ?? '',
    isExact: false,
  };
}

/** A forward runner hands over the key alone: equal keys of two owners become one conversation of the other gateway. */
export function findMergedConversations(
  config: LoadedConfig,
  mappings: readonly CompiledMapping[],
): readonly Finding[] {
  const { gateway, hooks } = config.settings;
  const { shared } = hooks.sessionKeys;
  const writers = findWriters(config, mappings).filter(
    ({ keys }) => !shared.some((prefix) => keys.start.startsWith(prefix)),
  );
  const forwards = Object.entries(gateway.runners).filter(([, { kind }]) => kind === 'forward');
  return forwards.flatMap(([runner]): Finding[] => {
    const here = writers.filter(({ runners }) => runners.includes(runner));
    const pair = here
      .flatMap((one, index) => here.slice(index + 1).map((other) => [one, other] as const))
      .find(([one, other]) => one.owner !== other.owner && canMeet(one.keys, other.keys));
    if (pair === undefined) return [];
    const [one, other] = pair;
    return [
      {
        severity: 'warning',
        code: 'FORWARD_MERGES_CONVERSATIONS',
        message: say`the runner ${runner} hands over the session key without its owner: under equal keys ${one.name} and ${other.name} share a conversation there`,
        at: one.at,
        hint: quoted(
          other.owner === 'request'
            ? 'set hooks.sessionKeys.allowFromRequest to false, or give the mapping another runner'
            : 'let the keys of each mapping start differently, or give one of them another runner',
        ),
      },
    ];
  });
}

function canMeet(one: Writer['keys'], other: Writer['keys']): boolean {
  if (one.isExact && other.isExact) return one.start === other.start;
  return (
    (!other.isExact && one.start.startsWith(other.start)) ||
    (!one.isExact && other.start.startsWith(one.start))
  );
}

/** Where a runner keeps conversations, as far as that is known: one with another place cannot go on with them. */
function placeOf(
  runner: RunnerSettings | undefined,
  name: string,
  cwd: string | undefined,
): string | undefined {
  if (runner?.kind === 'agent') return `${runner.agent} in ${cwd ?? runner.cwd ?? runner.privateFolders}`;
  if (runner?.kind === 'model') return 'model';
  return runner?.kind === 'openclaw' || runner?.kind === 'forward' ? name : undefined;
}

/** Mappings that share their conversations, and whose runners do not know what the other one's said. */
export function findUnresumed(
  { settings: { gateway } }: LoadedConfig,
  mappings: readonly CompiledMapping[],
): readonly Finding[] {
  const first = new Map<string, { readonly id: string; readonly runner: string; readonly place: string }>();
  return mappings.flatMap((mapping): readonly Finding[] => {
    const { id, owner, action, runner = gateway.runner, conversation, cwd, at } = mapping;
    const place = placeOf(gateway.runners[runner], runner, cwd && gateway.workFolders[cwd]);
    // What ends a conversation at once has no turn in it.
    if (action !== 'agent' || conversation?.owner === undefined || conversation.end === 'now') return [];
    if (place === undefined) return [];
    const before = first.get(owner);
    first.set(owner, before ?? { id, runner, place });
    if (before === undefined || before.place === place) return [];
    return [
      {
        severity: 'warning',
        code: 'CONVERSATION_NOT_RESUMED',
        message: say`the mappings ${before.id} and ${id} share conversations (owner ${conversation.owner}), and the runner ${runner} knows nothing of what ${before.runner} was told${runner === before.runner ? say`, as they work in other folders` : ''}`,
        at,
        hint: say`give them the same runner and folder, or another conversation.owner`,
      },
    ];
  });
}
