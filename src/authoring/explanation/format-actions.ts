import {
  LAST_CHANNEL,
  type Action,
  type AgentAction,
  type NotifyAction,
  type RunAction,
} from '../../base/action.ts';
import { splitPrompt } from '../../base/boundary/boundary.ts';
import { clearLine, SECRET_KEY } from '../../base/telemetry/telemetry.ts';
import { MAPPING_KEYS } from '../../engine/mapping/mapping.ts';
import { indent, type Paint } from './format-lines.ts';

/**
 * Prints the actions of an evaluation for people: what each does, and the text that somebody reads.
 * `stored` has the only ids that can be asked for. `hasChannels` is false where no reply can be sent
 * anywhere. `dedupe` is the template of the key.
 */
export function actionLines(
  actions: readonly Action[],
  paint: Paint,
  {
    stored,
    hasChannels,
    nonce = '',
    dedupe: written,
  }: {
    readonly stored?: ReadonlySet<string> | undefined;
    readonly hasChannels?: boolean | undefined;
    /** The nonce of the request, which the markers in its prompts carry. */
    readonly nonce?: string | undefined;
    readonly dedupe?: string | undefined;
  } = {},
): string[] {
  return actions.flatMap((action, index) => {
    const same = actions.findIndex((each) => isSameKey(each, action));
    if (same < index && same !== -1)
      return unmadeLines([action], paint, { dedupe: written, keyWas: `that of action ${same + 1}` });
    const number = actions.length === 1 ? '' : ` ${index + 1} of ${actions.length}`;
    const head = paint('bold', `action${number}: ${action.kind}`);
    const { dedupe, origin } = action;
    const shared = [
      ...(dedupe === undefined
        ? []
        : [`  dedupe ${shownKey(dedupe.key, written)} for ${dedupe.ttlSeconds} s`]),
      ...(origin.trusted && action.kind !== 'notify'
        ? [`  ${paint('yellow', 'without the safety boundary (allowUnsafeExternalContent)')}`]
        : []),
    ];
    const id = stored === undefined || stored.has(action.id) ? [`  id ${action.id}`] : [];
    const isJoined = stored !== undefined && stored.size > 0 && !stored.has(action.id);
    const context = { isJoined, hasChannels, nonce, isStored: stored?.has(action.id) === true };
    return [head, ...id, ...bodyLines(action, { ...context, shared })];
  });
}

const OUTSIDE = '    from outside, between the markers of the safety boundary (--json has the whole prompt):';

/** Prints in short what a repeat would have become. */
export function unmadeLines(
  actions: readonly Action[],
  paint: Paint,
  {
    dedupe: written,
    keyWas = 'there already',
  }: { readonly dedupe?: string | undefined; readonly keyWas?: string },
): string[] {
  return actions.map((action) => {
    const session = action.kind === 'agent' ? ` in session ${clearLine(action.sessionKey)}` : '';
    const name = action.kind === 'wake' ? '' : ` ${clearLine(action.name)}`;
    const { dedupe } = action;
    const key = dedupe === undefined ? '' : `; its dedupe key ${shownKey(dedupe.key, written)} was ${keyWas}`;
    return `${paint('bold', 'not made:')} ${action.kind}${name}${session}${key}`;
  });
}

/** A key is hidden where its template reads a secret. */
function shownKey(key: string, written = ''): string {
  const paths = [...written.matchAll(/\{\{[^{}]{0,300}\}\}/g)].flatMap(([each]) => each.split(/[^\w-]+/));
  return paths.some((name) => SECRET_KEY.test(name)) ? '…' : clearLine(key);
}

function isSameKey(one: Action, other: Action): boolean {
  const [a, b] = [one.dedupe, other.dedupe];
  return a !== undefined && b !== undefined && a.scope === b.scope && a.key === b.key;
}

interface ActionContext {
  readonly shared: readonly string[];
  /** Another event began the run that this action joined. */
  readonly isJoined: boolean;
  readonly hasChannels: boolean | undefined;
  readonly nonce: string;
  /** What became of the action is printed below. */
  readonly isStored: boolean;
}

function bodyLines(action: Action, context: ActionContext): string[] {
  const { shared, isJoined } = context;
  switch (action.kind) {
    case 'wake':
      return [`  mode ${action.mode}`, ...shared, '  text', ...indent(action.text)];
    case 'agent':
      return [
        ...agentSettings(action, { ...context, isJoined: isJoined && action.debounce !== undefined }),
        ...keyLines(action),
        ...shared,
        ...promptLines(action.prompt, context.nonce),
      ];
    case 'notify':
      return [
        ...notifySettings(action),
        ...keyLines(action),
        ...shared,
        '  message (plain text)',
        ...indent(action.message),
      ];
  }
}

/** The markers and the warning are left out, because they are the same in every prompt. */
function promptLines(prompt: string, nonce: string): string[] {
  const { before, external, after } = splitPrompt(prompt, nonce);
  if (external === undefined) return ['  prompt', ...indent(prompt)];
  const own = before
    .slice(0, Math.max(0, before.lastIndexOf('The text between the two markers with')))
    .trimEnd();
  return [
    '  prompt',
    ...(own === '' ? [] : indent(own)),
    OUTSIDE,
    ...indent(external.text.replace(/^Source: webhook\nHook: [^\n]*\n---\n/, '')),
    ...(after.trim() === '' ? [] : indent(after.trim())),
  ];
}

function notifySettings(action: NotifyAction): string[] {
  return settingLines([
    ['name', clearLine(action.name)],
    ['delivery', deliveryOf(action)],
  ]);
}

function keyLines(action: RunAction): string[] {
  return [...MAPPING_KEYS].flatMap(([key, { explain }]) => {
    const value: unknown = action[key as keyof RunAction];
    return value === undefined || explain === undefined ? [] : [`  ${key} ${explain(value)}`];
  });
}

function agentSettings(action: AgentAction, context: ActionContext): string[] {
  const { isJoined } = context;
  return settingLines([
    ['name', clearLine(action.name)],
    [
      'session',
      isJoined && action.oneShot
        ? 'that of the run that it joined'
        : `${clearLine(action.sessionKey)}${action.oneShot ? ' (ends with the run)' : `, ${ownerText(action.owner)}`}`,
    ],
    ['wakeMode', action.wakeMode],
    ['delivery', whereTo(action, context)],
  ]);
}

/** Names the owner of a conversation: a key alone does not identify one. */
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

function whereTo(action: AgentAction, { hasChannels, isStored }: ActionContext): string | undefined {
  if (!action.deliver) return 'none: deliver is false';
  if (hasChannels !== false || action.channel !== LAST_CHANNEL) return deliveryOf(action);
  return isStored ? undefined : 'none: no channel is configured, and the reply is stored';
}

function deliveryOf({ channel, to }: RunAction): string {
  const where = channel === LAST_CHANNEL ? 'the channel last used' : channel;
  return `${where}, ${to === undefined ? 'its last recipient' : clearLine(to)}`;
}

function settingLines(settings: readonly (readonly [string, string | undefined])[]): string[] {
  return settings.flatMap(([name, text]) => (text === undefined ? [] : [`  ${name} ${text}`]));
}
