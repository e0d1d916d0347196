/** Keys of OpenClaw in a file of ours: where each stands here, or that nothing here reads it. */
import { isSecretPath, type LocatedValue, type Path } from '../../../base/document/document.ts';
import { inWords } from '../../../base/document/facts.ts';
import { isJsonObject } from '../../../base/json.ts';
import { type Move, movedSettings } from '../../../engine/config/facts.ts';

/** What does that work here. */
const HERE: Readonly<Record<string, string>> = {
  'hooks.gmail': '"sluice webhooks mail setup" connects a mailbox, and writes hooks.mail',
  'gateway.bind': 'the address to listen on is server.host',
  'gateway.reload': '"sluice serve" reads a changed file by itself',
  'gateway.tailscale':
    'the address to listen on is server.host, and the one that senders call server.publicUrl',
  'gateway.tls': 'hooks are served without TLS: put a proxy with TLS in front',
  'gateway.controlUi': 'the web page of Sluice is console: {enabled: true} at the top level',
  'agents.list':
    'each agent has a runner, gateway.runners, and hooks.agents.runners says which agent id takes which',
  'agents.entries':
    'each agent has a runner, gateway.runners, and hooks.agents.runners says which agent id takes which',
  'agents.defaults.workspace': 'the folder of an agent is cwd of its runner',
  'agents.defaults.thinkingDefault': 'how long an agent thinks is thinking of a mapping',
  session:
    'sessionKey of a mapping chooses the conversation, and gateway.sessions says how much of it goes along',
  cron: 'a timer of your system calls a hook',
  bindings: 'agentId of a mapping names an agent',
  secrets: 'a secret is written as ${NAME} or {file: PATH}',
  env: 'variables are set wherever the service starts',
};

/** What its gateway alone reads. */
const THEIRS: ReadonlySet<string> = new Set(
  `hooks.internal gateway.mode gateway.remote gateway.http gateway.nodes gateway.push gateway.tools
  agents.defaults.sandbox messages commands browser skills tools wizard meta ui auth discovery update talk audio memory
  broadcast approvals`.split(/\s+/),
);

interface TheirWord {
  readonly hint: string;
  /** Whether all of its values are known, and which of them are secrets. */
  readonly isKnown?: boolean;
}

/** What to do with a key that is one of OpenClaw's. */
export function theirWord(root: LocatedValue, path: Path): TheirWord | undefined {
  const name = path.join('.');
  const moves = movedSettings(root).filter(({ from }) => path.every((step, index) => step === from[index]));
  const isWhole = moves.length === 1 && moves[0]?.from.length === path.length;
  if (moves.length > 0) {
    const written = moves.map((move) => `${shown(root, move)} at ${move.to.join('.')}`);
    const rest = isWhole ? '' : '; what else stands in it is not taken over by that';
    return {
      hint: `write ${inWords(written)} in place of this key of OpenClaw${rest}`,
      isKnown: isWhole,
    };
  }
  if (Object.hasOwn(HERE, name)) return { hint: `remove this key of OpenClaw; here ${HERE[name] ?? ''}` };
  return THEIRS.has(name)
    ? { hint: 'remove it: it is a key of OpenClaw, which nothing here reads' }
    : undefined;
}

/** A secret that stands in the file is never repeated. */
function shown(root: LocatedValue, move: Move): string {
  const value = 'value' in move ? move.value : root.at(move.from).value;
  const isReference = typeof value === 'string' && /^\$\{[A-Za-z_]\w*\}$/.test(value);
  return JSON.stringify(isReference || !isSecretPath(move.to) ? value : '${NAME}');
}

/** A value in the form of an OpenClaw file, in ours. */
export function theirValue(
  key: string,
  value: unknown,
): { readonly hint: string; readonly text?: string } | undefined {
  if (!isJsonObject(value)) return undefined;
  const { primary, source, id, ...rest } = value;
  const isModels = key === 'agents.defaults.models';
  const model = key === 'agents.defaults.model' && typeof primary === 'string' ? primary : undefined;
  const written = isModels ? Object.keys(value) : (model ?? reference(source, id));
  if (written === undefined) return undefined;
  const text = JSON.stringify(written);
  const hasSettings = isModels
    ? Object.values(value).some((one) => isJsonObject(one) && Object.keys(one).length > 0)
    : Object.keys(model === undefined ? {} : rest).length > 0;
  const hint = `write ${key.split('.').at(-1) ?? key}: ${text}`;
  // What is lost is for its author to see.
  return hasSettings ? { hint: `${hint}; what else stands in it has no counterpart here` } : { hint, text };
}

/** A reference to a secret. */
function reference(source: unknown, id: unknown): string | undefined {
  return source === 'env' && typeof id === 'string' && /^[A-Za-z_]\w*$/.test(id) ? `\${${id}}` : undefined;
}
