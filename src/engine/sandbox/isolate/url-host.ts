/** Hosts and ports of URLs. */
import { invalidUrl, percentEncode, specialPort } from './url-text.ts';

export function normalPort(text: string, scheme: string): string {
  if (text === '') return '';
  const port = Number(text);
  if (port > 65535) return invalidUrl();
  return String(port) === specialPort(scheme) ? '' : String(port);
}

export function parseHost(text: string, isSpecial: boolean): string {
  if (text.startsWith('[')) return `[${parseIpv6(text.slice(1, -1))}]`;
  if (!isSpecial) return /[\s#/<>?@[\\\]^|]/.test(text) ? invalidUrl() : percentEncode(text, '');
  let host: string;
  try {
    host = decodeURIComponent(text).toLowerCase();
  } catch {
    return invalidUrl();
  }
  // eslint-disable-next-line no-control-regex -- forbidden in host names
  if (host === '' || /[^\u0000-\u007f]|[\u0000-\u0020"#%/:<>?@[\\\]^`{|}\u007f]/.test(host))
    return invalidUrl();
  return parseIpv4(host) ?? host;
}

/** Undefined for a name; throws for what ends in a number and is no address. */
function parseIpv4(host: string): string | undefined {
  const labels = host.replace(/\.$/, '').split('.');
  const last = labels.at(-1) ?? '';
  if (!/^(?:\d+|0x[0-9a-f]*)$/.test(last)) return undefined;
  if (labels.length > 4) return invalidUrl();
  const numbers = labels.map((label) => {
    if (/^0x[0-9a-f]*$/.test(label)) return label === '0x' ? 0 : Number.parseInt(label, 16);
    if (/^0[0-7]+$/.test(label)) return Number.parseInt(label, 8);
    return /^\d+$/.test(label) && !/^0\d/.test(label) ? Number(label) : invalidUrl();
  });
  const tail = numbers.pop() ?? 0;
  if (numbers.some((number) => number > 255) || tail >= 256 ** (4 - numbers.length)) return invalidUrl();
  const value = numbers.reduce((sum, number, index) => sum + number * 256 ** (3 - index), tail);
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.');
}

function parseIpv6(text: string): string {
  const dotted = /^(.*:)(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text);
  let source = text;
  if (dotted !== null) {
    const bytes = dotted.slice(2).map(Number);
    if (bytes.some((byte) => byte > 255)) return invalidUrl();
    const [a = 0, b = 0, c = 0, d = 0] = bytes;
    source = `${dotted[1] ?? ''}${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  }
  const halves = source.split('::');
  const read = (half: string | undefined) => (half === undefined || half === '' ? [] : half.split(':'));
  const [front, back] = [read(halves[0]), read(halves[1])];
  const missing = 8 - front.length - back.length;
  if (halves.length > 2 || (halves.length === 2 ? missing < 1 : missing !== 0)) return invalidUrl();
  const pieces = [...front, ...Array.from({ length: missing }, () => '0'), ...back];
  if (pieces.some((piece) => !/^[0-9a-f]{1,4}$/i.test(piece))) return invalidUrl();
  const numbers = pieces.map((piece) => Number.parseInt(piece, 16).toString(16)).join(':');
  const zeros = [...numbers.matchAll(/(?:^|:)0(?::0)+(?=:|$)/g)].toSorted(
    (a, b) => b[0].length - a[0].length,
  )[0];
  if (zeros === undefined) return numbers;
  const before = numbers.slice(0, zeros.index);
  return `${before}::${numbers.slice(zeros.index + zeros[0].length).replace(/^:/, '')}`;
}
