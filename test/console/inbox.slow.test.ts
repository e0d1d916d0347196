/** The console in a real browser: the inbox, a request, hostile payloads. */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { complaintsOf, noBrowser, openBrowser } from '../support/browser.ts';
import { makeConsoleFolder, startConsoleService, type ConsoleService } from '../support/console-fixture.ts';

describe.skipIf(noBrowser !== '')(`the inbox${noBrowser === '' ? '' : `, ${noBrowser}`}`, () => {
  let browser: Browser;
  let context: BrowserContext;
  let running: ConsoleService;
  let folder: { readonly path: string; remove(): void };

  beforeAll(async () => {
    folder = makeConsoleFolder();
    [browser, running] = await Promise.all([openBrowser(), startConsoleService(folder.path)]);
    context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(running.link);
    await page.waitForSelector('.app');
    await page.close();
  });
  afterAll(async () => {
    await browser?.close();
    await running?.stop();
    folder?.remove();
  });

  async function open(path = '/'): Promise<Page> {
    const page = await context.newPage();
    await page.goto(running.url + path);
    await page.waitForSelector('.app');
    return page;
  }

  test('asks for the key, takes it once, and leaves it in no address', async () => {
    const stranger = await browser.newContext();
    const page = await stranger.newPage();
    await page.goto(running.url);
    await page.fill('#key', 'wrong');
    await page.click('button[type=submit]');
    await page.waitForSelector('#problem:has-text("not the key")');
    await page.goto(running.link);
    await page.waitForSelector('.app');
    expect(page.url()).toBe(`${running.url}/`);
    const [cookie] = await stranger.cookies();
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict' });
    await stranger.close();
  });

  test('shows a request the moment it arrives, in two tabs, and why it became what it is', async () => {
    const [one, two] = await Promise.all([open(), open()]);
    const complaints = complaintsOf(one);
    await one.waitForSelector('.live.live:has-text("live")');
    const { requestId, status } = await running.send('order', {
      id: 820982911946154508n.toString(),
      buyer: { name: 'Ada' },
      items: [{ sku: 'A1' }, { sku: 'B2' }],
    });
    expect(status).toBe(202);
    await Promise.all([one, two].map((page) => page.waitForSelector(`#row-${requestId}`)));
    await one.click(`#row-${requestId}`);
    await one.waitForSelector('.condition');
    expect(await one.textContent('.considered.accepted h3')).toContain('order-agent');
    expect(await one.textContent('.rendered')).toContain('Ada bought A1 B2');
    await one.click('.piece:has-text("B2")');
    await one.waitForSelector('.line.pointed:has-text("B2")');
    expect(await one.textContent('.boundary pre')).toContain('Ada bought');
    await one.waitForSelector('.work .outcome.accepted:has-text("ok")');
    expect(complaints).toEqual([]);
    await Promise.all([one.close(), two.close()]);
  });
});
