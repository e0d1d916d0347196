import { LAST_CHANNEL, type Action, type AgentAction, type NotifyAction, type RunAction } from '../action.ts';
import { clearLine } from '../telemetry/telemetry.ts';
import { spanOf } from './debounce-words.ts';
import { indent, type Paint } from './format-lines.ts';

/**
 * The actions of an evaluation for people: what each does, and the text that somebody reads. `stored`: the only ids that
 * can be asked for.
 */
export function actionLines(
  actions: readonly Action[],
  paint: Paint,
  { stored }: { readonly stored?: ReadonlySet<string> | undefined } = {},
): string[] {
  return actions.flatMap((action, index) => {
    const same = actions.findIndex((each) => isSameKey(each, action));
    if (same < index && same !== -1) return unmadeLines([action], paint, ` that of action ${same + 1}`);
    const number = actions.length === 1 ? '' : ` ${index + 1} of ${actions.length}`;
    const head = paint('bold', `action${number}: ${action.kind}`);
    const { dedupe, origin } = action;
    const shared = [
      ...(dedupe === undefined ? [] : [`  dedupe ${clearLine(dedupe.key)} for ${dedupe.ttlSeconds} s`]),
      ...(origin.trusted && action.kind !== 'notify'
        ? [`  ${paint('yellow', 'without the safety boundary (allowUnsafeExternalContent)')}`]
        : []),
    ];
    const id = stored === undefined || stored.has(action.id) ? [`  id ${action.id}`] : [];
    const isJoined = stored !== undefined && stored.size > 0 && !stored.has(action.id);
    return [head, ...id, ...bodyLines(action, { shared, isJoined })];
  });
}

/** What would have been made of a request that was taken for a repeat, in short. */
export function unmadeLines(actions: readonly Action[], paint: Paint, was = ' there already'): string[] {
  return actions.map((action) => {
    const session = action.kind === 'agent' ? ` in session ${clearLine(action.sessionKey)}` : '';
    const name = action.kind === 'wake' ? '' : ` ${clearLine(action.name)}`;
    const { dedupe } = action;
    const key = dedupe === undefined ? '' : `; its dedupe key ${clearLine(dedupe.key)} was${was}`;
    return `${paint('bold', 'not made:')} ${action.kind}${name}${session}${key}`;
  });
}

/** Whether two actions of one request are repeats of each other. */
function isSameKey(one: Action, other: Action): boolean {
  const [a, b] = [one.dedupe, other.dedupe];
  return a !== undefined && b !== undefined && a.scope === b.scope && a.key === b.key;
}

interface Told {
  /** Lines that actions of all kinds have. */
  readonly shared: readonly string[];
  /** Another event began the run that it became a part of. */
  readonly isJoined: boolean;
}

function bodyLines(action: Action, { shared, isJoined }: Told): string[] {
  switch (action.kind) {
    case 'wake':
      return [`  mode ${action.mode}`, ...shared, '  text', ...indent(action.text)];
    case 'agent':
      return [
        ...agentSettings(action, isJoined && action.debounce !== undefined),
        ...debounceLines(action),
        ...shared,
        '  prompt',
        ...indent(action.prompt),
      ];
    case 'notify':
      return [...notifySettings(action), ...shared, '  message (plain text)', ...indent(action.message)];
  }
}

function notifySettings(action: NotifyAction): string[] {
  return settingLines([
    ['name', clearLine(action.name)],
    ['delivery', deliveryOf(action)],
    ['fallback', fallbackOf(action)],
  ]);
}

function debounceLines({ debounce }: AgentAction): string[] {
  if (debounce === undefined) return [];
  const { key, seconds, maxSeconds } = debounce;
  const when = `begins ${spanOf(seconds)} after the last of its events, at most ${spanOf(maxSeconds)} after the first`;
  return [`  debounce ${clearLine(key)}: ${when}`];
}

function agentSettings(action: AgentAction, isJoined: boolean): string[] {
  return settingLines([
    ['name', clearLine(action.name)],
    [
      'session',
      isJoined && action.oneShot
        ? 'that of the run that it joined'
        : `${clearLine(action.sessionKey)}${action.oneShot ? ' (ends with the run)' : `, ${ownerText(action.owner)}`}`,
    ],
    ['wakeMode', action.wakeMode],
    ['delivery', action.deliver ? deliveryOf(action) : 'none'],
    ['fallback', fallbackOf(action)],
    ['model', action.model === undefined ? undefined : clearLine(action.model)],
    ['thinking', action.thinking],
    ['timeout', action.timeoutSeconds === undefined ? undefined : `${action.timeoutSeconds} s`],
    ['runner', action.runner],
    ['folder', action.cwd],
    ['callback', action.callbackUrl === undefined ? undefined : 'yes'],
  ]);
}

/** Whose conversation it is: a key alone does not name one. */
export function ownerText(owner: AgentAction['owner']): string {
  switch (owner) {
    case 'main':
      return 'the main session';
    case 'mappings':
      return 'a conversation of all mappings of the OpenClaw file';
    case 'request':
      return 'a conversation of the senders of /agent bodies';
    case 'shared':
      return 'a conversation of nobody, which others may join (hooks.sessionKeys.shared)';
    default:
      return `a conversation of ${clearLine(owner.replace(':', ' '))}`;
  }
}

function deliveryOf({ channel, to }: RunAction): string {
  const where = channel === LAST_CHANNEL ? 'the channel last used' : channel;
  return `${where}, ${to === undefined ? 'its last recipient' : clearLine(to)}`;
}

function fallbackOf({ fallback }: RunAction): string | undefined {
  return fallback && clearLine(`${fallback.channel} to ${fallback.to ?? 'its default'}`);
}

function settingLines(settings: readonly (readonly [string, string | undefined])[]): string[] {
  return settings.flatMap(([name, text]) => (text === undefined ? [] : [`  ${name} ${text}`]));
}
