/**
 * Text that nobody meant as an attack must come through byte for byte. The corpus is what GitHub sends, the source of
 * this project, and the files under `innocent/`: mail as BBCode and HTML, shell, generics, Markdown. What is changed all
 * the same is listed here, and nothing else may be.
 */
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { findSpoofs, neutralise } from '../../../src/base/boundary/neutralise.ts';
import { foldText } from '../../../src/base/boundary/skeleton.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Changes that are expected, by file. */
const EXPECTED: Readonly<Record<string, readonly string[]>> = {
  // Struck out text: tokenizers of Llama and Mistral know <s> and </s>, so they count wherever they stand.
  'test/base/boundary/innocent/mail.html.txt': ['<s>', '</s>'],
  // An element of this name alone looks like the token <tool_call>; as a type, behind a word, it is code.
  'test/base/boundary/innocent/generics.txt': ['<ToolCall>', '</ToolCall>'],
  'src/service/channels/markdown.ts': ['<s>', '</s>'],
  // It looks for the markers themselves, in expectations of version 0.1.0.
  'src/authoring/golden/run-cases.ts': [
    String.raw`<<<EXTERNAL_CONTENT id="\2">>>`,
    String.raw`<<<END_EXTERNAL_CONTENT id="\2">>>`,
  ],
};

function changesIn(text: string): string[] {
  return findSpoofs(text, foldText(text)).map(({ start, end }) => text.slice(start, end));
}

function changesInFiles(pattern: string): Record<string, string[]> {
  const files = globSync(pattern, { cwd: root }).map((file) => file.split(path.sep).join('/'));
  expect(files.length).toBeGreaterThan(0);
  const changes = files.map(
    (file) => [file, changesIn(readFileSync(path.join(root, file), 'utf8'))] as const,
  );
  return Object.fromEntries(changes.filter(([, found]) => found.length > 0));
}

function expectedFor(folder: string): Record<string, readonly string[]> {
  return Object.fromEntries(Object.entries(EXPECTED).filter(([file]) => file.startsWith(folder)));
}

describe('innocent text', () => {
  test('of GitHub is not changed: all example payloads, whole and value by value', () => {
    const file = path.join(root, 'node_modules/@octokit/webhooks-examples/api.github.com/index.json');
    const hooks = JSON.parse(readFileSync(file, 'utf8')) as { name: string; examples: unknown[] }[];
    const examples = hooks.flatMap(({ name, examples: all }) => all.map((example) => ({ name, example })));
    expect(examples.length).toBeGreaterThan(300);
    for (const { name, example } of examples) {
      const text = JSON.stringify(example, undefined, 2);
      expect(changesIn(text), name).toEqual([]);
      JSON.parse(text, (_, value: unknown) => {
        if (typeof value === 'string') expect(neutralise(value)).toBe(value);
        return value;
      });
    }
  });

  test('in mail, shell, code and Markdown is not changed, except where it is listed', () => {
    expect(changesInFiles('test/base/boundary/innocent/*')).toEqual(expectedFor('test/'));
  });

  test("in this project's own source is not changed, except where it is listed", () => {
    const found = changesInFiles('src/*/!(boundary)/**/*.ts');
    expect(found).toEqual(expectedFor('src/'));
  });
});
