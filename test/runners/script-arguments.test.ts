/** Scripts that read the prompt as an argument, which no argument holds, and those that know what they do. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findUnreadPrompt } from '../../src/runners/runners.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluice-arguments-'));

function unread(
  name: string,
  code: string,
  { argv = [`./${name}`], prompt = 'stdin' }: { argv?: readonly string[]; prompt?: 'stdin' | 'file' } = {},
) {
  writeFileSync(join(folder, name), code);
  return findUnreadPrompt({ argv, prompt }, folder);
}

test.each<[string, string, string]>([
  ['a.sh', '#!/bin/sh\n# note\nprompt=$1\necho "$prompt"', 'write prompt=$(cat) in a.sh:3'],
  ['a.sh', 'ask "$1"', 'write ask "$(cat)" in a.sh:1'],
  ['a.sh', 'ask $1', 'write ask "$(cat)" in a.sh:1'],
  ['a.sh', 'TEXT="$*"', 'write TEXT="$(cat)" in a.sh:1'],
  [
    'a.sh',
    "f() {\n  echo $1\n}\nawk '{print $1}' list\nask \"it's $1\"",
    'write ask "it\'s $(cat)" in a.sh:5',
  ],
  ['a.sh', 'cat "$1" | ask', 'write argv: ["./a.sh", "{prompt_file}"]'],
  ['ask', '#!/usr/bin/env bash\nprompt="$1"', 'write prompt="$(cat)" in ask:2'],
  ['a.py', 'import sys\nprompt = sys.argv[1]', 'write prompt = open(0).read() in a.py:2'],
  ['a.py', 'import sys\ntext = open(sys.argv[1]).read()', 'write argv: ["./a.py", "{prompt_file}"]'],
  [
    'a.mjs',
    "import x from 'x';\nx(process.argv[2]);",
    "write x((await import('node:fs')).readFileSync(0, 'utf8')); in a.mjs:2",
  ],
  [
    'a.js',
    "const text = process.argv.slice(2).join(' ');",
    "write const text = require('node:fs').readFileSync(0, 'utf8'); in a.js:1",
  ],
])('%s with %j is told what reads the prompt', (name, code, hint) => {
  expect(unread(name, code)?.hint).toBe(hint);
});

test.each([
  ['a.sh', 'prompt=${1:-$(cat)}'],
  ['a.sh', 'prompt=$1\n[ -n "$prompt" ] || prompt=$(cat)'],
  ['a.sh', 'ask --model "$1" < /dev/stdin'],
  ['a.sh', 'case "$1" in -v) set -x;; esac\nexec ask'],
  ['a.sh', 'exec ask "$@"'],
  ['a.sh', 'echo "costs \\$1"; exec ask'],
  ['a.sh', 'ask --mode "$1" --file "$SLUICE_PROMPT_FILE"'],
  ['a.sh', 'say() { echo "$1"; }\nsay hello | ask'],
  ['a.py', 'import sys\ntext = sys.argv[1] if len(sys.argv) > 1 else sys.stdin.read()'],
  ['a.js', "const mode = process.argv[2] ?? 'short';"],
  ['a.rb', 'puts ARGV[0]'],
  ['a.txt', 'costs $1'],
])('%s with %j is left alone', (name, code) => {
  expect(unread(name, code)).toBeUndefined();
});

test('an argument that argv gives is read; with prompt: file its name is the argument', () => {
  const code = 'prompt=$1';
  expect(unread('a.sh', code, { argv: ['./a.sh', '{prompt_file}'] })).toBeUndefined();
  expect(unread('a.sh', code, { argv: ['bash', '-eu', './a.sh'] })?.message).toBe(
    'the prompt comes on stdin, and the script reads $1 (a.sh:1), which is empty: argv gives it no argument',
  );
  expect(unread('a.sh', code, { prompt: 'file' })?.hint).toBe(
    'write argv: ["./a.sh", "{prompt_file}"], and prompt=$(cat "$1") in a.sh:1',
  );
});
