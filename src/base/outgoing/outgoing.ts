/** Calls to systems outside: bounded in time and size, no redirects, and what their failures prove. */
export { fetchJson, NotSentError, StatusError, type JsonAnswer, type JsonRequest } from './bounded-fetch.ts';
export { connectionCode, connectionText, errorChain } from './connection-error.ts';
export { describe, field, listField, textField } from './remote-text.ts';
export { parseRetryAfter, retryDelay } from './retry-after.ts';
