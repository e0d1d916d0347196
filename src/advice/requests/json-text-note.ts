/*
 * A field that holds JSON as a text, into which a condition or a template reads: neither can, and a transform can. It is
 * told whole, with the lines of the mapping, where what they say is simple enough to be written for certain.
 */
import { codeOfRule, codeOfSteps, splitRule, transformFile, whenOf } from '../transform-files.ts';
import { formatPlace } from '../../document/document.ts';
import { type AdviceNote } from './evaluation-advice.ts';
import { nearestMisses } from './considered-notes.ts';
import { encodedWords, jsonTextOn, parseCode, readEncoded } from '../../hook/facts.ts';
import { type Evaluation } from '../../hook/hook.ts';
import { isJsonObject, type JsonValue } from '../../json.ts';
import { namesRead, type CompiledMapping } from '../../mapping/mapping.ts';
import type { HookRequest } from '../../request.ts';
import { type Instead, missingIn } from './instead.ts';
import { textsIn } from './near-paths.ts';

export function jsonTextNotes(
  evaluation: Evaluation,
  request: HookRequest,
  instead: Instead,
): readonly AdviceNote[] {
  const { considered, templates } = evaluation.trace;
  const names = [
    ...considered.flatMap(missingIn),
    ...templates.flatMap(({ empty }) => empty.map(({ expression }) => expression.trim())),
  ];
  const paths = new Map<string, Found>(
    names.flatMap((name) => {
      const found: Found | undefined =
        jsonTextOn(name, { request }) ?? (instead.has(name) ? undefined : fieldWith(name, request));
      return found === undefined ? [] : [[found.path, found] as const];
    }),
  );
  const mapping = evaluation.mapping ?? nearestMisses(considered)[0]?.mapping;
  const rule = considered.find((each) => each.mapping === mapping)?.nodes?.[0]?.rule;
  const otherwise =
    evaluation.mapping === undefined ? 'take the request without that condition and decide' : 'read it';
  return [...paths.values()].map(({ path, isBase64, keys }) => {
    const written = mapping === undefined ? undefined : transformFor(mapping, rule, { path, isBase64, keys });
    const whole = isBase64 || written !== undefined ? '' : 'let the sender send it as an object, or ';
    const text = `${path} is ${encodedWords(isBase64)}, and neither a condition nor a template reads into it: ${whole}${written ?? `${otherwise} in a transform, with ${parseCode(codeOfPath(path, undefined), isBase64)}`}`;
    return { code: 'json_text', text, names: [path] };
  });
}

/** A field with JSON in it, and which of its names are read as if they stood at the root. */
interface Found {
  readonly path: string;
  readonly isBase64: boolean;
  readonly keys?: ReadonlySet<string> | undefined;
}

/** The field whose JSON has what a name begins with, where the name was written as if it stood at the root. */
function fieldWith(name: string, { payload }: HookRequest): Found | undefined {
  const [key = ''] = bare(name).split('.');
  if (!/^[A-Za-z_][\w-]*$/.test(key)) return undefined;
  for (const { at, text } of textsIn(payload)) {
    const found = readEncoded(text);
    const value = found === undefined ? undefined : parsedJson(found.json);
    if (found !== undefined && isJsonObject(value) && Object.hasOwn(value, key))
      return { path: at, isBase64: found.isBase64, keys: new Set(Object.keys(value)) };
  }
  return undefined;
}

function parsedJson(json: string): JsonValue | undefined {
  try {
    return JSON.parse(json) as JsonValue;
  } catch {
    return undefined;
  }
}

/** Where the code has what stands in the text. */
interface Parsed {
  readonly path: string;
  readonly name: string;
  /** Names in it that the mapping reads as if they stood at the root. */
  readonly keys?: ReadonlySet<string> | undefined;
}

const bare = (path: string): string => path.replace(/^payload\./, '');

/** The file of a transform that does what the mapping says, and the lines of the mapping; undefined where that is not sure. */
function transformFor(
  mapping: CompiledMapping,
  rule: JsonValue | undefined,
  { path, isBase64, keys }: Found,
): string | undefined {
  const { text, sessionKey, transform, forEach, id, at, action } = mapping;
  if (text === undefined || transform !== undefined || forEach !== undefined || action === 'notify')
    return undefined;
  const last = path.split('.').at(-1) ?? '';
  const parsed = {
    keys,
    path: bare(path),
    name: /^[A-Za-z_]\w*$/.test(last) ? `the${last[0]?.toUpperCase() ?? ''}${last.slice(1)}` : 'inner',
  };
  const codeOf = (name: string): string => codeOfPath(name, parsed);
  const { within, left } = splitRule(rule, (each) => namesRead(each).some((name) => isWithin(name, parsed)));
  const checks = within.flatMap((each) => codeOfRule(each, codeOf) ?? []);
  const key = action === 'wake' ? 'text' : 'message';
  const texts = [
    [key, codeOfTemplate(text.source.trimEnd(), parsed)] as const,
    ...(sessionKey !== undefined && readsWithin(sessionKey.source, parsed)
      ? [['sessionKey', codeOfTemplate(sessionKey.source, parsed)] as const]
      : []),
  ];
  if (checks.length < within.length || texts.some(([, code]) => code === undefined)) return undefined;
  const file = transformFile(mapping, {
    lines: [`const ${parsed.name} = ${parseCode(codeOfPath(path, undefined), isBase64)};`],
    checks,
    returned: `{ ${texts.map(([name, code]) => `${name}: ${code ?? ''}`).join(', ')} }`,
  });
  const gone = [
    action === 'wake' ? 'textTemplate' : 'messageTemplate',
    ...(texts.length > 1 ? ['sessionKey'] : []),
  ];
  const when = within.length === 0 ? '' : `, and ${whenOf(left) ?? 'no when'}`;
  return `${file}\nand in ${id} (${formatPlace(at)}) the line transform: ${id}.js in place of ${gone.join(' and ')}${when}`;
}

const isBehind = (name: string, { path }: Parsed): boolean => bare(name).startsWith(`${path}.`);

const isWithin = (name: string, parsed: Parsed): boolean =>
  isBehind(name, parsed) || parsed.keys?.has(bare(name).split('.', 1)[0] ?? '') === true;

const readsWithin = (source: string, parsed: Parsed): boolean =>
  [...source.matchAll(/\{\{\s*([^{}\s]+)\s*\}\}/g)].some(([, name = '']) => isWithin(name, parsed));

/** A path as JavaScript reads it. */
function codeOfPath(path: string, parsed: Parsed | undefined): string {
  const plain = bare(path);
  const inside = parsed !== undefined && isWithin(path, parsed);
  const keys = (inside && isBehind(path, parsed) ? plain.slice(parsed.path.length + 1) : plain).split('.');
  const isOwn = /^(?:headers|query)$/.test(keys[0] ?? '') && !path.startsWith('payload.');
  const root = inside ? parsed.name : isOwn ? (keys.shift() ?? '') : 'payload';
  const steps = keys.map((key) => key.replace(/^\[["']?(.*?)["']?\]$/, '$1'));
  return root + codeOfSteps(steps);
}

/** A template of plain paths as a template of JavaScript; undefined where it has a helper or a block. */
function codeOfTemplate(source: string, parsed: Parsed): string | undefined {
  const parts = source.split(/\{\{\s*([A-Za-z_][\w.[\]$-]*)\s*\}\}/);
  const isPlain = parts.every((part, at) => at % 2 === 1 || !part.includes('{{'));
  if (!isPlain) return undefined;
  const code = parts.map((part, at) =>
    at % 2 === 1
      ? `\${${codeOfPath(part, parsed)}}`
      : part.replaceAll(/[`\\]|\$\{/g, String.raw`\$&`).replaceAll('\n', String.raw`\n`),
  );
  return `\`${code.join('')}\``;
}
