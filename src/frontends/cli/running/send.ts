import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { hooksAddress, readSecretFile, type Settings } from '../../../engine/config/config.ts';
import { defined, readJson } from '../../../base/json.ts';
import type { PathSettings } from '../../../engine/mapping/mapping.ts';
import { toWire } from '../../../engine/hook/facts.ts';
import { signRequest } from '../../../engine/verify/facts.ts';
import type { WrittenRequest } from '../../../engine/hook/hook.ts';
import type { Cli } from '../command-line.ts';
import { loadSettings, type JsonFlags } from '../config-file.ts';
import { printJson, type Answer } from '../json.ts';
import { readDeliveries } from '../authoring/request-file.ts';
import { CliError } from '../terminal.ts';
import { openWorkbench } from '../authoring/workbench.ts';

export interface SendFlags extends JsonFlags {
  readonly against?: string;
  readonly sign?: boolean;
  readonly signKey?: string;
}

/** Sends the deliveries of a request file, in order, to a running service; an answer of 400 or more ends with 1. */
export async function send(cli: Cli, file: string, flags: SendFlags): Promise<void> {
  await sendRequests(cli, await readDeliveries(cli.terminal, file), flags);
}

/** Sends requests with the configuration's token and prints each answer. */
export async function sendRequests(
  cli: Cli,
  requests: readonly WrittenRequest[],
  flags: SendFlags,
): Promise<readonly Answer[]> {
  const target = await findTarget(cli, flags);
  const answers: Answer[] = [];
  const settingsOf = flags.sign === true ? await loadPathSettings(cli, flags) : (): PathSettings => ({});
  for (const each of requests) {
    const settings = settingsOf(each.request.path);
    const answer = await postAsSender(cli, each, { target, settings, keyFile: flags.signKey });
    answers.push(answer);
    if (flags.json !== true) cli.terminal.out(formatAnswer(answer));
  }
  if (flags.json === true) printJson(cli.terminal, 'send', { answers });
  const refused = requests.flatMap(({ request }, index) =>
    answers[index]?.status === 401 ? [request.path] : [],
  );
  if (flags.sign !== true && refused.length > 0) await sayUnsigned(cli, flags, refused);
  if (answers.some((answer) => answer.status >= 400)) cli.setExitCode(1);
  return answers;
}

/** A path may want the signature of its sender, which this command did not make. */
async function sayUnsigned(cli: Cli, flags: SendFlags, refused: readonly string[]): Promise<void> {
  // Where the files have errors now, "check" shows them.
  const settingsOf = await loadPathSettings(cli, flags, { needSecrets: false }).catch(() => undefined);
  const signed = refused.find((path) => settingsOf?.(path).verify !== undefined);
  if (signed === undefined) return;
  const scheme = settingsOf?.(signed).verify?.settings.scheme ?? '';
  cli.terminal.err(
    `the path "${signed}" asks for the proof of its sender (verify: ${scheme}), and the request went without one: send it again with --sign, which makes the proof as the sender would`,
  );
}

/** Prints one readable line per answer, problem details below it. */
function formatAnswer(answer: Answer): string {
  const request = answer.requestId === null ? '' : `  (request ${answer.requestId})`;
  return `${answer.status} ${answer.body === null ? '' : JSON.stringify(answer.body)}${request}`;
}

export interface SendTarget {
  /** Address and base path of the hooks, no slash at the end. */
  readonly url: string;
  readonly token: string;
  /** The same address as senders call it. */
  readonly publicUrl: string;
}

/** Finds the running service of a configuration, and the token that it accepts. */
export async function findTarget(
  cli: Cli,
  flags: Pick<SendFlags, 'config' | 'against'>,
): Promise<SendTarget> {
  const { settings, file } = await loadSettings(cli.terminal, flags, { needSecrets: true });
  const token = settings.hooks.token ?? readDevToken(file);
  if (token === undefined)
    throw new CliError('no token is configured, and "sluice dev" has not made one yet');
  // People paste the address of the hooks, too.
  const given = flags.against?.replace(/\/*$/, '');
  const { path } = settings.hooks;
  const base = given?.endsWith(path) === true ? given.slice(0, -path.length) : given;
  const origin = base ?? originOf(settings);
  return {
    url: hooksAddress(origin, settings),
    token,
    publicUrl: hooksAddress(settings.server.publicUrl ?? origin, settings),
  };
}

export function devTokenFile(configFile: string): string {
  return join(dirname(configFile), '.sluice', 'dev-token');
}

function readDevToken(configFile: string): string | undefined {
  const read = readSecretFile(devTokenFile(configFile));
  return read.kind === 'read' ? read.secret : undefined;
}

export function originOf({ server }: Settings): string {
  const host = ['0.0.0.0', '::'].includes(server.host) ? '127.0.0.1' : server.host;
  return `http://${host.includes(':') ? `[${host}]` : host}:${server.port}`;
}

async function loadPathSettings(
  cli: Cli,
  flags: SendFlags,
  { needSecrets = true }: { readonly needSecrets?: boolean } = {},
): Promise<(path: string) => PathSettings> {
  await using workbench = await openWorkbench(cli.terminal, flags, { needSecrets });
  const { table } = workbench.generation;
  return (path) => table.settingsOf(path);
}

interface SignedPost {
  readonly target: SendTarget;
  readonly settings: PathSettings;
  readonly keyFile: string | undefined;
}

/**
 * Sends a request as its sender would, and on a path without `verify` with the hook token. The signed address is the
 * one that the service knows as its own.
 */
async function postAsSender(
  cli: Cli,
  request: WrittenRequest,
  { target, settings, keyFile }: SignedPost,
): Promise<Answer> {
  const wire = toWire(request, settings, target.publicUrl);
  const { verify, requireToken = false } = settings;
  const privateKey =
    keyFile === undefined ? undefined : await readFile(resolve(cli.terminal.cwd, keyFile), 'utf8');
  const id = `msg_${randomUUID().replaceAll('-', '')}`;
  const how = { nowMs: Date.now(), id, ...defined({ privateKey }) };
  const sent = verify === undefined ? { ...wire, kind: 'signed' as const } : signRequest(verify, wire, how);
  if (sent.kind === 'problem') throw new CliError(`the request cannot be signed: ${sent.problem}`);
  const token =
    verify === undefined
      ? { authorization: `Bearer ${target.token}` }
      : defined({ 'x-service-token': requireToken ? target.token : undefined });
  return exchange(target, sent.url.replace(target.publicUrl, target.url), {
    method: wire.method,
    headers: { ...withoutFraming({ ...wire.headers, ...sent.headers }), ...token },
    ...(wire.method === 'GET' ? {} : { body: sent.body }),
  });
}

/** Headers of the connection that a request came on (RFC 9110, section 7.6.1), its length and its host. */
const FRAMING =
  /^(?:connection|content-length|expect|host|http2-settings|keep-alive|proxy-connection|te|trailer|transfer-encoding|upgrade)$/i;

function withoutFraming(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !FRAMING.test(name)));
}

async function exchange(target: Pick<SendTarget, 'url'>, url: string, init: RequestInit): Promise<Answer> {
  const response = await fetch(url, {
    ...init,
    redirect: 'manual',
    signal: AbortSignal.timeout(60_000),
  }).catch((error: unknown) => {
    const cause =
      error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
    throw new CliError(
      `no answer from ${target.url}: ${cause}; is "sluice dev" or "sluice serve" running?`,
      3,
    );
  });
  const text = await response.text();
  const value = readJson(text === '' ? 'null' : text);
  const body = value === undefined ? text : value;
  return { status: response.status, requestId: response.headers.get('x-request-id'), body };
}
