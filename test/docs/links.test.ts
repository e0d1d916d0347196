import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';
import { pagePaths, readPage, sectionOf } from '../support/docs.ts';

/** Text of a page without its code, where a bracket is no link and a "#" no heading. */
function proseOf(path: string): string {
  return readPage(path)
    .replaceAll(/^```[\s\S]*?^```$/gm, '')
    .replaceAll(/`[^`\n]*`/g, (code) => code.replaceAll(/[[\]()]/g, ' '));
}

/** The anchors that a page's headings get on the usual hosts: lower case, punctuation dropped, spaces as dashes. */
function anchorsOf(path: string): ReadonlySet<string> {
  const headings = [...proseOf(path).matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) => heading);
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(/\s/g, '-'),
    ),
  );
}

function linksOf(path: string): readonly string[] {
  const prose = proseOf(path);
  return [...prose.matchAll(/\]\(([^)\s]+)\)|^\[[^\]]+\]: (\S+)$/gm)].map(([, a, b]) => a ?? b ?? '');
}

function problemOf(page: string, link: string): string | undefined {
  if (/^https?:\/\//.test(link)) return undefined;
  const [file = '', anchor] = link.split('#');
  const target = file === '' ? page : normalize(join(dirname(page), file));
  if (!existsSync(target)) return `${page}: ${link} leads nowhere`;
  if (anchor !== undefined && !anchorsOf(target).has(anchor)) return `${page}: ${link} names no heading`;
  return undefined;
}

test('every link between pages leads to a file and a heading that exist', () => {
  const pages = pagePaths();
  expect(pages).toContain('docs/http.md');
  const links = pages.flatMap((page) => linksOf(page).map((link) => ({ page, link })));
  expect(links.length).toBeGreaterThan(30);
  expect(links.map(({ page, link }) => problemOf(page, link)).filter(Boolean)).toEqual([]);
});

test('the Node that editors and CI take is the Node of the project', () => {
  const { devDependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    devDependencies: Record<string, string>;
  };
  expect(readFileSync('.node-version', 'utf8').trim()).toBe(devDependencies['node']);
});

test('the tables of modules list every folder and file of the layers', () => {
  const section = sectionOf(readPage('docs/architecture.md'), '## Modules');
  const rows = [...section.matchAll(/^\| `([\w.-]+)\/?` /gm)].map(([, name = '']) => name);
  const modules = ['base', 'engine', 'service', 'authoring', 'frontends'].flatMap((layer) =>
    readdirSync(`src/${layer}`),
  );
  expect(rows.toSorted()).toEqual(modules.toSorted());
});

test('every file that the list of modules names stands in that module', () => {
  const section = sectionOf(readPage('docs/architecture.md'), '## Files by module');
  const parts = [...section.matchAll(/\*\*`([\w/]+)\/`\*\*([^]*?)(?=\*\*`|$)/g)];
  expect(parts.length).toBeGreaterThan(25);
  const missing = parts.flatMap(([, module = '', text = '']) =>
    [...text.matchAll(/`([a-z][\w-]*\.tsx?)`/g)]
      .map(([, file = '']) => file)
      .filter((file) => globSync(`src/${module}/**/${file}`).length === 0)
      .map((file) => `${module}/${file}`),
  );
  expect(missing).toEqual([]);
});

test('every path of the source, the tests and the schemas that a page names exists', () => {
  const paths = pagePaths()
    .filter((page) => page !== 'CHANGELOG.md' && !/^(?:docs\/decisions|skills)\//.test(page))
    .flatMap((page) =>
      [...readPage(page).matchAll(/`((?:src|test|schemas)\/[\w./-]+)`/g)].map(([, path = '']) => path),
    );
  expect(paths.length).toBeGreaterThan(20);
  expect(paths.filter((path) => !existsSync(path))).toEqual([]);
});

test('every name of the code that the architecture page gives exists', () => {
  const source = globSync(['src/**/*.ts', 'test/**/*.ts', 'package.json'])
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n');
  const names = [...readPage('docs/architecture.md').matchAll(/`([a-z]+[A-Z][A-Za-z]+)`/g)].map(
    ([, name = '']) => name,
  );
  expect(names.length).toBeGreaterThan(5);
  expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(source))).toEqual([]);
});

test('a broken link is found', () => {
  expect(problemOf('README.md', 'docs/nothing.md')).toMatch(/leads nowhere/);
  expect(problemOf('docs/http.md', '#no-such-heading')).toMatch(/names no heading/);
});

test('every page of the documentation can be reached from the README', () => {
  const reached = new Set<string>();
  const visit = (page: string): void => {
    if (reached.has(page) || !page.endsWith('.md') || !existsSync(page)) return;
    reached.add(page);
    for (const link of linksOf(page)) {
      if (!/^https?:/.test(link)) visit(normalize(join(dirname(page), link.split('#')[0] ?? '')));
    }
  };
  visit('README.md');
  expect(pagePaths().filter((page) => page.endsWith('.md') && !reached.has(page))).toEqual([]);
});
