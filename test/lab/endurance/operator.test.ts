/**
 * The operator's story, in Chromium with the real service under load: eleven webhooks of yesterday did nothing. Why is
 * found, the mended mapping tried on what was kept, copied into its file, and the eleven are replayed, in
 * under five minutes; then a colleague who may only view looks. Prints the seconds of each step.
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { complaintsOf, noBrowser, openBrowser } from '../../support/browser.ts';
import { makeConsoleFolder } from '../../support/console-fixture.ts';
import { freePort } from '../../support/free-port.ts';
import { type ServiceProcess, startServiceProcess } from '../../support/service-process.ts';

const TOKEN = 'a-hook-token-0123456789';
const KEYS = { ana: 'a-key-of-ana-that-is-long-enough-0000', eve: 'a-key-of-eve-that-is-long-enough-0000' };
/** Hooks a second that go on all the time, from this many senders. */
const LOAD_A_SECOND = 30;
const LOST = 11;
/** Where pictures of each step are put; none without it. */
const SHOTS = process.env['STORY_SHOTS'];

const config = (port: number, more: string): string => `hooks: {enabled: true, token: "\${SLUICE_HOOK_TOKEN}"}
gateway: {heartbeat: {everySeconds: 0}, runners: {slow: {kind: command, argv: [sleep, '60'], cwd: private}}}
console:
  enabled: true
  port: ${port}
  keys: {ana: {role: operate, key: ${KEYS.ana}}, eve: {role: view, key: ${KEYS.eve}}}
${more}`;

const DEPLOY = `# Deployments that reached production.
- id: deploy-done
  match:
    path: deploy
    when: { and: [{ '==': [{ var: state }, success] }, { '==': [{ var: deployment.environment }, prod] }] }
  name: 'Deploy of {{deployment.name}}'
  sessionKey: 'hook:deploy:{{deployment.name}}'
  messageTemplate: '{{deployment.name}} is live. {{note}}'
  deliver: false
`;

/** Hook names whose mappings take none of what came yesterday. */
const OTHERS = ['metrics', 'billing', 'crm', 'chat'];

const port = await freePort();
const folder = makeConsoleFolder({
  'sluice.yaml': config(port, 'storage: {keepRequests: {which: failed, count: 1100}}\n'),
  'mappings/deploy.yaml': DEPLOY,
  'mappings/load.yaml': 'id: load\nmatch: {path: load}\nmessageTemplate: hello\ndeliver: false\n',
  ...Object.fromEntries(
    OTHERS.map((name) => [
      `mappings/${name}.yaml`,
      `{ id: ${name}, match: { path: ${name}, when: { '==': [{ var: what }, order] } }, action: wake, textTemplate: hello }\n`,
    ]),
  ),
});
const git = (...args: readonly string[]): string =>
  execFileSync('git', ['-c', 'user.name=Ana', '-c', 'user.email=ana@example.com', ...args], {
    cwd: folder.path,
    encoding: 'utf8',
  });
const held: { service?: ServiceProcess; browser?: Browser; load?: AbortController } = {};
/** Seconds of each step. */
const steps: number[] = [];

afterAll(async () => {
  held.load?.abort();
  await held.browser?.close();
  await held.service?.end('SIGTERM');
  folder.remove();
});

async function send(path: string, body: object): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${held.service?.port ?? 0}/hooks/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  await answer.text();
  return answer.status;
}

/** Yesterday: eleven deployments, 200 of them to staging, which nothing should take, and others that are refused. */
async function yesterday(): Promise<void> {
  const deploy = (index: number, environment: string): object => ({
    state: 'success',
    deployment: { id: index, name: `shop-${4700 + index}`, environment },
    note: `by Grace H., ticket OPS-${index}`,
  });
  for (let index = 0; index < 1_000 - LOST; index += 1) {
    const path = ['deploy', ...OTHERS][index % 5] ?? '';
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await send(path, path === 'deploy' ? deploy(1_000 + index, 'staging') : { id: index, what: 'ping' });
    // oxlint-disable-next-line no-await-in-loop -- as above
    if (index % 90 === 0) expect(await send('deploy', deploy(index / 90, 'production'))).toBe(404);
  }
}

/** Moves all that was decided and kept into the past. */
function moveBack(ms: number): void {
  const database = new DatabaseSync(join(folder.path, '.sluice/sluice.db'));
  const back = (column: string): string =>
    `${column} = json_set(${column}, '$.receivedAt', json_extract(${column}, '$.receivedAt') - ${ms})`;
  database.exec(`UPDATE decisions SET ${back('decision')};
    UPDATE kept_requests SET received_at = received_at - ${ms}, ${back('request')};`);
  database.close();
}

beforeAll(async () => {
  if (noBrowser !== '') return;
  const env = { SLUICE_HOOK_TOKEN: TOKEN };
  held.service = await startServiceProcess(folder.path, env);
  await yesterday();
  await held.service.end('SIGTERM');
  moveBack(23 * 3_600_000);
  writeFileSync(join(folder.path, 'sluice.yaml'), config(port, ''));
  git('init', '-q');
  git('add', 'sluice.yaml', 'mappings', 'transforms', 'test');
  git('commit', '-qm', 'as it was');
  held.service = await startServiceProcess(folder.path, env);
  held.browser = await openBrowser();
  held.load = new AbortController();
  void keepSending(held.load.signal);
}, 120_000);

async function keepSending(signal: AbortSignal): Promise<void> {
  for (let index = 0; !signal.aborted; index += 1) {
    void send('load', { index }).catch(() => undefined);
    // oxlint-disable-next-line no-await-in-loop -- at its rate
    await new Promise((done) => setTimeout(done, 1000 / LOAD_A_SECOND));
  }
}

/** Opens the console with a key, where it is noon: 23 hours ago is yesterday. */
async function signIn(key: string): Promise<Page> {
  const offset = new Date().getUTCHours() - 12;
  const context = await (held.browser as Browser).newContext({
    viewport: { width: 1360, height: 850 },
    timezoneId: offset === 0 ? 'Etc/GMT' : `Etc/GMT${offset > 0 ? '+' : ''}${offset}`,
    acceptDownloads: true,
  });
  const page = await context.newPage();
  await page.goto(`http://127.0.0.1:${port}/#key=${key}`);
  await page.waitForSelector('.row');
  return page;
}

let began = performance.now();
async function step(what: string, page: Page): Promise<void> {
  const seconds = (performance.now() - began) / 1000;
  steps.push(seconds);
  process.stdout.write(`${seconds.toFixed(1).padStart(6)} s  ${what}\n`);
  if (SHOTS !== undefined) await page.screenshot({ path: join(SHOTS, `story-${steps.length}.png`) });
  began = performance.now();
}

test.skipIf(noBrowser !== '')(
  'what was lost yesterday is explained, mended and taken again without a terminal but for the file',
  async () => {
    began = performance.now();
    const page = await signIn(KEYS.ana);
    const complaints = complaintsOf(page);
    await page.waitForSelector('.history');
    await step('opened the console', page);

    await page.selectOption('select[aria-label=Time]', { index: 2 });
    await page.fill('#search', 'shop-4704');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.count:has-text("1 hit in 1,000 kept requests")');
    await page.keyboard.press('Escape');
    await page.keyboard.press('j');
    await page.waitForSelector('.sentence:has-text("Refused with 404 no_mapping_matched")');
    const link = page.url();
    await page.waitForSelector(
      '.considered.rejected:has-text("deploy-done") .found-value:has-text("production")',
    );
    await step('found the webhook by what it carried, and why nothing took it', page);

    await page.click('a:has-text("Try a change")');
    await page.click('.cm-line:has-text("deployment.environment")');
    await page.keyboard.press('Control+f');
    await page.keyboard.type('prod]');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Escape');
    await page.keyboard.type('production]');
    await page.waitForSelector('.result .outcome.accepted');
    await page.waitForSelector('.result .rendered:has-text("shop-4704 is live")');
    await step('tried the mended mapping on it', page);

    await page.click(`.side summary:has-text("${LOST} of")`);
    await page.waitForSelector('.side .difference');
    const said = (await page.textContent('.side .changed')) ?? '';
    await step(`saw what it would change: ${said}`, page);

    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.click('button:has-text("Copy the text")');
    await page.waitForSelector('[role=status]:has-text("copied the text")');
    const copied = await page.evaluate<string>('navigator.clipboard.readText()');
    writeFileSync(join(folder.path, 'mappings/deploy.yaml'), copied);
    expect(git('status', '--short')).toContain('M mappings/deploy.yaml');
    git('add', '-A', 'mappings');
    git('commit', '-qm', 'take deployments to production');
    const generation = await page.textContent('.generation');
    held.service?.child.kill('SIGHUP');
    await page.waitForSelector(`.generation:not(:has-text("${generation ?? ''}"))`);
    await step('copied the text into its file, and the service has reloaded', page);

    await page.click('nav a:has-text("Inbox")');
    await page.fill('#search', '');
    await page.selectOption('select[aria-label=Hook]', 'deploy');
    await page.selectOption('select[aria-label=Outcome]', 'rejected');
    await page.click('a:has-text("Replay these")');
    await page.waitForSelector(`.outcome:has-text("${LOST} would be taken")`);
    await step('planned the replay', page);
    await page.click(`button:has-text("Replay ${LOST}")`);
    await page.waitForSelector(`[role=status]:has-text("${LOST} requests taken again at ")`);
    await page.goto(`http://127.0.0.1:${port}/runs?mapping=deploy-done&state=completed`);
    await expect
      .poll(() => page.locator('tbody tr .outcome.accepted').count(), { timeout: 60_000 })
      .toBe(LOST);
    await step(`replayed the ${LOST} that were lost, and saw their runs end well`, page);
    expect(complaints).toEqual([]);

    const seconds = steps.reduce((sum, each) => sum + each, 0);
    const colleague = await signIn(KEYS.eve);
    await colleague.goto(link);
    await colleague.waitForSelector('.sentence:has-text("Refused with 404 no_mapping_matched")');
    for (const sent of ['shop-4704', 'OPS-', 'production'])
      expect(await colleague.textContent('#detail'), sent).not.toContain(sent);
    expect(await colleague.locator('#detail button:not(.link), #detail .button').count()).toBe(0);
    await colleague.waitForSelector('.count:has-text("0 of")');
    for (const view of ['mappings', 'runs', 'conversations', 'deliveries', 'audit']) {
      await colleague.click(`nav a[href="/${view}"]`);
      await colleague.waitForSelector('.wide h1');
      await colleague.waitForSelector('.wide .empty.quiet', { state: 'detached' });
      expect(await colleague.textContent('.wide'), view).not.toContain('shop-47');
      expect(await colleague.locator('.wide button:not(:text-is("More"))').count(), view).toBe(0);
    }
    await step('a colleague who may only view saw that and why, and nothing that was sent', colleague);

    expect(seconds).toBeLessThan(300);
  },
  300_000,
);
