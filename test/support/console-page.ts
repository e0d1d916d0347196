import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { sharedBrowser } from './browser.ts';
import { makeConsoleFolder, startConsoleService, type ConsoleService } from './console-fixture.ts';

/** A browser that is signed in to a console: one for a file of tests. */
export interface ConsolePages {
  readonly context: BrowserContext;
  readonly running: ConsoleService;
  readonly folder: string;
  /** A context without a session: somebody else. */
  newContext(): Promise<BrowserContext>;
  /** Opens a view and waits until it is there. */
  open(path?: string): Promise<Page>;
}

/** Opens it before the tests and closes all of it after them. */
export function useConsole({
  mode = 'dev',
  files = {},
}: {
  readonly mode?: 'dev' | 'serve';
  readonly files?: Readonly<Record<string, string>>;
} = {}): ConsolePages {
  const held: { browser?: Browser; context?: BrowserContext; running?: ConsoleService } = {};
  let folder: ReturnType<typeof makeConsoleFolder> | undefined;
  const newContext = async (): Promise<BrowserContext> => {
    const context = await get(held.browser).newContext();
    // Only ends what hangs.
    context.setDefaultTimeout(120_000);
    return context;
  };
  beforeAll(async () => {
    folder = makeConsoleFolder(files);
    [held.browser, held.running] = await Promise.all([
      sharedBrowser(),
      startConsoleService(folder.path, { mode }),
    ]);
    held.context = await newContext();
    const page = await held.context.newPage();
    await page.goto(held.running.link);
    await page.waitForSelector('.app');
    await page.close();
  });
  // A browser gives one address six connections, and each page holds one: those of a test that failed, too.
  afterEach(async () => {
    await Promise.all(held.context?.pages().map((page) => page.close()) ?? []);
  });
  afterAll(async () => {
    await held.context?.close();
    await held.running?.stop();
    folder?.remove();
  });
  const get = <Value>(value: Value | undefined): Value => {
    if (value === undefined) throw new Error('the console has not started');
    return value;
  };
  return {
    newContext,
    get context() {
      return get(held.context);
    },
    get running() {
      return get(held.running);
    },
    get folder() {
      return get(folder).path;
    },
    open: async (path = '/') => {
      const page = await get(held.context).newPage();
      await page.goto(get(held.running).url + path);
      await page.waitForSelector('.app');
      return page;
    },
  };
}
