import { ABSOLUTE_FORM } from './received.ts';
import { HookError } from '../../base/errors.ts';
import { defined } from '../../base/json.ts';
import {
  type ProofFinding,
  judgeSender,
  MAX_TRIED_BYTES,
  type RefusedProof,
  type SenderCheck,
} from '../../engine/verify/verify.ts';
import { within } from '../../base/timers/timers.ts';
import { networksOf } from './addresses.ts';
import { authenticate, findToken, isSecret, type TokenSet } from './authenticate.ts';
import type { ProofFacts, RequestAdvisor, TokenFacts } from './advisor.ts';
import {
  type AnyExchange,
  type Exchange,
  type IncomingHook,
  ownName,
  type RequestProof,
  type ProofRefusal,
  type TokenProof,
} from './exchange.ts';
import { loadAdvisor, type ServerContext } from './server-context.ts';

/** Whether `hooks.mail` delivers to this name: its reader may run outside the service, and has the hook token only. */
export function isMailPath({ generation }: Pick<Exchange, 'generation'>, name: string): boolean {
  return generation.hooks.mail?.path === name;
}

/**
 * Asks a sender for the proof that its path wants. Nothing is logged or counted here but the failures of the address:
 * the rest follows from the value. Before a proof no part of the body may reach mappings or the store.
 */
export function prove(
  context: ServerContext,
  exchange: Exchange,
  hook: IncomingHook,
): RequestProof | Promise<RequestProof | ProofRefusal> {
  const { allows, sender } = context.access.ofPath(hook.settings);
  const address = addressOf(context, exchange);
  const isAllowed = allows(address);
  if (sender !== undefined) {
    const reader = isAllowed ? proveMailReader(context, exchange, hook) : undefined;
    return reader ?? proveSender(context, exchange, { hook, sender, isAllowed: () => isAllowed });
  }
  if (!isAllowed) return refuse(context, exchange, { reason: 'address', finding: wrongAddress(address) });
  return proveToken(context, exchange, hook);
}

function proveToken(
  context: ServerContext,
  exchange: Exchange,
  hook: IncomingHook,
): TokenProof | Promise<ProofRefusal> {
  const { tokens } = context.access.ofHooks(exchange.generation.hooks);
  const judged = authenticate(tokens, exchange.headers, hook.target);
  if (judged.kind === 'refused') {
    const { reason } = judged;
    const find = async (advisor: RequestAdvisor): Promise<ProofFinding> =>
      (reason === 'missing' ? await questionIn(exchange, hook, advisor) : undefined) ??
      advisor.onToken({ ...tokenFacts(exchange, hook, tokens), reason });
    return refuse(context, exchange, { reason, find });
  }
  return { kind: 'proved', by: 'token', carrier: judged.carrier, retired: judged.retired };
}

function tokenFacts(
  { req, generation }: Exchange,
  { target, name }: IncomingHook,
  tokens: TokenSet,
): Omit<TokenFacts, 'reason'> {
  return {
    isToken: (text) => findToken(tokens, text),
    queryToken: tokens.queryToken,
    rawHeaders: req.rawHeaders,
    query: target.query,
    addressToken: target.token,
    unknownName: generation.knowsName(name) ? undefined : name,
    mapping: generation.placeOf?.(name),
  };
}

/** A question is short: longer bodies are not waited for. */
const MAX_QUESTION_BYTES = 2048;

/** The question of a request that only asks if the address is right; undefined where its path answers such ones. */
async function questionIn(
  exchange: Exchange,
  hook: IncomingHook,
  advisor: RequestAdvisor,
): Promise<ProofFinding | undefined> {
  const { generation, headers, hasBody, req } = exchange;
  const { name, settings, target } = hook;
  if (settings.challenge !== undefined || !generation.knowsName(name)) return undefined;
  const body = await smallBody(exchange, hook, MAX_QUESTION_BYTES);
  const asked = { method: req.method, headers: headers.values, query: target.query, hasBody, body };
  return advisor.onQuestion({ ...asked, place: generation.placeOf?.(name) });
}

/** The hook token opens the path of `hooks.mail` whatever its `verify` asks for; undefined where it is not presented. */
function proveMailReader(
  context: ServerContext,
  exchange: Exchange,
  { name }: IncomingHook,
): TokenProof | undefined {
  if (!isMailPath(exchange, name)) return undefined;
  const { tokens } = context.access.ofHooks(exchange.generation.hooks);
  const judged = authenticate(tokens, exchange.headers, { token: undefined });
  if (judged.kind === 'refused') return undefined;
  return { kind: 'proved', by: 'token', carrier: judged.carrier, retired: judged.retired };
}

interface SenderToProve {
  readonly hook: IncomingHook;
  readonly sender: SenderCheck;
  readonly isAllowed: () => boolean;
}

async function proveSender(
  context: ServerContext,
  exchange: Exchange,
  { hook, sender, isAllowed }: SenderToProve,
): Promise<RequestProof | ProofRefusal> {
  const { req, generation } = exchange;
  const { scheme, secretHeaders } = sender.verifier;
  const judged = await judgeSender(sender, {
    method: req.method ?? '',
    rawHeaders: req.rawHeaders,
    queryToken: () => (generation.hooks.queryToken === 'reject' ? undefined : hook.target.token),
    isAllowed,
    refuseToken: () => refuseToken(context, exchange, hook),
    url: () => signedUrl(context, exchange),
    body: hook.body,
    unpacked: () => unpackedOf(hook),
    bodyToTry: () => smallBody(exchange, hook),
  });
  switch (judged.kind) {
    case 'proved': {
      const { retired, signedId } = judged;
      return { kind: 'proved', by: 'sender', scheme, retired, secretHeaders, ...defined({ signedId }) };
    }
    case 'token-refused':
      // The path asks for the hook token beside the proof of its sender.
      if (judged.refusal.finding === undefined) return judged.refusal;
      return { ...judged.refusal, finding: { code: 'no-token', facts: { beside: scheme } } };
    case 'refused': {
      const { reason } = judged;
      if (!('proof' in judged)) {
        const finding = wrongAddress(addressOf(context, exchange));
        return refuse(context, exchange, { reason, scheme, finding });
      }
      return refuse(context, exchange, {
        reason,
        scheme,
        find: async (advisor) =>
          (reason === 'no-proof' ? await questionIn(exchange, hook, advisor) : undefined) ??
          advisor.onProof(proofFacts(context, exchange, { hook, sender, judged })),
      });
    }
  }
}

/** The unpacked body. Where it is not packed as its header says, the sender reads that only after its proof. */
async function unpackedOf(hook: IncomingHook): Promise<Buffer | undefined> {
  try {
    return await hook.unpacked();
  } catch (error) {
    const unreadable = ['invalid_body', 'unsupported_encoding'];
    if (error instanceof HookError && unreadable.includes(error.code)) return undefined;
    throw error;
  }
}

function proofFacts(
  context: ServerContext,
  exchange: Exchange,
  { hook, sender, judged }: Omit<SenderToProve, 'isAllowed'> & { readonly judged: RefusedProof },
): ProofFacts {
  const { tokens } = context.access.ofHooks(exchange.generation.hooks);
  const { proof, refusal, request } = judged;
  return {
    proof,
    refusal,
    request: request(),
    signsUrl: sender.verifier.signsUrl,
    url: signedUrl(context, exchange),
    publicUrl: context.deps.server.publicUrl,
    hasToken: authenticate(tokens, exchange.headers, hook.target).kind === 'accepted',
  };
}

/** The refusal of the hook token, where the path asks for it beside its proof and it is wrong. */
async function refuseToken(
  context: ServerContext,
  exchange: Exchange,
  hook: IncomingHook,
): Promise<ProofRefusal | undefined> {
  if (hook.settings.requireToken !== true) return undefined;
  const token = await proveToken(context, exchange, hook);
  return token.kind === 'refused' ? token : undefined;
}

export function addressOf(context: ServerContext, { req, headers }: AnyExchange): string {
  return context.findAddress(req?.socket.remoteAddress, headers.values['x-forwarded-for']);
}

/** The finding on a wrong address; which address is judged depends on the trusted proxies. */
const wrongAddress = (sent: string): ProofFinding => ({ code: 'address', facts: { sent } });

interface RefusalFacts extends Pick<ProofRefusal, 'reason' | 'scheme' | 'finding'> {
  readonly find?: (advisor: RequestAdvisor) => ProofFinding | undefined | Promise<ProofFinding | undefined>;
}

/** Whether the sender knows `gateway.token`, which opens nothing but details of the service's health. */
export function isOperator({ generation, headers }: Pick<Exchange, 'generation' | 'headers'>): boolean {
  const { gatewayToken } = generation;
  return gatewayToken !== undefined && headers.bearer !== undefined && isSecret(gatewayToken, headers.bearer);
}

/** The detail of every refusal: it says neither what a path asks for nor how near the sender came. */
const UNAUTHORIZED =
  'the request does not prove where it comes from in the way this hook asks for: the hook token as "Authorization: Bearer", or, at a hook with a proof of its own, the signature or secret of its sender; the operator finds the reason under the request id';

const QUERY_REJECTED =
  'the hook token is not accepted from the query here; send it as "Authorization: Bearer"';

/** Counts the failure against the sender's address; past the limit the sender has to wait. */
export async function refuse(
  context: ServerContext,
  exchange: Exchange,
  { reason, scheme, finding: known, find }: RefusalFacts,
): Promise<ProofRefusal> {
  const { limiter } = context.access.ofHooks(exchange.generation.hooks);
  const address = addressOf(context, exchange);
  const retryAfterSeconds = limiter.fail(address);
  const common = { kind: 'refused', reason, address, ...defined({ scheme }) } as const;
  if (retryAfterSeconds !== undefined) {
    const detail = 'too many requests that did not prove where they come from';
    return { ...common, error: new HookError('too_many_failures', detail, { retryAfterSeconds }) };
  }
  // With names of its own choice a sender would get a share of explanations for each.
  const who = `${networksOf(address).own} ${ownName(exchange) ?? ''}`;
  const isExplained = context.faults.takeFor(who, exchange.receivedAt);
  const advisor = isExplained ? await loadAdvisor(context, exchange) : undefined;
  const finding = isExplained ? (known ?? (advisor && (await find?.(advisor)))) : undefined;
  const why = finding && advisor?.sayProof(finding);
  // The explanation depends on the request and the configuration alone, never on the path.
  const { target, generation } = exchange;
  const isInQuery = generation.hooks.queryToken === 'reject' && target?.token !== undefined;
  const error = new HookError('unauthorized', isInQuery ? QUERY_REJECTED : UNAUTHORIZED);
  return { ...common, error, ...defined({ finding, why }) };
}

/** The sender is refused whatever is in the body, so nobody waits long for it. */
const MAX_WAIT_MS = 1000;

/**
 * The body of a request that is refused whatever it is, only to say why; undefined where it is long, slow or cannot be
 * read, or where its sender asks first whether to send it.
 */
async function smallBody(
  { req, hasBody, expectsContinue }: Exchange,
  { body }: Pick<IncomingHook, 'body'>,
  maxBytes = MAX_TRIED_BYTES,
): Promise<Buffer | undefined> {
  const bytes = hasBody ? Number(req.headers['content-length']) : 0;
  // NaN where the sender does not say how much comes.
  if (expectsContinue || !(bytes <= maxBytes)) return undefined;
  return within(body(), MAX_WAIT_MS).catch(() => undefined);
}

const HOST = /^[A-Za-z0-9.-]{1,253}(?::\d{1,5})?$|^\[[0-9A-Fa-f:.]{2,45}\](?::\d{1,5})?$/;

/**
 * The address as the sender called it, for senders that sign it: under `server.publicUrl`, else as a trusted proxy
 * says it, else as this machine listens. Never by the Host header alone, which the sender writes.
 */
function signedUrl({ deps, proxies }: ServerContext, { req, headers }: Exchange): string {
  const target = (req.url ?? '').replace(ABSOLUTE_FORM, '');
  const { publicUrl } = deps.server;
  if (publicUrl !== undefined) return publicUrl.replace(/(?<!\/)\/+$/, '') + target;
  const { socket } = req;
  if (proxies.has(socket.remoteAddress ?? '')) {
    const scheme = lastOf(headers.values['x-forwarded-proto'])?.toLowerCase();
    const host = lastOf(headers.values['x-forwarded-host']) ?? headers.values['host'];
    if ((scheme === 'https' || scheme === 'http') && host !== undefined && HOST.test(host)) {
      return `${scheme}://${host}${target}`;
    }
  }
  const address = socket.localAddress ?? '';
  return `http://${address.includes(':') ? `[${address}]` : address}:${String(socket.localPort)}${target}`;
}

/** The last entry, which the proxy in front of us wrote. */
function lastOf(list: string | undefined): string | undefined {
  return list?.split(',').at(-1)?.trim();
}
