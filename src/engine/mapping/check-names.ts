import { quoted, say, type Sentence, type TextEdit } from '../../base/finding.ts';
import {
  CHANNEL_IDS,
  channelIdOf,
  LAST_CHANNEL,
  namesMainSession,
  THINKING_LEVELS,
  thinkingLevel,
} from '../../base/action.ts';
import { didYouMean, type Path, type Place } from '../../base/document/document.ts';
import type { CheckedKeys } from './check-keys.ts';
import type { CompiledTemplate } from './compiled-mapping.ts';
import type { CompileOptions, MappingEntry } from './compile-options.ts';
import { type MappingCode, quote, type Reporter } from './mapping-codes.ts';
import type { MappingSource } from './mapping-schema.ts';

/** What the names of a mapping are checked with. */
export interface CheckedNames {
  readonly source: MappingSource;
  readonly reporter: Reporter;
  readonly options: CompileOptions;
}

interface UnknownName {
  readonly code: MappingCode;
  readonly severity?: 'warning';
  readonly message: Sentence;
  readonly written: string;
  readonly near: string | undefined;
  /** What there is, where nothing is near. */
  readonly list: string;
}

/** A name that leads nowhere. */
export function reportUnknown(
  reporter: Reporter,
  key: string,
  { written, near, list, ...finding }: UnknownName,
): void {
  const known = near === undefined ? {} : { replace: { from: written, to: near } };
  const hint = near === undefined ? quoted(list) : say`did you mean "${near}"?`;
  reporter.report([key], { ...finding, hint, ...known });
}

/** The id a literal channel stands for; undefined for `last`, a blank one, or an unknown one, which is a finding. */
export function checkChannel(
  { reporter, options }: CheckedNames,
  path: Path,
  written = '',
): string | undefined {
  const name = written.trim().toLowerCase();
  if (name === '' || name === LAST_CHANNEL || holdsReference(written)) return undefined;
  const id = channelIdOf(name);
  if (options.channels === 'any') return id;
  const known = new Set([...CHANNEL_IDS, ...(options.channels ?? [])]);
  if (known.has(id)) return id;
  reporter.report(path, {
    code: 'UNKNOWN_CHANNEL',
    message: say`unknown channel ${quote(name)}`,
    facts: { written: written.trim(), known: [...known] },
  });
  return undefined;
}

/** A thread stands on a channel that has some, and the mapping names it: `last` may lead anywhere. */
export function checkThread({ source, reporter, options }: CheckedNames, channel: string | undefined): void {
  // Of what sends nothing, the key is told as one without effect.
  if (source.action === 'skip' || (source.action === 'wake' && source.transform === undefined)) return;
  if (source.thread === undefined || (channel !== undefined && options.hasThreads?.(channel) !== false))
    return;
  const where = channel === undefined ? say`the mapping names no channel` : say`${channel} has no threads`;
  reporter.report(['thread'], {
    severity: 'warning',
    code: 'INVALID_RECIPIENT',
    message: say`${where}, so "thread" is left out`,
    hint: say`write channel: slack beside it, or remove it: threads are on slack, discord, msteams, telegram, gitlab and email`,
  });
}

/** A literal recipient has to have its channel's form. */
export function checkRecipient(
  { reporter }: Pick<CheckedNames, 'reporter'>,
  path: Path,
  {
    channel,
    to,
    options,
  }: { readonly channel: string; readonly to: string; readonly options: CompileOptions },
): void {
  const problem = to === '' || holdsReference(to) ? undefined : options.recipientProblem?.(channel, to);
  if (problem === undefined) return;
  reporter.report(path, {
    code: 'INVALID_RECIPIENT',
    message: say`${quote(to)} is not a recipient on ${channel}: ${problem}`,
    facts: {
      channel,
      to,
      isFixed: path.length > 1,
      isRecipient: (one: string) => options.recipientProblem?.(channel, one) === undefined,
    },
  });
}

/** A literal model has to be in the allow-list, aliases resolved. */
export function checkModel({ reporter, options }: CheckedNames, name: string): void {
  const { models, aliases = {} } = options;
  const resolved = Object.hasOwn(aliases, name) ? (aliases[name] ?? name) : name;
  if (name === '' || models === undefined || models.includes(resolved) || holdsReference(name)) return;
  const usable = Object.entries(aliases).filter(([, model]) => models.includes(model));
  reporter.report(['model'], {
    code: 'MODEL_NOT_ALLOWED',
    message: say`the model ${quote(name)} is not in agents.defaults.models`,
    facts: { written: name, models, usable: usable.map(([alias]) => alias) },
  });
}

/** A literal session key is one of the hooks' own: requests of the mapping would be refused otherwise. */
export function checkSessionKey(
  {
    reporter,
    options,
    dialect,
  }: Omit<CheckedNames, 'source'> & { readonly dialect: MappingEntry['dialect'] },
  key: string,
): void {
  if (!namesMainSession(key)) return;
  const isLenient = options.lenient ?? dialect === 'openclaw';
  reporter.report(['sessionKey'], {
    severity: isLenient ? 'warning' : 'error',
    code: 'MAIN_SESSION_KEY',
    message: say`${quote(key)} is the key of the main session, which hooks may not use${isLenient ? ', so "hook:" is put before it' : ''}`,
    hint: say`write a key such as hook:name; what tells the main session something is a wake`,
  });
}

/** Keys that an OpenClaw file does not allow: there, too, each request of the mapping is answered 400. */
export function checkKeyIsTaken(
  { reporter, options }: CheckedNames,
  { literal }: { readonly literal?: string },
): void {
  const { sessionKeys } = options;
  if (sessionKeys === undefined) return;
  const finding = { severity: 'warning', code: 'SESSION_KEY_REFUSED' } as const;
  const prefixes = sessionKeys.allowedPrefixes.map((prefix) => prefix.toLowerCase());
  const key = literal?.trim().toLowerCase();
  if (key === undefined && !sessionKeys.allowFromRequest)
    reporter.report(['sessionKey'], {
      ...finding,
      message: say`the session key is made of the payload, which this file does not allow, so requests of this mapping are answered 400`,
      hint: say`set hooks.allowRequestSessionKey: true, and hooks.allowedSessionKeyPrefixes, without which the gateway does not start`,
    });
  if (key !== undefined && prefixes.length > 0 && !prefixes.some((prefix) => key.startsWith(prefix)))
    reporter.report(['sessionKey'], {
      ...finding,
      message: say`the session key begins with none of hooks.allowedSessionKeyPrefixes, so requests of this mapping are answered 400`,
      hint: say`add its prefix, or choose another key`,
    });
}

/** A key with its value before another key of the same object. */
function keyBefore(at: Place, text: string): TextEdit {
  const { source, start } = at;
  const lineStart = source.text.lastIndexOf('\n', start - 1) + 1;
  const before = source.text.slice(lineStart, start);
  const isBlock = /^\s*(?:- +)?$/.test(before);
  const isJson = source.text[start] === '"';
  const between = isBlock ? `\n${' '.repeat(before.length)}` : ', ';
  const written = isJson ? text.replace(/^(\w+): (.+)$/, '"$1": "$2"') : text;
  return { at: { source, start, end: start }, text: written + (isJson ? ', ' : between) };
}

/** A conversation belongs to its mapping, by the id: an id made from the position would lose it to a moved mapping. */
export function checkConversationOwner(
  { source, reporter, dialect }: CheckedKeys,
  generatedId: string,
): void {
  if (source.id !== undefined || dialect === 'openclaw' || (source.action ?? 'agent') !== 'agent') return;
  reporter.report(
    ['sessionKey'],
    {
      code: 'SESSION_KEY_WITHOUT_ID',
      message: say`a mapping with a sessionKey needs an id: its conversations belong to the mapping of that id`,
      hint: say`add the line "id: ${generatedId}": the id it has had so far, so conversations and dedupe keys stay`,
      editAt: (at) => keyBefore(at, `id: ${generatedId}`),
    },
    'key',
  );
}

/** A literal thinking level is a known one: any other is ignored. */
export function checkThinking({ reporter }: Pick<CheckedNames, 'reporter'>, level: string): void {
  if (level === '' || thinkingLevel(level) !== undefined) return;
  reportUnknown(reporter, 'thinking', {
    severity: 'warning',
    code: 'UNKNOWN_THINKING',
    message: say`unknown thinking level ${quote(level)}: it is ignored`,
    written: level,
    near: didYouMean(level, THINKING_LEVELS),
    list: `choose one of the levels: ${THINKING_LEVELS.join(' ')}`,
  });
}

/** A mapping names a folder of the configuration's list, never a path of its own. */
export function checkWorkFolder({ source, reporter, options }: CheckedNames): void {
  const { cwd } = source;
  const { workFolders } = options;
  if (cwd === undefined || workFolders === undefined || workFolders.includes(cwd)) return;
  const known = workFolders.length === 0 ? '' : `choose one of: ${workFolders.join(' ')}; or `;
  reportUnknown(reporter, 'cwd', {
    code: 'UNKNOWN_WORK_FOLDER',
    message: say`there is no folder ${quote(cwd)} in gateway.workFolders`,
    written: cwd,
    near: didYouMean(cwd, workFolders),
    list: `${known}add the folder there, and write its name here: an agent works only in folders of that list`,
  });
}

/** A runner is a key of `gateway.runners`; the one that stands at `gateway.runner` itself is called default. */
export function checkRunner({ source, reporter, options }: CheckedNames): void {
  const { runner } = source;
  const { runners, defaultRunner } = options;
  if (runner === undefined || runners === undefined || runners.includes(runner)) return;
  reportUnknown(reporter, 'runner', {
    code: 'UNKNOWN_RUNNER',
    message: say`there is no runner ${quote(runner)} in gateway.runners`,
    written: runner,
    near: runner === defaultRunner ? 'default' : didYouMean(runner, runners),
    list: `choose one of the runners: ${runners.join(' ')}`,
  });
}

/** A reference as the configuration takes it. */
const REFERENCE = /\$\{([A-Za-z_]\w*)\}/;

/** Whether a text holds a reference, which mappings do not replace. */
function holdsReference(text: string | undefined): boolean {
  return text !== undefined && REFERENCE.test(text);
}

/** Keys whose text is a name or a key, so that a reference in it can only be meant as one. */
export function checkReferences({ source, reporter, dialect }: CheckedKeys): void {
  if (dialect === 'openclaw') return;
  const { channel, to, model, sessionKey, thinking, dedupe, debounce, maxRuns } = source;
  const texts: readonly (readonly [readonly string[], string | undefined])[] = [
    [['channel'], channel],
    [['to'], to === undefined ? undefined : String(to)],
    [['model'], model],
    [['sessionKey'], sessionKey],
    [['thinking'], thinking],
    [['dedupe', 'key'], typeof dedupe === 'object' ? dedupe.key : undefined],
    [['debounce', 'key'], debounce?.key],
    [['maxRuns', 'key'], typeof maxRuns === 'object' ? maxRuns.key : undefined],
  ];
  for (const [path, text] of texts) {
    if (!holdsReference(text)) continue;
    const key = path.join('.');
    reporter.report(path, {
      code: 'REFERENCE_NOT_REPLACED',
      message: say`${key} is the text ${quote(text ?? '')} as it stands: a reference is replaced in sluice.yaml, and in a mapping only in verify, challenge and callbackUrl`,
      hint: say`write the text itself; a value of the request is {{name}}, and a reference to a recipient or a model can stand in sluice.yaml, at the channel or the runner`,
    });
  }
}

/** A key whose fields are all text is the same for every request: everything after the first would be lost. */
export function checkEscaped(
  { reporter, dialect }: Pick<CheckedNames, 'reporter'> & Pick<MappingEntry, 'dialect'>,
  path: Path,
  { reads, source }: Partial<Pick<CompiledTemplate, 'reads' | 'source'>> = {},
): void {
  if (reads?.length !== 0 || !source?.includes(String.raw`\{{`) || dialect === 'openclaw') return;
  const text = source.replaceAll(String.raw`\{{`, '{{');
  reporter.report(path, {
    code: 'KEY_ESCAPED',
    message: say`the key is the text ${quote(text)} for every request: a backslash before {{ makes it text`,
    hint: say`write ${String(path.at(-1))}: ${withTwo(source)}, in which two backslashes print one`,
    editAt: (at) => {
      const isOneLine = !at.source.text.slice(at.start, at.end).includes('\n');
      return isOneLine ? { at, text: withTwo(source) } : undefined;
    },
  });
}

const withTwo = (text: string): string =>
  `'${text.replaceAll(/(?<!\\)\\\{\{/g, String.raw`\\{{`).replaceAll("'", "''")}'`;
