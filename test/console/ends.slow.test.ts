/** What became of requests, told and mended in the page, in a real browser. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { complaintsOf, noBrowser } from '../support/browser.ts';
import { useConsole } from '../support/console-page.ts';

const LATER = 'id: order-later\nmatch: { path: later }\nmessageTemplate: hello\ndeliver: false\n';

const FILES = {
  'sluice.yaml': `hooks: {enabled: true, token: "\${SLUICE_HOOK_TOKEN}"}
gateway:
  heartbeat: {everySeconds: 0}
  runners:
    slow: {kind: command, argv: [sleep, "60"], cwd: private, maxRuns: 1}
    broken: {kind: command, argv: ["false"], cwd: private}
server: {stopGraceSeconds: 0.1}
console: {enabled: true, port: 0}
`,
  'mappings/broken.yaml':
    'id: order-broken\nmatch: {path: broken}\nrunner: broken\nmessageTemplate: hello\ndeliver: false\n',
  'mappings/later.yaml': LATER.replace(' }', ", when: { '===': [{ var: kind }, new] } }"),
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
    await page.click('.chip:has-text("needs attention 2")');
    await page.waitForSelector(`#row-${done.requestId}`, { state: 'detached' });
    await page.waitForSelector(`#row-${missed.requestId}`);
    expect(page.url()).toContain('need=yes');
    await page.click(`#row-${failed.requestId}`);
    await page.waitForSelector('.sentence:has-text("Taken by order-broken; its run failed")');
    expect(await page.textContent('.bar-steps')).toMatch(/received.*judged.*queued.*ran.*error.*delivered/);
    const again = page.locator('.story-head button:has-text("Run again what failed")');
    const box = await again.boundingBox();
    expect((box?.y ?? 1000) + (box?.height ?? 0)).toBeLessThan(850);
    await again.click();
    await page.waitForSelector('.toast:has-text("1 due now")');
    await page.reload();
    await page.waitForSelector('.chip[aria-pressed=true]');
    await page.waitForSelector(`#row-${done.requestId}`, { state: 'detached' });
    expect(complaints).toEqual([]);
  });

  test('what was lost is replayed from the list, with a plan first', async () => {
    const page = await pages.open();
    const complaints = complaintsOf(page);
    const lost = await pages.running.send('later', { id: 1 });
    await pages.running.send('later', { id: 2 });
    await page.waitForSelector(`#row-${lost.requestId}`);
    writeFileSync(join(pages.folder, 'mappings/later.yaml'), LATER);
    await pages.running.service.reload();
    await page.selectOption('select[aria-label=Hook]', 'later');
    await page.click('a:has-text("Replay these")');
    await page.waitForSelector('.outcome:has-text("2 would be taken")');
    await page.click('button:has-text("Replay 2")');
    await page.waitForSelector('[role=status]:has-text("2 requests were taken again")');
    await page.click('.overview li a >> nth=0');
    await page.waitForSelector('.sentence:has-text("Taken by order-later")');
    expect(complaints).toEqual([]);
  });
});
