import { quoted, say } from '../finding.ts';
import {
  CHANNEL_IDS,
  channelIdOf,
  LAST_CHANNEL,
  namesMainSession,
  THINKING_LEVELS,
  thinkingLevel,
} from '../action.ts';
import { didYouMean, longerWord, type Path, type Place, type TextEdit } from '../document/document.ts';
import { AGENT_KEYS } from './check-keys.ts';
import { holdsReference } from './check-references.ts';
import type { CompileOptions, MappingEntry } from './compile-options.ts';
import { quote, type Report, type Reporter } from './mapping-codes.ts';
import type { MappingSource } from './mapping-schema.ts';

interface Checked {
  readonly source: MappingSource;
  readonly reporter: Reporter;
  readonly options: CompileOptions;
}

/** The edit of a did-you-mean. */
function replacing(from: string, to: string | undefined): Pick<Report, 'replace'> {
  return to === undefined ? {} : { replace: { from, to } };
}

/** The id a literal channel stands for; undefined for `last`, a blank one, or an unknown one, which is a finding. */
export function checkChannel({ reporter, options }: Checked, path: Path, written = ''): string | undefined {
  const name = written.trim().toLowerCase();
  if (name === '' || name === LAST_CHANNEL || holdsReference(written)) return undefined;
  const id = channelIdOf(name);
  const known = new Set([...CHANNEL_IDS, ...(options.channels ?? [])]);
  if (known.has(id)) return id;
  reporter.report(path, {
    code: 'UNKNOWN_CHANNEL',
    message: say`unknown channel ${quote(name)}`,
    facts: { written: written.trim(), known: [...known] },
  });
  return undefined;
}

/** A literal recipient has to have its channel's form. */
export function checkRecipient(
  { reporter }: Pick<Checked, 'reporter'>,
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
      isRecipient: (one: string) => options.recipientProblem?.(channel, one) === undefined,
    },
  });
}

/** A literal model has to be in the allow-list, aliases resolved. */
export function checkModel({ reporter, options }: Checked, name: string): void {
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
  { source, reporter, options, dialect }: Checked & { readonly dialect: MappingEntry['dialect'] },
  key: string,
): void {
  if (!namesMainSession(key)) return;
  const isLenient = options.lenient ?? dialect === 'openclaw';
  reporter.report(['sessionKey'], {
    severity: isLenient ? 'warning' : 'error',
    code: 'MAIN_SESSION_KEY',
    message: say`${quote(key)} is the key of the main session, which hooks may not use${isLenient ? ', so "hook:" is put before it' : ''}`,
    hint: quoted(insteadOfMainSession(source)),
  });
}

/** Keys that an OpenClaw file does not allow: there, too, each request of the mapping is answered 400. */
export function checkKeyIsTaken(
  { reporter, options }: Checked,
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

/** What tells the main session something is a wake, but for whoever writes a key of a run: that has its own conversation. */
function insteadOfMainSession(source: MappingSource): string {
  const { action = 'agent', transform, messageTemplate } = source;
  const unread = AGENT_KEYS.filter((key) => source[key] !== undefined);
  const isRun = transform !== undefined || unread.some((key) => key !== 'sessionKey' && key !== 'name');
  if (isRun || action !== 'agent')
    return 'write a key such as hook:name; to tell the main session something, use action: wake';
  const text = messageTemplate === undefined ? '' : ', rename messageTemplate to textTemplate,';
  return `to tell the main session something, write action: wake${text} and remove ${unread.toReversed().join(' and ')}`;
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
  { source, reporter, dialect }: Omit<Checked, 'options'> & { readonly dialect: MappingEntry['dialect'] },
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
export function checkThinking({ reporter }: Pick<Checked, 'reporter'>, level: string): void {
  if (level === '' || thinkingLevel(level) !== undefined) return;
  const near = didYouMean(level, THINKING_LEVELS);
  const known = `the levels are: ${THINKING_LEVELS.join(' ')}`;
  reporter.report(['thinking'], {
    severity: 'warning',
    code: 'UNKNOWN_THINKING',
    message: say`unknown thinking level ${quote(level)}: it is ignored`,
    hint: quoted(near === undefined ? known : `did you mean "${near}"? ${known}`),
    ...replacing(level, near),
  });
}

/** A mapping names a folder of the configuration's list, never a path of its own. */
export function checkWorkFolder({ source, reporter, options }: Checked): void {
  const { cwd } = source;
  const { workFolders } = options;
  if (cwd === undefined || workFolders === undefined || workFolders.includes(cwd)) return;
  const near = didYouMean(cwd, workFolders);
  const known = workFolders.length === 0 ? 'it is empty' : `the names are: ${workFolders.join(' ')}`;
  reporter.report(['cwd'], {
    code: 'UNKNOWN_WORK_FOLDER',
    message: say`there is no folder ${quote(cwd)} in gateway.workFolders`,
    hint: quoted(
      near === undefined
        ? `${known}; an agent works only in folders of that list: ${workFolderHint(cwd)}`
        : `did you mean "${near}"?`,
    ),
    ...replacing(cwd, near),
  });
}

/** A runner is a key of `gateway.runners`. */
export function checkRunner({ source, reporter, options }: Checked): void {
  const { runner } = source;
  const { runners, defaultRunner } = options;
  if (runner === undefined || runners === undefined || runners.includes(runner)) return;
  const message = `there is no runner ${quote(runner)} in gateway.runners`;
  if (runner === defaultRunner) {
    const hint = `gateway.runner is ${runner}, and its name is default: write runner: default, or leave the line out`;
    reporter.report(['runner'], {
      code: 'UNKNOWN_RUNNER',
      message: quoted(message),
      hint: quoted(hint),
      ...replacing(runner, 'default'),
    });
    return;
  }
  const spelt = didYouMean(runner, runners);
  const near = spelt ?? longerWord(runner, runners);
  reporter.report(['runner'], {
    code: 'UNKNOWN_RUNNER',
    message: quoted(message),
    hint: quoted(near === undefined ? `the runners are: ${runners.join(' ')}` : `did you mean "${near}"?`),
    ...replacing(runner, spelt),
  });
}

/** A path in the place of a name: both lines that are needed. */
function workFolderHint(cwd: string): string {
  const name = cwd.split('/').findLast((part) => /^[\w.-]+$/.test(part) && !/^\.+$/.test(part)) ?? 'app';
  return cwd.includes('/')
    ? `write workFolders: {${name}: ${JSON.stringify(cwd)}} below gateway, and cwd: ${name} here`
    : 'add the folder there, and write its name here';
}
