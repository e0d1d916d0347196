import { say, type Subject } from '../../base/finding.ts';
import {
  didYouMean,
  validate,
  type Finding,
  type LocatedValue,
  type Path,
  type Place,
} from '../../base/document/document.ts';
import { defined } from '../../base/json.ts';
import { checkGatewayKeys, checkKeys, templateKeys } from './check-keys.ts';
import {
  checkReferences,
  checkChannel,
  checkModel,
  checkRecipient,
  checkRunner,
  checkConversationOwner,
  checkEscaped,
  checkKeyIsTaken,
  checkSessionKey,
  checkThread,
  checkThinking,
  checkWorkFolder,
  reportUnknown,
} from './check-names.ts';
import type { CompileOptions, MappingEntry } from './compile-options.ts';
import { compileMatch } from './routing/compile-match.ts';
import { createReporter, quote, type Reporter } from './mapping-codes.ts';
import { MappingSchema, type MappingSource } from './mapping-schema.ts';
import { compileDebounce } from './compile-debounce.ts';
import { compileCallback, compileApproval, compileTarget } from './compile-target.ts';
import { compileIgnoredSenders } from './compile-ignored-senders.ts';
import { compileForEach } from './compile-for-each.ts';
import {
  TEMPLATE_KEYS,
  type CompiledMapping,
  type CompiledTemplate,
  type DedupeSettings,
  type IgnoredSenders,
  type MaxRunsSettings,
  type TemplateKey,
} from './compiled-mapping.ts';
import { compilePathSettings } from './path-settings.ts';
import { compileOpenClawTemplate } from './template/openclaw-template.ts';
import { compileTemplate } from './template/template.ts';
import { toTransformRef } from './transform-ref.ts';

const DAY_SECONDS = 86_400;

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

/** One mapping being compiled. */
interface CompilingMapping extends MappingContext {
  readonly located: LocatedValue;
  readonly source: MappingSource;
  readonly reporter: Reporter;
  readonly dialect: MappingEntry['dialect'];
  readonly preset: MappingEntry['preset'];
  /** False where keys with a wrong value were left out. */
  readonly isWhole: boolean;
  /** Its templates so far, by their keys. */
  readonly compiled: Map<string, CompiledTemplate>;
}

/** One mapping as it was read and compiled. */
export interface MappingSubject
  extends Subject, Pick<CompilingMapping, 'located' | 'source' | 'dialect' | 'isWhole'> {
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
  const { dialect, preset } = entry;
  const source = { ...value, ...preset };
  const compiling: CompilingMapping = { ...context, ...read, source, dialect, preset, compiled: new Map() };
  checkKeys(compiling);
  checkReferences(compiling);
  const mapping = build(compiling);
  const { located, reporter, isWhole } = compiling;
  const hooksPath = compiling.options.hooksPath ?? '/hooks';
  const subject: MappingSubject = {
    kind: 'mapping',
    located,
    source,
    dialect,
    isWhole,
    compiled: mapping,
    hooksPath,
  };
  reporter.show(subject);
  findings.sort((a, b) => (a.at?.start ?? 0) - (b.at?.start ?? 0));
  const { id, idAt } = mapping;
  const result = { id, idAt, enabled: source.enabled ?? true, findings, subjects };
  if (!findings.some(({ severity }) => severity === 'error')) return { ...result, mapping };
  const out = isMatchReadable(entry, findings) ? outOf(entry, mapping) : outByPath(entry, context);
  return { ...result, ...out };
}

/** The keys of an entry, as far as their values are right; undefined where it is no mapping at all. */
function readEntry(entry: MappingEntry): {
  readonly value: MappingSource | undefined;
  readonly located: LocatedValue;
  readonly reporter: Reporter;
  readonly isWhole: boolean;
} {
  const foreign = entry.dialect === 'openclaw' ? ['agentId'] : [];
  const located = withoutKeys(entry.value, [...unknownKeys(entry), ...foreign]);
  const reporter = createReporter(located);
  const whole = validate(located, MappingSchema, 'mapping');
  reporter.findings.push(...whole.findings);
  if (entry.dialect === 'openclaw')
    reporter.findings.push(...checkGatewayKeys(entry.value, MappingSchema.shape));
  // Keys with a wrong value are left out for the rest of the checks.
  const value = whole.value ?? validate(withoutKeys(located, wrongKeys(located.value)), MappingSchema).value;
  return { value, located, reporter, isWhole: whole.value !== undefined };
}

/** The mapping as one that is out; only in an OpenClaw file, ours is refused as a whole. */
export function outOf({ dialect }: MappingEntry, mapping: CompiledMapping): Pick<MappingResult, 'out'> {
  if (dialect !== 'openclaw') return {};
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
  const path = typeof value === 'string' ? value.trim().replace(/^\/+|(?<!\/)\/+$/g, '') : '';
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
    dialect: 'openclaw',
    allowUnsafeExternalContent: false,
    settings: {},
  });
}

function wrongKeys(value: unknown): readonly string[] {
  const issues = MappingSchema.safeParse(value).error?.issues ?? [];
  return issues.flatMap((issue) => {
    const [key] = issue.path;
    if (issue.code === 'unrecognized_keys' && key === undefined) return issue.keys;
    return key === undefined ? [] : [String(key)];
  });
}

/** Keys of a mapping that an OpenClaw file may have and we have no use for. */
export function unknownKeys({ value: located, dialect }: MappingEntry): readonly string[] {
  const { value } = located;
  if (dialect !== 'openclaw' || typeof value !== 'object' || value === null) return [];
  return Object.keys(value).filter((key) => key !== 'agentId' && !Object.hasOwn(MappingSchema.shape, key));
}

function withoutKeys(located: LocatedValue, keys: readonly string[]): LocatedValue {
  const { value } = located;
  if (keys.length === 0 || typeof value !== 'object' || value === null) return located;
  const kept = Object.entries(value).filter(([key]) => !keys.includes(key));
  return { ...located, value: Object.fromEntries(kept) };
}

function build(compiling: CompilingMapping): CompiledMapping {
  const { source, located, order, dialect } = compiling;
  const id = source.id ?? `mapping-${order + 1}`;
  const parts = compileParts(compiling);
  return {
    id,
    hasOwnId: source.id !== undefined,
    owner: dialect === 'openclaw' ? 'mappings' : `mapping:${id}`,
    order,
    at: located.place([]),
    idAt: located.place(['id']),
    match: compileMatch(compiling),
    action: source.action ?? 'agent',
    dialect,
    allowUnsafeExternalContent: source.allowUnsafeExternalContent ?? false,
    ...(source.continue === true ? { continues: true } : {}),
    ...compilePathSettings(compiling),
    ...defined({ ...parts, agentId: agentOf(compiling) }),
    templates: compiling.compiled,
  };
}

/** What a mapping may have and need not, compiled or as it is written. */
function compileParts(compiling: CompilingMapping) {
  const { wakeMode, summary, deliver, instructions, timeoutSeconds, runner } = compiling.source;
  const { cwd, limits, trust, retry, afterCrash } = compiling.source;
  const compiled = {
    text: compileText(compiling),
    ...compileTemplates(compiling),
    transform: transformOf(compiling),
    forEach: compileForEach(compiling),
    callbackUrl: compileCallback(compiling),
    dedupe: compileDedupe(compiling),
    debounce: compileDebounce(compiling, (path) => templateAt(compiling, path)),
    maxRuns: compileMaxRuns(compiling),
    ignoreSenders: ignoredSenders(compiling),
    thread: template(compiling, 'thread'),
    fallback: compileTarget(compiling, 'fallback'),
    approve: compileApproval(compiling),
  };
  checkRunner(compiling);
  checkWorkFolder(compiling);
  return {
    ...compiled,
    wakeMode,
    summary,
    deliver,
    instructions,
    timeoutSeconds,
    timeoutAt: timeoutSeconds === undefined ? undefined : compiling.located.place(['timeoutSeconds']),
    runner,
    cwd,
    limits,
    usdPerDayAt:
      limits?.usdPerDay === undefined ? undefined : compiling.located.place(['limits', 'usdPerDay']),
    trust,
    retry: retry && { attempts: 3, delaySeconds: 60, ...defined(retry), on: retry.on },
    afterCrash,
  };
}

function compileText(compiling: CompilingMapping): CompiledTemplate | undefined {
  const [right, wrong] = templateKeys(compiling.source.action ?? 'agent');
  const text = template(compiling, right);
  // What is wrong in the other one is told as well.
  template(compiling, wrong);
  compiling.compiled.delete(wrong);
  return text;
}

/** Senders are judged once for a request, before `forEach` takes its elements. */
function ignoredSenders(compiling: CompilingMapping): IgnoredSenders | undefined {
  const { forEach: _elements, ...source } = compiling.source;
  return compileIgnoredSenders(compiling, (path) => templateAt({ ...compiling, source }, path));
}

function transformOf({ source, located, dialect }: CompilingMapping): CompiledMapping['transform'] {
  if (source.transform === undefined) return undefined;
  return { ...toTransformRef(source.transform, located), urlObject: dialect === 'openclaw' };
}

function template(compiling: CompilingMapping, key: keyof MappingSource): CompiledTemplate | undefined {
  return compiling.source[key] === undefined ? undefined : templateAt(compiling, [key]);
}

function templateAt(compiling: CompilingMapping, path: Path): CompiledTemplate | undefined {
  const made = compileAt(compiling, path);
  if (path.at(-1) === 'key' || path[0] === 'sessionKey') checkEscaped(compiling, path, made);
  if (made !== undefined) compiling.compiled.set(path.join('.'), made);
  return made;
}

function compileAt(
  { located, reporter, preset, source, dialect }: CompilingMapping,
  path: Path,
): CompiledTemplate | undefined {
  if (dialect === 'openclaw') {
    const { template, findings, subject } = compileOpenClawTemplate(located.at(path));
    reporter.findings.push(...findings);
    reporter.subjects.push(subject);
    return template;
  }
  const own = path.length === 1 ? preset?.[path[0] as keyof MappingSource] : undefined;
  const {
    template,
    findings,
    subjects = [],
  } = compileTemplate(located.at(path), {
    withItem: source.forEach !== undefined,
    ...(typeof own === 'string' ? { text: own } : {}),
  });
  reporter.findings.push(...findings);
  reporter.subjects.push(...subjects);
  return template;
}

/** What the request decides has to be trusted to do so. */
function checkTrust(
  { source, reporter, dialect }: CompilingMapping,
  key: string,
  compiled: CompiledTemplate,
): void {
  if (dialect === 'openclaw') return;
  const untrusted = compiled.reads.filter((name) => name !== 'now' && name !== 'index');
  if (untrusted.length === 0 || source.trust?.some((trusted) => trusted === key) === true) return;
  reporter.report([key], {
    severity: 'warning',
    code: 'UNTRUSTED_ROUTING',
    message: say`"${key}" is taken from the request (${untrusted.slice(0, 3).join(', ')}): whoever sends it decides`,
    facts: { key },
  });
}

/** The keys that are templates; names that are literal are known ones, and what the request decides is trusted to. */
function compileTemplates(compiling: CompilingMapping): Partial<Record<TemplateKey, CompiledTemplate>> {
  const { source, options } = compiling;
  const compiled: Partial<Record<TemplateKey, CompiledTemplate>> = defined(
    Object.fromEntries(TEMPLATE_KEYS.map((key) => [key, template(compiling, key)])),
  );
  const { channel, to, model, sessionKey, thinking } = compiled;
  for (const [key, one] of Object.entries(defined({ channel, to, model, thinking })))
    checkTrust(compiling, key, one);
  const isLiteral = channel === undefined || channel.literal !== undefined;
  const channelId = isLiteral ? checkChannel(compiling, ['channel'], source.channel) : undefined;
  if (to?.literal !== undefined && channelId !== undefined) {
    checkRecipient(compiling, ['to'], { channel: channelId, to: to.literal.trim(), options });
  }
  if (isLiteral) checkThread(compiling, channelId);
  if (model?.literal !== undefined) checkModel(compiling, model.literal.trim());
  if (sessionKey !== undefined) checkConversationOwner(compiling, `mapping-${compiling.order + 1}`);
  if (sessionKey !== undefined && compiling.dialect === 'openclaw') checkKeyIsTaken(compiling, sessionKey);
  if (sessionKey?.literal !== undefined) checkSessionKey(compiling, sessionKey.literal.trim());
  if (thinking?.literal !== undefined) checkThinking(compiling, thinking.literal.trim());
  return compiled;
}

/** `agentId` of an OpenClaw mapping; one that is not there falls back to the default agent, as in theirs. */
function agentOf({ located, dialect, options, reporter }: CompilingMapping): string | undefined {
  const { value } = located.at(['agentId']);
  if (dialect !== 'openclaw' || typeof value !== 'string' || value.trim() === '') return undefined;
  const id = value.trim();
  const { agents = [] } = options;
  if (agents.includes(id)) return id;
  if (agents.length > 0)
    reportUnknown(reporter, 'agentId', {
      severity: 'warning',
      code: 'UNKNOWN_AGENT_ID',
      message: say`there is no agent ${quote(id)}, so the default agent takes the runs of this mapping`,
      written: id,
      near: didYouMean(id, agents),
      list: `choose one of the agents: ${agents.join(' ')}`,
    });
  return undefined;
}

function compileDedupe(compiling: CompilingMapping): DedupeSettings | undefined {
  const { dedupe } = compiling.source;
  if (dedupe === undefined) return undefined;
  if (dedupe === 'body') return { key: 'body', ttlSeconds: DAY_SECONDS };
  const key = dedupe.key === 'body' ? 'body' : templateAt(compiling, ['dedupe', 'key']);
  return key === undefined ? undefined : { key, ttlSeconds: dedupe.ttlSeconds ?? DAY_SECONDS };
}

function compileMaxRuns(compiling: CompilingMapping): MaxRunsSettings | undefined {
  const { maxRuns } = compiling.source;
  if (maxRuns === undefined) return undefined;
  if (typeof maxRuns === 'number') return { runs: maxRuns };
  const key = templateAt(compiling, ['maxRuns', 'key']);
  return key && { runs: maxRuns.runs, key };
}
