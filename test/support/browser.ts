import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';

const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium';

/** Why tests with a browser are skipped; empty where there is one. */
export const noBrowser = existsSync(CHROMIUM)
  ? ''
  : `skipped: there is no ${CHROMIUM} (apt-get install chromium, or set CHROMIUM)`;

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
