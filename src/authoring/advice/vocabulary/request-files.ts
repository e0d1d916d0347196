/** What the keys of a request file are called elsewhere: in HTTP clients and records of requests. */
import { alike, below, calledHere, type KeyAdvice, type SchemaAdvice } from '../schema-hints.ts';

const WORDS: Readonly<Record<string, KeyAdvice>> = {
  ...alike('payload data json', calledHere('body')),
  ...alike('hook name', calledHere('path')),
  ...alike('url uri endpoint', {
    hint: 'write path, the hook name: what follows hooks.path in the address',
    means: 'path',
  }),
  ...alike('params queryParams', calledHere('query')),
  ...alike('expected expect outcome response status', {
    hint: 'remove it: what is expected stands in the file beside it, NAME.expected.yaml, which "sluice test" writes',
  }),
};

/** In a file of one request and in a list of several. */
export const REQUEST_FILE_WORDS: SchemaAdvice = { keys: { ...WORDS, ...below('deliveries', WORDS) } };
