/**
 * Makes the pictures of README.md and docs/command-line.md: `npm run screenshots`. A service with the mappings and golden
 * requests of this repository, a real browser, and the same views each time.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { findCases } from '../../src/authoring/golden/golden.ts';
import { noBrowser, openBrowser } from './browser.ts';
import { startConsoleService, type ConsoleService } from './console-fixture.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const IMAGES = join(ROOT, 'docs/images');
/** Sent in this order; the last one stands first. */
const REQUESTS = [
  'contact-form/message',
  'wake/text',
  'grafana/firing',
  'github/pull-request-opened',
  'sentry/issue-created',
  'uptime-kuma/down',
  'home-assistant/door-open-someone-home',
  'alertmanager/firing',
  'github/push',
];

if (noBrowser !== '') throw new Error(noBrowser);
const folder = mkdtempSync(join(tmpdir(), 'sluice-pictures-'));
process.chdir(folder);
for (const name of ['mappings', 'transforms', 'test/golden', 'test/fixtures/payloads'])
  cpSync(join(ROOT, name), join(folder, name), { recursive: true });
rmSync(join(folder, 'mappings/presets'), { recursive: true });
writeFileSync(
  join(folder, 'sluice.yaml'),
  'hooks: {enabled: true, token: "${SLUICE_HOOK_TOKEN}", presets: [mail]}\ngateway: {heartbeat: {everySeconds: 0}}\nconsole: {port: 0}\n',
);
mkdirSync(IMAGES, { recursive: true });
const [running, browser] = await Promise.all([startConsoleService(folder), openBrowser()]);
try {
  const ids = await sendAll(running);
  const context = await browser.newContext({ viewport: { width: 1360, height: 850 }, colorScheme: 'light' });
  const page = await context.newPage();
  await page.goto(running.link);
  await page.waitForSelector('.row');
  await page.goto(`${running.url}/request/${ids.get('github/push') ?? ''}`);
  await page.waitForSelector('.work .outcome');
  await take(page, 'console-request');
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.goto(`${running.url}/request/${ids.get('home-assistant/door-open-someone-home') ?? ''}`);
  await page.waitForSelector('.considered');
  await take(page, 'console-missed');
  await page.emulateMedia({ colorScheme: 'light' });
  await page.goto(
    `${running.url}/author?request=${ids.get('github/push') ?? ''}&at=mappings/github.yaml:13:3`,
  );
  await page.waitForSelector('.rendered');
  await page.click('.cm-line:has-text("pushed {{length commits}}")');
  await page.keyboard.press('Home');
  await page.keyboard.type('New: ');
  // All golden cases are judged first.
  await page.waitForSelector('.side summary:has-text("would change")', { timeout: 120_000 });
  await page.waitForSelector('.rendered:has-text("New: ")');
  await page.click('.side summary:has-text("would change")');
  await page.waitForSelector('.difference');
  await take(page, 'console-author');
} finally {
  await browser.close();
  await running.stop();
  process.chdir(ROOT);
  rmSync(folder, { recursive: true });
}

/** Resolves to the id of each request by its case's name. */
async function sendAll({ send }: ConsoleService): Promise<ReadonlyMap<string, string>> {
  const { cases } = await findCases(join(folder, 'test/golden'));
  const ids = new Map<string, string>();
  for (const name of REQUESTS) {
    const request = cases.find((one) => one.name === name)?.deliveries[0]?.request;
    // Another one in its place made the wrong picture.
    if (request === undefined) throw new Error(`there is no golden case ${name}`);
    const { 'content-type': _type, ...headers } = request.headers;
    ids.set(name, (await send(request.path, request.payload, headers)).requestId);
  }
  return ids;
}

/** Fewer colours make a picture of flat areas a third as large, where pngquant or its like is there. */
async function take(page: Page, name: string): Promise<void> {
  await page.mouse.move(0, 0);
  await page.waitForTimeout(1_800);
  const file = join(IMAGES, `${name}.png`);
  await page.screenshot({ path: file });
  try {
    execFileSync('pngquant', ['--force', '--skip-if-larger', '--output', file, '64', file], {
      stdio: 'ignore',
    });
  } catch {
    // Without it the pictures are larger, and as good.
  }
  process.stdout.write(`${name}.png ${Math.round(statSync(file).size / 1024)} KB\n`);
}
