import type { LocatedValue, Path } from '../../document/document.ts';
import { isJsonObject } from '../../json.ts';
import { recordAt } from './graft.ts';
import { THEIR_PORT, type Moves } from './moves.ts';

/** The runner that hands every turn to the gateway's own agents. */
const RUNNER = 'openclaw';

/** An agent of theirs, where it is written. */
interface Agent {
  readonly id: string;
  readonly path: Path;
}

/**
 * Each agent of theirs becomes a runner of that name, reached through their command; `agentId` of a request or mapping
 * then names one. Without the command there is nobody to take a turn.
 */
export function translateAgents(original: LocatedValue, hasCommand: boolean, result: Moves): void {
  if (original.at(['gateway', 'runner']).value !== undefined) return;
  if (!hasCommand) return;
  const agents = agentsOf(original);
  const base: Path = ['gateway', 'runners'];
  const from: Path = original.at(['agents']).value === undefined ? ['hooks'] : ['agents'];
  result.moves.push(
    { from, to: ['gateway', 'runner'], value: RUNNER },
    { from, to: [...base, RUNNER], value: { kind: 'openclaw', hooks: theirHooks(original) } },
  );
  for (const { id, path } of agents) {
    const name = runnerOf(id);
    result.moves.push({ from: path, to: [...base, name], value: { kind: 'openclaw', agent: id } });
    result.moves.push({ from: path, to: ['hooks', 'agents', 'runners', id], value: name });
  }
  translatePolicy(original, agents, result);
}

/** Where their gateway takes wakes: it keeps its port and its hook token. */
function theirHooks(original: LocatedValue): unknown {
  const { value: port = THEIR_PORT } = original.at(['gateway', 'port']);
  const { value: path = '/hooks' } = original.at(['hooks', 'path']);
  const { value: token } = original.at(['hooks', 'token']);
  if (typeof token !== 'string' || token === '') return undefined;
  return { url: `http://127.0.0.1:${String(port)}/${String(path).replaceAll(/^\/+|\/+$/g, '')}`, token };
}

function runnerOf(id: string): string {
  return `${RUNNER}:${id}`;
}

/** `allowedAgentIds` restricts who may be named, the default agent included; absent or with `*` it allows all. */
function translatePolicy(original: LocatedValue, agents: readonly Agent[], result: Moves): void {
  const from: Path = ['hooks', 'allowedAgentIds'];
  const { value: allowed } = original.at(from);
  const [first] = agents;
  const standard = agents.find(({ id }) => id === 'main') ?? first;
  if (standard !== undefined) {
    result.moves.push({ from: standard.path, to: ['hooks', 'agents', 'default'], value: standard.id });
  }
  if (!Array.isArray(allowed) || allowed.includes('*')) return;
  result.moves.push({ from, to: ['hooks', 'agents', 'allowed'] });
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
  const agents = [...entries.map((id) => ({ id, path: ['agents', 'entries', id] })), ...listed];
  return agents.length > 0 ? agents : [];
}
