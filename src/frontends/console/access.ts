/**
 * Decides who may use the console. A key, which only the operator's own account can read, is exchanged for a session: a
 * token that the page stores and sends in a header. The address bar, the history and later requests never carry the
 * key. Nothing sends the token by itself, as browsers send a cookie to every port of a host. The token is signed with
 * the key, so it survives a restart of the service and ends when the key is replaced.
 */
import { createHmac } from 'node:crypto';
import { isIP } from 'node:net';
import { isSameText } from '../../base/compare-secrets.ts';
import type { Settings } from '../../engine/config/config.ts';
import { readOrMakeSecret } from '../../engine/config/facts.ts';
import { createAddressList } from '../../service/server/server.ts';

const SESSION_DAYS = 30;
/** Limits wrong keys of one address in a minute. The right key is accepted whatever came before it. */
const MAX_FAILURES = 20;
const FAILURE_MS = 60_000;
/** Limits the addresses whose failures are remembered; beyond that the oldest is forgotten. */
const MAX_ADDRESSES = 1_000;

/**
 * What a session may do. `view` reads what became of requests without any value of them, `inspect` everything that is
 * stored, `operate` also changes the queue, and `author`, which only `dev` has, also changes files.
 */
export type Role = 'view' | 'inspect' | 'operate' | 'author';

export interface NamedKey {
  /** Empty for the console's own key. */
  readonly name: string;
  readonly role: Role;
  readonly key: string;
}

export interface Identity {
  readonly name: string;
  readonly role: Role;
}

/**
 * Reads the key, or makes one in a file that only its owner can read, in the first place where that is
 * possible. The folder of a configuration may belong to somebody else.
 * @throws Error naming the places
 */
export function readOrMakeKey(files: readonly string[]): { readonly file: string; readonly key: string } {
  const tried: string[] = [];
  for (const file of files) {
    try {
      return { file, key: readOrMakeSecret(file, 32) };
    } catch (error) {
      tried.push(`${file} (${(error as NodeJS.ErrnoException).code ?? String(error)})`);
    }
  }
  throw new Error(
    `the console needs a file for its key, and none can be written: ${tried.join(', ')}; set XDG_STATE_HOME to a folder that the user who runs sluice may write, or console.enabled to false`,
  );
}

/** What a request says about its sender. */
export interface Visitor {
  readonly method: string;
  readonly host: string | undefined;
  readonly origin: string | undefined;
  /** `Sec-Fetch-Site`, which pages cannot set. */
  readonly fetchSite: string | undefined;
  readonly session: string | undefined;
  /** The address that opened the connection: a proxy, where one stands in front. */
  readonly address: string;
  /** Returns the value of a header that was sent once. */
  readonly header: (name: string) => string | undefined;
}

/** The header of `Visitor.session`. Lower case. */
export const SESSION_HEADER = 'x-sluice-session';

export interface AccessOptions {
  /** The current keys. A removed key opens nothing, and its sessions end. */
  readonly keys: () => readonly NamedKey[];
  /** The current proxy, whose users need no key. */
  readonly proxy?: () => Settings['console']['proxy'];
  /** The configured host may be a name, which is then allowed. */
  readonly host: string;
  readonly publicUrl?: string;
  readonly clock?: () => number;
}

export type ExchangeResult =
  | { readonly kind: 'session'; readonly token: string; readonly role: Role; readonly name: string }
  | { readonly kind: 'refused' | 'too-many' };

export class Access {
  readonly #options: AccessOptions;
  readonly #clock: () => number;
  /** When each address sent wrong keys; the address that failed last stands last. */
  readonly #failures = new Map<string, readonly number[]>();

  constructor(options: AccessOptions) {
    this.#options = options;
    this.#clock = options.clock ?? Date.now;
  }

  /** Says why a request is not from a page of this console, or undefined. */
  problemOf({ method, host, origin, fetchSite }: Visitor): string | undefined {
    if (!this.#isOwnHost(host)) {
      return 'this Host is not served: use the address that sluice printed, or set console.publicUrl';
    }
    if (method === 'GET' || method === 'HEAD') return undefined;
    if (fetchSite !== undefined && fetchSite !== 'same-origin')
      return 'only pages of the console may do this';
    const own = [`http://${host}`, `https://${host}`];
    return origin !== undefined && own.includes(origin) ? undefined : 'only pages of the console may do this';
  }

  /** Returns the user whom the proxy has signed in, else the owner of the session. */
  identify(visitor: Visitor): Identity | undefined {
    return this.#userOf(visitor) ?? this.#ownerOf(visitor);
  }

  #userOf({ address, header }: Visitor): Identity | undefined {
    const proxy = this.#options.proxy?.();
    if (proxy === undefined || !createAddressList(proxy.from).has(address)) return undefined;
    const name = header(proxy.header.toLowerCase()) ?? '';
    const role = Object.hasOwn(proxy.users, name) ? proxy.users[name] : proxy.others;
    return name === '' || role === undefined ? undefined : { name, role };
  }

  /**
   * Returns undefined where the session was made up, has ended, or belongs to a key that is gone or has
   * another role now.
   */
  #ownerOf({ session = '' }: Visitor): Identity | undefined {
    const [role = '', until = '', , name = ''] = session.split('.');
    const known = this.#options.keys().find((key) => key.name === name && key.role === role);
    if (known === undefined || !(Number.parseInt(until, 36) > this.#clock())) return undefined;
    return isSameText(session, sign(known, until)) ? { name, role: known.role } : undefined;
  }

  exchange(key: string, address: string): ExchangeResult {
    const now = this.#clock();
    const known = this.#options.keys().find((one) => isSameText(key, one.key));
    if (known !== undefined) {
      const until = (now + SESSION_DAYS * 86_400_000).toString(36);
      return { kind: 'session', token: sign(known, until), role: known.role, name: known.name };
    }
    const recent = (this.#failures.get(address) ?? []).filter((at) => at > now - FAILURE_MS);
    if (recent.length >= MAX_FAILURES) return { kind: 'too-many' };
    this.#failures.delete(address);
    this.#failures.set(address, [...recent, now]);
    const [oldest] = this.#failures.keys();
    if (this.#failures.size > MAX_ADDRESSES && oldest !== undefined) this.#failures.delete(oldest);
    return { kind: 'refused' };
  }

  /**
   * A page of a stranger can reach this listener under a name of its own that leads here (DNS rebinding),
   * and never under an address or `localhost`.
   */
  #isOwnHost(host: string | undefined): boolean {
    const name = /^(\[[\da-f:.]+\]|[^:]+)(?::\d+)?$/i.exec(host ?? '')?.[1]?.toLowerCase();
    if (name === undefined) return false;
    if (isIP(name.replace(/^\[|\]$/g, '')) !== 0) return true;
    const { host: configured, publicUrl } = this.#options;
    const named = publicUrl === undefined ? [] : [new URL(publicUrl).hostname];
    return ['localhost', configured.toLowerCase(), ...named].includes(name);
  }
}

/** A token is `role.until.mac`, and the name of a key that has one. */
function sign({ key, role, name }: NamedKey, until: string): string {
  const said = name === '' ? '' : ` ${name}`;
  const mac = createHmac('sha256', key).update(`console session ${role} ${until}${said}`).digest('base64url');
  return `${role}.${until}.${mac}${name === '' ? '' : `.${name}`}`;
}
