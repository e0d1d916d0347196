/**
 * What is proved of who wrote a mail. Anybody can write any header, so a field Authentication-Results counts only where
 * the mailbox's own server put it: above all that came with the mail, and under its own name (RFC 8601, section 5).
 */
import { Resolver } from 'node:dns/promises';
import { domainToASCII } from 'node:url';
import { findMissingPackages, type MailBlock } from '../../engine/config/config.ts';
import { defined } from '../../base/json.ts';
import { within } from '../../base/timers/timers.ts';
import { addressOf, type HeaderField, readAddresses, valuesOf } from './mail-header.ts';
import type { MailContent } from './source.ts';

export interface MailProof {
  /** `verified` by DMARC or DKIM; `asserted` where nobody says yes or no; `unverified` where a check failed. */
  readonly level: 'verified' | 'asserted' | 'unverified';
  /** The name of the server that checked, or `mailauth`; absent where nobody did. */
  readonly by?: string | undefined;
  /** The domain of `From` in ASCII; absent where there is no one `From`. */
  readonly domain?: string | undefined;
  /** The results for this domain, in the words of RFC 8601. */
  readonly dmarc: string;
  readonly dkim: string;
}

/** The names of providers in their fields, by their IMAP server. Exchange Online writes none, and renames what comes. */
const PROVIDERS: readonly (readonly [server: RegExp, names: readonly string[]])[] = [
  [/(?:^|\.)(?:gmail|googlemail)\.com$/, ['mx.google.com']],
  [/(?:^|\.)(?:outlook|office365)\.com$/, ['', '*.protection.outlook.com']],
  [/(?:^|\.)fastmail\.com$/, ['*.messagingengine.com']],
  [/(?:^|\.)mail\.me\.com$/, ['*.icloud.com']],
  // Proton's mailboxes are read from a program on the same machine, the Bridge.
  [/^(?:localhost|127\.0\.0\.1) (?:proton\.me|pm\.me|protonmail\.(?:com|ch))$/, ['mail.protonmail.ch']],
];

/** The names under which the server of a mailbox writes Authentication-Results; none where they are not known. */
export function ownServers(mail: MailBlock): readonly string[] {
  if (mail.authServers.length > 0) return mail.authServers.map((name) => name.toLowerCase());
  const host = mail.kind === 'gmail' ? 'gmail.com' : mail.host.toLowerCase();
  const places = [host, `${host} ${domainOf(mail.account) ?? ''}`];
  return PROVIDERS.find(([server]) => places.some((place) => server.test(place)))?.[1] ?? [];
}

/** Fields that a mail has once (RFC 5322, section 3.6): a second one on top is not signed, and is what people see. */
const ONCE = ['from', 'sender', 'reply-to', 'subject', 'date', 'message-id', 'content-type'];

/** The domain of the one address in `From`; undefined where there are several or none, or a field is there twice. */
function authorDomain(fields: readonly HeaderField[]): string | undefined {
  if (ONCE.some((name) => valuesOf(fields, name).length > 1)) return undefined;
  const [from, ...others] = readAddresses(valuesOf(fields, 'from')[0] ?? '', (text) => text);
  return from === undefined || others.length > 0 ? undefined : domainOf(addressOf(from));
}

/** The domain of an address in ASCII; undefined of one that could be read as another, or as several. */
export function domainOf(address: string): string | undefined {
  const [, domain = ''] = /^[^\s@,;:<>()"\\]+@([^\s@%]+)$/.exec(address) ?? [];
  return domainToASCII(domain) || undefined;
}

/** What the mailbox's own server says of the domain in `From`. */
export function serverProof(fields: readonly HeaderField[], own: readonly string[]): MailProof {
  const domain = authorDomain(fields);
  const values = ownFields(fields, own);
  // The first field with a method counts for it: the first one of the sender may stand right below.
  const found = new Map(
    values.toReversed().flatMap((value) => [...Map.groupBy(readResults(value), (each) => each.method)]),
  );
  const [dmarcs = [], dkims = []] = [found.get('dmarc'), found.get('dkim')];
  const isAbout = (each: CheckResult): boolean => each.domain !== undefined && each.domain === domain;
  const dkim = wordFor(dkims.filter(isAbout));
  // Results that contradict each other, or are about another domain, prove nothing.
  const isPass = dmarcs.length > 0 && dmarcs.every((each) => each.word === 'pass' && isAbout(each));
  const dmarc = isPass ? 'pass' : wordFor(dmarcs.filter(({ word }) => word !== 'pass'));
  const by = values[0] === undefined ? undefined : serverName(values[0]) || 'the mail server';
  const level = domain === undefined ? 'unverified' : levelOf(dmarc, dkim);
  return { level, ...defined({ by, domain }), dmarc, dkim };
}

function levelOf(dmarc: string, dkim: string): MailProof['level'] {
  if (dmarc === 'fail') return 'unverified';
  if (dmarc === 'pass' || dkim === 'pass') return 'verified';
  return dkim === 'fail' || dmarc === 'permerror' ? 'unverified' : 'asserted';
}

/** The word for several results: one signature that is right is enough. */
function wordFor(results: readonly Pick<CheckResult, 'word'>[]): string {
  const words = results.map(({ word }) => word);
  return ['pass', 'fail', 'temperror'].find((word) => words.includes(word)) ?? words[0] ?? 'none';
}

type CheckResult = { readonly method: string; readonly word: string; readonly domain?: string | undefined };

const FIELD = 'authentication-results';

/** The fields that the server put on top; what stands below a trace is of an earlier server, or of the sender. */
function ownFields(fields: readonly HeaderField[], own: readonly string[]): readonly string[] {
  const first = fields.findIndex(([name]) => name === FIELD);
  const below = first < 0 ? [] : fields.slice(first);
  const isOwn = (server: string | undefined): boolean =>
    own.some((name) => (name.startsWith('*.') ? server?.endsWith(name.slice(1)) : server === name));
  const end = below.findIndex(
    ([name, value]) => name === 'received' || (name === FIELD && !isOwn(serverName(value))),
  );
  return valuesOf(end < 0 ? below : below.slice(0, end), FIELD);
}

/** The name at the start of a field; empty where a result stands there. */
function serverName(value: string): string | undefined {
  if (/^\s*[\w-]+\s*=/.test(value)) return '';
  return /^\s*"?([\w.-]+)"?(?:[\s\d]|\([^()]*\))*(?:;|$)/.exec(value)?.[1]?.toLowerCase();
}

/** Real fields come to 2,000 characters. */
const MAX_FIELD_CHARS = 16_000;
/** A result, with a word of RFC 8601 or another one. */
const RESULT =
  /^\s*(dmarc|dkim)(?:\s*\/\s*\d+)?\s*=\s*(?:(?:hard|perm_?(?=fail))?(pass|fail|neutral|policy|temperror|permerror)(?![\w-])|[\w-]+)/;
const DOMAIN = /(?<![\w.-])header\s*\.\s*(from|[di])\s*=\s*(\S+)/g;

function readResults(value: string): readonly CheckResult[] {
  const plain = value.length > MAX_FIELD_CHARS ? undefined : withoutComments(value.toLowerCase());
  // Whoever makes a field unreadable is not better off for it.
  if (plain === undefined) return [{ method: 'dmarc', word: 'permerror' }];
  return plain.split(';').flatMap((part) => {
    const [, method, word = 'none'] = RESULT.exec(part) ?? [];
    if (method === undefined) return [];
    const named = Map.groupBy(part.matchAll(DOMAIN), ([, name]) => name);
    const about = method === 'dmarc' ? named.get('from') : (named.get('d') ?? named.get('i'));
    const domains = new Set(about?.map(([, , text = '']) => domainOf(`x@${text.replace(/^.*@/s, '')}`)));
    return [{ method, word, domain: domains.size === 1 ? [...domains][0] : undefined }];
  });
}

/** Undefined where comments and quotes are not in order: an address with quotes within a comment can end the comment. */
function withoutComments(value: string): string | undefined {
  let plain = value;
  for (let depth = 0; depth < 3; depth += 1) plain = plain.replaceAll(/\([^()"\\]*\)/g, ' ');
  plain = plain.replaceAll(/"([^"\\]*)"/g, (_, text: string) => text.replaceAll(/[^\w.@-]/g, '_'));
  return /[()"\\]/.test(plain) ? undefined : plain;
}

/** Who may say what is proved of a mail: its server under these names and, through the DNS, its signatures. */
export interface ProofOptions {
  readonly own?: readonly string[];
  /** Asks the DNS for texts; rejects where it has none. */
  readonly lookUp?: ((name: string) => Promise<string[][]>) | undefined;
}

const askDns = (name: string): Promise<string[][]> =>
  new Resolver({ timeout: 1_000, tries: 2 }).resolveTxt(name);

/** Real mails have up to four signatures, two of them of the domain in `From`; the next mail waits meanwhile. */
const LIMITS = { signatures: 16, lookUps: 3, lookUpMs: 2_000 };

/** What is proved of a mail: what its server says or, where that says nothing, what its signatures show. */
export async function proofOf(
  content: MailContent,
  fields: readonly HeaderField[],
  { own = [], lookUp = askDns }: ProofOptions,
): Promise<MailProof> {
  const proof = serverProof(fields, own);
  const signatures = valuesOf(fields, 'dkim-signature').length;
  if (proof.by !== undefined || proof.domain === undefined || content.kind !== 'raw' || content.truncated)
    return proof;
  if (signatures === 0 || signatures > LIMITS.signatures || !canCheckSignatures()) return proof;
  const dkim = await signatureWord(content.source, proof.domain, lookUp).catch(() => 'temperror');
  return { ...proof, level: levelOf('none', dkim), by: 'mailauth', dkim };
}

/** Whether the optional package is installed that checks signatures. */
export const canCheckSignatures = (): boolean =>
  findMissingPackages(['mailauth'], import.meta.url).length === 0;

async function signatureWord(source: Buffer, domain: string, lookUp: typeof askDns): Promise<string> {
  const { dkimVerify } = await import('mailauth/lib/dkim/verify.js');
  let asked = 0;
  const resolver = async (name: string): Promise<string[][]> => {
    asked += 1;
    // The keys of other domains prove nothing of this one, so nobody's mail makes us ask for them.
    const isAsked = asked <= LIMITS.lookUps && lastLabels(name) === lastLabels(domain);
    const texts = isAsked ? await within(lookUp(name), LIMITS.lookUpMs) : undefined;
    if (texts === undefined) throw new Error('not asked, or no answer');
    return texts;
  };
  const { headerFrom, results } = await dkimVerify(source, { resolver, strict: true });
  if (headerFrom.length !== 1 || domainOf(headerFrom[0] ?? '') !== domain) return 'none';
  // A signature of a domain that tries DKIM out, or of a part of the body, proves nothing.
  const aligned = results.map(({ status }) => status).filter((status) => typeof status.aligned === 'string');
  const isVoid = ({ testing = false, underSized = 0 }: (typeof aligned)[0]): boolean =>
    testing || underSized > 0;
  return wordFor(
    aligned.map((each) => ({ word: each.result === 'pass' && isVoid(each) ? 'policy' : each.result })),
  );
}

const lastLabels = (name: string): string => name.toLowerCase().split('.').slice(-2).join('.');
