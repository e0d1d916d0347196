import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A message as the Gmail API keeps it. */
interface GmailMessage {
  readonly id: string;
  readonly historyId: number;
  readonly labelIds: readonly string[];
  readonly internalDate: number;
  readonly subject: string;
  readonly text: string;
}

/**
 * Gmail, Pub/Sub and the OAuth2 endpoints as their REST documentation describes them (Gmail API v1: users.watch,
 * users.getProfile, users.labels.list, users.history.list, users.messages.list and .get; Pub/Sub v1:
 * subscriptions.pull and .acknowledge; RFC 6749, 7636 and 8628).
 */
export interface GoogleServer {
  readonly url: string;
  /** `METHOD /path` of every call. */
  readonly calls: string[];
  /** Puts a message into the account; a notice is published where a watch is on. */
  deliver(subject: string, options?: { readonly labels?: readonly string[]; readonly at?: number }): string;
  remove(id: string): void;
  /** From now on the history begins here: older ids are answered 404. */
  forgetHistory(): void;
  /** Access tokens given out so far are refused from now on. */
  expireTokens(): void;
  /** The refresh token is refused from now on. */
  revoke(): void;
  /** Refreshes fail as a broken provider's. */
  isBroken: boolean;
  readonly refreshes: number;
  /** The person at the device has logged in. */
  approveDevice(): void;
  readonly acknowledged: number;
  stop(): Promise<void>;
}

export const GOOGLE = {
  topic: 'projects/p/topics/gmail',
  subscription: 'projects/p/subscriptions/sluice',
  clientId: 'client.apps.example',
  clientSecret: 'client-secret-1',
} as const;

/** Ten seconds at least in Pub/Sub. */
const ACK_DEADLINE_MS = 300;
const LABELS = ['INBOX', 'SPAM', 'TRASH', 'DRAFT', 'SENT', 'UNREAD'].map((id) => ({
  id,
  name: id,
  type: 'system',
}));

export async function startGoogleServer(): Promise<GoogleServer> {
  const messages = new Map<string, GmailMessage>();
  const notices: string[] = [];
  const waiting = new Set<() => void>();
  const outstanding = new Set<string>();
  const calls: string[] = [];
  let historyId = 1000;
  let oldestHistory = 1000;
  let isWatched = false;
  let serial = 0;
  let acks = 0;
  let tokens = new Set<string>();
  let refreshToken = 'refresh-0';
  let challenge = '';
  let isApproved = false;
  let acknowledged = 0;
  let refreshes = 0;
  const state = { isBroken: false };

  const json = (res: ServerResponse, status: number, body: object): void => {
    res.writeHead(status, { 'content-type': 'application/json; charset=UTF-8' }).end(JSON.stringify(body));
  };
  const refuse = (res: ServerResponse, status: number, message: string): void =>
    json(res, status, { error: { code: status, message, status: 'ERROR' } });

  const giveTokens = (res: ServerResponse): void => {
    serial += 1;
    refreshToken = `refresh-${serial}`;
    tokens.add(`access-${serial}`);
    json(res, 200, {
      access_token: `access-${serial}`,
      token_type: 'Bearer',
      expires_in: 3600,
      refresh_token: refreshToken,
    });
  };

  const answerToken = (res: ServerResponse, form: URLSearchParams): void => {
    if (state.isBroken) return void res.writeHead(503).end('down');
    const grant = form.get('grant_type');
    if (grant === 'refresh_token') {
      refreshes += 1;
      if (form.get('refresh_token') !== refreshToken) return json(res, 400, { error: 'invalid_grant' });
      return giveTokens(res);
    }
    if (grant === 'authorization_code') {
      const hashed = createHash('sha256')
        .update(form.get('code_verifier') ?? '')
        .digest('base64url');
      const isRight = form.get('code') === 'code-1' && hashed === challenge;
      return isRight ? giveTokens(res) : json(res, 400, { error: 'invalid_grant' });
    }
    return isApproved ? giveTokens(res) : json(res, 400, { error: 'authorization_pending' });
  };

  const answerHistory = (res: ServerResponse, query: URLSearchParams): void => {
    const start = Number(query.get('startHistoryId'));
    if (start < oldestHistory) return refuse(res, 404, 'Requested entity was not found.');
    const added = [...messages.values()].filter((message) => message.historyId > start);
    const size = 3;
    const from = Number(query.get('pageToken') ?? 0);
    json(res, 200, {
      ...(added.length === 0
        ? {}
        : {
            history: added.slice(from, from + size).map(({ id, labelIds, historyId: at }) => ({
              id: String(at),
              messages: [{ id, threadId: id }],
              messagesAdded: [{ message: { id, threadId: id, labelIds } }],
            })),
          }),
      ...(from + size < added.length ? { nextPageToken: String(from + size) } : {}),
      historyId: String(historyId),
    });
  };

  const answerGmail = (
    res: ServerResponse,
    path: string,
    { query, body }: { query: URLSearchParams; body: string },
  ): void => {
    if (path === 'profile')
      return json(res, 200, { emailAddress: 'me@gmail.example', historyId: String(historyId) });
    if (path === 'labels') return json(res, 200, { labels: LABELS });
    if (path === 'watch') {
      if ((JSON.parse(body) as { topicName: string }).topicName !== GOOGLE.topic)
        return refuse(res, 400, 'Invalid topicName');
      isWatched = true;
      return json(res, 200, {
        historyId: String(historyId),
        expiration: String(Date.now() + 7 * 86_400_000),
      });
    }
    if (path === 'history') return answerHistory(res, query);
    if (path === 'messages') {
      const after = Number(/after:(\d+)/.exec(query.get('q') ?? '')?.[1] ?? 0) * 1000;
      const found = [...messages.values()].filter(({ internalDate }) => internalDate >= after).toReversed();
      return json(res, 200, {
        messages: found.map(({ id }) => ({ id, threadId: id })),
        resultSizeEstimate: found.length,
      });
    }
    const message = messages.get(decodeURIComponent(path.slice('messages/'.length)));
    if (message === undefined) return refuse(res, 404, 'Requested entity was not found.');
    json(res, 200, messageJson(message));
  };

  const publish = (data: string): void => {
    notices.push(data);
    for (const give of waiting) give();
  };

  const answerPull = (res: ServerResponse): void => {
    const give = (): void => {
      waiting.delete(give);
      const receivedMessages = notices.splice(0).map((data) => {
        const ackId = `ack-${String((acks += 1))}`;
        outstanding.add(ackId);
        // What is not acknowledged in time is delivered again, perhaps to somebody else.
        setTimeout(() => {
          if (outstanding.delete(ackId)) publish(data);
        }, ACK_DEADLINE_MS).unref();
        return { ackId, message: { data: Buffer.from(data).toString('base64'), messageId: ackId } };
      });
      json(res, 200, receivedMessages.length === 0 ? {} : { receivedMessages });
    };
    if (notices.length > 0) return give();
    waiting.add(give);
    res.on('close', () => waiting.delete(give));
  };

  const answer = (req: IncomingMessage, res: ServerResponse, body: string): void => {
    const url = new URL(req.url ?? '', 'http://localhost');
    calls.push(`${req.method} ${url.pathname}`);
    if (url.pathname === '/authorize') {
      challenge = url.searchParams.get('code_challenge') ?? '';
      const back = new URL(url.searchParams.get('redirect_uri') ?? '');
      back.searchParams.set('code', 'code-1');
      back.searchParams.set('state', url.searchParams.get('state') ?? '');
      return void res.writeHead(302, { location: back.href }).end();
    }
    if (url.pathname === '/device') {
      return json(res, 200, {
        device_code: 'device-1',
        user_code: 'ABCD-EFGH',
        verification_uri: 'https://login.example/device',
        expires_in: 900,
        interval: 1,
      });
    }
    if (url.pathname === '/token') return answerToken(res, new URLSearchParams(body));
    const token = /^Bearer (.+)$/.exec(req.headers.authorization ?? '')?.[1];
    if (token === undefined || !tokens.has(token))
      return refuse(res, 401, 'Request had invalid authentication credentials.');
    const gmail = '/gmail/v1/users/me/';
    if (url.pathname.startsWith(gmail)) {
      return answerGmail(res, url.pathname.slice(gmail.length), { query: url.searchParams, body });
    }
    if (url.pathname === `/v1/${GOOGLE.subscription}:pull`) return answerPull(res);
    if (url.pathname === `/v1/${GOOGLE.subscription}:acknowledge`) {
      for (const ackId of (JSON.parse(body) as { ackIds: string[] }).ackIds) {
        if (outstanding.delete(ackId)) acknowledged += 1;
      }
      return json(res, 200, {});
    }
    refuse(res, 404, 'Resource not found');
  };

  const http = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => answer(req, res, Buffer.concat(chunks).toString()));
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  return {
    get isBroken() {
      return state.isBroken;
    },
    set isBroken(isBroken) {
      state.isBroken = isBroken;
    },
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    calls,
    deliver: (
      subject: string,
      { labels = ['INBOX', 'UNREAD'], at = Date.now() }: { labels?: readonly string[]; at?: number } = {},
    ) => {
      historyId += 7;
      const id = `m${historyId.toString(16)}`;
      messages.set(id, {
        id,
        historyId,
        labelIds: labels,
        internalDate: at,
        subject,
        text: `Body of ${subject} ü`,
      });
      if (isWatched) publish(JSON.stringify({ emailAddress: 'me@gmail.example', historyId }));
      return id;
    },
    remove: (id: string) => void messages.delete(id),
    forgetHistory: () => {
      historyId += 1;
      oldestHistory = historyId;
    },
    expireTokens: () => {
      tokens = new Set();
    },
    revoke: () => {
      refreshToken = 'none';
      tokens = new Set();
    },
    approveDevice: () => {
      isApproved = true;
    },
    get refreshes() {
      return refreshes;
    },
    get acknowledged() {
      return acknowledged;
    },
    stop: async () => {
      const closed = once(http, 'close');
      http.close();
      http.closeAllConnections();
      await closed;
    },
  };
}

function messageJson({ id, historyId, labelIds, internalDate, subject, text }: GmailMessage): object {
  const data = Buffer.from(text).toString('base64url');
  return {
    id,
    threadId: id,
    labelIds,
    snippet: text.slice(0, 20),
    historyId: String(historyId),
    internalDate: String(internalDate),
    sizeEstimate: 1000 + text.length,
    payload: {
      partId: '',
      mimeType: 'multipart/mixed',
      filename: '',
      headers: [
        { name: 'From', value: 'Ann <ann@example.org>' },
        { name: 'To', value: 'me@gmail.example' },
        { name: 'Subject', value: subject },
        { name: 'Message-ID', value: `<${id}@example.org>` },
        { name: 'Date', value: 'Sun, 22 Nov 2026 00:17:38 +0000' },
      ],
      body: { size: 0 },
      parts: [
        {
          partId: '0',
          mimeType: 'text/plain',
          filename: '',
          headers: [{ name: 'Content-Type', value: 'text/plain; charset="UTF-8"' }],
          body: { size: text.length, data },
        },
        {
          partId: '1',
          mimeType: 'application/pdf',
          filename: 'plan.pdf',
          headers: [],
          body: { attachmentId: 'a1', size: 12_345 },
        },
      ],
    },
  };
}
