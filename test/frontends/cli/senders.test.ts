/** The commands around senders' proofs: verify, send --sign, doctor, and what check lists. */
import { createHmac, generateKeyPairSync } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, afterAll, describe, expect, test } from 'vitest';
import { startService, type Service } from '../../../src/service/startup/startup.ts';
import { createLogger } from '../../../src/base/telemetry/telemetry.ts';
import { checkNode, SECURITY_RELEASES } from '../../../src/frontends/cli/operating/doctor-machine.ts';
import { cli, type CliRun } from '../../support/cli-terminal.ts';
import { listIn } from '../../support/output-check.ts';
import { serviceAdvice } from '../../../src/frontends/cli/lazy-advice.ts';

const KEYS = generateKeyPairSync('ed25519');
const { x: publicKey = '' } = KEYS.publicKey.export({ format: 'jwk' });
const ENV = {
  TOKEN: 'hook-token-of-the-test-0123456789',
  NEW: 'new-secret',
  OLD: 'old-secret',
  SMS: 'sms-secret',
  DISCORD: Buffer.from(publicKey, 'base64url').toString('hex'),
};
const MAPPINGS = `
- id: github
  match: {path: github}
  verify: {scheme: github, secrets: ["\${NEW}", "\${OLD}"]}
  messageTemplate: "{{ref}}"
- id: sms
  match: {path: sms}
  verify: {scheme: twilio, secrets: ["\${SMS}"]}
  bodyFormat: form
  messageTemplate: "{{Body}}"
- id: discord
  match: {path: discord}
  verify: {scheme: discord, secrets: ["\${DISCORD}"]}
  requireToken: true
  messageTemplate: "{{type}}"
- id: note
  match: {path: note}
  verify: {scheme: hmac, algorithm: sha1, header: X-Sum, encoding: base64, secrets: ["\${NEW}"]}
  bodyFormat: xml
  messageTemplate: "{{json payload}}"
- id: plain
  match: {path: plain}
  verify: {scheme: hmac, algorithm: sha1, header: X-Sum, encoding: base64, secrets: ["\${NEW}"]}
  bodyFormat: text
  messageTemplate: "{{payload}}"
- id: parts
  match: {path: parts}
  verify: {scheme: hmac, algorithm: sha1, header: X-Sum, encoding: base64, secrets: ["\${NEW}"]}
  bodyFormat: form
  messageTemplate: "{{title}} {{thumb.filename}} {{thumb.size}}"
- id: open-parts
  match: {path: open-parts}
  bodyFormat: form
  messageTemplate: "{{list.[0]}} {{thumb.filename}} {{thumb.size}}"
- id: any
  messageTemplate: "{{json payload}}"
`;

describe('commands of senders', () => {
  let folder: string;
  let service: Service;

  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
  const run = (...args: string[]): Promise<CliRun> =>
    cli([...args, '--config', 'sluice.json'], { cwd: folder, env: ENV });

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-commands-'));
    mkdirSync(join(folder, 'mappings'));
    write('mappings/all.yaml', MAPPINGS);
    write('token', ENV.TOKEN);
    chmodSync(join(folder, 'token'), 0o600);
    const config = {
      hooks: { enabled: true, token: { file: 'token' }, mappingsDir: 'mappings' },
      server: { port: 0, publicUrl: 'https://hooks.example.com' },
      storage: { url: `sqlite:${join(folder, 'sluice.db')}` },
      gateway: { runner: 'echo' },
    };
    write('sluice.json', JSON.stringify(config));
    const log = createLogger({ destination: { write: () => true } });
    service = await startService({
      ...serviceAdvice,
      configFile: join(folder, 'sluice.json'),
      env: ENV,
      log,
    });
    write('github.request.yaml', 'path: github\nbody: {ref: main}\n');
    write('sms.request.yaml', 'path: sms\nbody: {From: "+1", Body: "hi there"}\n');
    write('long-number.request.yaml', 'path: sms\nbody: {From: 820982911946154508, Body: x}\n');
    write('discord.request.yaml', 'path: discord\nbody: {type: 2}\n');
    write('any.request.yaml', 'path: other\nbody: {a: 1}\n');
    write('key.pem', KEYS.privateKey.export({ format: 'pem', type: 'pkcs8' }) as string);
  });

  afterAll(async () => {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test.each([
    ['github.request.yaml', '--sign', 0, '202'],
    ['sms.request.yaml', '--sign', 0, '202'],
    ['long-number.request.yaml', '--sign', 0, '202'],
    ['any.request.yaml', '--sign', 0, '202'],
    ['discord.request.yaml', '--sign', 1, 'give a private key of your own with --sign-key'],
    ['discord.request.yaml', '--sign --sign-key key.pem', 0, '202'],
    ['github.request.yaml', '', 1, '401'],
  ])('send %s %s', async (file, flags, exitCode, words) => {
    const more = flags === '' ? [] : flags.split(' ');
    const result = await run('send', file, '--against', service.url, ...more);
    expect(result.out + result.err).toContain(words);
    expect(result.exitCode).toBe(exitCode);
  });

  test('verify judges the bytes of bodyFile, and says why a proof fails', async () => {
    const signature = createHmac('sha256', ENV.OLD).update('{ "ref": "main" }').digest('hex');
    write('body.json', '{ "ref": "main" }');
    const head = `path: github\nheaders: {x-hub-signature-256: "sha256=${signature}"}\n`;
    write('right.request.yaml', `${head}bodyFile: body.json\n`);
    write('changed.request.yaml', `${head}body: {ref: main}\n`);
    const right = await run('verify', 'right.request.yaml');
    expect([right.exitCode, right.out.trim()]).toEqual([
      0,
      '/github  github  proved with a retired secret (number 2 of the list)',
    ]);
    const changed = await run('verify', 'changed.request.yaml', '--json');
    expect(changed.exitCode).toBe(1);
    expect(listIn(changed.out)).toMatchObject([{ proved: false, diagnosis: { code: 'wrong-secret' } }]);
    const none = await run('verify', 'any.request.yaml');
    expect(none.err).toContain('no mapping of the path "other" has verify');
  });

  test('verify and send take a form, XML, text and compressed bytes as they are in bodyFile', async () => {
    const url = 'https://hooks.example.com/hooks/sms';
    const signed = (key: string, data: string | Buffer): string =>
      createHmac('sha1', key).update(data).digest('base64');
    const delivery = (path: string, headers: Record<string, string>, bodyFile: string): string =>
      JSON.stringify({ path, headers, bodyFile });
    write('sms.form', 'From=%2B1&Body=hi+there%21');
    const twilio = { 'x-twilio-signature': signed(ENV.SMS, `${url}Bodyhi there!From+1`) };
    write('sms-raw.request.json', delivery('sms', twilio, 'sms.form'));
    write('note.xml', '<note  to="x">hi</note>');
    const xml = { 'x-sum': signed(ENV.NEW, '<note  to="x">hi</note>') };
    write('note.request.json', delivery('note', xml, 'note.xml'));
    write('plain.txt', 'line\r\n');
    write('plain.request.json', delivery('plain', { 'x-sum': signed(ENV.NEW, 'line\r\n') }, 'plain.txt'));
    const packed = gzipSync('{"ref": "main"}');
    writeFileSync(join(folder, 'packed.json'), packed);
    const github = {
      'x-hub-signature-256': `sha256=${createHmac('sha256', ENV.NEW).update(packed).digest('hex')}`,
    };
    write(
      'packed.request.json',
      delivery('github', { ...github, 'content-encoding': 'gzip' }, 'packed.json'),
    );
    // Signed before it was packed.
    const before = createHmac('sha256', ENV.NEW).update('{"ref": "main"}').digest('hex');
    const earlier = { 'x-hub-signature-256': `sha256=${before}`, 'content-encoding': 'gzip' };
    write('earlier.request.json', delivery('github', earlier, 'packed.json'));
    for (const name of ['sms-raw', 'note', 'plain', 'packed', 'earlier']) {
      const judged = await run('verify', `${name}.request.json`);
      expect(judged.out + judged.err, name).toContain('proved');
      const sent = await run('send', `${name}.request.json`, '--against', service.url, '--sign');
      expect(sent.out + sent.err, name).toContain('202');
    }
    writeFileSync(join(folder, 'cut.form'), Buffer.from([0x61, 0x3d, 0xff]));
    write('cut.request.json', delivery('sms', twilio, 'cut.form'));
    expect((await run('verify', 'cut.request.json')).err).toContain('bodyFile cut.form is not a form');
    write('long.request.json', delivery('sms', twilio, 'none.form'));
    expect((await run('verify', 'long.request.json')).err).toContain('there is no file');
  });

  test('a form in parts is signed, sent, explained and judged, as bytes and as fields', async () => {
    const headers = { 'content-type': 'multipart/form-data; boundary=b' };
    const lines = ['--b', 'Content-Disposition: form-data; name="title"', '', 'Alien', '--b', ''];
    const file = 'Content-Disposition: form-data; name="thumb"; filename="t.jpg"\r\n\r\n\xff\xd8\r\n--b--';
    const raw = Buffer.from(lines.join('\r\n') + file, 'latin1');
    writeFileSync(join(folder, 'parts.form'), raw);
    const sum = createHmac('sha1', ENV.NEW).update(raw).digest('base64');
    write(
      'raw.request.json',
      JSON.stringify({ path: 'parts', headers: { ...headers, 'x-sum': sum }, bodyFile: 'parts.form' }),
    );
    const thumb = { filename: 't.jpg', contentType: 'image/jpeg', size: 2 };
    write('texts.request.json', JSON.stringify({ path: 'parts', headers, body: { title: 'Alien', thumb } }));
    write(
      'nested.request.json',
      JSON.stringify({ path: 'open-parts', headers, body: { list: ['Alien'], thumb } }),
    );
    expect((await run('verify', 'raw.request.json')).out).toContain('proved');
    for (const name of ['raw', 'texts', 'nested']) {
      const sent = await run('send', `${name}.request.json`, '--against', service.url, '--sign');
      expect(sent.out + sent.err, name).toContain('202');
      expect((await run('explain', `${name}.request.json`)).out, name).toContain('Alien t.jpg 2');
    }
  });

  test('check lists the paths, what is not set, and the mappings that are left out', async () => {
    const { out } = await cli(['check', '--config', 'sluice.json'], {
      cwd: folder,
      env: { ...ENV, OLD: '' },
    });
    expect(out).toContain('/hooks/github  github, 1 retired, not set here: OLD');
    expect(out).toContain('/hooks/discord  discord, and the hook token as well (requireToken)');
    expect(out).toContain('mappings without a path, which do not take these requests: any');
  });

  test('doctor knows the security releases of Node, by their date, as the documentation has them', () => {
    const { at, versions } = SECURITY_RELEASES;
    const deploy = readFileSync('docs/deploy.md', 'utf8').replaceAll(/\s+/g, ' ');
    expect(deploy).toContain(`${versions.join(' or ')} (as of ${at})`);
    expect(checkNode('24.21.0')).toMatchObject({ ok: false, text: expect.stringContaining('24.22.1') });
    for (const version of ['24.22.1', '24.100.0', '26.12.1', '26.13.0'])
      expect(checkNode(version), version).toMatchObject({ ok: true });
    expect(checkNode('26.9.9')).toMatchObject({ ok: false, text: expect.stringContaining(at) });
    expect(checkNode('28.0.0')).toMatchObject({ ok: true, text: expect.stringContaining('not known') });
  });

  test('doctor looks at files, disk, clock and secrets', async () => {
    const open = await run('doctor', '--json');
    const findings = listIn<{ area: string; ok: boolean }>(open.out);
    const problems = new Set(findings.filter(({ ok }) => !ok).map(({ area }) => area));
    // The Node of the tests may be older than the newest security release.
    problems.delete('node');
    expect([...problems]).toEqual(['configuration', 'senders', 'runner']);
    expect(open.out).toContain('/github (github), secret 1 has fewer than 16 characters');
    expect(open.out).toContain('is the same as that of /github: who knows one of them can use both');
    chmodSync(join(folder, 'token'), 0o644);
    const { out, exitCode } = await run('doctor');
    expect(out).toContain('it holds a secret and others can read it; run chmod 600 on it');
    expect(exitCode).toBe(1);
    for (const secret of Object.values(ENV)) expect(out).not.toContain(secret);
  });
});
