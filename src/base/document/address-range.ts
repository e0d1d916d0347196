import { isIP } from 'node:net';
import * as z from 'zod';

/** An IP address or a network, such as 10.0.0.0/8, in files of the operator. */
export const addressOrRange = z.string().refine(isAddressOrRange, {
  error: 'must be an IP address or a range such as 10.0.0.0/8',
});

function isAddressOrRange(written: string): boolean {
  const [address = '', bits, rest] = written.split('/');
  const version = isIP(address);
  if (version === 0 || rest !== undefined) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}
