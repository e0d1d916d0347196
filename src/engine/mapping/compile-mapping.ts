import { say, type Subject } from '../../base/finding.ts';
import type { Finding, LocatedValue, Path, Place } from '../../base/document/document.ts';
import { defined } from '../../base/json.ts';
import { checkTemplateKey, templateKeys, readEntry } from './check-keys.ts';
import type { CompileOptions, MappingEntry } from './compile-options.ts';
import { quote, type MappingReporter } from './reporter.ts';
import { MAPPING_KEYS, PATH_KEYS, type MappingSource } from './mapping-schema.ts';
import { DECIDING, type CompiledMapping, type CompiledTemplate, type Fill } from './compiled-mapping.ts';
import { hookName } from './keys/routing-keys.ts';
import { accountPaths, senderOf } from './keys/start-keys.ts';
import { type KeyCompiling, checkName, holdsReference } from './keys/mapping-key.ts';
import { compileOpenClawTemplate } from './template/openclaw-template.ts';
import { compileTemplate } from './template/template.ts';

export interface MappingContext {
  readonly options: CompileOptions;
  /** 0-based position in first-match order. */
  readonly order: number;
}

export interface MappingResult {
  /** Absent where a finding is an error. */
  readonly mapping?: CompiledMapping;
  /** In its place for a mapping of an OpenClaw file that has errors: takes the same requests, and is out. */
  readonly out?: CompiledMapping;
  /** Known even where other keys are wrong. */
  readonly id?: string;
  readonly idAt?: Place;
  readonly enabled: boolean;
  readonly findings: readonly Finding[];
  readonly subjects: readonly Subject[];
}

interface CompilingMapping extends MappingContext {
  readonly located: LocatedValue;
  readonly source: MappingSource;
  readonly reporter: MappingReporter;
  readonly behaviours: MappingEntry['behaviours'];
  readonly preset: MappingEntry['preset'];
  /** False where keys with a wrong value were left out. */
  readonly isWhole: boolean;
  readonly compiled: Map<string, CompiledTemplate>;
}

export interface MappingSubject extends Subject, Pick<CompilingMapping, 'located' | 'source' | 'isWhole'> {
  readonly kind: 'mapping';
  /** What senders write before the hook name. */
  readonly hooksPath: string;
  readonly compiled: CompiledMapping;
}

/** Checks and compiles one mapping, all findings at once, in the order of the file. */
export function compileMapping(entry: MappingEntry, context: MappingContext): MappingResult {
  const { value, ...read } = readEntry(entry);
  const { findings, subjects } = read.reporter;
  if (value === undefined) return { enabled: true, findings, subjects, ...outByPath(entry, context) };
  const { behaviours, preset } = entry;
  const source = { ...value, ...preset };
  const compiling: CompilingMapping = {
    ...context,
    ...read,
    source,
    behaviours,
    preset,
    compiled: new Map(),
  };
  checkTemplateKey(compiling);
  const mapping = build(compiling);
  const { located, reporter, isWhole } = compiling;
  const hooksPath = compiling.options.hooksPath ?? '/hooks';
  const subject: MappingSubject = { kind: 'mapping', located, source, isWhole, compiled: mapping, hooksPath };
  reporter.show(subject);
  findings.sort((a, b) => (a.at?.start ?? 0) - (b.at?.start ?? 0));
  const { id, idAt } = mapping;
  const result = { id, idAt, enabled: source.enabled ?? true, findings, subjects };
  if (!findings.some(({ severity }) => severity === 'error')) return { ...result, mapping };
  const out = isMatchReadable(entry, findings) ? outOf(entry, mapping) : outByPath(entry, context);
  return { ...result, ...out };
}

/** The mapping as one that is out; only in an OpenClaw file, ours is refused as a whole. */
export function outOf({ behaviours }: MappingEntry, mapping: CompiledMapping): Pick<MappingResult, 'out'> {
  if (!behaviours.toleratesMistakes) return {};
  const { transform: _left, ...rest } = mapping;
  return { out: { ...rest, isOut: true } };
}

/** Whether no finding lies in `match`, so that it is known which requests are meant. */
function isMatchReadable({ value: located }: MappingEntry, findings: readonly Finding[]): boolean {
  if (located.at(['match']).value === undefined) return true;
  const match = located.place(['match']);
  return !findings.some(
    ({ severity, at }) =>
      severity === 'error' && at !== undefined && at.start >= match.start && at.end <= match.end,
  );
}

/** The literal path of a mapping whose `match` cannot be read as a whole: all requests of it are answered 503. */
function outByPath(entry: MappingEntry, { order }: MappingContext): Pick<MappingResult, 'out'> {
  const { value } = entry.value.at(['match', 'path']);
  const path = typeof value === 'string' ? hookName(value) : '';
  if (path === '') return {};
  const at = entry.value.place([]);
  return outOf(entry, {
    id: `mapping-${order + 1}`,
    hasOwnId: false,
    owner: 'mappings',
    order,
    at,
    idAt: at,
    match: { path, pathAt: entry.value.place(['match', 'path']) },
    action: 'agent',
    templates: new Map(),
    fills: [],
    behaviours: entry.behaviours,
    allowUnsafeExternalContent: false,
    settings: {},
  });
}

function build(compiling: CompilingMapping): CompiledMapping {
  const { source, located, order, behaviours } = compiling;
  const id = source.id ?? `mapping-${order + 1}`;
  const text = compileText(compiling);
  const keys = compileKeys(compiling, OWN_KEYS);
  const placeOf = (path: Path): Place | undefined =>
    located.at(path).value === undefined ? undefined : located.place(path);
  return {
    id,
    hasOwnId: source.id !== undefined,
    owner: ownerOf(compiling, id),
    order,
    at: located.place([]),
    idAt: located.place(['id']),
    match: {},
    action: source.action ?? 'agent',
    behaviours,
    allowUnsafeExternalContent: false,
    ...(source.continue === true ? { continues: true } : {}),
    settings: compileKeys(compiling, PATH_KEYS),
    settingsAt: defined(Object.fromEntries(PATH_KEYS.map((key) => [key, placeOf([key])]))),
    ...keys,
    ...defined({
      text,
      timeoutAt: placeOf(['timeoutSeconds']),
      usdPerDayAt: placeOf(['limits', 'usdPerDay']),
      agentId: agentOf(compiling),
      sender: senderOf(compiling),
      accounts:
        (source.ignoreSenders ?? source.startedBy ?? source.approve) ? accountPaths(compiling) : undefined,
    }),
    templates: compiling.compiled,
    fills: fillsOf(keys),
  };
}

/** A named owner is that of several mappings; no body of a request can name one. */
function ownerOf({ source, behaviours }: CompilingMapping, id: string): CompiledMapping['owner'] {
  const { owner } = source.conversation ?? {};
  if (owner !== undefined) return `owner:${owner}`;
  return behaviours.sharesConversations ? 'mappings' : `mapping:${id}`;
}

const OWN_KEYS = [...MAPPING_KEYS.keys()].filter((key) => !PATH_KEYS.some((other) => other === key));

function compileKeys(compiling: CompilingMapping, keys: readonly string[]): Record<string, unknown> {
  const made = keys.map((key): readonly [string, unknown] => {
    const compile = MAPPING_KEYS.get(key)?.compile;
    const written: unknown = compiling.source[key as keyof MappingSource];
    if (written === undefined || compile === undefined) return [key, undefined];
    const at: KeyCompiling = {
      ...compiling,
      key,
      templates: compiling.compiled,
      template: (path, options) => templateAt(compiling, path, options),
    };
    return [key, compile(written, at)];
  });
  return defined(Object.fromEntries(made));
}

function fillsOf(compiled: Readonly<Record<string, unknown>>): readonly Fill[] {
  return [...MAPPING_KEYS].flatMap(([key, { fill, actions = [] }]): readonly Fill[] => {
    const value = compiled[key];
    if (fill === undefined || value === undefined) return [];
    return [{ key, isOfNotify: actions.includes('notify'), make: (at) => fill(value, at) }];
  });
}

function compileText(compiling: CompilingMapping): CompiledTemplate | undefined {
  const [right, wrong] = templateKeys(compiling.source.action ?? 'agent');
  const [text] = [right, wrong].map((key) =>
    compiling.source[key] === undefined ? undefined : templateAt(compiling, [key]),
  );
  // Mistakes in the other one are reported as well.
  compiling.compiled.delete(wrong);
  return text;
}

function templateAt(
  compiling: CompilingMapping,
  path: Path,
  { withItem = compiling.source.forEach !== undefined } = {},
): CompiledTemplate | undefined {
  const made = compileAt(compiling, path, withItem);
  const key = path.join('.');
  if (made !== undefined) compiling.compiled.set(key, made);
  if (made === undefined || compiling.behaviours.hasGatewayForm || !DECIDING.test(key)) return made;
  checkEscaped(compiling.reporter, path, made);
  checkReference(compiling.reporter, path, made);
  return made;
}

function compileAt(
  { located, reporter, preset, behaviours }: CompilingMapping,
  path: Path,
  withItem: boolean,
): CompiledTemplate | undefined {
  const own = path.length === 1 ? preset?.[path[0] as keyof MappingSource] : undefined;
  const text = typeof own === 'string' ? own : undefined;
  const { template, findings, subject } = behaviours.hasGatewayForm
    ? compileOpenClawTemplate(located.at(path))
    : compileTemplate(located.at(path), { withItem, ...defined({ text }) });
  reporter.findings.push(...findings);
  reporter.show(subject);
  return template;
}

/** A name or a key with a reference, which can only be meant as one. */
function checkReference(reporter: MappingReporter, path: Path, { source }: CompiledTemplate): void {
  if (!holdsReference(source)) return;
  reporter.report(path, {
    code: 'REFERENCE_NOT_REPLACED',
    message: say`${path.join('.')} is the text ${quote(source)} as it stands: a reference is replaced in sluice.yaml, and in a mapping only in verify, challenge and callbackUrl`,
    hint: say`write the text itself; a value of the request is {{name}}, and a reference to a recipient or a model can stand in sluice.yaml, at the channel or the runner`,
  });
}

/** A key whose fields are all text: everything after the first would be lost. */
function checkEscaped(reporter: MappingReporter, path: Path, { reads, source }: CompiledTemplate): void {
  const isKey = path.at(-1) === 'key' || path[0] === 'sessionKey';
  if (!isKey || reads.length > 0 || !source.includes(String.raw`\{{`)) return;
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

/** `agentId` of an OpenClaw mapping; an unknown one falls back to the default agent, as in OpenClaw. */
function agentOf({ located, behaviours, options, reporter }: CompilingMapping): string | undefined {
  const { value } = located.at(['agentId']);
  if (!behaviours.hasGatewayForm || typeof value !== 'string' || value.trim() === '') return undefined;
  const id = value.trim();
  const { agents = [] } = options;
  if (agents.includes(id)) return id;
  const message = say`there is no agent ${quote(id)}, so the default agent takes the runs of this mapping`;
  const finding = { severity: 'warning', code: 'UNKNOWN_AGENT_ID', message } as const;
  if (agents.length > 0) checkName(reporter, { key: 'agentId', written: id, known: agents, finding });
  return undefined;
}
