/** What the keys and values of a request file are called elsewhere: in HTTP clients, test tools and records of requests. */
import { alike, below, calledHere, type KeyAdvice, type SchemaAdvice } from '../schema-words.ts';

/** The hook name: what follows the path of all hooks in an address. */
function hookName(address: unknown): string | undefined {
  const [, name] =
    /^(?:https?:\/\/[^/]+)?\/?(?:hooks\/)?([\w.-]+(?:\/[\w.-]+)*)\/?(?:\?.*)?$/.exec(String(address)) ?? [];
  return name;
}

const CALLED_PATH: KeyAdvice = {
  hint: 'the hook name is "path": path: github',
  means: 'path',
  hintFor: (value) => {
    const name = typeof value === 'string' ? hookName(value) : undefined;
    return name === undefined ? undefined : `the hook name is "path": write path: ${name}`;
  },
};
const EXPECTATION: KeyAdvice = {
  hint: 'what is expected stands in the file beside it, NAME.expected.yaml, which "sluice test" writes: remove it here',
};
const NOT_NEEDED: KeyAdvice = { hint: 'remove it: a request file says the name, headers and body alone' };
const A_COMMENT: KeyAdvice = { hint: 'write it as a comment: # …' };

const WORDS: Readonly<Record<string, KeyAdvice>> = {
  ...alike('payload data json', calledHere('body')),
  ...alike('hook name', { ...CALLED_PATH, rename: 'path' }),
  ...alike('url uri endpoint address', CALLED_PATH),
  header: calledHere('headers'),
  ...alike('params queryParams', calledHere('query')),
  ...alike('file bodyPath payloadFile', calledHere('bodyFile')),
  ...alike('time timestamp receivedAt date', calledHere('now')),
  method: NOT_NEEDED,
  ...alike('expected expect outcome response status', EXPECTATION),
  ...alike('description title comment', A_COMMENT),
};

/** In a file of one request and in a list of several. */
export const REQUEST_FILE_WORDS: SchemaAdvice = {
  keys: { ...WORDS, ...below('deliveries', WORDS) },
  value: (key, value) => {
    if (key === '' && Array.isArray(value))
      return {
        hint: 'several requests are a list below a key: write deliveries: in the first line, and indent the list by two spaces',
      };
    if (key !== 'now' && key !== 'deliveries.now') return undefined;
    const [, day, time = '00:00'] =
      /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2})?))?$/.exec(String(value)) ?? [];
    return day === undefined
      ? undefined
      : { hint: `write now: ${day}T${withSeconds(time)}Z`, text: `${day}T${withSeconds(time)}Z` };
  },
};

const withSeconds = (time: string): string => (time.length === 5 ? `${time}:00` : time);
