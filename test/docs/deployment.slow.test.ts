/** The files for operators in docs/operations.md and docs/postgresql.md, each judged by the tool that reads it, where that is installed. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test, type TestContext } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '../../src/config/config.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { parsePayload } from '../../src/payload/payload.ts';
import { codeBlocks, readPage } from '../support/docs.ts';
import { startPlatform } from '../support/platform-server.ts';

const OPERATIONS = 'docs/operations.md';
/** Several services. */
const POSTGRESQL = 'docs/postgresql.md';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-deploy-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** The one block of a page in this language that holds the text. */
function block(language: string, text: string, page = OPERATIONS): string {
  const found = codeBlocks(readPage(page)).filter(
    (each) => each.language === language && each.text.includes(text),
  );
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

test.for([OPERATIONS, POSTGRESQL])('docker-compose takes the compose file of %s', (page, context) => {
  write('sluice.env', '');
  write('database-password', '');
  write('docker-compose.yml', block('yml', 'services:', page));
  expect(judge(context, 'docker-compose', ['config', '-q'])).toMatchObject({ status: 0 });
});

interface ComposeService {
  readonly stop_grace_period?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly volumes: readonly string[];
  readonly deploy?: { readonly replicas: number };
}

interface ComposeFile {
  readonly services: Readonly<Record<'database' | 'sluice' | 'balancer', ComposeService>>;
  readonly networks: { readonly default: { readonly ipam: { readonly config: readonly object[] } } };
  readonly volumes: object;
}

test('the services of the compose file fit the configuration, the image and the balancer beside it', async () => {
  const { services, networks, volumes } = parse(block('yml', 'services:', POSTGRESQL)) as ComposeFile;
  const { database, sluice, balancer } = services;
  mkdirSync(join(folder, 'mappings'));
  const { config } = await loadConfig(write('sluice.yaml', block('yaml', 'trustedProxies', POSTGRESQL)), {
    env: {
      SLUICE_HOOK_TOKEN: 'hook-token-of-the-example',
      DATABASE_URL: /DATABASE_URL=(\S+)`/.exec(readPage(POSTGRESQL))?.[1],
    },
    needSecrets: true,
  });
  const { server, storage } = config!.settings;
  const address = new URL(storage.url);
  expect(services).toHaveProperty(address.hostname);
  expect([address.username, address.pathname.slice(1)]).toEqual([
    database.environment?.['POSTGRES_USER'],
    database.environment?.['POSTGRES_DB'],
  ]);
  expect(sluice.deploy?.replicas).toBe(2);
  expect(Number.parseInt(sluice.stop_grace_period ?? '', 10)).toBeGreaterThan(server.stopGraceSeconds);
  expect(sluice.depends_on).toEqual({ database: { condition: 'service_healthy' } });
  expect(sluice.healthcheck?.test.join(' ')).toContain(`http://127.0.0.1:${server.port}/readyz`);
  expect(server.trustedProxies).toEqual([
    (networks.default.ipam.config[0] as { readonly subnet: string }).subnet,
  ]);
  const caddyfile = block('caddy', 'reverse_proxy', POSTGRESQL);
  expect(caddyfile).toContain(`reverse_proxy sluice:${server.port}\n`);
  expect(caddyfile).toContain(`${new URL(server.publicUrl ?? '').hostname} {`);
  const named = [database, sluice, balancer].flatMap((service) => service.volumes);
  const mounted = named.filter((volume) => !volume.startsWith('./')).map((volume) => volume.split(':')[0]);
  expect(new Set(mounted)).toEqual(new Set(Object.keys(volumes)));
  expect(sluice.volumes).toContain(`state:${/XDG_STATE_HOME=(\S+)/.exec(block('dockerfile', 'FROM'))?.[1]}`);
});

test('the health check of the compose files ends with 0 for a 200, and with 1 for anything else', async () => {
  for (const page of [OPERATIONS, POSTGRESQL]) {
    const { services } = parse(block('yml', 'services:', page)) as ComposeFile;
    const [, ...command] = services.sluice.healthcheck?.test ?? [];
    for (const [status, expected] of [
      [200, 0],
      [503, 1],
    ] as const) {
      const probed = await startPlatform(() => ({ status }));
      onTestFinished(() => probed.stop());
      const args = command.slice(1).map((arg) => arg.replace('http://127.0.0.1:8787', probed.url));
      const child = spawn(process.execPath, args);
      expect(await once(child, 'exit')).toEqual([expected, null]);
    }
  }
});

test('the image starts the command of the package, with an address that others reach', () => {
  const lines = block('dockerfile', 'FROM').trimEnd().split('\n');
  const { engines, version, bin, peerDependencies } = JSON.parse(readPage('package.json')) as {
    engines: { node: string };
    version: string;
    bin: object;
    peerDependencies: { pg: string };
  };
  expect(lines[0]).toBe(`FROM node:${engines.node.replace('>=', '')}-slim`);
  expect(lines[1]).toContain(`sluice-${version}.tgz`);
  const command = JSON.parse(lines.at(-1)?.replace('CMD ', '') ?? '') as string[];
  expect(bin).toHaveProperty(command[0] ?? '');
  expect(command.slice(1)).toEqual(['serve', '--host', '0.0.0.0']);
  const withClient = `sluice-${version}.tgz pg@${/\d+/.exec(peerDependencies.pg)?.[0]}\``;
  expect(readPage(POSTGRESQL)).toContain(withClient);
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

test.for([OPERATIONS, POSTGRESQL])(
  'Caddy takes the file of %s, and finds nothing to format',
  (page, context) => {
    const file = write('Caddyfile', block('caddy', 'reverse_proxy', page));
    const { status, text } = judge(context, 'caddy', [
      'validate',
      '--adapter',
      'caddyfile',
      '--config',
      file,
    ]);
    expect(status, text).toBe(0);
    expect(text).not.toContain('not formatted');
  },
);

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

/** What the rules say of figures as the service counts them: a minute a value. */
const ALERT_CASES = `rule_files: [rules.yml]
evaluation_interval: 1m
tests:
  - interval: 1m
    input_series:
      - {series: 'sluice_runs_total{runner="new",result="error"}', values: '_x20 1x100'}
      - {series: 'sluice_runs_total{runner="new",result="ok"}', values: '1+1x120'}
      - {series: 'sluice_runs_total{runner="old",result="timeout"}', values: '3x30 4x90'}
      - {series: 'sluice_work{kind="run",state="dead"}', values: '3x60 2x30 3x100'}
    alert_rule_test:
      - {eval_time: 19m, alertname: SluiceRunsFail, exp_alerts: []}
      - {eval_time: 23m, alertname: SluiceRunsFail, exp_alerts: [{exp_labels: {runner: new}}]}
      - eval_time: 33m
        alertname: SluiceRunsFail
        exp_alerts: [{exp_labels: {runner: new}}, {exp_labels: {runner: old}}]
      - {eval_time: 60m, alertname: SluiceRunsFail, exp_alerts: []}
      - {eval_time: 80m, alertname: SluiceWorkGivenUp, exp_alerts: []}
      - {eval_time: 125m, alertname: SluiceWorkGivenUp, exp_alerts: [{exp_labels: {kind: run, state: dead}}]}
`;

test('the first failed run is told, and work that was pruned is not', (context) => {
  write('rules.yml', block('yml', 'alert:'));
  const { status, text } = judge(context, 'promtool', ['test', 'rules', write('cases.yml', ALERT_CASES)]);
  expect(status, text).toBe(0);
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
