import { isJsonObject } from '../../../base/json.ts';

/** A mapping in our words, and what is no longer as it was. */
export interface ImportedMapping {
  readonly mapping: Readonly<Record<string, unknown>>;
  readonly changed: readonly string[];
  readonly lost: readonly string[];
}

/** Keys whose value is a template in both. */
const TEMPLATES = [
  'name',
  'sessionKey',
  'messageTemplate',
  'textTemplate',
  'to',
  'model',
  'thinking',
  'channel',
];
/** Keys that mean the same in both. */
const SAME = [
  'action',
  'wakeMode',
  'deliver',
  'timeoutSeconds',
  'allowUnsafeExternalContent',
  'transform',
  'forEach',
];
const TRANSFORM_CHANGED =
  'its transform gets url as text: write new URL(url, "http://localhost") where it reads url.searchParams';
const READ = ['id', 'match', 'agentId', ...TEMPLATES, ...SAME];

/** Writes a mapping of an OpenClaw file as one of ours; its id is the one it has there, so that nothing else changes. */
export function importMapping(
  written: unknown,
  position: number,
  runnerOf: (agentId: string) => string | undefined,
): ImportedMapping | undefined {
  if (!isJsonObject(written)) return undefined;
  const templates = importTemplates(written);
  const agent = importAgent(written['agentId'], runnerOf);
  const mapping: Record<string, unknown> = {
    id: typeof written['id'] === 'string' ? written['id'] : `mapping-${String(position + 1)}`,
    ...(isJsonObject(written['match']) ? { match: written['match'] } : {}),
    ...Object.fromEntries(SAME.filter((key) => written[key] !== undefined).map((key) => [key, written[key]])),
    ...templates.texts,
    ...(agent.runner === undefined ? {} : { runner: agent.runner }),
  };
  const changed = mapping['transform'] === undefined ? [] : [TRANSFORM_CHANGED];
  const unread = Object.keys(written).filter((key) => !READ.includes(key));
  const ignored = unread.length === 0 ? [] : [`${unread.join(', ')}: no such key here`];
  return { mapping, changed: [...templates.changed, ...changed], lost: [...agent.lost, ...ignored] };
}

/** The texts of a mapping, and which of them had to be written differently. */
function importTemplates(written: Readonly<Record<string, unknown>>): {
  readonly texts: Readonly<Record<string, string>>;
  readonly changed: readonly string[];
} {
  const forEach = typeof written['forEach'] === 'string' ? written['forEach'].trim() : undefined;
  const texts: Record<string, string> = {};
  const changed: string[] = [];
  for (const key of TEMPLATES) {
    const value = written[key];
    if (typeof value !== 'string' && typeof value !== 'number') continue;
    const before = String(value);
    const text = importTemplate(before, forEach);
    texts[key] = text;
    if (text !== before) changed.push(`${key} is written as "${text.slice(0, 120)}"`);
  }
  return { texts, changed };
}

/** The runner that stands for the agent of a mapping. */
function importAgent(
  agentId: unknown,
  runnerOf: (agentId: string) => string | undefined,
): { readonly runner?: string; readonly lost: readonly string[] } {
  if (typeof agentId !== 'string') return { lost: [] };
  const runner = runnerOf(agentId);
  if (runner !== undefined) return { runner, lost: [] };
  const id = agentId.slice(0, 80);
  return { lost: [`agentId "${id}": there is no such agent, so the default agent takes its runs`] };
}

/** Expressions of theirs in the form ours have: a payload path with a space or a sign stands in brackets. */
function importTemplate(template: string, forEach: string | undefined): string {
  return template.replaceAll(/\{\{\s*([^}]+)\s*\}\}/g, (_, inner: string) => {
    const text = inner.trim();
    if (text === 'path' || text === 'now') return `{{${text}}}`;
    for (const root of ['headers', 'query'] as const) {
      if (text.startsWith(`${root}.`))
        return `{{${root}.${segments(text.slice(root.length + 1)).join('.')}}}`;
    }
    const path = text.startsWith('payload.') ? text.slice('payload.'.length) : text;
    const keys = segments(path);
    if (forEach !== undefined && keys[0] === forEach && keys[1] === '[0]') {
      return `{{${['item', ...keys.slice(2)].join('.')}}}`;
    }
    return `{{${['payload', ...keys].join('.')}}}`;
  });
}

/** The keys of a path; those that are no plain names stand in brackets. */
function segments(path: string): readonly string[] {
  return [...path.matchAll(/([^.[\]]+)|\[(\d+)\]/g)].map(([, key, index]) => {
    if (index !== undefined) return `[${index}]`;
    return /^[A-Za-z_][\w-]*$/.test(key ?? '') ? (key ?? '') : `[${key ?? ''}]`;
  });
}
