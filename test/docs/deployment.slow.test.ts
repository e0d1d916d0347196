/** The files for operators in docs/operations.md, each judged by the tool that reads it, where that is installed. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, type TestContext } from 'vitest';
import { parse } from 'yaml';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { parsePayload } from '../../src/payload/payload.ts';
import { codeBlocks, readPage } from '../support/docs.ts';

const BLOCKS = codeBlocks(readPage('docs/operations.md'));

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-deploy-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** The one block of this language that holds the text. */
function block(language: string, text: string): string {
  const found = BLOCKS.filter((each) => each.language === language && each.text.includes(text));
  expect(found).toHaveLength(1);
  return found[0]?.text ?? '';
}

function write(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

/** Runs a tool on a file, or skips the test with the reason where it is not installed. */
function judge(
  { skip }: TestContext,
  command: string,
  args: readonly string[],
): { status: number | null; text: string } {
  const { error, status, stdout, stderr } = spawnSync(command, args, {
    encoding: 'utf8',
    cwd: folder,
    timeout: 30_000,
  });
  if (error !== undefined && 'code' in error && error.code === 'ENOENT') skip(`${command} is not installed`);
  return { status, text: stdout + stderr };
}

test('systemd takes the unit', (context) => {
  const unit = write('sluice.service', block('ini', '[Service]'));
  expect(judge(context, 'systemd-analyze', ['verify', '--man=no', unit])).toEqual({ status: 0, text: '' });
});

test('the plist is a dictionary of keys with values', () => {
  const text = block('xml', '<plist');
  const bytes = Buffer.from(text.replace(/<!DOCTYPE[^>]*>\n/, ''));
  const read = parsePayload({ bytes, headers: {} }, 'xml', new TextDecoder('utf-8', { fatal: true }));
  expect(read).toMatchObject({ plist: { dict: { key: expect.arrayContaining(['Label', 'KeepAlive']) } } });
});

test('the plist is read by a parser of property lists', (context) => {
  const file = write('sluice.plist', block('xml', '<plist'));
  const script = 'import json,plistlib,sys; print(json.dumps(plistlib.load(open(sys.argv[1],"rb"))))';
  const { status, text } = judge(context, 'python3', ['-c', script, file]);
  expect(status).toBe(0);
  expect(JSON.parse(text)).toMatchObject({
    RunAtLoad: true,
    ExitTimeOut: 90,
    KeepAlive: { SuccessfulExit: false },
  });
});

test('docker-compose takes the compose file', (context) => {
  write('sluice.env', '');
  write('docker-compose.yml', block('yml', 'services:'));
  expect(judge(context, 'docker-compose', ['config', '-q'])).toMatchObject({ status: 0 });
});

test('the image starts the command of the package, with an address that others reach', () => {
  const lines = block('dockerfile', 'FROM').trimEnd().split('\n');
  const { engines, version, bin } = JSON.parse(readPage('package.json')) as {
    engines: { node: string };
    version: string;
    bin: object;
  };
  expect(lines[0]).toBe(`FROM node:${engines.node.replace('>=', '')}-slim`);
  expect(lines[1]).toContain(`sluice-${version}.tgz`);
  const command = JSON.parse(lines.at(-1)?.replace('CMD ', '') ?? '') as string[];
  expect(bin).toHaveProperty(command[0] ?? '');
  expect(command.slice(1)).toEqual(['serve', '--host', '0.0.0.0']);
});

test('nginx takes its part', (context) => {
  const [certificate, key] = [join(folder, 'a.pem'), join(folder, 'a.key')];
  const server = block('nginx', 'proxy_pass')
    .replace('/etc/ssl/hooks.example.org.pem', certificate)
    .replace('/etc/ssl/hooks.example.org.key', key);
  const file = write(
    'nginx.conf',
    `pid ${folder}/pid; error_log stderr; events {}\nhttp { access_log off; ${server} }\n`,
  );
  if (judge(context, 'nginx', ['-v']).status !== 0) context.skip('nginx does not run');
  const subject = ['-subj', '/CN=hooks.example.org', '-days', '1', '-nodes'];
  const made = judge(context, 'openssl', [
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-keyout',
    key,
    '-out',
    certificate,
    ...subject,
  ]);
  expect(made.status).toBe(0);
  const { status, text } = judge(context, 'nginx', ['-t', '-q', '-c', file, '-p', folder]);
  expect(text.replaceAll(/.*\[warn\].*\n/g, '')).toBe('');
  expect(status).toBe(0);
});

test('Caddy takes its file, and finds nothing to format', (context) => {
  const file = write('Caddyfile', block('caddy', 'reverse_proxy'));
  const { status, text } = judge(context, 'caddy', ['validate', '--adapter', 'caddyfile', '--config', file]);
  expect(status, text).toBe(0);
  expect(text).not.toContain('not formatted');
});

interface Rules {
  readonly groups: readonly {
    readonly rules: readonly { readonly alert: string; readonly expr: string }[];
  }[];
}

test('every metric of an alert rule is one that the service serves', async () => {
  const { groups } = parse(block('yml', 'alert:')) as Rules;
  const metrics = createMetrics({ backlog: () => Promise.reject(new Error('not asked')) });
  const names = new Set(
    [...(await metrics.render()).text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name),
  );
  const used = groups.flatMap(({ rules }) => rules.flatMap(({ expr }) => expr.match(/sluice_\w+/g) ?? []));
  expect(used.length).toBeGreaterThan(4);
  expect(used.filter((name) => !names.has(name))).toEqual([]);
});

test('promtool takes the alert rules', (context) => {
  const file = write('rules.yml', block('yml', 'alert:'));
  expect(judge(context, 'promtool', ['check', 'rules', file])).toMatchObject({ status: 0 });
});

test('an older Node is told what to do, when it installs the package and when it runs the command', () => {
  const script = `const { adviceFor } = require('./node-version.cjs');
    console.log(JSON.stringify([adviceFor('20.20.2'), adviceFor('24.0.0'), adviceFor('25.1.0')]))`;
  const [old, ...newer] = JSON.parse(
    execFileSync(process.execPath, ['-e', script], { encoding: 'utf8' }),
  ) as (string | null)[];
  expect(old).toMatch(
    /^sluice needs Node 24 or newer, and this is Node 20\.20\.2\.\n[^]*npm install node@24/,
  );
  expect(newer).toEqual([null, null]);
  const { files, scripts, engines } = JSON.parse(readPage('package.json')) as {
    files: readonly string[];
    scripts: { readonly preinstall: string };
    engines: { readonly node: string };
  };
  expect(files).toContain('node-version.cjs');
  expect(scripts.preinstall).toBe('node node-version.cjs');
  expect(engines.node).toBe('>=24');
});
