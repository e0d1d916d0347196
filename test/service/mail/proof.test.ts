/** What is believed of who wrote a mail: fields of real servers, examples of RFCs, and what forgers write. */
import { generateKeyPairSync } from 'node:crypto';
import { createRequire } from 'node:module';
import { createTransport } from 'nodemailer';
import { describe, expect, test } from 'vitest';
import type { MailBlock } from '../../../src/engine/config/config.ts';
import { ownServers, type ProofOptions } from '../../../src/service/mail/mail-proof.ts';
import { toMessage } from '../../../src/service/mail/message-payload.ts';
import { imapBlock } from '../../support/mail-fixture.ts';
import { DINNER, DINNER_KEY } from '../../support/signed-mail.ts';
import { computingMs, threadMs } from '../../support/thread-time.ts';

type LookUpTexts = NonNullable<ProofOptions['lookUp']>;

const nobody: LookUpTexts = () => Promise.reject(Object.assign(new Error('no'), { code: 'ENODATA' }));

function read(
  raw: string | Buffer,
  own: readonly string[],
  more: { lookUp?: LookUpTexts; cut?: boolean } = {},
) {
  const source = Buffer.from(typeof raw === 'string' ? raw.replaceAll(/\r?\n/g, '\r\n') : raw);
  const mail = { identity: '1:1', id: 'id', receivedAt: 0, sizeBytes: source.length } as const;
  const content = { kind: 'raw', source, truncated: more.cut ?? false } as const;
  return toMessage({ ...mail, content }, { maxBodyChars: 1_000, own, lookUp: more.lookUp ?? nobody });
}

const proofOf = async (...args: Parameters<typeof read>) => (await read(...args)).proof;
const at = (host: string, more: Partial<Extract<MailBlock, { kind: 'imap' }>> = {}): readonly string[] =>
  ownServers(imapBlock(993, { host, ...more }));

const GMAIL = at('imap.gmail.com');
const MICROSOFT = at('outlook.office365.com');
const FASTMAIL = at('imap.fastmail.com');
const ICLOUD = at('p42-imap.mail.me.com');
const MX = ['mx.example.net'];
const field = (results: string, id = 'mx.example.net; '): string =>
  `Authentication-Results: ${id}${results}\n`;
const mailOf = (from: string): string => `From: ${from}\nTo: me@example.net\nSubject: hi\n\nhello\n`;
const ANN = mailOf('Ann <ann@example.org>');
const PASS = field('dmarc=pass header.from=example.org');

describe('what real servers write', () => {
  test('Gmail', async () => {
    // A mail to linux-mm@kvack.org of 2 April 2019, as lore.kernel.org keeps it; addresses changed.
    const raw = `Received: by 2002:a05:6638:149:0:0:0:0 with SMTP id y9csp1;
        Tue, 2 Apr 2019 13:32:15 -0700 (PDT)
ARC-Authentication-Results: i=1; mx.google.com;
       dmarc=fail header.from=evil.example
Return-Path: <ann@gmail.com>
Received: from mail-sor-f41.google.com (mail-sor-f41.google.com. [209.85.220.41])
        by mx.google.com with SMTPS id k184sor7832200itb.31.2019.04.02.13.32.14
Received-SPF: pass (google.com: domain of ann@gmail.com designates 209.85.220.41 as permitted sender) client-ip=209.85.220.41;
Authentication-Results: mx.google.com;
       dkim=pass header.i=@gmail.com header.s=20161025 header.b=obydRoeE;
       spf=pass (google.com: domain of ann@gmail.com designates 209.85.220.41 as permitted sender) smtp.mailfrom=ann@gmail.com;
       dmarc=pass (p=NONE sp=QUARANTINE dis=NONE) header.from=gmail.com
DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=gmail.com; s=20161025; h=from; bh=x; b=y
${mailOf('Ann <ann@gmail.com>')}`;
    const proof = {
      level: 'verified',
      by: 'mx.google.com',
      domain: 'gmail.com',
      dmarc: 'pass',
      dkim: 'pass',
    };
    expect(await proofOf(raw, GMAIL)).toEqual(proof);
    expect((await read(raw, GMAIL)).answerTo).toBe('ann@gmail.com');
    // The same archive, 20 May 2019: a kernel.org address through another provider.
    const failed = `Authentication-Results: mx.google.com;
       dkim=pass header.i=@messagingengine.com header.s=fm2 header.b="rV/ImNkG";
       spf=softfail (google.com: domain of transitioning bob@kernel.org does not designate 66.111.4.230 as permitted sender) smtp.mailfrom=bob@kernel.org;
       dmarc=fail (p=NONE sp=NONE dis=NONE) header.from=kernel.org
${mailOf('Bob <bob@kernel.org>')}`;
    expect(await proofOf(failed, GMAIL)).toMatchObject({ level: 'unverified', dmarc: 'fail', dkim: 'none' });
    expect(await read(failed, GMAIL)).not.toHaveProperty('answerTo');
    // A domain without DMARC, 24 June 2019: its own signature is enough.
    const signed = `Authentication-Results: mx.google.com;
       dkim=pass header.i=@ziepe.example header.s=google header.b=i+h5jdKO;
       spf=pass (google.com: domain of jgg@ziepe.example designates 209.85.220.65 as permitted sender) smtp.mailfrom=jgg@ziepe.example
${mailOf('jgg@ziepe.example')}`;
    expect(await proofOf(signed, GMAIL)).toMatchObject({ level: 'verified', dmarc: 'none', dkim: 'pass' });
  });

  test('Microsoft, which writes no name of its own', async () => {
    // Forms of Exchange Online of 2026, 2021 and 2017, as mails in public repositories have them.
    for (const results of [
      'spf=pass (sender IP is 52.128.44.60)\n smtp.mailfrom=em-4103690.example.org; dkim=pass (signature was\n verified) header.d=example.org;dkim=pass (signature was verified)\n header.d=mailersys.example;dmarc=pass action=none\n header.from=example.org;compauth=pass reason=100',
      'spf=pass (sender IP is 123.126.97.3)\n smtp.mailfrom=example.org; tenant.onmicrosoft.com; dkim=pass (signature was\n verified) header.d=example.org;tenant.onmicrosoft.com; dmarc=pass\n action=none header.from=example.org;compauth=pass reason=100',
    ]) {
      const proof = await proofOf(
        `Received: from A by B\nAuthentication-Results: ${results}\nReceived-SPF: Pass\n${ANN}`,
        MICROSOFT,
      );
      expect(proof).toEqual({
        level: 'verified',
        by: 'the mail server',
        domain: 'example.org',
        dmarc: 'pass',
        dkim: 'pass',
      });
    }
    const inside =
      'dkim=none (message not signed)\n header.d=none;dmarc=none action=none header.from=example.org;';
    expect(await proofOf(field(inside, '') + ANN, MICROSOFT)).toMatchObject({ level: 'asserted' });
    const refused =
      'spf=fail (sender IP is 198.51.100.7) smtp.mailfrom=example.org; dkim=none (message not signed) header.d=none;dmarc=fail action=oreject header.from=example.org;compauth=fail reason=000';
    expect(await proofOf(field(refused, '') + ANN, MICROSOFT)).toMatchObject({ level: 'unverified' });
    // What came with the mail has another name then.
    expect(
      await proofOf(
        `Authentication-Results-Original: x; dmarc=pass header.from=example.org\n${ANN}`,
        MICROSOFT,
      ),
    ).toMatchObject({ level: 'asserted' });
    // Elsewhere a field without a name is nobody's.
    expect(await proofOf(field('dmarc=pass header.from=example.org', '') + ANN, GMAIL)).toMatchObject({
      level: 'asserted',
    });
  });

  test('Fastmail, in several fields', async () => {
    // github.com/lieser/dkim_verifier, test/data/original/Fastmail from Amazon.
    const raw = `Received: from mailmx.nyi.internal (localhost [127.0.0.1])
    by mx1.messagingengine.com (Authentication Milter) with ESMTP
X-ME-Authentication-Results: mx1.messagingengine.com;
    x-aligned-from=orgdomain_pass (Domain org match)
Authentication-Results: mx1.messagingengine.com;
    x-csa=none;
    x-me-sender=none;
    x-ptr=pass smtp.helo=a13-167.smtp-out.amazonses.com
      policy.ptr=a13-167.smtp-out.amazonses.com
Authentication-Results: mx1.messagingengine.com;
    bimi=pass header.d=amazon.com header.selector=default
      policy.authority=pass policy.mark-type="Registered Mark"
      policy.authority-uri=
      https://d3frv9g52qce38.cloudfront.net/amazondefault/amazon_web_services_inc.pem
Authentication-Results: mx1.messagingengine.com;
    arc=none (no signatures found)
Authentication-Results: mx1.messagingengine.com;
    dkim=pass (1024-bit rsa key sha256) header.d=amazon.com
      header.i=@amazon.com header.b=d5rQb267 header.a=rsa-sha256
      header.s=yg4mwqurec7fkhzutopddd3ytuaqrvuz;
    dkim=pass (1024-bit rsa key sha256) header.d=amazonses.com
      header.i=@amazonses.com header.b=P8GzRyuy header.a=rsa-sha256
      header.s=224i4yxa5dv7c2xz3womw6peuasteono;
    dmarc=pass policy.published-domain-policy=quarantine
      policy.applied-disposition=none policy.evaluated-disposition=none
      (p=quarantine,d=none,d.eval=none) policy.policy-from=p
      header.from=amazon.com;
    iprev=pass smtp.remote-ip=54.240.13.167
      (a13-167.smtp-out.amazonses.com);
    spf=pass
      smtp.mailfrom=
      20231023212308106721a263944afcb2dcb3ebed50p0na-C39VIEGRHNUE4S@bounces.amazon.com
      smtp.helo=a13-167.smtp-out.amazonses.com
Received: from a13-167.smtp-out.amazonses.com (a13-167.smtp-out.amazonses.com [54.240.13.167])
${mailOf('Amazon <account-update@amazon.com>')}`;
    expect(await proofOf(raw, FASTMAIL)).toEqual({
      level: 'verified',
      by: 'mx1.messagingengine.com',
      domain: 'amazon.com',
      dmarc: 'pass',
      dkim: 'pass',
    });
  });

  test('iCloud and Proton, a field for each method', async () => {
    const icloud = `Authentication-Results: bimi.icloud.com; bimi=skipped reason="insufficient dmarc"
Authentication-Results: dmarc.icloud.com; dmarc=pass header.from=fastmail.com
Authentication-Results: dkim-verifier.icloud.com;
\tdkim=pass (2048-bit key) header.d=fastmail.com header.i=@fastmail.com header.b=XEFkSwVW
Authentication-Results: dkim-verifier.icloud.com;
\tdkim=pass (2048-bit key) header.d=messagingengine.com header.i=@messagingengine.com header.b=tIugs7hL
Authentication-Results: spf.icloud.com; spf=pass (spf.icloud.com: domain of ann@fastmail.com designates 66.111.4.28 as permitted sender) smtp.mailfrom=ann@fastmail.com
${mailOf('<ann@fastmail.com>')}`;
    expect(await proofOf(icloud, ICLOUD)).toMatchObject({ level: 'verified', dmarc: 'pass', dkim: 'pass' });
    const proton = at('127.0.0.1', { account: 'me@proton.me', port: 1143 });
    const fields = (dmarc: string): string =>
      [
        'dkim=pass (Good 2048 bit rsa-sha256 signature) header.d=example.org header.a=rsa-sha256',
        `dmarc=${dmarc} (p=quarantine dis=none) header.from=example.org`,
        'spf=pass smtp.mailfrom=example.org',
        'arc=none smtp.remote-ip=198.51.100.7',
      ]
        .map((each) => field(each, 'mail.protonmail.ch; '))
        .join('');
    expect(await proofOf(fields('pass') + ANN, proton)).toMatchObject({
      level: 'verified',
      by: 'mail.protonmail.ch',
    });
    expect(await proofOf(fields('fail') + ANN, proton)).toMatchObject({ level: 'unverified' });
    // A name is known by the server that the mail is read from, not by the field itself.
    expect(at('127.0.0.1', { account: 'me@gmail.com' })).toEqual([]);
    expect(at('imap.example.org')).toEqual([]);
    expect(at('imap.gmail.com.evil.example')).toEqual([]);
    expect(at('imap.gmail.com', { authServers: ['MX.example.net'] })).toEqual(MX);
  });
});

test.each([
  ['B.2, nothing was done', 'example.org 1; none', 'asserted', 'none'],
  ['B.3, only the way was checked', 'example.com; spf=pass smtp.mailfrom=example.net', 'asserted', 'none'],
  [
    'B.5, the signature of the author',
    'example.com; dkim=pass (good signature) header.d=example.org',
    'verified',
    'pass',
  ],
  [
    'B.6, several signatures',
    'example.com; dkim=pass reason="good signature" header.i=@mail-router.example.net; dkim=fail reason="bad signature" header.i=@example.org',
    'unverified',
    'fail',
  ],
  [
    'B.7, many comments',
    "foo.example.net (foobar) 1 (baz); dkim (Because I like it) / 1 (One yay) = (wait for it) fail policy (A dot can go here) . (like that) expired (this surprised me) = (as I wasn't expecting it) 1362471462",
    'asserted',
    'none',
  ],
  ['2.2, a name in quotes', '"example.org"; dkim=pass header.d="example.org"', 'verified', 'pass'],
])('RFC 8601, %s', async (_what, value, level, dkim) => {
  const own = ['example.com', 'example.org', 'foo.example.net'];
  const proof = await proofOf(`Authentication-Results: ${value}\n${ANN}`, own);
  expect(proof).toMatchObject({
    level,
    dkim,
    dmarc: 'none',
    by: expect.stringMatching(/^(?:foo\.)?example\./),
  });
});

describe('a forger', () => {
  const RECEIVED = 'Received: from evil.example by mx.example.net; Sun, 29 Nov 2026 08:00:00 +0000\n';
  const FAIL = field(
    'spf=pass smtp.mailfrom=evil.example; dkim=pass header.d=evil.example; dmarc=fail header.from=example.org',
  );
  const NONE = field('spf=pass smtp.mailfrom=evil.example; dkim=none; dmarc=none header.from=example.org');

  test.each([
    ['writes a field below that of the server', FAIL + RECEIVED + PASS + ANN, 'unverified'],
    ['writes it right below', NONE + PASS + ANN, 'asserted'],
    [
      'writes it below the trace of a server that says nothing of DMARC',
      field('spf=pass') + RECEIVED + PASS + ANN,
      'asserted',
    ],
    [
      'writes it above, by way of a relay',
      field('dmarc=pass header.from=example.org', 'evil.example; ') + NONE + ANN,
      'asserted',
    ],
    [
      'writes it under another name',
      field('dmarc=pass header.from=example.org', 'mx.example.net.evil.example; ') + ANN,
      'asserted',
    ],
    [
      'writes it where the server writes none, in another form',
      `authentication-results : mx.example.com; dmarc=pass header.from=example.org\n${ANN}`,
      'asserted',
    ],
    ['has a pass for a domain of its own', field('dmarc=pass header.from=evil.example') + ANN, 'asserted'],
    [
      'has a pass for a domain that ends alike',
      field('dmarc=pass header.from=example.org.evil.example') + ANN,
      'asserted',
    ],
    [
      'signs with a domain below that of From',
      field('dkim=pass header.d=evil.example.org; dmarc=none') + ANN,
      'asserted',
    ],
    [
      'signs with a domain of its own',
      field('dkim=pass header.d=evil.example; dkim=fail header.d=example.org') + ANN,
      'unverified',
    ],
    [
      'signs in the name of somebody else',
      field('dkim=pass header.d=evil.example header.i=@example.org') + ANN,
      'asserted',
    ],
    [
      'gives its signature two domains',
      field('dkim=pass header.d=evil.example header.d=example.org') + ANN,
      'asserted',
    ],
    [
      'gives its signature two domains, its own last',
      field('dkim=pass header.d=example.org header.d=evil.example') + ANN,
      'asserted',
    ],
    [
      'names a property that ends alike',
      field('dkim=pass smtp.header.d=example.org x-header.d=example.org') + ANN,
      'asserted',
    ],
    [
      'ends a result within its quoted address',
      field('spf=pass smtp.mailfrom="a; dmarc=pass header.from=example.org ;"@evil.example') + ANN,
      'asserted',
    ],
    [
      'hides a result in a comment',
      field('spf=pass (dmarc=pass header.from=example.org; dkim=pass header.d=example.org)') + ANN,
      'asserted',
    ],
    [
      'hides a result in comments within comments',
      field('spf=pass (a (b) ; dmarc=pass header.from=example.org )') + ANN,
      'asserted',
    ],
    [
      'ends the comment with its address',
      field(
        'spf=pass (domain of "a) ; dmarc=pass header.from=example.org ("@evil.example designates 192.0.2.1)',
      ) + ANN,
      'unverified',
    ],
    [
      'ends a comment that never began',
      field('spf=pass ) ; dmarc=pass header.from=example.org') + ANN,
      'unverified',
    ],
    [
      'never ends a comment',
      field('spf=pass smtp.mailfrom=( ; dmarc=fail header.from=example.org') + ANN,
      'unverified',
    ],
    [
      'puts a result into its quoted address',
      field('spf=pass smtp.mailfrom="a; dmarc=pass header.from=example.org"@evil.example') + ANN,
      'asserted',
    ],
    [
      'has a second result beside the true one',
      field('spf=pass smtp.helo=a;dmarc=pass header.from=example.org; dmarc=fail header.from=example.org') +
        ANN,
      'unverified',
    ],
    [
      'has two results that contradict each other',
      field('dmarc=pass header.from=example.org; dmarc=none header.from=example.org') + ANN,
      'asserted',
    ],
    [
      'makes the field too long to be read',
      field(`spf=pass smtp.mailfrom=${'a'.repeat(20_000)}; dmarc=pass header.from=example.org`) + ANN,
      'unverified',
    ],
    [
      'adds a second From on top',
      PASS + mailOf('Eve <eve@example.org>').split('\n')[0] + '\n' + ANN,
      'unverified',
    ],
    ['adds a second Subject on top', `Subject: pay at once\n${PASS}${ANN}`, 'unverified'],
    ['writes From with a space before its colon, too', PASS + `From : ceo@example.org\n` + ANN, 'unverified'],
    ['names two authors', PASS + mailOf('ann@example.org, eve@evil.example'), 'unverified'],
    ['names two authors in a group', PASS + mailOf('us: ann@example.org, eve@evil.example;'), 'unverified'],
    [
      'writes the address as a name',
      field('dmarc=pass header.from=evil.example') + mailOf('"ann@example.org" <eve@evil.example>'),
      'verified',
    ],
    [
      'writes the address in an encoded word',
      field('dmarc=pass header.from=evil.example') +
        mailOf('=?utf-8?q?ann=40example.org_=3Cann=40example.org=3E?= <eve@evil.example>'),
      'verified',
    ],
    ['encodes the domain', PASS + mailOf('ann@%65xample.org'), 'unverified'],
    ['writes an address that is two', PASS + mailOf('<eve@evil.example,ann@example.org>'), 'unverified'],
    ['writes an address within an address', PASS + mailOf('<eve@evil.example@example.org>'), 'unverified'],
    ['writes an address with a comment', PASS + mailOf('<eve@evil.example (@example.org>'), 'unverified'],
    ['ends the domain with a zero', PASS + mailOf('<ann@example.org\0.evil.example>'), 'unverified'],
    ['writes the domain in an encoded word', PASS + mailOf('ann@=?utf-8?q?example.org?='), 'unverified'],
    [
      'gives the group the name',
      field('dmarc=pass header.from=evil.example') + mailOf('"Ann <ann@example.org>": eve@evil.example;'),
      'verified',
    ],
    [
      'has two addresses in brackets',
      field('dmarc=pass header.from=evil.example') + mailOf('<ann@example.org> <eve@evil.example>'),
      'verified',
    ],
    [
      'puts the address into a comment',
      field('dmarc=pass header.from=evil.example') + mailOf('eve@evil.example (ann@example.org)'),
      'verified',
    ],
    [
      'never ends a quoted name',
      PASS + 'From: "Ann\nSubject: " <ann@example.org>\nFrom: eve@evil.example\n\nhello\n',
      'unverified',
    ],
    [
      'ends the header early for one of two readers',
      `${field('dmarc=pass header.from=evil.example')}X-A: a\nFrom: ann@example.org\n\nFrom: eve@evil.example\n\nhello\n`,
      'asserted',
    ],
    ['writes no From', `${PASS}To: me@example.net\n\nhello\n`, 'unverified'],
    ['writes a From without an address', PASS + mailOf('Ann'), 'unverified'],
    [
      'breaks the line within another field',
      `${PASS}X-A: a\rFrom: ceo@example.org\n${mailOf('eve@evil.example')}`,
      'asserted',
    ],
  ])('%s', async (_what, raw, level) => {
    const message = await read(raw, MX);
    expect(message.proof.level).toBe(level);
    expect(message.answerTo ?? '').not.toContain('example.org');
    if (level === 'verified') expect(message.proof.domain).toBe('evil.example');
  });

  test('who writes no From has no result either, whatever the server says', async () => {
    const proof = await proofOf(`${field('dkim=pass; dmarc=pass')}To: me@example.net\n\nhello\n`, MX);
    expect(proof).toEqual({ level: 'unverified', by: 'mx.example.net', dmarc: 'none', dkim: 'none' });
  });

  test('is not believed where the mailbox has no server of its own', async () => {
    const proof = await proofOf(PASS + ANN, []);
    expect(proof).toEqual({ level: 'asserted', domain: 'example.org', dmarc: 'none', dkim: 'none' });
  });

  test('costs no more than the length of the header', async () => {
    for (const value of [
      'a'.repeat(15_000),
      'a.'.repeat(7_000),
      '('.repeat(15_000),
      ' '.repeat(15_000),
      'a = '.repeat(3_500),
    ]) {
      const startedAt = threadMs();
      await proofOf(Array.from({ length: 15 }, () => field(value)).join('') + ANN, MX);
      expect(threadMs() - startedAt).toBeLessThan(computingMs(5_000));
    }
  });
});

test('a Reply-To counts only in the domain that is proved', async () => {
  const replying = async (replyTo: string, proof = PASS) => {
    const { answerTo, replyTo: written } = await read(`${proof}Reply-To: ${replyTo}\n${ANN}`, MX);
    expect(written).toBe(replyTo);
    return answerTo;
  };
  expect(await replying('Team <team@example.org>')).toBe('team@example.org');
  expect(await replying('TEAM@EXAMPLE.ORG')).toBe('TEAM@EXAMPLE.ORG');
  for (const forged of [
    'eve@evil.example',
    'ann@example.org <eve@evil.example>',
    'eve@sub.example.org',
    'eve@example.org.evil.example',
  ])
    expect(await replying(forged)).toBe('ann@example.org');
  expect(await replying('team@example.org', '')).toBeUndefined();
});

test('domains are compared in one form', async () => {
  const results = field('dmarc=pass header.from=xn--bcher-kva.example');
  expect(await proofOf(results + mailOf('x@bücher.example'), MX)).toMatchObject({
    level: 'verified',
    domain: 'xn--bcher-kva.example',
  });
  expect(await proofOf(field('DMARC=Pass Header.From=EXAMPLE.org') + ANN, ['mx.example.net'])).toMatchObject({
    level: 'verified',
  });
});

describe('a mail through a mailing list', () => {
  const LIST = 'List-Id: <list.lists.example>\n';
  test('is unverified where the list changed what was signed, and that of the list where it is the author', async () => {
    const changed = field(
      'dkim=fail header.d=example.org; dkim=pass header.d=lists.example; dmarc=fail header.from=example.org',
    );
    expect(await proofOf(changed + LIST + ANN, MX)).toMatchObject({ level: 'unverified', dkim: 'fail' });
    const own = field('dkim=pass header.d=lists.example; dmarc=pass header.from=lists.example');
    const message = await read(
      `${own}${LIST}Reply-To: ann@example.org\n${mailOf('Ann via List <list@lists.example>')}`,
      MX,
    );
    expect(message.proof).toMatchObject({ level: 'verified', domain: 'lists.example' });
    expect(message).toMatchObject({
      answerTo: 'list@lists.example',
      autoSubmitted: expect.any(String),
    });
    const untouched = field('dkim=pass header.d=example.org; dmarc=pass header.from=example.org');
    expect(await proofOf(untouched + LIST + ANN, MX)).toMatchObject({
      level: 'verified',
      domain: 'example.org',
    });
  });
});

describe('where the server writes nothing, signatures are checked', () => {
  const asked: string[] = [];
  const dns =
    (texts: Readonly<Record<string, string>>): LookUpTexts =>
    async (name) => {
      asked.push(name);
      const text = texts[name];
      return text === undefined ? nobody(name) : [[text]];
    };

  test('as RFC 8463 has them', async () => {
    const lookUp = dns(Object.fromEntries([DINNER_KEY]));
    expect(await proofOf(DINNER, [], { lookUp })).toEqual({
      level: 'verified',
      by: 'mailauth',
      domain: 'football.example.com',
      dmarc: 'none',
      dkim: 'pass',
    });
    for (const [changed, level] of [
      [DINNER.replace('lost', 'won'), 'unverified'],
      [DINNER.replace('Is dinner', 'Was dinner'), 'unverified'],
      [`Subject: pay at once\n${DINNER}`, 'unverified'],
      [`From: ceo@football.example.com\n${DINNER}`, 'unverified'],
      [DINNER.replaceAll('football', 'soccer'), 'asserted'],
    ] as const)
      expect((await proofOf(changed, [], { lookUp })).level).toBe(level);
    // What is not whole, and what has no key, is not known.
    expect(await proofOf(DINNER, [], { lookUp, cut: true })).toMatchObject({
      level: 'asserted',
      dkim: 'none',
    });
    expect(await proofOf(DINNER, [])).toMatchObject({ level: 'asserted', by: 'mailauth', dkim: 'neutral' });
    const away: LookUpTexts = () => Promise.reject(Object.assign(new Error('away'), { code: 'ESERVFAIL' }));
    expect(await proofOf(DINNER, [], { lookUp: away })).toMatchObject({
      level: 'asserted',
      dkim: 'temperror',
    });
    // The verdict of the mailbox's own server comes first.
    const failed = field('dmarc=fail header.from=football.example.com');
    expect(await proofOf(failed + DINNER, MX, { lookUp })).toMatchObject({
      level: 'unverified',
      by: 'mx.example.net',
    });
  });

  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const weak = generateKeyPairSync('rsa', { modulusLength: 512 });
  const keyText = (key: typeof publicKey, more = ''): string =>
    `v=DKIM1; k=rsa; ${more}p=${key.export({ type: 'spki', format: 'der' }).toString('base64')}`;

  /** Signed by a library that is no part of what checks it. */
  async function signed(from: string, domainName: string, key = privateKey): Promise<Buffer> {
    const transport = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
    const dkim = {
      domainName,
      keySelector: 's',
      privateKey: key.export({ type: 'pkcs1', format: 'pem' }).toString(),
    };
    const { message } = await transport.sendMail({
      from,
      to: 'me@example.net',
      subject: 'hi',
      text: 'hello',
      dkim,
    });
    return message as Buffer;
  }
  const keys = (domain: string, text = keyText(publicKey)): LookUpTexts =>
    dns({ [`s._domainkey.${domain}`]: text });

  test.each([
    ['of the same domain', 'ann@example.org', 'example.org', 'verified'],
    ['of the domain above', 'ann@mail.example.org', 'example.org', 'verified'],
    ['of another domain', 'ann@example.org', 'evil.example', 'asserted'],
    ['of another owner below a public suffix', 'ann@example.co.uk', 'evil.co.uk', 'asserted'],
    ['of another customer of a host', 'ann@ann.github.io', 'eve.github.io', 'asserted'],
    ['of a domain that ends alike', 'ann@example.org', 'evilexample.org', 'asserted'],
  ])('by a key %s', async (_what, from, domain, level) => {
    expect((await proofOf(await signed(from, domain), [], { lookUp: keys(domain) })).level).toBe(level);
  });

  test('and count only with a key that does', async () => {
    const mail = await signed('ann@example.org', 'example.org');
    const levelWith = async (text: string) =>
      (await proofOf(mail, [], { lookUp: keys('example.org', text) })).dkim;
    expect(await levelWith(keyText(publicKey))).toBe('pass');
    expect(await levelWith(keyText(publicKey, 't=y; '))).toBe('policy');
    expect(await levelWith('v=DKIM1; p=')).toBe('neutral');
    expect(await levelWith('what is this')).not.toBe('pass');
    const short = await signed('ann@example.org', 'example.org', weak.privateKey);
    const proof = await proofOf(short, [], { lookUp: keys('example.org', keyText(weak.publicKey)) });
    expect(proof).toMatchObject({ level: 'asserted', dkim: 'policy' });
  });

  test('and the text behind a signed part is not', async () => {
    const mail = (await signed('ann@example.org', 'example.org')).toString('latin1');
    const lookUp = keys('example.org');
    const longer = Buffer.from(`${mail}and pay at once\r\n`, 'latin1');
    expect((await proofOf(longer, [], { lookUp })).level).toBe('unverified');
    const { dkimSign } = createRequire(import.meta.url)('mailauth/lib/dkim/sign.js') as {
      dkimSign: (mail: string, options: object) => Promise<{ signatures: string }>;
    };
    const signer = {
      signingDomain: 'example.org',
      selector: 's',
      privateKey: privateKey.export({ type: 'pkcs1', format: 'pem' }),
      maxBodyLength: 7,
    };
    // Whoever reads From in another way than the checker must not take its word for it.
    for (const from of ['<eve@evil.example> <ann@example.org>', '<ann@example.org> <eve@evil.example>']) {
      const two = mailOf(from).replaceAll('\n', '\r\n');
      for (const signingDomain of ['evil.example', 'example.org']) {
        const { signatures: of } = await dkimSign(two, {
          signatureData: [{ ...signer, signingDomain, maxBodyLength: undefined }],
        });
        const { level, domain } = await proofOf(`${of}${two}`, [], { lookUp: keys(signingDomain) });
        if (level === 'verified') expect(domain).toBe(signingDomain);
      }
    }
    // A signature may say itself that it covers only the beginning (l=).
    const plain = ANN.replaceAll('\n', '\r\n');
    const { signatures } = await dkimSign(plain, { signatureData: [signer] });
    expect(signatures).toContain('l=7');
    expect(await proofOf(`${signatures}${plain}`, [], { lookUp })).toMatchObject({ level: 'verified' });
    const partly = await proofOf(`${signatures}${plain}and pay at once\r\n`, [], { lookUp });
    expect(partly).toMatchObject({ level: 'asserted', dkim: 'policy' });
  });

  test('and nobody makes us ask for more than the few keys of the domain', async () => {
    asked.length = 0;
    const forged = (n: number, domain: string): string =>
      DINNER.split('From:')[0]?.replaceAll('football.example.com', domain).replace('s=brisbane', `s=s${n}`) ??
      '';
    const many = Array.from({ length: 12 }, (_, n) =>
      forged(n, n % 2 === 0 ? 'football.example.com' : `d${n}.evil.example`),
    );
    const proof = await proofOf(many.join('') + DINNER, [], { lookUp: dns({}) });
    expect(proof.level).toBe('asserted');
    expect(asked.length).toBeLessThanOrEqual(3);
    expect(asked.filter((name) => name.includes('evil'))).toEqual([]);
    asked.length = 0;
    expect(
      await proofOf(forged(1, 'football.example.com').repeat(17) + DINNER, [], {
        lookUp: dns(Object.fromEntries([DINNER_KEY])),
      }),
    ).not.toHaveProperty('by');
    expect(asked).toEqual([]);
    const never: LookUpTexts = () => new Promise(() => undefined);
    expect(await proofOf(DINNER, [], { lookUp: never })).toMatchObject({
      level: 'asserted',
      dkim: 'temperror',
    });
  });
});
