import { quoted, say } from '../finding.ts';
import { inWords } from '../document/document.ts';
import type { MappingEntry } from './compile-options.ts';
import type { Report, Reporter } from './mapping-codes.ts';
import type { MappingSource } from './mapping-schema.ts';

/** Keys that only an agent action has. */
export const AGENT_KEYS = [
  'name',
  'sessionKey',
  'instructions',
  'deliver',
  'channel',
  'to',
  'model',
  'thinking',
  'timeoutSeconds',
  'runner',
  'cwd',
  'fallback',
  'summary',
  'callbackUrl',
  'debounce',
  'limits',
] as const;
/** Of these, the ones that concern the delivery alone. */
const NOTIFY_KEYS: ReadonlySet<string> = new Set(['name', 'channel', 'to', 'fallback', 'summary']);

interface CheckedKeys {
  readonly source: MappingSource;
  readonly reporter: Reporter;
  readonly dialect: MappingEntry['dialect'];
  /** False where keys with a wrong value were left out. */
  readonly isWhole: boolean;
}

/** Keys that contradict each other or the action. */
export function checkKeys(compiling: CheckedKeys): void {
  checkInstructions(compiling);
  checkUnsafeContent(compiling);
  checkTemplateKey(compiling);
  checkEffect(compiling);
}

function checkInstructions({ source, reporter }: CheckedKeys): void {
  if (source.instructions?.includes('{{') !== true) return;
  reporter.report(['instructions'], {
    code: 'INSTRUCTIONS_NOT_LITERAL',
    message: say`instructions are outside the safety boundary, so they cannot contain expressions ({{…}})`,
    hint: say`move what comes from the request into messageTemplate`,
  });
}

function checkUnsafeContent({ source, reporter }: CheckedKeys): void {
  if (source.allowUnsafeExternalContent !== true) return;
  reporter.report(['allowUnsafeExternalContent'], {
    severity: 'warning',
    code: 'UNSAFE_CONTENT_ALLOWED',
    message: say`the safety boundary is off: the agent reads what senders write as if you had written it`,
    hint: say`put your own words into instructions and remove this key; use it only for internal senders that you trust`,
  });
}

/** Of the two template keys only that of the action is read, and without it there has to be a transform. */
function checkTemplateKey({ source, reporter, dialect, isWhole }: CheckedKeys): void {
  const { action = 'agent', transform } = source;
  if (action === 'skip') return;
  const [right, wrong] = templateKeys(action);
  if (source[wrong] !== undefined) {
    const finding = {
      code: 'WRONG_TEMPLATE_KEY',
      severity: dialect === 'openclaw' ? 'warning' : 'error',
      message: say`the template of action ${action} is ${right}, found ${wrong}`,
      ...(source[right] === undefined
        ? { hint: say`rename it to ${right}`, replace: { from: wrong, to: right } }
        : { hint: say`keep one of the two: move what you need into ${right}` }),
    } as const;
    reporter.report([wrong], finding, 'key');
  } else if (isWhole && source[right] === undefined && transform === undefined) {
    reporter.report([], withoutTemplate(action, right));
  }
}

function withoutTemplate(action: string, key: string): Report {
  const field = action === 'wake' ? 'text' : 'message';
  return {
    severity: 'warning',
    code: 'MAPPING_WITHOUT_TEMPLATE',
    message: say`the mapping has neither ${key} nor transform: a body without a text in "text" or "message" is answered 400`,
    hint: say`add ${key}, e.g. ${key}: "{{${field}}}"`,
  };
}

/** The key that holds the template of an action, and the one that does not. */
export function templateKeys(
  action: string,
): readonly ['textTemplate' | 'messageTemplate', 'textTemplate' | 'messageTemplate'] {
  return action === 'wake' ? ['textTemplate', 'messageTemplate'] : ['messageTemplate', 'textTemplate'];
}

/** What is meant for a run may be all that tells that a run is meant. */
function withoutEffectHint({ action, textTemplate }: CheckedKeys['source'], keys: readonly string[]): string {
  const isText = action === 'wake' && textTemplate !== undefined;
  const renamed = isText ? ', and messageTemplate in place of textTemplate' : '';
  return `for a run of an agent, which takes ${keys.length === 1 ? (keys[0] ?? '') : 'them'}, write action: agent${renamed}; else remove ${keys.length === 1 ? 'it' : inWords(keys)}`;
}

function checkEffect({ source, reporter }: CheckedKeys): void {
  const { action = 'agent', transform } = source;
  if (action === 'agent' || (action !== 'skip' && transform !== undefined)) return;
  const more =
    action === 'skip'
      ? (['messageTemplate', 'textTemplate', 'transform', 'forEach', 'wakeMode'] as const)
      : [];
  const keys = [...AGENT_KEYS, ...more].filter(
    (key) => source[key] !== undefined && !(action === 'notify' && NOTIFY_KEYS.has(key)),
  );
  const [first] = keys;
  if (first === undefined) return;
  const named = inWords(keys.map((key) => `"${key}"`));
  const finding = {
    severity: 'warning',
    code: 'MAPPING_KEY_WITHOUT_EFFECT',
    message: say`${named} ${keys.length === 1 ? 'has' : 'have'} no effect with action ${action}`,
    hint: quoted(withoutEffectHint(source, keys)),
  } as const;
  reporter.report([first], finding, 'key');
}
