/** Every view: what axe says, in light and dark, from a telephone to a desk, and without a mouse. */
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { noBrowser } from '../../support/browser.ts';
import { useConsole } from '../../support/console-page.ts';

const AXE = readFileSync(new URL('../../../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');

describe.skipIf(noBrowser !== '')(`every view${noBrowser === '' ? '' : `, ${noBrowser}`}`, () => {
  const pages = useConsole();
  const ids = { taken: '', missed: '' };
  beforeAll(async () => {
    ids.taken = (
      await pages.running.send('order', { id: 7, buyer: { name: 'Ada' }, items: [{ sku: 'A1' }] })
    ).requestId;
    ids.missed = (await pages.running.send('order', { id: 0, buyer: { nmae: 'Ada' } })).requestId;
  });

  const VIEWS: readonly (readonly [string, () => string, string])[] = [
    ['the overview and the inbox', () => '/', '.causes li, .history .bar-of'],
    ['a request that was taken', () => `/request/${ids.taken}`, '.work .outcome'],
    ['a request that no mapping took', () => `/request/${ids.missed}`, '.considered.rejected .condition'],
    ['a replay', () => '/replay?outcome=rejected', '.overview summary .outcome'],
    ['the mappings', () => '/mappings', 'tbody tr'],
    ['the runs', () => '/runs', 'tbody tr'],
    ['the runs of a state that none has', () => '/runs?state=dead', '.wide .empty'],
    ['the conversations', () => '/conversations', 'tbody tr, .wide .empty'],
    ['the deliveries', () => '/deliveries', '.wide .empty'],
    ['the costs', () => '/costs', '.wide .empty'],
    ['the changes', () => '/audit', 'tbody tr'],
    ['the author', () => `/author?request=${ids.taken}`, '.result .rendered'],
  ];
  const isLong = process.env['TEST_FORM'] === 'long';
  /** A telephone in light colours and a desk in dark ones; in the long form each in both. A wider desk is to fit, too. */
  const BOTH = ['light', 'dark'] as const;
  const SIZES: readonly (readonly [number, number, readonly ('light' | 'dark')[]])[] = [
    [390, 844, isLong ? BOTH : ['light']],
    [1024, 768, isLong ? BOTH : ['dark']],
    [1440, 900, isLong ? BOTH : []],
  ];

  async function violations(page: Page): Promise<readonly string[]> {
    if (await page.evaluate("typeof axe === 'undefined'")) await page.evaluate(AXE);
    const found = (await page.evaluate(
      'axe.run().then(({violations}) => violations.map(({id, nodes}) => id + ": " + nodes.map(({html}) => html).join(" ")))',
    )) as string[];
    return found;
  }

  test.each(VIEWS)(
    'axe finds nothing in %s, and it fits, in light and dark, on a telephone and on a desk',
    async (_name, path, selector) => {
      const page = await pages.open(path());
      await page.waitForSelector(selector, { state: 'attached' });
      for (const [width, height, colours] of SIZES) {
        await page.setViewportSize({ width, height });
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
        for (const colorScheme of colours) {
          await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
          expect(await violations(page), `${width} ${colorScheme}`).toEqual([]);
        }
      }
      await page.close();
    },
  );

  test('axe finds nothing where the key is asked for', async () => {
    const context = await pages.newContext();
    const page = await context.newPage();
    await page.goto(pages.running.url);
    await page.waitForSelector('#key');
    expect(await violations(page)).toEqual([]);
    await context.close();
  });

  test('each part of a request can be opened and copied', async () => {
    const page = await pages.open(`/request/${ids.taken}`);
    await page.focus('.content summary:has-text("headers")');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.content .tree[aria-label=headers] .line:has-text("content-type")');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.click('button:has-text("Copy as JSON")');
    await page.waitForSelector('.toast:has-text("copied the payload")');
    expect(JSON.parse(await page.evaluate<string>('navigator.clipboard.readText()'))).toMatchObject({
      id: 7,
    });
    await page.close();
  });

  test('goes from the list to a value of the payload without a mouse', async () => {
    const page = await pages.open();
    await page.waitForSelector('.row');
    await page.keyboard.press('/');
    await page.keyboard.type('order-agent');
    await page.keyboard.press('Escape');
    await page.keyboard.press('j');
    await page.waitForSelector('.row.open');
    await page.waitForSelector('.content .tree .line');
    await page.focus('.content .tree .line');
    for (const key of ['End', 'ArrowLeft', 'ArrowLeft', 'Home', 'ArrowDown', 'Enter'])
      await page.keyboard.press(key);
    await page.waitForSelector('.toast:has-text("payload.id")');
    await page.keyboard.press('?');
    await page.waitForSelector('.help');
    await page.keyboard.press('Escape');
    await page.waitForSelector('.help', { state: 'detached' });
    await page.keyboard.press('g');
    await page.keyboard.press('a');
    await page.waitForSelector('.cm-content');
    await page.close();
  });
});
