/** What became of requests, told and mended in the page, in a real browser. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { complaintsOf, noBrowser } from '../../support/browser.ts';
import { useConsole } from '../../support/console-page.ts';
import { startPlatform } from '../../support/platform-server.ts';

/** A gateway that refuses every run: a failure that costs no process, of which some tests need hundreds. */
const refusing = await startPlatform(() => ({
  status: 404,
  headers: { 'content-type': 'application/problem+json' },
  body: { title: 'Not found', status: 404, code: 'not_found' },
}));
afterAll(() => refusing.stop());
const REFUSED = `{kind: forward, url: '${refusing.url}', token: "\${SLUICE_HOOK_TOKEN}", maxRuns: 4}`;

const LATER = 'id: order-later\nmatch: { path: later }\nmessageTemplate: hello\ndeliver: false\n';
const NEVER = LATER.replace(' }', ", when: { '===': [{ var: kind }, new] } }");

const FILES = {
  'sluice.yaml': `hooks: {enabled: true, token: "\${SLUICE_HOOK_TOKEN}"}
gateway:
  heartbeat: {everySeconds: 0}
  runners:
    slow: {kind: command, argv: [sleep, "60"], cwd: private, maxRuns: 1}
    broken: ${REFUSED}
server: {stopGraceSeconds: 0.1}
console: {enabled: true, port: 0}
`,
  'mappings/broken.yaml':
    'id: order-broken\nmatch: {path: broken}\nrunner: broken\nmessageTemplate: hello\ndeliver: false\n',
  'mappings/later.yaml': NEVER,
  'mappings/elsewhere.yaml': NEVER.replaceAll('later', 'elsewhere'),
};

describe.skipIf(noBrowser !== '')(`what became of it${noBrowser === '' ? '' : `, ${noBrowser}`}`, () => {
  const pages = useConsole({ files: FILES });

  const label = (page: Page, id: string, text: string) =>
    page.waitForSelector(`#row-${id} .outcome:has-text("${text}")`);

  test('a row says how it ended, and what failed is found and run again above the fold', async () => {
    const page = await pages.open();
    const complaints = complaintsOf(page);
    await page.setViewportSize({ width: 1360, height: 850 });
    await page.waitForSelector('h1:has-text("Overview")');
    const done = await pages.running.send('order', { id: 1, buyer: { name: 'Ada' }, items: [] });
    const failed = await pages.running.send('broken', {});
    const missed = await pages.running.send('nowhere', {});
    const running = await pages.running.send('slow', {});
    await label(page, running.requestId, 'running');
    const queued = await pages.running.send('slow', {});
    await label(page, done.requestId, 'done');
    await label(page, failed.requestId, 'failed');
    await label(page, queued.requestId, 'queued: agents busy');
    await page.waitForSelector('h2:has-text("2 causes need attention")');
    await page.waitForSelector('.causes li:has-text("1 × nowhere, ")');
    const cause = page.locator('.causes li:has-text("1 × order-broken, broken: ")');
    await cause.locator('a:has-text("Open one")').click();
    await page.waitForSelector('.sentence:has-text("Taken by order-broken; its run failed")');
    const again = page.locator('.story-head button:has-text("Run again what failed")');
    const box = await again.boundingBox();
    expect((box?.y ?? 1000) + (box?.height ?? 0)).toBeLessThan(850);
    await again.click();
    await page.waitForSelector('.toast:has-text("1 begun again")');
    await page.goto(pages.running.url);
    await page.click('.causes li:has-text("nowhere") a:has-text("Show these")');
    await page.waitForSelector(`#row-${done.requestId}`, { state: 'detached' });
    await page.waitForSelector(`#row-${missed.requestId}`);
    expect(page.url()).toContain('outcome=rejected');
    expect(complaints).toEqual([]);
  });

  test('what was lost is replayed from the list, with a plan first', async () => {
    const page = await pages.open();
    const complaints = complaintsOf(page);
    const lost = await pages.running.send('later', { id: 1 });
    const second = await pages.running.send('later', { id: 2 });
    await page.waitForSelector(`#row-${lost.requestId}`);
    writeFileSync(join(pages.folder, 'mappings/later.yaml'), LATER);
    await pages.running.service.reload();
    await page.selectOption('select[aria-label=Hook]', 'later');
    await page.click('a:has-text("Replay these")');
    await page.waitForSelector('.outcome:has-text("2 would be taken")');
    await page.click('button:has-text("Replay 2")');
    await page.waitForSelector(
      '.progress [role=status]:text-matches("^2 requests taken again at .*: 2 ended well.$")',
    );
    // What is sent to somebody has the link to them.
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.click('button:has-text("Copy the sentence")');
    await page.waitForSelector('.toast:has-text("copied the sentence")');
    const sentence = await page.evaluate<string>('navigator.clipboard.readText()');
    await page.goto(/http:\S+$/.exec(sentence)?.[0] ?? '');
    await page.waitForSelector('.count:has-text("2 of")');
    await page.click('.row >> nth=1');
    await page.waitForSelector('.sentence:has-text("Taken by order-later")');
    // The oldest first, each names the other, and a further plan leaves both out.
    await page.click(`a:text-is("${lost.requestId}")`);
    await page.waitForSelector('.facts-line:has-text("replayed as"):has-text("(accepted)")');
    const { storage } = pages.running;
    const [original, later] = [
      await storage.findDecision(lost.requestId),
      await storage.findDecision(second.requestId),
    ];
    const again = await storage.findDecision(original?.replays?.[0]?.requestId ?? '');
    expect(again).toMatchObject({ replayOf: lost.requestId, outcome: 'accepted' });
    const runs = await storage.listRuns({ limit: 9, mappingId: 'order-later' });
    expect(runs.map(({ action }) => action.origin.requestId)).toEqual(
      [later, original].map((decision) => decision?.replays?.[0]?.requestId),
    );
    await page.goto(`${pages.running.url}/replay?path=later&outcome=rejected`);
    await page.waitForSelector('.outcome:has-text("2 taken again before")');
    expect(await page.locator('button:has-text("Replay 2")').count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  test('what was skipped, and what the store does not know, did not end well', async () => {
    const page = await pages.open();
    for (const id of [1, 2, 3]) await pages.running.send('elsewhere', { id });
    writeFileSync(join(pages.folder, 'mappings/elsewhere.yaml'), LATER.replaceAll('later', 'elsewhere'));
    await pages.running.service.reload();
    const asked: string[] = [];
    await page.route(/\/api\/inbox\?limit=1&ids=./, async (route) => {
      for (const id of new URL(route.request().url()).searchParams.get('ids')?.split(',') ?? [])
        if (!asked.includes(id)) asked.push(id);
      const response = await route.fetch();
      const found = (await response.json()) as { readonly ends: readonly { readonly id: string }[] };
      const ends = found.ends
        .filter(({ id }) => id !== asked[0])
        .map((end) => (end.id === asked[1] ? { ...end, end: 'skipped', why: 'superseded' } : end));
      await route.fulfill({ response, json: { ...found, ends } });
    });
    await page.goto(`${pages.running.url}/replay?path=elsewhere&outcome=rejected`);
    await page.click('button:has-text("Replay 3")');
    await page.waitForSelector('.progress [role=status]:has-text("1 ended well, 2 did not: ")');
    const said = await page.textContent('.progress [role=status]');
    expect(said?.split(': ').at(-1)?.replace('.', '').split(', ').toSorted()).toEqual([
      'no end is known',
      'superseded',
    ]);
  });
});

const KEYS = {
  view: 'a-key-that-only-views-000000000001',
  inspect: 'a-key-that-inspects-00000000000002',
  operate: 'a-key-that-operates-00000000000003',
};
const ASKED = {
  'sluice.yaml': `hooks: {enabled: true, token: "\${SLUICE_HOOK_TOKEN}"}
gateway:
  heartbeat: {everySeconds: 0}
  runners: {slow: {kind: command, argv: [sleep, "60"], cwd: private}, lost: ${REFUSED}}
server: {stopGraceSeconds: 0.1}
console:
  enabled: true
  port: 0
  keys:
${Object.entries(KEYS)
  .map(([role, key]) => `    ${role}er: {role: ${role}, key: ${key}}`)
  .join('\n')}
`,
  'mappings/asked.yaml':
    'id: asked\nmatch: {path: asked}\nmessageTemplate: hello\ndeliver: false\napprove: {channel: slack, to: C0123456}\n',
  'mappings/lost.yaml':
    'id: lost\nmatch: {path: lost}\nforEach: runs\nrunner: lost\nmessageTemplate: hello\ndeliver: false\n',
  'mappings/limited.yaml':
    'id: limited\nmatch: {path: limited}\nforEach: runs\nlimits: {runsPerHour: 2}\nmessageTemplate: hello\ndeliver: false\n',
};

describe.skipIf(noBrowser !== '')('a run that somebody is asked about', () => {
  const pages = useConsole({ mode: 'serve', files: ASKED });

  /** A window of its own of somebody with a key, who looks at a request. */
  async function windowOf(role: keyof typeof KEYS, requestId: string) {
    const context = await pages.newContext();
    onTestFinished(() => context.close());
    const page = await context.newPage();
    page.setDefaultTimeout(120_000);
    const complaints = complaintsOf(page);
    await page.goto(`${pages.running.url}/#key=${KEYS[role]}`);
    await page.click(`#row-${requestId}`);
    await page.waitForSelector('.story-head');
    return {
      page,
      complaints,
      button: (label: string) => page.locator(`.story-head button:text-is("${label}")`),
    };
  }

  test('is approved or denied by whom the role allows, and all windows hear which it was', async () => {
    const { requestId } = await pages.running.send('asked', { text: 'Deploy the shop' });
    for (const role of ['view', 'inspect'] as const) {
      const { page, button } = await windowOf(role, requestId);
      await page.waitForSelector('.sentence:has-text("its run waits: an approval is asked for until")');
      expect([
        await button('Approve').count(),
        await button('Deny').count(),
        await button('Drop').count(),
      ]).toEqual([0, 0, 0]);
    }
    const [one, two] = [await windowOf('operate', requestId), await windowOf('operate', requestId)];
    // What is decided on stands first, whole and within its markers, on a telephone, too.
    await one.page.setViewportSize({ width: 390, height: 800 });
    const asked = one.page.locator('.asked');
    expect(await asked.textContent()).toMatch(/EXTERNAL[^]*hello[^]*EXTERNAL/);
    const tops = await Promise.all([asked, one.button('Approve')].map((each) => each.boundingBox()));
    expect(tops[0]?.y ?? 1e9).toBeLessThan(tops[1]?.y ?? 0);
    // The button that decides is the only one that is filled.
    expect(await one.page.locator('.story-head .primary').allTextContents()).toEqual(['Approve']);
    const others = `[...document.querySelectorAll('.story-head .button')].map((each) => getComputedStyle(each).backgroundColor)`;
    expect(new Set(await one.page.evaluate<string[]>(others))).toEqual(new Set(['rgba(0, 0, 0, 0)']));
    expect(await one.page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
    const top = await one.page.locator('header.top').boundingBox();
    expect(top?.height).toBeLessThanOrEqual(48);
    await one.page.click('button:text-is("Menu")');
    await one.page.waitForSelector('nav a:text-is("Runs")');
    await one.page.keyboard.press('Escape');
    await one.page.waitForSelector('nav a:text-is("Runs")', { state: 'hidden' });
    await one.page.setViewportSize({ width: 1280, height: 800 });
    // Both at once: neither window has seen what the other one did.
    const approve = await one.button('Approve').elementHandle();
    const deny = await two.button('Deny').elementHandle();
    await Promise.all([approve?.dispatchEvent('click'), deny?.dispatchEvent('click')]);
    const toasts = await Promise.all(
      [one, two].map(({ page }) => page.locator('.toast:not(:empty)').textContent()),
    );
    const isApproved = toasts[0] === '1 approved';
    expect(toasts[isApproved ? 1 : 0]).toMatch(/^nothing changed: it is decided/);
    expect(toasts[isApproved ? 0 : 1]).toBe(isApproved ? '1 approved' : '1 denied');
    for (const { page, button, complaints } of [one, two]) {
      await page.waitForSelector(`text=${isApproved ? 'approved' : 'denied'} by console`);
      await page.waitForSelector(`#row-${requestId} .outcome:has-text("${isApproved ? 'done' : 'dead'}")`);
      expect(await button('Approve').count()).toBe(0);
      expect(complaints).toEqual([]);
    }
  });

  test('begins by the button that approves, and never by the one that denies', async () => {
    for (const [label, said, outcome] of [
      ['Approve', '1 approved', 'done'],
      ['Deny', '1 denied', 'dead'],
    ] as const) {
      const { requestId } = await pages.running.send('asked', {});
      const { page, button } = await windowOf('operate', requestId);
      await button(label).click();
      await page.waitForSelector(`.toast:has-text("${said}")`);
      await page.waitForSelector(`#row-${requestId} .outcome:has-text("${outcome}")`);
    }
  });

  test('several are changed by a plan of the whole list, which leaves out what was denied and what is limited', async () => {
    const { storage } = pages.running;
    const countOf = async (query: Parameters<typeof storage.listRuns>[0]) =>
      (await storage.listRuns(query)).length;
    const dead = { state: 'dead', mappingId: 'asked', limit: 99 };
    const before = await countOf(dead);
    const asked = [await pages.running.send('asked', {}), await pages.running.send('asked', {})];
    await pages.running.send('lost', { runs: Array.from({ length: 104 }, (_, index) => index) });
    await pages.running.send('limited', { runs: [1, 2, 3, 4, 5, 6] });
    const { page, button } = await windowOf('operate', asked[0]?.requestId ?? '');
    await button('Deny').click();
    await page.click(`#row-${asked[1]?.requestId}`);
    await page.waitForSelector('text=asked for until');
    await button('Deny').click();

    const denied = before + 2;
    await expect.poll(() => countOf(dead)).toBe(denied);
    await page.goto(`${pages.running.url}/runs?state=dead`);
    await page.click('button:text-is("Run again what failed…")');
    await page.waitForSelector(`.plan:has-text("${denied} left out: denied, or not approved in time")`);
    expect(await page.locator('.plan button.primary').count()).toBe(0);
    await page.click('.plan button:text-is("Leave it")');
    // The list shows a hundred of them: the change is of all.
    const failed = { state: 'completed', mappingId: 'lost', limit: 1_000 };
    await expect.poll(() => countOf(failed)).toBe(104);
    await page.goto(`${pages.running.url}/runs?state=completed&mapping=lost`);
    await page.click('button:text-is("Run again what failed…")');
    await page.waitForSelector('.plan:has-text("104 runs, the oldest first")');
    const said = (text: string) => page.waitForSelector(`.progress [role=status]:has-text("${text}")`);
    // Stopped, it begins no more, and says how those ended that it had begun.
    await storage.pauseRuns('lost', Date.now());
    await page.click('.plan button:text-is("Run again what failed: 104")');
    await said('50 of 104 runs begun again at ');
    await page.click('.progress button:text-is("Stop")');
    await said('50 under way. Stopped: what is under way goes on to its end');
    await storage.resumeRuns('lost');
    await said('0 ended well, 50 did not: ');
    await said('; 54 were left as they were.');
    await page.click('button:text-is("Run again what failed…")');
    await page.click('.plan button:text-is("Run again what failed: 104")');
    await said('104 runs begun again at ');
    await said('104 did not: ');
    const queued = { state: 'queued', mappingId: 'limited', limit: 9 };
    await expect.poll(() => countOf(queued)).toBe(4);
    await page.goto(`${pages.running.url}/runs?state=queued&mapping=limited`);
    await page.click('button:text-is("Try now…")');
    await page.waitForSelector('.plan:has-text("4 left out")');
    expect(await page.locator('.plan button.primary').count()).toBe(0);
    expect(await countOf(queued)).toBe(4);
    // It was done part by part, and could be stopped in between.
    const retried = (await storage.listAudit(9)).filter(({ what }) => what === 'retry');
    expect(retried.map(({ who, changed }) => [who, changed])).toEqual([
      ['operateer', 54],
      ['operateer', 50],
      ['operateer', 50],
    ]);
  });
});

const MANY = 'match: {path: PATH}\nforEach: runs\nrunner: RUNNER\nmessageTemplate: hello\ndeliver: false\n';

describe.skipIf(noBrowser !== '')('what needs attention', () => {
  const many = (id: string, runner: string): string =>
    `id: many-${id}\n${MANY.replace('PATH', id).replace('RUNNER', runner)}`;
  const pages = useConsole({
    files: {
      ...FILES,
      'mappings/wait.yaml': many('wait', 'slow'),
      'mappings/fail.yaml': many('fail', 'broken'),
      'mappings/stripe.yaml': `id: stripe\nmatch: {path: stripe}\nmessageTemplate: hi\ndedupe: {key: '{{id}}', ttlSeconds: 518400}
recover: {token: '\${SLUICE_HOOK_TOKEN}', api: 'http://127.0.0.1:1'}\n`,
    },
  });

  test('is said of each path whose sender is asked for what it could not deliver', async () => {
    const page = await pages.open();
    await page.waitForSelector(
      '.overview li:has-text("stripe not looked at yet: 0 missed"):has-text("cannot be asked")',
    );
  });

  test('is counted by its cause, however much is queued, and nothing is said before that', async () => {
    const runs = (count: number) => ({ runs: Array.from({ length: count }, (_, index) => index) });
    const { storage } = pages.running;
    for (let index = 0; index < 19; index += 1) await pages.running.send('broken', {});
    // Of a request with many runs each counts.
    await pages.running.send('fail', runs(22));
    const failed = { state: 'completed', kind: 'hook', limit: 100 } as const;
    await expect.poll(async () => (await storage.listRuns(failed)).length).toBe(41);
    await pages.running.send('wait', runs(110));
    await pages.running.send('wait', runs(110));
    const page = await pages.open();
    const complaints = complaintsOf(page);
    const said: string[] = [];
    await page.exposeFunction('heard', (text: string) => said.push(text));
    await page.addInitScript(`new MutationObserver(() => {
      const text = document.querySelector('.overview')?.textContent ?? '';
      if (text !== '') heard(text);
    }).observe(document, { childList: true, subtree: true, characterData: true })`);
    await page.reload();
    await page.waitForSelector('h2:has-text("2 causes need attention")');
    // Those with the most stand first.
    await page.waitForSelector('.causes li:nth-child(1):has-text("22 × many-fail, broken: ")');
    await page.waitForSelector('.causes li:nth-child(2):has-text("19 × order-broken, broken: ")');
    expect(said.filter((text) => text.includes('Nothing needs attention'))).toEqual([]);
    // What is meant to be so stands aside, with the reason, in the audit.
    page.on('dialog', (dialog) => void dialog.accept('the agent is not there yet'));
    await page.click('.causes li:has-text("order-broken") button:has-text("Meant to be so")');
    await page.waitForSelector('h2:has-text("1 cause needs attention")');
    await page.click('summary:has-text("1 cause is meant to be so")');
    await page.waitForSelector('.causes li:has-text("the agent is not there yet")');
    expect((await storage.listAudit(1))[0]).toMatchObject({ what: 'put aside', changed: 19 });
    // It comes back when as many have come again.
    for (let index = 0; index < 20; index += 1) await pages.running.send('broken', {});
    await page.waitForSelector('.causes li:has-text("39 × order-broken")');
    await page.waitForSelector('h2:has-text("2 causes need attention")');
    expect(complaints).toEqual([]);
  });
});
