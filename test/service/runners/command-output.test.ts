/** The reply in a command's output. */
import { expect, test } from 'vitest';
import { extractReply } from '../../../src/service/runners/command-output.ts';

test.each([
  ['{"data":{"answer":"a"}}', 'answer', '; it has data'],
  ['{"a":1,"b":{"c":2}}', 'reply', '; it has a, b'],
  ['[]', 'reply', ''],
])('%s has nothing at %s', (output, path, more) => {
  expect(extractReply(output, path)).toMatchObject({
    ok: false,
    message: `the output has nothing at replyPath ${path}${more}`,
  });
});
