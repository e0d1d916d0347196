import type { KeepRequests, Settings } from '../../engine/config/config.ts';
import {
  type Generation,
  keptSettings,
  type LiveGeneration,
  noticePath,
  readApprovalName,
} from '../generation/generation.ts';
import { formatPlace } from '../../base/document/document.ts';
import { isBuiltInRoute } from '../../engine/hook/hook.ts';
import { decidingFields, type FieldsRead, type RoutingTable } from '../../engine/mapping/mapping.ts';
import {
  compileTokens,
  type KnownTokens,
  knownTokens,
  type RequestAdvisor,
  type ServerGeneration,
} from '../server/server.ts';
import { KEPT_LIMITS } from '../../engine/storage/storage.ts';
import { takeKey } from './sent-key.ts';
import type { ServiceOptions } from './service-options.ts';

/** The tokens, and the secrets with which senders prove themselves. */
function tokensOf({ config, table }: Generation): KnownTokens {
  const { hooks, gateway } = config.settings;
  const ofPaths = [...table.paths].flatMap((path) => {
    const { verify, challenge } = table.settingsOf(path);
    const token = challenge !== undefined && 'token' in challenge ? challenge.token : undefined;
    return [...(verify?.secrets ?? []), token];
  });
  const ofWorkers = Object.values(gateway.runners).flatMap((runner) =>
    runner.kind === 'worker' ? runner.tokens : [],
  );
  return knownTokens([hooks.token, ...hooks.previousTokens, gateway.token, ...ofWorkers, ...ofPaths]);
}

/** Absent where neither the configuration nor a path keeps requests. */
function keepRequests(
  { storage }: Settings,
  table: RoutingTable,
  ofCommand: KeepRequests | undefined,
): Pick<ServerGeneration, 'keepRequests'> {
  const { which, count, bytes } = keptSettings(storage.keepRequests, ofCommand);
  const ofPaths = [...table.paths].map((path) => table.settingsOf(path).keepRequests ?? 'none');
  if ([which, ...ofPaths].every((each) => each === 'none')) return {};
  const known = new Map<string, FieldsRead>();
  const fieldsOf = (path: string): FieldsRead => {
    const fields = known.get(path) ?? decidingFields(table.mappings, path);
    if (isBuiltInRoute(path) || table.paths.has(path)) known.set(path, fields);
    return fields;
  };
  return { keepRequests: { which, fieldsOf, limits: { ...KEPT_LIMITS, count, bytes } } };
}

type ServingOptions = Pick<ServiceOptions, 'keepRequests' | 'recording' | 'role' | 'loadAdvisor'>;

/** The live generation as the server sees it: made once per generation, as it is asked for on every request. */
export function servedGeneration(live: LiveGeneration, options: ServingOptions): () => ServerGeneration {
  let source: Generation | undefined;
  let served: ServerGeneration | undefined;
  return () => {
    if (served !== undefined && source === live.generation) return served;
    source = live.generation;
    served = asServed(source, options);
    return served;
  };
}

function asServed(
  generation: Generation,
  { keepRequests: defaults, recording, role, loadAdvisor }: ServingOptions,
): ServerGeneration {
  const { id, config, table, evaluate } = generation;
  const { hooks, gateway } = config.settings;
  const takesAll = recording !== undefined || hooks.unmatched === 'skip';
  let advisor: Promise<RequestAdvisor> | undefined;
  return {
    id,
    // The role takes no hooks, whatever the configuration says.
    ...(role === 'worker' ? { hooks: { ...hooks, enabled: false }, performsOnly: true } : { hooks }),
    workers: workersOf(gateway.runners),
    hasAgentKeys: table.mappings.some(({ conversation }) => (conversation?.agentKeys.length ?? 0) > 0),
    canTake: (path) => takesAll || isBuiltInRoute(path) || table.canTake(path),
    knowsName: (path) => isBuiltInRoute(path) || table.paths.has(path),
    isOfName: (path) => path !== '' && [...table.paths].some((name) => isPartOf(path, name)),
    settingsOf: table.settingsOf,
    recoveryOf: (path) => generation.recoveries.get(path),
    placeOf: (path) => placeOf(path, table),
    ...(loadAdvisor && { advisor: () => (advisor ??= loadAdvisor(generation)) }),
    gatewayToken: gateway.token,
    tokens: tokensOf(generation),
    noticePath: noticePath(hooks.mail),
    askedBy: (name) => readApprovalName(name, hooks),
    takeKey: (path, key) => takeKey(generation, { path, key }),
    ...keepRequests(config.settings, table, defaults),
    evaluate: recording?.performs === false ? skippingMisses(evaluate) : evaluate,
    takesAnyFormat: recording !== undefined,
  };
}

function workersOf(runners: Settings['gateway']['runners']): ServerGeneration['workers'] {
  return Object.entries(runners).flatMap(([runner, settings]) => {
    if (settings.kind !== 'worker') return [];
    const { tokens: previousTokens, maxReplyBytes } = settings;
    return [{ runner, maxReplyBytes, tokens: compileTokens({ previousTokens, queryToken: 'reject' }) }];
  });
}

/** Whether a path is whole segments of a name, or the name in other letter case. */
function isPartOf(path: string, name: string): boolean {
  return path.toLowerCase() === name.toLowerCase() || `/${name}/`.includes(`/${path}/`);
}

function placeOf(path: string, { mappings }: RoutingTable): string | undefined {
  const mapping = mappings.find(({ match }) => match.path === path);
  return mapping && `${mapping.id} (${formatPlace(mapping.at)})`;
}

/** Answers 204 to what no mapping takes yet, so that no sender switches its webhook off while it is recorded. */
function skippingMisses(evaluate: Generation['evaluate']): ServerGeneration['evaluate'] {
  return async (request) => {
    const evaluation = await evaluate(request);
    const { outcome } = evaluation;
    const isMiss = outcome.kind === 'rejected' && outcome.error.code === 'no_mapping_matched';
    return isMiss ? { ...evaluation, outcome: { kind: 'skipped', by: 'unmatched' } } : evaluation;
  };
}
