/** What transforms written for Node or a browser miss here, and what to use instead. */
import { isBuiltin } from 'node:module';
import { alike } from '../schema-hints.ts';

const NO_NETWORK =
  "let the agent fetch it, as a transform has no network: take out the call and what reads its answer, add a line to the message that is returned, `Page: ${url}`, and write in the mapping instructions: 'Fetch the address after Page first.' (or let the sender include the data in the body)";
const NO_SENDING =
  'return the text as { message: … }, as a transform has no network and sends nothing itself: for a text that goes to people as it is write in the mapping action: notify, channel: NAME and to, for the reply of the agent deliver: true with these; any other service is called by the agent, which instructions tell so';
/** Nothing else changes while a transform runs; only the run can begin later. */
const NO_TIMERS =
  "remove this line and what waits for it, as nothing that a transform could wait for happens while it runs: for a run that is to begin later write in the mapping, beside match, debounce: { key: '{{id}}', seconds: 10 }, with the field that tells one thing from another in place of id";
const NO_FILES =
  "put data into a .json file beside it, as a transform has no files: import data from './data.json', and a text into a .js file, export default `…`, import text from './text.js'; a text for the agent is best written in the mapping, as instructions";
const WITH_FILES = 'remove it: it serves only to find files, and a transform has none';

const GLOBAL_HINTS: Readonly<Record<string, string>> = {
  ...alike('fetch XMLHttpRequest WebSocket EventSource Request Response', NO_NETWORK),
  ...alike('setTimeout setInterval setImmediate clearTimeout clearInterval clearImmediate', NO_TIMERS),
  ...alike('__dirname __filename', WITH_FILES),
  queueMicrotask: 'write: await null',
  process: 'use process.env, which holds what transform.env of the mapping lists: process has nothing else',
  global: 'write globalThis',
  performance: 'use Date.now(), which is the time when the request arrived',
  'crypto.subtle': `import createHash or createHmac from 'node:crypto'`,
};

/** `call` is the code from the global on. */
export const hintForGlobal = (name: string, call: string): string =>
  name === 'fetch' && isSending(call) ? NO_SENDING : (GLOBAL_HINTS[name] ?? '');

/** Code that tells something to another service in place of asking it. */
const isSending = (code: string): boolean =>
  /\bmethod:\s{0,9}['"](?:POST|PUT|PATCH)|\b\w{1,20}\.(?:post|put|patch)\(/i.test(code);

const IMPORT_HINTS: readonly (readonly [RegExp, string])[] = [
  [/^(?:fs|fs\/promises|fs-extra)$/, NO_FILES],
  [/^(?:path|os|module)$/, WITH_FILES],
  [
    /^(?:https?|http2|net|tls|dns|dgram|undici|axios|got|ky|superagent|request|needle|node-fetch|cross-fetch|ws|stripe|openai|pg|redis)$|^(?:@octokit|@slack|@anthropic-ai|@supabase)\//,
    NO_NETWORK,
  ],
  [/^timers(?:\/promises)?$/, NO_TIMERS],
  [
    /^(?:process|dotenv(?:\/config)?)$/,
    'write process.env, which holds what transform.env of the mapping lists',
  ],
  [
    /^(?:url|querystring|qs|query-string|util|string_decoder)$/,
    'remove this line: URL, URLSearchParams, TextEncoder, TextDecoder and structuredClone are there without an import',
  ],
  [/^(?:child_process|worker_threads|cluster|vm)$/, 'let the agent do that: a transform starts nothing'],
  [
    /^(?:dayjs|moment|moment-timezone|date-fns|date-fns-tz|luxon)(?:\/|$)/,
    `remove this line, and write new Intl.DateTimeFormat('en-GB', { weekday: 'long', day: 'numeric', month: 'long', timeZone: 'Europe/Berlin' }).format(new Date(value)); a template without a transform prints one with {{date value "yyyy-MM-dd HH:mm" tz="Europe/Berlin"}}`,
  ],
];

/** What to do instead of importing `specifier` in a file whose text is `source`; `folder` is the one of transforms. */
export function hintForImport(specifier: string, source: string, folder: string): string {
  const name = specifier.replace(/^node:/, '');
  const known = IMPORT_HINTS.find(([pattern]) => pattern.test(name))?.[1];
  if (known === NO_NETWORK && isSending(source)) return NO_SENDING;
  return known ?? (isBuiltin(specifier) ? NOT_OF_NODE : bundled(name, folder));
}

const NOT_OF_NODE =
  'do without it, or let the agent do that: of Node a transform has only node:crypto and node:buffer';

/** A package is many files, which import each other by names: esbuild, which comes with Sluice, makes one of them. */
function bundled(name: string, folder: string): string {
  const named = /^[@\w./-]{1,100}$/.test(name) ? name : 'PACKAGE';
  const file = `${(named.split('/').at(-1) ?? '').replace(/\.(?:[cm]?js|ts)$/, '')}.mjs`;
  return `make one file of it: npx esbuild ${named} --bundle --format=esm --outfile=${folder}/${file}, and import './${file}' here; sluice check then says whether it runs: a package that needs Node, or changes objects of the language, does not; of a few lines copy only these`;
}
