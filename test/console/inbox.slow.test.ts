/** The console in a real browser: the inbox, a request, hostile payloads. */
import { describe, expect, test } from 'vitest';
import { complaintsOf, noBrowser } from '../support/browser.ts';
import { useConsole } from '../support/console-page.ts';

describe.skipIf(noBrowser !== '')(`the inbox${noBrowser === '' ? '' : `, ${noBrowser}`}`, () => {
  const pages = useConsole();

  test('asks for the key, takes it once, and leaves it in no address', async () => {
    const stranger = await pages.browser.newContext();
    const page = await stranger.newPage();
    await page.goto(pages.running.url);
    await page.fill('#key', 'wrong');
    await page.click('button[type=submit]');
    await page.waitForSelector('#problem:has-text("not the key")');
    await page.goto(pages.running.link);
    await page.waitForSelector('.app');
    expect(page.url()).toBe(`${pages.running.url}/`);
    const [cookie] = await stranger.cookies();
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict' });
    await stranger.close();
  });

  test('shows a request the moment it arrives, in two tabs, and why it became what it is', async () => {
    const [one, two] = await Promise.all([pages.open(), pages.open()]);
    const complaints = complaintsOf(one);
    await one.waitForSelector('.live.live:has-text("live")');
    const { requestId, status } = await pages.running.send(
      'order',
      '{"id": 820982911946154508, "buyer": {"name": "Ada"}, "items": [{"sku": "A1"}, {"sku": "B2"}]}',
    );
    expect(status).toBe(202);
    await Promise.all([one, two].map((page) => page.waitForSelector(`#row-${requestId}`)));
    await one.click(`#row-${requestId}`);
    await one.waitForSelector('.condition');
    expect(await one.textContent('.considered.accepted h3')).toContain('order-agent');
    await one.waitForSelector('.line .number:has-text("820982911946154508")');
    expect(await one.textContent('.rendered')).toContain('Ada bought A1 B2');
    await one.click('.piece:has-text("B2")');
    await one.waitForSelector('.line.pointed:has-text("B2")');
    expect(await one.textContent('.boundary pre')).toContain('Ada bought');
    await one.waitForSelector('.work .outcome.accepted:has-text("ok")');
    expect(complaints).toEqual([]);
    await Promise.all([one.close(), two.close()]);
  });

  test('drops a run that waits', async () => {
    await pages.running.send('slow', {});
    const { requestId } = await pages.running.send('slow', {});
    const page = await pages.open(`/request/${requestId}`);
    await page.click('.work button:has-text("Drop")');
    await page.waitForSelector('.work .problem:has-text("dropped")');
    await page.close();
  });

  test('filters by outcome, hook, mapping and text', async () => {
    await pages.running.send('nowhere', {});
    const page = await pages.open();
    await page.waitForSelector('.row:has-text("nowhere")');
    await page.selectOption('select[aria-label=Outcome]', 'rejected');
    await page.waitForSelector('.row:has-text("order-agent")', { state: 'detached' });
    await page.click('button:has-text("Clear")');
    await page.selectOption('select[aria-label=Mapping]', 'order-agent');
    await page.waitForSelector('.row:has-text("nowhere")', { state: 'detached' });
    expect(await page.textContent('.count')).toMatch(/^1 of \d/);
    await page.close();
  });
});
