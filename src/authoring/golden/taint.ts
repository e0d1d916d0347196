/*
 * What a transform returns in a field that decides who reads a reply, or what runs, is taken from the request where it
 * follows a change of the request. That is tried: a text of a sample that stands in the field is marked, and the
 * transform runs again. No code is read, and a level that merely is the same word is no finding.
 */
import { say, type Finding } from '../../base/finding.ts';
import type { SampledMapping } from '../advice/samples.ts';
import type { Evaluation } from '../../engine/hook/hook.ts';
import { isJsonObject, readJson, type JsonValue } from '../../base/json.ts';
import type { HookRequest } from '../../base/request.ts';

/** Fields of a result that decide who reads a reply, or which agent and model run. */
const ROUTING = ['channel', 'to', 'model', 'thinking', 'agentId'] as const;

/** Evaluates as the service does. */
export type EvaluateFully = (request: HookRequest, detail: 'full') => Evaluation | Promise<Evaluation>;

/** Samples of one mapping, and texts of one sample, that are tried. */
const MAX_SAMPLES = 10;
const MAX_TEXTS = 5;
const MARK = 'x7q';

/** Results of transforms that the request decides, by what they return for samples; never of an OpenClaw file. */
export async function findTaint(
  subjects: readonly SampledMapping[],
  evaluate: EvaluateFully,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const { mapping, taken } of subjects) {
    const { transform, trust = [], behaviours } = mapping;
    if (transform === undefined || behaviours.trustsSenders) continue;
    const open = new Set<string>(ROUTING.filter((key) => !trust.includes(key)));
    for (const { request } of taken.slice(0, MAX_SAMPLES)) {
      // One call after the other: each is a transform in the sandbox.
      // oxlint-disable-next-line no-await-in-loop
      for (const [key, path] of await taintIn(request, open, evaluate)) {
        open.delete(key);
        findings.push({
          severity: 'warning',
          code: 'UNTRUSTED_ROUTING',
          message: say`"${key}" of what ${transform.module} returns is taken from the request (${path}): whoever sends it decides`,
          at: transform.at,
          facts: { key },
        });
      }
    }
  }
  return findings;
}

/** Fields of the result that follow a text of the request, with its path. */
async function taintIn(
  request: HookRequest,
  keys: ReadonlySet<string>,
  evaluate: EvaluateFully,
): Promise<readonly (readonly [key: string, path: string])[]> {
  const { payload, headers, query } = request;
  const found: (readonly [string, string])[] = [];
  for (const [key, value] of returned(await evaluate(request, 'full'))) {
    if (!keys.has(key) || found.some(([known]) => known === key)) continue;
    const texts = [...textsIn({ payload, headers, query })]
      .filter(({ text }) => isPart(text, value))
      .slice(0, MAX_TEXTS);
    for (const { path, text } of texts) {
      const changed = withText(request, path, `${text}${MARK}`);
      // oxlint-disable-next-line no-await-in-loop -- the first that is followed is enough
      const after = returned(await evaluate(changed, 'full'));
      const follows = after.some(([other, now]) => other === key && now.toLowerCase().includes(MARK));
      if (!follows) continue;
      found.push([key, path.join('.')]);
      break;
    }
  }
  return found;
}

const isPart = (text: string, value: string): boolean =>
  text.length >= 2 && value.toLowerCase().includes(text.toLowerCase());

/** Texts in the routing fields of every result. */
function returned({ trace }: Evaluation): readonly (readonly [key: string, value: string])[] {
  const results = trace.transforms.flatMap(({ reply }): readonly unknown[] => {
    const value: unknown = reply.kind === 'ok' && reply.json !== undefined ? readJson(reply.json) : undefined;
    return Array.isArray(value) ? (value as readonly unknown[]) : [value];
  });
  return results.flatMap((result) =>
    ROUTING.flatMap((key) => {
      const value = isJsonObject(result) && Object.hasOwn(result, key) ? result[key] : undefined;
      return typeof value === 'string' || typeof value === 'number' ? [[key, String(value)] as const] : [];
    }),
  );
}

function* textsIn(
  value: JsonValue | Pick<HookRequest, 'payload' | 'headers' | 'query'>,
  path: readonly string[] = [],
): Generator<{ readonly path: readonly string[]; readonly text: string }> {
  if (typeof value === 'string') yield { path, text: value };
  else if (typeof value === 'object' && value !== null && path.length < MAX_DEPTH)
    for (const [key, inner] of Object.entries(value)) yield* textsIn(inner as JsonValue, [...path, key]);
}

const MAX_DEPTH = 10;

/** The same request with another text at a path. */
function withText(
  { payload, headers, query, ...request }: HookRequest,
  path: readonly string[],
  text: string,
) {
  const copy = JSON.parse(JSON.stringify({ payload, headers, query })) as HookRequest;
  let at = copy as unknown as Record<string, unknown>;
  for (const key of path.slice(0, -1)) at = at[key] as Record<string, unknown>;
  at[path.at(-1) ?? ''] = text;
  return { ...request, ...copy };
}
