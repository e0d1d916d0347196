import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { createInterface, type Interface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { SendResult } from './channel.ts';
import type { ChannelConnection } from './define-channel.ts';
import { readJson } from '../../base/json.ts';
import { describe, field } from '../../base/outgoing/outgoing.ts';
import { refusal, type SendFailure } from './send-failure.ts';

export type ImessageRecipient =
  | { readonly kind: 'address'; readonly address: string; readonly service: 'auto' | 'imessage' | 'sms' }
  | { readonly kind: 'chat-id'; readonly id: number }
  | { readonly kind: 'chat-guid'; readonly guid: string }
  | { readonly kind: 'chat-identifier'; readonly identifier: string };

const CHECK_CALL = { id: 'check', method: 'chats.list', params: { limit: 1 } };
const MAX_ANSWER_CHARS = 1_000_000;
const REMEDY = 'check that imsg runs in a logged-in session and has Full Disk Access and Automation rights';
/** What the program, or a wrapper around ssh, needs; nothing else of the service's environment is passed on. */
const PASSED_VARIABLES = ['PATH', 'HOME', 'USER', 'LOGNAME', 'LANG', 'LC_ALL', 'TMPDIR', 'SSH_AUTH_SOCK'];

interface ImsgCall {
  readonly id: string;
  readonly method: string;
  readonly params: object;
  readonly signal: AbortSignal;
}

/** The JSON-RPC result or error of a call, or the reason why none came. */
type ImsgOutcome =
  | { readonly kind: 'result'; readonly result: unknown }
  | { readonly kind: 'error'; readonly error: unknown }
  | { readonly kind: 'not-started'; readonly code: string }
  | { readonly kind: 'lost'; readonly code: 'timeout' | 'connection_lost' };

const LOST: ImsgOutcome = { kind: 'lost', code: 'connection_lost' };

/**
 * iMessage through `imsg rpc`: JSON-RPC in lines on standard input and output. One process per call, so none outlives
 * its message and a program that was updated or crashed needs no recovery.
 */
export function connectImsg(cliPath: string): ChannelConnection<ImessageRecipient> {
  return {
    platform: 'imsg',
    check: async (signal) => {
      const outcome = await callImsg(cliPath, { ...CHECK_CALL, signal });
      return outcome.kind === 'result' ? 'imsg' : failureOf(outcome, cliPath);
    },
    send: async ({ to, text, key }, signal) => {
      const params = { ...paramsOf(to), text };
      const outcome = await callImsg(cliPath, { id: key, method: 'send', params, signal });
      return outcome.kind === 'result' ? sentMessage(outcome.result) : failureOf(outcome, cliPath);
    },
  };
}

function sentMessage(result: unknown): SendResult {
  const id = field(result, 'guid') ?? field(result, 'id');
  return typeof id === 'string' || typeof id === 'number'
    ? { kind: 'sent', messageId: String(id) }
    : { kind: 'sent' };
}

function failureOf(outcome: Exclude<ImsgOutcome, { kind: 'result' }>, cliPath: string): SendFailure {
  switch (outcome.kind) {
    case 'not-started':
      return spawnFailure(cliPath, outcome.code);
    case 'lost': {
      const how = outcome.code === 'timeout' ? 'did not answer in time' : 'ended without a readable answer';
      return { kind: 'ambiguous', code: outcome.code, message: `imsg ${how}` };
    }
    case 'error': {
      const description = describe(field(outcome.error, 'message'), []);
      const isAccess = /access|permission|authoriz|denied/i.test(description ?? '');
      return refusal('imsg', isAccess ? 401 : 400, { description, remedy: REMEDY });
    }
  }
}

function spawnFailure(cliPath: string, code: string): SendFailure {
  // EAGAIN and its like pass; a program that is not there does not appear by waiting.
  const isFinal = ['ENOENT', 'EACCES', 'ENOTDIR', 'ENOEXEC'].includes(code);
  const message = `${cliPath} cannot be started (${code}): check channels.imessage.cliPath`;
  return { kind: isFinal ? 'failed' : 'retry', code: 'spawn_failed', message };
}

async function callImsg(cliPath: string, call: ImsgCall): Promise<ImsgOutcome> {
  const env = Object.fromEntries(
    PASSED_VARIABLES.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  );
  const child = spawn(cliPath, ['rpc'], { env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
  // A program that ends early breaks the pipe; its exit is what counts.
  child.stdin.on('error', () => undefined);
  child.stderr.resume();
  try {
    return await exchange(child, call);
  } finally {
    endGroup(child);
  }
}

async function exchange(child: ChildProcessWithoutNullStreams, call: ImsgCall): Promise<ImsgOutcome> {
  const { id, method, params, signal } = call;
  const { promise, resolve } = Promise.withResolvers<ImsgOutcome>();
  const onAbort = (): void => resolve({ kind: 'lost', code: 'timeout' });
  const lines = listenTo(child, id, resolve);
  signal.addEventListener('abort', onAbort, { once: true });
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
  try {
    return await promise;
  } finally {
    signal.removeEventListener('abort', onAbort);
    lines.close();
  }
}

/** Hands over the first thing that happens: the answer to this call, or the end of the program. */
function listenTo(
  child: ChildProcessWithoutNullStreams,
  id: string,
  resolve: (outcome: ImsgOutcome) => void,
): Interface {
  const lines = createInterface({ input: child.stdout, crlfDelay: Infinity });
  lines.on('line', (line) => {
    const outcome = parseAnswer(line, id);
    if (outcome) resolve(outcome);
  });
  child.once('error', (error: NodeJS.ErrnoException) =>
    resolve({ kind: 'not-started', code: error.code ?? 'unknown' }),
  );
  child.once('close', () => resolve(LOST));
  onTooMuch(child.stdout, () => resolve(LOST));
  return lines;
}

function onTooMuch(stdout: Readable, tell: () => void): void {
  let received = 0;
  stdout.on('data', (part: Buffer) => {
    received += part.length;
    if (received > MAX_ANSWER_CHARS) tell();
  });
}

/** The outcome in a line; undefined for notifications and other output. */
function parseAnswer(line: string, id: string): ImsgOutcome | undefined {
  const answer = readJson(line);
  if (field(answer, 'id') !== id) return undefined;
  const error = field(answer, 'error');
  return error === undefined ? { kind: 'result', result: field(answer, 'result') } : { kind: 'error', error };
}

/** Ends the program and what it started (ssh behind a wrapper). */
function endGroup(child: ChildProcessWithoutNullStreams): void {
  child.stdin.destroy();
  child.stdout.destroy();
  child.stderr.destroy();
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // The process has ended already.
  }
}

function paramsOf(recipient: ImessageRecipient): object {
  switch (recipient.kind) {
    case 'address':
      return { to: recipient.address, service: recipient.service };
    case 'chat-id':
      return { chat_id: recipient.id };
    case 'chat-guid':
      return { chat_guid: recipient.guid };
    case 'chat-identifier':
      return { chat_identifier: recipient.identifier };
  }
}
