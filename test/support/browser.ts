import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';

/** Chromium without a window: the same pages for half of the processor time, as it draws no bar of tabs for each. */
const HEADLESS = '/usr/bin/chromium-headless-shell';
const CHROMIUM =
  process.env['CHROMIUM'] ?? [HEADLESS, '/usr/bin/chromium'].find((path) => existsSync(path)) ?? HEADLESS;

/** Why tests with a browser are skipped; empty where there is one. */
export const noBrowser = existsSync(CHROMIUM)
  ? ''
  : `skipped: there is no ${CHROMIUM} (apt-get install chromium-headless-shell, or set CHROMIUM)`;

/** A real browser, which whoever opens it closes. */
export function openBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
}

let shared: Promise<Browser> | undefined;

/** One browser for all files of a worker, which ends with it: what is opened in it is closed by whoever opened it. */
export function sharedBrowser(): Promise<Browser> {
  shared ??= openBrowser();
  return shared;
}

/** What a page complained of: errors of scripts, and everything its policy refused. */
export function complaintsOf(page: Page): readonly string[] {
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  return complaints;
}
