import type { Place } from '../finding.ts';
import type { LocatedValue } from './located.ts';

/** Files that people name in each other's place. */
export type DocumentKind = 'configuration' | 'mapping file' | 'request file' | 'expectation' | 'package.json';

/** By which keys a kind is known; the first that fits. */
const MARKS: readonly (readonly [kind: DocumentKind, has: (keys: ReadonlySet<string>) => boolean])[] = [
  ['configuration', hasAny('hooks', 'gateway', 'channels', 'agents', 'extends', 'storage')],
  ['request file', hasAny('deliveries')],
  ['request file', (keys) => keys.has('path') && hasAny('headers', 'body', 'bodyFile', 'query')(keys)],
  ['expectation', (keys) => keys.has('outcome') && hasAny('actions', 'error', 'mapping')(keys)],
  ['mapping file', hasAny('match', 'messageTemplate', 'textTemplate', 'mappings', 'verify', 'instructions')],
  ['package.json', hasAny('dependencies', 'devDependencies', 'scripts')],
  ['package.json', (keys) => keys.has('name') && keys.has('version')],
];

function hasAny(...names: readonly string[]): (keys: ReadonlySet<string>) => boolean {
  return (keys) => names.some((name) => keys.has(name));
}

/** The kind of a document by its keys; undefined where they do not show it. */
export function documentKind(value: unknown): DocumentKind | undefined {
  const whole: unknown = Array.isArray(value) ? value[0] : value;
  if (typeof whole !== 'object' || whole === null) return undefined;
  const keys = new Set(Object.keys(whole));
  return MARKS.find(([, has]) => has(keys))?.[0];
}

/** As a sentence names it: `a mapping file`, `an expectation`. */
export function nameOfKind(kind: DocumentKind): string {
  return `${kind === 'expectation' ? 'an' : 'a'} ${kind}`;
}

/** The first line of a document, for a finding about the whole of it. */
export function firstLine(root: LocatedValue): Place {
  const at = root.place([]);
  const line = at.source.text.indexOf('\n', at.start);
  return { ...at, end: line === -1 ? at.end : Math.min(at.end, line) };
}
