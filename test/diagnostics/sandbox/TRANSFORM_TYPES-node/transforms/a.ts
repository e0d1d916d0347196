import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

export default (): { message: string } => {
  fetch('https://example.com');
  const text: number = Buffer.from('a').toString('hex');
  return { message: createHash('sha1').update(readFileSync('x')).digest('hex') + crypto.randomUUID() + text };
};
