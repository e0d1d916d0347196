/* Names of the request that a field of the body has, too: {{query}} is the query of the address. */
import type { AdviceNote } from './evaluation-advice.ts';
import type { Evaluation } from '../../hook/hook.ts';
import { isJsonObject, type JsonObject } from '../../json.ts';
import { namesRead } from '../../mapping/facts.ts';
import type { HookRequest } from '../../request.ts';
import { openBlocks } from './open-blocks.ts';
import { readElement } from './element-advice.ts';

const MEANINGS = {
  headers: 'the headers of the request',
  query: 'the query of the address',
  path: 'the hook name of the address',
  now: 'the time of the request',
} as const;
type TakenName = keyof typeof MEANINGS;

/** Where a template or a condition reads a part of the request although the body has a field of that name. */
export function takenNameNotes({ mapping, trace }: Evaluation, request: HookRequest): readonly AdviceNote[] {
  const { payload } = request;
  if (!isJsonObject(payload) || !Object.keys(MEANINGS).some((name) => Object.hasOwn(payload, name)))
    return [];
  const taken = (path: string): path is string => isTaken(path, request, payload);
  const inTemplates = trace.templates.flatMap(({ at }) =>
    namesPrinted(at.source.text.slice(at.start, at.end)),
  );
  const conditions = trace.considered
    .filter((each) => mapping === undefined || each.mapping === mapping)
    .flatMap(({ failed, nodes = [] }) => [...(failed?.part === 'when' ? [failed.node] : []), ...nodes]);
  const inConditions = conditions.flatMap(({ rule }) => namesRead(rule));
  return [
    ...[...new Set(inTemplates)]
      .filter(taken)
      .map((path) => noteOn(path, `{{${path}}}`, `{{payload.${path}}}`)),
    ...[...new Set(inConditions)]
      .filter(taken)
      .map((path) => noteOn(path, variableOf(path), variableOf(`payload.${path}`))),
  ];
}

const variableOf = (path: string): string => JSON.stringify({ var: path });

function noteOn(path: string, written: string, meant: string): AdviceNote {
  const [root = ''] = path.split('.');
  const text = `${written} reads ${MEANINGS[root as TakenName]}; the payload has a field ${path}, too: to read that write ${meant}`;
  return { code: 'taken_name', text, names: [path] };
}

/** Whether a path reads a part of the request, and the body has something else at the same path. */
function isTaken(path: string, request: HookRequest, payload: JsonObject): boolean {
  const [root = '', ...rest] = path.split('.');
  if (!Object.hasOwn(MEANINGS, root) || !Object.hasOwn(payload, root)) return false;
  const own = readElement(payload)(path);
  if (own === undefined || own === null) return false;
  if (rest.length === 0) return root !== 'path' || own !== request.path;
  const part = root === 'headers' || root === 'query' ? request[root] : undefined;
  return part !== undefined && !Object.hasOwn(part, rest.join('.'));
}

/** The paths that a template gives to an expression or block, but for those inside of blocks with paths of their own. */
function namesPrinted(template: string): readonly string[] {
  const names: string[] = [];
  for (const { 1: inside = '', index } of template.matchAll(/\{\{\{?~?([^{}!>/~][^{}]*)\}\}/g)) {
    if (!/\b(?:headers|query|path|now)\b/.test(inside)) continue;
    if (openBlocks(template.slice(0, index)).some(({ helper }) => helper === 'each' || helper === 'with'))
      continue;
    const words = inside.replaceAll(/"[^"]*"|'[^']*'/g, '""').split(/[\s()~]+/);
    names.push(...words.filter((word) => /^[a-z]+(?:\.[\w-]+)*$/.test(word)));
  }
  return names;
}
