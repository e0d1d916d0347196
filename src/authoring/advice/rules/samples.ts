/** What templates read that samples of requests do not have. */
import { didYouMean } from '../../../base/document/document.ts';
import { say, type Sentence, write } from '../../../base/finding.ts';
import { defined } from '../../../base/json.ts';
import { canonicalPath, namesRead } from '../../../engine/mapping/facts.ts';
import type { CompiledTemplate, RoutingTable, Scope } from '../../../engine/mapping/mapping.ts';
import { announcedFormat } from '../../../base/payload/payload.ts';
import type { HookRequest } from '../../../base/request.ts';
import { emptyPath } from '../dialects/paths.ts';
import { SIGNATURE_NAME } from '../../../base/telemetry/telemetry.ts';
import { schemesOfHeader } from '../../../engine/verify/facts.ts';
import type { VerifySettings } from '../../../engine/verify/verify.ts';
import { unknownSignature, verifyFor, withStandIn } from '../proof-headers.ts';
import { sayFormat } from '../requests/refusal-notes.ts';
import { kindNotes } from '../requests/request-notes.ts';
import { checkOf } from '../vocabulary/address-checks.ts';
import type { AdviceNote, EvaluationAdvice } from '../requests/evaluation-advice.ts';
import { look, replacing, type Found } from '../rule.ts';
import { schemaSays } from '../samples/json-schema.ts';
import { adviseOnReads, writtenPath } from '../samples/sample-advice.ts';
import type { Sample, SampledMapping } from '../samples/sampled-mapping.ts';
import { isSlip } from '../samples/slips.ts';
import { countReads, type CountedRead } from '../samples/template-reads.ts';

function pathsOf(subject: SampledMapping): readonly Found[] {
  const { mapping, taken, scopes, named } = subject;
  if (scopes.length === 0) return [];
  const what = mapping.forEach === undefined ? named(taken) : `elements in ${taken.length} ${named(taken)}`;
  const forbidden = new Set(forbiddenPaths(subject).map(({ at }) => at?.start));
  const reads = [...mapping.templates].flatMap(([field, template]) =>
    countReads(template, scopes)
      .filter((read) => read.total > 0 && !isKnownEmpty(read) && !forbidden.has(read.at.start))
      .map((read) => ({ ...read, field, template })),
  );
  const [never, now] = [reads.filter(isNever), reads.filter((read) => !isNever(read))];
  const advice = never.length === 0 ? [] : adviseOnReads(subject, never);
  const others = new Set(now.map(({ path }) => path));
  return [
    ...never.flatMap((read) => unknown(read, { what, others, advice }) ?? []),
    ...now.flatMap((read) => sometimes(read, what, read.template.source)),
  ];
}

const isNever = ({ absent, total }: CountedRead): boolean => absent.length === total;

/** What is told without samples, or is no field of a request. */
function isKnownEmpty({ path, at }: CountedRead): boolean {
  const keys = path.split('.');
  return (
    /^(?:now|path|index|item)$/.test(path) ||
    emptyPath(keys, at, { of: 'template', withItem: true }) !== undefined
  );
}

interface Context {
  /** `samples of issues`. */
  readonly what: string;
  /** Paths that samples have, as they are read. */
  readonly others: ReadonlySet<string>;
  readonly advice: readonly EvaluationAdvice[];
}

function unknown(read: CountedRead, { what, others, advice }: Context): Found | undefined {
  const { path, at, total, blank } = read;
  const isGuarded = blank.length < total;
  const message = say`${path} is absent in ${total} of ${total} ${what}`;
  const written = writtenPath(read);
  const [near] = mostFrequent(advice.flatMap(({ suggestions }) => suggestions.get(written) ?? []));
  const [only, ...more] = near?.names ?? [];
  const isOne = only !== undefined && more.length === 0 && near?.value !== undefined;
  if (isGuarded)
    return isOne && isSlip(path, only) && (!others.has(only) || isMistyped(path, only))
      ? nearName(read, only, message)
      : undefined;
  const [note] = mostFrequent(
    advice.flatMap(({ notes = [] }) => notes.filter(({ code }) => TELLING.has(code))),
  );
  if (isOne) return nearName(read, only, message);
  if (near !== undefined) return { message, at, hint: say`look at the samples, which have ${near.text}` };
  if (note !== undefined && isAbout(note, path))
    return { message, at, hint: say`look at the samples: ${note.text}` };
  const hint = say`guard it with {{#if}} or default where only other events have it, and keep a sample that has it`;
  return { message, at, hint, isGeneral: true };
}

/** A letter within a name too few or too many, and no plural: where both names are read, one may stand in for the other. */
function isMistyped(path: string, other: string): boolean {
  const [short = '', long = ''] = [path, other].toSorted((a, b) => a.length - b.length);
  return long.length === short.length + 1 && long !== `${short}s` && long[0] === short[0];
}

/** What a request is, so that paths find nothing. */
const TELLING: ReadonlySet<string> = new Set(
  'body_is_list body_is_text list_read json_text split_key other_kind'.split(' '),
);

/** A field that is a text explains only what is read below it. */
const isAbout = ({ code, names }: AdviceNote, path: string): boolean =>
  code !== 'json_text' || names.some((name) => path.startsWith(name));

function nearName(read: CountedRead, near: string, message: Sentence): Found {
  return replacing({ message, at: read.at, hint: say`did you mean ${near}?` }, writtenPath(read), near);
}

function mostFrequent<Text extends { readonly names: readonly string[]; readonly code?: string }>(
  found: readonly Text[],
): readonly Text[] {
  const groups = [...Map.groupBy(found, ({ code = '', names }) => `${code} ${names.join(' ')}`).values()];
  return groups.toSorted((a, b) => b.length - a.length)[0] ?? [];
}

/** Printed in some samples, and in others nothing, between other words. */
function sometimes(
  { path, at, total, blank: found, expression = '' }: CountedRead,
  what: string,
  source: string,
): readonly Found[] {
  const blank = found.filter(({ sample }) => sample.knownEmpty?.has(expression) !== true);
  const lines = source.split('\n').filter((line) => line.trim() !== '');
  const isLineOfItsOwn = lines.length > 1 && lines.some((line) => line.trim() === `{{${expression}}}`);
  if (blank.length === 0 || isLineOfItsOwn) return [];
  return [
    {
      code: 'TEMPLATE_SOMETIMES_MISSING',
      message: say`${path} is missing in ${blank.length} of ${total} ${what}, and nothing is printed there`,
      at,
      hint: say`guard with {{#if ${path}}}, or write {{default ${path} "none"}}`,
    },
  ];
}

/** Paths that each schema of the mapping's events forbids. */
function forbiddenPaths({ mapping, schemas }: SampledMapping): readonly Found[] {
  const { when, path: hook = '' } = mapping.match;
  const reads = [
    ...[...mapping.templates.values()].flatMap(({ readsAt = [] }) => readsAt),
    ...(when === undefined
      ? []
      : namesRead(when.rule).map((name) => ({ keys: name.split('.'), at: when.at }))),
  ];
  return reads.flatMap(({ keys, at }): readonly Found[] => {
    const [root, ...path] = JSON.parse(canonicalPath(keys)) as readonly string[];
    const said = root === 'payload' && path.length > 0 ? schemas.map((each) => schemaSays(each, path)) : [];
    const forbidden = said.flatMap((each) => (each?.kind === 'forbidden' ? [each] : []));
    if (forbidden.length === 0 || forbidden.length < schemas.length) return [];
    const last = keys.at(-1) ?? '';
    const names = forbidden.flatMap(({ known }) => known);
    const near = didYouMean(last, names);
    const found = {
      code: 'SCHEMA_FORBIDS_PATH',
      severity: 'error' as const,
      message: say`no event has ${keys.join('.')}: the schema of ${hook} forbids it`,
      at,
      hint: near === undefined ? say`read a field that the schema names` : say`did you mean "${near}"?`,
    };
    return [near === undefined ? found : replacing(found, last, near)];
  });
}

/** A key of `dedupe` that events of two kinds share: the second counts as a repeat of the first. */
function sharedKeys({ mapping: { dedupe }, scopes, kindOf }: SampledMapping): readonly Found[] {
  const key = dedupe?.key;
  // Ids of deliveries stand in headers, which samples have by chance.
  if (key === undefined || key === 'body' || key.reads.every((root) => root === 'headers')) return [];
  const events = scopes.filter(({ element }) => element === undefined);
  const byKey = Map.groupBy(events, ({ scope }) => renderedOf(key, scope).trim());
  for (const [text, [first, ...others]] of byKey) {
    const other = others.find(({ sample }) => first && kindOf(sample) !== kindOf(first.sample));
    if (text === '' || text.includes('…') || first === undefined || other === undefined) continue;
    return [
      {
        code: 'DEDUPE_KEY_SHARED',
        message: say`events of two kinds have the same key, so the second counts as a repeat and is lost: ${first.sample.from} and ${other.sample.from}`,
        at: key.at,
        hint: say`use the id that the sender gives each event, or add what tells the kinds apart; the id of an issue or an order is the same in all its events`,
      },
    ];
  }
  return [];
}

/** A signature of samples that their path does not judge, as it judges another: each such request is answered 401. */
function otherSignature({
  mapping: { match, settings, settingsAt },
  ofPath,
}: SampledMapping): readonly Found[] {
  const { verify } = settings;
  const at = settingsAt?.verify;
  if (match.path === undefined || verify === undefined || at === undefined) return [];
  const form = ofPath
    .map(({ request }) => otherForm(verify.settings, request))
    .find((each) => each !== undefined);
  if (form !== undefined) return [{ ...form, at }];
  const names = [...new Set(ofPath.flatMap(({ request }) => Object.keys(request.headers)))];
  const isJudged = (name: string): boolean =>
    schemesOfHeader(name).includes(verify.settings.scheme) ||
    JSON.stringify(verify.settings).includes(`"${name}"`);
  const other = names.some(isJudged) ? undefined : names.find((name) => SIGNATURE_NAME.test(name));
  const hint = other === undefined ? undefined : verifyFor(other, 'in its place');
  if (other === undefined || hint === undefined) return [];
  const message = say`the samples are signed in ${other}, and have no header that verify judges: they would be answered 401`;
  return [{ message, at, hint }];
}

/** A signature in the header that verify judges, written in hex and read as base64, or the other way round. */
function otherForm(
  settings: VerifySettings,
  { headers }: HookRequest,
): Pick<Found, 'message' | 'hint'> | undefined {
  if (settings.scheme !== 'hmac') return undefined;
  const { header, encoding: read = 'hex' } = settings;
  const shape = unknownSignature({ [header]: withStandIn(headers[header.toLowerCase()] ?? '') });
  const { encoding = 'hex' } = shape?.scheme === 'hmac' ? shape : { encoding: read };
  if ((encoding === 'hex') === (read === 'hex')) return undefined;
  const known = schemesOfHeader(header.toLowerCase()).length > 0;
  const hint = known
    ? verifyFor(header, 'in its place')
    : say`${write(`encoding: ${encoding}`, 'in verify')}`;
  const message = say`the samples are signed in ${encoding}, and verify reads ${read}: they would be answered 401`;
  return { message, ...defined({ hint }) };
}

/** What is refused before a mapping is asked: said of the first mapping of the path. */
function refused({ mapping, ofPath, questions, table }: SampledMapping): readonly Found[] {
  const { path, pathAt: at } = mapping.match;
  const isFirst = table.mappings.find(({ match }) => match.path === path) === mapping;
  if (path === undefined || at === undefined || !isFirst) return [];
  const { bodyFormat: takes = 'json' } = table.settingsOf(path);
  const formatOf = ({ request }: Sample) => announcedFormat(request.headers['content-type']);
  const others = ofPath.filter((sample) => takes === 'json' && /^(?:form|xml)$/.test(formatOf(sample) ?? ''));
  const [first] = others;
  const format = first && formatOf(first);
  const hint = format && sayFormat(path, { format, takes }, table);
  const check = questions.map(({ request }) => questionOf(request, table)).find((each) => each !== undefined);
  const form = say`${others.length} of ${ofPath.length} samples are sent as ${format === 'xml' ? 'XML' : 'a form'}, and the path reads JSON: they would be answered 400`;
  return [
    ...(hint === undefined ? [] : [{ message: form, at, hint }]),
    ...(check === undefined ? [] : [{ ...check, at }]),
  ];
}

/** A question for an address that a challenge would answer. */
function questionOf(request: HookRequest, table: RoutingTable): Pick<Found, 'message' | 'hint'> | undefined {
  const notes = kindNotes(request, table.settingsOf(request.path), false);
  const asks = notes.find(({ code }) => code === 'address_check')?.facts?.['provider'];
  const check = typeof asks === 'string' ? checkOf(asks) : undefined;
  if (check?.write === undefined) return undefined;
  const message = say`a sample asks whether the address is right, as ${check.provider} does, and no challenge answers it`;
  return { message, hint: say`${write(check.write, 'beside match')}` };
}

/** Empty where it costs too much. */
function renderedOf(template: CompiledTemplate, scope: Scope): string {
  try {
    return template.render(scope);
  } catch {
    return '';
  }
}

export const SAMPLES = [
  look({
    on: 'sampled-mapping',
    codes: ['TEMPLATE_UNKNOWN_PATH', 'TEMPLATE_SOMETIMES_MISSING'],
    confidence: 'likely',
    find: pathsOf,
  }),
  look({ on: 'sampled-mapping', codes: ['SCHEMA_FORBIDS_PATH'], find: forbiddenPaths }),
  look({ on: 'sampled-mapping', codes: ['DEDUPE_KEY_SHARED'], confidence: 'likely', find: sharedKeys }),
  look({ on: 'sampled-mapping', codes: ['SIGNATURE_NOT_JUDGED'], find: otherSignature }),
  look({ on: 'sampled-mapping', codes: ['SAMPLE_REFUSED'], confidence: 'likely', find: refused }),
];
