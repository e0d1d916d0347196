/** The reply in a command's output. */
import { expect, test } from 'vitest';
import { BoundedTail, extractReply } from '../../../src/service/runners/command-output.ts';

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

test('the end of a stream has no rest of a secret that its cut goes through', () => {
  const tail = new BoundedTail(20);
  for (const part of ['a long beginning, then the key ', 'sk-very-secret-1', ' is wrong'])
    tail.add(Buffer.from(part));
  expect(tail.text((text) => text.replaceAll('sk-very-secret-1', '***'))).toBe('the key *** is wrong');
});
