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

/** What a document is by its keys; undefined where they do not tell. */
export function documentKind(value: unknown): DocumentKind | undefined {
  const whole: unknown = Array.isArray(value) ? value[0] : value;
  if (typeof whole !== 'object' || whole === null) return undefined;
  const keys = new Set(Object.keys(whole));
  return MARKS.find(([, has]) => has(keys))?.[0];
}
