import { createVerifier, VerifySettings } from '../../../src/engine/verify/verify.ts';

/** A body that no proof covers, to a path whose scheme reads fields of it. */
export interface Stranger {
  readonly name: string;
  readonly scheme: string;
  readonly type: string;
  /** Repeated to the length. */
  readonly unit: string;
  readonly begin: string;
}

const FORM = 'application/x-www-form-urlencoded';
const form = (name: string, unit: string): readonly Stranger[] =>
  ['twilio', 'mailgun'].map((scheme) => ({
    name: `${scheme}: a form of ${name}`,
    scheme,
    type: FORM,
    unit,
    begin: 'a=',
  }));
const json = (name: string, unit: string): readonly Stranger[] =>
  ['linear', 'mailgun'].map((scheme) => ({
    name: `${scheme}: JSON of ${name}`,
    scheme,
    type: 'application/json',
    unit,
    begin: '{',
  }));

const parts = (name: string, unit: string): Stranger => ({
  name: `mailgun: a form in parts of ${name}`,
  scheme: 'mailgun',
  type: 'multipart/form-data; boundary=b',
  unit,
  begin: '',
});

export const STRANGERS: readonly Stranger[] = [
  parts('short fields', '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\nx\r\n'),
  parts(
    'long headers',
    `--b\r\nContent-Disposition: form-data${'; a="b"'.repeat(1_000)}; name="a"\r\n\r\nx\r\n`,
  ),
  ...form('letters outside ASCII', 'é'),
  ...form('escapes', '%C3%A9'),
  ...form('plus signs', '+'),
  ...form('plain letters', 'x'),
  ...form('empty fields', '&'),
  ...json('short keys', '"s":1,'),
  ...json('escaped keys', '"\\u0073":1,'),
  ...json('brackets', '['),
  ...json('blanks', ' '),
];

const HEADERS: Readonly<Record<string, readonly string[]>> = {
  twilio: ['x-twilio-signature', Buffer.alloc(20).toString('base64')],
  linear: ['linear-signature', 'ab'.repeat(32)],
};

/** Milliseconds of processor time until it is refused. */
export function costOf({ scheme, type, unit, begin }: Stranger, bytes: number): number {
  const settings = VerifySettings.parse({ scheme, secrets: ['${A}'] });
  const deps = { clock: Date.now, fetchJson: () => Promise.reject(new Error('nothing is fetched')) };
  const verifier = createVerifier({ settings, secrets: ['secret'] }, deps);
  const body = Buffer.from(begin + unit.repeat(Math.floor(bytes / Buffer.byteLength(unit))));
  const rawHeaders = ['content-type', type, ...(HEADERS[scheme] ?? [])];
  const request = { method: 'POST', url: 'https://hooks.example.com/hooks/x', rawHeaders, body };
  const before = process.threadCpuUsage();
  const judged = verifier.prove(request);
  const { user, system } = process.threadCpuUsage(before);
  if (!('kind' in judged) || judged.kind !== 'refused') throw new Error('a stranger was believed');
  return (user + system) / 1000;
}
