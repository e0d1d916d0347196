import type { SchemaAdvice } from '../schema-words.ts';
import { isJsonObject } from '../../json.ts';
import { challengeFor } from './address-checks.ts';

type Meant = ReturnType<NonNullable<SchemaAdvice['value']>>;

/** Words by which a question of a provider is known, in other tools and in its own documentation. */
const ASKING: readonly (readonly [RegExp, string])[] = [
  [/hub[._]|verify_?token|facebook|instagram|whatsapp|messenger|\bmeta\b/i, 'meta'],
  [/validation_?token|\bgraph\b|microsoft|sharepoint|teams/i, 'graph'],
  [/plain_?token|url_validation|zoom/i, 'zoom'],
  [/web-?hook-(?:request|allowed)-|cloud-?events|event-?grid/i, 'cloudevents'],
  [/url_verification|slack/i, 'slack'],
];

const GENERAL =
  'write who asks: challenge: slack, or meta, graph, zoom, cloudevents; or what is sent back, as in challenge: {echo: body.challenge}';

/** `challenge: true` and `challenge: {query: hub.challenge}`: here it is the name of who asks, or what is sent back. */
export function meantChallenge(value: unknown): Meant {
  const who = isJsonObject(value) ? value['kind'] : value;
  const line = typeof who === 'string' ? challengeFor(who) : undefined;
  if (line !== undefined) return { hint: `write ${line}` };
  if (isJsonObject(value) && (value['kind'] !== undefined || value['echo'] !== undefined)) return undefined;
  const written = JSON.stringify(value);
  const kind = typeof value === 'boolean' ? undefined : ASKING.find(([words]) => words.test(written))?.[1];
  const [, name = 'META_VERIFY_TOKEN'] = /"\$\{([A-Z]\w*)\}"/.exec(written) ?? [];
  const text = kind === 'meta' ? `{kind: meta, token: '\${${name}}'}` : (kind ?? echoOf(value));
  if (text === undefined) return { hint: GENERAL };
  return { hint: `what is asked and answered is known for each provider: write challenge: ${text}`, text };
}

/** `{header: X-Hook-Secret}`: the root and the name of what is sent back. */
function echoOf(value: unknown): string | undefined {
  const [entry] = isJsonObject(value) ? Object.entries(value) : [];
  const [root, name] = entry ?? [];
  const [, part] = /^(quer|header|body)/i.exec(root ?? '') ?? [];
  if (part === undefined || typeof name !== 'string' || !/^[\w-]+$/.test(name)) return undefined;
  if (part.toLowerCase() === 'header') return `{echo: headers.${name.toLowerCase()}}`;
  return `{echo: ${part.toLowerCase() === 'quer' ? 'query' : 'body'}.${name}}`;
}
