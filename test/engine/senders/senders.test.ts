/** The files of senders: each says what is so, and a file of a user is checked as ours are. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { formatFindings } from '../../../src/base/document/facts.ts';
import {
  fileOf,
  findSender,
  interfaceAddress,
  knownSenders,
  otherKey,
  readApi,
  readSenders,
  shippedSenders,
} from '../../../src/engine/senders/senders.ts';
import { PROVIDER_NAMES } from '../../../src/engine/verify/facts.ts';

const SENDERS = shippedSenders();

describe('the senders of this package', () => {
  test('there is one for each scheme that is named after a provider', () => {
    expect(PROVIDER_NAMES.filter((name) => findSender(name)?.verify?.scheme !== name)).toEqual([]);
  });

  test('no two are called the same', () => {
    const names = SENDERS.flatMap(({ name, names: more = [] }) => [name, ...more]);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  test.each(SENDERS.map((sender) => [sender.name, sender] as const))('%s', (name, sender) => {
    const { examples = [], mapping, setup } = sender;
    const files = [mapping, ...examples.map((each) => ('file' in each ? each.file : undefined))];
    expect(files.filter((file) => file !== undefined && !existsSync(fileOf(sender, file)))).toEqual([]);
    // What is added without a question has all that is needed for it.
    if (mapping !== undefined) {
      expect(setup?.join(' ')).toContain('{url}');
      expect(examples.length).toBeGreaterThan(0);
      expect(readFileSync(fileOf(sender, mapping), 'utf8')).toContain(`path: ${name}`);
    }
  });

  test('an id of an answer stays one part of the address, also where it is dots', () => {
    for (const { title, interface: face, register } of SENDERS) {
      const path = register?.remove.path;
      if (face === undefined || path?.includes('{id}') !== true) continue;
      const asked = {
        title,
        interface: face,
        api: readApi(face.api),
        target: 'a/b',
        place: '/p',
        token: 't',
      };
      const shownFor = (id: string): string => interfaceAddress(path, asked, { id }).href;
      expect(shownFor('../7')).toContain('..%2F7');
      for (const id of ['.', '..']) expect(() => shownFor(id), `${title} ${id}`).toThrow('nothing was sent');
    }
  });

  test('a credential is known by its form', () => {
    expect(otherKey(`ghp_${'a'.repeat(36)}`)).toBe('an access token of GitHub');
    expect(otherKey('whsec_0123456789abcdef')).toBeUndefined();
  });
});

describe('a file of a user', () => {
  const read = async (text: string, name = 'acme.yaml'): Promise<readonly [unknown, string]> => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-senders-'));
    mkdirSync(join(folder, 'senders'));
    writeFileSync(join(folder, 'senders', name), text);
    const { senders, findings } = await readSenders(join(folder, 'sluice.yaml'), {
      mappingsDir: join(folder, 'mappings'),
      senders: [],
    });
    return [senders, formatFindings(findings, { format: 'pretty', color: false })];
  };

  test('is read, with its own name and folder', async () => {
    const [senders, found] = await read(
      'title: Acme\nverify: {scheme: hmac, header: X-Acme-Signature}\nid: event.id\n',
    );
    expect(found).toBe('');
    expect(senders).toMatchObject([
      { name: 'acme', title: 'Acme', verify: { scheme: 'hmac', header: 'x-acme-signature' } },
    ]);
  });

  test.each([
    ['a secret in it', 'title: A\nverify: {scheme: github, secrets: ["x"]}', /UNKNOWN_KEY.*secrets/s],
    ['no title', 'verify: {scheme: token}', /MISSING_KEY.*title/s],
    ['a field with braces', 'title: A\nid: "{{id}}"', /INVALID_VALUE.*a field such as event\.id/s],
    ['a pattern that is none', 'title: A\notherKeys: [{form: "(", what: x}]', /a regular expression/],
    ['a mapping that is not there', 'title: A\nmapping: acme/no.yaml', /there is no file acme\/no\.yaml/],
    ['text that is no YAML', 'title: "A', /YAML_SYNTAX/],
  ])('says what is wrong with %s, and where', async (_what, text, expected) => {
    const [, found] = await read(text);
    expect(found).toMatch(expected);
    expect(found).toContain('acme.yaml:');
  });
});

test('no folder is no sender', async () => {
  const places = { mappingsDir: '/nowhere/mappings', senders: [] };
  expect(await readSenders('/nowhere/sluice.yaml', places)).toEqual({
    senders: [],
    packaged: [],
    findings: [],
    packageFindings: [],
    files: [],
  });
});

test('senders of a package are read where node would look for it, after those of the user, and nothing of it runs', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-senders-'));
  const inPackage = join(folder, 'node_modules/@acme/senders');
  for (const made of ['hooks/senders', 'node_modules/@acme/senders/senders'])
    mkdirSync(join(folder, made), { recursive: true });
  writeFileSync(join(inPackage, 'index.js'), 'throw new Error("it ran")');
  writeFileSync(join(inPackage, 'package.json'), '{"name": "@acme/senders", "main": "index.js"}');
  writeFileSync(join(inPackage, 'senders/acme.yaml'), 'title: Acme of the package\n');
  writeFileSync(join(inPackage, 'senders/other.yaml'), 'title: Other\nmapping: ../../../../secret\n');
  writeFileSync(join(folder, 'secret'), 'x');
  writeFileSync(join(folder, 'hooks/senders/acme.yaml'), 'title: Acme\n');
  const places = { mappingsDir: join(folder, 'hooks/mappings'), senders: ['@acme/senders', 'not-there'] };
  writeFileSync(join(inPackage, 'senders/github.yaml'), 'title: GitHub of the package\n');
  writeFileSync(join(inPackage, 'senders/more.yaml'), 'title: More\n');
  const { senders, packaged, files, packageFindings } = await readSenders(
    join(folder, 'hooks/sluice.yaml'),
    places,
  );
  expect(senders.map(({ title }) => title)).toEqual(['Acme']);
  expect(packaged.map(({ title }) => title)).toEqual([
    'Acme of the package',
    'GitHub of the package',
    'More',
  ]);
  const known = (await knownSenders(join(folder, 'hooks/sluice.yaml'), places)).map(({ title }) => title);
  expect(known.filter((title) => /Acme|GitHub|More/.test(title))).toEqual(['Acme', 'GitHub', 'More']);
  expect(files.map(({ text }) => text)).toEqual(['title: Acme\n']);
  const said = formatFindings(packageFindings, { format: 'pretty', color: false });
  expect(said).toContain('there is no package not-there with a folder senders in node_modules');
  expect(said).toContain('../../../../secret is outside of the package');
});
