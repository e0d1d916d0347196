/*
 * Who may use the console. A key, which only the operator's own account can read, is exchanged for a cookie: the
 * address bar, the history and the requests that follow never carry it. The cookie is signed with the key, so that it
 * holds over a restart of the service and ends when the key is replaced.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { dirname, join } from 'node:path';
import { readSecretFile } from '../config/config.ts';

const COOKIE_DAYS = 30;
/** Wrong keys in a minute, from everybody together: only the operator has a reason to try. */
const MAX_FAILURES = 20;

/** Reads the key, or makes one in a file that only its owner can read. */
export function readOrMakeKey(file: string): string {
  const read = readSecretFile(file);
  if (read.kind === 'read' && read.secret.length >= 32) {
    chmodSync(file, 0o600);
    return read.secret;
  }
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(join(dirname(file), '.gitignore'), '*\n');
  const key = randomBytes(24).toString('base64url');
  writeFileSync(file, `${key}\n`, { mode: 0o600 });
  chmodSync(file, 0o600);
  return key;
}

/** What of a request says who sent it. */
export interface Visitor {
  readonly method: string;
  readonly host: string | undefined;
  readonly origin: string | undefined;
  /** `Sec-Fetch-Site`, which pages cannot set. */
  readonly fetchSite: string | undefined;
  readonly cookie: string | undefined;
}

export interface AccessOptions {
  readonly key: string;
  /** The configured host may be a name, which is then allowed. */
  readonly host: string;
  /** Cookies do not tell ports apart: two consoles on a machine have their own. */
  readonly port: number;
  readonly publicUrl?: string;
  readonly clock?: () => number;
}

export type ExchangeResult =
  { readonly kind: 'cookie'; readonly cookie: string } | { readonly kind: 'refused' | 'too-many' };

/** Decides on every request. */
export class Access {
  readonly #options: AccessOptions;
  readonly #clock: () => number;
  #failures: number[] = [];

  constructor(options: AccessOptions) {
    this.#options = options;
    this.#clock = options.clock ?? Date.now;
  }

  /** Why a request is not from a page of this console, or undefined. */
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

  hasCookie({ cookie = '' }: Visitor): boolean {
    const value = cookie
      .split(';')
      .map((pair) => pair.trim())
      .find((pair) => pair.startsWith(`${this.#cookieName}=`))
      ?.slice(this.#cookieName.length + 1);
    const [until = ''] = value?.split('.') ?? [];
    if (value === undefined || !(Number.parseInt(until, 36) > this.#clock())) return false;
    return isSame(value, this.#sign(until));
  }

  /** Exchanges the key for a cookie. */
  exchange(key: string): ExchangeResult {
    const now = this.#clock();
    this.#failures = this.#failures.filter((at) => at > now - 60_000);
    if (this.#failures.length >= MAX_FAILURES) return { kind: 'too-many' };
    if (!isSame(key, this.#options.key)) {
      this.#failures.push(now);
      return { kind: 'refused' };
    }
    const seconds = COOKIE_DAYS * 86_400;
    const value = this.#sign((now + seconds * 1000).toString(36));
    const secure = this.#options.publicUrl?.startsWith('https:') === true ? '; Secure' : '';
    return {
      kind: 'cookie',
      cookie: `${this.#cookieName}=${value}; HttpOnly; SameSite=Strict; Path=/; Max-Age=${seconds}${secure}`,
    };
  }

  get #cookieName(): string {
    return `sluice_console_${this.#options.port}`;
  }

  #sign(until: string): string {
    const mac = createHmac('sha256', this.#options.key).update(`console cookie ${until}`).digest('base64url');
    return `${until}.${mac}`;
  }

  /**
   * A page of a stranger can reach this listener under a name of its own that leads here (DNS rebinding), and never
   * under an address or `localhost`.
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

function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
