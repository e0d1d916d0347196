import type { LocatedValue, Path } from '../../../base/document/document.ts';
import { isJsonObject } from '../../../base/json.ts';
import { recordAt, THEIR_PORT, type Moves } from './graft.ts';

/** The runner that hands every turn to the gateway's own agents. */
const RUNNER = 'openclaw';

interface Agent {
  readonly id: string;
  readonly path: Path;
}

/**
 * Each agent of the OpenClaw file becomes a runner of that name, reached through the `openclaw` command; `agentId` of a request or mapping
 * then names one. Without the command there is nobody to take a turn. `allowedAgentIds` restricts who may be named, the
 * default agent included.
 */
export function translateAgents(original: LocatedValue, hasCommand: boolean, result: Moves): void {
  const from: Path = ['hooks', 'allowedAgentIds'];
  const { value: allowed } = original.at(from);
  // Absent or with `*` it allows all.
  if (Array.isArray(allowed) && !allowed.includes('*'))
    result.moves.push({ from, to: ['hooks', 'agents', 'allowed'] });
  if (hasCommand && original.at(['gateway', 'runner']).value === undefined) addRunners(original, result);
}

function addRunners(original: LocatedValue, result: Moves): void {
  const agents = agentsOf(original);
  const base: Path = ['gateway', 'runners'];
  const from: Path = original.at(['agents']).value === undefined ? ['hooks'] : ['agents'];
  result.moves.push(
    { from, to: ['gateway', 'runner'], value: RUNNER },
    { from, to: [...base, RUNNER], value: { kind: 'openclaw', hooks: openclawHooks(original) } },
  );
  for (const { id, path } of agents) {
    const name = runnerOf(id);
    result.moves.push({ from: path, to: [...base, name], value: { kind: 'openclaw', agent: id } });
    result.moves.push({ from: path, to: ['hooks', 'agents', 'runners', id], value: name });
  }
  const standard = defaultOf(agents);
  if (standard !== undefined)
    result.moves.push({ from: standard.path, to: ['hooks', 'agents', 'default'], value: standard.id });
}

/** Ids of their agents, the default one first. */
export function agentIds(original: LocatedValue): readonly string[] {
  const agents = agentsOf(original);
  const { id: standard } = defaultOf(agents) ?? { id: 'main' };
  return [standard, ...agents.map(({ id }) => id).filter((id) => id !== standard)];
}

const defaultOf = (agents: readonly Agent[]): Agent | undefined =>
  agents.find(({ id }) => id === 'main') ?? agents[0];

/** Where their gateway takes wakes: it keeps its port and its hook token. */
function openclawHooks(original: LocatedValue): unknown {
  const { value: port = THEIR_PORT } = original.at(['gateway', 'port']);
  const { value: path = '/hooks' } = original.at(['hooks', 'path']);
  const { value: token } = original.at(['hooks', 'token']);
  if (typeof token !== 'string' || token === '') return undefined;
  return {
    url: `http://127.0.0.1:${String(port)}/${String(path).replaceAll(/^\/+|(?<!\/)\/+$/g, '')}`,
    token,
  };
}

function runnerOf(id: string): string {
  return `${RUNNER}:${id}`;
}

/** `agents.entries` by id, and the older `agents.list`; there is always one agent, `main` where none is written. */
function agentsOf(original: LocatedValue): readonly Agent[] {
  const entries = Object.keys(recordAt(original, ['agents', 'entries']) ?? {});
  const { value: list } = original.at(['agents', 'list']);
  const listed = (Array.isArray(list) ? (list as readonly unknown[]) : []).flatMap((item, index) =>
    isJsonObject(item) && typeof item['id'] === 'string'
      ? [{ id: item['id'], path: ['agents', 'list', index] }]
      : [],
  );
  return [...entries.map((id) => ({ id, path: ['agents', 'entries', id] })), ...listed];
}
