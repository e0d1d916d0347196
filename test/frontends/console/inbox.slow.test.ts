/** The console in a real browser: the inbox, a request, hostile payloads. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { complaintsOf, noBrowser } from '../../support/browser.ts';
import { makeConsoleFolder, startConsoleService } from '../../support/console-fixture.ts';
import { freePort } from '../../support/free-port.ts';
import { useConsole } from '../../support/console-page.ts';

describe.skipIf(noBrowser !== '')(`the inbox${noBrowser === '' ? '' : `, ${noBrowser}`}`, () => {
  const pages = useConsole();

  test('asks for the key, takes it once, and leaves it in no address', async () => {
    const stranger = await pages.newContext();
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
    await page.waitForSelector('.connection.live:has-text("live")');
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
    await one.waitForSelector('.connection.live:has-text("live")');
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

  test('a link to an old request shows its row, and new requests leave the list where it is', async () => {
    const ids: string[] = [];
    for (let sent = 0; sent < 80; sent += 1) ids.push((await pages.running.send('nowhere', {})).requestId);
    const page = await pages.open(`/request/${ids[0] ?? ''}`);
    const list = page.locator('.rows');
    const top = () => page.evaluate<number>("document.querySelector('.rows').scrollTop");
    await page.waitForSelector(`#row-${ids[0] ?? ''}.open`);
    const isInSight = `document.querySelector('#row-${ids[0] ?? ''}').getBoundingClientRect().bottom <= innerHeight`;
    await expect.poll(() => page.evaluate(isInSight)).toBe(true);
    expect(await top()).toBeGreaterThan(1000);
    await page.evaluate("document.querySelector('.rows').scrollTop = 580");
    // The open row is far below now, and not even made: nothing may point at it.
    await page.waitForSelector(`#row-${ids[0] ?? ''}`, { state: 'detached' });
    expect(await list.getAttribute('aria-activedescendant')).toBeNull();
    await pages.running.send('nowhere', {});
    await expect.poll(top).toBe(580 + 58);
    await page.close();
  });

  test('says which day requests are of, and shows those of one', async () => {
    const page = await pages.open();
    await page.waitForSelector('.row[data-day^="Today"]');
    await page.selectOption('select[aria-label=Time]', { index: 2 });
    await page.waitForSelector('.count:has-text("0 of")');
    await page.selectOption('select[aria-label=Time]', { index: 1 });
    await page.waitForSelector('.row[data-day^="Today"]');
    expect(page.url()).toMatch(/time=\d{4}-/);
    await page.close();
  });

  test('a search over what is kept is a link, and a day can be chosen', async () => {
    const { requestId } = await pages.running.send('order', { id: 5, buyer: { name: 'Zuse' }, items: [] });
    const page = await pages.open();
    await page.waitForSelector('.row[data-day^="Today"]');
    await page.fill('#search', 'zuse');
    await page.waitForSelector('.count:has-text("0 of")');
    await page.keyboard.press('Enter');
    await page.waitForSelector(`#row-${requestId}`);
    const { url } = { url: page.url() };
    await page.selectOption('select[aria-label=Time]', { index: 2 });
    await page.waitForSelector(`.count:has-text('No request with "zuse" in 0 kept requests')`);
    await page.waitForSelector('.empty:has-text("No request of the list is like this")');
    await page.goto(url);
    await page.waitForSelector(`#row-${requestId}`);
    await page.selectOption('select[aria-label=Time]', { index: 1 });
    await page.waitForSelector('.count:has-text("1 hit")');
    await page.waitForSelector('.count:has-text("1 of")');
    await page.close();
  });

  test('Enter after j goes to the request', async () => {
    const page = await pages.open();
    await page.waitForSelector('.row');
    await page.keyboard.press('j');
    await page.waitForSelector('.request-head h1');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.tagName')).toBe('H1');
    await page.close();
  });

  test('a request opened while the service was away comes up with it, and a replaced key is asked for', async () => {
    const port = await freePort();
    const folder = makeConsoleFolder({
      'sluice.yaml': `hooks: {enabled: true, token: "\${SLUICE_HOOK_TOKEN}"}\ngateway: {runners: {slow: {kind: command, argv: [sleep, "60"], cwd: private, maxRuns: 1}}}\nconsole: {port: ${port}}\n`,
    });
    onTestFinished(() => folder.remove());
    const first = await startConsoleService(folder.path);
    const context = await pages.newContext();
    const page = await context.newPage();
    await page.goto(first.link);
    const command = (await page.textContent('.empty code')) ?? '';
    const [, url = '', sent = ''] = /^curl (\S+) .* --json '(.*)'$/.exec(command) ?? [];
    expect(url).toBe(`${first.service.url}/hooks/wake`);
    await first.send('wake', sent);
    await page.click('.row:has-text("wake")');
    await page.waitForSelector('.request-head .outcome.accepted');
    const { requestId } = await first.send('nowhere', {});
    await page.waitForSelector(`#row-${requestId}`);
    await first.stop();
    await page.waitForSelector('.connection.lost');
    const colour = (selector: string) =>
      page.evaluate(`getComputedStyle(document.querySelector('${selector}')).color`);
    expect(await colour('.connection.lost .dot')).toBe(await colour('.connection.lost'));
    await page.click(`#row-${requestId}`);
    await page.waitForSelector('.empty:has-text("does not answer")');
    const second = await startConsoleService(folder.path);
    await page.waitForSelector('.request-head .outcome.rejected');
    await second.stop();
    rmSync(join(folder.path, '.sluice/console-key'));
    const third = await startConsoleService(folder.path);
    onTestFinished(() => third.stop());
    await page.waitForSelector('#key');
    await context.close();
  });

  test('a page that was hidden goes on where it was, and misses nothing', async () => {
    const page = await pages.open();
    await page.waitForSelector('.connection.live:has-text("live")');
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
