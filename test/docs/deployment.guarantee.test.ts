/** The files for operators in `deploy/` and on the pages that show them, each judged by the tool that reads it, where that is installed. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test, type TestContext } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '../../src/engine/config/config.ts';
import { createMetrics } from '../../src/base/telemetry/metrics.ts';
import { parsePayload } from '../../src/base/payload/payload.ts';
import { codeBlocks, readPage } from '../support/docs.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const ROOT = join(import.meta.dirname, '../..');
const PAGES = ['docs/deploy.md', 'docs/operations.md'];
/** The files of one service, and those of several. */
const [ONE, SEVERAL] = ['compose.yaml', 'compose.postgres.yaml'] as const;

let folder: string;
beforeEach(() => {
  folder = temporaryFolder();
});

/** The one block of the pages in this language that holds the text. */
function block(language: string, text: string): string {
  const found = PAGES.flatMap((page) => codeBlocks(readPage(page))).filter(
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
    timeout: 60_000,
  });
  if (error !== undefined && 'code' in error && error.code === 'ENOENT') skip(`${command} is not installed`);
  return { status, text: stdout + stderr };
}

const deployed = (name: string): string => readPage(`deploy/${name}`);

test('deploy/ has no file that no page links, and a package carries it', () => {
  const linked = PAGES.flatMap((page) => [...readPage(page).matchAll(/\(\.\.\/deploy\/([\w.-]+)\)/g)]);
  expect(readdirSync(join(ROOT, 'deploy')).toSorted()).toEqual(
    [...new Set(linked.map(([, name = '']) => name))].toSorted(),
  );
  expect((JSON.parse(readPage('package.json')) as { files: readonly string[] }).files).toContain('deploy');
});

test('systemd takes the unit', (context) => {
  const unit = write('sluice.service', deployed('sluice.service'));
  expect(judge(context, 'systemd-analyze', ['verify', '--man=no', unit])).toEqual({ status: 0, text: '' });
});

test('the plist is a dictionary of keys with values', () => {
  const text = deployed('org.example.sluice.plist');
  const bytes = Buffer.from(text.replace(/<!DOCTYPE[^>]*>\n/, ''));
  const read = parsePayload({ bytes, headers: {} }, 'xml', new TextDecoder('utf-8', { fatal: true }));
  expect(read).toMatchObject({ plist: { dict: { key: expect.arrayContaining(['Label', 'KeepAlive']) } } });
});

test('the plist is read by a parser of property lists', (context) => {
  const file = write('sluice.plist', deployed('org.example.sluice.plist'));
  const script = 'import json,plistlib,sys; print(json.dumps(plistlib.load(open(sys.argv[1],"rb"))))';
  const { status, text } = judge(context, 'python3', ['-c', script, file]);
  expect(status).toBe(0);
  expect(JSON.parse(text)).toMatchObject({
    RunAtLoad: true,
    ExitTimeOut: 90,
    KeepAlive: { SuccessfulExit: false },
  });
});

test.for([ONE, SEVERAL])('docker-compose takes %s', (name, context) => {
  write('sluice.env', '');
  write('database-password', '');
  write('docker-compose.yml', deployed(name));
  expect(judge(context, 'docker-compose', ['config', '-q'])).toMatchObject({ status: 0 });
});

interface ComposeService {
  readonly image?: string;
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
  const { services, networks, volumes } = parse(deployed(SEVERAL)) as ComposeFile;
  const { database, sluice, balancer } = services;
  mkdirSync(join(folder, 'mappings'));
  const { config } = await loadConfig(write('sluice.yaml', block('yaml', 'trustedProxies')), {
    env: {
      SLUICE_HOOK_TOKEN: 'hook-token-of-the-example',
      DATABASE_URL: /DATABASE_URL=(\S+)`/.exec(readPage('docs/deploy.md'))?.[1],
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
  expect(server.trustedProxies).toEqual([
    (networks.default.ipam.config[0] as { readonly subnet: string }).subnet,
  ]);
  expect(readPage('docs/deploy.md')).toContain(`with \`reverse_proxy sluice:${server.port}\``);
  expect(block('caddy', 'reverse_proxy')).toContain(`${new URL(server.publicUrl ?? '').hostname} {`);
  const named = [database, sluice, balancer].flatMap((service) => service.volumes);
  const mounted = named.filter((volume) => !volume.startsWith('./')).map((volume) => volume.split(':')[0]);
  expect(new Set(mounted)).toEqual(new Set(Object.keys(volumes)));
  expect(sluice.volumes).toContain(
    `state:${/XDG_STATE_HOME=(\S+)/.exec(readPage('deploy/Dockerfile'))?.[1]}`,
  );
});

test('the compose files use the image as it is', () => {
  const { version, bin, peerDependencies } = JSON.parse(readPage('package.json')) as {
    readonly version: string;
    readonly bin: object;
    readonly peerDependencies: object;
  };
  const image = readPage('deploy/Dockerfile');
  const words = (name: string): string[] =>
    JSON.parse(new RegExp(`^${name}.*?(\\[.*\\])$`, 'm').exec(image)?.[1] ?? '') as string[];
  const [command = '', ...args] = words('CMD');
  expect(bin).toHaveProperty(command);
  expect(args).toEqual(['serve', '--host', '0.0.0.0']);
  expect(peerDependencies).toHaveProperty('pg');
  for (const name of [ONE, SEVERAL]) {
    const { services } = parse(deployed(name)) as ComposeFile;
    expect(services.sluice.image).toBe(`sluice:${version}`);
    expect(services.sluice).toMatchObject({ read_only: true, tmpfs: ['/tmp'], cap_drop: ['ALL'] });
    // That of the image holds.
    expect(services.sluice).not.toHaveProperty('healthcheck');
  }
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

/** Every series that a service can serve, with the names of its labels: each was counted once. */
async function servedSeries(): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const times = { bodyBytes: 1, proofMs: 1, evaluateMs: 1, storeMs: 1, tookMs: 1 };
  const metrics = createMetrics({
    backlog: async () => ({ ...EMPTY, oldestQueuedAt: 0, oldestDeadAt: 0 }),
    database: () => ({ roundTrips: 1, roundTripMs: 1, lockWaits: 1, lockWaitMs: 1 }),
    transforms: () => ({ calls: { ok: 1 }, pools: [], breakers: [] }),
    mailboxes: () => [{ mailbox: 'a', state: 'reading', delivered: 1, setAside: 0, filtered: 0 }],
  });
  const refusal = { reason: 'token_missing', scheme: 'github' };
  metrics.observeRequest({ status: 200, outcome: 'run', mappingId: 'm', refusal, ...times });
  const of = metrics.gateway;
  of.observeRun({ runner: 'r', mappingId: 'm', result: 'ok', tookMs: 1 });
  of.observeDelivery({ channel: 'slack', result: 'sent' });
  of.observeHeartbeat('ok');
  of.observeTokens({ runner: 'r', turn: 'hook', mappingId: 'm', usage: { inputTokens: 1, costUsd: 1 } });
  of.setAway(['r']);
  of.setWaiting(
    [{ mappingId: 'm', reason: 'limit', waiting: 1 }],
    [{ mappingId: 'm' }, { mappingId: '*', runner: 'r' }],
  );
  const series = new Map<string, Set<string>>();
  for (const [, name = '', labels = ''] of (await metrics.render()).text.matchAll(/^(\w+)(\{.*\})? /gm)) {
    const known = series.get(name) ?? series.set(name, new Set()).get(name)!;
    for (const [, label = ''] of labels.matchAll(/(\w+)="/g)) known.add(label);
  }
  return series;
}

const EMPTY = {
  queuedRuns: 0,
  activeRuns: 0,
  deadRuns: 0,
  queuedOutbox: 0,
  activeOutbox: 0,
  deadOutbox: 0,
  pendingEvents: 0,
  deadEvents: 0,
  bytes: 0,
};
/** What Prometheus itself puts on every series. */
const OF_PROMETHEUS = ['job', 'instance'];

/** Names in an expression that nothing serves: series, and labels of those that stand in it. */
function unknownIn(expr: string, series: ReadonlyMap<string, ReadonlySet<string>>): readonly string[] {
  const names = [...expr.matchAll(/\b(?:sluice|process|nodejs)_\w+/g)].map(([name]) => name);
  const labels = [...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(', '));
  labels.push(...[...expr.matchAll(/(\w+)=~?"/g)].map(([, label = '']) => label));
  const known = new Set([...OF_PROMETHEUS, ...names.flatMap((name) => [...(series.get(name) ?? [])])]);
  if (names.length === 0) return [`no series in ${expr}`];
  return [...names.filter((name) => !series.has(name)), ...labels.filter((label) => !known.has(label))];
}

test('every series and label of an alert rule is one that the service serves', async () => {
  const { groups } = parse(deployed('alerts.yaml')) as Rules;
  const series = await servedSeries();
  const expressions = groups.flatMap(({ rules }) => rules.map(({ expr }) => expr));
  expect(expressions.length).toBeGreaterThan(4);
  expect(expressions.flatMap((expr) => unknownIn(expr, series))).toEqual([]);
  expect(unknownIn('sum by (nobody) (sluice_nothing_total{some="x"})', series)).toHaveLength(3);
});

interface Dashboard {
  readonly panels: readonly {
    readonly title: string;
    readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[];
  }[];
}

test('every series and label of the dashboard is one that the service serves', async (context) => {
  const { panels } = JSON.parse(readPage('deploy/grafana.json')) as Dashboard;
  const series = await servedSeries();
  const targets = panels.flatMap((panel) => panel.targets);
  expect(targets.length).toBeGreaterThan(20);
  for (const { expr, legendFormat } of targets) {
    expect(unknownIn(expr, series), expr).toEqual([]);
    // A label of the legend is one that the expression leaves.
    const shown = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label);
    const left = /by \(([^)]*)\)/.exec(expr)?.[1]?.split(', ') ?? OF_PROMETHEUS;
    expect(shown.filter((label = '') => !left.includes(label))).toEqual([]);
  }
  const rules = targets.map(({ expr }, index) => ({
    record: `panel_${index}`,
    expr: expr.replaceAll('$__rate_interval', '5m').replaceAll('$job', '.*'),
  }));
  const file = write('panels.yml', JSON.stringify({ groups: [{ name: 'panels', rules }] }));
  expect(judge(context, 'promtool', ['check', 'rules', file])).toMatchObject({ status: 0 });
});

test('promtool takes the alert rules', (context) => {
  const file = write('rules.yml', deployed('alerts.yaml'));
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
  write('rules.yml', deployed('alerts.yaml'));
  const { status, text } = judge(context, 'promtool', ['test', 'rules', write('cases.yml', ALERT_CASES)]);
  expect(status, text).toBe(0);
});

test('an older Node is told what to do, when it installs the package and when it runs the command', () => {
  const script = `const { adviceFor } = require('./build/node-version.cjs');
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
  expect(files).toContain('build/node-version.cjs');
  expect(scripts.preinstall).toBe('node build/node-version.cjs');
  expect(engines.node).toBe('>=24');
});
