/** Keys of OpenClaw in a file of ours: what each is here, with the value that was given, or that nothing is lost by removing it. */
import { isDeepStrictEqual } from 'node:util';
import { isSecretPath, type LocatedValue, type Path } from '../../document/document.ts';
import { inWords } from '../../document/facts.ts';
import { isJsonObject } from '../../json.ts';
import { type Move, movedSettings, putAt } from '../../config/facts.ts';
import { leftBehind, lostText } from './left-behind.ts';

/** What OpenClaw alone knows, and what does that work here. */
const THEIRS: Readonly<Record<string, string>> = {
  'hooks.internal': 'hooks of its own events; nothing here is called by them',
  'hooks.gmail': 'its mailbox; here "sluice webhooks mail setup" connects one, and writes hooks.mail',
  'gateway.mode': 'where its gateway runs',
  'gateway.bind': 'where its gateway listens; here the address itself stands at server.host',
  'gateway.remote': 'how its programs reach the gateway',
  'gateway.reload': 'when its gateway reads a changed file; "sluice serve" does that by itself',
  'gateway.tailscale':
    'how its gateway is reached; set the address at server.host, and the one that senders call at server.publicUrl',
  'gateway.tls': 'its certificate; hooks are served without TLS: put a proxy with TLS in front',
  'gateway.controlUi': 'its web page; the one of Sluice is console: {enabled: true} at the top level',
  'gateway.http': 'further endpoints of its gateway',
  'gateway.nodes': 'its devices',
  'gateway.push': 'its devices',
  'gateway.tools': 'tools of its agents',
  'agents.list':
    'its agents; here each has a runner: gateway.runners, and hooks.agents.runners says which agent id takes which',
  'agents.entries':
    'its agents; here each has a runner: gateway.runners, and hooks.agents.runners says which agent id takes which',
  'agents.defaults.workspace': 'the folder of its agents; here it is cwd of the runner',
  'agents.defaults.thinkingDefault': 'how long its agents think; here it is thinking of a mapping',
  'agents.defaults.sandbox': 'how its agents are enclosed; here the program of the runner sees to that',
  session:
    'its conversations; here sessionKey of a mapping chooses one, gateway.sessions: {maxTurns: 50, maxTokens: 60000} says how much of it goes along, and storage.keep: {days: 30} how long it is kept',
  messages: 'its chat',
  commands: 'commands of its chat',
  cron: 'its timers; here a timer of your system calls a hook',
  browser: 'the browser of its agents',
  skills: 'skills of its agents',
  tools: 'tools of its agents',
  bindings: 'which chat its agents answer; here agentId of a mapping names an agent',
  wizard: 'a note of its setup',
  meta: 'a note of its setup',
  ui: 'its programs',
  auth: 'its logins at makers of models',
  secrets: 'its stores of secrets; here a secret is written as ${NAME} or {file: PATH}',
  env: 'variables of its gateway; here they are set wherever the service starts',
  discovery: 'how its programs find the gateway',
  update: 'how it is updated',
  talk: 'its voice',
  audio: 'its voice',
  memory: 'the memory of its agents',
  broadcast: 'its chat',
  approvals: 'its chat',
};

/** What to do with a key that is one of OpenClaw's: where it stands here, in words to write. */
export function theirWord(root: LocatedValue, path: Path): TheirWord | undefined {
  const name = path.join('.');
  const moves = movedSettings(root);
  const own = moves.filter(({ from }) => isWithin(from, path));
  if (own.length > 0) {
    const { kept, lost } = leftBehind(root, path, own);
    const hint = movedHint(root, path, { own: [...own, ...kept], moves: [...moves, ...kept] });
    return { hint: `${hint}${lostText(lost)}`, isKnown: lost.length === 0 };
  }
  const what = agentsText(root, path) ?? (Object.hasOwn(THEIRS, name) ? THEIRS[name] : undefined);
  return what === undefined ? undefined : { hint: `it is a key of OpenClaw: ${what}; remove it here` };
}

/** Their agents as runners of the kind that the file has already. */
function agentsText(root: LocatedValue, path: Path): string | undefined {
  if (!/^agents\.(?:list|entries)$/.test(path.join('.'))) return undefined;
  const { value } = root.at(path);
  const agents = Array.isArray(value)
    ? (value as readonly unknown[])
    : isJsonObject(value)
      ? Object.entries(value).map(([id, one]) => ({ ...(isJsonObject(one) ? one : {}), id }))
      : [];
  const { value: runner } = root.at(['gateway', 'runner']);
  const { kind = 'claude', access } = isJsonObject(runner) ? runner : {};
  const may = typeof access === 'string' ? { access } : {};
  const runners = agents.flatMap((agent) => {
    const { id, model } = isJsonObject(agent) ? agent : {};
    if (typeof id !== 'string') return [];
    const own = typeof model === 'string' && kind !== 'openclaw' ? { model: model.replace(/^.*\//, '') } : {};
    return [[id, kind === 'openclaw' ? { kind, agent: id } : { kind, ...may, ...own }] as const];
  });
  const [first] = runners;
  if (first === undefined) return undefined;
  return `its agents; here each is a runner: write runners: ${flow(Object.fromEntries(runners))} in gateway, and in the mapping of one runner: ${first[0]}`;
}

interface TheirWord {
  readonly hint: string;
  /** Whether all of its values are known, and which of them are secrets. */
  readonly isKnown?: boolean;
}

interface Moved {
  readonly own: readonly Move[];
  readonly moves: readonly Move[];
}

function movedHint(root: LocatedValue, path: Path, { own, moves }: Moved): string {
  const [{ to }] = own as [Move];
  const called = `here it is ${(own.length === 1 ? to : to.slice(0, -1)).join('.')}`;
  if (own.every((move) => isDefault(root, move))) {
    const value = own.length === 1 ? `, and ${flow(valueOf(root, own[0] as Move))} is its default` : '';
    return `${called}${value}: remove it, nothing changes`;
  }
  const block = to.slice(0, -1);
  // Keys beside it that go into the same new block are written together: two blocks of one name would be the next mistake.
  const isNew = block.length > 0 && root.at(block).value === undefined;
  const beside = moves.filter(
    ({ from, to: other }) => isWithin(from, path.slice(0, -1)) && isWithin(other, block),
  );
  const all = isNew && own.length === 1 ? beside.filter((move) => !isDefault(root, move)) : own;
  const names = [...new Set(all.map(({ from }) => String(from[path.length - 1])))];
  return `${called}: in place of ${inWords(names)} write ${written(root, all)}`;
}

/** The values in the objects that they go into, as deep as these are not there yet. */
function written(root: LocatedValue, moves: readonly Move[]): string {
  const tree: Record<string, unknown> = {};
  for (const move of moves) putAt(tree, move.to, shown(root, move));
  let below: Readonly<Record<string, unknown>> = tree;
  const at: string[] = [];
  for (;;) {
    const [[key, inner] = ['', undefined], ...others] = Object.entries(below);
    if (others.length > 0 || !isJsonObject(inner) || !isJsonObject(root.at([...at, key]).value)) break;
    at.push(key);
    below = inner;
  }
  const members = Object.entries(below).map(([key, value]) => `${key}: ${flow(value)}`);
  return `${members.join(', and ')} ${at.length === 0 ? 'at the top level' : `in ${at.join('.')}`}`;
}

function valueOf(root: LocatedValue, move: Move): unknown {
  return 'value' in move ? move.value : root.at(move.from).value;
}

const REFERENCE = /^\$\{[A-Za-z_]\w*\}$/;

/** A secret that stands in the file is never repeated. */
function shown(root: LocatedValue, move: Move): unknown {
  const value = valueOf(root, move);
  const isReference = typeof value === 'string' && REFERENCE.test(value);
  return isReference || !isSecretPath(move.to) ? value : '${NAME}';
}

/** Values of ours where the file says nothing, of those that a key of theirs can say. */
const DEFAULTS: readonly (readonly [to: Path, value: unknown])[] = [
  [['hooks', 'sessionKeys', 'allowFromRequest'], true],
  [['hooks', 'sessionKeys', 'allowedPrefixes'], []],
  [['hooks', 'agents', 'allowed'], ['*']],
  [['server', 'host'], '127.0.0.1'],
  [['server', 'trustedProxies'], []],
  [['gateway', 'heartbeat', 'everySeconds'], 1800],
];

function isDefault(root: LocatedValue, move: Move): boolean {
  const value = valueOf(root, move);
  const meant = Array.isArray(value) && value.includes('*') ? ['*'] : value;
  return DEFAULTS.some(([to, one]) => isDeepStrictEqual(to, move.to) && isDeepStrictEqual(one, meant));
}

function isWithin(path: Path, outer: Path): boolean {
  return outer.every((step, index) => step === path[index]);
}

/** A value in the form of an OpenClaw file, in ours. */
export function theirValue(
  key: string,
  value: unknown,
): { readonly hint: string; readonly text?: string } | undefined {
  if (!isJsonObject(value)) return undefined;
  if (key === 'plugins')
    return {
      hint: 'it is a list here, of modules that add channels; remove it where it is that of OpenClaw',
    };
  const form = theirForm(key, value);
  if (form === undefined) return undefined;
  const { text, beside = '' } = form;
  const hint = `write ${key.split('.').at(-1) ?? key}: ${text}${beside}`;
  // What is to be written beside it, or is lost, is for its author to see.
  return beside === '' ? { hint, text } : { hint };
}

/** A value as it is written here, and what is to be said of the rest of it. */
interface Form {
  readonly text: string;
  readonly beside?: string;
}

function theirForm(key: string, value: Readonly<Record<string, unknown>>): Form | undefined {
  const { primary, source, id, ...rest } = value;
  if (key === 'agents.defaults.model' && typeof primary === 'string')
    return { text: flow(primary), beside: lostText(Object.keys(rest)) };
  if (key === 'agents.defaults.models') return listOfModels(value);
  // A reference to a secret.
  if (typeof source !== 'string' || typeof id !== 'string') return undefined;
  const isVariable = source === 'env' && /^[A-Za-z_]\w*$/.test(id);
  return { text: isVariable ? `"\${${id}}"` : '{file: PATH}' };
}

/** Models with settings of their own: a list, and their short names beside it. */
function listOfModels(models: Readonly<Record<string, unknown>>): Form {
  const settings = Object.entries(models).flatMap(([model, value]) =>
    isJsonObject(value) ? Object.entries(value).map(([key, inner]) => ({ model, key, inner })) : [],
  );
  const aliases = settings.flatMap(({ model, key, inner }) =>
    key === 'alias' && typeof inner === 'string' && inner !== '' ? [[inner, model] as const] : [],
  );
  const others = settings.filter(({ key }) => key !== 'alias').map(({ key }) => key);
  const names = aliases.length === 0 ? '' : `, and beside it aliases: ${flow(Object.fromEntries(aliases))}`;
  return { text: flow(Object.keys(models)), beside: `${names}${lostText([...new Set(others)])}` };
}

const PLAIN = /^(?!(?:true|false|null|yes|no|on|off|y|n)$)[A-Za-z][\w.-]*$/i;

/** A value in one line, as YAML and JSON5 take it. */
function flow(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(flow).join(', ')}]`;
  if (isJsonObject(value)) {
    return `{${Object.entries(value)
      .map(([key, inner]) => `${flow(key)}: ${flow(inner)}`)
      .join(', ')}}`;
  }
  return typeof value === 'string' && PLAIN.test(value) ? value : JSON.stringify(value);
}
