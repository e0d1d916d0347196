/*
 * A field that holds JSON as a text, into which a condition or a template reads: neither can, and a transform can. It is
 * told whole, with the lines of the mapping, where what they say is simple enough to be written for certain.
 */
import { formatPlace } from '../document/document.ts';
import { jsonTextOn, nearestMisses, type AdviceNote, type Evaluation } from '../hook/hook.ts';
import type { JsonValue } from '../json.ts';
import {
  namesRead,
  type CompiledMapping,
  codeOfRule,
  codeOfSteps,
  splitRule,
  transformFile,
  whenOf,
} from '../mapping/mapping.ts';
import type { HookRequest } from '../request.ts';
import { missingIn } from './instead.ts';

export function jsonTextNotes(evaluation: Evaluation, request: HookRequest): readonly AdviceNote[] {
  const { considered, templates } = evaluation.trace;
  const names = [
    ...considered.flatMap(missingIn),
    ...templates.flatMap(({ empty }) => empty.map(({ expression }) => expression.trim())),
  ];
  const paths = new Set(names.flatMap((name) => jsonTextOn(name, { request }) ?? []));
  const mapping = evaluation.mapping ?? nearestMisses(considered)[0]?.mapping;
  const rule = considered.find((each) => each.mapping === mapping)?.nodes?.[0]?.rule;
  return [...paths].map((path) => {
    const written = mapping === undefined ? undefined : transformFor(mapping, rule, path);
    const text = `${path} is a text that holds JSON, and neither a condition nor a template reads into it: let the sender send it as an object, or ${written ?? 'take the request without that condition and decide in a transform, with JSON.parse'}`;
    return { code: 'json_text', text, names: [path] };
  });
}

/** Where the code has what stands in the text. */
interface Parsed {
  readonly path: string;
  readonly name: string;
}

const bare = (path: string): string => path.replace(/^payload\./, '');

/** The file of a transform that does what the mapping says, and the lines of the mapping; undefined where that is not sure. */
function transformFor(
  mapping: CompiledMapping,
  rule: JsonValue | undefined,
  path: string,
): string | undefined {
  const { text, sessionKey, transform, forEach, id, at, action } = mapping;
  if (text === undefined || transform !== undefined || forEach !== undefined || action === 'notify')
    return undefined;
  const last = path.split('.').at(-1) ?? '';
  const parsed = {
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
    lines: [`const ${parsed.name} = JSON.parse(${codeOfPath(path, undefined)});`],
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

const isWithin = (name: string, { path }: Parsed): boolean => bare(name).startsWith(`${path}.`);

const readsWithin = (source: string, parsed: Parsed): boolean =>
  [...source.matchAll(/\{\{\s*([^{}\s]+)\s*\}\}/g)].some(([, name = '']) => isWithin(name, parsed));

/** A path as JavaScript reads it. */
function codeOfPath(path: string, parsed: Parsed | undefined): string {
  const plain = bare(path);
  const inside = parsed !== undefined && isWithin(path, parsed);
  const keys = (inside ? plain.slice(parsed.path.length + 1) : plain).split('.');
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
