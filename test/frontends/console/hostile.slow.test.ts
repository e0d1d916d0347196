/** Payloads that want to run, to mislead or to hang the page; ten thousand rows; a service that is started again. */
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openStorage } from '../../../src/engine/storage/storage.ts';
import { complaintsOf, noBrowser } from '../../support/browser.ts';
import { makeConsoleFolder, startConsoleService } from '../../support/console-fixture.ts';
import { freePort } from '../../support/free-port.ts';
import { useConsole } from '../../support/console-page.ts';

const MARKUP = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>';
const BIDI = 'pay \u202Eelif.exe\u202C \u0007\u001b[31m\u200b';

const CORPUS: Readonly<Record<string, unknown>> = {
  markup: {
    id: 1,
    buyer: { name: MARKUP, [MARKUP]: MARKUP },
    items: [{ sku: `{{${MARKUP}}}` }],
    '"><svg onload=hacked=1>': 1,
  },
  bidi: { id: 1, buyer: { name: BIDI, [BIDI]: BIDI }, items: [] },
  'a text of two megabytes': { id: 1, buyer: { name: 'x'.repeat(2_000_000) }, items: [] },
  'twenty thousand keys': {
    id: 1,
    buyer: { name: 'many' },
    items: [],
    ...Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`key ${index}`, index])),
  },
  'keys of prototypes': JSON.parse(
    '{"id": 1, "buyer": {"name": "p"}, "__proto__": {"polluted": 1}, "constructor": {"prototype": 1}}',
  ),
};

describe.skipIf(noBrowser !== '')(`hostile payloads${noBrowser === '' ? '' : `, ${noBrowser}`}`, () => {
  const pages = useConsole();

  const isHacked = (page: Page): Promise<unknown> => page.evaluate('window.hacked ?? ({}).polluted');

  test.each(Object.keys(CORPUS))('%s: shown as text, neither runs nor hangs', async (name) => {
    const { requestId } = await pages.running.send('order', CORPUS[name]);
    const page = await pages.context.newPage();
    const complaints = complaintsOf(page);
    await page.goto(`${pages.running.url}/request/${requestId}`);
    await page.waitForSelector('.content .tree .line');
    expect(await page.evaluate('document.querySelectorAll(".tree .line").length')).toBeLessThan(700);
    expect(await isHacked(page)).toBeUndefined();
    await page.goto(`${pages.running.url}/author?request=${requestId}`);
    await page.click('.side summary:has-text("Payload")');
    await page.waitForSelector('.side .tree .line');
    expect(await isHacked(page)).toBeUndefined();
    expect(complaints).toEqual([]);
    await page.close();
  });

  test('draws characters that would reorder or hide a text as signs', async () => {
    const { requestId } = await pages.running.send('order', CORPUS['bidi']);
    const page = await pages.open(`/request/${requestId}`);
    await page.waitForSelector('.rendered .sign:has-text("U+202E")');
    const shown = await page.textContent('#detail');
    expect(shown).toContain('U+001B');
    expect(shown).toContain('U+200B');
    for (const hidden of ['\u202E', '\u0007', '\u001B', '\u200B']) expect(shown).not.toContain(hidden);
    await page.close();
  });

  test('takes no page of another site for its own', async () => {
    const other = await pages.context.newPage();
    await other.goto('data:text/html,<p>elsewhere</p>');
    const answer = await other.evaluate(
      `fetch(${JSON.stringify(`${pages.running.url}/api/drop`)}, {method: 'POST', credentials: 'include', mode: 'no-cors', body: '{}'}).then((r) => r.type, (e) => String(e))`,
    );
    expect(answer).toMatch(/opaque|TypeError/);
    await other.setContent(`<iframe src="${pages.running.url}"></iframe>`);
    await expect
      .poll(() => other.frames().every((frame) => !frame.url().startsWith(pages.running.url)))
      .toBe(true);
    await other.close();
  });

  test('ten thousand rows cost what fifty do', async () => {
    const folder = makeConsoleFolder();
    onTestFinished(() => folder.remove());
    const storage = await openStorage(`sqlite:${join(folder.path, '.sluice/sluice.db')}`);
    for (let number = 1; number <= 10_000; number += 1)
      storage.recordDecision({
        requestId: `request-${number}`,
        receivedAt: 1_000_000 + number,
        path: number % 7 === 0 ? 'seventh' : 'order',
        status: 202,
        outcome: 'accepted',
        actionIds: [],
        generation: 'g',
        tookMs: 1,
        bodyBytes: 10,
      });
    await storage.flush();
    await storage.close();
    const running = await startConsoleService(folder.path);
    onTestFinished(() => running.stop());
    const page = await (await pages.newContext()).newPage();
    await page.goto(running.link);
    await page.waitForSelector('.count:has-text("10,000 requests")');
    expect(await page.locator('.row').count()).toBeLessThan(60);
    await page.evaluate('document.querySelector(".rows").scrollTop = 1e9');
    await page.waitForSelector('#row-request-1');
    await page.fill('#search', 'seventh');
    await page.waitForSelector('.count:has-text("1,428 of 10,000")');
    await page.evaluate('document.querySelector(".rows").scrollTop = 0');
    await page.keyboard.press('Escape');
    await page.keyboard.press('j');
    await page.waitForURL(/request-9996/);
    // A plan is of all of them, also where its address is opened at once.
    await page.goto(`${running.url}/replay?path=seventh`);
    await page.waitForSelector('.overview .outcome:has-text("1428 accepted when they came")');
    await page.context().close();
  });

  test('goes on after the service was started again, without a new key', async () => {
    const port = await freePort();
    const folder = makeConsoleFolder({
      'sluice.yaml': `hooks: {enabled: true, token: "\${SLUICE_HOOK_TOKEN}"}\ngateway: {runners: {slow: {kind: command, argv: [sleep, "60"], cwd: private, maxRuns: 1}}}\nconsole: {port: ${port}}\n`,
    });
    onTestFinished(() => folder.remove());
    const first = await startConsoleService(folder.path);
    const page = await (await pages.newContext()).newPage();
    await page.goto(first.link);
    const old = await first.send('order', { id: 1, buyer: { name: 'Before' } });
    await page.waitForSelector(`#row-${old.requestId}`);
    await first.stop();
    await page.waitForSelector('.connection.lost');
    const second = await startConsoleService(folder.path);
    onTestFinished(() => second.stop());
    const fresh = await second.send('order', { id: 2, buyer: { name: 'After' } });
    await page.waitForSelector(`#row-${fresh.requestId}`);
    await page.waitForSelector(`#row-${old.requestId}`);
    await page.waitForSelector('.connection.live');
    await page.context().close();
  });
});
