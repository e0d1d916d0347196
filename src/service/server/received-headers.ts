/** The headers of one request, split into what evaluation may see and the tokens it must not. */
export interface ReceivedHeaders {
  /** Names in lower case, several values joined with `, `, credentials removed. Has no prototype. */
  readonly values: Readonly<Record<string, string>>;
  /** The first `Authorization: Bearer` value that is not blank. Blank ones and other schemes do not count. */
  readonly bearer: string | undefined;
  /** `x-service-token`, else `x-openclaw-token`: the first value that is not blank. */
  readonly serviceToken: string | undefined;
  /** How many `Host` headers there are. */
  readonly hosts: number;
}

/** Headers of one connection, which the next one has of its own (RFC 9110, section 7.6.1). */
const OF_CONNECTION = new Set([
  'connection',
  'expect',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Whether a header speaks of the connection that it came on: it is not handed on. */
export const isOfConnection = (name: string): boolean => OF_CONNECTION.has(name.toLowerCase());

const BEARER = /^bearer[ \t]+(.*)$/i;

/** Reads node's flat list of names and values, in which repeated headers stand as they were sent. */
export function readHeaders(raw: readonly string[]): ReceivedHeaders {
  const values = Object.create(null) as Record<string, string>;
  let bearer: string | undefined;
  let serviceToken: string | undefined;
  let openclawToken: string | undefined;
  let hosts = 0;
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = (raw[i] as string).toLowerCase();
    const value = raw[i + 1] as string;
    switch (name) {
      case 'authorization':
        bearer ??= notBlank(BEARER.exec(value)?.[1]);
        break;
      case 'x-service-token':
        serviceToken ??= notBlank(value);
        break;
      case 'x-openclaw-token':
        openclawToken ??= notBlank(value);
        break;
      case 'proxy-authorization':
        break;
      default: {
        if (name === 'host') hosts += 1;
        const before = values[name];
        values[name] = before === undefined ? value : `${before}, ${value}`;
      }
    }
  }
  return { values, bearer, serviceToken: serviceToken ?? openclawToken, hosts };
}

function notBlank(value: string | undefined): string | undefined {
  const trimmed = value?.trim();
  return trimmed === '' ? undefined : trimmed;
}
