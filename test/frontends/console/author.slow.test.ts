/** The author's view in a real browser: typing to a changed preview, saving, and files that others change. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { complaintsOf, noBrowser } from '../../support/browser.ts';
import { useConsole } from '../../support/console-page.ts';

const FILE = 'mappings/order.yaml';

describe.skipIf(noBrowser !== '')(`the author's view${noBrowser === '' ? '' : `, ${noBrowser}`}`, () => {
  const pages = useConsole();
  let id = '';
  beforeAll(async () => {
    const { requestId } = await pages.running.send('order', {
      id: 7,
      buyer: { name: 'Ada', 'e mail': 'ada@example.org' },
      items: [{ sku: 'A1' }],
    });
    id = requestId;
  });

  async function openAuthor(): Promise<Page> {
    const page = await pages.open(`/author?request=${id}`);
    await page.waitForSelector('.cm-content');
    await page.waitForSelector('.rendered:has-text("Ada bought A1")');
    return page;
  }

  /** Puts the cursor behind the first place of a text. */
  async function clickBehind(page: Page, text: string): Promise<void> {
    await page.click('.cm-content');
    await page.keyboard.press('Control+Home');
    await page.keyboard.press('Control+f');
    await page.keyboard.type(text);
    await page.keyboard.press('Enter');
    await page.keyboard.press('Escape');
    await page.keyboard.press('ArrowRight');
  }

  test('typing changes the preview and says which of all requests would change, and nothing is written', async () => {
    const page = await openAuthor();
    const complaints = complaintsOf(page);
    await page.waitForSelector('.side summary:has-text("0 of 2 would change")');
    await clickBehind(page, 'bought');
    await page.keyboard.type(' today');
    await page.waitForSelector('.rendered:has-text("Ada bought today A1")');
    await page.click('nav a:has-text("Inbox")');
    await page.click('nav a:has-text("Author")');
    await page.waitForSelector('.cm-content:has-text("bought today")');
    await page.click('.side summary:has-text("2 of 2 would change")');
    expect(await page.textContent('.difference .removed')).toContain('bought');
    expect(await page.textContent('.difference .added')).toContain('bought today');
    expect(readFileSync(join(pages.folder, FILE), 'utf8')).not.toContain('today');
    expect(pages.running.service.generation.table.mappings[0]?.text?.source).not.toContain('today');
    expect(complaints).toEqual([]);
    await page.close();
  });

  test('shows the findings of check while typing, and mends one', async () => {
    const page = await openAuthor();
    const complaints = complaintsOf(page);
    await clickBehind(page, 'deliver');
    await page.keyboard.type('y');
    await page.waitForSelector('.finding.error:has-text("delivery")');
    await page.waitForSelector('.cm-lintRange-error');
    const line = "getComputedStyle(document.querySelector('.cm-lintRange-error')).textDecorationStyle";
    expect(await page.evaluate(line)).toBe('wavy');
    expect(complaints).toEqual([]);
    const { id: live } = pages.running.service.generation;
    await page.keyboard.press('Control+s');
    await page.waitForSelector('.toast:has-text("not live: 1 finding")');
    expect(pages.running.service.generation.id).toBe(live);
    await page.keyboard.press('Backspace');
    await page.waitForSelector('.finding.error', { state: 'detached' });
    await page.keyboard.press('Control+s');
    await page.waitForSelector('.toast:text-matches("^saved [^,]*$")');
    await page.close();
  });

  test('completes helpers, paths of the request and keys, and a clicked value puts its path in', async () => {
    const page = await openAuthor();
    await clickBehind(page, '{{note}}');
    await page.keyboard.type(' {{buy');
    // The paths are those of the chosen request, which may still be on its way: asked for as a person asks.
    const offered = async (): Promise<boolean> => {
      await page.keyboard.press('Control+Space');
      return page.isVisible('.cm-tooltip-autocomplete li:has-text("buyer.name")');
    };
    await expect.poll(offered).toBe(true);
    await page.keyboard.press('Escape');
    for (let keys = 0; keys < 6; keys += 1) await page.keyboard.press('Backspace');
    await page.keyboard.type(' {{trun');
    await page.waitForSelector('.cm-tooltip-autocomplete li:has-text("truncate")');
    await page.keyboard.press('Escape');
    for (let keys = 0; keys < 7; keys += 1) await page.keyboard.press('Backspace');
    await page.click('.side summary:has-text("Payload")');
    await page.click('.line:has-text("e mail")');
    expect(await page.textContent('.cm-content')).toContain('{{buyer.[e mail]}}');
    await page.waitForSelector('.rendered:has-text("ada@example.org")');
    await page.keyboard.press('Control+Home');
    await page.close();
  });

  test('saves with the keyboard, the service reloads, and a file changed outside is not written over', async () => {
    const page = await openAuthor();
    const before = pages.running.service.generation.id;
    // The page hears of no generation until the files are what they were.
    const files = Promise.withResolvers<void>();
    await page.route(/\/api\/inbox\?/, (route) => files.promise.then(() => route.continue()));
    await clickBehind(page, 'bought');
    await page.keyboard.type(' gladly');
    await page.keyboard.press('Control+s');
    await page.waitForSelector('.toast:has-text("saved")');
    const saved = readFileSync(join(pages.folder, FILE), 'utf8');
    expect(saved).toContain('# Orders of the shop.\n');
    expect(saved).toContain('bought gladly');
    await expect.poll(() => pages.running.service.generation.id).not.toBe(before);
    await page.keyboard.type(' and');
    writeFileSync(join(pages.folder, FILE), saved.replace('gladly', 'yesterday'));
    await page.keyboard.press('Control+s');
    await page.waitForSelector('.note:has-text("changed meanwhile")');
    expect(readFileSync(join(pages.folder, FILE), 'utf8')).toContain('yesterday');
    await page.click('button:has-text("read the file again")');
    await page.waitForSelector('.cm-content:has-text("yesterday")');
    writeFileSync(join(pages.folder, FILE), saved.replace(' gladly', ''));
    await pages.running.service.reload();
    files.resolve();
    await page.waitForSelector('.cm-content:not(:has-text("yesterday"))');
    await page.close();
  });

  test('shows console and error of a transform that is being written', async () => {
    const { requestId } = await pages.running.send('coded', { text: 'hi' });
    const page = await pages.open(
      `/author?request=${requestId}&at=${encodeURIComponent(join(pages.folder, 'transforms/shout.ts'))}:1:1`,
    );
    await page.waitForSelector('.result .transform .console:has-text("got hi")');
    await clickBehind(page, 'payload.text.');
    await page.keyboard.type('nothing.');
    await page.waitForSelector('.result .transform .problem:has-text("undefined")');
    await page.close();
  });

  test('opens the file of the nearest miss where no mapping took the request', async () => {
    writeFileSync(
      join(pages.folder, 'mappings/a-first.yaml'),
      'id: first\nmatch: {path: first}\naction: wake\n',
    );
    await pages.running.service.reload();
    const { requestId } = await pages.running.send('order', { id: 1, buyer: { name: '' } });
    const page = await pages.open(`/request/${requestId}`);
    await page.click('a:has-text("Try a change")');
    await page.waitForSelector('.cm-content:has-text("order-agent")');
    rmSync(join(pages.folder, 'mappings/a-first.yaml'));
    await pages.running.service.reload();
    await page.close();
  });

  test('makes a mapping of a request that none took', async () => {
    const { requestId } = await pages.running.send('brand-new', { title: 'A first one' });
    const page = await pages.open(`/request/${requestId}`);
    await page.click('button:has-text("New mapping from this request")');
    await page.waitForSelector('.cm-content:has-text("brand-new")');
    expect((await pages.running.send('brand-new', { title: 'A first one' })).status).toBe(202);
    rmSync(join(pages.folder, 'mappings/brand-new.yaml'));
    await pages.running.service.reload();
    await page.close();
  });
});
