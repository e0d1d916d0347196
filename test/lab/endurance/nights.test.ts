/**
 * Five nights of somebody who is called, in Chromium with the real service, 30 hooks a second and two days behind it. Each
 * begins at the first screen, and prints its clicks and seconds. With NIGHT_SHOTS, a folder, it also makes pictures.
 */
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { complaintsOf, noBrowser, openBrowser } from '../../support/browser.ts';
import { FAILED, MISSED, type Night, startNight } from '../../support/night-fixture.ts';

const SHOTS = process.env['NIGHT_SHOTS'];

describe.skipIf(noBrowser !== '')('a night', () => {
  const held: { night?: Night; browser?: Browser } = {};
  beforeAll(async () => {
    held.night = await startNight();
    held.browser = await openBrowser();
  }, 120_000);
  afterAll(async () => {
    await held.browser?.close();
    await held.night?.stop();
  });

  /** Goes through a night from the first screen; `click` counts. */
  async function live(
    name: string,
    steps: (page: Page, click: (selector: string) => Promise<void>, night: Night) => Promise<void>,
  ): Promise<void> {
    const { night, browser } = held as Required<typeof held>;
    const context = await browser.newContext({ viewport: { width: 1360, height: 850 } });
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    const complaints = complaintsOf(page);
    const began = performance.now();
    await page.goto(night.link);
    await page.waitForSelector('h2:has-text("need attention")');
    let clicks = 0;
    const shot = async (): Promise<void> => {
      if (SHOTS !== undefined) await page.screenshot({ path: join(SHOTS, `${name}-${clicks}.png`) });
    };
    await shot();
    await steps(
      page,
      async (selector) => {
        await page.click(selector);
        clicks += 1;
        await shot();
      },
      night,
    );
    const seconds = (performance.now() - began) / 1000;
    process.stdout.write(`${name}: ${clicks} clicks, ${seconds.toFixed(1)} s\n`);
    if (SHOTS !== undefined) await page.screenshot({ path: join(SHOTS, `${name}-end.png`) });
    expect(complaints).toEqual([]);
    await context.close();
  }

  test(
    'a condition takes nothing since yesterday',
    () =>
      live('condition', async (page, click, night) => {
        const cause = `.causes > li:has-text("github"):has-text("payload.action in")`;
        await page.waitForSelector(`${cause}:has-text("before that 4 a day")`);
        expect(await page.textContent(`${cause} b`)).toBe(`${MISSED + 6} × `);
        await night.sendPull('closed', 'delivery-of-tonight');
        await page.waitForSelector(`${cause}:has-text('found "closed"')`);
        await click(`${cause} a:has-text("Open one")`);
        await page.waitForSelector('.sentence:has-text("Refused with 404 no_mapping_matched")');
        // The file is mended as everywhere: in its repository.
        const before = await page.textContent('.generation');
        night.mendMapping();
        await page.waitForSelector(`.generation:not(:has-text("${before ?? ''}"))`);
        await click('nav a:has-text("Inbox")');
        await click(`${cause} a:has-text("Replay these")`);
        await page.waitForSelector('.outcome:has-text("1 would be taken")');
        await click('button:has-text("Replay 1")');
        await page.waitForSelector('.progress [role=status]:has-text("1 request taken again at ")');
      }),
    120_000,
  );

  test(
    'the key of an agent has expired, and 400 runs failed',
    () =>
      live('key', async (page, click, night) => {
        const cause = '.causes > li:has-text("review, claude: ")';
        expect(await page.textContent(`${cause} b`)).toMatch(/^40\d × $/);
        await page.waitForSelector(`${cause}:has-text("since ")`);
        night.renewKey();
        await click(`${cause} button:has-text("Run again what failed")`);
        await page.waitForSelector(`.plan:has-text("runs, the oldest first")`);
        await click('.plan button.primary');
        await page.waitForSelector('.progress progress');
        await page.waitForSelector(
          `.progress [role=status]:text-matches("40\\\\d runs begun again at .*: 40\\\\d ended well.$")`,
        );
        await click('button:has-text("Copy the sentence")');
        const sentence = await page.evaluate<string>('navigator.clipboard.readText()');
        expect(sentence).toMatch(/^40\d runs begun again at \d\d:\d\d:\d\d: 40\d ended well.* http:/);
        expect(FAILED).toBeLessThanOrEqual(Number(sentence.slice(0, 3)));
      }),
    240_000,
  );

  test(
    'one path is flooded',
    () =>
      live('flood', async (page, click, night) => {
        const flood = Array.from({ length: 1_200 }, (_, index) => index);
        for (let at = 0; at < flood.length; at += 20)
          // oxlint-disable-next-line no-await-in-loop -- twenty at a time
          await Promise.all(
            flood.slice(at, at + 20).map((index) => night.send('metrics', { text: String(index) })),
          );
        const cause = '.causes > li:has-text("metrics: far more in ten minutes than before")';
        await page.waitForSelector(cause);
        await click(`${cause} button:has-text("pause metrics-event")`);
        await page.waitForSelector('.causes > li:has-text("mapping metrics-event is paused")');
        await click(`${cause} a:has-text("Show these")`);
        await page.waitForSelector('.row:has-text("metrics")');
        await click('nav a:has-text("Inbox")');
        await click('.causes button:has-text("resume metrics-event")');
      }),
    120_000,
  );

  test(
    'it became expensive',
    () =>
      live('money', async (page, click) => {
        await page.waitForSelector('p:has-text("Spent today: $41.00"):has-text("on a day before")');
        await click('button:has-text("pause triage")');
        await page.waitForSelector('.causes > li:has-text("mapping triage is paused")');
        await click('a:has-text("Spent today")');
        await page.waitForSelector('td:has-text("triage")');
      }),
    120_000,
  );

  test(
    '"you never got my event"',
    () =>
      live('event', async (page, click, night) => {
        expect(await night.sendPull('opened', 'delivery-that-came')).toBe(202);
        await click('#search');
        await page.keyboard.type('delivery-that-never-came');
        await page.keyboard.press('Enter');
        await page.waitForSelector(
          '.count:text-matches("No request with .delivery-that-never-came. in [\\\\d,]+ kept requests? since .*; of [\\\\d,]+ accepted ones .*; of [\\\\d,]+ older ones")',
        );
        await page.waitForSelector('.count pre:text-is("sluice recover github --dry-run")');
        // Another one was accepted, of which no text is kept: its id is found.
        await page.fill('#search', 'delivery-that-came');
        await page.keyboard.press('Enter');
        await page.waitForSelector('.count:has-text("1 hit")');
        await click('.row');
        await page.waitForSelector('.sentence:has-text("Taken by review")');
      }),
    120_000,
  );
});
