/** The console in a real browser: the inbox, a request, hostile payloads. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
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
    expect(await stranger.cookies()).toEqual([]);
    await page.reload();
    await page.waitForSelector('.live.live:has-text("live")');
    await page.evaluate("localStorage.setItem('sluice-session', 'author.zzzzzzzz.made-up')");
    await page.reload();
    await page.waitForSelector('#key');
    await stranger.close();
  });

  test('a server on another port of the host neither gets the session nor can read or change anything', async () => {
    const heard: string[] = [];
    const other = createServer((req, res) => {
      heard.push(JSON.stringify(req.headers));
      res.writeHead(200, { 'content-type': 'text/html' }).end('<p>another server</p>');
    });
    await new Promise<void>((listening) => other.listen(0, '127.0.0.1', listening));
    const page = await pages.open();
    const token = await page.evaluate<string>("localStorage.getItem('sluice-session')");
    expect(token).toMatch(/^author\./);
    await page.goto(`http://127.0.0.1:${(other.address() as AddressInfo).port}/`);
    const read = await page.evaluate<readonly (string | number)[]>(`(async () => {
      const said = [localStorage.getItem('sluice-session') ?? 'no session', document.cookie];
      const url = ${JSON.stringify(pages.running.url)};
      const tries = [
        { credentials: 'include' },
        { headers: { 'x-sluice-session': 'x' } },
        { method: 'POST', body: '{}', mode: 'no-cors', credentials: 'include' },
      ];
      for (const init of tries)
        said.push(await fetch(url + '/api/inbox', init).then((answer) => answer.status, () => 'kept out'));
      return said;
    })()`);
    expect(read).toEqual(['no session', '', 'kept out', 'kept out', 'kept out']);
    expect(heard.join('')).not.toContain(token.split('.').at(-1));
    expect(heard.join('')).not.toContain('cookie');
    other.close();
    await page.close();
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

  test('a page that was hidden goes on where it was, and misses nothing', async () => {
    const page = await pages.open();
    await page.waitForSelector('.live.live:has-text("live")');
    const hide = (isHidden: boolean) =>
      page.evaluate(
        `Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true });
         document.dispatchEvent(new Event('visibilitychange'))`,
      );
    await hide(true);
    const { requestId } = await pages.running.send('nowhere', {});
    await hide(false);
    await page.waitForSelector(`#row-${requestId}`);
    await page.close();
  });
});
